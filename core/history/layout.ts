/**
 * How the history is laid out: records of 128 bytes in pages of 31, one page a row of a SQLite table and one row a page of the file.
 *
 * A row per order and per movement would cost ten times as much: placed by account, each row lands somewhere else in a tree and is
 * encoded column by column. A page is written as it stands in memory, once for all changes of a transaction, over the bytes it had.
 *
 *   order_page     records ORDER_RECORD in order of sequence, owner = account; changed in place while the order lives
 *   posting_page   records POSTING in order of (sequence, number), owner = account
 *   trade_page     FILL events (layout/event.ts) in order of (sequence, index), owner = pair
 *
 * Row id = owner × 2^29 + number of the page. Pages but the last of an owner are full; unused records are zero, and a record in use has
 * a sequence above zero. A last page is stored as short as {@link storedRecords} says, so that small accounts stay small.
 * Everything here is a function of the records alone, never of when they were written: equal journals give equal tables.
 */
import { defineLayout, RECORD_BYTES, RECORD_WORDS } from '../layout/table.ts'

/** Part of the position row; a store of another format is made anew. */
export const HISTORY_FORMAT = 1

/** One page and its row header fill one page of the file, 4096 bytes. */
export const PAGE_RECORDS = 31
export const PAGE_WORDS = PAGE_RECORDS * RECORD_WORDS
export const PAGE_BYTES = PAGE_RECORDS * RECORD_BYTES
/** Pages an owner may have: 16.6 billion records. Owners below 2^24 keep ids below 2^53, where doubles are exact. */
export const OWNER_PAGES = 2 ** 29
export const pageId = (owner: number, page: number): number => owner * OWNER_PAGES + page

/** Records that a page with `used` of them takes in the file: few sizes, so that most writes go over bytes of the same length. */
export const storedRecords = (used: number): number => (used <= 4 ? 4 : used <= 12 ? 12 : PAGE_RECORDS)

/** An order of any age, as it is now. */
export const ORDER_RECORD = defineLayout('history_order', {
  /** Sequence of the command that placed it. */
  sequence: 'f64',
  /** Unix ms. */
  createdAt: 'f64',
  updatedAt: 'f64',
  expiresAt: 'f64',
  /** Quote atoms. */
  filledQuote: 'i64',
  fee: 'i64',
  slot: 'i32',
  pair: 'i32',
  /** Flag bits (layout/command.ts) without those that the engine adds. */
  flags: 'u32',
  price: 'i32',
  lots: 'i32',
  remaining: 'i32',
  /** Status | Reason << 8. */
  outcome: 'i32',
  slippageBps: 'i32',
  label: 'bytes40',
})

/** What a {@link POSTING} is. Numbers are stored. */
export const Posting = { TAKER_BUYS: 1, TAKER_SELLS: 2, MAKER_BUYS: 3, MAKER_SELLS: 4, LOCK: 5, UNLOCK: 6, CREDIT: 7 } as const
export const isFill = (kind: number): boolean => kind <= Posting.MAKER_SELLS
export const buys = (kind: number): boolean => kind === Posting.TAKER_BUYS || kind === Posting.MAKER_BUYS
export const takes = (kind: number): boolean => kind === Posting.TAKER_BUYS || kind === Posting.TAKER_SELLS

/**
 * What one event did to one account. A fill is up to three movements, numbered in this order: the quote leg, the base leg, and the
 * fee or rebate when it is not zero; anything else is one. Balances are those after the whole posting.
 */
export const POSTING = defineLayout('posting', {
  sequence: 'f64',
  /** Unix ms. */
  time: 'f64',
  /** Number of its first movement within the command, over all accounts. */
  number: 'i32',
  /** {@link Posting}. */
  kind: 'i32',
  /** Fills: the pair. Others: the asset. */
  subject: 'i32',
  /** Fills: number of the fill within its command. */
  index: 'i32',
  /** The account's own order; credits: 0. */
  orderSequence: 'f64',
  slot: 'i32',
  /** Fills: the other order. */
  otherSlot: 'i32',
  otherSequence: 'f64',
  otherAccount: 'i32',
  /** Fills: ticks and lots. */
  price: 'i32',
  lots: 'i32',
  reserved: 'i32',
  /** Fills: quote atoms. Others: atoms of the asset. */
  amount: 'i64',
  /** Fills: fee of the account and of the other side, quote atoms; negative is a rebate. */
  fee: 'i64',
  otherFee: 'i64',
  /** Atoms of the quote asset, or of the asset. */
  available: 'i64',
  locked: 'i64',
  /** Fills: atoms of the base asset. */
  baseAvailable: 'i64',
  baseLocked: 'i64',
})
