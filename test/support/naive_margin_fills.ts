/**
 * Fills of perpetuals and the ends of their orders in the naive exchange (naive_margin.ts): what a fill commits and changes, when a resting
 * order is not filled but ended, and what its end gives back. Admission is in naive_margin_orders.ts.
 */
import { Flag, Origin, originOf } from '../../core/layout/flags.ts'
import { armLegs } from './naive_conditional.ts'
import { EventType, ORDER_RESIZED, Reason } from '../../core/layout/event.ts'
import {
  bucketRequirement, equityOf, exact, maintenanceNeeded, maintenanceOf, notionalOf, ordersOf, perpOf, positionsInitial, positionsOf,
  roundedUp, unrealizedOf, type Bucket, type Position,
} from './naive_margin.ts'
import { changeLots, CollateralReason, giveUpPosition, PositionReason, tellCollateral } from './naive_margin_changes.ts'
import { has, wordOf, type Ex, type Order } from './naive_terms.ts'
import { meet } from './naive_met.ts'

/** Ends an order with a reason. */
type End = (order: Order, reason: number) => void

/** Of what an order holds, the part of so many of the lots that it has left, rounded up; the bucket commits it as far as it is pending. */
function commit({ margin, remaining }: Order, lots: number): void {
  const part = roundedUp(exact(margin!.hold).times(lots).div(remaining))
  margin!.hold -= part
  commitPending(margin!.position.bucket, part)
}

function commitPending(bucket: Bucket, atoms: bigint): void {
  const part = atoms < bucket.pending ? atoms : bucket.pending
  bucket.pending -= part
  bucket.allocated += part
}

/**
 * What orders brought is for whichever of them is filled first: of a bid and an ask, only the worse side is paid for. So after a fill a
 * bucket whose equity is below the initial margin of its positions commits what is short of what is pending.
 */
export function coverPositions(ex: Ex, bucket: Bucket): void {
  const short = positionsInitial(ex, bucket) - equityOf(ex, bucket)
  if (bucket.pending === 0n || short <= 0n) return
  commitPending(bucket, short)
  tellCollateral(ex, bucket.margin, bucket, CollateralReason.ORDER, 0n)
}

const signed = (order: Order, lots: number): number => (order.sell ? -lots : lots)

/** The parts of both orders in a fill, whose REMAINING is still that of before: first the maker's, then the taker's. */
export function fillPositions(
  ex: Ex, taker: Order, maker: Order, lots: number, takerFee: bigint, makerFee: bigint, takerAdded: bigint, makerAdded: bigint,
): void {
  ex.waiting.closed = 0
  const reason = originOf(taker.flags) === Origin.LIQUIDATION ? PositionReason.LIQUIDATION : PositionReason.TRADE
  commit(maker, lots)
  payAdded(ex, maker, makerAdded)
  changeLots(ex, maker.margin!.position, signed(maker, lots), maker.price, PositionReason.TRADE, makerFee)
  armLegs(ex, maker)
  commit(taker, lots)
  payAdded(ex, taker, takerAdded)
  changeLots(ex, taker.margin!.position, signed(taker, lots), maker.price, reason, takerFee)
  meet(ex, taker.margin!.position, maker.margin!.position, signed(taker, lots), lots)
  armLegs(ex, taker)
}

/** What the application of an order charges, its bucket pays before the fill changes the position. */
function payAdded(ex: Ex, order: Order, added: bigint): void {
  if (added === 0n) return
  const { bucket } = order.margin!.position
  bucket.realized -= added
  tellCollateral(ex, bucket.margin, bucket, CollateralReason.APPLICATION_FEE, -added)
}

/** What the maintenance of a bucket would be with other lots of one position. */
function maintenanceWith(ex: Ex, bucket: Bucket, changed: Position, lots: number): bigint {
  const needs = (pair: number, after: number): bigint =>
    (after === 0 ? 0n : maintenanceOf(ex.margins.ladders[pair]!, notionalOf(ex, pair, after)))
  return positionsOf(ex, bucket).reduce((sum, each) => sum + needs(each.pair, each === changed ? lots : each.lots), 0n)
}

/** A fill at this price is worse than the mark for who buys or sells. */
const isAdverse = (sell: boolean, price: number, mark: number): boolean => (sell ? price < mark : price > mark)

/**
 * No fill leaves a bucket with less than its maintenance margin, the fee paid; unless it only reduces, at the mark or better or for no
 * more than the maintenance that this frees while equity is left, or is one of a liquidation. Holds for a maker and for a taker.
 */
export function bearsFill(ex: Ex, order: Order, lots: number, price: number, fee: bigint): boolean {
  const { position } = order.margin!
  const change = signed(order, lots)
  const after = position.lots + change
  const reduces = order.sell ? after >= 0 : after <= 0
  if (reduces && !isAdverse(order.sell, price, perpOf(ex, position.pair).mark)) return true
  if (originOf(order.flags) === Origin.LIQUIDATION) return true
  const bought = BigInt(change) * BigInt(price) * ex.genesis.pairs[position.pair]!.tickLotAtoms
  const profit = unrealizedOf(ex, { ...position, lots: change, cost: bought })
  const before = equityOf(ex, position.bucket) + position.bucket.pending
  const there = before + profit - fee
  const slack = there - maintenanceWith(ex, position.bucket, position, after)
  return slack >= 0n || (reduces && there >= 0n && slack >= before - maintenanceNeeded(ex, position.bucket))
}

/** Lots that reduce-only orders on a side of the position may have together. */
export const lotsToReduce = ({ lots }: Position, sell: boolean): number => Math.max(0, sell ? lots : -lots)

export const reduceOnlyOf = (ex: Ex, position: Position): Order[] =>
  ordersOf(ex, position).filter(({ flags }) => has(flags, Flag.REDUCE_ONLY)).sort((a, b) => b.margin!.rested - a.margin!.rested)

/** Makes resting reduce-only orders fit their position again, the newest first; how many of them ended. */
export function fitReduceOnly(ex: Ex, position: Position, end: End): number {
  let ended = 0
  for (const order of reduceOnlyOf(ex, position)) {
    const over = reduceOnlyOf(ex, position).reduce((sum, { remaining }) => sum + remaining, 0) - lotsToReduce(position, order.sell)
    if (over <= 0) return ended
    if (over >= order.remaining) {
      end(order, Reason.REDUCE_ONLY)
      ended++
    } else resize(ex, order, over)
  }
  return ended
}

function resize(ex: Ex, order: Order, less: number): void {
  order.remaining -= less
  order.lots -= less
  const { pair, account, slot, price, lots, remaining, filledQuote, fee, createdAt, sequence: orderSequence } = order
  ex.events.push({
    layout: ORDER_RESIZED,
    values: {
      kind: EventType.ORDER_RESIZED, pair, sequence: ex.sequence, time: ex.now, account, slot, orderSequence, flags: wordOf(ex, order),
      price, lots, remaining, less, filledQuote, fee, createdAt,
    },
  })
}

/**
 * An order, which is out of the book, gives back what no fill committed: all of it, but what other orders of the bucket count on that may
 * open a position. That is from then on as if one of them had brought it: the newest of the newest position, or else the one that is being
 * matched. Returns what went to the margin account.
 */
export function giveBack(ex: Ex, order: Order): bigint {
  const { bucket } = order.margin!.position
  if (order.margin!.hold === 0n) return 0n
  const hold = order.margin!.hold < bucket.pending ? order.margin!.hold : bucket.pending
  const opens = (each: Order): boolean =>
    each !== order && each.margin?.position.bucket === bucket && !has(each.flags, Flag.REDUCE_ONLY) && each.remaining > 0
  const matched = ex.margins.matching.filter(opens)
  const heirs = [...matched, ...positionsOf(ex, bucket).flatMap((position) =>
    ordersOf(ex, position).filter(opens).sort((a, b) => a.sequence - b.sequence))]
  const spare = equityOf(ex, bucket) + bucket.pending - bucketRequirement(ex, bucket)
  const most = heirs.length === 0 || spare > hold ? hold : spare
  const back = most < 0n ? 0n : most
  order.margin!.hold = 0n
  bucket.pending -= back
  if (hold > back) heirs.at(-1)!.margin!.hold += hold - back
  if (back > 0n) tellCollateral(ex, bucket.margin, bucket, CollateralReason.ORDER, -back)
  return back
}

/** An order that was at rest leaves its position. Returns what it gave back. */
export function leavePosition(ex: Ex, order: Order): bigint {
  const kept = ex.margins.leaving.includes(order)
  if (!kept) ex.margins.leaving.push(order)
  const back = giveBack(ex, order)
  if (!kept) forget(ex, order)
  giveUpPosition(ex, order.margin!.position)
  return back
}

/** The order is neither being matched nor leaving any more. */
export function forget({ margins }: Ex, order: Order): void {
  margins.matching = margins.matching.filter((each) => each !== order)
  margins.leaving = margins.leaving.filter((each) => each !== order)
}

/** Cuts a reduce-only order, which was matched, to what may rest beside the others of its position. False: nothing may. */
export function mayRest(ex: Ex, order: Order): boolean {
  if (!has(order.flags, Flag.REDUCE_ONLY)) return true
  const { position } = order.margin!
  const resting = reduceOnlyOf(ex, position).reduce((sum, { remaining }) => sum + remaining, 0)
  const rests = Math.min(order.remaining, lotsToReduce(position, order.sell) - resting)
  if (rests <= 0) return false
  order.lots -= order.remaining - rests
  order.remaining = rests
  return true
}

/**
 * What a fill leads to: reduce-only orders of both positions fit again, and the maker's position goes if nothing is left of it. How many of
 * the maker's ended, and conditional orders with a position.
 */
export function afterFill(ex: Ex, taker: Order, maker: Order, end: End): number {
  perpOf(ex, maker.pair).last = maker.price
  const ended = fitReduceOnly(ex, maker.margin!.position, end)
  giveUpPosition(ex, maker.margin!.position)
  coverPositions(ex, maker.margin!.position.bucket)
  fitReduceOnly(ex, taker.margin!.position, end)
  return ended + ex.waiting.closed
}
