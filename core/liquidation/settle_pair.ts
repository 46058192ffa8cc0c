/**
 * Settlement of a perpetual that the operator delists: SETTLEMENT_STEP, a command of the sequencer itself while the pair is SETTLING.
 *
 *   1. resting orders of the pair end, best price first, {@link ORDERS_MAX} with each command
 *   2. every position is closed at the settlement price, without fees: a walk over the rows from PERP.CURSOR on, {@link ROWS_MAX} looked at
 *      and {@link CLOSED_MAX} closed with each command. Funding is settled as with every change of lots
 *   3. the walk is at its end: SETTLED
 *
 * Exact: lots of both sides are equal, so at one price all values add up to 0, and what is realised is what the costs were. In this mode
 * the pair takes no order and nothing is liquidated on it, so no position opens behind the walk. A bucket that owes something afterwards is
 * in the list (liquidate.ts), and one whose liquidation waited for the pair goes on.
 */
import { Reason, Status } from '../layout/event.ts'
import { PerpMode, SETTLEMENT_STEP_COMMAND } from '../layout/margin.ts'
import { PositionReason } from '../layout/margin_events.ts'
import { read } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { broken } from '../lib/assert.ts'
import { emitMark, emitResult } from '../events/emit.ts'
import { R } from '../state/balances.ts'
import { NO_ASK, PAIR, SCALAR } from '../state/columns.ts'
import { PERP, POSITION } from '../state/margin_rows.ts'
import { get, pairRow, perpRow, positionRow, scalar, set } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { armBucket } from '../margin/guards.ts'
import { isPerpetual } from '../margin/mark_price.ts'
import { bucketOf, changeLots, giveUpPosition } from '../margin/positions.ts'
import { endOrder } from '../book/end.ts'
import { headOf } from '../book/levels.ts'
import { laneRefusal } from '../programs/policy.ts'

export const ORDERS_MAX = 64
export const ROWS_MAX = 4096
export const CLOSED_MAX = 64

/** NOT_FOUND: no such perpetual, or it does not settle. */
export function settlementStep(state: State, command: Views, base: number): void {
  const pair = read(command, base, SETTLEMENT_STEP_COMMAND.at.pair)
  let code = laneRefusal(command, base)
  if (code === 0 && !(isPerpetual(state, pair) && isSettling(state, pair))) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && endOrders(state, pair) < ORDERS_MAX) closePositions(state, pair)
  emitResult(state, command, base, code, -1, 0, 0)
}

/** True while SETTLEMENT_STEP has something to do. */
export const isSettling = (state: State, pair: number): boolean => get(state, perpRow(state, pair), PERP.MODE) === PerpMode.SETTLING

/** Ends resting orders of the pair; how many. */
function endOrders(state: State, pair: number): number {
  const book = pairRow(state, pair)
  let ended = 0
  while (ended < ORDERS_MAX) {
    const bid = get(state, book, PAIR.BEST_BID)
    const tick = bid === 0 ? get(state, book, PAIR.BEST_ASK) : bid
    if (tick === NO_ASK) break
    endOrder(state, headOf(state, pair, tick), Status.CANCELLED, Reason.PAIR_HALTED, 0, false)
    ended++
  }
  return ended
}

function closePositions(state: State, pair: number): void {
  const perp = perpRow(state, pair)
  const used = scalar(state, SCALAR.POSITIONS_USED)
  const from = get(state, perp, PERP.CURSOR)
  const end = Math.min(used, from + ROWS_MAX)
  let row = from
  for (let closed = 0; row < end && closed < CLOSED_MAX; row++) {
    const position = positionRow(state, row)
    if (get(state, position, POSITION.PAIR) !== pair || get(state, position, POSITION.LOTS) === 0) continue
    close(state, position, get(state, perp, PERP.SETTLEMENT))
    closed++
  }
  set(state, perp, PERP.CURSOR, row)
  if (row < used) return
  if (get(state, perp, PERP.POSITIONS) !== 0) broken('I4', `pair ${pair} is settled and still has positions`)
  set(state, perp, PERP.CURSOR, 0)
  set(state, perp, PERP.MODE, PerpMode.SETTLED)
  emitMark(state, pair, 0)
}

function close(state: State, position: number, price: number): void {
  const bucket = bucketOf(state, position)
  state.registers[R.FILL_FEE] = 0n
  changeLots(state, position, -get(state, position, POSITION.LOTS), price, PositionReason.SETTLEMENT)
  giveUpPosition(state, position)
  armBucket(state, bucket)
}
