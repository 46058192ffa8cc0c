/**
 * The insurance fund: an account of its own, with a parent margin account and one cross bucket without a strategy key (SCALAR.FUND). It
 * has no wallet: its address is zero, so nobody can sign in to it. What it has is all committed to its bucket, so that its positions
 * are backed by everything there is: DEPOSITED = EARMARKED = ALLOCATED.
 *
 * It pays what its positions do not need: equity less the initial margin of all of them, and not more than it has deposited.
 *
 * Widest product: none, only sums. It has no orders, so the requirement is that of its positions, < 2^61; equity: figures.ts.
 */
import { emitCollateral } from '../events/margin.ts'
import { R } from '../state/balances.ts'
import { SCALAR } from '../state/columns.ts'
import { BucketState, MARGIN_ACCOUNT, MARGIN_TOTAL, RISK_BUCKET } from '../state/margin_rows.ts'
import { bucketRow, gain, get, getI64, lose, marginTotalRow, scalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { marginAccountOf, parentOf, touchBucket, touchMargin } from './buckets.ts'
import { bucketFigures } from './figures.ts'
import { armBucket } from './guards.ts'

/** Address of the fund's bucket; -1: there is no fund yet. */
export function fundBucket(state: State): number {
  const account = scalar(state, SCALAR.FUND) - 1
  return account < 0 ? -1 : bucketRow(state, get(state, parentOf(state, account), MARGIN_ACCOUNT.FIRST_BUCKET) - 1)
}

/** Adds register AMOUNT, below 0: takes it, to what the fund at `bucket` has; COLLATERAL says why. What it owed itself is less by that. */
export function addToFund(state: State, bucket: number, reason: number): void {
  const margin = marginAccountOf(state, bucket)
  // It pays for others only when it owes nothing itself, even if nobody has looked at it since.
  if (get(state, bucket, RISK_BUCKET.STATE) === BucketState.BAD_DEBT && state.registers[R.AMOUNT]! > 0n) payOwn(state, bucket)
  gain(state, margin, MARGIN_ACCOUNT.DEPOSITED, R.AMOUNT)
  gain(state, margin, MARGIN_ACCOUNT.EARMARKED, R.AMOUNT)
  gain(state, bucket, RISK_BUCKET.ALLOCATED, R.AMOUNT)
  touchBucket(state, bucket)
  touchMargin(state, margin)
  emitCollateral(state, margin, bucket, reason)
  armBucket(state, bucket)
}

/** Register AMOUNT comes to a fund in bad debt: of that, what it owes is paid. */
function payOwn(state: State, bucket: number): void {
  const { registers } = state
  registers[R.OWED] = -getI64(state, bucket, RISK_BUCKET.ALLOCATED) - getI64(state, bucket, RISK_BUCKET.REALIZED)
  if (registers[R.OWED]! < 0n) registers[R.OWED] = 0n
  if (registers[R.OWED]! > registers[R.AMOUNT]!) registers[R.OWED] = registers[R.AMOUNT]!
  lose(state, marginTotalRow(state, state.collateralAsset), MARGIN_TOTAL.BAD_DEBT, R.OWED)
}

/** Register AMOUNT = what the fund at `bucket` can pay, 0 or more. Scratch: registers of figures. */
export function payableBy(state: State, bucket: number): void {
  const { registers } = state
  bucketFigures(state, bucket)
  registers[R.AMOUNT] = registers[R.EQUITY]! - registers[R.SUM_INITIAL]!
  registers[R.M0] = getI64(state, bucket, RISK_BUCKET.ALLOCATED)
  if (registers[R.AMOUNT]! > registers[R.M0]!) registers[R.AMOUNT] = registers[R.M0]!
  if (registers[R.AMOUNT]! < 0n) registers[R.AMOUNT] = 0n
}
