/**
 * What a gated answer says about the caller's budget (specification, Order rate limits, rule 5).
 *
 * Items per window. A class without such a window has -1 there and its header is left out. Remaining figures are those after this
 * request, of the tighter tier: the account's own, the family's, and for movements the day's.
 */
export interface Budget {
  readonly limitSecond: number
  readonly limitMinute: number
  readonly remainingSecond: number
  readonly remainingMinute: number
}

/** Names of the four headers, as browsers must be allowed to read them. */
export const BUDGET_HEADERS = {
  limitSecond: 'X-RateLimit-Limit-Second',
  limitMinute: 'X-RateLimit-Limit-Minute',
  remainingSecond: 'X-RateLimit-Remaining-Second',
  remainingMinute: 'X-RateLimit-Remaining-Minute',
} as const satisfies Record<keyof Budget, string>

const NONE: readonly (readonly [string, string])[] = []

/** The headers (or, in lower case, the metadata) of a budget; none without one. */
export function budgetHeaders(budget: Budget | null): readonly (readonly [name: string, value: string])[] {
  if (budget === null) return NONE
  const headers: [string, string][] = []
  const { limitSecond, limitMinute, remainingSecond, remainingMinute } = budget
  if (limitSecond >= 0) headers.push([BUDGET_HEADERS.limitSecond, String(limitSecond)])
  if (limitMinute >= 0) headers.push([BUDGET_HEADERS.limitMinute, String(limitMinute)])
  if (remainingSecond >= 0) headers.push([BUDGET_HEADERS.remainingSecond, String(remainingSecond)])
  if (remainingMinute >= 0) headers.push([BUDGET_HEADERS.remainingMinute, String(remainingMinute)])
  return headers
}
