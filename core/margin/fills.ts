/**
 * A fill of a perpetual: instead of balances (ledger/settle.ts) it moves lots from one position to another, fees from the buckets to the
 * house, and commits collateral that the two orders brought. Value changes hands as realised profit and cost (positions.ts), so nothing is
 * paid now but the fees.
 *
 * **Makers are looked at.** A taker was checked when it was admitted; a resting order may be old. One that opens or enlarges its position
 * is filled only if its bucket is healthy afterwards: equity at the mark and PENDING, less the fee, at least the maintenance margin
 * ({@link bearsFill}).
 * Otherwise it is ended instead, INSUFFICIENT_MARGIN, and matching goes on: it was met, and not filled. While the index is stale the mark
 * is the last one there was: else whoever closes a position then would end everybody's orders, and find nobody to trade with.
 *
 * **What is certain beforehand** ({@link isCertain}), for whoever must know a path before it is walked (book/perp_walk.ts): that a maker
 * will be filled in any case, also when other orders of its position were filled before it in the same command.
 *   - Reduce-only: no other orders of its position rest on that side, so that nothing shrinks it.
 *   - Otherwise: all orders of its position on that side only reduce it; or the bucket stays healthy when of all of them so many are filled
 *     as the path has lots, each at the best price of the book, which is their worst, and at the highest maker rate.
 * Both hold at any later moment of the command if they hold before it: each fill takes from the lots still to come what it takes from the
 * equity at most, and what it commits is pending before.
 *
 * Widest products: values of fills and of all orders of one side below 2^61 (perp_terms.ts); a value is divided by 10^6 before it meets a
 * rate.
 */
import { Flag, Origin, originOf } from '../layout/flags.ts'
import { PositionReason } from '../layout/margin_events.ts'
import { R } from '../state/balances.ts'
import { ACCOUNT, ORDER, TERMS } from '../state/columns.ts'
import { PAIR_LISTING } from '../state/listing_rows.ts'
import { POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { accountRow, get, getF64, getI64, pairListingRow, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { chargeFill, feeOfFill } from '../ledger/fees.ts'
import { bucketHealth, markOf } from './figures.ts'
import { commitCollateral } from './order_collateral.ts'
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
  if (lots === get(state, maker, ORDER.REMAINING)) unlinkOrder(state, maker)
  else addLots(state, maker, -lots)
  fillIncoming(state, taker, lots)
  const liquidates = originOf(get(state, taker, ORDER.FLAGS)) === Origin.LIQUIDATION
  fillSide(state, maker, sell === 0 ? -lots : lots, lots, price, R.MAKER_FEE, PositionReason.TRADE)
  const reason = liquidates ? PositionReason.LIQUIDATION : PositionReason.TRADE
  fillSide(state, taker, sell === 0 ? lots : -lots, lots, price, R.TAKER_FEE, reason)
}

/** The part of one order: `change` is its lots, signed. */
function fillSide(state: State, row: number, change: number, lots: number, price: number, fee: number, reason: number): void {
  const { registers } = state
  const position = positionOf(state, row)
  commitCollateral(state, row, bucketOf(state, position), lots)
  registers[R.FILL_FEE] = registers[fee]!
  changeLots(state, position, change, price, reason)
}

/** True when `change` lots, signed, only reduce a position of `held`. */
const reduces = (held: number, change: number): boolean => (change < 0 ? held + change >= 0 : held + change <= 0)

/** Lots, signed, that `lots` of an order with these flags are for its position. */
const signed = (flags: number, lots: number): number => ((flags & Flag.SELL) !== 0 ? -lots : lots)

/** True when the resting order `maker` may be filled for `lots` at `price`. Scratch: all registers of figures, THERE and NEEDED. */
export function bearsFill(state: State, maker: number, price: number, lots: number): boolean {
  const { registers } = state
  const position = positionOf(state, maker)
  const held = get(state, position, POSITION.LOTS)
  const change = signed(get(state, maker, ORDER.FLAGS), lots)
  if (reduces(held, change)) return true
  const pair = get(state, maker, ORDER.PAIR)
  const terms = termsRow(state, pair)
  const mark = markOf(state, pair)
  const bucket = bucketOf(state, position)
  bucketHealth(state, bucket)
  registers[R.QUOTE] = BigInt(price | 0) * BigInt(lots | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  feeOfFill(state, maker, get(state, maker, ORDER.MAKER_PPM), R.MAKER_FEE)
  registers[R.THERE] = BigInt(change | 0) * BigInt((mark - price) | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  registers[R.THERE] = registers[R.EQUITY]! + getI64(state, bucket, RISK_BUCKET.PENDING) + registers[R.THERE]! - registers[R.MAKER_FEE]!
  maintenanceAfter(state, pair, held, held + change, mark)
  return registers[R.THERE]! >= registers[R.NEEDED]!
}

/** Register NEEDED = SUM_MAINTENANCE of a bucket whose position of `held` lots has `after` instead. */
function maintenanceAfter(state: State, pair: number, held: number, after: number, mark: number): void {
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
  if ((flags & Flag.REDUCE_ONLY) !== 0) return others === 0
  const against = sell !== 0 ? held > 0 : held < 0
  const all = others + (against ? get(state, position, POSITION.REDUCE_LOTS) : 0)
  const most = all < lots ? all : lots
  const change = signed(flags, most)
  if (reduces(held, signed(flags, all))) return true
  const pair = get(state, maker, ORDER.PAIR)
  const mark = markOf(state, pair)
  const bucket = bucketOf(state, position)
  bucketHealth(state, bucket)
  const worse = sell !== 0 ? mark - best : best - mark
  notionalOf(state, pair, most, worse > 0 ? worse : 0)
  registers[R.THERE] = registers[R.EQUITY]! + getI64(state, bucket, RISK_BUCKET.PENDING) - registers[R.NOTIONAL]!
  notionalOf(state, pair, most, sell !== 0 ? limit : best)
  const ppm = get(state, pairListingRow(state, pair), PAIR_LISTING.MOST_MAKER_PPM)
  // One atom more for each order, and for what the division leaves.
  registers[R.M0] = BigInt((get(state, position, POSITION.ORDERS) + 1) | 0) + BigInt(ppm | 0)
  if (ppm > 0) registers[R.THERE] = registers[R.THERE]! - (registers[R.NOTIONAL]! / 1_000_000n) * BigInt(ppm | 0) - registers[R.M0]!
  const size = held < 0 ? -held : held
  const after = held + change < 0 ? -held - change : held + change
  maintenanceAfter(state, pair, held, after > size ? after : size, mark)
  return registers[R.THERE]! >= registers[R.NEEDED]!
}
