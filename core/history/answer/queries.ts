/**
 * What may be asked of the history and what it answers: the contract between gateway threads and the history readers.
 *
 * Rows are numbers of the engine (accounts, pairs, ticks, lots, atoms); text and ids are made by the gateway. Listings are newest
 * first, by sequence and then by number within the command. Everything is bounded: `limit` rows, `skip` to the 10,000th page,
 * counting up to `countMost`.
 */
import type { Listing, OrdersAsk, Position, Walk } from '../../view/listing.ts'
import type { CopyQueries } from './copy_queries.ts'
import type { MarginQueries, Named, OpenInterest } from './margin_queries.ts'
import type { HistoryOrder } from './order_queries.ts'
import type { RewardQueries } from './reward_queries.ts'
import type { VaultQueries } from './vault_queries.ts'
import type { WaitingQueries } from './waiting_queries.ts'

export { Entry, ENTRY_NAMES, Transaction, TRANSACTION_NAMES, Reference } from '../store/movement_kinds.ts'
export type { Listing, OrdersAsk, Position, Walk }
export type {
  FundingPaymentsAsk, FundingRatesAsk, HistoryBucket, HistoryFundingPayment, HistoryFundingRate, HistoryLiquidation, HistoryOrderMargin,
  HistoryPosition, LiquidationsAsk, Named, OpenInterest, PositionsAsk,
} from './margin_queries.ts'
export type { HistoryOrder } from './order_queries.ts'
export type { HistoryReward, RewardSource, RewardTotal } from './reward_queries.ts'
export type { FollowsAsk, HistoryFollow, LeaderFigures } from './copy_queries.ts'
export { LEADERS_MAX } from './copy_queries.ts'
export type {
  BalanceProof, DepositsAsk, HistoryDeposit, HistorySettlement, HistoryWithdrawal, TradeProof, WithdrawalsAsk,
} from './vault_queries.ts'
export type {
  ConditionalOrdersAsk, HistoryConditionalOrder, HistoryTwapOrder, TwapOrdersAsk, TwapSlicesAsk,
} from './waiting_queries.ts'

/** One fill, as the public sees it and as both sides do. */
export interface HistoryTrade {
  /** Sequence of the taker's command and number of the fill within it: the identity of the trade, and of the taker's order. */
  sequence: number
  index: number
  pair: number
  /** Unix ms. */
  time: number
  /** Ticks and lots. */
  price: number
  lots: number
  /** Quote atoms. */
  quote: bigint
  /** The maker sold (the taker bought). */
  makerSells: boolean
  makerAccount: number
  takerAccount: number
  makerSequence: number
  makerSlot: number
  takerSlot: number
  /** Quote atoms; negative is a rebate. */
  makerFee: bigint
  takerFee: bigint
  /** Of the trades of one account: what the application of its order charged it, quote atoms; absent: nothing. */
  applicationFee?: bigint
  /** SettlementStatus of its batch; absent: it waits for the next one. */
  settlement?: number
}

/** One change of one balance of one account. LOCK and UNLOCK move between available and locked and leave the sum alone. */
export interface HistoryMovement {
  account: number
  /** Sequence of the command and number of the movement within it, over all accounts: its identity. */
  sequence: number
  index: number
  /** Unix ms. */
  time: number
  asset: number
  entry: number
  transaction: number
  /** Atoms, positive. */
  amount: bigint
  /** Atoms after it. */
  available: bigint
  locked: bigint
  /**
   * {@link Reference}, and what names it: (sequence, slot) of an order, (sequence, index) of a trade, (sequence, 0) of a credit and of
   * the first movement of a transfer, which both of its movements name; (sequence, row) of a position, of a risk bucket and of a
   * withdrawal; (sequence, 0) of a deposit.
   */
  reference: number
  referenceSequence: number
  referenceSlot: number
  /** Transaction of a deposit, and of a withdrawal that was paid: 0x and hex digits. */
  txHash?: string
  /** It is of a margin account, whose free and locked collateral `available` and `locked` are; absent: of a balance of the account. */
  margin?: { account: Named; bucket: Named | null }
}

export interface TradesAsk extends Walk {
  /** Trades of this account, as maker or taker. */
  account?: number
  pair?: number
  /** Side of `account` in the trade. */
  sell?: boolean
  /** Trades of this order of `account`. */
  orderSequence?: number
  from?: number
  to?: number
}

export interface MovementsAsk extends Walk {
  account: number
  asset?: number
  entry?: number
  transaction?: number
  from?: number
  to?: number
}

/** Orders of all accounts of an application. */
export interface ApplicationOrdersAsk extends Walk {
  /** Row of the application. */
  application: number
  /** Status numbers. */
  statuses?: number[]
  pair?: number
  sell?: boolean
  market?: boolean
}

/** Movements of all accounts of an application. */
export interface ApplicationMovementsAsk extends Walk {
  application: number
  asset?: number
  entry?: number
  transaction?: number
}

/** What the accounts of an application traded, in atoms of the reference asset at the prices of the moment of each trade. */
export interface ApplicationStats {
  /** Asset index of the reference asset. */
  asset: number
  /** Value of the trades in which an account of the application was the taker. */
  volume: bigint
  /** Fees of its accounts; negative: rebates were more. */
  makerFee: bigint
  takerFee: bigint
  /** What it charged them besides. */
  applicationFee: bigint
  totalUsers: number
  /** Accounts that traded. */
  activeUsers: number
  /** Trades in which an account of the application took part; one between two of them counts once. */
  totalTrades: number
}

export const PERIODS = ['24h', '7d', '30d', 'all'] as const
export type Period = (typeof PERIODS)[number]

/** Analytics of one account in atoms of the reference asset: the quote asset of the genesis' fee tiers, by default the first asset. */
export interface Portfolio {
  /** Asset index of every amount here. */
  asset: number
  /** Oldest first; the last one is now. `null` equity: some balance had no price yet. */
  points: { time: number; equity: bigint | null }[]
  /** Average cost method. */
  realizedPnl: bigint
  volume: bigint
  /** Positive: paid; negative: earned. */
  fees: bigint
}

/** Lengths of candles by name, ms. They begin at whole multiples of it since 1970 in UTC; weeks on Mondays. */
export const INTERVALS = {
  '1m': 60_000, '5m': 300_000, '15m': 900_000, '30m': 1_800_000, '1h': 3_600_000, '4h': 14_400_000, '1d': 86_400_000, '1w': 604_800_000,
} as const
export type Interval = keyof typeof INTERVALS
/** 1970-01-01 was a Thursday: the first Monday came four days later. */
const FIRST_MONDAY = 4 * INTERVALS['1d']
/** When the candle began that holds `time`; both in Unix ms. */
export function candleStart(interval: Interval, time: number): number {
  const length = INTERVALS[interval]
  const origin = interval === '1w' ? FIRST_MONDAY : 0
  return Math.floor((time - origin) / length) * length + origin
}

/** Most candles of one answer. */
export const CANDLES_MAX = 500
/** Candles of a pair that begin in `from`..`to`, Unix ms, both inclusive. */
export interface CandlesAsk {
  pair: number
  interval: Interval
  from?: number
  to?: number
  /** 1..{@link CANDLES_MAX}: the first from `from` on or, without it, the last. */
  limit: number
}

/** One candle, from the first of its pair that has a trade to the last; those without trades between are flat at the close before. */
export interface HistoryCandle {
  /** Unix ms. */
  start: number
  /** Ticks. */
  open: number
  high: number
  low: number
  close: number
  lots: bigint
  /** Quote atoms. */
  quote: bigint
  trades: number
}

/**
 * What traded in a rolling window: the minutes of it, the last of which is the one that is now. So it never has a trade older than its
 * name says, and loses one up to a minute early.
 */
export interface MarketWindow {
  lots: bigint
  /** Quote atoms. */
  quote: bigint
  /** Last price before it, ticks; `null`: the pair had none. */
  before: number | null
}
export const WINDOWS = { '1h': 60, '24h': 1440, '7d': 10_080 } as const
export type WindowName = keyof typeof WINDOWS

/** What traded on one day of UTC. */
export interface MarketDay {
  /** Unix ms. */
  start: number
  /** Quote atoms. */
  quote: bigint
  /** Last price before the day and up to its end, ticks; `null`: the pair had none. */
  before: number | null
  close: number | null
}

/** A pair that has traded, at one moment. */
export interface MarketStats {
  pair: number
  /** The last trade: ticks, and Unix ms. */
  price: number
  time: number
  windows: Record<WindowName, MarketWindow>
  /** Of the window of 24 h, ticks; `null`: no trade in it. */
  high: number | null
  low: number | null
  /** Seven, oldest first; the last one is today. */
  days: MarketDay[]
  /** Since its first trade: quote atoms, and trades. */
  quote: bigint
  trades: number
}

/** `now`: Unix ms; a time before the last trade of a pair counts as that of the trade. */
export interface ScreenerAsk {
  marketType?: string
  limit: number
  skip: number
  now: number
}
/**
 * Pairs by what they traded in 24 h in units of their own quote assets, most first; those that never traded, whose `stats` are `null`,
 * come last; equal ones by symbol.
 */
export interface Screener {
  rows: {
    pair: number
    stats: MarketStats | null
    /** `null`: it is a spot pair. */
    openInterest: OpenInterest | null
  }[]
  /** Pairs of that market type. */
  total: number
}

/** Every question by name. `null`: there is no such thing, or it is not the asker's. */
export interface Queries extends MarginQueries, WaitingQueries, RewardQueries, CopyQueries, VaultQueries {
  order: { ask: { account: number; sequence: number }; answer: HistoryOrder | null }
  orders: { ask: OrdersAsk; answer: Listing<HistoryOrder> }
  trade: { ask: { sequence: number; index: number }; answer: HistoryTrade | null }
  trades: { ask: TradesAsk; answer: Listing<HistoryTrade> }
  movements: { ask: MovementsAsk; answer: Listing<HistoryMovement> }
  portfolio: { ask: { account: number; period: Period; now: number }; answer: Portfolio }
  applicationOrders: { ask: ApplicationOrdersAsk; answer: Listing<HistoryOrder> }
  applicationMovements: { ask: ApplicationMovementsAsk; answer: Listing<HistoryMovement> }
  /** `since`: Unix ms; only trades at or after it count. */
  applicationStats: { ask: { application: number; since: number }; answer: ApplicationStats }
  screener: { ask: ScreenerAsk; answer: Screener }
  /** `null`: it never traded. */
  market: { ask: { pair: number; now: number }; answer: MarketStats | null }
  /** The same of each of these, in their order; the rows may be of different moments, none of them before the question was begun. */
  markets: { ask: { pairs: number[]; now: number }; answer: (MarketStats | null)[] }
  candles: { ask: CandlesAsk; answer: HistoryCandle[] }
}
export type QueryName = keyof Queries

/** Messages between a gateway and a reader thread. */
export interface HistoryRequest<Name extends QueryName = QueryName> {
  id: number
  name: Name
  ask: Queries[Name]['ask']
  /** The reader waits, a tenth of a second at most, until the history has reached this sequence: read your own writes. */
  atLeast: number
}
export type HistoryReply<Name extends QueryName = QueryName> =
  /**
   * `sequence`: what the store had reached when the question was begun. Everything up to it is in the answer. Candles, the trades of a pair
   * and one market have nothing beyond it either: they are of that moment, so that events behind it continue them.
   */
  | {
    id: number
    answer: Queries[Name]['answer']
    sequence: number
    /** When `atLeast` was not reached: time of the newest command that was, Unix ms. Absent: nothing is missing. */
    behind?: number
    /** What the answer took of the reader's time, ms. */
    tookMs?: number
  }
  /** The store cannot be read, or the question took too long. */
  | { id: number; failed: string }
