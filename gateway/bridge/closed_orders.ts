/**
 * The closed-order cache: orders that ended, read off the event ring.
 *
 * The engine forgets an order when it ends, and the history learns of it a little later, or is down. Each gateway remembers the
 * newest {@link CLOSED_ORDERS_MAX} ends it saw, so that an order can be looked up at once after it was filled or cancelled. A gateway
 * that is lapped by the writer misses what it missed: the order is then unknown here, never wrong.
 *
 * Under load nearly every end is remembered and none is asked for, so remembering is a copy of the event into a ring of records and
 * three words of index; only a lookup makes an object of it. The index has a chain per sequence modulo the ring, newest first. Nothing
 * is removed from it: an entry that is not older than the one before it in its chain stands for a record that was overwritten, and
 * whatever came after it was overwritten before.
 */
import {
  answeredTypeOf, EventType, eventTypeOf, FILL, LABEL, MARGIN_ORDER, ORDER_ENDED, ORDER_RESIZED, outcomeOf, Reason, RESULT, Status,
} from '../../core/layout/event.ts'
import { CANCEL_ANSWER, ORDER_ANSWER } from '../../core/layout/answers.ts'
import { CommandType, Flag, CLIENT_ORDER_ID_SHIFT, Origin, originOf } from '../../core/layout/command.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { CHILD_ORDER } from '../../core/layout/twap.ts'
import { createReader, read, type Broadcast, type Reader } from '../../core/ring/broadcast.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import type { OrderView } from '../../core/view/accounts.ts'
import { MarginMode, paddedText, STRATEGY_KEY_BYTES, type NamedRow, type OrderMarginView } from '../../core/view/order_margin.ts'
import { createBoundedMap, remember, type BoundedMap } from '../bounded_map.ts'

/** Finished orders, and client order ids of orders still open, that one gateway remembers. */
export const CLOSED_ORDERS_MAX = 65_536
/** Copies of the ring one drain makes at most: the rest waits for the next. */
const COPIES_MAX = 64
const BATCH = 256
const DRAIN_MS = 10

/** An order that ended: as it was while it rested, and how it ended. `expiresAt` 0: not known. */
export interface ClosedOrder extends OrderView {
  /** Status | Reason << 8. */
  outcome: number
  slippageBps: number
  /** Sequence of the command that ended it. */
  endSequence: number
}

export interface ClosedOrderCache {
  readonly reader: Reader
  readonly records: Views
  readonly counters: Float64Array
  /** Ends it remembers. */
  readonly room: number
  /** Ends ever; the next is kept at this place modulo the room. */
  count: number
  /** The events that said so: RESULT, FILL or ORDER_ENDED records. */
  readonly kept: Views
  /** Client order id of each, '' without one. */
  readonly keptClientOrderIds: string[]
  readonly keptMargins: (OrderMarginView | undefined)[]
  /** TWAP order of each that is a slice. */
  readonly keptParents: (NamedRow | undefined)[]
  /** Newest place of each chain, and the next older of each place; -1 none. */
  readonly chains: Int32Array
  readonly older: Int32Array
  /** Client order ids of orders that may still be open, and where those of perpetuals stand, by order sequence. */
  readonly clientOrderIds: BoundedMap<number, string>
  readonly margins: BoundedMap<number, OrderMarginView>
  /** The same of which TWAP order they are slices. */
  readonly parents: BoundedMap<number, NamedRow>
  readonly timer: NodeJS.Timeout
}

export function createClosedOrderCache(ring: Broadcast, counters: Float64Array, room: number = CLOSED_ORDERS_MAX): ClosedOrderCache {
  const reader = createReader(ring, BATCH)
  const cache: ClosedOrderCache = {
    reader, counters, room,
    records: viewsOf(reader.copy.buffer),
    count: 0,
    kept: viewsOf(new ArrayBuffer(room * RECORD_BYTES)),
    keptClientOrderIds: new Array<string>(room).fill(''),
    chains: new Int32Array(room).fill(-1),
    older: new Int32Array(room).fill(-1),
    keptMargins: new Array<OrderMarginView | undefined>(room).fill(undefined),
    keptParents: new Array<NamedRow | undefined>(room).fill(undefined),
    clientOrderIds: createBoundedMap(room),
    margins: createBoundedMap(room),
    parents: createBoundedMap(room),
    timer: setInterval(() => drainClosedOrders(cache), DRAIN_MS),
  }
  return cache
}

export const closeClosedOrderCache = (cache: ClosedOrderCache): void => clearInterval(cache.timer)

/** Reads what is new, at most {@link COPIES_MAX} copies of it. */
export function drainClosedOrders(cache: ClosedOrderCache): void {
  for (let copies = 0; copies < COPIES_MAX; copies++) {
    const count = read(cache.reader)
    if (count === 0) return
    if (count < 0) cache.counters[GATEWAY.lapped]!++
    for (let i = 0; i < count; i++) take(cache, cache.records, i * RECORD_WORDS)
  }
}

/** The order with this identity if it ended lately and is the account's. */
export function findFinished(cache: ClosedOrderCache, account: number, sequence: number, slot: number): ClosedOrder | undefined {
  const { chains, older, kept, count, room } = cache
  let place = chains[sequence % room]!
  for (let age = -1; place >= 0; place = older[place]!) {
    const next = (count - 1 - place) % room
    if (next <= age) return undefined
    age = next
    if (closedOrderAt(kept, place * RECORD_WORDS, '').sequence !== sequence) continue
    const order = orderOfPlace(cache, place)
    return order.account === account && order.slot === slot ? order : undefined
  }
  return undefined
}

/** The account's order that ended last of those with this client order id. Compares the room's client order ids, newest first. */
export function findFinishedNamed(cache: ClosedOrderCache, account: number, clientOrderId: string): ClosedOrder | undefined {
  const { keptClientOrderIds, count, room } = cache
  for (let age = 1; age <= Math.min(count, room); age++) {
    const place = (count - age) % room
    if (keptClientOrderIds[place] !== clientOrderId) continue
    const order = orderOfPlace(cache, place)
    if (order.account === account) return order
  }
  return undefined
}

function orderOfPlace({ kept, keptClientOrderIds, keptMargins, keptParents }: ClosedOrderCache, place: number): ClosedOrder {
  const order = closedOrderAt(kept, place * RECORD_WORDS, keptClientOrderIds[place]!)
  const margin = keptMargins[place]
  if (margin !== undefined) order.margin = margin
  const parent = keptParents[place]
  if (parent !== undefined) order.parent = parent
  return order
}

function take(cache: ClosedOrderCache, records: Views, base: number): void {
  switch (eventTypeOf(records.u32[base]!)) {
    case EventType.RESULT:
      if (endsOrder(records, base)) keep(cache, records, base, RESULT.at.orderSequence, RESULT.at.flags)
      return
    case EventType.FILL:
      // A resting order that was filled to the end.
      if (records.i32[base + FILL.at.makerRemaining] === 0) keep(cache, records, base, FILL.at.makerSequence, FILL.at.makerFlags)
      return
    case EventType.ORDER_ENDED:
      return keep(cache, records, base, ORDER_ENDED.at.orderSequence, ORDER_ENDED.at.flags)
    case EventType.LABEL: {
      const at = (base + LABEL.at.label) * 4
      const text = Buffer.from(records.bytes.buffer, at, records.i32[base + LABEL.at.length]!).toString('latin1')
      return remember(cache.clientOrderIds, records.f64[(base + LABEL.at.orderSequence) >>> 1]!, text)
    }
    case EventType.MARGIN_ORDER:
      return remember(cache.margins, records.f64[(base + MARGIN_ORDER.at.orderSequence) >>> 1]!, marginOfOrder(records, base))
    case EventType.CHILD_ORDER:
      return remember(cache.parents, records.f64[(base + CHILD_ORDER.at.orderSequence) >>> 1]!, parentOfChild(records, base))
  }
}

/** Whether a RESULT tells of an order that ended on arrival, or was cancelled by its owner. */
function endsOrder({ i32, u32 }: Views, base: number): boolean {
  const { at } = RESULT
  const type = answeredTypeOf(u32[base]!)
  const places = type === CommandType.PLACE_ORDER || type === CommandType.REPLACE_ORDER || type === CommandType.ENTER_ORDER
  if (!places && type !== CommandType.CANCEL_ORDER) return false
  const status = i32[base + at.outcome]! & 0xff
  return i32[base + at.code] === 0 && (u32[base + at.flags]! & Flag.REPEATED) === 0 && status !== Status.SUBMITTED &&
    status !== Status.PARTIALLY_FILLED
}

/** Keeps the event at `base` as the end of the order whose sequence and flags stand at these words of it. */
function keep(cache: ClosedOrderCache, records: Views, base: number, sequenceAt: number, flagsAt: number): void {
  const { chains, older, kept, keptClientOrderIds, room } = cache
  const place = cache.count++ % room
  const to = place * RECORD_WORDS
  for (let word = 0; word < RECORD_WORDS; word++) kept.i32[to + word] = records.i32[base + word]!
  const sequence = records.f64[(base + sequenceAt) >>> 1]!
  const chain = sequence % room
  older[place] = chains[chain]!
  chains[chain] = place
  const flags = records.u32[base + flagsAt]!
  cache.keptMargins[place] = (flags & Flag.MARGIN) === 0 ? undefined : taken(cache.margins, sequence)
  cache.keptParents[place] = originOf(flags) === Origin.TWAP ? taken(cache.parents, sequence) : undefined
  keptClientOrderIds[place] = flags >>> CLIENT_ORDER_ID_SHIFT === 0 ? '' : taken(cache.clientOrderIds, sequence) ?? ''
}

/** What is known of the order with this sequence, which is needed here no longer once it ended. */
function taken<T>({ entries }: BoundedMap<number, T>, sequence: number): T | undefined {
  const known = entries.get(sequence)
  entries.delete(sequence)
  return known
}

/** Where the order stands that the MARGIN_ORDER at word `base` is of. */
export function marginOfOrder({ i32, u32, f64, bytes }: Views, base: number): OrderMarginView {
  const { at } = MARGIN_ORDER
  const key = (base + at.strategyKey) * 4
  return {
    marginAccount: { sequence: f64[(base + at.marginAccountSequence) >>> 1]!, row: i32[base + at.marginAccount]! },
    bucket: { sequence: f64[(base + at.bucketSequence) >>> 1]!, row: i32[base + at.bucket]! },
    mode: (u32[base + at.flags]! & Flag.CROSS) !== 0 ? MarginMode.CROSS : MarginMode.ISOLATED,
    strategyKey: paddedText(bytes.subarray(key, key + STRATEGY_KEY_BYTES)),
    leverage: i32[base + at.leverage]!,
  }
}

/** The TWAP order of which the CHILD_ORDER at word `base` tells. */
export const parentOfChild = ({ i32, f64 }: Views, base: number): NamedRow =>
  ({ sequence: f64[(base + CHILD_ORDER.at.twapSequence) >>> 1]!, row: i32[base + CHILD_ORDER.at.twap]! })

function closedOrderAt(kept: Views, base: number, clientOrderId: string): ClosedOrder {
  const type = eventTypeOf(kept.u32[base]!)
  if (type === EventType.RESULT) return orderOfResult(kept, base, clientOrderId)
  return type === EventType.FILL ? orderOfFill(kept, base, clientOrderId) : orderOfEnded(kept, base, clientOrderId)
}

/** The order that the RESULT at word `base` speaks of, as it is after it. */
export function orderOfResult({ i32, u32, f64, i64 }: Views, base: number, clientOrderId: string): ClosedOrder {
  const { at } = RESULT
  const cancelled = answeredTypeOf(u32[base]!) === CommandType.CANCEL_ORDER
  const time = f64[(base + at.time) >>> 1]!
  return {
    sequence: f64[(base + at.orderSequence) >>> 1]!,
    flags: u32[base + at.flags]!,
    outcome: i32[base + at.outcome]!,
    slot: i32[base + at.slot]!,
    account: i32[base + at.account]!,
    pair: i32[base + at.pair]!,
    price: i32[base + at.price]!,
    lots: i32[base + at.lots]!,
    remaining: i32[base + at.remaining]!,
    filledQuote: i64[(base + at.filledQuote) >>> 1]!,
    fee: i64[(base + at.fee) >>> 1]!,
    createdAt: cancelled ? f64[(base + CANCEL_ANSWER.at.createdAt) >>> 1]! : time,
    updatedAt: time,
    expiresAt: cancelled ? 0 : f64[(base + at.expiresAt) >>> 1]!,
    slippageBps: cancelled ? 0 : i32[base + ORDER_ANSWER.at.slippageBps]!,
    endSequence: f64[(base + at.sequence) >>> 1]!,
    clientOrderId,
  }
}

/** The resting order that the FILL at word `base` filled to the end. */
export function orderOfFill({ i32, u32, f64, i64 }: Views, base: number, clientOrderId: string): ClosedOrder {
  const { at } = FILL
  return {
    sequence: f64[(base + at.makerSequence) >>> 1]!,
    flags: u32[base + at.makerFlags]!,
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
    endSequence: f64[(base + at.sequence) >>> 1]!,
    clientOrderId,
  }
}

/** The resting order that the ORDER_ENDED at word `base` says left the book unfilled. */
export function orderOfEnded({ i32, u32, f64, i64 }: Views, base: number, clientOrderId: string): ClosedOrder {
  const { at } = ORDER_ENDED
  return {
    sequence: f64[(base + at.orderSequence) >>> 1]!,
    flags: u32[base + at.flags]!,
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
    endSequence: f64[(base + at.sequence) >>> 1]!,
    clientOrderId,
  }
}

/** The resting reduce-only order that the ORDER_RESIZED at word `base` says was made smaller, as it is now. */
export function orderOfResized({ i32, u32, f64, i64 }: Views, base: number, clientOrderId: string): ClosedOrder {
  const { at } = ORDER_RESIZED
  const [lots, remaining] = [i32[base + at.lots]!, i32[base + at.remaining]!]
  return {
    sequence: f64[(base + at.orderSequence) >>> 1]!,
    flags: u32[base + at.flags]!,
    outcome: outcomeOf(remaining < lots ? Status.PARTIALLY_FILLED : Status.SUBMITTED, Reason.NONE),
    slot: i32[base + at.slot]!,
    account: i32[base + at.account]!,
    pair: i32[base + at.pair]!,
    price: i32[base + at.price]!,
    lots,
    remaining,
    filledQuote: i64[(base + at.filledQuote) >>> 1]!,
    fee: i64[(base + at.fee) >>> 1]!,
    createdAt: f64[(base + at.createdAt) >>> 1]!,
    updatedAt: f64[(base + at.time) >>> 1]!,
    expiresAt: 0,
    slippageBps: 0,
    endSequence: f64[(base + at.sequence) >>> 1]!,
    clientOrderId,
  }
}
