/** Conditional orders as people read them: those that wait from the shared columns, those that ended from the history. */
import Type, { type Static } from 'typebox'
import {
  CONDITION_TYPE_NAMES, CONDITIONAL_REASON_NAMES, CONDITIONAL_STATE_NAMES, ConditionalState, ConditionType, LegFlag,
} from '../../core/layout/conditional.ts'
import { conditionalOrderId, ocoGroupId, orderId, positionId, riskBucketId } from '../../core/layout/ids.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import type { ConditionalView } from '../../core/view/conditionals.ts'
import type { Gateway } from '../context.ts'
import { priceText, quantityText } from './amounts.ts'
import * as fields from './fields.ts'
import { Decimal, rfc3339, Timestamp, Uuid } from './operation.ts'
import { marginAccountName } from './order_record.ts'
import { OrderType, Side, TimeInForce } from './order_words.ts'
import { field, record } from './schema.ts'

export const ConditionTypeName = record(
  'ConditionType', 'What a conditional order waits for.',
  Type.Union([Type.Literal('TAKE_PROFIT'), Type.Literal('STOP_LOSS'), Type.Literal('TRAILING_STOP')]),
)
export const ConditionalStateName = record(
  'ConditionalState', 'PENDING waits for its entry order to fill, or for its activation price; ARMED fires when the mark price reaches it. '
    + 'TRIGGERED fired, and its order was entered; FAILED fired, and its order was refused; CANCELLED and EXPIRED never fired.',
  Type.Union([
    Type.Literal('PENDING'), Type.Literal('ARMED'), Type.Literal('TRIGGERED'), Type.Literal('CANCELLED'), Type.Literal('EXPIRED'),
    Type.Literal('FAILED'),
  ]),
)
const TerminalReason = record(
  'ConditionalTerminalReason', 'Why it was cancelled. OCO: the other one of its pair fired. ENTRY_ENDED: its entry order ended without a '
    + 'position in its direction.',
  Type.Union([
    Type.Literal('USER_CANCELLED'), Type.Literal('OCO'), Type.Literal('POSITION_CLOSED'), Type.Literal('ENTRY_ENDED'),
    Type.Literal('DELEGATION_REVOKED'), Type.Literal('BY_OPERATOR'),
  ]),
)

export const conditionalOrderIdField = field(Uuid, 'Conditional order.')

export const ConditionalRecord = record('ConditionalOrder', 'A take-profit, stop-loss or trailing stop.', Type.Object({
  conditionalOrderId: conditionalOrderIdField,
  id: field(Uuid, 'The same as conditionalOrderId.'),
  conditionType: field(ConditionTypeName, 'What it waits for.'),
  state: field(ConditionalStateName, 'Where it stands.'),
  tradingPairId: fields.tradingPairId,
  symbol: fields.symbol,
  side: field(Side, 'Side of the order that closes: SELL closes a long position.'),
  positionId: Type.Optional(field(Uuid, 'Position that it closes; absent while its entry order has opened none.')),
  marginAccountId: Type.Optional(field(Uuid, 'Margin account of the position; absent when it is not known any more.')),
  riskBucketId: Type.Optional(field(Uuid, 'Risk bucket of the position; absent when it is not known any more.')),
  triggerPrice: Type.Optional(field(
    Decimal, 'Mark price that fires it; of a trailing stop the one of now, absent while it is not armed.',
  )),
  orderType: field(OrderType, 'What it enters.'),
  limitPrice: Type.Optional(field(Decimal, 'Price of the LIMIT order.')),
  timeInForce: Type.Optional(field(TimeInForce, 'Of the LIMIT order.')),
  slippageToleranceBps: Type.Optional(field(Type.Integer(), 'How far from the best price the MARKET order may trade, in basis points.')),
  quantity: Type.Optional(field(
    Decimal, 'What it closes if it fires now, in units of the base token: what was asked for, never more than the position has. Of one '
      + 'that fired: what was ordered. Absent: all of a position that is not there yet.',
  )),
  closePosition: field(Type.Boolean(), 'It closes the whole position.'),
  trailBps: Type.Optional(field(Type.Integer(), 'Of a trailing stop: how far behind the best mark price, in basis points.')),
  activationPrice: Type.Optional(field(Decimal, 'Of a trailing stop: mark price that arms it; absent: it was armed at once.')),
  watermarkPrice: Type.Optional(field(Decimal, 'Of a trailing stop: best mark price since it was armed.')),
  trailArmedAt: Type.Optional(field(Timestamp, 'Of a trailing stop: when it was armed.')),
  ocoGroupId: Type.Optional(field(Uuid, 'Pair of which one cancels the other.')),
  parentOrderId: Type.Optional(field(
    Uuid, 'Entry order that it came with, where that is known: while it waits for that order to fill, and of what the history has.',
  )),
  triggeredOrderId: Type.Optional(field(Uuid, 'The order that it entered; of several the first.')),
  failureCode: Type.Optional(field(Type.String(), 'FAILED: code of the refusal of its order.')),
  terminalReason: Type.Optional(field(TerminalReason, 'CANCELLED: why.')),
  expiresAt: Type.Optional(field(Timestamp, 'When it ends without having fired; absent: never.')),
  createdAt: fields.createdAt,
  updatedAt: fields.updatedAt,
}))
export type ConditionalRecord = Static<typeof ConditionalRecord>

/** What {@link conditionalRecord} needs to know: what waits, and what the history or an event says of one. */
export interface ConditionalFacts extends ConditionalView {
  /** ConditionalReason of what happened last; of one that waits it does not matter. */
  readonly reason?: number
  /** Its entry order, also when it does not wait for it any more; 0: it had none. */
  readonly entrySequence?: number
  readonly entrySlot?: number
}

export function conditionalRecord(gateway: Gateway, order: ConditionalFacts): ConditionalRecord {
  const { kind, state, flags, place } = order
  const pair = gateway.genesis.pairs[order.pair]!
  const id = conditionalOrderId(order.createdSequence, kind)
  const limited = (flags & LegFlag.LIMIT) !== 0
  const record: ConditionalRecord = {
    conditionalOrderId: id,
    id,
    conditionType: CONDITION_TYPE_NAMES[kind] as ConditionalRecord['conditionType'],
    state: CONDITIONAL_STATE_NAMES[state] as ConditionalRecord['state'],
    tradingPairId: pair.id,
    symbol: pair.symbol,
    side: (flags & LegFlag.SELL) !== 0 ? 'SELL' : 'BUY',
    orderType: limited ? 'LIMIT' : 'MARKET',
    closePosition: order.lots === 0,
    createdAt: rfc3339(order.createdAt),
    updatedAt: rfc3339(order.updatedAt),
  }
  if (order.openedSequence !== 0) record.positionId = positionId(order.openedSequence, order.position)
  if (place !== undefined) {
    record.marginAccountId = marginAccountName(order.account, place.marginAccount)
    record.riskBucketId = riskBucketId(place.bucket.sequence, place.bucket.row)
  }
  if (order.trigger !== 0) record.triggerPrice = priceText(pair, order.trigger)
  if (limited) {
    record.limitPrice = priceText(pair, order.limit)
    record.timeInForce = (flags & LegFlag.IOC) !== 0 ? 'IOC' : (flags & LegFlag.FOK) !== 0 ? 'FOK' : 'GTC'
  }
  if ((flags & LegFlag.SLIPPAGE) !== 0) record.slippageToleranceBps = order.slippageBps
  const lots = lotsOf(order)
  if (lots !== 0) record.quantity = quantityText(pair, lots)
  if (kind === ConditionType.TRAILING_STOP) addTrail(record, gateway, order)
  if ((flags & LegFlag.OCO) !== 0) record.ocoGroupId = ocoGroupId(order.createdSequence)
  addOrders(record, order)
  if (order.expiresAt !== 0) record.expiresAt = rfc3339(order.expiresAt)
  return record
}

/** Lots that it closes if it fires now, or that it ordered; 0: nobody can say. */
function lotsOf({ state, lots, held, ordered, openedSequence }: ConditionalFacts): number {
  if (ordered !== 0) return ordered
  const watches = openedSequence !== 0 && (state === ConditionalState.PENDING || state === ConditionalState.ARMED)
  if (!watches || held === 0) return lots
  return lots === 0 ? held : Math.min(lots, held)
}

function addTrail(record: ConditionalRecord, { genesis }: Gateway, order: ConditionalFacts): void {
  const pair = genesis.pairs[order.pair]!
  record.trailBps = order.trailBps
  if (order.activation !== 0) record.activationPrice = priceText(pair, order.activation)
  if (order.watermark !== 0) record.watermarkPrice = priceText(pair, order.watermark)
  if (order.armedAt !== 0) record.trailArmedAt = rfc3339(order.armedAt)
}

/** The order that it waits for, and the one that it entered. */
function addOrders(record: ConditionalRecord, order: ConditionalFacts): void {
  const { state, orderSequence, orderSlot, entrySequence = 0, entrySlot = 0 } = order
  const waits = state === ConditionalState.PENDING && orderSequence !== 0
  if (waits) record.parentOrderId = orderId(orderSequence, orderSlot)
  else if (entrySequence !== 0) record.parentOrderId = orderId(entrySequence, entrySlot)
  if (state === ConditionalState.TRIGGERED && orderSequence !== 0) record.triggeredOrderId = orderId(orderSequence, orderSlot)
  if (order.code !== 0) record.failureCode = refusalByNumber(order.code).code
  if (state !== ConditionalState.CANCELLED || order.reason === undefined) return
  record.terminalReason = CONDITIONAL_REASON_NAMES[order.reason] as NonNullable<ConditionalRecord['terminalReason']>
}
