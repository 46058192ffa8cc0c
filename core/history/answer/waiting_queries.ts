/**
 * What may be asked of orders that wait, or waited, and what it answers; part of queries.ts, whose rules hold here too.
 *
 * A conditional order is named by the sequence of the command that made it and its kind, a TWAP order by that sequence and its row, which
 * is what their public ids are made of (layout/ids.ts). Both lists are newest first by (createdAt, id). Each record is as its last event
 * left it: the watermark of a trailing stop and what a resting slice has filled go on moving without one, so of those that still wait the
 * engine's columns know more (view/conditionals.ts, view/twaps.ts).
 */
import type { ConditionalView } from '../../view/conditionals.ts'
import type { Listing, Position, Walk } from '../../view/listing.ts'
import type { TwapView } from '../../view/twaps.ts'
import type { HistoryOrder } from './order_queries.ts'
import type { Named } from './margin_queries.ts'

/** A conditional order of any age. Its place in the listing: (createdSequence, kind). */
export interface HistoryConditionalOrder extends ConditionalView {
  /** ConditionalReason of what happened last. */
  reason: number
  /** The order whose leg it is, also once it watches its position; 0: it was attached to a position. */
  entrySequence: number
  entrySlot: number
  /** Orders that it entered; `ordered` are the lots of all of them, `orderSequence` the first. */
  orders: number
}

/** Conditional orders of an account by when they were made. */
export interface ConditionalOrdersAsk extends Walk {
  account: number
  /** ConditionalState numbers. */
  states?: number[]
  pair?: number
  /** ConditionType. */
  kind?: number
  /** Those that watch or watched this position. */
  position?: Named
  /** Made between these, Unix ms, both inclusive. */
  from?: number
  to?: number
}

/** A TWAP order of any age. Its place in the listing: (createdSequence, 0). `place`: where its last slice stands. */
export interface HistoryTwapOrder extends TwapView {
  /** TwapReason of what happened last. */
  reason: number
  /** Rows of what it named, -1: nothing, and the sequence that made the bucket or, without one, the margin account. */
  namedMarginAccount: number
  namedBucket: number
  namedSequence: number
}

/** TWAP orders of an account by when they were made. */
export interface TwapOrdersAsk extends Walk {
  account: number
  /** TwapState numbers. */
  states?: number[]
  pair?: number
  /** Made between these, Unix ms, both inclusive. */
  from?: number
  to?: number
}

/** The slices of a TWAP order of the account, by when they were placed. */
export interface TwapSlicesAsk extends Named {
  account: number
  ascending: boolean
  /** 1..1000. */
  limit: number
  /** Behind the slice of this sequence, in the direction of the walk; `index` is 0. */
  after: Position | null
}

export interface WaitingQueries {
  conditionalOrders: { ask: ConditionalOrdersAsk; answer: Listing<HistoryConditionalOrder> }
  /** `null`: the account has none of that name. */
  conditionalOrder: { ask: { account: number; sequence: number; kind: number }; answer: HistoryConditionalOrder | null }
  twapOrders: { ask: TwapOrdersAsk; answer: Listing<HistoryTwapOrder> }
  twapOrder: { ask: { account: number } & Named; answer: HistoryTwapOrder | null }
  /** Orders of any age, as `orders` lists them; nothing is counted. `null`: the account has no such TWAP order. */
  twapSlices: { ask: TwapSlicesAsk; answer: Listing<HistoryOrder> | null }
}
