/**
 * A fill of a perpetual: instead of balances (ledger/settle.ts) it moves lots from one position to another, fees from the buckets to the
 * house, and commits collateral that the two orders brought. Value changes hands as realised profit and cost (positions.ts), so nothing is
 * paid now but the fees.
 *
 * **No fill leaves a bucket unhealthy.** Admission is about what an order may cost; how it comes out depends on what rests beside it and on
 * the mark of then. So both sides of a fill are looked at ({@link bearsFill}): equity at the mark and PENDING, less the fee, must be at
 * least the maintenance margin afterwards. A fill that only reduces, at the mark or better, is always borne; so is every one of a
 * liquidation, and one that reduces for no more than the margin that is not needed any more, so that who lacks margin may close in parts
 * what he has, as long as equity is left. Otherwise nobody could be kept from selling to himself, far from the mark, what his bucket
 * cannot lose.
 *   - A maker that does not bear it is ended instead, INSUFFICIENT_MARGIN, and matching goes on: it was met, and not filled.
 *   - A taker that does not bear it is not matched further, and what it has left is cancelled for the same reason.
 * While the index is stale the mark is the last one there was: else whoever closes a position then would find nobody to trade with.
 *
 * **What is certain beforehand**, for whoever must know a path before it is walked (book/perp_walk.ts): that a maker will be filled in any
 * case, also when other orders of its position were filled before it in the same command ({@link isCertain}).
 *   - A reduce-only one: no other orders of its position rest on that side, so that nothing shrinks it.
 *   - All orders of its position on that side only reduce it, and the best price of the book is the mark or better for them; or the bucket
 *     stays healthy when of all of them so many are filled as the path has lots, each at the best price, which is their worst, and at the
 *     highest maker rate.
 * These hold at any later moment of the command if they hold before it: each fill takes from the lots still to come what it takes from the
 * equity at most, and what it commits is pending before. The same of the taker itself: {@link isTakerCertain}.
 *
 * Widest products: values of fills and of all orders of one side below 2^61 (perp_terms.ts); a value is divided by 10^6 before it meets a
 * rate.
 */
import { Flag, Origin, originOf } from '../layout/flags.ts'
import { CollateralReason, PositionReason } from '../layout/margin_events.ts'
import { emitCollateral } from '../events/margin.ts'
import { R } from '../state/balances.ts'
import { ACCOUNT, ORDER, TERMS } from '../state/columns.ts'
import { PAIR_LISTING } from '../state/listing_rows.ts'
import { POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { accountRow, get, getF64, getI64, lose, pairListingRow, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { addOnOfFill, chargeAddOn, mostAddOn, requireAddOn } from '../ledger/add_ons.ts'
import { chargeFill, feeOfFill, requiredForCost } from '../ledger/fees.ts'
import { marginAccountOf, touchBucket } from './buckets.ts'
import { bucketHealth, markOf } from './figures.ts'
import { armLegs } from './legs.ts'
import { commitCollateral } from './order_collateral.ts'
import { noteMeeting } from './met.ts'
import { addLots, fillIncoming, positionOf, unlinkOrder } from './order_lists.ts'
import { bucketOf, changeLots } from './positions.ts'
import { maintenanceMargin, notionalOf } from './tiers.ts'

/**
 * Settles `lots` at `price` between the orders `taker` and `maker`, whose REMAINING is still that of before. The maker leaves the lists of
 * its position when that is all of it. Registers QUOTE, BASE, TAKER_FEE and MAKER_FEE say what the FILL event says. Guards are not armed.
 */
export function settleFill(state: State, taker: number, maker: number, terms: number, sell: number, price: number, lots: number): void {
  const { registers } = state
  registers[R.QUOTE] = BigInt(price | 0) * BigInt(lots | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  registers[R.BASE] = BigInt(lots | 0) * getI64(state, terms, TERMS.LOT_ATOMS)
  const discount = get(state, accountRow(state, get(state, taker, ORDER.ACCOUNT)), ACCOUNT.TAKER_DISCOUNT)
  chargeFill(state, taker, get(state, terms, TERMS.TAKER_PPM) - discount, R.TAKER_FEE)
  chargeFill(state, maker, get(state, maker, ORDER.MAKER_PPM), R.MAKER_FEE)
  chargeAddOn(state, taker, false, R.TAKER_FEE, R.TAKER_ADD_ON)
  chargeAddOn(state, maker, false, R.MAKER_FEE, R.MAKER_ADD_ON)
  if (lots === get(state, maker, ORDER.REMAINING)) unlinkOrder(state, maker)
  else addLots(state, maker, -lots)
  fillIncoming(state, taker, lots)
  const liquidates = originOf(get(state, taker, ORDER.FLAGS)) === Origin.LIQUIDATION
  fillSide(state, maker, sell === 0 ? -lots : lots, lots, price, R.MAKER_FEE, R.MAKER_ADD_ON, PositionReason.TRADE)
  const reason = liquidates ? PositionReason.LIQUIDATION : PositionReason.TRADE
  fillSide(state, taker, sell === 0 ? lots : -lots, lots, price, R.TAKER_FEE, R.TAKER_ADD_ON, reason)
  noteMeeting(state, positionOf(state, taker), positionOf(state, maker), sell === 0 ? lots : -lots, lots)
}

/** The part of one order: `change` is its lots, signed. */
function fillSide(
  state: State, row: number, change: number, lots: number, price: number, fee: number, addOn: number, reason: number,
): void {
  const { registers } = state
  const position = positionOf(state, row)
  commitCollateral(state, row, bucketOf(state, position), lots)
  if (registers[addOn]! !== 0n) payAddOn(state, bucketOf(state, position), addOn)
  registers[R.FILL_FEE] = registers[fee]!
  changeLots(state, position, change, price, reason)
  if ((get(state, row, ORDER.FLAGS) & Flag.LEGS) !== 0) armLegs(state, row)
}

/** The bucket pays register `addOn` to the application of an order of it; COLLATERAL tells. */
function payAddOn(state: State, bucket: number, addOn: number): void {
  const { registers } = state
  lose(state, bucket, RISK_BUCKET.REALIZED, addOn)
  lose(state, bucket, RISK_BUCKET.LIFETIME, addOn)
  touchBucket(state, bucket)
  registers[R.AMOUNT] = -registers[addOn]!
  emitCollateral(state, marginAccountOf(state, bucket), bucket, CollateralReason.APPLICATION_FEE)
}

/** True when `change` lots, signed, only reduce a position of `held`. */
export const reduces = (held: number, change: number): boolean => (change < 0 ? held + change >= 0 : held + change <= 0)

/** Lots, signed, that `lots` of an order with these flags are for its position. */
const signed = (flags: number, lots: number): number => ((flags & Flag.SELL) !== 0 ? -lots : lots)

/** True when a fill of `change` lots, signed, at `price` is worse than the mark for who has it. */
export const isAdverse = (change: number, price: number, mark: number): boolean => (change < 0 ? price < mark : price > mark)

/**
 * True when the order at `row` may be filled for `lots` at `price`, and pays a fee of `ppm`. Scratch: registers of figures, QUOTE,
 * MAKER_FEE, ADD_ON, THERE and NEEDED.
 */
export function bearsFill(state: State, row: number, price: number, lots: number, ppm: number): boolean {
  const { registers } = state
  const flags = get(state, row, ORDER.FLAGS)
  const position = positionOf(state, row)
  const held = get(state, position, POSITION.LOTS)
  const change = signed(flags, lots)
  const pair = get(state, row, ORDER.PAIR)
  const mark = markOf(state, pair)
  if (reduces(held, change) && !isAdverse(change, price, mark)) return true
  if (originOf(flags) === Origin.LIQUIDATION) return true
  const terms = termsRow(state, pair)
  const bucket = bucketOf(state, position)
  bucketHealth(state, bucket)
  registers[R.QUOTE] = BigInt(price | 0) * BigInt(lots | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  feeOfFill(state, row, ppm, R.MAKER_FEE)
  registers[R.THERE] = BigInt(change | 0) * BigInt((mark - price) | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  registers[R.THERE] = registers[R.EQUITY]! + getI64(state, bucket, RISK_BUCKET.PENDING) + registers[R.THERE]! - registers[R.MAKER_FEE]!
  addOnOfFill(state, row)
  registers[R.THERE] = registers[R.THERE]! - registers[R.ADD_ON]!
  maintenanceAfter(state, pair, held, held + change, mark)
  if (registers[R.THERE]! >= registers[R.NEEDED]!) return true
  if (!reduces(held, change) || registers[R.THERE]! < 0n) return false
  // What is lacking does not become more.
  registers[R.M0] = registers[R.EQUITY]! + getI64(state, bucket, RISK_BUCKET.PENDING) - registers[R.SUM_MAINTENANCE]!
  return registers[R.THERE]! - registers[R.NEEDED]! >= registers[R.M0]!
}

/** Register NEEDED = SUM_MAINTENANCE of a bucket whose position of `held` lots has `after` instead. */
export function maintenanceAfter(state: State, pair: number, held: number, after: number, mark: number): void {
  const { registers } = state
  notionalOf(state, pair, held, mark)
  maintenanceMargin(state, pair)
  registers[R.NEEDED] = registers[R.SUM_MAINTENANCE]!
  if (held !== 0) registers[R.NEEDED] = registers[R.NEEDED]! - registers[R.MAINTENANCE]!
  notionalOf(state, pair, after, mark)
  maintenanceMargin(state, pair)
  registers[R.NEEDED] = registers[R.NEEDED]! + registers[R.MAINTENANCE]!
}

/**
 * True when the resting order `maker` will be filled, whatever else is filled before it by an order of `lots` that trades at `limit` at
 * worst and finds `best` as the best price. Scratch as of {@link bearsFill}.
 */
export function isCertain(state: State, maker: number, best: number, limit: number, lots: number): boolean {
  const { registers } = state
  const position = positionOf(state, maker)
  const held = get(state, position, POSITION.LOTS)
  const flags = get(state, maker, ORDER.FLAGS)
  const sell = flags & Flag.SELL
  const others = getF64(state, position, sell !== 0 ? POSITION.ASK_LOTS : POSITION.BID_LOTS)
  if ((flags & Flag.REDUCE_ONLY) !== 0 && others !== 0) return false
  const against = sell !== 0 ? held > 0 : held < 0
  const all = others + (against ? get(state, position, POSITION.REDUCE_LOTS) : 0)
  const pair = get(state, maker, ORDER.PAIR)
  const mark = markOf(state, pair)
  const worse = sell !== 0 ? mark - best : best - mark
  if (worse <= 0 && reduces(held, signed(flags, all))) return true
  const most = all < lots ? all : lots
  const bucket = bucketOf(state, position)
  bucketHealth(state, bucket)
  notionalOf(state, pair, most, worse > 0 ? worse : 0)
  registers[R.THERE] = registers[R.EQUITY]! + getI64(state, bucket, RISK_BUCKET.PENDING) - registers[R.NOTIONAL]!
  notionalOf(state, pair, most, sell !== 0 ? limit : best)
  const ppm = get(state, pairListingRow(state, pair), PAIR_LISTING.MOST_MAKER_PPM) + mostAddOn(state, get(state, maker, ORDER.ACCOUNT))
  // One atom more for each order, and for what the division leaves.
  registers[R.M0] = BigInt((get(state, position, POSITION.ORDERS) + 1) | 0) + BigInt(ppm | 0)
  if (ppm > 0) registers[R.THERE] = registers[R.THERE]! - (registers[R.NOTIONAL]! / 1_000_000n) * BigInt(ppm | 0) - registers[R.M0]!
  maintenanceAfter(state, pair, held, largerOf(held, held + signed(flags, most)), mark)
  return registers[R.THERE]! >= registers[R.NEEDED]!
}

/** The larger of two sizes of a position, whatever their signs. */
function largerOf(before: number, after: number): number {
  const [a, b] = [before < 0 ? -before : before, after < 0 ? -after : after]
  return a > b ? a : b
}

/**
 * True when an order of `lots` that is not placed yet bears all its fills, which are worth register COST and pay `ppm` and `addOn`: of a
 * bucket and position (-1: not made yet) into which it brings register BROUGHT. Prices of its path get worse, so what
 * it has lost on the way is never more than what it loses as a whole, or nothing. Scratch as of {@link bearsFill}.
 */
export function isTakerCertain(
  state: State, pair: number, flags: number, bucket: number, position: number, lots: number, ppm: number, addOn: number,
): boolean {
  if (originOf(flags) === Origin.LIQUIDATION) return true
  const { registers } = state
  const held = position < 0 ? 0 : get(state, position, POSITION.LOTS)
  const mark = markOf(state, pair)
  registers[R.SUM_MAINTENANCE] = 0n
  registers[R.THERE] = 0n
  if (bucket >= 0) {
    bucketHealth(state, bucket)
    registers[R.THERE] = registers[R.EQUITY]! + getI64(state, bucket, RISK_BUCKET.PENDING)
  }
  notionalOf(state, pair, lots, mark)
  registers[R.M1] = (flags & Flag.SELL) !== 0 ? registers[R.NOTIONAL]! - registers[R.COST]! : registers[R.COST]! - registers[R.NOTIONAL]!
  registers[R.THERE] = registers[R.THERE]! + registers[R.BROUGHT]!
  if (registers[R.M1]! > 0n) registers[R.THERE] = registers[R.THERE]! - registers[R.M1]!
  requiredForCost(state, ppm > 0 ? ppm : 0)
  requireAddOn(state, addOn)
  registers[R.THERE] = registers[R.THERE]! + registers[R.COST]! - registers[R.REQUIRED]!
  maintenanceAfter(state, pair, held, largerOf(held, held + signed(flags, lots)), mark)
  return registers[R.THERE]! >= registers[R.NEEDED]!
}
