/**
 * Ways out: cancel everything, or everything of one pair. Open during maintenance and never limited. Conditional orders and TWAP orders
 * are among it: they end first, and count and are named as orders are.
 *
 * Orders on a halted pair stay, as single cancels there are refused; so do, for a delegated agent, those of pairs that it is not granted.
 * The answer names what stays with the code that its own cancel would have had.
 */
import Type, { type Static } from 'typebox'
import { SWEEP_ANSWER } from '../../core/layout/answers.ts'
import { AFTER_MS_MAX, DISARM } from '../../core/layout/command.ts'
import { CONDITIONAL_ORDER, ConditionalState, conditionOf } from '../../core/layout/conditional.ts'
import { EventType, eventTypeOf, ORDER_ENDED, TWAP_ORDER } from '../../core/layout/event.ts'
import { conditionalOrderId, orderId, twapOrderId } from '../../core/layout/ids.ts'
import type { RefusalCode } from '../../core/layout/refusals.ts'
import type { Views } from '../../core/layout/table.ts'
import { readConditionals } from '../../core/view/conditionals.ts'
import { isNotGranted, readLeftOrders } from '../../core/view/left_orders.ts'
import { readTwaps } from '../../core/view/twaps.ts'
import { encodeCancelAll, encodeDeadline, EVERY_PAIR } from '../bridge/encode.ts'
import { allowance, CREDIT, registerUntil, noRoom, send, slotAt, WAY_OUT, type PendingRequest } from '../bridge/engine_client.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { fullRefusal, Nullable, operation, pendingRequest, rfc3339, submit, Timestamp, Uuid, type Call } from './operation.ts'
import * as sample from './example_values.ts'
import { COMMAND } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { pairOf } from './lookup.ts'

/** Orders that stay, at most so many of them are named. */
export const NOT_CANCELLED_NAMED = 1000

const NotCancelled = record(
  'NotCancelled', 'An order that a mass cancel left where it was.',
  Type.Object(
    {
      orderId: field(Uuid, 'Order, conditional order or TWAP order.'), tradingPairId: fields.tradingPairId,
      reason: field(
        Type.String(),
        'Code that cancelling this order alone would have had: PAIR_NOT_ACTIVE on a halted pair, AGENT_NOT_ALLOWED.',
      ),
    },
  ),
)
const CANCELLED = {
  totalCancelled: field(Type.Integer(), 'Orders, conditional orders and TWAP orders that were cancelled.'),
  orderIds: field(Type.Array(Uuid), 'Orders, conditional orders and TWAP orders that were cancelled.'),
  totalNotCancelled: Type.Optional(field(Type.Integer(), 'Those that stay, although the request meant them.')),
  notCancelled: Type.Optional(field(Type.Array(NotCancelled), 'The first 1,000 of them, newest first.')),
}
const Cancelled = Type.Object(CANCELLED)
type Cancelled = Static<typeof Cancelled>
/** Of everything at once there may be a deadline, too. */
const CancelledOrDeadline = Type.Object({
  ...CANCELLED,
  cancelAt: Type.Optional(field(
    Nullable(Timestamp), 'Of a request with `afterMs`: when everything is cancelled unless it is repeated before. null: never.',
  )),
})
type CancelledOrDeadline = Static<typeof CancelledOrDeadline>

export const BatchCancelAllOrders = operation({
  service: 'OrdersService', method: 'POST', path: '/api/v1/orders/batch-cancel-all',
  access: 'session', agent: 'grant', maintenance: 'open', rate: 'mass-exit',
  summary: 'Cancel all orders',
  description: 'Cancels every open order of the caller, every conditional order and every TWAP order. Never refused by a budget, and '
    + 'available in maintenance. Orders on a halted pair stay; so do, for a delegated agent, those of pairs that it is not granted. '
    + '`notCancelled` names them, with the reason. '
    + 'With `afterMs` it is a dead man\'s switch: nothing is cancelled now, but the exchange itself cancels all of that of the '
    + 'account after that time, unless the request is repeated before; each request replaces the deadline before it, 0 takes it away. '
    + 'An account has one deadline. It outlives sessions, connections, the revocation of agents and restarts of the exchange: one that '
    + 'passes meanwhile counts at the start. Orders that are placed after it passed stay. A delegated agent may set it when it may '
    + 'cancel and is granted every trading pair.',
  answer: 'The orders that were cancelled; with `afterMs` none, and `cancelAt`.',
  refusals: COMMAND,
  body: Type.Object({
    afterMs: Type.Optional(field(
      Type.Integer({ minimum: 0, maximum: AFTER_MS_MAX }),
      'Cancel after so many ms, a day at most, unless this is repeated before; 0: not any more. Absent: now.',
    )),
  }),
  bodyRule: 'optional',
  output: CancelledOrDeadline,
  example: {
    input: {},
    output: {
      totalCancelled: 1, orderIds: [sample.ORDER], totalNotCancelled: 1,
      notCancelled: [{ orderId: sample.SUCCESSOR, tradingPairId: sample.PAIR, reason: 'PAIR_NOT_ACTIVE' }],
    },
  },
  run: (gateway, call, { afterMs }) =>
    (afterMs === undefined ? massCancel(gateway, call, EVERY_PAIR) : setDeadline(gateway, call, afterMs)),
})

export const BatchCancelOrdersByPair = operation({
  service: 'OrdersService', method: 'POST', path: '/api/v1/orders/batch-cancel-by-pair',
  access: 'session', agent: 'grant', maintenance: 'open', rate: 'mass-exit',
  summary: 'Cancel all orders of a pair',
  description: 'Cancels every open order, conditional order and TWAP order of the caller in one trading pair. Never refused by a budget, '
    + 'and available in maintenance. On a halted pair nothing is cancelled: `notCancelled` names the orders that stay, with the reason.',
  answer: 'The orders that were cancelled.',
  refusals: ['NOT_FOUND', ...COMMAND],
  body: Type.Object({ tradingPairId: fields.pairName }),
  output: Cancelled,
  example: {
    input: { tradingPairId: sample.PAIR },
    output: { totalCancelled: 1, orderIds: [sample.ORDER], totalNotCancelled: 0, notCancelled: [] },
  },
  run: (gateway, call, { tradingPairId }) => {
    const pair = pairOf(gateway, tradingPairId)
    if (pair instanceof Refused) return call.refuse(pair)
    massCancel(gateway, call, pair.index)
  },
})

/** Orders one CANCEL_ALL record ends at most: bounds the answers it puts on the reply ring, which all accounts share. */
const CHUNK = 128
/** One record takes at most this part of what its account may have in flight, so that others of its cancels fit beside it. */
const PART = 16
/** Credits of a record that ends one order. */
const LEAST = CREDIT + 1
/** Ms between looks for room when a mass cancel under way meets a full reply ring. */
const RETRY_MS = 2

/** One mass cancel under way: as many CANCEL_ALL records as it takes, one after the other. */
interface Sweep {
  readonly gateway: Gateway
  readonly call: Call<Cancelled>
  /** Index of the pair or {@link EVERY_PAIR}. */
  readonly pair: number
  readonly orderIds: string[]
  /** Sequence of its first record; 0: not known yet. Orders placed later are not meant. */
  began: number
  /** The order to go on from, as the record before was told; sequence 0: the newest. */
  readonly from: { slot: number; sequence: number }
  /** Deadline of all records together, on performance.now()'s clock. */
  readonly until: number
}

/** Orders the next record may end: as many as there is room for, {@link CHUNK} at most; 0: there is none. */
function chunkOf({ engine }: Gateway, account: number): number {
  const credits = allowance(engine, account, WAY_OUT)
  return credits < LEAST ? 0 : Math.max(1, Math.min(CHUNK, Math.floor(credits / PART) - CREDIT))
}

function massCancel(gateway: Gateway, call: Call<Cancelled>, pair: number): void {
  const full = noRoom(gateway.engine, call.account, LEAST, WAY_OUT)
  if (full !== null) return call.refuse(fullRefusal(full))
  const from = { slot: 0, sequence: 0 }
  cancelSome({ gateway, call, pair, orderIds: [], began: 0, from, until: performance.now() + gateway.config.deadlineMs })
}

/** Sets the account's deadline, or takes it away (core/orders/dead_man.ts). */
function setDeadline(gateway: Gateway, call: Call<CancelledOrDeadline>, afterMs: number): void {
  const pending = pendingRequest(call, ({ f64 }, base) => {
    const at = f64[(base + SWEEP_ANSWER.at.time) >>> 1]!
    call.answer({ totalCancelled: 0, orderIds: [], cancelAt: afterMs === 0 ? null : rfc3339(at + afterMs) })
  })
  submit(
    gateway, call, pending,
    (at, correlation) => encodeDeadline(gateway.engine, at, correlation, call, afterMs === 0 ? DISARM : afterMs), WAY_OUT,
  )
}

/** Cancels some orders and goes on until the end of the account's list. What was cancelled is never answered as an overload. */
function cancelSome(sweep: Sweep): void {
  const { gateway, call, pair, orderIds, from, until } = sweep
  const { engine } = gateway
  if (performance.now() > until) return call.refuse(new Refused('SERVICE_UNAVAILABLE'))
  const chunk = chunkOf(gateway, call.account)
  if (chunk < 1) {
    setTimeout(() => gateway.faults.guard(call, () => cancelSome(sweep)), RETRY_MS)
    return
  }
  const pending: PendingRequest = {
    ...pendingRequest(call, ({ i32, f64 }, base) => {
      if (sweep.began === 0) sweep.began = f64[(base + SWEEP_ANSWER.at.sequence) >>> 1]!
      if (i32[base + SWEEP_ANSWER.at.more] === 0) return answer(sweep)
      from.slot = i32[base + SWEEP_ANSWER.at.nextSlot]!
      from.sequence = f64[(base + SWEEP_ANSWER.at.nextSequence) >>> 1]!
      cancelSome(sweep)
    }),
    onRecord: (records, base) => void orderIds.push(endedId(records, base)),
  }
  const correlation = registerUntil(engine, pending, call.account, CREDIT + chunk, WAY_OUT, until, 0)
  encodeCancelAll(engine, slotAt(engine), correlation, call, pair, chunk, from)
  send(engine)
}

/** Id of what the record at word `base` says has ended. */
function endedId({ i32, u32, f64 }: Views, base: number): string {
  switch (eventTypeOf(u32[base]!)) {
    case EventType.CONDITIONAL: {
      const { at } = CONDITIONAL_ORDER
      return conditionalOrderId(f64[(base + at.createdSequence) >>> 1]!, conditionOf(i32[base + at.what]!))
    }
    case EventType.TWAP:
      return twapOrderId(f64[(base + TWAP_ORDER.at.createdSequence) >>> 1]!, i32[base + TWAP_ORDER.at.twap]!)
    default:
      return orderId(f64[(base + ORDER_ENDED.at.orderSequence) >>> 1]!, i32[base + ORDER_ENDED.at.slot]!)
  }
}

/** What stays of a mass cancel, by its id and pair. */
interface Left {
  readonly id: string
  readonly pair: number
}

/** What a mass cancel left of what waits, newest first; `null`: it cannot be read now. */
function readWaiting({ gateway: { state, gate }, call: { account }, pair, began }: Sweep): Left[] | null {
  const conditionals = readConditionals(state, gate, account)
  const twaps = readTwaps(state, gate, account)
  if (conditionals === null || twaps === null) return null
  const isLeft = (each: { readonly createdSequence: number; readonly pair: number }): boolean =>
    each.createdSequence < began && (pair === EVERY_PAIR || each.pair === pair)
  return [
    // One that fired is no more to be cancelled.
    ...conditionals.conditionals.filter((each) => isLeft(each) && each.state !== ConditionalState.TRIGGERED)
      .map((each) => ({ id: conditionalOrderId(each.createdSequence, each.kind), pair: each.pair })),
    ...twaps.twaps.filter(isLeft).map((each) => ({ id: twapOrderId(each.createdSequence, each.twap), pair: each.pair })),
  ]
}

/** Says what was cancelled and names what stays. */
function answer(sweep: Sweep): void {
  const { gateway, call, pair, orderIds, began, until } = sweep
  const { state, gate, genesis } = gateway
  const orders = readLeftOrders(state, gate, call.account, pair, began, NOT_CANCELLED_NAMED)
  const waiting = readWaiting(sweep)
  if (orders === null || waiting === null) {
    if (performance.now() > until) return call.refuse(new Refused('SERVICE_UNAVAILABLE'))
    setTimeout(() => gateway.faults.guard(call, () => answer(sweep)), RETRY_MS)
    return
  }
  const totalCancelled = orderIds.length
  const reasonOf = (of: number): RefusalCode =>
    call.agent >= 0 && isNotGranted(state, call.agent, of) ? 'AGENT_NOT_ALLOWED' : 'PAIR_NOT_ACTIVE'
  const left: Left[] = [...orders.orders.map((order) => ({ id: orderId(order.sequence, order.slot), pair: order.pair })), ...waiting]
  const notCancelled = left.slice(0, NOT_CANCELLED_NAMED).map(({ id, pair: of }) =>
    ({ orderId: id, tradingPairId: genesis.pairs[of]!.id, reason: reasonOf(of) }))
  call.answer({ totalCancelled, orderIds, totalNotCancelled: orders.total + waiting.length, notCancelled })
}
