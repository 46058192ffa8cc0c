/** Which margin account something that a client may cancel is of: an order, a conditional order, a TWAP order. Named by their rows. */
import { Flag } from '../layout/flags.ts'
import { marginAccountOf } from '../margin/buckets.ts'
import { positionOf } from '../margin/order_lists.ts'
import { bucketOf } from '../margin/positions.ts'
import { ORDER } from '../state/columns.ts'
import { CONDITIONAL, TWAP } from '../state/conditional_rows.ts'
import { get, marginAccountRow, positionRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** It is of a spot pair. */
export const NO_MARGIN = -2

/** Address of the margin account of the resting order at `row`, or {@link NO_MARGIN}. */
export const marginAccountOfOrder = (state: State, row: number): number =>
  (get(state, row, ORDER.FLAGS) & Flag.MARGIN) === 0 ? NO_MARGIN : marginAccountOf(state, bucketOf(state, positionOf(state, row)))

/** Address of the margin account whose position the conditional order at `row`, which does not start a TWAP order, closes. */
export const marginAccountOfConditional = (state: State, row: number): number =>
  marginAccountOf(state, bucketOf(state, positionRow(state, get(state, row, CONDITIONAL.OF))))

/** Address of the margin account that the TWAP order at `row` trades for; -1: the parent; or {@link NO_MARGIN}. */
export function marginAccountOfTwap(state: State, row: number): number {
  if ((get(state, row, TWAP.FLAGS) & Flag.MARGIN) === 0) return NO_MARGIN
  const counted = get(state, row, TWAP.COUNTED)
  return counted === 0 ? -1 : marginAccountRow(state, counted - 1)
}
