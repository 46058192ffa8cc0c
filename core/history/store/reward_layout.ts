/**
 * Records of referral rewards in the pages of the history (layout.ts, which says what the tables are).
 *
 * They name accounts by their rows. Who earned has a row for good, and so has who traded (programs/blank_accounts.ts): the row of an
 * account in a record never becomes another's. A source has one level to whoever earns of it, always the same.
 *
 *   account --totals--> REWARD_SUM --next--> ...                   all it earned, by level and asset
 *   account --newest--> REWARD_SOURCE --older--> ...               whom it earned of, that of the newest reward first
 *   account --levels--> REWARD_SOURCE --other--> ...               who earns of it: three at most
 *                       REWARD_SOURCE --sums--> REWARD_SUM --next--> ...     of which assets how much
 *
 * Links are numbers + 1; 0 is none. Accounts, sources and sums stand close together, whoever they are of: a page for each account would be
 * read and written for each of them that trades.
 *
 * What is kept grows with accounts, never with fills: a page of entries and 24 bytes of one that earns, 40 bytes for each that it earns of
 * and 32 for each asset of it. So a day of 5,000 orders/s, 177 million trades with up to six rewards each, leaves them as large as its
 * first hours did. What it costs are writes: a transaction writes the entries of an account that earned in it, and the pages in which the
 * others stand, once, however many trades there were.
 */
import { defineLayout } from '../../layout/table.ts'

/** Entries kept of an account, the newest; and sources that are told of it, those that it earned of last. */
export const ENTRIES_KEPT = 100
export const SOURCES_TOLD = 100

/** An account, by its row. */
export const REWARD_ACCOUNT = defineLayout('reward_account', {
  /** Rewards, ever. */
  entries: 'f64',
  totals: 'i32',
  newest: 'i32',
  levels: 'i32',
  reserved: 'i32',
})

/** One reward. Number n of an account, from 0, is record n modulo {@link ENTRIES_KEPT}. */
export const REWARD_ENTRY = defineLayout('reward_entry', {
  /** Of the taker's command. */
  sequence: 'f64',
  /** Unix ms. */
  time: 'f64',
  /** Atoms. */
  amount: 'i64',
  /** {@link whoOf} and {@link whatOf} it: so a hundred of them fit a page. */
  who: 'u32',
  what: 'u32',
})

/** Whose fill it was, the owner of the order or its master, below 2^24; and the asset, below 2^8 (state/genesis.ts). */
export const whoOf = (source: number, asset: number): number => ((asset << 24) | source) >>> 0
export const sourceOfWho = (who: number): number => who & 0xff_ffff
export const assetOfWho = (who: number): number => who >>> 24
/** Level, 1 to 3, and number of the fill within its command: no more than there are orders, 2^24. */
export const whatOf = (level: number, index: number): number => ((index << 2) | level) >>> 0
export const levelOfWhat = (what: number): number => what & 3
export const indexOfWhat = (what: number): number => what >>> 2

/** One that an account earned of. */
export const REWARD_SOURCE = defineLayout('reward_source', {
  /** Of the last reward, Unix ms. */
  time: 'f64',
  sums: 'i32',
  older: 'i32',
  newer: 'i32',
  other: 'i32',
  earner: 'i32',
  source: 'i32',
  /** 1 to 3. */
  level: 'i32',
  reserved: 'i32',
})

/** All of one asset that was earned, ever, on one level. */
export const REWARD_SUM = defineLayout('reward_sum', {
  /** Atoms; 128 bits, the lower word first. */
  amount: 'i64', amountHigh: 'i64',
  asset: 'i32',
  level: 'i32',
  next: 'i32',
  reserved: 'i32',
})
