/** When nothing may be done with the positions of a bucket: prices that are stale, pairs that do not trade. */
import { PairStatus } from '../layout/command.ts'
import { PerpMode } from '../layout/margin.ts'
import { PAIR } from '../state/columns.ts'
import { PERP, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { get, pairRow, perpRow, positionRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { isFresh } from '../margin/mark_price.ts'

/** True when positions of `pair` may be closed at the mark of now: the index is fresh, the pair takes orders and does not settle. */
export const trades = (state: State, pair: number): boolean =>
  isFresh(state, pair) && get(state, pairRow(state, pair), PAIR.STATUS) === PairStatus.ACTIVE &&
  get(state, perpRow(state, pair), PERP.MODE) < PerpMode.SETTLING

/** True when an open position of the bucket is of a pair that does not. A bucket without positions is not frozen. */
export function isFrozen(state: State, bucket: number): boolean {
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    next = get(state, position, POSITION.NEXT)
    if (get(state, position, POSITION.LOTS) !== 0 && !trades(state, get(state, position, POSITION.PAIR))) return true
  }
  return false
}
