/** Limits of copy trading, in the genesis. A document of before it has the defaults. */
import { DAY_MS } from '../lib/day.ts'

export interface CopyLimits {
  /** Leaders, whose handles are kept for a pause too, and follows of all users, of one account and of one leader. */
  leaders: number
  follows: number
  followsPerAccount: number
  followersPerLeader: number
  /** Least allocation of a follow, in whole units of the collateral asset. */
  followLeast: number
  /** bps that a copy may trade at most from the leader's fill and from the mark (orders/copy_price.ts). */
  copyBandBps: number
  /** Least equity of a leader whose openings are copied, in whole units of the collateral asset. */
  leaderLeast: number
  /** Lots of a copy for each lot of its leader, at most: an allocation beyond so many times its equity copies no more. */
  copyRatio: number
  /** ms until a handle that was released may be another account's. */
  handlePauseMs: number
}

/** Those of a document; `optional` reads one that may be absent. Without perpetuals nothing is copied, and no row is kept for it. */
export function copyLimits(
  json: Readonly<Record<string, unknown>>, perps: number,
  optional: (key: keyof CopyLimits, low: number, high: number, absent: number) => number,
): CopyLimits {
  const accounts = json['accounts'] as number
  return {
    leaders: perps === 0 ? 0 : optional('leaders', 4, 2 ** 16, Math.max(4, Math.min(1024, accounts))),
    follows: perps === 0 ? 0 : optional('follows', 4, 2 ** 20, Math.max(4, Math.min(16_384, accounts))),
    followsPerAccount: optional('followsPerAccount', 1, 1000, 10),
    followersPerLeader: optional('followersPerLeader', 1, 2 ** 20, 10_000),
    followLeast: optional('followLeast', 1, 1_000_000, 10),
    copyBandBps: optional('copyBandBps', 1, 1000, 50),
    leaderLeast: optional('leaderLeast', 1, 1_000_000, 100),
    copyRatio: optional('copyRatio', 1, 10_000, 10),
    handlePauseMs: optional('handlePauseMs', 1000, 365 * DAY_MS, 30 * DAY_MS),
  }
}
