/** Limits of money in and out, in the genesis. A document of before it has the defaults. */
import { DAY_MS } from '../lib/day.ts'

export interface VaultLimits {
  /** Withdrawals under way, of all users and of one account. */
  withdrawals: number
  withdrawalsPerAccount: number
  /** For how long an authorisation is good, ms. */
  withdrawalLifetimeMs: number
  /** Deposits in suspense; the last one stands for all that found no room. */
  suspense: number
}

/** Those of a document; `optional` reads one that may be absent. */
export function vaultLimits(
  json: Readonly<Record<string, unknown>>,
  optional: (key: keyof VaultLimits, low: number, high: number, absent: number) => number,
): VaultLimits {
  const accounts = json['accounts'] as number
  return {
    withdrawals: optional('withdrawals', 4, 2 ** 20, Math.max(4, Math.min(16_384, accounts))),
    withdrawalsPerAccount: optional('withdrawalsPerAccount', 1, 1000, 20),
    withdrawalLifetimeMs: optional('withdrawalLifetimeMs', 1000, 30 * DAY_MS, 3_600_000),
    suspense: optional('suspense', 4, 2 ** 20, Math.max(4, Math.min(4096, accounts))),
  }
}
