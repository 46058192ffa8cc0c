/** Orders as they leave: the order record and the match result. */
import Type, { type Static } from 'typebox'
import { ORDER_ANSWER } from '../../core/layout/answers.ts'
import { Flag } from '../../core/layout/command.ts'
import { orderId, userId } from '../../core/layout/ids.ts'
import { REASON_NAMES, STATUS_NAMES } from '../../core/layout/event.ts'
import type { Views } from '../../core/layout/table.ts'
import type { Pair } from '../../core/state/genesis.ts'
import { readAccount, type OrderView } from '../../core/view/accounts.ts'
import type { ClosedOrder } from '../bridge/closed_orders.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText, averagePriceText, priceText, quantityText, slippageBps } from './amounts.ts'
import { Decimal, engineRefusal, rfc3339, Timestamp, Uuid } from './operation.ts'
import { OrderType, Side, TimeInForce } from './order_terms.ts'

export const OrderStatus = Type.Union([
  Type.Literal('SUBMITTED'), Type.Literal('PARTIALLY_FILLED'), Type.Literal('FILLED'), Type.Literal('SETTLED'),
  Type.Literal('SETTLED_ON_CHAIN'), Type.Literal('CANCELLED'), Type.Literal('EXPIRED'), Type.Literal('REJECTED'),
])
type OrderStatus = Static<typeof OrderStatus>

export const MatchResult = Type.Object({
  tradesCount: Type.Integer(),
  totalFilled: Decimal,
  remainingQuantity: Decimal,
  averageFillPrice: Type.Optional(Decimal),
  status: OrderStatus,
  actualSlippageBps: Type.Optional(Type.Integer()),
  maxSlippageBps: Type.Optional(Type.Integer()),
  executionPriceRange: Type.Optional(Type.Object({ bestPrice: Decimal, worstPrice: Decimal })),
})
export type MatchResult = Static<typeof MatchResult>

/** When the engine took the command: its sequence, and the sequenced time. */
export const Sequenced = { sequence: Type.Integer(), engineTime: Timestamp }
export type Sequenced = Static<Type.TObject<typeof Sequenced>>

export const OrderRecord = Type.Object({
  orderId: Uuid,
  id: Uuid,
  userId: Uuid,
  tradingPairId: Uuid,
  symbol: Type.String(),
  side: Side,
  orderType: OrderType,
  tradingMode: Type.Literal('SPOT'),
  status: OrderStatus,
  price: Type.Optional(Decimal),
  quantity: Decimal,
  filledQuantity: Decimal,
  remainingQuantity: Decimal,
  averageFillPrice: Type.Optional(Decimal),
  timeInForce: Type.Optional(TimeInForce),
  postOnly: Type.Boolean(),
  reduceOnly: Type.Boolean(),
  slippageToleranceBps: Type.Optional(Type.Integer()),
  clientOrderId: Type.Optional(Type.String()),
  selfTradePreventionMode: Type.Optional(Type.String()),
  terminalReason: Type.Optional(Type.String()),
  /** Of a sub-account's order that spends and earns on its master's balance; absent otherwise. */
  useMasterBalance: Type.Optional(Type.Boolean()),
  /** True when the operator cancelled it, which terminalReason, USER_CANCELLED, does not tell; absent otherwise. */
  cancelledByOperator: Type.Optional(Type.Boolean()),
  fee: Decimal,
  expirationDate: Type.Optional(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
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

/** Id of the order that was replaced, in the RESULT of a replacement. */
export const replacedId = ({ i32, f64 }: Views, base: number): string => orderId(
  f64[(base + ORDER_ANSWER.at.replacedSequence) >>> 1]!, i32[base + ORDER_ANSWER.at.replacedSlot]!,
)

/**
 * Why the engine refused an order that pays with asset `pays` (-1: not known here), of the RESULT at word `base`: a shortfall names what is
 * short.
 */
export function orderRefusal(gateway: Gateway, records: Views, base: number, pays: number): Refused {
  const refused = engineRefusal(records, base)
  const field = refused.code === 'INVALID_TICK' ? 'price' : refused.code === 'INVALID_LOT' ? 'quantity' : ''
  if (field !== '') return new Refused(refused.code, refused.message, { field })
  if (refused.code !== 'INSUFFICIENT_BALANCE' || pays < 0) return refused
  return new Refused('INSUFFICIENT_BALANCE', `${refused.message}: ${gateway.genesis.assets[pays]!.symbol}`)
}

/** The match result in the RESULT at word `base`. */
export function matchResultOf(gateway: Gateway, { i32, u32, i64 }: Views, base: number): MatchResult {
  const { at } = ORDER_ANSWER
  const pair = gateway.genesis.pairs[i32[base + at.pair]!]!
  const flags = u32[base + at.flags]!
  const lots = i32[base + at.lots]!
  const remaining = i32[base + at.remaining]!
  const result: MatchResult = {
    tradesCount: i32[base + at.trades]!,
    totalFilled: quantityText(pair, lots - remaining),
    remainingQuantity: quantityText(pair, remaining),
    status: STATUS_NAMES[i32[base + at.outcome]! & 0xff] as OrderStatus,
  }
  if ((flags & Flag.SLIPPAGE) !== 0) result.maxSlippageBps = i32[base + at.slippageBps]!
  if (result.tradesCount > 0) {
    addPrices(
      result, pair, flags, i32[base + at.price]!, i64[(base + at.filledQuote) >>> 1]!, lots - remaining, i32[base + at.bestPrice]!,
      i32[base + at.worstPrice]!,
    )
  }
  return result
}

/** `price`, `best` and `worst` in ticks; `filled` in lots. */
function addPrices(
  result: MatchResult, pair: Pair, flags: number, price: number, quote: bigint, filled: number, best: number, worst: number,
): void {
  const bestPrice = priceText(pair, best)
  result.averageFillPrice = best === worst ? bestPrice : averagePriceText(pair, quote, filled)
  // A MARKET order is measured against its first fill, a LIMIT order against its limit, where it can only be 0 or better.
  if ((flags & Flag.MARKET) !== 0) result.actualSlippageBps = slippageBps(pair, quote, filled, best)
  else if (worst === price) result.actualSlippageBps = 0
  result.executionPriceRange = { bestPrice, worstPrice: priceText(pair, worst) }
}

/** What {@link orderRecord} needs to know: live orders (view/accounts.ts) and finished ones (bridge/closed_orders.ts) both have it. */
export type OrderFacts = OrderView & Partial<Pick<ClosedOrder, 'outcome' | 'slippageBps'>>

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
    tradingMode: 'SPOT',
    status: statusOf(order),
    quantity: quantityText(pair, order.lots),
    filledQuantity: quantityText(pair, filled),
    remainingQuantity: quantityText(pair, order.remaining),
    postOnly: (flags & Flag.POST_ONLY) !== 0,
    reduceOnly: false,
    fee: amountText(gateway.genesis.assets[pair.quote]!, order.fee),
    createdAt: rfc3339(order.createdAt),
    updatedAt: rfc3339(order.updatedAt),
  }
  if (!market) {
    record.price = priceText(pair, order.price)
    record.timeInForce = (flags & Flag.IOC) !== 0 ? 'IOC' : (flags & Flag.FOK) !== 0 ? 'FOK' : 'GTC'
  }
  if (filled > 0) record.averageFillPrice = averagePriceText(pair, order.filledQuote, filled)
  if ((flags & Flag.SLIPPAGE) !== 0 && order.slippageBps !== undefined) record.slippageToleranceBps = order.slippageBps
  if (order.clientOrderId !== '') record.clientOrderId = order.clientOrderId
  if ((flags & Flag.STP_GIVEN) !== 0) record.selfTradePreventionMode = (flags & Flag.CANCEL_BOTH) !== 0 ? 'CANCEL_BOTH' : 'CANCEL_TAKER'
  const reason = REASON_NAMES[(order.outcome ?? 0) >>> 8]
  if (reason !== undefined && reason !== '') record.terminalReason = reason
  if ((flags & Flag.MASTER_FUNDED) !== 0) record.useMasterBalance = true
  if ((flags & Flag.BY_OPERATOR) !== 0) record.cancelledByOperator = true
  if (order.expiresAt > 0 && !market) record.expirationDate = rfc3339(order.expiresAt)
  return record
}
