/** What events change in a book: which price level has how many lots and orders more or fewer. Whoever keeps a book goes on by it. */
import { Flag } from '../../core/layout/command.ts'
import { answeredTypeOf, EventType, eventTypeOf, FILL, ORDER_ENDED, ORDER_RESIZED, RESULT, Status } from '../../core/layout/event.ts'
import { CommandType } from '../../core/layout/command.ts'
import type { Views } from '../../core/layout/table.ts'

/** What the RESULT at word `base` says of an order. */
export const OrderChange = { NONE: 0, PLACED: 1, CANCELLED: 2 } as const
export type OrderChange = (typeof OrderChange)[keyof typeof OrderChange]

/** Refusals, answers repeated for their key, and commands that are about something else change no order. */
export function orderChangeOf({ i32, u32 }: Views, base: number): OrderChange {
  const { at } = RESULT
  if (i32[base + at.code] !== 0 || (u32[base + at.flags]! & Flag.REPEATED) !== 0) return OrderChange.NONE
  const type = answeredTypeOf(u32[base]!)
  if (type === CommandType.PLACE_ORDER || type === CommandType.REPLACE_ORDER || type === CommandType.ENTER_ORDER) return OrderChange.PLACED
  return type === CommandType.CANCEL_ORDER ? OrderChange.CANCELLED : OrderChange.NONE
}

/** Whether the order that the RESULT at word `base` speaks of rests now. */
export function rests({ i32 }: Views, base: number): boolean {
  const status = i32[base + RESULT.at.outcome]! & 0xff
  return status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED
}

/** A change of one level; filled by {@link readBookChange}, so that nothing is allocated per event. */
export interface BookChange {
  pair: number
  sell: boolean
  tick: number
  /** More, or fewer. */
  lots: number
  orders: number
  sequence: number
  /** Sequenced time, Unix ms. */
  time: number
}

export const noChange = (): BookChange => ({ pair: -1, sell: false, tick: 0, lots: 0, orders: 0, sequence: 0, time: 0 })

/** The pair that the event at word `base` may change the book of; -1: it changes none. */
export function pairOfEvent({ i32, u32 }: Views, base: number): number {
  switch (eventTypeOf(u32[base]!)) {
    case EventType.FILL:
      return i32[base + FILL.at.pair]!
    case EventType.ORDER_ENDED:
      return i32[base + ORDER_ENDED.at.pair]!
    case EventType.ORDER_RESIZED:
      return i32[base + ORDER_RESIZED.at.pair]!
    case EventType.RESULT:
      return i32[base + RESULT.at.pair]!
    default:
      return -1
  }
}

/** Reads what the event at word `base`, of a pair of {@link pairOfEvent}, changes into `to`; false: nothing. */
export function readBookChange(records: Views, base: number, to: BookChange): boolean {
  const { i32, u32 } = records
  switch (eventTypeOf(u32[base]!)) {
    case EventType.FILL: {
      const { at } = FILL
      const gone = i32[base + at.makerRemaining] === 0 ? 1 : 0
      return fill(records, base, at, to, u32[base + at.makerFlags]!, -i32[base + at.lots]!, -gone)
    }
    case EventType.ORDER_ENDED: {
      const { at } = ORDER_ENDED
      return fill(records, base, at, to, u32[base + at.flags]!, -i32[base + at.remaining]!, -1)
    }
    case EventType.ORDER_RESIZED: {
      const { at } = ORDER_RESIZED
      return fill(records, base, at, to, u32[base + at.flags]!, -i32[base + at.less]!, 0)
    }
    case EventType.RESULT: {
      const { at } = RESULT
      const what = orderChangeOf(records, base)
      if (what === OrderChange.NONE || (what === OrderChange.PLACED && !rests(records, base))) return false
      const sign = what === OrderChange.PLACED ? 1 : -1
      return fill(records, base, at, to, u32[base + at.flags]!, sign * i32[base + at.remaining]!, sign)
    }
    default:
      return false
  }
}

interface Places {
  readonly pair: number
  readonly price: number
  readonly sequence: number
  readonly time: number
}

function fill({ i32, f64 }: Views, base: number, at: Places, to: BookChange, flags: number, lots: number, orders: number): boolean {
  to.pair = i32[base + at.pair]!
  to.tick = i32[base + at.price]!
  to.sequence = f64[(base + at.sequence) >>> 1]!
  to.time = f64[(base + at.time) >>> 1]!
  to.sell = (flags & Flag.SELL) !== 0
  to.lots = lots
  to.orders = orders
  return true
}
