/** LIQUIDATION events: what a step did, with the figures of the bucket after it. */
import { R } from '../state/balances.ts'
import { POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { copyOf, set } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { emitLiquidation } from '../events/margin.ts'
import { bucketHealth } from '../margin/figures.ts'

/** Register OPENED = what names the open position, for {@link tell}: by then it may be closed. */
export function notePosition(state: State, position: number): void {
  state.registers[R.OPENED] = copyOf(state, position, POSITION.OPENED_SEQUENCE)
}

/**
 * A step took `lots` at `price` from the position of `pair` that was noted; register AMOUNT is the fee. It is the last one of the
 * bucket. Registers EQUITY and SUM_MAINTENANCE are those of now.
 */
export function tell(state: State, bucket: number, pair: number, status: number, lots: number, price: number): void {
  bucketHealth(state, bucket)
  set(state, bucket, RISK_BUCKET.STEP, status)
  emitLiquidation(state, bucket, pair, status, lots, price)
}

/** As {@link tell}, of the whole bucket: `count` is the orders that it ended. */
export function tellBucket(state: State, bucket: number, status: number, count: number): void {
  state.registers[R.OPENED] = 0n
  tell(state, bucket, -1, status, count, 0)
}
