/**
 * Resting reduce-only orders of a position never have more lots together than the position has.
 *
 * When it shrinks by anything but their own fills, they are made smaller or ended (REDUCE_ONLY), newest first, until they fit; when it
 * turns or is closed, all of them end. A smaller one keeps its place in the book, and ORDER_RESIZED says so. At most REDUCE_ORDERS_MAX
 * (margin/order_lists.ts) rest on one position, which bounds it.
 */
import { Flag } from '../layout/command.ts'
import { Reason, Status } from '../layout/event.ts'
import { emitOrderResized } from '../events/emit.ts'
import { addLots } from '../margin/order_lists.ts'
import { LEVEL, ORDER } from '../state/columns.ts'
import { POSITION } from '../state/margin_rows.ts'
import { add, addF64, get, levelRow, now, orderRow, setF64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { touchAccount } from '../state/balances.ts'
import { endOrder } from './end.ts'
import { touchBook } from './levels.ts'

/** Lots that reduce-only orders of a position may have, when they sell or when they buy. */
function lotsToReduce(state: State, position: number, sells: boolean): number {
  const lots = get(state, position, POSITION.LOTS)
  const size = sells ? lots : -lots
  return size > 0 ? size : 0
}

/**
 * Makes the resting reduce-only orders of `position` fit; how many of them ended. The row of the position stays: an order of it counts
 * still.
 */
export function fitReduceOnly(state: State, position: number): number {
  for (let ended = 0; ; ended++) {
    const newest = get(state, position, POSITION.REDUCE_HEAD)
    if (newest === 0) return ended
    const row = orderRow(state, newest - 1)
    const sells = (get(state, row, ORDER.FLAGS) & Flag.SELL) !== 0
    const over = get(state, position, POSITION.REDUCE_LOTS) - lotsToReduce(state, position, sells)
    if (over <= 0) return ended
    if (over < get(state, row, ORDER.REMAINING)) {
      resize(state, row, over)
      return ended
    }
    endOrder(state, row, Status.CANCELLED, Reason.REDUCE_ONLY, 0, false)
  }
}

/** Takes `less` lots from a resting order, which keeps some. */
function resize(state: State, row: number, less: number): void {
  add(state, row, ORDER.REMAINING, -less)
  add(state, row, ORDER.LOTS, -less)
  setF64(state, row, ORDER.UPDATED_AT, now(state))
  addF64(state, levelRow(state, get(state, row, ORDER.LEVEL)), LEVEL.LOTS, -less)
  addLots(state, row, -less)
  touchBook(state, get(state, row, ORDER.PAIR))
  touchAccount(state, get(state, row, ORDER.ACCOUNT))
  emitOrderResized(state, row, less)
}

/**
 * Lots of the reduce-only order at `row`, which does not rest yet, that may rest beside those that do: what it has left, or less. 0: none.
 */
export function lotsToRest(state: State, position: number, row: number): number {
  const sells = (get(state, row, ORDER.FLAGS) & Flag.SELL) !== 0
  const room = lotsToReduce(state, position, sells) - get(state, position, POSITION.REDUCE_LOTS)
  const left = get(state, row, ORDER.REMAINING)
  return room < left ? (room > 0 ? room : 0) : left
}
