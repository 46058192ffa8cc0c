/** What several channels read out of event records. */
import { answeredTypeOf, RESULT, Status } from '../../../core/layout/event.ts'
import { CommandType, Flag } from '../../../core/layout/command.ts'
import type { Views } from '../../../core/layout/table.ts'

/** What the RESULT at word `base` says of an order. */
export const OrderChange = { NONE: 0, PLACED: 1, CANCELLED: 2 } as const
export type OrderChange = (typeof OrderChange)[keyof typeof OrderChange]

/** Refusals, answers repeated for their key, and commands that are about something else change no order. */
export function orderChangeOf({ i32, u32 }: Views, base: number): OrderChange {
  const { at } = RESULT
  if (i32[base + at.code] !== 0 || (u32[base + at.flags]! & Flag.REPEATED) !== 0) return OrderChange.NONE
  const type = answeredTypeOf(u32[base]!)
  if (type === CommandType.PLACE_ORDER || type === CommandType.REPLACE_ORDER) return OrderChange.PLACED
  return type === CommandType.CANCEL_ORDER ? OrderChange.CANCELLED : OrderChange.NONE
}

/** Whether the order that the RESULT at word `base` speaks of rests now. */
export function rests({ i32 }: Views, base: number): boolean {
  const status = i32[base + RESULT.at.outcome]! & 0xff
  return status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED
}
