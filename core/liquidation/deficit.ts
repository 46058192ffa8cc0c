/**
 * What a bucket without positions owes: its equity is below 0, because its last lots were closed beyond the bankruptcy price.
 *
 * The insurance fund pays, so far as its own positions do not need what it has, and within the cover of the day
 * (margin/fund_limits.ts). What is left is bad debt: the bucket keeps it, is in the list until the fund may pay more, and
 * MARGIN_TOTAL.BAD_DEBT is the sum of what all of them owe. Nobody else pays: what the bucket owes is in REALIZED, below 0, so the sums
 * are those of before. What the fund itself owes is paid by what comes to it (margin/fund.ts).
 *
 * Widest product: none, only sums: collateral < 2^62 (MAX_ISSUED), and what buckets realised (margin/figures.ts).
 */
import { CollateralReason, LiquidationStatus } from '../layout/margin_events.ts'
import { emitCollateral } from '../events/margin.ts'
import { R } from '../state/balances.ts'
import { BucketState, MARGIN_TOTAL, RISK_BUCKET } from '../state/margin_rows.ts'
import { gain, get, getI64, lose, marginTotalRow, set } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { marginAccountOf, touchBucket } from '../margin/buckets.ts'
import { addToFund, fundBucket, payableBy } from '../margin/fund.ts'
import { boundDeficit, countDeficit } from '../margin/fund_limits.ts'
import { tellBucket } from './tell.ts'

/** Register OWED = what the bucket owes, its positions left out; 0: nothing. */
function owedBy(state: State, bucket: number): void {
  const { registers } = state
  registers[R.OWED] = -getI64(state, bucket, RISK_BUCKET.ALLOCATED) - getI64(state, bucket, RISK_BUCKET.REALIZED)
  if (registers[R.OWED]! < 0n) registers[R.OWED] = 0n
}

/** True when {@link coverDeficit} of the bucket, which is in bad debt, would change something. */
export function canBePaid(state: State, bucket: number): boolean {
  const fund = fundBucket(state)
  if (fund === bucket) owedBy(state, bucket)
  else {
    payableBy(state, fund)
    boundDeficit(state, bucket)
  }
  return fund === bucket ? state.registers[R.OWED] === 0n : state.registers[R.AMOUNT]! > 0n
}

/** The fund pays for the bucket, which has no position and less than nothing, or is in bad debt. True: it owes nothing any more. */
export function coverDeficit(state: State, bucket: number): boolean {
  const { registers } = state
  const fund = fundBucket(state)
  const totals = marginTotalRow(state, state.collateralAsset)
  owedBy(state, bucket)
  // It is counted as bad debt already.
  if (get(state, bucket, RISK_BUCKET.STATE) === BucketState.BAD_DEBT) lose(state, totals, MARGIN_TOTAL.BAD_DEBT, R.OWED)
  if (fund >= 0 && fund !== bucket) pay(state, fund, bucket)
  owedBy(state, bucket)
  if (registers[R.OWED] === 0n) return true
  gain(state, totals, MARGIN_TOTAL.BAD_DEBT, R.OWED)
  set(state, bucket, RISK_BUCKET.STATE, BucketState.BAD_DEBT)
  touchBucket(state, bucket)
  registers[R.AMOUNT] = registers[R.OWED]!
  tellBucket(state, bucket, LiquidationStatus.BAD_DEBT, 0)
  return false
}

/** The fund pays register OWED, or what it can. */
function pay(state: State, fund: number, bucket: number): void {
  const { registers } = state
  payableBy(state, fund)
  boundDeficit(state, bucket)
  registers[R.MOVED] = registers[R.AMOUNT]! < registers[R.OWED]! ? registers[R.AMOUNT]! : registers[R.OWED]!
  if (registers[R.MOVED] === 0n) return
  registers[R.AMOUNT] = -registers[R.MOVED]!
  addToFund(state, fund, CollateralReason.INSURANCE)
  gain(state, bucket, RISK_BUCKET.REALIZED, R.MOVED)
  countDeficit(state, bucket)
  touchBucket(state, bucket)
  registers[R.AMOUNT] = registers[R.MOVED]!
  emitCollateral(state, marginAccountOf(state, bucket), bucket, CollateralReason.INSURANCE)
}
