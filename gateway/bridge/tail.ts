/**
 * The tail: finished orders, read off the event ring.
 *
 * The engine forgets an order when it ends, and the history learns of it a little later, or is down. Each gateway remembers the
 * newest {@link FINISHED_MAX} ends it saw, so that an order can be looked up at once after it was filled or cancelled. A gateway
 * that is lapped by the writer misses what it missed: the order is then unknown here, never wrong.
 */
import {
  answeredTypeOf, EventType, eventTypeOf, FILL, LABEL, ORDER_ENDED, outcomeOf, Reason, RESULT, Status,
} from '../../core/layout/event.ts'
import { CommandType, Flag, LABEL_SHIFT } from '../../core/layout/command.ts'
import { RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { createReader, read, type Broadcast, type Reader } from '../../core/ring/broadcast.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import type { OrderView } from '../../core/view/accounts.ts'
import { createBoundedMap, remember, type BoundedMap } from '../bounded_map.ts'

/** Finished orders, and client order ids of orders still open, that one gateway remembers. */
export const FINISHED_MAX = 65_536
/** Copies of the ring one drain makes at most: the rest waits for the next. */
const COPIES_MAX = 64
const BATCH = 256
const DRAIN_MS = 10

/** An order that ended: as it was while it rested, and how it ended. `expiresAt` 0: not known. */
export interface FinishedOrder extends OrderView {
  /** Status | Reason << 8. */
  outcome: number
  slippageBps: number
}

export interface Tail {
  readonly reader: Reader
  readonly records: Views
  readonly counters: Float64Array
  /** By order sequence. */
  readonly finished: BoundedMap<number, FinishedOrder>
  readonly labels: BoundedMap<number, string>
  readonly timer: NodeJS.Timeout
}

export function createTail(ring: Broadcast, counters: Float64Array): Tail {
  const reader = createReader(ring, BATCH)
  const tail: Tail = {
    reader, counters,
    records: viewsOf(reader.copy.buffer),
    finished: createBoundedMap(FINISHED_MAX),
    labels: createBoundedMap(FINISHED_MAX),
    timer: setInterval(() => drainTail(tail), DRAIN_MS),
  }
  return tail
}

export const closeTail = (tail: Tail): void => clearInterval(tail.timer)

/** Reads what is new, at most {@link COPIES_MAX} copies of it. */
export function drainTail(tail: Tail): void {
  for (let copies = 0; copies < COPIES_MAX; copies++) {
    const count = read(tail.reader)
    if (count === 0) return
    if (count < 0) tail.counters[GATEWAY.lapped]!++
    for (let i = 0; i < count; i++) take(tail, tail.records, i * RECORD_WORDS)
  }
}

/** The order with this identity if it ended lately and is the account's. */
export function findFinished(tail: Tail, account: number, sequence: number, slot: number): FinishedOrder | undefined {
  const order = tail.finished.entries.get(sequence)
  return order !== undefined && order.account === account && order.slot === slot ? order : undefined
}

function take(tail: Tail, records: Views, base: number): void {
  switch (eventTypeOf(records.u32[base]!)) {
    case EventType.RESULT:
      return takeResult(tail, records, base)
    case EventType.FILL:
      if (records.i32[base + FILL.at.makerRemaining] === 0) takeFill(tail, records, base)
      return
    case EventType.ORDER_ENDED:
      return takeEnded(tail, records, base)
    case EventType.LABEL: {
      const at = (base + LABEL.at.label) * 4
      const text = Buffer.from(records.bytes.buffer, at, records.i32[base + LABEL.at.length]!).toString('latin1')
      return remember(tail.labels, records.f64[(base + LABEL.at.orderSequence) >>> 1]!, text)
    }
  }
}

/** The client order id, which is needed no longer once its order ended. */
function labelOf(tail: Tail, sequence: number, flags: number): string {
  if (flags >>> LABEL_SHIFT === 0) return ''
  const label = tail.labels.entries.get(sequence) ?? ''
  tail.labels.entries.delete(sequence)
  return label
}

/** An order that ended on arrival, or was cancelled by its owner. */
function takeResult(tail: Tail, { i32, u32, f64, i64 }: Views, base: number): void {
  const { at } = RESULT
  const type = answeredTypeOf(u32[base]!)
  const cancelled = type === CommandType.CANCEL_ORDER
  if (i32[base + at.code] !== 0 || (type !== CommandType.PLACE_ORDER && type !== CommandType.REPLACE_ORDER && !cancelled)) return
  const flags = u32[base + at.flags]!
  const outcome = i32[base + at.outcome]!
  const status = outcome & 0xff
  if ((flags & Flag.REPEATED) !== 0 || status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED) return
  const sequence = f64[(base + at.orderSequence) >>> 1]!
  const time = f64[(base + at.time) >>> 1]!
  remember(tail.finished, sequence, {
    sequence, flags, outcome,
    slot: i32[base + at.slot]!,
    account: i32[base + at.account]!,
    pair: i32[base + at.pair]!,
    price: i32[base + at.price]!,
    lots: i32[base + at.lots]!,
    remaining: i32[base + at.remaining]!,
    filledQuote: i64[(base + at.filledQuote) >>> 1]!,
    fee: i64[(base + at.fee) >>> 1]!,
    createdAt: cancelled ? f64[(base + at.originalSequence) >>> 1]! : time,
    updatedAt: time,
    expiresAt: cancelled ? 0 : f64[(base + at.expiresAt) >>> 1]!,
    slippageBps: cancelled ? 0 : i32[base + at.detail2]!,
    label: labelOf(tail, sequence, flags),
  })
}

/** A resting order that was filled to the end. */
function takeFill(tail: Tail, { i32, u32, f64, i64 }: Views, base: number): void {
  const { at } = FILL
  const sequence = f64[(base + at.makerSequence) >>> 1]!
  const flags = u32[base + at.makerFlags]!
  remember(tail.finished, sequence, {
    sequence, flags,
    outcome: outcomeOf(Status.FILLED, Reason.NONE),
    slot: i32[base + at.makerSlot]!,
    account: i32[base + at.makerAccount]!,
    pair: i32[base + at.pair]!,
    // What a resting order trades at is its own price, and the last fill is at it like every other.
    price: i32[base + at.price]!,
    lots: i32[base + at.makerLots]!,
    remaining: 0,
    filledQuote: i64[(base + at.makerFilledQuote) >>> 1]!,
    fee: i64[(base + at.makerTotalFee) >>> 1]!,
    createdAt: f64[(base + at.makerCreatedAt) >>> 1]!,
    updatedAt: f64[(base + at.time) >>> 1]!,
    expiresAt: 0,
    slippageBps: 0,
    label: labelOf(tail, sequence, flags),
  })
}

/** A resting order that left the book unfilled. */
function takeEnded(tail: Tail, { i32, u32, f64, i64 }: Views, base: number): void {
  const { at } = ORDER_ENDED
  const sequence = f64[(base + at.orderSequence) >>> 1]!
  const flags = u32[base + at.flags]!
  remember(tail.finished, sequence, {
    sequence, flags,
    outcome: i32[base + at.outcome]!,
    slot: i32[base + at.slot]!,
    account: i32[base + at.account]!,
    pair: i32[base + at.pair]!,
    price: i32[base + at.price]!,
    lots: i32[base + at.lots]!,
    remaining: i32[base + at.remaining]!,
    filledQuote: i64[(base + at.filledQuote) >>> 1]!,
    fee: i64[(base + at.fee) >>> 1]!,
    createdAt: f64[(base + at.createdAt) >>> 1]!,
    updatedAt: f64[(base + at.time) >>> 1]!,
    expiresAt: 0,
    slippageBps: 0,
    label: labelOf(tail, sequence, flags),
  })
}
