/**
 * Collateral of margin orders. What an order brings from its margin account is its ORDER.HOLD and pending in its bucket, until fills commit
 * it; riskBucketCollateral, too, is committed by fills only (specification, Order entry).
 *
 *   accepted   HOLD, PENDING and EARMARKED + what it brings
 *   filled     of HOLD so much as of its lots, rounded up: PENDING to ALLOCATED
 *   ended      what is left goes back to the margin account; of that, while other orders of the bucket rest that may open or enlarge a
 *              position, only its surplus without the order (equity + PENDING - requirement): the rest is their HOLD from then on
 *
 * **PENDING is one pool.** Requirements are of the worse side, so of a bid and an ask the second may bring nothing; when it is filled, the
 * first has brought what the position needs. So after fills a bucket whose equity is below the initial margin of its positions commits
 * what is short from PENDING, whoever brought it ({@link coverPositions}). PENDING is therefore at most the sum of the HOLD of the bucket's
 * orders, an order that ends gives back no more than there is, and with the last one nothing is pending.
 *
 * **An order that ends commits nothing**, also where its bucket is short of margin: it gives back what it brought itself and no fill used,
 * so equity is what it would be without it, and nobody gets out what a position ever had. An order that counts on it, because it was
 * admitted when that was pending, keeps it ({@link heirOf}): otherwise a small order could bring what the bucket lacks, let a large one
 * in, and take it away again. What one command fills it covers first (orders/margin_admission.ts), so a part of a MARKET or IOC order
 * leaves its position with the initial margin as far as what it brought goes.
 *
 * EARMARKED changes by what comes and goes, never by a fill. COLLATERAL events say what an order brought, what its end gave back and what
 * was committed beside it; its own part is in the POSITION event of the fill.
 *
 * Widest product: HOLD % lots × lots < 2^62.
 */
import { Flag } from '../layout/flags.ts'
import { CollateralReason } from '../layout/margin_events.ts'
import { broken } from '../lib/assert.ts'
import { emitCollateral } from '../events/margin.ts'
import { N, R } from '../state/balances.ts'
import { ORDER } from '../state/columns.ts'
import { MARGIN_ACCOUNT, ORDER_MARGIN, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import {
  bucketAt, gain, get, getF64, getI64, isZero, load, lose, noted, orderMarginRow, orderRow, positionRow, setI64, signOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { marginAccountOf, touchBucket, touchMargin } from './buckets.ts'
import { bucketFigures, bucketHealth, markOf } from './figures.ts'
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
 * Gives the collateral that the order at `row`, which is in no list and no sum any more, has not committed back to the margin account, as
 * far as no other order counts on it; COLLATERAL tells of it if it is anything. Register RELEASE = what went back; scratch: M0, COMMITTED.
 */
export function giveBackCollateral(state: State, row: number): void {
  const { registers } = state
  registers[R.RELEASE] = 0n
  if (isZero(state, row, ORDER.HOLD)) return
  const bucket = bucketOf(state, positionOf(state, row))
  const margin = marginAccountOf(state, bucket)
  returnCollateral(state, row, bucket)
  if (registers[R.RELEASE]! === 0n) return
  touchBucket(state, bucket)
  touchMargin(state, margin)
  registers[R.AMOUNT] = -registers[R.RELEASE]!
  emitCollateral(state, margin, bucket, CollateralReason.ORDER)
}

/** The change itself of {@link giveBackCollateral}. */
export function returnCollateral(state: State, row: number, bucket: number): void {
  const { registers } = state
  load(state, row, ORDER.HOLD, R.COMMITTED)
  load(state, bucket, RISK_BUCKET.PENDING, R.M0)
  if (registers[R.COMMITTED]! > registers[R.M0]!) registers[R.COMMITTED] = registers[R.M0]!
  registers[R.RELEASE] = registers[R.COMMITTED]!
  if (awaitsFills(state, bucket)) {
    bucketFigures(state, bucket)
    registers[R.M0] = registers[R.EQUITY]! + getI64(state, bucket, RISK_BUCKET.PENDING) - registers[R.SUM_INITIAL]!
    if (registers[R.M0]! < 0n) registers[R.M0] = 0n
    if (registers[R.RELEASE]! > registers[R.M0]!) registers[R.RELEASE] = registers[R.M0]!
  }
  setI64(state, row, ORDER.HOLD, 0n)
  lose(state, bucket, RISK_BUCKET.PENDING, R.RELEASE)
  lose(state, marginAccountOf(state, bucket), MARGIN_ACCOUNT.EARMARKED, R.RELEASE)
  registers[R.COMMITTED] = registers[R.COMMITTED]! - registers[R.RELEASE]!
  if (registers[R.COMMITTED]! === 0n) return
  const heir = heirOf(state, bucket)
  if (heir < 0) stopWithoutHeir(state, bucket)
  gain(state, heir, ORDER.HOLD, R.COMMITTED)
}

/** Stops everything: what the bucket's orders need stays pending, and there is none of them. */
function stopWithoutHeir(state: State, bucket: number): never {
  broken('I5', `the orders of bucket ${bucketAt(state, bucket)} have lots, and none of them is there`)
}

/** True when orders of the position, resting or being matched, may open or enlarge it. */
const hasOpeningOrders = (state: State, position: number): boolean =>
  getF64(state, position, POSITION.BID_LOTS) + getF64(state, position, POSITION.ASK_LOTS) > 0

/** True when one of the bucket's positions {@link hasOpeningOrders}. Walks them. */
function awaitsFills(state: State, bucket: number): boolean {
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    if (hasOpeningOrders(state, position)) return true
    next = get(state, position, POSITION.NEXT)
  }
  return false
}

/**
 * The order of the bucket to which pending collateral falls when the one that brought it ends: of the newest position that has one at rest
 * which is not reduce-only, the newest of these; or else the one that is being matched; -1: there is none. Walks the positions, and of one
 * or two of them the reduce-only orders that are newer, 32 at most (order_lists.ts). Orders without lots, which only a preview has
 * (orders/preview_walk.ts), are passed over.
 */
export function heirOf(state: State, bucket: number): number {
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    next = get(state, position, POSITION.NEXT)
    let link = hasOpeningOrders(state, position) ? get(state, position, POSITION.ORDERS_HEAD) : 0
    while (link !== 0) {
      const order = orderRow(state, link - 1)
      if (mayOpen(state, order)) return order
      link = get(state, orderMarginRow(state, link - 1), ORDER_MARGIN.NEXT)
    }
  }
  const matched = noted(state, N.MATCHED) - 1
  return matched >= 0 && mayOpen(state, matched) && bucketOf(state, positionOf(state, matched)) === bucket ? matched : -1
}

const mayOpen = (state: State, order: number): boolean =>
  (get(state, order, ORDER.FLAGS) & Flag.REDUCE_ONLY) === 0 && get(state, order, ORDER.REMAINING) !== 0

/** What {@link releaseHold} of ledger/holds.ts is for a spot order: the resting order at `row` ends. Register RELEASE as above. */
export function releaseCollateral(state: State, row: number): void {
  const position = positionOf(state, row)
  unlinkOrder(state, row)
  giveBackCollateral(state, row)
  countOrder(state, position, -1)
  giveUpPosition(state, position)
}
