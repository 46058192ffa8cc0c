/**
 * Expiry of resting orders. The sequencer looks for due rows between batches and writes one EXPIRE_ORDER command for each, so that
 * replay needs no clock; the engine checks again that the order is the one meant and that its time is over.
 */
import { Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { State } from '../state/state.ts'
import { isExpired } from '../book/match.ts'
import { endOrder } from '../book/end.ts'
import { restingTarget } from '../book/pool.ts'

export function expireOrder(state: State, command: Views, base: number): void {
  const row = restingTarget(state, command, base)
  const due = row >= 0 && isExpired(state, row)
  if (due) endOrder(state, row, Status.EXPIRED, Reason.EXPIRED, 0, false)
  emitResult(state, command, base, due ? 0 : REFUSALS.ORDER_NOT_FOUND.number, -1, 0, 0)
}
