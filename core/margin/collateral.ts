/**
 * Collateral between a margin account and its buckets: what is free, what may be taken out of a bucket, and moving it.
 *
 *   free of a margin account = DEPOSITED - EARMARKED, 0 or more
 *
 * **What a bucket gives back** (specification, Margin account summary, `withdrawableCollateral`). A bucket A = ALLOCATED, P = PENDING,
 * R = REALIZED:
 *
 *   L = max(0, -R)    losses taken        UL = sum of the losses of its positions, unrealised and of funding
 *   W = A - max(0, requirement - P) - L - UL
 *
 * Gains never count, neither taken ones nor others. A part x is given back when x <= W. A bucket with neither positions nor orders also
 * gives back A itself, if A + R is not below 0: that settles it with its margin account and closes it ({@link closeOut}). So of a flat
 * bucket with a loss 1 .. A - L and A are accepted, and nothing between.
 *
 * While the price of a position or order of the bucket is stale, nothing is: W would be that of a price which nobody trusts.
 *
 * Widest product: none, only sums. Collateral < 2^62 (MAX_ISSUED); requirement + UL < 2^61 × 3, funding left out (figures.ts).
 */
import { CollateralReason, PositionReason } from '../layout/margin_events.ts'
import { emitCollateral, emitPosition } from '../events/margin.ts'
import { R } from '../state/balances.ts'
import { MARGIN_ACCOUNT, MarginMode, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { addF64, gain, get, getI64, isZero, now, positionRow, setF64, signOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { isFlat, isInLiquidation, marginAccountOf, touchBucket, touchMargin, useBucket } from './buckets.ts'
import { bucketFigures } from './figures.ts'
import { armBucket } from './guards.ts'
import { isFresh } from './mark_price.ts'

/** Register AMOUNT = free collateral of the margin account (-1: of one that is not made, which has none). */
export function freeOf(state: State, margin: number): void {
  const { registers } = state
  registers[R.AMOUNT] = 0n
  if (margin < 0) return
  registers[R.AMOUNT] = getI64(state, margin, MARGIN_ACCOUNT.DEPOSITED) - getI64(state, margin, MARGIN_ACCOUNT.EARMARKED)
}

/** True when no position or order of the bucket is of a pair whose price is stale. */
export function hasFreshPrices(state: State, bucket: number): boolean {
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const row = positionRow(state, next - 1)
    if (!isFresh(state, get(state, row, POSITION.PAIR))) return false
    next = get(state, row, POSITION.NEXT)
  }
  return true
}

/** True when the bucket may be closed out: neither positions nor orders, and no negative equity. Scratch: M0. */
export function isSettleable(state: State, bucket: number): boolean {
  const { registers } = state
  registers[R.M0] = getI64(state, bucket, RISK_BUCKET.ALLOCATED) + getI64(state, bucket, RISK_BUCKET.REALIZED)
  return isFlat(state, bucket) && registers[R.M0]! >= 0n
}

/** Register AMOUNT = W, 0 at least. Scratch: as bucketFigures. */
export function partlyWithdrawable(state: State, bucket: number): void {
  const { registers } = state
  bucketFigures(state, bucket)
  registers[R.M0] = registers[R.SUM_INITIAL]! - getI64(state, bucket, RISK_BUCKET.PENDING)
  if (registers[R.M0]! < 0n) registers[R.M0] = 0n
  if (signOf(state, bucket, RISK_BUCKET.REALIZED) < 0) registers[R.M0] = registers[R.M0]! - getI64(state, bucket, RISK_BUCKET.REALIZED)
  registers[R.AMOUNT] = getI64(state, bucket, RISK_BUCKET.ALLOCATED) - registers[R.M0]! - registers[R.SUM_LOSS]!
  if (registers[R.AMOUNT]! < 0n) registers[R.AMOUNT] = 0n
}

/** Register AMOUNT = the most that may be taken out of the bucket now; of a flat one that is solvent all of its collateral. */
export function withdrawable(state: State, bucket: number): void {
  const { registers } = state
  registers[R.AMOUNT] = 0n
  if (isInLiquidation(state, bucket) || !hasFreshPrices(state, bucket)) return
  if (isSettleable(state, bucket)) registers[R.AMOUNT] = getI64(state, bucket, RISK_BUCKET.ALLOCATED)
  else partlyWithdrawable(state, bucket)
}

/**
 * Moves register AMOUNT, signed, from the free collateral of the margin account into the bucket; COLLATERAL says so, and POSITION of an
 * isolated bucket that has one. It was found to be there. The bucket is armed.
 */
export function allocate(state: State, bucket: number): void {
  const { registers } = state
  const margin = marginAccountOf(state, bucket)
  gain(state, bucket, RISK_BUCKET.ALLOCATED, R.AMOUNT)
  gain(state, margin, MARGIN_ACCOUNT.EARMARKED, R.AMOUNT)
  if (!isZero(state, bucket, RISK_BUCKET.ALLOCATED)) useBucket(state, bucket)
  touchBucket(state, bucket)
  touchMargin(state, margin)
  emitCollateral(state, margin, bucket, CollateralReason.BUCKET)
  const first = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  if (get(state, bucket, RISK_BUCKET.MODE) === MarginMode.ISOLATED && first !== 0) {
    const row = positionRow(state, first - 1)
    if (get(state, row, POSITION.LOTS) !== 0) {
      registers[R.PROFIT] = 0n
      addF64(state, row, POSITION.VERSION, 1)
      setF64(state, row, POSITION.UPDATED_AT, now(state))
      emitPosition(state, row, PositionReason.MARGIN)
    }
  }
  armBucket(state, bucket)
}
