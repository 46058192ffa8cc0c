/** Limits of orders that wait, in the genesis. A document of before them has the defaults. */

export interface WaitingLimits {
  /** Conditional orders that wait, of all users and of one account; starts of TWAP orders that wait for a price are among them. */
  conditionalOrders: number
  conditionalOrdersPerAccount: number
  /** TWAP orders that run or wait, of all users and of one account; ms from one slice to the next. */
  twapOrders: number
  twapOrdersPerAccount: number
  twapSliceMs: number
}

/** Those of a document; `optional` reads one that may be absent. Without perpetuals only TWAP orders wait for prices. */
export function waitingLimits(
  json: Readonly<Record<string, unknown>>, perps: number,
  optional: (key: keyof WaitingLimits, low: number, high: number, absent: number) => number,
): WaitingLimits {
  const accounts = json['accounts'] as number
  const twapOrders = optional('twapOrders', 4, 2 ** 20, Math.max(4, Math.min(65_536, accounts)))
  return {
    conditionalOrders: optional('conditionalOrders', 4, 2 ** 20, perps === 0 ? twapOrders : Math.max(16, Math.min(262_144, 2 * accounts))),
    conditionalOrdersPerAccount: optional('conditionalOrdersPerAccount', 1, 1000, 200),
    twapOrders,
    twapOrdersPerAccount: optional('twapOrdersPerAccount', 1, 1000, 50),
    twapSliceMs: optional('twapSliceMs', 100, 3_600_000, 30_000),
  }
}
