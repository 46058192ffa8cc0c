/**
 * The state of the engine as columns: tables of fixed rows, one after another in one shared memory with one writer, the matcher.
 *
 * One table, DECLARED, has a line for every column; names, types, views, memory, snapshot and digest derive from it. Nothing the
 * engine knows lives outside it, so a snapshot is these arrays and replay is a function of them.
 *
 * `stored` columns are in snapshots and digests, up to the rows ever used (`rows`). `derived` columns are indexes that are
 * rebuilt from stored ones on load (state.ts); two states with equal stored columns behave alike.
 *
 *   orders   128 B a row: what matching touches in the first 64 B, what fills, reads and ends touch in the other; words 7 to 27
 *            stand as in a RESULT record (layout/event.ts), so that an answer is a copy
 *   levels   32 B each, 32 to a page; a page is taken from the pool when its first level gets an order and given back with
 *            its last, so pages in use <= live orders and the pool cannot run out before the order pool does
 *
 * Addresses: all columns lie in one memory, so that hot code holds three views (i32, f64, i64) instead of one per column and
 * type. A row is named by the number of its first 32-bit word in that memory; an 8-byte field of it is at (row + FIELD) >>> 1.
 * Addresses fit 31 bits: the memory is below 8 GiB.
 */
import { ORIGINS_MAX } from '../layout/command.ts'
import { LAUNCHES_MAX } from '../layout/launches.ts'
import { VAULT_CHAINS_MAX } from '../layout/vault.ts'
import { ACCOUNT_WORDS, PROFILE_WORDS } from './account_rows.ts'
import { ADD_ON_WORDS, APPLICATION_WORDS, ORIGIN_WORDS } from './application_rows.ts'
import {
  CONDITIONAL_WORDS, PENDING_MARKS_WIDTH, TRAIL_GROUP_WORDS, TRAIL_QUEUE_WORDS, TWAP_WORDS, WAITING_WORDS,
} from './conditional_rows.ts'
import {
  COPY_ACCOUNT_WORDS, COPYING_WORDS, FOLLOW_PAIR_WORDS, FOLLOW_WORDS, LEAD_WORDS, LEADER_WORDS,
} from './copy_rows.ts'
import { AGENT_MARGIN_WORDS, AGENT_WORDS, SPEND_LIMIT_WORDS } from './family_rows.ts'
import { f64, i64 } from './fields.ts'
import type { Genesis } from './genesis.ts'
import { LAUNCH_WORDS } from './launch_rows.ts'
import { ASSET_LISTING_WORDS, PAIR_LISTING_WORDS } from './listing_rows.ts'
import {
  GUARD_DRIFT_WORDS, GUARD_WORDS, MARGIN_ACCOUNT_WORDS, MARGIN_TOTAL_WORDS, ORDER_MARGIN_WORDS, PERP_TERMS_WORDS, PERP_WORDS,
  POSITION_WORDS, RANKING_WORDS, RISK_BUCKET_WORDS, TIER_WORDS, TIERS_MAX,
} from './margin_rows.ts'
import { RECEIPT_PAGE_WORDS, RECEIPT_SCRATCH_WORDS, receiptRoomOf, type ReceiptRoom } from './receipt_room.ts'
import { REFERRAL_WORDS, REFERRING_WORDS } from './referral_rows.ts'
import { CLOCK, SCALAR } from './scalars.ts'
import {
  DEPOSIT_ID_WORDS, DEPOSIT_IDS, FAUCET_MINT_WORDS, FAUCET_MINTS, LOST_DEPOSIT_WORDS, LOST_PER_SUSPENSE, SETTLEMENT_WORDS, SETTLEMENTS,
  SUSPENSE_WORDS, VAULT_ACCOUNT_WORDS, VAULT_CHAIN_WORDS, VAULT_TOTAL_WORDS, VAULT_WORDS, WITHDRAWAL_WORDS,
} from './vault_rows.ts'

export { ADD_ON, APPLICATION, APPLICATION_NAME_WORDS, CLIENT_ID_WORDS, KEY_WORDS } from './application_rows.ts'
export { ACCOUNT, PROFILE } from './account_rows.ts'
export { ACCOUNT_WORDS, PROFILE_WORDS }
export { CLOCK, SCALAR }
export { ADD_ON_WORDS, APPLICATION_WORDS, ORIGIN_WORDS }
export { AGENT, AGENT_MARGIN, AgentStatus, SPEND_LIMIT, SpendLimitState } from './family_rows.ts'
export { AGENT_MARGIN_WORDS, AGENT_WORDS, SPEND_LIMIT_WORDS }

/** Hot code takes addresses `& ADDRESS_BITS`: it shows the compiler that an address plus a field's offset cannot overflow. */
export const ADDRESS_BITS = 0x7fffffff

/** Row strides in 32-bit words. Eight-byte fields sit on even words. */
export const ORDER_WORDS = 32
export const ORDER = {
  NEXT: 0, PREV: 1, ACCOUNT_NEXT: 2, ACCOUNT_PREV: 3,
  /** f64, Unix ms. */
  UPDATED_AT: f64(4),
  LEVEL: 6, ACCOUNT: 7, PAIR: 8, FLAGS: 9,
  /** Its own number. */
  SLOT: 10,
  PRICE: 11, LOTS: 12, REMAINING: 13,
  /** Maker rate in ppm in force when it was placed. */
  MAKER_PPM: 14,
  /** Number of the fills it made as taker, on arrival. */
  TRADES: 15,
  /** i64: quote atoms over all fills. */
  FILLED_QUOTE: i64(16),
  /** i64: fee charged so far, quote atoms. */
  FEE: i64(18),
  /** i64: atoms locked. */
  HOLD: i64(20),
  /** First and last price of the fills it made as taker. */
  BEST_PRICE: 22, WORST_PRICE: 23,
  /** f64, Unix ms. */
  EXPIRES_AT: f64(24),
  /** f64: sequence of the command that placed it; 0 marks a free slot. */
  SEQUENCE: f64(26),
  /** i64: sum of quote atoms × ppm over all fills; the fee is its ceiling / 10^6. */
  FEE_NUMERATOR: i64(28),
  /** f64, Unix ms. */
  CREATED_AT: f64(30),
} as const

export const CLIENT_ORDER_ID_WORDS = 10

/**
 * Of one asset of one account; row = account × assets + asset. VERSION grows with every change of the first two. REWARDS: atoms that it
 * earned as a referrer and did not move to its available yet (programs/referrals.ts).
 */
export const BALANCE_WORDS = 8
export const BALANCE = { AVAILABLE: i64(0), LOCKED: i64(2), VERSION: i64(4), REWARDS: i64(6) } as const

export const SESSION_WORDS = 16
export const SESSION = {
  /** Or {@link NOBODY} (programs/blank_accounts.ts). */
  ACCOUNT: 0,
  /** Low 32 bits of the opening sequence; a command must name it. 0: never used. */
  GENERATION: 1,
  /** f64, Unix ms. Ended before its time: when, negated; before the rules 1 it was 0. */
  EXPIRES_AT: f64(2),
  PUBLIC_KEY: 4,
  APPLICATION: 12,
  /** Row of the delegated agent that signs with it, + 1; 0: the account's own wallet opened it; -1: an agent that is no more. */
  AGENT: 13,
  /** f64. */
  CREATED_AT: f64(14),
} as const
/** Live and dead sessions of one holder (an account, or an agent), newest first: rows + 1, 0 ends the list. */
export const SESSION_LINK_WORDS = 2
export const SESSION_LINK = { NEXT: 0, PREV: 1 } as const

/** The mass cancel of an account that is under way (orders/sweep_rows.ts). BY 0: none is; otherwise {@link SweptBy}. */
export const SWEEP_WORDS = 12
export const SWEEP = {
  /** Its neighbours by the time of their last part, accounts + 1; the pair that it means, -1: all. */
  OLDER: 0, NEWER: 1, BY: 2, PAIR: 3,
  /** The order to go on from; f64: the sequence that began it, and when whoever asked was heard last, Unix ms. */
  FROM_SLOT: 4, FROM_SEQUENCE: f64(6), BEGAN: f64(8), SINCE: f64(10),
} as const
/** Who ends the orders of a mass cancel; ITSELF: the sequencer, at once (orders/dead_man.ts). */
export const SweptBy = { OWNER: 1, OPERATOR: 2, ITSELF: 3 } as const
export type SweptBy = (typeof SweptBy)[keyof typeof SweptBy]

/**
 * Of one account, the connections that cancel its orders when they end (orders/cancel_on_disconnect.ts): how many are open, how long
 * after a start the account may return (ms), and until when it may (f64, Unix ms; 0: the exchange did not start without it).
 */
export const DISCONNECT_WORDS = 4
export const DISCONNECT = { CONNECTIONS: 0, GRACE_MS: 1, RETURN_BY: f64(2) } as const

/** Of a family, on the row of its master: what the insurance fund covered for it (margin/fund_limits.ts): day since 1970; i64, atoms. */
export const FUND_OWNER_WORDS = 4
export const FUND_OWNER = { DAY: 0, PAID: i64(2) } as const

/** f64 words per faucet row: number of requests ever, a spare, then (time in Unix ms, what for) of the last 15 by number modulo 15. */
export const FAUCET_WORDS = 32

/** ACCOUNT of a session whose account is no more. */
export const NOBODY = -1

/** Levels: 8 words each. */
export const LEVEL_WORDS = 8
export const LEVEL = { HEAD: 0, TAIL: 1, COUNT: 2, /** f64 */ LOTS: f64(4) } as const
export const PAGE_LEVELS = 32
/** Page header: which page of ticks of which pair it is and which of its levels hold bids and asks; none: the page is free. */
export const PAGE_WORDS = 4
export const PAGE = { PAIR: 0, TICKS: 1, BIDS: 2, ASKS: 3 } as const

export const PAIR_WORDS = 16
export const PAIR = {
  /** Best ticks; 0 none for bids, NO_ASK none for asks. */
  BEST_BID: 0, BEST_ASK: 1,
  /** Grows with every change of the book. */
  VERSION: 2,
  /** PairStatus of layout/command.ts. */
  STATUS: 3,
  LAST_PRICE: 4, BID_ORDERS: 5, ASK_ORDERS: 6,
  /** The launch that is under way on it, row + 1; 0: none is (launch_rows.ts). */
  LAUNCH: 7,
  /** f64: sequence of the last command that changed the book. */
  SEQUENCE: f64(8),
} as const
export const NO_ASK = 0x7fffffff

/** Limits that were raised (layout/limits.ts): in force, and from the next start on; 0: as the genesis says. */
export const LIMIT_WORDS = 2
export const LIMIT = { IN_FORCE: 0, NEXT: 1 } as const

/**
 * Per asset: atoms that there are on the exchange, of the faucet and of deposits and less what was withdrawn; fee income of the house (may
 * be negative: rebates are its cost). With what was withdrawn (vault_rows.ts) the first only grows.
 */
export const TOTAL_WORDS = 8
export const TOTAL = {
  ISSUED: i64(0), FEES: i64(2),
  /** f64: sequence of the first faucet request of all assets that left this one out, at its ceiling; 0: none (programs/faucet.ts). */
  LEFT_OUT: f64(4),
  /** Rewards of all referrers that are still theirs to move. */
  REWARDS: i64(6),
} as const

/** What matching needs of a pair's genesis, as numbers, so that no object is touched per command. */
export const TERMS_WORDS = 16
export const TERMS = {
  /** i64: base atoms of a lot; quote atoms of a lot at one tick. */
  LOT_ATOMS: i64(0), TICK_LOT_ATOMS: i64(2),
  /** f64: the same again, and the least value of an order in quote atoms. */
  TICK_LOT_ATOMS_F64: f64(4), MIN_NOTIONAL: f64(6),
  /** Assets. */
  BASE: 8, QUOTE: 9,
  MAKER_PPM: 10, TAKER_PPM: 11, MIN_LOTS: 12, MAX_LOTS: 13,
  /** 1: a perpetual, whose orders are margin orders. */
  PERP: 15,
  /** Address of the pair's part of the directory. */
  DIRECTORY: 14,
} as const

/** Rows of the order pool that are one place of the due queue (due.ts): 1 << DUE_SHIFT. */
export const DUE_SHIFT = 4
export const DUE_ROWS = 1 << DUE_SHIFT
/** Places that so many order rows need. */
export const duePlaces = (orders: number): number => Math.ceil(orders / DUE_ROWS)

/** Smallest power of two that is at least `n`. */
export function powerOfTwo(n: number): number {
  let p = 1
  while (p < n) p *= 2
  return p
}

/** Words of one side's bitmap: one bit per page of ticks, then summaries of 32, down to at most 32 words. */
export function bitmapWords(priceTicks: number): { levels: number[]; total: number } {
  const levels: number[] = []
  let bits = priceTicks / PAGE_LEVELS
  do {
    const words = Math.max(1, bits / 32)
    levels.push(words)
    bits = words
  } while (bits > 1)
  return { levels, total: levels.reduce((sum, words) => sum + words, 0) }
}

/** What sizes depend on. */
export type Sized = Pick<Genesis, 'limits'>
/** A size that the genesis decides. */
type Size = (genesis: Sized) => number

interface Declared {
  /** Element type of the column's view. Rows with fields of several types are i32; rows.ts reads and writes every field. */
  readonly type: 'i32' | 'f64' | 'i64'
  /** Elements of a row. */
  readonly width: number | Size
  readonly rows: Size
  /**
   * What snapshots and digests keep of it: 'all' rows, or those ever used, which the scalar of this number counts. 'derived': nothing;
   * rebuild.ts makes it from the others.
   */
  readonly kept: 'all' | 'derived' | number
  /** Further views of the same bytes, by what they add to its name. */
  readonly views?: readonly ('F64' | 'I64')[]
}

const perAsset: Size = ({ limits }) => limits.assets
const perPair: Size = ({ limits }) => limits.pairs
const perAccount: Size = ({ limits }) => limits.accounts
const perSession: Size = ({ limits }) => limits.sessions
const perOrder: Size = ({ limits }) => limits.orders
const perDuePlace: Size = ({ limits }) => duePlaces(limits.orders) + limits.accounts + limits.conditionalOrders + limits.twapOrders
const perConditional: Size = ({ limits }) => limits.conditionalOrders
/** Groups of trailing stops are fewer than two for each of them (margin/trails.ts). */
const perTrailGroup: Size = ({ limits }) => 2 * limits.conditionalOrders
const perTwap: Size = ({ limits }) => limits.twapOrders
const perPerpetual: Size = ({ limits }) => limits.perps
/** Two heaps a pair, each of all conditional orders and its size (trigger_heap.ts). */
const perTrigger: Size = ({ limits }) => limits.pairs * 2 * (limits.conditionalOrders + 1)
const ofReceipts = (size: (room: ReceiptRoom) => number): Size => ({ limits }) => size(receiptRoomOf(limits))
const perAgent: Size = ({ limits }) => limits.agents
const perSpendLimit: Size = ({ limits }) => limits.spendLimits
const perMarginAgent: Size = ({ limits }) => (limits.perps === 0 ? 0 : limits.agents)
const perMarginAccount: Size = ({ limits }) => limits.marginAccounts
const perBucket: Size = ({ limits }) => limits.riskBuckets
const perPosition: Size = ({ limits }) => limits.positions
/** An exchange without perpetuals has no rows for them. */
const perMarginOrder: Size = ({ limits }) => (limits.perps === 0 ? 0 : limits.orders)
/** Two heaps a perpetual, each of all positions and its size (margin/guards.ts). */
const perGuard: Size = ({ limits }) => limits.perps * 2 * (limits.positions + 1)
/** One of its longs, one of its shorts. */
const perSideOfPerp: Size = ({ limits }) => limits.perps * 2
const perPerp: Size = ({ limits }) => limits.perps + 1
const perApplication: Size = ({ limits }) => limits.applications
const perLeader: Size = ({ limits }) => limits.leaders
const perFollow: Size = ({ limits }) => limits.follows
const perWithdrawal: Size = ({ limits }) => limits.withdrawals
const perSuspense: Size = ({ limits }) => limits.suspense
const perLostDeposit: Size = ({ limits }) => limits.suspense * LOST_PER_SUSPENSE
/** Rows that have so many words for each perpetual. */
const perpsWide = (words: number): Size => ({ limits }) => words * Math.max(1, limits.perps)
const perMarginedAccount: Size = ({ limits }) => (limits.perps === 0 ? 0 : limits.accounts)
/** Places of a hash table that is half full at most. */
const placesFor = (size: Size): Size => (genesis) => powerOfTwo(size(genesis) * 2)
const balancesOfAccount: Size = ({ limits }) => (BALANCE_WORDS / 2) * limits.assets
const pagesOfTicks: Size = ({ limits }) => (limits.pairs * limits.priceTicks) / PAGE_LEVELS
const wordsOfBitmaps: Size = ({ limits }) => limits.pairs * 2 * bitmapWords(limits.priceTicks).total

/**
 * Every column, in the order of memory, snapshots and digests. To add one, add its line: its name becomes one of {@link ColumnName}, and
 * a State has its view under that name and its address under name + At (state.ts). The first three stay the first (SCALARS_AT ...).
 */
const DECLARED = {
  scalars: { type: 'i32', width: 1, rows: () => 64, kept: 'all' },
  clock: { type: 'f64', width: 1, rows: () => 16, kept: 'all' },
  registers: { type: 'i64', width: 1, rows: () => 64, kept: 'derived' },
  limits: { type: 'f64', width: LIMIT_WORDS, rows: () => 32, kept: 'all' },
  totals: { type: 'i64', width: TOTAL_WORDS / 2, rows: perAsset, kept: SCALAR.ASSETS },
  pairs: { type: 'i32', width: PAIR_WORDS, rows: perPair, kept: SCALAR.PAIRS, views: ['F64'] },
  accounts: { type: 'i32', width: ACCOUNT_WORDS, rows: perAccount, kept: SCALAR.ACCOUNTS, views: ['F64'] },
  balances: { type: 'i64', width: balancesOfAccount, rows: perAccount, kept: SCALAR.ACCOUNTS },
  faucet: { type: 'f64', width: FAUCET_WORDS, rows: perAccount, kept: SCALAR.ACCOUNTS },
  sessions: { type: 'i32', width: SESSION_WORDS, rows: perSession, kept: SCALAR.SESSIONS_USED, views: ['F64'] },
  orders: { type: 'i32', width: ORDER_WORDS, rows: perOrder, kept: SCALAR.ORDERS_USED, views: ['F64', 'I64'] },
  labels: { type: 'i32', width: CLIENT_ORDER_ID_WORDS, rows: perOrder, kept: SCALAR.ORDERS_USED },
  pages: { type: 'i32', width: PAGE_WORDS, rows: perOrder, kept: SCALAR.PAGES_USED },
  levels: { type: 'i32', width: LEVEL_WORDS * PAGE_LEVELS, rows: perOrder, kept: SCALAR.PAGES_USED, views: ['F64'] },
  receiptPages: {
    type: 'i32', width: RECEIPT_PAGE_WORDS, rows: ofReceipts(({ memoryPages }) => memoryPages), kept: SCALAR.RECEIPT_PAGES_USED,
  },
  receiptSeals: { type: 'i32', width: 2, rows: ofReceipts(({ pages }) => pages), kept: SCALAR.RECEIPT_SEALS_USED },
  receiptsForgotten: { type: 'i32', width: 1, rows: ofReceipts(({ numbers }) => Math.ceil(numbers / 32)), kept: SCALAR.FORGOTTEN_USED },
  sweeps: { type: 'i32', width: SWEEP_WORDS, rows: perAccount, kept: SCALAR.ACCOUNTS, views: ['F64'] },
  profiles: { type: 'i32', width: PROFILE_WORDS, rows: perAccount, kept: SCALAR.ACCOUNTS },
  sessionLinks: { type: 'i32', width: SESSION_LINK_WORDS, rows: perSession, kept: SCALAR.SESSIONS_USED },
  spendLimits: { type: 'i32', width: SPEND_LIMIT_WORDS, rows: perSpendLimit, kept: SCALAR.SPEND_LIMITS_USED, views: ['F64', 'I64'] },
  agents: { type: 'i32', width: AGENT_WORDS, rows: perAgent, kept: SCALAR.AGENTS_USED, views: ['F64', 'I64'] },
  orderAgents: { type: 'i32', width: 1, rows: perOrder, kept: SCALAR.ORDERS_USED },
  applications: { type: 'i32', width: APPLICATION_WORDS, rows: perApplication, kept: SCALAR.APPLICATIONS, views: ['F64'] },
  origins: { type: 'i32', width: ORIGIN_WORDS * ORIGINS_MAX, rows: perApplication, kept: SCALAR.APPLICATIONS },
  assetListings: { type: 'i32', width: ASSET_LISTING_WORDS, rows: perAsset, kept: SCALAR.ASSETS },
  pairListings: { type: 'i32', width: PAIR_LISTING_WORDS, rows: perPair, kept: SCALAR.PAIRS },
  perps: { type: 'i32', width: PERP_WORDS, rows: perPair, kept: SCALAR.PAIRS, views: ['F64', 'I64'] },
  marginTotals: { type: 'i64', width: MARGIN_TOTAL_WORDS / 2, rows: perAsset, kept: SCALAR.ASSETS },
  marginAccounts: {
    type: 'i32', width: MARGIN_ACCOUNT_WORDS, rows: perMarginAccount, kept: SCALAR.MARGIN_ACCOUNTS_USED, views: ['F64', 'I64'],
  },
  riskBuckets: { type: 'i32', width: RISK_BUCKET_WORDS, rows: perBucket, kept: SCALAR.BUCKETS_USED, views: ['F64', 'I64'] },
  positions: { type: 'i32', width: POSITION_WORDS, rows: perPosition, kept: SCALAR.POSITIONS_USED, views: ['F64', 'I64'] },
  orderMargins: { type: 'i32', width: ORDER_MARGIN_WORDS, rows: perMarginOrder, kept: SCALAR.ORDERS_USED },
  rankings: { type: 'i32', width: RANKING_WORDS, rows: perSideOfPerp, kept: 'all', views: ['F64'] },
  agentMargins: { type: 'i32', width: AGENT_MARGIN_WORDS, rows: perMarginAgent, kept: SCALAR.AGENTS_USED },
  waiting: { type: 'i32', width: WAITING_WORDS, rows: perAccount, kept: SCALAR.ACCOUNTS },
  conditionals: { type: 'i32', width: CONDITIONAL_WORDS, rows: perConditional, kept: SCALAR.CONDITIONALS_USED, views: ['F64'] },
  trailGroups: { type: 'i32', width: TRAIL_GROUP_WORDS, rows: perTrailGroup, kept: SCALAR.TRAIL_GROUPS_USED },
  pendingMarks: { type: 'f64', width: PENDING_MARKS_WIDTH, rows: perPerpetual, kept: 'all' },
  twaps: { type: 'i32', width: TWAP_WORDS, rows: perTwap, kept: SCALAR.TWAPS_USED, views: ['F64', 'I64'] },
  orderParents: { type: 'i32', width: 1, rows: perOrder, kept: SCALAR.ORDERS_USED },
  addOns: { type: 'i32', width: ADD_ON_WORDS, rows: perOrder, kept: SCALAR.ADD_ONS_USED, views: ['I64'] },
  launches: { type: 'i32', width: LAUNCH_WORDS, rows: () => LAUNCHES_MAX, kept: SCALAR.LAUNCHES, views: ['F64'] },
  copying: { type: 'i32', width: COPYING_WORDS, rows: () => 1, kept: 'all' },
  copyAccounts: { type: 'i32', width: COPY_ACCOUNT_WORDS, rows: perMarginedAccount, kept: SCALAR.ACCOUNTS },
  leaders: { type: 'i32', width: LEADER_WORDS, rows: perLeader, kept: SCALAR.LEADERS_USED, views: ['F64', 'I64'] },
  leads: { type: 'i32', width: perpsWide(LEAD_WORDS), rows: perLeader, kept: SCALAR.LEADERS_USED, views: ['F64', 'I64'] },
  follows: { type: 'i32', width: FOLLOW_WORDS, rows: perFollow, kept: SCALAR.FOLLOWS_USED, views: ['F64', 'I64'] },
  followPairs: { type: 'i32', width: perpsWide(FOLLOW_PAIR_WORDS), rows: perFollow, kept: SCALAR.FOLLOWS_USED, views: ['F64', 'I64'] },
  referring: { type: 'i32', width: REFERRING_WORDS, rows: () => 1, kept: 'all' },
  referrals: { type: 'i32', width: REFERRAL_WORDS, rows: perAccount, kept: SCALAR.ACCOUNTS, views: ['F64'] },
  vault: { type: 'i32', width: VAULT_WORDS, rows: () => 1, kept: 'all', views: ['F64'] },
  vaultTotals: { type: 'i32', width: VAULT_TOTAL_WORDS, rows: perAsset, kept: SCALAR.ASSETS, views: ['F64', 'I64'] },
  vaultAccounts: { type: 'i32', width: VAULT_ACCOUNT_WORDS, rows: perAccount, kept: SCALAR.ACCOUNTS, views: ['F64'] },
  withdrawals: { type: 'i32', width: WITHDRAWAL_WORDS, rows: perWithdrawal, kept: SCALAR.WITHDRAWALS_USED, views: ['F64', 'I64'] },
  suspense: { type: 'i32', width: SUSPENSE_WORDS, rows: perSuspense, kept: SCALAR.SUSPENSE_USED, views: ['F64', 'I64'] },
  vaultChains: { type: 'i32', width: VAULT_CHAIN_WORDS, rows: () => VAULT_CHAINS_MAX, kept: 'all', views: ['F64'] },
  depositIds: { type: 'i32', width: DEPOSIT_ID_WORDS, rows: () => DEPOSIT_IDS, kept: 'all', views: ['F64'] },
  faucetMints: { type: 'i32', width: FAUCET_MINT_WORDS, rows: () => FAUCET_MINTS, kept: 'all', views: ['F64'] },
  settlements: { type: 'i32', width: SETTLEMENT_WORDS, rows: () => SETTLEMENTS, kept: 'all', views: ['F64'] },
  disconnects: { type: 'i32', width: DISCONNECT_WORDS, rows: perAccount, kept: SCALAR.ACCOUNTS, views: ['F64'] },
  fundOwners: { type: 'i32', width: FUND_OWNER_WORDS, rows: perMarginedAccount, kept: SCALAR.ACCOUNTS, views: ['I64'] },
  lostDeposits: { type: 'i32', width: LOST_DEPOSIT_WORDS, rows: perLostDeposit, kept: 'all', views: ['F64'] },
  terms: { type: 'i32', width: TERMS_WORDS, rows: perPair, kept: 'derived' },
  perpTerms: { type: 'i32', width: PERP_TERMS_WORDS, rows: perPair, kept: 'derived', views: ['F64'] },
  perpTiers: { type: 'i32', width: TIER_WORDS * TIERS_MAX, rows: perPair, kept: 'derived', views: ['I64'] },
  // Guards (margin/guards.ts): heaps, key and place of each position, drift of each perpetual behind a row of its own.
  guards: { type: 'i32', width: 1, rows: perGuard, kept: 'derived' },
  guardKeys: { type: 'i32', width: GUARD_WORDS, rows: perPosition, kept: 'derived', views: ['F64'] },
  guardDrifts: { type: 'i32', width: GUARD_DRIFT_WORDS, rows: perPerp, kept: 'derived', views: ['F64', 'I64'] },
  // Triggers (trigger_heap.ts, trail_queues.ts): heaps, place of each conditional order in its heap, queues of trailing stops.
  triggers: { type: 'i32', width: 1, rows: perTrigger, kept: 'derived' },
  triggerAt: { type: 'i32', width: 1, rows: perConditional, kept: 'derived' },
  trailQueues: { type: 'i32', width: TRAIL_QUEUE_WORDS, rows: perSideOfPerp, kept: 'derived' },
  directory: { type: 'i32', width: 1, rows: pagesOfTicks, kept: 'derived' },
  bitmaps: { type: 'i32', width: 1, rows: wordsOfBitmaps, kept: 'derived' },
  clientOrderIdIndex: { type: 'i32', width: 1, rows: placesFor(perOrder), kept: 'derived' },
  accountIndex: { type: 'i32', width: 1, rows: placesFor(perAccount), kept: 'derived' },
  sessionIndex: { type: 'i32', width: 1, rows: placesFor(perSession), kept: 'derived' },
  leaderIndex: { type: 'i32', width: 1, rows: placesFor(perLeader), kept: 'derived' },
  receiptIndex: { type: 'i32', width: 2, rows: ofReceipts(({ blocks, places }) => (blocks + 1) * places), kept: 'derived' },
  receiptBlocks: { type: 'i32', width: 1, rows: ofReceipts(({ blocks }) => blocks + 2), kept: 'derived' },
  receiptScratch: { type: 'i32', width: 1, rows: () => RECEIPT_SCRATCH_WORDS, kept: 'derived' },
  receiptFirsts: { type: 'i32', width: 1, rows: ofReceipts(({ pages }) => pages), kept: 'derived' },
  // The due queue (due.ts): keys of places, the heap behind its size, where each place stands in it.
  dueKeys: { type: 'f64', width: 2, rows: perDuePlace, kept: 'derived' },
  dueHeap: { type: 'i32', width: 1, rows: (genesis) => perDuePlace(genesis) + 1, kept: 'derived' },
  dueAt: { type: 'i32', width: 1, rows: perDuePlace, kept: 'derived' },
} as const satisfies Record<string, Declared>

/** The declarations, as types: state.ts derives the views from it. */
export type Columns = typeof DECLARED
export type ColumnName = keyof Columns

/** A column of one genesis. */
export interface Column {
  readonly name: ColumnName
  readonly type: Declared['type']
  /** Elements of a row. */
  readonly stride: number
  readonly rows: number
  readonly derived: boolean
  /** Scalar that counts the rows ever used; -1: all rows. */
  readonly used: number
  readonly views: readonly ('F64' | 'I64')[]
}

/** The columns of a genesis, in the order of snapshots and digests. */
export function columnsOf(genesis: Sized): Column[] {
  return (Object.entries(DECLARED) as [ColumnName, Declared][]).map(([name, { type, width, rows, kept, views }]) => ({
    name, type, stride: typeof width === 'number' ? width : width(genesis), rows: rows(genesis), derived: kept === 'derived',
    used: typeof kept === 'number' ? kept : -1, views: views ?? [],
  }))
}

/** Rows start at multiples of this, in bytes: two cache lines, which processors fetch together. */
export const ALIGNMENT = 128
/** The C library puts a large block 16 bytes into a page; the first column starts this far in, so that rows meet cache lines. */
export const LEAD = ALIGNMENT - 16

/** Addresses of the first columns, the same in every exchange: scalars in 32-bit words, clock and registers in 64-bit words. */
export const SCALARS_AT = LEAD / 4
export const CLOCK_AT = (LEAD + 2 * ALIGNMENT) / 8
export const REGISTERS_AT = (LEAD + 3 * ALIGNMENT) / 8
/** Two words of a register: the key of the process' indexes (indexes.ts), where other threads find it too. */
export const HASH_KEY_AT = (REGISTERS_AT + 14) * 2
/** Words of the registers from 48 on, as numbers (rows.ts, `note`). */
export const NOTES_AT = (REGISTERS_AT + 48) * 2
