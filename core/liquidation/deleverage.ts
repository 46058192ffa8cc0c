/**
 * Auto-deleveraging: what neither the book nor the fund takes is closed against positions of the other side, at the bankruptcy price and
 * without fees. Those who gain most with the most leverage are asked first (ranking.ts), at most {@link ASKED_MAX} with each command, and
 * no more than it has work for: each of them, and each of their reduce-only orders that ends, is an order that it may meet or end.
 *
 * Lots of both sides are equal, so there is always somebody to ask; a bucket that is in liquidation itself is asked as all others. What is
 * closed at a price worse than the mark may leave a counterparty's bucket without enough margin: its guards find it, or, when it has no
 * position left, positions.ts puts it in the list.
 */
import { LiquidationStatus, PositionReason } from '../layout/margin_events.ts'
import { N, R } from '../state/balances.ts'
import { POSITION } from '../state/margin_rows.ts'
import { get, note, noted } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { armBucket } from '../margin/guards.ts'
import { bucketOf, changeLots, giveUpPosition } from '../margin/positions.ts'
import { fitReduceOnly } from '../book/reduce_only.ts'
import { bankruptcyTick } from './bankruptcy.ts'
import { askAgain, nextRanked, rankingOf } from './ranking.ts'
import { notePosition, tell } from './tell.ts'

/** Counterparties of one command. */
export const ASKED_MAX = 32

/**
 * Closes lots of the open position of the bucket against others; how many. 0: the ranking is not at its end, and the next command goes on.
 * `known`: the row of a ranking that is at its end, or -1. Register EQUITY is that of the bucket.
 */
export function deleverage(state: State, bucket: number, position: number, known: number): number {
  const pair = get(state, position, POSITION.PAIR)
  const lots = get(state, position, POSITION.LOTS)
  const price = bankruptcyTick(state, position)
  const ranking = known >= 0 ? known : rankingOf(state, pair, lots > 0)
  if (ranking < 0) return 0
  const size = Math.abs(lots)
  let left = size
  for (let asked = 0; left > 0 && asked < ASKED_MAX && noted(state, N.LOOKS) > 0; asked++) {
    const other = nextRanked(state, ranking, pair, lots > 0)
    if (other < 0) break
    const held = Math.abs(get(state, other, POSITION.LOTS))
    const closed = closeAgainst(state, other, lots > 0, left, price)
    if (closed < held) askAgain(state, ranking)
    left -= closed
  }
  if (left === size) return 0
  finishDeleverage(state, bucket, position, size - left, price)
  return size - left
}

/** Closes so many lots of a counterparty as it has, `left` at most; how many. `buys`: it is short. What it ends is counted. */
export function closeAgainst(state: State, other: number, buys: boolean, left: number, price: number): number {
  const closed = Math.min(left, Math.abs(get(state, other, POSITION.LOTS)))
  note(state, N.LOOKS, noted(state, N.LOOKS) - 1 - close(state, other, buys ? closed : -closed, price))
  return closed
}

/** Closes `lots` of the open position of the bucket, which counterparties took, and tells. */
export function finishDeleverage(state: State, bucket: number, position: number, lots: number, price: number): void {
  const pair = get(state, position, POSITION.PAIR)
  notePosition(state, position)
  state.registers[R.FILL_FEE] = 0n
  changeLots(state, position, get(state, position, POSITION.LOTS) > 0 ? -lots : lots, price, PositionReason.DELEVERAGE)
  giveUpPosition(state, position)
  state.registers[R.AMOUNT] = 0n
  tell(state, bucket, pair, LiquidationStatus.DELEVERAGED, lots, price)
}

/** Closes `lots` of a counterparty; how many of its reduce-only and conditional orders ended. */
function close(state: State, position: number, lots: number, price: number): number {
  const bucket = bucketOf(state, position)
  state.registers[R.FILL_FEE] = 0n
  note(state, N.ENDED, 0)
  changeLots(state, position, lots, price, PositionReason.DELEVERAGE)
  // The end of its last order gives up the row of a closed position, too.
  let ended = noted(state, N.ENDED)
  if (get(state, position, POSITION.ORDERS) === 0) giveUpPosition(state, position)
  else ended += fitReduceOnly(state, position)
  armBucket(state, bucket)
  return ended
}
