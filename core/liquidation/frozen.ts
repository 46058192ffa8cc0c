/**
 * When nothing may be done with positions of a bucket: prices that are stale, pairs that do not trade.
 *
 * A cross bucket may have such positions beside others. Whoever holds one lot of a pair that is halted must not be safe from liquidation
 * with all the rest, so what trades is closed as ever ({@link goesOn}). A position whose price is stale counts as it stood last, but what
 * it lost there, which may not be true any more, is no reason to close others: they must lack margin without it too.
 */
import { PairStatus } from '../layout/command.ts'
import { PerpMode } from '../layout/margin.ts'
import { PAIR } from '../state/columns.ts'
import { PERP, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { get, pairRow, perpRow, positionRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { bucketHealth, fundingOf, unrealizedOf } from '../margin/figures.ts'
import { maintenanceMargin } from '../margin/tiers.ts'
import { R } from '../state/balances.ts'
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

/** True when what {@link bucketHealth} left in the registers is a bucket with enough margin. */
export const isHealthy = ({ registers }: State): boolean => registers[R.EQUITY]! >= registers[R.SUM_MAINTENANCE]!

/**
 * True when a bucket of which some position is frozen is liquidated all the same: it lacks margin, with and without the positions whose
 * price is stale, and another one can be closed. Registers EQUITY and SUM_MAINTENANCE are those of all its positions afterwards. Walks its
 * positions, at most one a perpetual.
 */
export function goesOn(state: State, bucket: number): boolean {
  bucketHealth(state, bucket)
  if (isHealthy(state)) return false
  let closable = false
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    next = get(state, position, POSITION.NEXT)
    if (get(state, position, POSITION.LOTS) === 0) continue
    if (!isFresh(state, get(state, position, POSITION.PAIR))) leaveOut(state, position)
    else if (trades(state, get(state, position, POSITION.PAIR))) closable = true
  }
  const lacks = !isHealthy(state)
  bucketHealth(state, bucket)
  return lacks && closable
}

/** Takes the open position out of registers EQUITY and SUM_MAINTENANCE. */
function leaveOut(state: State, position: number): void {
  const { registers } = state
  unrealizedOf(state, position)
  registers[R.EQUITY] = registers[R.EQUITY]! - registers[R.UNREALIZED]!
  maintenanceMargin(state, get(state, position, POSITION.PAIR))
  registers[R.SUM_MAINTENANCE] = registers[R.SUM_MAINTENANCE]! - registers[R.MAINTENANCE]!
  fundingOf(state, position)
  registers[R.EQUITY] = registers[R.EQUITY]! - registers[R.FUNDING]!
}
