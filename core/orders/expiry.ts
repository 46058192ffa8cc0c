/**
 * Expiry of resting orders. The sequencer looks for due rows between batches and writes one EXPIRE_ORDER command for each, so that
 * replay needs no clock; the engine checks again that the order is the one meant and that its time is over.
 */
import { ORDER_COMMAND } from '../layout/command.ts'
import { Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { CLOCK, DETAIL, DETAIL_WORDS } from '../engine/columns.ts'
import { emitResult } from '../engine/emit.ts'
import { REFUSALS } from '../engine/refusals.ts'
import type { State } from '../engine/state.ts'
import { endOrder } from './end.ts'
import { isResting } from './pool.ts'

const C = ORDER_COMMAND.at

export function expireOrder(state: State, command: Views, base: number): void {
  const slot = command.i32[base + C.targetSlot]!
  const due =
    isResting(state, slot, command.f64[(base + C.targetSequence) >>> 1]!) &&
    state.detailsF64[(slot * DETAIL_WORDS + DETAIL.EXPIRES_AT) >>> 1]! <= state.clock[CLOCK.TIME]!
  if (due) endOrder(state, slot, Status.EXPIRED, Reason.EXPIRED, 0, false)
  emitResult(state, command, base, due ? 0 : REFUSALS.ORDER_NOT_FOUND.number, -1, 0, 0)
}
