/**
 * What a gated answer says about the caller's budget (specification, Order rate limits, rule 5).
 *
 * Items per window. Remaining figures are those after this request, of the tighter tier: the account's own, the family's, and for
 * movements the day's. A class without a window of a second may ask in one second for what is left of its minute; one without a window
 * of a minute has what its seconds add up to.
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

export const BUDGET_FIELDS = Object.keys(BUDGET_HEADERS) as readonly (keyof Budget)[]

/** What the headers say, in words. */
export const BUDGET_TEXTS: Readonly<Record<keyof Budget, string>> = {
  limitSecond: 'Items allowed in a second.',
  limitMinute: 'Items allowed in a minute.',
  remainingSecond: 'Items left in this second, of the tighter of the account and its family.',
  remainingMinute: 'Items left in this minute, of the tighter of the account and its family.',
}

const NONE: readonly (readonly [string, string])[] = []

/** The headers (or, in lower case, the metadata) of a budget; none without one. */
export function budgetHeaders(budget: Budget | null): readonly (readonly [name: string, value: string])[] {
  if (budget === null) return NONE
  const headers: [string, string][] = []
  for (const field of BUDGET_FIELDS) headers.push([BUDGET_HEADERS[field], String(budget[field])])
  return headers
}
