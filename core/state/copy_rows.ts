/**
 * Rows of copy trading: columns copying, copyAccounts, leaders, leads, follows and followPairs (columns.ts).
 *
 *   account --LEADER--> leader --NEWEST_FOLLOW--> follow --OLDER--> ...        everybody who follows it, newest first
 *   account --FIRST_FOLLOW--> follow --ACCOUNT_NEXT--> ...                     whom the account follows, newest first
 *   leader x perpetual = lead: its lots, and how far what it did is mirrored; follow x perpetual: what of that was mirrored
 *
 * A follow has a margin sub-account of its own (MARGIN_ACCOUNT.FOLLOW), which owns its allocation: so it never uses more. Rows in links
 * are + 1; 0 is none.
 */
import { f64, i64 } from './fields.ts'

/** Single numbers of copy trading, one row. */
export const COPYING_WORDS = 16
export const COPYING = {
  /** Leaders and follows in use; the first free row of each, row + 1. */
  LEADERS: 0, LEADERS_FREE: 1, FOLLOWS: 2, FOLLOWS_FREE: 3,
  /** Leads with something to mirror, rows + 1, in the order of their turns. */
  FIRST_LEAD: 4, LAST_LEAD: 5,
  /** Follows with something to close, rows + 1, by when they are looked at next: a queue for each pause (programs/copy_closing.ts). */
  FIRST_CLOSING: 6, LAST_CLOSING: 7, FIRST_CLOSING_2: 10, LAST_CLOSING_2: 11, FIRST_CLOSING_3: 12, LAST_CLOSING_3: 13,
  FIRST_CLOSING_4: 14, LAST_CLOSING_4: 15,
  /** Leaders whose handles were released, rows + 1, oldest first. */
  FIRST_RELEASED: 8, LAST_RELEASED: 9,
} as const

export const COPY_ACCOUNT_WORDS = 8
export const COPY_ACCOUNT = {
  /** Row + 1 of it as a leader, whatever the state of its handle. */
  LEADER: 0,
  /** Follows of it, those that are being stopped included. */
  FIRST_FOLLOW: 1, FOLLOWS: 2,
  /** On the row of its family: leaders and follows of the whole family (shares.ts). */
  FAMILY_LEADERS: 3, FAMILY_FOLLOWS: 4,
} as const

export const LEADER_WORDS = 32
export const LEADER = {
  ACCOUNT: 0,
  /** LeaderState; 0: the row is free. */
  STATE: 1,
  /** All who follow it; those that are not being stopped. */
  FOLLOWS: 2, FOLLOWERS: 3,
  NEWEST_FOLLOW: 4, OLDEST_FOLLOW: 5,
  /** Neighbours among the released; of a free row NEXT is the next free one. */
  NEXT: 6, PREV: 7,
  LENGTH: 8,
  /** 24 bytes each: as it was given, and in small letters. */
  HANDLE: 10, FOLDED: 16,
  /** i64, atoms: allocations of its live follows. */
  ALLOCATED: i64(22),
  /** f64 each: identity, with the row; Unix ms: since when the handle is its own, and when it was released. */
  CREATED_SEQUENCE: f64(24), SINCE: f64(26), RELEASED_AT: f64(28),
} as const

export const LEAD_WORDS = 12
/** Of a leader and a perpetual, by its number. */
export const LEAD = {
  /** f64: lots of all its positions, signed. */
  LOTS: f64(0),
  /** i64, atoms: its equity when this walk over its follows began; below 0: it is not known yet. */
  EQUITY: i64(2),
  /** The follow that is next, row + 1; 0: the walk has not begun. */
  CURSOR: 4,
  /** 1: there was a fill since the walk began, so there will be another one. */
  AGAIN: 5,
  /** Whether it waits for its turn, and its neighbours, rows + 1. */
  WAITS: 6, NEXT: 7, PREV: 8,
  /** Leverage of the position that changed last, hundredths. */
  LEVERAGE: 9,
  /** The pair. */
  PAIR: 10,
  /** Ticks of its last fill since the rules 5; 0: there was none. */
  PRICE: 11,
} as const

export const FOLLOW_WORDS = 64
export const FOLLOW = {
  ACCOUNT: 0,
  /** Row of the leader. */
  LEADER: 1,
  /** FollowState; 0: the row is free. */
  STATE: 2,
  /** Row of its margin sub-account. */
  MARGIN_ACCOUNT: 3,
  MODE: 4,
  /** Hundredths; 0: as the leader's. */
  MAX_LEVERAGE: 5,
  /** Neighbours among those of the leader. */
  OLDER: 6, NEWER: 7,
  /** Among those of the account; of a free row ACCOUNT_NEXT is the next free one. */
  ACCOUNT_NEXT: 8, ACCOUNT_PREV: 9,
  /** Among those with something to close: neighbours, the queue, 1: it stands in one, though it is not being stopped. */
  CLOSE_NEXT: 10, CLOSE_PREV: 11, CLOSE_QUEUE: 44, CLOSE_LEFT: 45,
  /** Number of the last perpetual that could not be closed in this round; rounds since anything could. */
  TRIED: 12, ROUNDS: 19,
  /** First 8 bytes of SHA-256 over its strategy key. */
  KEY_LOW: 13, KEY_HIGH: 14,
  /** Orders that were entered; times that none was, or not all of one was filled. */
  COPIED: 15, SKIPPED: 16,
  /** Of the last skip: number of the refusal, pair; -1: it is of no pair. */
  SKIP_CODE: 17, SKIP_PAIR: 18,
  /** i64, atoms. */
  ALLOCATION: i64(20),
  /** f64 each: identity, with the row; Unix ms. */
  CREATED_SEQUENCE: f64(22), STARTED_AT: f64(24), UPDATED_AT: f64(26), SKIPPED_AT: f64(28),
  /** When it is looked at next, while it has something to close. */
  CLOSE_AT: f64(30),
  /** 48 bytes: `copy:` and its id. */
  STRATEGY_KEY: 32,
  /** f64, Unix ms: until then lots wait for a price to open at, 0: none do; number of the last perpetual that was tried in this round. */
  OPEN_UNTIL: f64(46), OPEN_TRIED: 48,
  /** Of the last order that traded: pair + 1, lots, signed, reference in ticks, slippage (layout/copying.ts). */
  COPY_PAIR: 49, COPY_LOTS: 50, REFERENCE: 51, SLIPPAGE: 52,
  /** f64, Unix ms: when that was; i64, atoms: what all copies cost more than at their references. */
  COPIED_AT: f64(54), SLIPPAGE_COST: i64(56),
} as const

export const FOLLOW_PAIR_WORDS = 4
/** Of a follow and a perpetual. */
export const FOLLOW_PAIR = {
  /** f64: LEAD.LOTS as they were when it was mirrored last. */
  SEEN: f64(0),
  /** i64, millionths of a lot: what its position should have more than it has. */
  RESIDUAL: i64(2),
} as const
