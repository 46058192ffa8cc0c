/** Orders as they leave: the order record and the match result. */
import Type, { type Static } from 'typebox'
import { ORDER_ANSWER } from '../../core/layout/answers.ts'
import { Flag } from '../../core/layout/command.ts'
import { marginAccountId, orderId, parentMarginId, riskBucketId, tradeId, twapOrderId, userId } from '../../core/layout/ids.ts'
import { REASON_NAMES, STATUS_NAMES } from '../../core/layout/event.ts'
import type { Views } from '../../core/layout/table.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import type { Pair } from '../../core/state/genesis.ts'
import { readAccount, type OrderView } from '../../core/view/accounts.ts'
import type { NamedRow } from '../../core/view/order_margin.ts'
import { FILLS_MAX, readArrivalFills } from '../bridge/arrival_fills.ts'
import type { ClosedOrder } from '../bridge/closed_orders.ts'
import type { Gateway } from '../context.ts'
import { amountText, averagePriceText, priceText, quantityText, slippageBps } from './amounts.ts'
import { Decimal, rfc3339, Timestamp, Uuid } from './operation.ts'
import { LEVERAGE_SCALE } from './order_margin.ts'
import { MarginMode, OrderType, Side, TimeInForce, TradingMode } from './order_words.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'

export const OrderStatus = record('OrderStatus', 'SUBMITTED rests untouched, PARTIALLY_FILLED rests with fills, '
  + 'FILLED is complete; SETTLED and SETTLED_ON_CHAIN follow '
  + 'settlement. CANCELLED, EXPIRED and REJECTED are final.', Type.Union([
  Type.Literal('SUBMITTED'), Type.Literal('PARTIALLY_FILLED'), Type.Literal('FILLED'), Type.Literal('SETTLED'),
  Type.Literal('SETTLED_ON_CHAIN'), Type.Literal('CANCELLED'), Type.Literal('EXPIRED'), Type.Literal('REJECTED'),
]))
type OrderStatus = Static<typeof OrderStatus>

/** One fill of an order on arrival, whose taker it is. */
export const FillRecord = record('Fill', 'One fill of an order on arrival. The order is the taker; the trade has the same id everywhere.',
  Type.Object({
    tradeId: field(Uuid, 'The trade.'),
    price: field(Decimal, 'Units of the quote token for one of the base token: the price of the order that rested.'),
    quantity: field(Decimal, 'In units of the base token.'),
    fee: field(Decimal, 'Fee of this fill, in units of the quote token: positive paid, negative earned.'),
  }))
type FillRecord = Static<typeof FillRecord>

export const MatchResult = record('MatchResult', 'What an order met when it arrived.', Type.Object({
  tradesCount: field(Type.Integer(), 'Fills on arrival.'),
  totalFilled: field(Decimal, 'Filled on arrival, in units of the base token.'),
  remainingQuantity: field(Decimal, 'Not filled, in units of the base token.'),
  averageFillPrice: Type.Optional(field(Decimal, 'Average price of the fills, rounded to 8 digits beyond the tick; absent without fills.')),
  status: field(OrderStatus, 'State of the order right after it arrived.'),
  actualSlippageBps: Type.Optional(
    field(Type.Integer(), 'Distance of the average price from the best price (MARKET) or from the limit (LIMIT), in whole basis points.'),
  ),
  maxSlippageBps: Type.Optional(field(Type.Integer(), 'The tolerance that was asked for.')),
  executionPriceRange: Type.Optional(
    field(
      Type.Object({ bestPrice: field(Decimal, 'Price of the first fill.'), worstPrice: field(Decimal, 'Price of the last fill.') }),
      'Best and worst price of the fills.',
    ),
  ),
  totalFilledQuote: Type.Optional(
    field(Decimal, 'Sum of price times quantity over the fills on arrival, in units of the quote token; absent without fills.'),
  ),
  totalFee: Type.Optional(
    field(Decimal, 'Fees of the fills on arrival, in units of the quote token: positive paid, negative earned; absent without fills.'),
  ),
  fills: Type.Optional(
    field(
      Type.Array(FillRecord, { maxItems: FILLS_MAX }),
      `With \`returnFills\`: the fills on arrival in their order, the first ${FILLS_MAX}; \`tradesCount\` counts all. Absent without `
        + 'fills, and when they are not at hand any more, as in an answer that is repeated for its `idempotencyKey` long after the first: '
        + 'ListAccountTrades with this `orderId` has every one. Everything else of a repeated answer is as it was.',
    ),
  ),
}))
export type MatchResult = Static<typeof MatchResult>

/** When the engine took the command: its sequence, and the sequenced time. */
export const Sequenced = {
  sequence: fields.sequence, engineTime: field(Timestamp, 'Sequenced time at which the engine took the command.'),
}
export type Sequenced = Static<Type.TObject<typeof Sequenced>>

export const OrderRecord = record('Order', 'An order as it is now.', Type.Object({
  orderId: fields.orderId,
  id: field(Uuid, 'The same as orderId.'),
  userId: field(Uuid, 'User the order belongs to.'),
  tradingPairId: fields.tradingPairId,
  symbol: fields.symbol,
  side: field(Side, 'BUY or SELL.'),
  orderType: field(OrderType, 'LIMIT or MARKET.'),
  tradingMode: field(TradingMode, 'MARGIN of an order of a perpetual, otherwise SPOT.'),
  status: field(OrderStatus, 'State of the order.'),
  price: Type.Optional(field(Decimal, 'Units of the quote token for one of the base token; a positive multiple of tickSize.')),
  quantity: fields.quantity,
  filledQuantity: field(Decimal, 'Filled so far, in units of the base token.'),
  remainingQuantity: field(Decimal, 'Not filled, in units of the base token.'),
  averageFillPrice: Type.Optional(field(Decimal, 'Average price of the fills, rounded to 8 digits beyond the tick; absent without fills.')),
  timeInForce: Type.Optional(field(TimeInForce, 'GTC (default), IOC or FOK; LIMIT only.')),
  postOnly: fields.postOnly,
  reduceOnly: field(Type.Boolean(), 'Of margin orders: it only makes the position smaller.'),
  leverage: Type.Optional(field(Decimal, 'Of margin orders; absent of reduce-only ones, which need none.')),
  marginMode: Type.Optional(field(MarginMode, 'Of margin orders: ISOLATED or CROSS.')),
  marginAccountId: Type.Optional(field(Uuid, 'Of margin orders: margin account it trades for.')),
  riskBucketId: Type.Optional(field(Uuid, 'Of margin orders: risk bucket it trades in.')),
  strategyKey: Type.Optional(field(Type.String(), 'Of margin orders: strategy key of the risk bucket; absent when it has none.')),
  slippageToleranceBps: Type.Optional(
    field(Type.Integer(), 'MARKET only: how far from the best price it may trade, in basis points (1/100 of a percent), 0 to 1000.'),
  ),
  clientOrderId: Type.Optional(
    field(Type.String(), 'Name of your own, 1 to 40 printable ASCII characters; one resting order of yours may hold it.'),
  ),
  parentOrderId: Type.Optional(field(Uuid, 'Of a slice: the TWAP order that placed it.')),
  selfTradePreventionMode: Type.Optional(
    field(Type.String(), 'What happens when the order meets one of your own: CANCEL_TAKER (default) ends this one, CANCEL_BOTH both.'),
  ),
  terminalReason: Type.Optional(field(Type.String(), 'Why the order ended; absent while it lives and when it was simply filled.')),
  /** Of a sub-account's order that spends and earns on its master's balance; absent otherwise. */
  useMasterBalance: Type.Optional(
    field(Type.Boolean(), 'True when the order of a sub-account spends and earns on the balance of its master; absent otherwise.'),
  ),
  /** True when the operator cancelled it, which terminalReason, USER_CANCELLED, does not tell; absent otherwise. */
  cancelledByOperator: Type.Optional(
    field(Type.Boolean(), 'True when the operator cancelled the order; terminalReason is USER_CANCELLED then. Absent otherwise.'),
  ),
  fee: field(Decimal, 'In units of the quote token: positive paid, negative earned.'),
  expirationDate: Type.Optional(field(Timestamp, 'When a resting order expires, RFC 3339, in the future. Default: 90 days.')),
  createdAt: fields.createdAt,
  updatedAt: fields.updatedAt,
}))
export type OrderRecord = Static<typeof OrderRecord>

/** Id of the order that the RESULT at word `base` speaks of. */
export const createdId = ({ i32, f64 }: Views, base: number): string => orderId(
  f64[(base + ORDER_ANSWER.at.orderSequence) >>> 1]!, i32[base + ORDER_ANSWER.at.slot]!,
)

/** Of the RESULT of a placement or replacement. A key that is repeated has those of the first time: its order's own sequence. */
export const orderSequenced = ({ f64 }: Views, base: number): Sequenced => ({
  sequence: f64[(base + ORDER_ANSWER.at.orderSequence) >>> 1]!, engineTime: rfc3339(f64[(base + ORDER_ANSWER.at.time) >>> 1]!),
})

/** Of the RESULT of any other command. */
export const sequencedOf = ({ f64 }: Views, base: number): Sequenced => ({
  sequence: f64[(base + ORDER_ANSWER.at.sequence) >>> 1]!, engineTime: rfc3339(f64[(base + ORDER_ANSWER.at.time) >>> 1]!),
})

/** How much the order of the RESULT at word `base` is for: of a successor what was asked for, or what its original had still open. */
export const answeredQuantity = (gateway: Gateway, { i32 }: Views, base: number): string =>
  quantityText(gateway.genesis.pairs[i32[base + ORDER_ANSWER.at.pair]!]!, i32[base + ORDER_ANSWER.at.lots]!)

/** What a created reduceOnly order is for, which may be less than what was asked for. */
export const Submitted = {
  submittedQuantity: Type.Optional(
    field(Decimal, 'Of a reduceOnly order: the quantity that it is for, at most what is open and at most what one order may have.'),
  ),
}

/** {@link Submitted} of the RESULT at word `base`. */
export const submittedOf = (gateway: Gateway, records: Views, base: number): Static<Type.TObject<typeof Submitted>> =>
  ((records.u32[base + ORDER_ANSWER.at.flags]! & Flag.REDUCE_ONLY) === 0
    ? {} : { submittedQuantity: answeredQuantity(gateway, records, base) })

/** Id of the order that was replaced, in the RESULT of a replacement. */
export const replacedId = ({ i32, f64 }: Views, base: number): string => orderId(
  f64[(base + ORDER_ANSWER.at.replacedSequence) >>> 1]!, i32[base + ORDER_ANSWER.at.replacedSlot]!,
)

/**
 * The match result in the RESULT at word `base`. `returnFills`: with the fills one by one, if the event ring still has them; they
 * are looked for only where there are any.
 */
export function matchResultOf(gateway: Gateway, records: Views, base: number, returnFills: boolean): MatchResult {
  const { i32, u32 } = records
  const { at } = ORDER_ANSWER
  const pair = gateway.genesis.pairs[i32[base + at.pair]!]!
  const lots = i32[base + at.lots]!
  const remaining = i32[base + at.remaining]!
  const result: MatchResult = {
    tradesCount: i32[base + at.trades]!,
    totalFilled: quantityText(pair, lots - remaining),
    remainingQuantity: quantityText(pair, remaining),
    status: STATUS_NAMES[i32[base + at.outcome]! & 0xff] as OrderStatus,
  }
  if ((u32[base + at.flags]! & Flag.SLIPPAGE) !== 0) result.maxSlippageBps = i32[base + at.slippageBps]!
  if (result.tradesCount > 0) {
    addFilled(gateway, result, pair, records, base)
    if (returnFills) addFills(gateway, result, pair, records, base)
  }
  return result
}

/** What the order traded in all: prices, amount and fees. */
function addFilled({ genesis }: Gateway, result: MatchResult, pair: Pair, { i32, u32, i64 }: Views, base: number): void {
  const { at } = ORDER_ANSWER
  const filled = i32[base + at.lots]! - i32[base + at.remaining]!
  const best = i32[base + at.bestPrice]!
  const worst = i32[base + at.worstPrice]!
  const quote = i64[(base + at.filledQuote) >>> 1]!
  const asset = genesis.assets[pair.quote]!
  const bestPrice = priceText(pair, best)
  result.averageFillPrice = best === worst ? bestPrice : averagePriceText(pair, quote, filled)
  // A MARKET order is measured against its first fill, a LIMIT order against its limit, where it can only be 0 or better.
  if ((u32[base + at.flags]! & Flag.MARKET) !== 0) result.actualSlippageBps = slippageBps(pair, quote, filled, best)
  else if (worst === i32[base + at.price]) result.actualSlippageBps = 0
  result.executionPriceRange = { bestPrice, worstPrice: best === worst ? bestPrice : priceText(pair, worst) }
  result.totalFilledQuote = amountText(asset, quote)
  result.totalFee = amountText(asset, i64[(base + at.fee) >>> 1]!)
}

function addFills({ genesis, arrivalFills }: Gateway, result: MatchResult, pair: Pair, { f64 }: Views, base: number): void {
  // A repeated answer has a sequence of its own; the fills are of the command that made the order.
  const sequence = f64[(base + ORDER_ANSWER.at.orderSequence) >>> 1]!
  const fills = readArrivalFills(arrivalFills, sequence, result.tradesCount)
  if (fills === null) return
  const asset = genesis.assets[pair.quote]!
  result.fills = fills.map(({ index, price, lots, fee }): FillRecord => (
    { tradeId: tradeId(sequence, index), price: priceText(pair, price), quantity: quantityText(pair, lots), fee: amountText(asset, fee) }
  ))
}

/** What {@link orderRecord} needs to know: live orders (view/accounts.ts) and finished ones (bridge/closed_orders.ts) both have it. */
export type OrderFacts = OrderView & Partial<Pick<ClosedOrder, 'outcome' | 'slippageBps' | 'endSequence'>>

export function statusOf(order: OrderFacts): OrderStatus {
  if (order.outcome !== undefined) return STATUS_NAMES[order.outcome & 0xff] as OrderStatus
  return order.remaining < order.lots ? 'PARTIALLY_FILLED' : 'SUBMITTED'
}

export function orderRecord(gateway: Gateway, order: OrderFacts): OrderRecord {
  const { flags } = order
  const pair = gateway.genesis.pairs[order.pair]!
  const id = orderId(order.sequence, order.slot)
  const market = (flags & Flag.MARKET) !== 0
  const filled = order.lots - order.remaining
  const record: OrderRecord = {
    orderId: id,
    id,
    userId: userId(readAccount(gateway.state, order.account).createdSequence, order.account),
    tradingPairId: pair.id,
    symbol: pair.symbol,
    side: (flags & Flag.SELL) !== 0 ? 'SELL' : 'BUY',
    orderType: market ? 'MARKET' : 'LIMIT',
    tradingMode: (flags & Flag.MARGIN) !== 0 ? 'MARGIN' : 'SPOT',
    status: statusOf(order),
    quantity: quantityText(pair, order.lots),
    filledQuantity: quantityText(pair, filled),
    remainingQuantity: quantityText(pair, order.remaining),
    postOnly: (flags & Flag.POST_ONLY) !== 0,
    reduceOnly: (flags & Flag.REDUCE_ONLY) !== 0,
    fee: amountText(gateway.genesis.assets[pair.quote]!, order.fee),
    createdAt: rfc3339(order.createdAt),
    updatedAt: rfc3339(order.updatedAt),
  }
  if (!market) {
    record.price = priceText(pair, order.price)
    record.timeInForce = (flags & Flag.IOC) !== 0 ? 'IOC' : (flags & Flag.FOK) !== 0 ? 'FOK' : 'GTC'
  }
  if ((flags & Flag.MARGIN) !== 0) addMargin(record, order)
  if (filled > 0) record.averageFillPrice = averagePriceText(pair, order.filledQuote, filled)
  if ((flags & Flag.SLIPPAGE) !== 0 && order.slippageBps !== undefined) record.slippageToleranceBps = order.slippageBps
  if (order.clientOrderId !== '') record.clientOrderId = order.clientOrderId
  if (order.parent !== undefined) record.parentOrderId = twapOrderId(order.parent.sequence, order.parent.row)
  if ((flags & Flag.STP_GIVEN) !== 0) record.selfTradePreventionMode = (flags & Flag.CANCEL_BOTH) !== 0 ? 'CANCEL_BOTH' : 'CANCEL_TAKER'
  const reason = REASON_NAMES[(order.outcome ?? 0) >>> 8]
  if (reason !== undefined && reason !== '') record.terminalReason = reason
  if ((flags & Flag.MASTER_FUNDED) !== 0) record.useMasterBalance = true
  if ((flags & Flag.BY_OPERATOR) !== 0) record.cancelledByOperator = true
  if (order.expiresAt > 0 && !market) record.expirationDate = rfc3339(order.expiresAt)
  return record
}

/** What the record of a margin order says besides. A thread that began after the order does not know where one stands that has ended. */
function addMargin(record: OrderRecord, { flags, account, margin }: OrderFacts): void {
  record.marginMode = (flags & Flag.CROSS) !== 0 ? 'CROSS' : 'ISOLATED'
  if (margin === undefined) return
  const { marginAccount, bucket, strategyKey, leverage } = margin
  record.marginAccountId = marginAccountName(account, marginAccount)
  record.riskBucketId = riskBucketId(bucket.sequence, bucket.row)
  if (leverage !== 0) record.leverage = formatDecimal(leverage, LEVERAGE_SCALE)
  if (strategyKey !== '') record.strategyKey = strategyKey
}

/** Public id of a margin account of `account`: its parent has row -1. */
export const marginAccountName = (account: number, { sequence, row }: NamedRow): string =>
  row < 0 ? parentMarginId(sequence, account) : marginAccountId(sequence, row)
