/**
 * What may be asked of referral rewards, and what it answers; part of queries.ts, whose rules hold here too. All of an answer is of one
 * moment. Levels are 1 to 3, amounts atoms.
 */

export interface RewardTotal {
  level: number
  asset: number
  amount: bigint
}

/** One reward: of which trade, and whose. */
export interface HistoryReward {
  sequence: number
  index: number
  /** Unix ms. */
  time: number
  level: number
  /** Account that traded, or its master. */
  source: number
  asset: number
  amount: bigint
}

export interface RewardSource {
  source: number
  level: number
  /** Of its last reward, Unix ms. */
  time: number
  earned: { asset: number; amount: bigint }[]
}

export interface RewardQueries {
  /** All that an account earned ever, and its newest hundred rewards, newest first. */
  rewards: { ask: { account: number }; answer: { totals: RewardTotal[]; entries: HistoryReward[] } }
  /** The same sums, and the hundred sources that it earned of last, that of the newest reward first, each with all it earned of it. */
  rewardSources: { ask: { account: number }; answer: { totals: RewardTotal[]; sources: RewardSource[] } }
}
