/**
 * What an order of a perpetual needs to be accepted, and what its acceptance makes, in the naive exchange (naive_margin.ts). Everything is
 * looked at in full: the path of a MARKET order by sorting the book, the requirement by adding up orders, once as they are and once as if
 * the new one rested among them.
 */
import { Flag, Origin, originOf } from '../../core/layout/flags.ts'
import { EventType, MARGIN_ORDER } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { addedNow, addsTo, mostAdded } from './naive_builder.ts'
import { hangingOn } from './naive_conditional.ts'
import {
  bucketRequirement, equityOf, exact, exposureOf, freeOf, isStale, maintenanceNeeded, maintenanceOf, mostLong,
  mostShort, notionalOf, ordersOf, perpOf, positionsOf, requirementOf, roundedUp, tierOf, truncated, unit, type Bucket,
  type Exposure, type MarginAccount, type Position,
} from './naive_margin.ts'
import {
  bucketRoom, CollateralReason, findBucket, findPosition, giveUpPosition, makeBucket, makeParent, makePosition, mayMakePosition, parentOf,
  PositionReason, publicRow, publicSequence, tellCollateral, tellPosition, touchPosition,
} from './naive_margin_changes.ts'
import { coverPositions, forget, giveBack, lotsToReduce, reduceOnlyOf } from './naive_margin_fills.ts'
import { openLots } from './naive_margin_prices.ts'
import { has, isOver, mostLots, path, ratesOf, valueOf, wordOf, type Ex, type Order, type Terms } from './naive_terms.ts'

/** Resting orders that one order of a perpetual meets at most; reduce-only orders of one position. */
export const PERP_PATH_MOST = 4000
const REDUCE_MOST = 32
const NO_EXPOSURE: Exposure = { lots: 0, bids: { lots: 0, value: 0n }, asks: { lots: 0, value: 0n } }

/** Where an order stands; null: that has to be made. */
export interface Place {
  margin: MarginAccount | null
  bucket: Bucket | null
  position: Position | null
}

export interface Admission extends Place {
  lots: number
  /** Hundredths; 0: reduce-only. */
  leverage: number
  brought: bigint
}

export interface Refused { code: number; required?: bigint; available?: bigint }
const refused = (code: number): Refused => ({ code })
export const isRefused = (found: object): found is Refused => 'code' in found

/** The position that a CLOSE order names. */
function closedPlace(ex: Ex, command: Decoded, { account, pair }: Terms): Place | Refused {
  const position = ex.margins.positions.find(({ row }) => row === Number(command['position']) - 1)
  const named = position !== undefined && position.lots !== 0 && position.openedSequence === command['namedSequence'] &&
    position.bucket.margin.account === account && position.pair === pair
  return named ? { margin: position.bucket.margin, bucket: position.bucket, position } : refused(CODE.POSITION_NOT_FOUND)
}

/** Bucket and position that the order names, or that its pair, mode and strategy key lead to. */
export function placeOf(
  ex: Ex, command: Decoded, { account, pair, flags }: Pick<Terms, 'account' | 'pair' | 'flags'>,
): Place | Refused {
  const cross = has(flags, Flag.CROSS)
  const [keyLow, keyHigh, sequence] = [Number(command['keyLow']), Number(command['keyHigh']), Number(command['namedSequence'])]
  const [named, owner] = [Number(command['bucket']) - 1, Number(command['marginAccount']) - 1]
  if (named >= 0) {
    const bucket = ex.margins.buckets.find(({ row, margin, createdSequence }) =>
      row === named && margin.account === account && createdSequence === sequence)
    if (bucket === undefined) return refused(CODE.NOT_FOUND)
    const keyed = keyLow !== 0 || keyHigh !== 0
    const fits = bucket.cross === cross && (cross || bucket.pair === pair) && (owner < 0 || bucket.margin.row === owner) &&
      (!keyed || (bucket.keyLow === keyLow && bucket.keyHigh === keyHigh))
    return fits ? { margin: bucket.margin, bucket, position: findPosition(ex, bucket, pair) } : refused(CODE.RISK_BUCKET_MISMATCH)
  }
  const margin = marginNamed(ex, account, owner, sequence)
  if (owner >= 0 && margin === null) return refused(CODE.NOT_FOUND)
  const bucket = margin === null ? null : findBucket(ex, margin, cross, pair, keyLow, keyHigh)
  if (bucket === null && (keyLow !== 0 || keyHigh !== 0)) return refused(CODE.STRATEGY_KEY_UNKNOWN)
  return { margin, bucket, position: findPosition(ex, bucket, pair) }
}

/** The open margin account of `account` of this row; below 0: the parent. */
export function marginNamed(ex: Ex, account: number, row: number, sequence: number): MarginAccount | null {
  if (row < 0) return parentOf(ex, account)
  return ex.margins.accounts.find((each) => each.row === row && each.account === account && each.createdSequence === sequence) ?? null
}

function modeRefusal(ex: Ex, pair: number, reduces: boolean): number {
  const { mode, jump } = perpOf(ex, pair)
  if (mode === 0 && jump.left === 0) return 0
  if (mode > 1) return CODE.WRONG_PERP_MODE
  return reduces ? 0 : CODE.PAIR_REDUCE_ONLY
}

/** Everything that an order on a perpetual must satisfy besides its terms. Changes nothing. */
export function admitMargin(ex: Ex, command: Decoded, terms: Terms): Admission | Refused {
  const { pair, flags } = terms
  const reduces = has(flags, Flag.REDUCE_ONLY)
  if (has(flags, Flag.CLOSE) && !reduces) return refused(CODE.VALIDATION_ERROR)
  if (has(flags, Flag.MASTER_FUNDED)) return refused(CODE.MASTER_BALANCE_NOT_ALLOWED)
  const mode = modeRefusal(ex, pair, reduces)
  if (mode !== 0) return refused(mode)
  const place = has(flags, Flag.CLOSE) ? closedPlace(ex, command, terms) : placeOf(ex, command, terms)
  if (isRefused(place)) return place
  const least = BigInt(command['collateral'] as bigint)
  return admitTo(ex, place, terms, reduces ? 0 : Number(command['leverage']), least, !has(flags, Flag.MARKET | Flag.IOC | Flag.FOK))
}

/** The same of the successor of a resting order, as if that one were not there. */
export function admitSuccessor(ex: Ex, terms: Terms, without: Order): Admission | Refused {
  const { position } = without.margin!
  if (has(terms.flags, Flag.MASTER_FUNDED)) return refused(CODE.MASTER_BALANCE_NOT_ALLOWED)
  const reduces = has(terms.flags, Flag.REDUCE_ONLY)
  const mode = modeRefusal(ex, terms.pair, reduces)
  if (mode !== 0) return refused(mode)
  const place = { margin: position.bucket.margin, bucket: position.bucket, position }
  return admitTo(ex, place, terms, reduces ? 0 : position.leverage, 0n, false, without)
}

function admitTo(
  ex: Ex, place: Place, terms: Terms, leverage: number, least: bigint, counts: boolean, without: Order | null = null,
): Admission | Refused {
  const { flags } = terms
  const untouchable = place.bucket !== null && ['LIQUIDATING', 'BAD_DEBT'].includes(place.bucket.status)
  if (untouchable && originOf(flags) !== Origin.LIQUIDATION) return refused(CODE.RISK_BUCKET_IN_LIQUIDATION)
  const closes = has(flags, Flag.REDUCE_ONLY) && [Flag.MARKET, Flag.IOC, Flag.FOK].some((flag) => has(flags, flag))
  if (place.margin?.follow !== undefined && originOf(flags) !== Origin.COPY && !closes) return refused(CODE.COPY_MARGIN_ACCOUNT)
  if (!has(flags, Flag.REDUCE_ONLY)) return admitOpening(ex, place, terms, leverage, least, without)
  const most = place.position === null ? 0 : lotsToReduce(place.position, has(flags, Flag.SELL))
  if (most === 0) return refused(CODE.REDUCE_ONLY_REJECTED)
  if (counts && reduceOnlyOf(ex, place.position!).length >= REDUCE_MOST) return refused(CODE.TOO_MANY_REDUCE_ONLY)
  const one = ex.inForce < 5 ? most : mostLots(ex, terms.pair, has(flags, Flag.SELL), terms.limit)
  if (one < 1) return refused(CODE.ABOVE_MAX_ORDER_SIZE)
  return { ...place, lots: Math.min(terms.lots, most, one), leverage: 0, brought: 0n }
}

/** What an order must satisfy that may open or enlarge a position. */
function admitOpening(
  ex: Ex, place: Place, terms: Terms, leverage: number, least: bigint, without: Order | null,
): Admission | Refused {
  const { account, pair, flags } = terms
  if (least < 0n) return refused(CODE.VALIDATION_ERROR)
  const counted = place.bucket === null ? [] : positionsOf(ex, place.bucket)
  if ([pair, ...counted.map((each) => each.pair)].some((each) => isStale(ex, each))) return refused(CODE.PRICE_STALE)
  const market = has(flags, Flag.MARKET) ? walkPerp(ex, terms) : null
  if (market?.tooLong === true) return refused(CODE.ABOVE_MAX_ORDER_SIZE)
  const lots = market?.fillable ?? terms.lots
  const value = market?.value ?? valueOf(ex, pair, terms.limit, terms.lots)
  const before = place.position === null ? NO_EXPOSURE : exposureOf(ex, place.position, without)
  const after = withOrder(before, has(flags, Flag.SELL), lots, value)
  const rests = ![Flag.MARKET, Flag.IOC, Flag.FOK].some((flag) => has(flags, flag))
  const code = exposureRefusal(ex, pair, before, after, has(flags, Flag.SELL), leverage, rests)
  if (code !== 0) return refused(code)
  const room = place.bucket === null ? bucketRoom(ex, account, place.margin) : null
  if (room !== null) return refused(CODE[room])
  if (place.position === null && !mayMakePosition(ex, account)) return refused(CODE.TOO_MANY_POSITIONS)
  const rates = ratesOf(ex, account, pair)
  const adds = addedNow(ex, account, 0)
  const added = addsTo(value, Math.max(adds.maker, adds.taker))
  const fee = roundedUp(exact(value).times(Math.max(0, rates.maker, rates.taker)).div(1e6)) + added
  const held = place.position === null ? 0n : requirementOf(ex, pair, before, place.position.leverage)
  const needed = requirementOf(ex, pair, after, leverage) - held + fee
  const brought = bringable(ex, place, needed, least, without)
  return typeof brought === 'bigint' ? { ...place, lots: terms.lots, leverage, brought } : brought
}

const withOrder = (before: Exposure, sell: boolean, lots: number, value: bigint): Exposure => {
  const add = (side: Exposure['bids'], here: boolean): Exposure['bids'] =>
    (here ? { lots: side.lots + lots, value: side.value + value } : side)
  return { lots: before.lots, bids: add(before.bids, !sell), asks: add(before.asks, sell) }
}

/** What rests may fill after a position on the other side was closed by others, so that one does not count against it. */
function exposureRefusal(
  ex: Ex, pair: number, before: Exposure, after: Exposure, sell: boolean, leverage: number, rests: boolean,
): number {
  const { minLeverage, maxPositionLots } = ex.genesis.pairs[pair]!.perp!
  const most = Math.max(mostLong(after), mostShort(after))
  if (leverage < minLeverage) return CODE.LEVERAGE_TOO_LOW
  if (leverage > tierOf(ex.margins.ladders[pair]!, notionalOf(ex, pair, most)).maxLeverage) return CODE.LEVERAGE_TOO_HIGH
  const side = sell ? mostShort : mostLong
  const closed = rests && (sell ? after.lots > 0 : after.lots < 0)
  if (side(closed ? { ...after, lots: 0 } : after) > maxPositionLots) return CODE.POSITION_LIMIT_EXCEEDED
  const opening = side(after) - side(before)
  const { openCap } = perpOf(ex, pair)
  return openCap > 0 && opening > 0 && openLots(ex, pair) + opening > openCap ? CODE.OPEN_INTEREST_LIMIT : 0
}

/** What the order brings of the free collateral: what its bucket lacks for it, or more if more was asked for. */
function bringable(ex: Ex, { margin, bucket }: Place, needed: bigint, least: bigint, without: Order | null): bigint | Refused {
  const free = margin === null ? 0n : freeOf(ex, margin)
  const there = bucket === null ? 0n : equityOf(ex, bucket) + bucket.pending - requirementWithout(ex, bucket, without)
  const short = needed - there
  if (short > free) {
    const known = there > 0n ? { required: needed, available: free + there } : { required: short, available: free }
    return { code: CODE.INSUFFICIENT_MARGIN, ...known }
  }
  if (least > free) return { code: CODE.INSUFFICIENT_COLLATERAL, required: least, available: free }
  return short > least ? short : least
}

/** Requirement of a bucket without one of its orders. */
function requirementWithout(ex: Ex, bucket: Bucket, without: Order | null): bigint {
  if (without === null) return bucketRequirement(ex, bucket)
  const { position } = without.margin!
  const one = (exposure: Exposure): bigint => requirementOf(ex, position.pair, exposure, position.leverage)
  return bucketRequirement(ex, bucket) - one(exposureOf(ex, position)) + one(exposureOf(ex, position, without))
}

/** What may end when a maker is filled: conditional orders of its position, and reduce-only orders, if it is none itself. */
const mayEnd = (ex: Ex, { flags, margin }: Order): number => hangingOn(ex, margin!.position).length +
  (has(flags, Flag.REDUCE_ONLY) ? 0 : reduceOnlyOf(ex, margin!.position).length)

/** The path of an order of a perpetual: what of it is certain to be filled, and the most that it may cost. */
export interface PerpPath { left: number; fillable: number; value: bigint; own: Order | null; tooLong: boolean }
export function walkPerp(ex: Ex, { pair, flags, limit, lots, account }: Terms): PerpPath {
  const sell = has(flags, Flag.SELL)
  const met = path(ex, pair, sell, limit)
  const best = met[0]?.price ?? 0
  let [left, unsure, worst, value, own, looked] = [lots, 0, 0, 0n, null as Order | null, 0]
  for (const maker of met) {
    if (left === 0) break
    if (looked >= PERP_PATH_MOST) return { left, fillable: 0, value: 0n, own: null, tooLong: true }
    // An order that is filled whole or not at all reckons with those that may end on its way.
    looked += 1 + (has(flags, Flag.FOK) ? mayEnd(ex, maker) : 0)
    if (isOver(ex, maker)) continue
    if (maker.account === account) {
      own = maker
      break
    }
    worst = maker.price
    if (isCertain(ex, maker, best, limit, lots)) {
      const taken = Math.min(left, maker.remaining)
      value += valueOf(ex, pair, maker.price, taken)
      left -= taken
    } else unsure += maker.remaining
  }
  const fillable = Math.min(lots, lots - left + unsure)
  return { left, fillable, value: unsure > 0 ? valueOf(ex, pair, worst, fillable) : value, own, tooLong: false }
}

/**
 * A maker is certain to be filled, whatever else of its position is filled before: it is the only kind of order of it there that reduces,
 * or all orders of its side only reduce, or its bucket bears as many of them as may be filled, each at the best price of the book and with
 * the highest fee.
 */
function isCertain(ex: Ex, maker: Order, best: number, limit: number, lots: number): boolean {
  const { position } = maker.margin!
  const { pair, lots: held } = position
  const { bids, asks } = exposureOf(ex, position)
  const opening = (maker.sell ? asks : bids).lots
  if (has(maker.flags, Flag.REDUCE_ONLY) && opening !== 0) return false
  const reducing = reduceOnlyOf(ex, position).filter(({ sell }) => sell === maker.sell).reduce((sum, { remaining }) => sum + remaining, 0)
  const all = opening + reducing
  const opposite = maker.sell ? held : -held
  const { mark } = perpOf(ex, pair)
  const worse = maker.sell ? mark - best : best - mark
  if (worse <= 0 && opposite - all >= 0) return true
  const most = Math.min(all, lots)
  const lost = exact(most).times(Math.max(0, worse)).times(unit(ex, pair))
  const value = valueOf(ex, pair, maker.sell ? limit : best, most)
  const makerPpm = ex.genesis.pairs[pair]!.makerPpm + mostAdded(ex, maker.account)
  const count = [...ordersOf(ex, position), ...ex.margins.matching].filter(({ margin: of }) => of!.position === position).length
  const fees = makerPpm > 0 ? exact(truncated(exact(value).div(1e6))).times(makerPpm).plus(count + 1 + makerPpm) : exact(0)
  const after = Math.max(Math.abs(held), Math.abs(opposite - most))
  const ladder = ex.margins.ladders[pair]!
  const own = (size: number): bigint => (size === 0 ? 0n : maintenanceOf(ladder, notionalOf(ex, pair, size)))
  const needed = maintenanceNeeded(ex, position.bucket) - own(Math.abs(held)) + own(after)
  return exact(equityOf(ex, position.bucket) + position.bucket.pending).minus(lost).minus(fees).gte(exact(needed))
}

/** The path of a FOK order: it is filled whole for certain, makers and taker, or not at all. */
export function walkWhole(ex: Ex, terms: Terms, admitted: Admission): PerpPath {
  const seen = walkPerp(ex, terms)
  if (seen.left > 0 || seen.own !== null || seen.tooLong || !has(terms.flags, Flag.FOK)) return seen
  return isTakerCertain(ex, terms, admitted, seen.value) ? seen : { ...seen, left: terms.lots }
}

/** The taker bears all its fills: with what it brings its bucket has the maintenance margin of the larger of before and after. */
function isTakerCertain(ex: Ex, { account, pair, flags, lots }: Terms, { bucket, position, brought }: Admission, value: bigint): boolean {
  if (originOf(flags) === Origin.LIQUIDATION) return true
  const held = position?.lots ?? 0
  const size = Math.max(Math.abs(held), Math.abs(held + (has(flags, Flag.SELL) ? -lots : lots)))
  const worth = notionalOf(ex, pair, lots)
  const lost = has(flags, Flag.SELL) ? worth.minus(exact(value)) : exact(value).minus(worth)
  const adds = addsTo(value, addedNow(ex, account, flags).taker)
  const fee = roundedUp(exact(value).times(Math.max(0, ratesOf(ex, account, pair).taker)).div(1e6)) + adds
  const own = (of: number): bigint => (of === 0 ? 0n : maintenanceOf(ex.margins.ladders[pair]!, notionalOf(ex, pair, of)))
  const needed = (bucket === null ? 0n : maintenanceNeeded(ex, bucket)) - own(Math.abs(held)) + own(size)
  const there = (bucket === null ? 0n : equityOf(ex, bucket) + bucket.pending) + brought - fee
  return exact(there).minus(lost.gt(0) ? lost : 0).gte(exact(needed))
}

/** The order is accepted: it gets its place, chooses the leverage and brings its collateral. */
export function beginMargin(ex: Ex, order: Order, { margin, bucket, position, leverage, brought }: Admission): void {
  const owner = margin ?? makeParent(ex, order.account)
  const own = bucket ?? makeBucket(ex, owner, has(order.flags, Flag.CROSS), order.pair, 0, 0)
  const at = position ?? makePosition(ex, own, order.pair)
  order.flags = own.cross ? order.flags | Flag.CROSS : order.flags & ~Flag.CROSS
  order.margin = { position: at, hold: 0n, leverage, brought, rested: 0 }
  if (!has(order.flags, Flag.REDUCE_ONLY) && at.leverage !== leverage) {
    at.leverage = leverage
    if (at.lots !== 0) {
      touchPosition(ex, at)
      tellPosition(ex, at, PositionReason.LEVERAGE, 0n)
    }
  }
  ex.margins.matching.push(order)
  order.margin.hold = brought
  own.pending += brought
  if (brought !== 0n) tellCollateral(ex, owner, own, CollateralReason.ORDER, brought)
}

/** A successor is admitted again once its original has ended; what that gave back comes to the same. */
export function readmit(ex: Ex, order: Order, original: Order, terms: Terms): void {
  const { position } = original.margin!
  const reduces = has(order.flags, Flag.REDUCE_ONLY)
  const place = { margin: position.bucket.margin, bucket: position.bucket, position }
  const again = admitTo(ex, place, terms, reduces ? 0 : position.leverage, 0n, false)
  if (isRefused(again)) throw new Error(`a successor is refused: ${again.code}`)
  beginMargin(ex, order, again)
  forget(ex, original)
}

/** The order was matched, and its fills are covered; what rests is counted from now on, what does not gives its collateral back. */
export function endAdmission(ex: Ex, order: Order): void {
  forget(ex, order)
  if (order.trades > 0) coverPositions(ex, order.margin!.position.bucket)
  if (order.place > 0) order.margin!.rested = ++ex.margins.rests
  else {
    ex.margins.leaving.push(order)
    giveBack(ex, order)
    forget(ex, order)
  }
  tellMarginOrder(ex, order)
  if (order.place === 0) giveUpPosition(ex, order.margin!.position)
}

function tellMarginOrder(ex: Ex, order: Order): void {
  const { account, sequence: orderSequence, slot, pair, margin } = order
  const { bucket } = margin!.position
  ex.events.push({
    layout: MARGIN_ORDER,
    values: {
      kind: EventType.MARGIN_ORDER, account, orderSequence, slot, pair, marginAccount: publicRow(bucket.margin), bucket: bucket.row,
      marginAccountSequence: publicSequence(ex, bucket.margin), bucketSequence: bucket.createdSequence, leverage: margin!.leverage,
      flags: wordOf(ex, order), collateral: margin!.brought, strategyKey: bucket.strategyKey,
    },
  })
}

