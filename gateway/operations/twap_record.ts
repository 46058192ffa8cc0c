/** TWAP orders as people read them: those that wait or run from the shared columns, those that ended from the history. */
import Type, { type Static } from 'typebox'
import { Flag } from '../../core/layout/command.ts'
import { marginAccountId, parentMarginId, riskBucketId, twapOrderId } from '../../core/layout/ids.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import { TWAP_STATE_NAMES, TwapOption, TwapState } from '../../core/layout/twap.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { readAccount } from '../../core/view/accounts.ts'
import type { TwapView } from '../../core/view/twaps.ts'
import type { Gateway } from '../context.ts'
import { amountText, averagePriceText, priceText, quantityText } from './amounts.ts'
import * as fields from './fields.ts'
import { Decimal, rfc3339, Timestamp, Uuid } from './operation.ts'
import { LEVERAGE_SCALE } from './order_margin.ts'
import { marginAccountName } from './order_record.ts'
import { MarginMode, Side, TradingMode } from './order_words.ts'
import { field, record } from './schema.ts'
import { ExecutionStyle, TriggerDirection } from './twap_terms.ts'

export const TwapStateName = record(
  'TwapState', 'PENDING waits for its start time or its price; ACTIVE places slices. COMPLETED: all of it was filled. EXPIRED: its window, '
    + 'or the time it waits for its price, is over. FAILED: a slice was refused for a reason that no later one gets over.',
  Type.Union([
    Type.Literal('PENDING'), Type.Literal('ACTIVE'), Type.Literal('COMPLETED'), Type.Literal('EXPIRED'), Type.Literal('CANCELLED'),
    Type.Literal('FAILED'),
  ]),
)
export type TwapStateName = Static<typeof TwapStateName>

export const twapOrderIdField = field(Uuid, 'TWAP order.')
export const firstSliceAtField = field(Timestamp, 'When the first slice is due; absent while it waits for its price.')
export const plannedSlicesField = field(Type.Integer(), 'Slices that are planned.')

export const TwapRecord = record('TwapOrder', 'A quantity that is traded in slices over a window of time.', Type.Object({
  twapOrderId: twapOrderIdField,
  id: field(Uuid, 'The same as twapOrderId.'),
  state: field(TwapStateName, 'Where it stands.'),
  tradingPairId: fields.tradingPairId,
  symbol: fields.symbol,
  side: field(Side, 'BUY or SELL.'),
  tradingMode: field(TradingMode, 'MARGIN on a perpetual, otherwise SPOT.'),
  quantity: field(Decimal, 'Of all slices together, in units of the base token.'),
  filledQuantity: field(Decimal, 'Filled so far, in units of the base token.'),
  remainingQuantity: field(Decimal, 'Not filled, in units of the base token.'),
  shortfall: Type.Optional(field(Decimal, 'What was not filled when it was over; it is traded no more. Absent until then.')),
  averageFillPrice: Type.Optional(field(Decimal, 'Average price of the fills, rounded to 8 digits beyond the tick; absent without fills.')),
  limitPrice: Type.Optional(field(Decimal, 'No slice trades beyond this price.')),
  slippageToleranceBps: Type.Optional(field(Type.Integer(), 'How far from the best price a slice may trade, in basis points.')),
  slicesPlaced: field(Type.Integer(), 'Orders that were placed.'),
  plannedSlices: plannedSlicesField,
  startTime: Type.Optional(field(Timestamp, 'When its window begins; absent while that is not known.')),
  endTime: Type.Optional(field(Timestamp, 'When its window ends; absent while that is not known.')),
  durationSeconds: Type.Optional(field(Type.Integer(), 'From its start to its end; absent while that is not known.')),
  firstSliceAt: Type.Optional(firstSliceAtField),
  nextSliceAt: Type.Optional(field(Timestamp, 'When the next slice is due; absent when none is.')),
  lastSkipCode: Type.Optional(field(Type.String(), 'Why the last slice was left out: code of a refusal; absent when it was placed.')),
  failureCode: Type.Optional(field(Type.String(), 'FAILED: code of the refusal.')),
  randomize: field(Type.Boolean(), 'Sizes and times of slices vary by a fifth.'),
  reduceOnly: field(Type.Boolean(), 'Slices only make the position smaller.'),
  executionStyle: field(ExecutionStyle, 'MARKET or PASSIVE.'),
  triggerPrice: Type.Optional(field(Decimal, 'Price that it waits for, or waited.')),
  triggerDirection: Type.Optional(field(TriggerDirection, 'From which side.')),
  conditionalExpiry: Type.Optional(field(Timestamp, 'Until when it waits for it.')),
  clientTwapId: Type.Optional(field(Type.String(), 'Name of your own.')),
  useMasterBalance: Type.Optional(field(Type.Boolean(), 'True when it spends and earns on the balance of the master; absent otherwise.')),
  marginAccountId: Type.Optional(field(Uuid, 'Of margin orders: margin account it trades for.')),
  riskBucketId: Type.Optional(field(Uuid, 'Of margin orders: risk bucket it trades in; absent while there is none.')),
  marginMode: Type.Optional(field(MarginMode, 'Of margin orders: ISOLATED or CROSS.')),
  leverage: Type.Optional(field(Decimal, 'Of margin orders; absent of reduce-only ones, which need none.')),
  strategyKey: Type.Optional(field(Type.String(), 'Of margin orders: strategy key of the risk bucket; absent when it has none.')),
  fee: field(Decimal, 'Of all slices, in units of the quote token: positive paid, negative earned.'),
  createdAt: fields.createdAt,
  updatedAt: fields.updatedAt,
}))
export type TwapRecord = Static<typeof TwapRecord>

/** What {@link twapRecord} needs to know: what waits or runs, and what the history or an event says of one. */
export interface TwapFacts extends TwapView {
  /** Of a perpetual whose place is not known any more: rows of what it named, -1: nothing, and the sequence that made it. */
  readonly namedMarginAccount?: number
  readonly namedBucket?: number
  readonly namedSequence?: number
}

const isOver = (state: number): boolean => state !== TwapState.PENDING && state !== TwapState.ACTIVE
const SECOND = 1000

export function twapRecord(gateway: Gateway, twap: TwapFacts): TwapRecord {
  const { flags, options, lots, filled } = twap
  const pair = gateway.genesis.pairs[twap.pair]!
  const id = twapOrderId(twap.createdSequence, twap.twap)
  const margin = (flags & Flag.MARGIN) !== 0
  const record: TwapRecord = {
    twapOrderId: id,
    id,
    state: TWAP_STATE_NAMES[twap.state] as TwapStateName,
    tradingPairId: pair.id,
    symbol: pair.symbol,
    side: (flags & Flag.SELL) !== 0 ? 'SELL' : 'BUY',
    tradingMode: margin ? 'MARGIN' : 'SPOT',
    quantity: quantityText(pair, lots),
    filledQuantity: quantityText(pair, filled),
    remainingQuantity: quantityText(pair, lots - filled),
    slicesPlaced: twap.placed,
    plannedSlices: twap.slices,
    randomize: (options & TwapOption.RANDOMIZE) !== 0,
    reduceOnly: (flags & Flag.REDUCE_ONLY) !== 0,
    executionStyle: (options & TwapOption.PASSIVE) !== 0 ? 'PASSIVE' : 'MARKET',
    fee: amountText(gateway.genesis.assets[pair.quote]!, twap.fee),
    createdAt: rfc3339(twap.createdAt),
    updatedAt: rfc3339(twap.updatedAt),
  }
  if (isOver(twap.state)) record.shortfall = quantityText(pair, lots - filled)
  if (filled > 0) record.averageFillPrice = averagePriceText(pair, twap.filledQuote, filled)
  if (twap.price !== 0) record.limitPrice = priceText(pair, twap.price)
  if ((flags & Flag.SLIPPAGE) !== 0) record.slippageToleranceBps = twap.slippageBps
  if (twap.trigger !== 0) {
    record.triggerPrice = priceText(pair, twap.trigger)
    record.triggerDirection = (options & TwapOption.ABOVE) !== 0 ? 'ABOVE' : 'BELOW'
  }
  if (twap.conditionalExpiry !== 0) record.conditionalExpiry = rfc3339(twap.conditionalExpiry)
  if (twap.code !== 0) record[twap.state === TwapState.FAILED ? 'failureCode' : 'lastSkipCode'] = refusalByNumber(twap.code).code
  if (twap.label !== '') record.clientTwapId = twap.label
  if ((flags & Flag.MASTER_FUNDED) !== 0) record.useMasterBalance = true
  addTimes(record, twap)
  if (margin) addMargin(record, gateway, twap)
  return record
}

/** True while its price has not come: its window is not known. */
const waitsForPrice = ({ state, trigger, nextAt }: TwapFacts): boolean => state === TwapState.PENDING && trigger !== 0 && nextAt === 0

function addTimes(record: TwapRecord, twap: TwapFacts): void {
  const { startAt, endAt, nextAt, durationMs, state } = twap
  if (startAt !== 0) record.startTime = rfc3339(startAt)
  if (endAt !== 0) record.endTime = rfc3339(endAt)
  if (durationMs !== 0) record.durationSeconds = Math.round(durationMs / SECOND)
  else if (startAt !== 0 && endAt > startAt) record.durationSeconds = Math.round((endAt - startAt) / SECOND)
  if (startAt !== 0 && !waitsForPrice(twap)) record.firstSliceAt = rfc3339(startAt)
  if (!isOver(state) && nextAt !== 0 && twap.reached < twap.slices) record.nextSliceAt = rfc3339(nextAt)
}

function addMargin(record: TwapRecord, gateway: Gateway, twap: TwapFacts): void {
  const { account, place, leverage } = twap
  record.marginMode = (twap.flags & Flag.CROSS) !== 0 ? 'CROSS' : 'ISOLATED'
  if (leverage !== 0) record.leverage = formatDecimal(leverage, LEVERAGE_SCALE)
  if (place !== undefined) {
    record.marginAccountId = marginAccountName(account, place.marginAccount)
    if (place.bucket !== null) record.riskBucketId = riskBucketId(place.bucket.sequence, place.bucket.row)
    if (place.strategyKey !== '') record.strategyKey = place.strategyKey
    return
  }
  const { namedMarginAccount = -1, namedBucket = -1, namedSequence = 0 } = twap
  if (namedBucket >= 0) record.riskBucketId = riskBucketId(namedSequence, namedBucket)
  else if (namedMarginAccount >= 0) record.marginAccountId = marginAccountId(namedSequence, namedMarginAccount)
  else record.marginAccountId = parentMarginId(readAccount(gateway.state, account).createdSequence, account)
}
