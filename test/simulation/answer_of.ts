/**
 * What of the events of a command goes to the gateway that posted it: its RESULT; and of CANCEL_ALL every order that it cancels by itself.
 * What ends along with one of those, as the slice that rests of a TWAP order and the legs of an entry order, is nobody's answer.
 */
import { CommandType } from '../../core/layout/command.ts'
import { CONDITIONAL_ORDER, conditionalReasonOf, ConditionalReason, conditionOf, ConditionType } from '../../core/layout/conditional.ts'
import { EventType, eventTypeOf, ORDER_ENDED } from '../../core/layout/event.ts'
import type { Views } from '../../core/layout/table.ts'
import { TWAP_ORDER, twapReasonOf, TwapReason } from '../../core/layout/twap.ts'

/** The record that leaves for the gateway, from the event at word `base`, whose bytes are `bytes`; `null`: none does. */
export function answerOf(type: number, correlation: number, { u32, i32 }: Views, base: number, bytes: Buffer): Buffer | null {
  const event = eventTypeOf(u32[base]!)
  if (event === EventType.RESULT) return bytes
  if (type !== CommandType.CANCEL_ALL) return null
  if (event === EventType.ORDER_ENDED) return u32[base + ORDER_ENDED.at.correlation] === correlation ? bytes : null
  if (!isCancelled(event, i32, base)) return null
  // The correlation stands above the type: this record has no other word for it.
  const told = Buffer.from(bytes)
  told.writeUInt32LE((correlation * 256 + event) >>> 0, 0)
  return told
}

function isCancelled(event: number, i32: Int32Array, base: number): boolean {
  if (event === EventType.TWAP) return twapReasonOf(i32[base + TWAP_ORDER.at.what]!) === TwapReason.USER_CANCELLED
  if (event !== EventType.CONDITIONAL) return false
  const what = i32[base + CONDITIONAL_ORDER.at.what]!
  return conditionalReasonOf(what) === ConditionalReason.USER_CANCELLED && conditionOf(what) !== ConditionType.TWAP_START
}
