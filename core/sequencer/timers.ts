/**
 * Timers: due orders become EXPIRE_ORDER commands, so that time acts through the journal like everything else.
 *
 * There is no timer queue to keep in step with the book: the expiry times of all order rows are scanned, a slice at a time, and a full
 * pass over a million rows takes about a second. Orders with an explicit expiration are exact all the same, because matching never
 * fills an expired order (book/match.ts). Reading only; the engine checks again.
 */
import { CommandType, Flag, kindOf, ORDER_COMMAND } from '../layout/command.ts'
import { encode, RECORD_WORDS, type Views } from '../layout/table.ts'
import { ORDER, ORDER_WORDS, SCALAR } from '../state/columns.ts'
import type { State } from '../state/state.ts'

/** Rows looked at per slice. */
const SLICE = 8192

export interface Timers {
  /** Next row to look at. */
  cursor: number
}

/** Writes EXPIRE_ORDER records for due orders of the next slice into `batch` from slot `used`; returns the slots then used. */
export function expireDue(timers: Timers, state: State, now: number, batch: Views, used: number, maxSlots: number): number {
  const rows = state.scalars[SCALAR.ORDERS_USED]!
  if (timers.cursor >= rows) timers.cursor = 0
  const end = Math.min(rows, timers.cursor + SLICE)
  let slot = timers.cursor
  for (; slot < end && used < maxSlots; slot++) {
    if (state.ordersF64[(slot * ORDER_WORDS + ORDER.EXPIRES_AT) >>> 1]! > now) continue
    const row = slot * ORDER_WORDS
    if ((state.orders[row + ORDER.FLAGS]! & Flag.RESTING) === 0) continue
    encode(ORDER_COMMAND, batch, used * RECORD_WORDS, {
      kind: kindOf(CommandType.EXPIRE_ORDER, 1, 0),
      session: -1,
      targetSlot: slot,
      targetSequence: state.ordersF64[(row + ORDER.SEQUENCE) >>> 1]!,
    })
    used++
  }
  timers.cursor = slot
  return used
}
