/** Columns of orders that wait, conditional and TWAP orders, for people: commands, answers and events (meanings.ts). */
import { ATTACH_ANSWER, CANCELLED_WAITING_ANSWER, TWAP_ANSWER } from '../layout/answers.ts'
import { CommandType, Flag } from '../layout/command.ts'
import {
  ATTACH_CONDITIONALS_COMMAND, CANCEL_CONDITIONAL_COMMAND, CONDITION_TYPE_NAMES, CONDITIONAL_ORDER, CONDITIONAL_REASON_NAMES,
  CONDITIONAL_STATE_NAMES, ConditionType, EXPIRE_CONDITIONAL_COMMAND, LegFlag, TRIGGER_STEP_COMMAND,
} from '../layout/conditional.ts'
import { EventType } from '../layout/event.ts'
import { IdKind } from '../layout/ids.ts'
import { REFUSALS } from '../layout/refusals.ts'
import {
  CANCEL_TWAP_COMMAND, CHILD_ORDER, CREATE_TWAP_COMMAND, TWAP_OPENED, TWAP_ORDER, TWAP_REASON_NAMES, TWAP_STATE_NAMES, TWAP_STEP_COMMAND,
  TwapOption,
} from '../layout/twap.ts'
import { ORDER_MARGIN_FIELDS } from './margin_columns.ts'
import {
  bits, both, columnsOf, decimals, given, hidden, madeId, named, order, orderFlags, pair, price, quantity, quote, text, time, unless, user,
  whole, type Column, type Meaning,
} from './meanings.ts'

/** Lots, 0: of the whole position, or none. */
const lots = (name: string): Meaning => unless(quantity(name), 0)
const { SELL: _sells, ...LEG_FLAGS } = LegFlag

/** A leg of a command, `prefix` before the names of its columns. Nothing is told of one that is not there. */
const trigger = (prefix: string): Meaning => price(`${prefix}TriggerPrice`)
const flags = (prefix: string): Meaning => bits(LegFlag, `${prefix}Flags`)
const slippage = (prefix: string, field: string): Meaning => given(whole(`${prefix}SlippageToleranceBps`), field, LegFlag.SLIPPAGE)
const expires = (prefix: string, field: string): Meaning => given(time(`${prefix}ExpiresAt`), field, LegFlag.EXPIRES)

/** The legs of an order that is placed, and of ATTACH_CONDITIONALS. */
export const LEG_FIELDS = {
  profitTrigger: trigger('takeProfit'), profitFlags: flags('takeProfit'), profitLimit: price('takeProfitLimitPrice'),
  profitLots: lots('takeProfitQuantity'), profitSlippageBps: slippage('takeProfit', 'profitFlags'), profitReserved: hidden,
  profitExpiresAt: expires('takeProfit', 'profitFlags'),
  stopTrigger: trigger('stopLoss'), stopFlags: flags('stopLoss'), stopLimit: price('stopLossLimitPrice'),
  stopLots: lots('stopLossQuantity'), stopSlippageBps: slippage('stopLoss', 'stopFlags'), stopReserved: hidden,
  stopExpiresAt: expires('stopLoss', 'stopFlags'),
  trailBps: whole('trailingStopBps', 0), trailFlags: flags('trailingStop'), trailActivation: price('trailingStopActivationPrice'),
  trailLots: lots('trailingStopQuantity'), trailSlippageBps: slippage('trailingStop', 'trailFlags'), trailReserved: hidden,
  trailExpiresAt: expires('trailingStop', 'trailFlags'),
} as const
/** Of commands that share the layout of orders and have none. */
export const NO_LEGS = {
  profitTrigger: hidden, profitFlags: hidden, profitLimit: hidden, profitLots: hidden, profitSlippageBps: hidden, profitReserved: hidden,
  profitExpiresAt: hidden, stopTrigger: hidden, stopFlags: hidden, stopLimit: hidden, stopLots: hidden, stopSlippageBps: hidden,
  stopReserved: hidden, stopExpiresAt: hidden, trailBps: hidden, trailFlags: hidden, trailActivation: hidden, trailLots: hidden,
  trailSlippageBps: hidden, trailReserved: hidden, trailExpiresAt: hidden,
} as const

const only = (meaning: Meaning, ...names: readonly string[]): Meaning => (field, layout) =>
  meaning(field, layout).filter(({ name }) => names.includes(name))
/** Of the order that a conditional order enters: bit SELL is that of orders. */
const legFlags: Meaning = both(only(orderFlags(), 'side'), bits(LEG_FLAGS, 'flags', 0, ~LegFlag.SELL))
/** Of the slices of a TWAP order, whose type and time in force follow from its options. */
const sliceFlags: Meaning = only(orderFlags(), 'side', 'flags')
const twap = (name: string, sequenceField: string): Meaning => madeId(name, IdKind.TWAP_ORDER, sequenceField)
const twapOptions: Meaning = bits(TwapOption, 'options')
/** Number of a refusal. */
const refusal: Meaning = unless(
  named(Object.fromEntries(Object.values(REFUSALS).map(({ code, number }) => [code, number])), 'refusal'), 0,
)

type Head = Readonly<Record<'kind' | 'correlation' | 'session' | 'sessionGeneration', Meaning>>

/** Columns of the commands, whose heads say who signs them. */
export const waitingCommandColumns = (signed: Head, own: Head) => ({
  [CommandType.ATTACH_CONDITIONALS]: columnsOf(ATTACH_CONDITIONALS_COMMAND, {
    ...signed, position: both(madeId('positionId', IdKind.POSITION, 'openedSequence'), pair), reserved: hidden, openedSequence: hidden,
    ...LEG_FIELDS,
  }),
  [CommandType.CANCEL_CONDITIONAL]: columnsOf(CANCEL_CONDITIONAL_COMMAND, {
    ...signed, leg: madeId('conditionalOrderId', IdKind.CONDITIONAL_ORDER, 'createdSequence'), reserved: hidden, createdSequence: hidden,
  }),
  // The leg, which is part of its id, is in the event.
  [CommandType.EXPIRE_CONDITIONAL]: columnsOf(EXPIRE_CONDITIONAL_COMMAND, {
    ...own, conditional: whole('conditionalOrderRow'), reserved: hidden, createdSequence: whole(),
  }),
  [CommandType.TRIGGER_STEP]: columnsOf(TRIGGER_STEP_COMMAND, { ...own, pair }),
  [CommandType.CREATE_TWAP]: columnsOf(CREATE_TWAP_COMMAND, {
    ...signed, pair, flags: sliceFlags, price: price('limitPrice'), lots: quantity('quantity'),
    slippageBps: given(whole('slippageToleranceBps'), 'flags', Flag.SLIPPAGE), options: twapOptions, trigger: price('triggerPrice'),
    labelLength: hidden, startAt: time(), endAt: time(), conditionalExpiry: time(), seed: decimals('seed', 0),
    durationMs: whole(undefined, 0), reserved: hidden, ...ORDER_MARGIN_FIELDS, label: text('clientTwapId'),
  }),
  [CommandType.CANCEL_TWAP]: columnsOf(CANCEL_TWAP_COMMAND, {
    ...signed, twap: twap('twapOrderId', 'createdSequence'), reserved: hidden, createdSequence: hidden,
  }),
  [CommandType.TWAP_STEP]: columnsOf(TWAP_STEP_COMMAND, {
    ...own, twap: twap('twapOrderId', 'createdSequence'), reserved: hidden, createdSequence: hidden,
  }),
} as const)

type AnswerHead = Readonly<Record<'kind' | 'correlation' | 'sequence' | 'time' | 'code' | 'account', Meaning>>
const LEGS_MADE = {
  TAKE_PROFIT: 1 << ConditionType.TAKE_PROFIT, STOP_LOSS: 1 << ConditionType.STOP_LOSS, TRAILING_STOP: 1 << ConditionType.TRAILING_STOP,
}

/** Columns of their answers, when they were done. */
export function waitingAnswerColumns(head: AnswerHead): Readonly<Record<number, readonly Column[]>> {
  const cancelled = columnsOf(CANCELLED_WAITING_ANSWER, { ...head, pair })
  return {
    [CommandType.ATTACH_CONDITIONALS]: columnsOf(ATTACH_ANSWER, { ...head, legs: bits(LEGS_MADE) }),
    [CommandType.CANCEL_CONDITIONAL]: cancelled,
    [CommandType.CREATE_TWAP]: columnsOf(TWAP_ANSWER, {
      ...head, twap: twap('twapOrderId', 'sequence'), slices: whole('plannedSlices'), state: named(TWAP_STATE_NAMES), firstSliceAt: time(),
      endAt: time(),
    }),
    [CommandType.CANCEL_TWAP]: cancelled,
  }
}

export const WAITING_EVENT_COLUMNS: Readonly<Record<number, readonly Column[]>> = {
  [EventType.CONDITIONAL]: columnsOf(CONDITIONAL_ORDER, {
    kind: hidden, account: user(), sequence: hidden, time: hidden,
    createdSequence: given(madeId('ocoGroupId', IdKind.OCO_GROUP, 'createdSequence', 0), 'flags', LegFlag.OCO),
    what: both(
      madeId('conditionalOrderId', IdKind.CONDITIONAL_ORDER, 'createdSequence', 0xff),
      named(CONDITION_TYPE_NAMES, 'conditionType', 0, 0xff), named(CONDITIONAL_STATE_NAMES, 'state', 8, 0xff),
      named(CONDITIONAL_REASON_NAMES, 'reason', 16, 0xff),
    ),
    pair, flags: legFlags, trigger: price('triggerPrice'), limit: price('limitPrice'), lots: lots('quantity'),
    slippageBps: given(whole('slippageToleranceBps'), 'flags', LegFlag.SLIPPAGE), trailBps: whole(undefined, 0),
    activation: price('activationPrice'), watermark: price('watermarkPrice'), expiresAt: time(), armedAt: time(), createdAt: time(),
    orderSequence: hidden, openedSequence: hidden, orderSlot: order('orderId', 'orderSequence'),
    position: madeId('positionId', IdKind.POSITION, 'openedSequence'), code: refusal, ordered: lots('orderedQuantity'),
  }),
  [EventType.TWAP]: columnsOf(TWAP_ORDER, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, createdSequence: hidden, twap: twap('twapOrderId', 'createdSequence'),
    what: both(named(TWAP_STATE_NAMES, 'state', 0, 0xff), named(TWAP_REASON_NAMES, 'reason', 8, 0xff)),
    pair, flags: sliceFlags, lots: quantity('quantity'), filled: quantity('filledQuantity'), slices: whole('plannedSlices'),
    reached: whole('slicesReached'), placed: whole('slicesPlaced'), childSlot: unless(order('childOrderId', 'sequence'), -1), code: refusal,
    reserved: hidden, startAt: time(), endAt: time(), nextAt: time('nextSliceAt'), filledQuote: quote('filledQuoteQuantity'),
    fee: quote('fee'),
  }),
  [EventType.TWAP_OPENED]: columnsOf(TWAP_OPENED, {
    kind: hidden, account: user(), createdSequence: hidden, twap: twap('twapOrderId', 'createdSequence'), pair, price: price('limitPrice'),
    slippageBps: whole('slippageToleranceBps'), options: twapOptions, trigger: price('triggerPrice'), conditionalExpiry: time(),
    durationMs: whole(undefined, 0), leverage: decimals('leverage', 2, 0n), marginAccount: whole('marginAccountRow', -1),
    bucket: whole('riskBucketRow', -1), namedSequence: whole(undefined, 0), labelLength: hidden, reserved: hidden,
    label: text('clientTwapId'),
  }),
  [EventType.CHILD_ORDER]: columnsOf(CHILD_ORDER, {
    kind: hidden, account: user(), orderSequence: hidden, slot: order('orderId', 'orderSequence'), pair,
    twap: twap('parentOrderId', 'twapSequence'), reserved: hidden, twapSequence: hidden,
  }),
}
