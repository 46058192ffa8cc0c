/**
 * Records of referral rewards in the pages of the history (layout.ts, which says what the tables are).
 *
 * Each names accounts by their rows. Who earned has a row for good, and so has who traded (programs/blank_accounts.ts): the row of an
 * account in a record never becomes another's. A source has one level to whoever earns of it, always the same.
 *
 * What is kept grows with accounts, never with fills: of one that earns at most 5 KB of entries and 2 KB of sources and 32 bytes for each
 * level and asset, of one that trades 32 bytes for each of its referrers and assets. So a day of 5,000 orders/s, 177 million trades with
 * up to six rewards each, leaves them as large as its first hours did. What it costs are writes: a transaction writes the six pages of an
 * account that earned in it, and the one of each source, once, however many trades there were.
 */
import { defineLayout } from '../../layout/table.ts'

/** Entries kept of an account, the newest; and sources, those that it earned of last. */
export const ENTRIES_KEPT = 100
export const SOURCES_KEPT = 100

/** One reward. Number n of an account, from 0, is record n modulo {@link ENTRIES_KEPT}. */
export const REWARD_ENTRY = defineLayout('reward_entry', {
  /** Of the taker's command, with `index` the trade. */
  sequence: 'f64',
  /** Unix ms. */
  time: 'f64',
  /** Atoms. */
  amount: 'i64',
  index: 'i32',
  /** Whose fill it was: the owner of the order, or its master. */
  source: 'i32',
  asset: 'i32',
  /** 1 to 3. */
  level: 'i32',
})

/** All that an account earned on one level of one asset. Sums have 128 bits, the lower word first. */
export const REWARD_TOTAL = defineLayout('reward_total', {
  level: 'i32',
  asset: 'i32',
  /** How many rewards. */
  entries: 'f64',
  /** Atoms. */
  amount: 'i64', amountHigh: 'i64',
})

/** All that `earner` earned of one source of one asset. */
export const REWARD_SOURCE = defineLayout('reward_source', {
  earner: 'i32',
  /** 1 to 3. */
  level: 'i32',
  asset: 'i32',
  reserved: 'i32',
  /** Atoms. */
  amount: 'i64', amountHigh: 'i64',
})

/** A source that an account earned of lately: record 0 is the one of the last reward. */
export const RECENT_SOURCE = defineLayout('recent_source', {
  /** Of the last reward of this source, Unix ms. */
  time: 'f64',
  source: 'i32',
  /** 1 to 3. */
  level: 'i32',
})
