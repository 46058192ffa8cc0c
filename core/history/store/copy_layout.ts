/** Records of copy trading in the pages of the history (layout.ts, which says what the tables are). */
import { defineLayout } from '../../layout/table.ts'

/** A follow of any age, as the last FOLLOW event left it (layout/copying.ts). */
export const FOLLOW_RECORD = defineLayout('follow_record', {
  /** Of the command that made it; with the row its identity. */
  sequence: 'f64',
  /** Unix ms; skippedAt 0: never. */
  startedAt: 'f64',
  updatedAt: 'f64',
  skippedAt: 'f64',
  leaderSequence: 'f64',
  marginSequence: 'f64',
  /** Atoms. */
  allocation: 'i64',
  row: 'i32',
  /** FollowState | FollowReason << 8. */
  what: 'i32',
  leaderAccount: 'i32',
  marginAccount: 'i32',
  mode: 'i32',
  /** Hundredths; 0: as the leader's. */
  maxLeverage: 'i32',
  /** Orders that were entered; times that none was, or not all of one was filled. */
  copied: 'i32',
  skipped: 'i32',
  /** Of the last skip: number of the refusal; pair, -1: of none. */
  skipCode: 'i32',
  skipPair: 'i32',
})

/** A leader of any age, as the last LEADER event left it. */
export const LEADER_RECORD = defineLayout('leader_record', {
  /** Of the command that made it; with the row its identity. */
  sequence: 'f64',
  /** Unix ms: since when it has, or had, its handle. */
  since: 'f64',
  updatedAt: 'f64',
  row: 'i32',
  /** LeaderState | LeaderReason << 8. */
  what: 'i32',
  length: 'i32',
  reserved: 'i32',
  /** Zero padded. */
  handle: 'bytes24',
})

/** What came into margin trading of an account from its balances, less what went back, up to the end of an hour. */
export const MARGIN_FLOW = defineLayout('margin_flow', {
  /** Hours since 1970. */
  hour: 'f64',
  /** Atoms of the collateral asset, since the first record of the account. */
  net: 'i64',
})
