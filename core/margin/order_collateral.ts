/**
 * Collateral of margin orders. What an order brings from its margin account is its ORDER.HOLD and pending in its bucket, until fills commit
 * it; riskBucketCollateral, too, is committed by fills only (specification, Order entry).
 *
 *   accepted   HOLD, PENDING and EARMARKED + what it brings
 *   filled     of HOLD so much as of its lots, rounded up: PENDING to ALLOCATED
 *   ended      of what is left, the surplus of the bucket (equity + PENDING - requirement, without the order) goes back to the margin
 *              account, the rest becomes ALLOCATED
 *
 * **PENDING is one pool.** Requirements are of the worse side, so of a bid and an ask the second may bring nothing; when it is filled, the
 * first has brought what the position needs. So after fills a bucket whose equity is below the initial margin of its positions commits
 * what is short from PENDING, whoever brought it ({@link coverPositions}). PENDING is therefore at most the sum of the HOLD of the bucket's
 * orders, an order that ends gives back no more than there is, and with the last one nothing is pending.
 *
 * EARMARKED changes by what comes and goes, never by a fill. COLLATERAL events say what an order brought, what its end moved and what was
 * committed beside it; its own part is in the POSITION event of the fill.
 *
 * Widest product: HOLD % lots × lots < 2^62.
 */
import { CollateralReason } from '../layout/margin_events.ts'
import { broken } from '../lib/assert.ts'
import { emitCollateral } from '../events/margin.ts'
import { R } from '../state/balances.ts'
import { ORDER } from '../state/columns.ts'
import { MARGIN_ACCOUNT, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { gain, get, getF64, getI64, isZero, load, lose, positionRow, setI64, signOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { marginAccountOf, touchBucket, touchMargin } from './buckets.ts'
import { bucketFigures, bucketHealth, markOf } from './figures.ts'
import { armBucket } from './guards.ts'
import { countOrder, positionOf, unlinkOrder } from './order_lists.ts'
import { bucketOf, giveUpPosition } from './positions.ts'
import { initialMargin, notionalOf } from './tiers.ts'

/** Brings register BROUGHT, 0 or more, from the margin account into the bucket of the order at `row`, which has brought nothing yet. */
export function bringCollateral(state: State, row: number): void {
  const { registers } = state
  setI64(state, row, ORDER.HOLD, registers[R.BROUGHT]!)
  if (isZero(state, row, ORDER.HOLD)) return
  const bucket = bucketOf(state, positionOf(state, row))
  const margin = marginAccountOf(state, bucket)
  gain(state, bucket, RISK_BUCKET.PENDING, R.BROUGHT)
  gain(state, margin, MARGIN_ACCOUNT.EARMARKED, R.BROUGHT)
  touchBucket(state, bucket)
  touchMargin(state, margin)
  registers[R.AMOUNT] = registers[R.BROUGHT]!
  emitCollateral(state, margin, bucket, CollateralReason.ORDER)
}

/** Commits the part of `lots`, of those that the order at `row` has left, of its collateral to `bucket`. Scratch: COMMITTED, M0. */
export function commitCollateral(state: State, row: number, bucket: number, lots: number): void {
  const { registers } = state
  if (isZero(state, row, ORDER.HOLD)) return
  const left = get(state, row, ORDER.REMAINING)
  registers[R.COMMITTED] = getI64(state, row, ORDER.HOLD)
  if (lots < left) {
    registers[R.M0] = (registers[R.COMMITTED]! % BigInt(left | 0)) * BigInt(lots | 0) + BigInt((left - 1) | 0)
    registers[R.COMMITTED] = (registers[R.COMMITTED]! / BigInt(left | 0)) * BigInt(lots | 0) + registers[R.M0]! / BigInt(left | 0)
  }
  lose(state, row, ORDER.HOLD, R.COMMITTED)
  if (signOf(state, row, ORDER.HOLD) < 0) stopOverdrawn(state, row)
  commitPending(state, bucket)
}

/** Makes register COMMITTED of the bucket's PENDING, at most all of it, ALLOCATED. */
function commitPending(state: State, bucket: number): void {
  const { registers } = state
  const { PENDING, ALLOCATED } = RISK_BUCKET
  if (registers[R.COMMITTED]! > getI64(state, bucket, PENDING)) registers[R.COMMITTED] = getI64(state, bucket, PENDING)
  lose(state, bucket, RISK_BUCKET.PENDING, R.COMMITTED)
  gain(state, bucket, ALLOCATED, R.COMMITTED)
}

/**
 * After fills of orders of `bucket`: commits what its positions are short of from what is pending. COLLATERAL says so, of 0 atoms into the
 * bucket. Walks its positions, at most one a perpetual. Scratch: registers of figures.
 */
export function coverPositions(state: State, bucket: number): void {
  if (!commitShort(state, bucket)) return
  touchBucket(state, bucket)
  state.registers[R.AMOUNT] = 0n
  emitCollateral(state, marginAccountOf(state, bucket), bucket, CollateralReason.ORDER)
}

/** The change itself of {@link coverPositions}; false: there was none. */
export function commitShort(state: State, bucket: number): boolean {
  const { registers } = state
  if (isZero(state, bucket, RISK_BUCKET.PENDING)) return false
  bucketHealth(state, bucket)
  registers[R.COMMITTED] = -registers[R.EQUITY]!
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    next = get(state, position, POSITION.NEXT)
    const lots = get(state, position, POSITION.LOTS)
    if (lots === 0) continue
    const pair = get(state, position, POSITION.PAIR)
    notionalOf(state, pair, lots, markOf(state, pair))
    initialMargin(state, pair, get(state, position, POSITION.LEVERAGE))
    registers[R.COMMITTED] = registers[R.COMMITTED]! + registers[R.INITIAL]!
  }
  if (registers[R.COMMITTED]! <= 0n) return false
  commitPending(state, bucket)
  return true
}

/** Stops everything: an order committed more than it brought. */
function stopOverdrawn(state: State, row: number): never {
  broken('I5', `order ${getF64(state, row, ORDER.SEQUENCE)} committed more collateral than it brought`)
}

/**
 * Gives the collateral that the order at `row`, which is in no list any more, has not committed to margin account and bucket. Register
 * RELEASE = what went back to the margin account; scratch: M0. True when the bucket has more committed than before, and must be armed.
 */
export function giveBackCollateral(state: State, row: number): boolean {
  const { registers } = state
  registers[R.RELEASE] = 0n
  if (isZero(state, row, ORDER.HOLD)) return false
  const bucket = bucketOf(state, positionOf(state, row))
  const margin = marginAccountOf(state, bucket)
  returnCollateral(state, row, bucket)
  touchBucket(state, bucket)
  touchMargin(state, margin)
  registers[R.AMOUNT] = -registers[R.RELEASE]!
  emitCollateral(state, margin, bucket, CollateralReason.ORDER)
  return registers[R.COMMITTED]! !== 0n
}

/** The change itself of {@link giveBackCollateral}. Registers RELEASE and COMMITTED: what went back, and what was committed. */
export function returnCollateral(state: State, row: number, bucket: number): void {
  const { registers } = state
  const margin = marginAccountOf(state, bucket)
  bucketFigures(state, bucket)
  load(state, row, ORDER.HOLD, R.COMMITTED)
  load(state, bucket, RISK_BUCKET.PENDING, R.M0)
  if (registers[R.COMMITTED]! > registers[R.M0]!) registers[R.COMMITTED] = registers[R.M0]!
  registers[R.RELEASE] = registers[R.EQUITY]! + registers[R.M0]! - registers[R.SUM_INITIAL]!
  if (registers[R.RELEASE]! < 0n) registers[R.RELEASE] = 0n
  if (registers[R.RELEASE]! > registers[R.COMMITTED]!) registers[R.RELEASE] = registers[R.COMMITTED]!
  setI64(state, row, ORDER.HOLD, 0n)
  lose(state, bucket, RISK_BUCKET.PENDING, R.COMMITTED)
  lose(state, margin, MARGIN_ACCOUNT.EARMARKED, R.RELEASE)
  registers[R.COMMITTED] = registers[R.COMMITTED]! - registers[R.RELEASE]!
  gain(state, bucket, RISK_BUCKET.ALLOCATED, R.COMMITTED)
}

/** What {@link releaseHold} of ledger/holds.ts is for a spot order: the resting order at `row` ends. Register RELEASE as above. */
export function releaseCollateral(state: State, row: number): void {
  const position = positionOf(state, row)
  const bucket = bucketOf(state, position)
  unlinkOrder(state, row)
  const arms = giveBackCollateral(state, row)
  countOrder(state, position, -1)
  giveUpPosition(state, position)
  if (arms) armBucket(state, bucket)
}
