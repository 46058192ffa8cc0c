/**
 * What may be asked of copy trading's past and what it answers; part of queries.ts, whose rules hold here too. Follows are named by row and
 * by the sequence that made them, which is what their public ids are made of (layout/ids.ts).
 */
import type { Listing, Walk } from '../../view/listing.ts'

/** A follow of any age. Its place in the listing: (sequence, 0). */
export interface HistoryFollow {
  account: number
  sequence: number
  row: number
  /** Always 0. */
  index: number
  /** FollowState, and FollowReason of what happened last. */
  state: number
  reason: number
  leaderAccount: number
  /** '': the handle was released. */
  handle: string
  /** Atoms. */
  allocation: bigint
  /** Hundredths; 0: as the leader's. */
  maxLeverage: number
  /** MarginMode. */
  mode: number
  marginAccount: number
  marginSequence: number
  copied: number
  skipped: number
  /** Of the last skip: number of the refusal, pair, -1: of none; Unix ms; 0: there was none. */
  skipCode: number
  skipPair: number
  skippedAt: number
  /** Unix ms. */
  startedAt: number
  updatedAt: number
}

/** Follows of an account by when they were made. */
export interface FollowsAsk extends Walk {
  account: number
  /** FollowState numbers. */
  states?: number[]
}

/** What a leader made of his money (leader_figures.ts), hundredths of a per cent. */
export interface LeaderFigures {
  returned: number
  /** 0 or more. */
  drawdown: number
}

/** Accounts of one question about figures, at most. */
export const LEADERS_MAX = 100

export interface CopyQueries {
  follows: { ask: FollowsAsk; answer: Listing<HistoryFollow> }
  /** In the order of the accounts, {@link LEADERS_MAX} at most; `null`: nothing is known, or less than a day of it. */
  leaderFigures: { ask: { accounts: number[] }; answer: (LeaderFigures | null)[] }
}
