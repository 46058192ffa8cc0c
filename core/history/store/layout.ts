/**
 * How the history is laid out: records in pages of 3,968 bytes, one page a row of a SQLite table.
 *
 * A row per order and per movement would cost ten times as much: placed by account, each row lands somewhere else in a tree and is
 * encoded column by column. A page is written as it stands in memory, once for all changes of a transaction, over the bytes it had.
 *
 *   order_page     records ORDER_RECORD in order of sequence, owner = account; changed in place while the order lives
 *   posting_page   records POSTING in order of (sequence, number), owner = account
 *   trade_page     FILL events (layout/event.ts) in order of (sequence, index), owner = pair
 *
 * and what an application's backend lists, owner = application, each with what may be filtered by, so that only rows that are shown are
 * looked up among the records above:
 *
 *   order_reference_page     ORDER_REFERENCE, one for each order of its accounts, in order of sequence; status changed in place
 *   posting_reference_page   POSTING_REFERENCE, one for each posting that moved a balance of its accounts, in order of (sequence, number)
 *   application_trade_page   APPLICATION_TRADE, one for each trade of its accounts, in order of (sequence, index)
 *
 * and what the market is told of, owner = pair and resolution ({@link candleOwner}):
 *
 *   candle_page    CANDLE, one for each minute, hour or day in which the pair traded, in order of time; the last changed in place
 *
 * and small sums, owner = account, pair, application:
 *
 *   account_hour_page        ACCOUNT_HOUR and behind it the account's state (accounts.ts), one for each hour in which something happened
 *                            to it, in order of time; the last changed in place
 *   holding_hour_page        ACCOUNT_HOUR and behind it what the account held of eight assets that the genesis had no room for, as many
 *                            of them for an hour as there are eights of such assets, in order of time
 *   price_hour_page          PRICE_HOUR, the last price of each hour in which the pair traded
 *   application_user_page    APPLICATION_USER, one for each account of the application, in the order they came
 *   head_page                HEAD, owner = table: how many records each owner of that table has, and what they must look like
 *
 * and margin trading, records of margin_layout.ts, owner = account unless it is said:
 *
 *   margin_account_page      MARGIN_ACCOUNT_RECORD, in the order they were first told of; changed in place
 *   risk_bucket_page         RISK_BUCKET_RECORD, in the order they were first told of; changed in place
 *   margin_order_page        ORDER_MARGIN_RECORD, one for each order of a perpetual, in order of sequence
 *   position_page            POSITION_RECORD in the order they were opened; changed in place while they are open
 *   funding_payment_page     FUNDING_PAYMENT_RECORD in order of sequence
 *   liquidation_page         LIQUIDATION_RECORD in the order they began; changed in place until they end
 *   margin_hour_page         MARGIN_HOUR, some for each hour in which margin trading of the account changed (project/exposures.ts)
 *   mark_page                MARK_MINUTE, one for each minute in which there was a price, owner = pair; the last changed in place
 *   funding_rate_page        FUNDING_RATE_RECORD in order of sequence, owner = pair
 *
 * and orders that wait, records of waiting_layout.ts, owner = account:
 *
 *   conditional_order_page   CONDITIONAL_RECORD in order of (sequence, ConditionType); changed in place until it ends
 *   twap_order_page          TWAP_RECORD in order of sequence; changed in place until it ends
 *   twap_slice_page          SLICE_RECORD, one for each order that is a slice, in order of sequence; the slices of a TWAP order are a list
 *
 * and what applications charge, owner = application:
 *
 *   application_fee_page     APPLICATION_FEES, one for each fill that an order of its accounts was charged for, in order of sequence
 *
 * and what referrals earn, records of reward_layout.ts, changed in place; owner = 0, unless it is said:
 *
 *   reward_account_page      REWARD_ACCOUNT of each account up to the last that has to do with rewards, by its row
 *   reward_entry_page        REWARD_ENTRY, the newest hundred of an account, owner = account
 *   reward_source_page       REWARD_SOURCE in the order they were first earned of
 *   reward_sum_page          REWARD_SUM in the order they were first earned
 *
 * and copy trading, records of copy_layout.ts, owner = account:
 *
 *   follow_page              FOLLOW_RECORD in order of sequence; changed in place until it has stopped
 *   leader_page              LEADER_RECORD in order of sequence; changed in place
 *   margin_flow_page         MARGIN_FLOW, one for each hour in which collateral came from the account's balances or went back
 *
 * and money in and out, and settlement, records of vault_layout.ts, owner = account, of settlement 0:
 *
 *   withdrawal_page          WITHDRAWAL_RECORD in order of sequence; changed in place until it is terminal
 *   deposit_page             DEPOSIT_RECORD in order of sequence
 *   settlement_page          SETTLEMENT_RECORD in order of batches; changed in place until it is confirmed
 *   settlement_chunk_page    CHUNK_RECORD in order of trades
 *
 * Row id = owner × 2^29 + number of the page. Pages but the last of an owner are full; unused records are zero. A last page is stored as
 * short as {@link storedBytes} says, so that small accounts stay small; a full one of the heavy tables is packed (packing.ts). Behind the
 * pages of records of an owner are its pages of checksums (checks.ts), by which every page read is known to be the newest of its place.
 * Everything here is a function of the records alone, never of when they were written: equal journals give equal tables.
 */
import { defineLayout, RECORD_BYTES, RECORD_WORDS } from '../../layout/table.ts'
import { FOLLOW_RECORD, LEADER_RECORD, MARGIN_FLOW } from './copy_layout.ts'
import {
  FUNDING_PAYMENT_RECORD, FUNDING_RATE_RECORD, LIQUIDATION_RECORD, MARGIN_ACCOUNT_RECORD, MARGIN_HOUR, MARK_MINUTE, ORDER_MARGIN_RECORD,
  POSITION_RECORD, RISK_BUCKET_RECORD,
} from './margin_layout.ts'
import { REWARD_ACCOUNT, REWARD_ENTRY, REWARD_SOURCE, REWARD_SUM } from './reward_layout.ts'
import { CHUNK_RECORD, DEPOSIT_RECORD, SETTLEMENT_RECORD, WITHDRAWAL_RECORD } from './vault_layout.ts'
import { CONDITIONAL_RECORD, SLICE_RECORD } from './waiting_layout.ts'

/** Part of the position row. */
export const HISTORY_FORMAT = 11
/**
 * Formats that this version reads and goes on with; a store of any other is made anew. Those before 11 have the same records, but no table
 * of money in and out and of settlement; those before 10 none of rewards and none of copy trading; those before 9 none of what applications
 * charge; those before 8 none of orders that wait; those before 7 none of margin trading; those of 4 and 5 no holding_hour_page and no
 * sequence in the header (store.ts) either; those of 4 have none packed (packing.ts). A record that changes leaves only the newest format
 * here. What 11 has in bits of records that were zero is right when it is zero: there were no batches then.
 */
const READABLE: readonly number[] = [4, 5, 6, 7, 8, 9, 10, HISTORY_FORMAT]
export const isReadable = (format: number): boolean => READABLE.includes(format)

/** One page and its row header fill one page of the file, 4096 bytes: 31 records of 128 bytes, 62 of 64 or 124 of 32. */
export const PAGE_BYTES = 31 * RECORD_BYTES
export const PAGE_WORDS = PAGE_BYTES / 4
/**
 * Words of a record, by table. Those of account_hour_page depend on the assets of the genesis: 0 here. The order is stored (heads.ts): a
 * table that is new stands last.
 */
export const PAGE_TABLES = {
  order_page: RECORD_WORDS, posting_page: RECORD_WORDS, trade_page: RECORD_WORDS,
  order_reference_page: 8, posting_reference_page: 8, application_trade_page: 16, candle_page: 16,
  account_hour_page: 0, price_hour_page: 4, application_user_page: 4, head_page: 4, holding_hour_page: 66,
  margin_account_page: MARGIN_ACCOUNT_RECORD.words, risk_bucket_page: RISK_BUCKET_RECORD.words,
  margin_order_page: ORDER_MARGIN_RECORD.words, position_page: POSITION_RECORD.words, funding_payment_page: FUNDING_PAYMENT_RECORD.words,
  liquidation_page: LIQUIDATION_RECORD.words, margin_hour_page: MARGIN_HOUR.words, mark_page: MARK_MINUTE.words,
  funding_rate_page: FUNDING_RATE_RECORD.words,
  conditional_order_page: CONDITIONAL_RECORD.words, twap_order_page: 2 * RECORD_WORDS, twap_slice_page: SLICE_RECORD.words,
  application_fee_page: 8,
  reward_account_page: REWARD_ACCOUNT.words, reward_entry_page: REWARD_ENTRY.words, reward_source_page: REWARD_SOURCE.words,
  reward_sum_page: REWARD_SUM.words,
  follow_page: FOLLOW_RECORD.words, leader_page: LEADER_RECORD.words, margin_flow_page: MARGIN_FLOW.words,
  withdrawal_page: WITHDRAWAL_RECORD.words, deposit_page: DEPOSIT_RECORD.words, settlement_page: SETTLEMENT_RECORD.words,
  settlement_chunk_page: CHUNK_RECORD.words,
} as const
export type PageTableName = keyof typeof PAGE_TABLES
export const TABLE_NAMES = Object.keys(PAGE_TABLES) as PageTableName[]
/** Records of a full page, given the words of one: at least one, which then makes a page as large as it needs. */
export const recordsPerPage = (words: number): number => Math.max(1, Math.floor(PAGE_WORDS / words))
export const pageRecords = (table: PageTableName): number => recordsPerPage(PAGE_TABLES[table])
/** Pages an owner may have: 16.6 billion records and more. Owners below 2^24 keep ids below 2^53, where doubles are exact. */
export const OWNER_PAGES = 2 ** 29
export const pageId = (owner: number, page: number): number => owner * OWNER_PAGES + page

/** Bytes that a page with `used` of them takes in the file: few sizes, so that most writes go over bytes of the same length. */
export const storedBytes = (used: number): number =>
  used <= 4 * RECORD_BYTES ? 4 * RECORD_BYTES : used <= 12 * RECORD_BYTES ? 12 * RECORD_BYTES : Math.max(used, PAGE_BYTES)

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
  /** Lots. Of one that is FILLED, which has none left: the batches of settlement that were opened before its last fill. */
  remaining: 'i32',
  /** Status | Reason << 8. */
  outcome: 'i32',
  slippageBps: 'i32',
  label: 'bytes40',
})

/** What a {@link POSTING} is. Numbers are stored. */
export const Posting = {
  TAKER_BUYS: 1, TAKER_SELLS: 2, MAKER_BUYS: 3, MAKER_SELLS: 4, LOCK: 5, UNLOCK: 6, CREDIT: 7, TRANSFER: 8,
  /** Of a margin account (margin_layout.ts, MARGIN_POSTING). */
  POSITION: 9, COLLATERAL: 10,
  /** What the application of an order charged for a fill: from whoever paid, and to its payout account. Of what the house earned. */
  APPLICATION_FEE: 11, REVENUE_SHARE: 12,
  /** What an account takes of its rewards. */
  REFERRAL_REWARD: 13,
  /** From the chain; and to the chain: what a withdrawal locks, pays, or gives back ({@link Flow} in `index`). */
  DEPOSIT: 14, WITHDRAWAL: 15,
  /**
   * Bits beside the kind of a fill of an order that its master pays for: the master's posting moves balances and is no trade of his, the
   * sub-account's is a trade and moves nothing. A fill of a perpetual moves no balances either: it is FUNDED, by the margin account.
   */
  FUNDS: 16, FUNDED: 32,
} as const
const KIND = 15
/** It is a fill of either side. */
export const isFill = (kind: number): boolean => (kind & KIND) <= Posting.MAKER_SELLS
/** It is a trade of its account. */
export const isTrade = (kind: number): boolean => isFill(kind) && (kind & Posting.FUNDS) === 0
/** It moves balances of its account. */
export const moves = (kind: number): boolean => (kind & Posting.FUNDED) === 0
export const buys = (kind: number): boolean => (kind & KIND) === Posting.TAKER_BUYS || (kind & KIND) === Posting.MAKER_BUYS
export const takes = (kind: number): boolean => (kind & KIND) === Posting.TAKER_BUYS || (kind & KIND) === Posting.TAKER_SELLS
/** A resting side pays from what it locked. */
export const rests = (kind: number): boolean => isFill(kind) && !takes(kind)

/**
 * What one event did to one account. A fill is up to three movements, numbered in this order: the quote leg, the base leg, and the
 * fee or rebate when it is not zero; anything else is one. Balances are those after the whole posting. Of an order that is paid for by the
 * master of its account there are two: FUNDS and FUNDED.
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
  /** Fills: number of the fill within its command. WITHDRAWAL: {@link Flow}. */
  index: 'i32',
  /** The account's own order; withdrawals: theirs, and their row as `slot`; credits: 0. */
  orderSequence: 'f64',
  slot: 'i32',
  /** Fills: the other order. */
  otherSlot: 'i32',
  otherSequence: 'f64',
  otherAccount: 'i32',
  /** Fills: ticks and lots. */
  price: 'i32',
  lots: 'i32',
  /** Fills: 1: the application of the order charged for it. */
  charged: 'i32',
  /** Fills: quote atoms. Others: atoms of the asset; negative where they are taken. */
  amount: 'i64',
  /** Fills: fee of the account and of the other side, quote atoms; negative is a rebate. `charged`: instead of that what it was charged. */
  fee: 'i64',
  otherFee: 'i64',
  /** Atoms of the quote asset, or of the asset. */
  available: 'i64',
  locked: 'i64',
  /** Fills: atoms of the base asset. */
  baseAvailable: 'i64',
  baseLocked: 'i64',
})

/** An order of an application's account: where its record is, and what may be filtered by. */
export const ORDER_REFERENCE = defineLayout('order_reference', {
  sequence: 'f64',
  /** Number of its record among those of the account. */
  number: 'f64',
  account: 'i32',
  pair: 'i32',
  /** Flag bits that never change: SELL and MARKET. */
  flags: 'u32',
  /** As it is now; << 8 the batches of settlement that were opened before it became that, {@link MOST_BATCHES} at most. */
  status: 'i32',
})

/** A posting of an application's account. */
export const POSTING_REFERENCE = defineLayout('posting_reference', {
  sequence: 'f64',
  /** Number of the posting among those of the account. */
  number: 'f64',
  /** Movements of the application before it: the place of its own in the whole listing. */
  before: 'f64',
  account: 'i32',
  /** {@link shapeOf} it. */
  shape: 'i32',
})

/** Whether the fee of a fill is paid or earned, whether a transfer takes or brings, and a withdrawal pays or gives back. */
export const Flow = { NONE: 0, OUT: 1, IN: 2 } as const
/** What decides which movements a posting is: its {@link Posting}, {@link Flow} and subject. */
export const shapeOf = (kind: number, flow: number, subject: number): number => kind | (flow << 8) | (subject << 16)

/**
 * What an application has traded up to and with one trade of its accounts. Sums have 128 bits, the lower word first, in atoms of the
 * reference asset (portfolio.ts). Any span of time is the difference of two.
 */
export const APPLICATION_TRADE = defineLayout('application_trade', {
  /** Unix ms. */
  time: 'f64',
  sequence: 'f64',
  /** Values of the trades in which an account of the application was the taker. */
  volume: 'i64', volumeHigh: 'i64',
  /** Fees of its accounts; negative when rebates are more. */
  makerFee: 'i64', makerFeeHigh: 'i64',
  takerFee: 'i64', takerFeeHigh: 'i64',
})

/** What an application has charged up to and with one fill of its accounts, in atoms of the reference asset; 128 bits as above. */
export const APPLICATION_FEES = defineLayout('application_fees', {
  /** Unix ms. */
  time: 'f64',
  sequence: 'f64',
  charged: 'i64', chargedHigh: 'i64',
})

/** Lengths of the candles that are kept; all others are folded from these. The numbers are stored. */
export const Resolution = { MINUTE: 0, HOUR: 1, DAY: 2 } as const
/** Length by resolution, ms. */
export const RESOLUTION_MS = [60_000, 3_600_000, 86_400_000] as const
export const candleOwner = (pair: number, resolution: number): number => pair * RESOLUTION_MS.length + resolution

/**
 * The trades of a pair in one minute, hour or day of UTC, and all trades up to its end. Sums have 128 bits, the lower word first, and
 * count from the pair's first trade, so that those of any span are the difference of two.
 */
export const CANDLE = defineLayout('candle', {
  trades: 'f64',
  /** Its beginning, Unix ms. */
  time: 'f64',
  /** Quote atoms. */
  quote: 'i64', quoteHigh: 'i64',
  lots: 'i64', lotsHigh: 'i64',
  /** Ticks: of its own trades alone. */
  open: 'i32',
  high: 'i32',
  low: 'i32',
  close: 'i32',
})

/** Begins the record of an account's hour; its state, or what it held of {@link ASSETS_OF_PART} assets, follows (accounts.ts). */
export const ACCOUNT_HOUR = defineLayout('account_hour', {
  /** Hours since 1970. */
  hour: 'f64',
})

/** Assets of a record of holding_hour_page. */
export const ASSETS_OF_PART = 8

/** The last price of a pair in an hour in which it traded. */
export const PRICE_HOUR = defineLayout('price_hour', {
  /** Hours since 1970. */
  hour: 'f64',
  ticks: 'i32',
  reserved: 'i32',
})

/** An account of an application. */
export const APPLICATION_USER = defineLayout('application_user', {
  /** When it traded last, Unix ms; 0: never. */
  tradedAt: 'f64',
  /** -1: its row has become that of an account of another application. */
  account: 'i32',
  reserved: 'i32',
})

/** What an owner of a table has. */
export const HEAD = defineLayout('head', {
  /** Records. */
  count: 'f64',
  /** Checksum of its only page, or of the one page of checksums that stands for all (checks.ts). */
  root: 'u32',
  reserved: 'i32',
})
