/**
 * What an order of a perpetual must satisfy before it is accepted, in the place of the funds of a spot order (admission.ts), and what its
 * acceptance makes. Nothing is changed before it is accepted.
 *
 * In this order: mode of the pair; the bucket, or that there is none yet; reduce-only orders: a position to reduce, and room for them,
 * which is all they need. Others: a fresh index price, also of all else in the bucket, whose equity counts; leverage, for the tier of
 * what the position may become; maxPositionSize; the cap of open interest; rows for bucket and position; margin:
 *
 *   needed   requirement of the position with the order, at the order's leverage, less that without it (figures.ts: the worse of both
 *            sides, with what is lost at once against the mark), and the fee of its whole value at the higher of both rates
 *   there    equity + PENDING - requirement of the bucket; it may be below 0
 *   brought  needed - there, or riskBucketCollateral when that is more, from what is free in the margin account
 *
 * A LIMIT order counts with its value at its limit, a MARKET order with that of its path (book/perp_walk.ts). A resting reduce-only order
 * takes nothing from the requirement, and no order is admitted because another one would reduce.
 *
 * What was found stands in notes (state/balances.ts, N) until the order is accepted, and registers say what a refusal tells: REQUIRED and
 * AMOUNT. What an order brings is in register BROUGHT.
 */
import { Flag, Origin, originOf } from '../layout/flags.ts'
import { ORDER_COMMAND } from '../layout/command.ts'
import { PerpMode } from '../layout/margin.ts'
import { PositionReason } from '../layout/margin_events.ts'
import { read, readF64, readI64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { assert } from '../lib/assert.ts'
import { emitMarginOrder, emitPosition } from '../events/emit.ts'
import { largestAddOn, requireAddOn } from '../ledger/add_ons.ts'
import { requiredForCost } from '../ledger/fees.ts'
import {
  findBucket, findMarginAccount, isBucketOf, isInLiquidation, isOfFollow, makeBucket, makeParent,
  marginAccountOf, mayMakeBucket, namedBucket,
} from '../margin/buckets.ts'
import { hasFreshPrices } from '../margin/collateral.ts'
import { bucketFigures, markOf, requirementOf } from '../margin/figures.ts'
import { isUnconfirmed } from '../margin/index_jump.ts'
import { armBucket } from '../margin/guards.ts'
import { isFresh } from '../margin/mark_price.ts'
import { bringCollateral, coverPositions, giveBackCollateral } from '../margin/order_collateral.ts'
import {
  addLots, beginOrder, countOrder, dropOrder, linkOrder, positionOf, REDUCE_ORDERS_MAX, supposeOrder,
} from '../margin/order_lists.ts'
import { bucketOf, findPosition, giveUpPosition, makePosition, mayMakePosition } from '../margin/positions.ts'
import { initialMargin, maxLeverageAt, notionalOf } from '../margin/tiers.ts'
import { N, R } from '../state/balances.ts'
import { ACCOUNT, ORDER, SCALAR, TERMS } from '../state/columns.ts'
import {
  MARGIN_ACCOUNT, MarginMode, ORDER_MARGIN, ORDER_MARGIN_WORDS, PERP, PERP_TERMS, POSITION, RISK_BUCKET,
} from '../state/margin_rows.ts'
import {
  accountRow, add, addF64, clearWords, get, getF64, getI64, marginAccountAt, note, noted, now, orderMarginRow, perpRow, perpTermsRow,
  positionAt, positionRow, scalar, set, setF64, termsRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { PATH_TOO_LONG } from '../book/walk.ts'
import { walkPerp } from '../book/perp_walk.ts'
import { lotsToRest } from '../book/reduce_only.ts'
import { mostLots } from './most_lots.ts'

const C = ORDER_COMMAND.at
/** Of {@link meantMarginAccount}. */
export const UNKNOWN = -2
const RESTS_NOT = Flag.MARKET | Flag.IOC | Flag.FOK

/** Everything that an order of `account` on a perpetual must satisfy besides its terms. Number of a refusal; 0: it is accepted. */
export function checkMargin(
  state: State, command: Views, base: number, account: number, pair: number, flags: number, limit: number, lots: number,
): number {
  const reduces = (flags & Flag.REDUCE_ONLY) !== 0
  if ((flags & Flag.CLOSE) !== 0 && !reduces) return REFUSALS.VALIDATION_ERROR.number
  if ((flags & Flag.MASTER_FUNDED) !== 0) return REFUSALS.MASTER_BALANCE_NOT_ALLOWED.number
  let code = checkMode(state, pair, reduces)
  const closes = (flags & Flag.CLOSE) !== 0
  if (code === 0) code = closes ? findClosed(state, command, base, account, pair) : findPlace(state, command, base, account, flags)
  return code === 0 ? checkPlaced(state, command, base, account, pair, flags, limit, lots) : code
}

/** The margin account that an order means, -1: the parent, which is not made; {@link UNKNOWN} when it means none, which refuses it. */
export function meantMarginAccount(state: State, command: Views, base: number, account: number, pair: number, flags: number): number {
  const closes = (flags & Flag.CLOSE) !== 0
  const code = closes ? findClosed(state, command, base, account, pair) : findPlace(state, command, base, account, flags)
  return code === 0 ? noted(state, N.MARGIN_ACCOUNT) : UNKNOWN
}

/** What is left of {@link checkMargin} once margin account, bucket and position are noted. */
export function checkPlaced(
  state: State, command: Views, base: number, account: number, pair: number, flags: number, limit: number, lots: number,
): number {
  const reduces = (flags & Flag.REDUCE_ONLY) !== 0
  const code = checkBucket(state, flags) || checkCopies(state, flags)
  if (code !== 0) return code
  note(state, N.LOTS, lots)
  note(state, N.LEVERAGE, reduces ? 0 : read(command, base, C.leverage))
  state.registers[R.BROUGHT] = 0n
  if (reduces) return checkReduction(state, pair, flags, limit, lots, (flags & RESTS_NOT) === 0)
  state.registers[R.BROUGHT] = readI64(command, base, C.collateral)
  if (state.registers[R.BROUGHT]! < 0n) return REFUSALS.VALIDATION_ERROR.number
  return checkOpening(state, account, pair, flags, limit, lots)
}

/**
 * The same of the successor of the margin order at `row`, as if that one were not there: it keeps bucket and leverage, and brings what it
 * needs. Before anything of the original is touched, and again once it has ended ({@link readmit}): what its end leaves in the bucket and
 * what it gives back come to the same.
 */
export function checkSuccessorMargin(state: State, row: number, flags: number, limit: number, lots: number): number {
  if ((flags & Flag.MASTER_FUNDED) !== 0) return REFUSALS.MASTER_BALANCE_NOT_ALLOWED.number
  const left = get(state, row, ORDER.REMAINING)
  addLots(state, row, -left)
  const code = checkAgain(state, positionOf(state, row), flags, limit, lots)
  addLots(state, row, left)
  return code
}

function checkAgain(state: State, position: number, flags: number, limit: number, lots: number): number {
  const pair = get(state, position, POSITION.PAIR)
  const reduces = (flags & Flag.REDUCE_ONLY) !== 0
  note(state, N.MARGIN_ACCOUNT, marginAccountOf(state, bucketOf(state, position)))
  note(state, N.BUCKET, bucketOf(state, position))
  note(state, N.POSITION, position)
  note(state, N.LOTS, lots)
  note(state, N.LEVERAGE, reduces ? 0 : get(state, position, POSITION.LEVERAGE))
  state.registers[R.BROUGHT] = 0n
  let code = checkMode(state, pair, reduces)
  if (code === 0) code = checkBucket(state, flags)
  if (code !== 0) return code
  if (reduces) return checkReduction(state, pair, flags, limit, lots, false)
  return checkOpening(state, get(state, position, POSITION.ACCOUNT), pair, flags, limit, lots)
}

/** What the perpetual lets happen. */
function checkMode(state: State, pair: number, reduces: boolean): number {
  const mode = get(state, perpRow(state, pair), PERP.MODE)
  if (mode === PerpMode.NORMAL && !isUnconfirmed(state, pair)) return 0
  if (mode > PerpMode.REDUCE_ONLY) return REFUSALS.WRONG_PERP_MODE.number
  return reduces ? 0 : REFUSALS.PAIR_REDUCE_ONLY.number
}

/** Notes the position that a CLOSE order names, with its bucket. */
function findClosed(state: State, command: Views, base: number, account: number, pair: number): number {
  const number = read(command, base, C.position) - 1
  if (number < 0 || number >= scalar(state, SCALAR.POSITIONS_USED)) return REFUSALS.POSITION_NOT_FOUND.number
  const position = positionRow(state, number)
  const opened = getF64(state, position, POSITION.OPENED_SEQUENCE)
  const named = opened !== 0 && opened === readF64(command, base, C.namedSequence) &&
    get(state, position, POSITION.ACCOUNT) === account && get(state, position, POSITION.PAIR) === pair
  if (!named) return REFUSALS.POSITION_NOT_FOUND.number
  notePlace(state, marginAccountOf(state, bucketOf(state, position)), bucketOf(state, position), position)
  return 0
}

function notePlace(state: State, margin: number, bucket: number, position: number): void {
  note(state, N.MARGIN_ACCOUNT, margin)
  note(state, N.BUCKET, bucket)
  note(state, N.POSITION, position)
}

/** Notes margin account, bucket and position that the order names, or that its pair, mode and strategy key lead to. */
export function findPlace(state: State, command: Views, base: number, account: number, flags: number): number {
  const pair = read(command, base, C.pair)
  const mode = (flags & Flag.CROSS) !== 0 ? MarginMode.CROSS : MarginMode.ISOLATED
  const keyLow = read(command, base, C.keyLow)
  const keyHigh = read(command, base, C.keyHigh)
  const keyed = (keyLow | keyHigh) !== 0
  const named = read(command, base, C.bucket) - 1
  const owner = read(command, base, C.marginAccount) - 1
  const sequence = readF64(command, base, C.namedSequence)
  if (named >= 0) {
    const bucket = namedBucket(state, account, named, sequence)
    if (bucket < 0) return REFUSALS.NOT_FOUND.number
    const low = keyed ? keyLow : get(state, bucket, RISK_BUCKET.KEY_LOW)
    const high = keyed ? keyHigh : get(state, bucket, RISK_BUCKET.KEY_HIGH)
    const margin = marginAccountOf(state, bucket)
    const fits = isBucketOf(state, bucket, mode, pair, low, high) && (owner < 0 || marginAccountAt(state, margin) === owner)
    if (!fits) return REFUSALS.RISK_BUCKET_MISMATCH.number
    notePlace(state, margin, bucket, findPosition(state, bucket, pair))
    return 0
  }
  const margin = findMarginAccount(state, account, owner, sequence)
  if (owner >= 0 && margin < 0) return REFUSALS.NOT_FOUND.number
  const bucket = findBucket(state, margin, mode, pair, keyLow, keyHigh)
  if (bucket < 0 && keyed) return REFUSALS.STRATEGY_KEY_UNKNOWN.number
  notePlace(state, margin, bucket, findPosition(state, bucket, pair))
  return 0
}

/** Users leave a bucket alone that is being liquidated. */
function checkBucket(state: State, flags: number): number {
  const bucket = noted(state, N.BUCKET)
  if (bucket < 0 || originOf(flags) === Origin.LIQUIDATION) return 0
  return isInLiquidation(state, bucket) ? REFUSALS.RISK_BUCKET_IN_LIQUIDATION.number : 0
}

/** In the margin account of a follow only copies open anything; all others close positions, and nothing of them rests. */
function checkCopies(state: State, flags: number): number {
  if (!isOfFollow(state, noted(state, N.MARGIN_ACCOUNT)) || originOf(flags) === Origin.COPY) return 0
  const closes = (flags & Flag.REDUCE_ONLY) !== 0 && (flags & RESTS_NOT) !== 0
  return closes ? 0 : REFUSALS.COPY_MARGIN_ACCOUNT.number
}

/**
 * A position to reduce; the lots are cut to it, and since the rules 5 to what one order may have: what is left is for the next one.
 * `counts`: it is one more that may rest.
 */
function checkReduction(state: State, pair: number, flags: number, limit: number, lots: number, counts: boolean): number {
  const position = noted(state, N.POSITION)
  const held = position < 0 ? 0 : get(state, position, POSITION.LOTS)
  const size = (flags & Flag.SELL) !== 0 ? held : -held
  if (size <= 0) return REFUSALS.REDUCE_ONLY_REJECTED.number
  if (counts && get(state, position, POSITION.REDUCE_ORDERS) >= REDUCE_ORDERS_MAX) return REFUSALS.TOO_MANY_REDUCE_ONLY.number
  const cut = lots > size ? size : lots
  const most = scalar(state, SCALAR.RULES) < 5 ? cut : mostLots(state, pair, (flags & Flag.SELL) !== 0, limit)
  note(state, N.LOTS, cut < most ? cut : most)
  return most < 1 ? REFUSALS.ABOVE_MAX_ORDER_SIZE.number : 0
}

/** What an order must satisfy that may open or enlarge a position. Register BROUGHT is what it brings at least. */
function checkOpening(state: State, account: number, pair: number, flags: number, limit: number, lots: number): number {
  const { registers } = state
  const bucket = noted(state, N.BUCKET)
  if (!isFresh(state, pair) || (bucket >= 0 && !hasFreshPrices(state, bucket))) return REFUSALS.PRICE_STALE.number
  let size = lots
  if ((flags & Flag.MARKET) !== 0) {
    if (walkPerp(state, pair, flags, limit, lots, account) === PATH_TOO_LONG) return REFUSALS.ABOVE_MAX_ORDER_SIZE.number
    size = noted(state, N.FILLABLE)
  } else registers[R.COST] = BigInt(limit | 0) * BigInt(lots | 0) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
  let code = checkExposure(state, pair, flags & Flag.SELL, size, (flags & RESTS_NOT) === 0)
  if (code === 0 && noted(state, N.BUCKET) < 0) code = mayMakeBucket(state, account, noted(state, N.MARGIN_ACCOUNT))
  if (code === 0 && noted(state, N.POSITION) < 0) code = mayMakePosition(state, account)
  if (code !== 0) return code
  need(state, account, pair, flags & Flag.SELL, size)
  return checkCollateral(state)
}

/**
 * Leverage, size and open interest of what the position may become with `size` lots more on a side. What `rests` is held to maxPositionSize
 * as if the position of the other side were closed before it fills, as it may be: by reduce-only orders or deleveraging. So position and
 * orders of a side never come to more, whatever is filled first.
 */
function checkExposure(state: State, pair: number, sell: number, size: number, rests: boolean): number {
  const position = noted(state, N.POSITION)
  const held = position < 0 ? 0 : get(state, position, POSITION.LOTS)
  const longSide = held + (position < 0 ? 0 : getF64(state, position, POSITION.BID_LOTS))
  const shortSide = (position < 0 ? 0 : getF64(state, position, POSITION.ASK_LOTS)) - held
  const before = sell === 0 ? longSide : shortSide
  const other = sell === 0 ? shortSide : longSide
  const after = before + size
  const terms = perpTermsRow(state, pair)
  const leverage = noted(state, N.LEVERAGE)
  if (leverage < get(state, terms, PERP_TERMS.MIN_LEVERAGE)) return REFUSALS.LEVERAGE_TOO_LOW.number
  const exposure = after > other ? after : other
  notionalOf(state, pair, exposure > 0 ? exposure : 0, markOf(state, pair))
  if (leverage > maxLeverageAt(state, pair)) return REFUSALS.LEVERAGE_TOO_HIGH.number
  const signed = sell === 0 ? held : -held
  const largest = rests && signed < 0 ? after - signed : after
  if (largest > get(state, terms, PERP_TERMS.MAX_POSITION_LOTS)) return REFUSALS.POSITION_LIMIT_EXCEEDED.number
  const perp = perpRow(state, pair)
  const cap = getF64(state, perp, PERP.OPEN_CAP)
  const opening = (after > 0 ? after : 0) - (before > 0 ? before : 0)
  const capped = cap > 0 && opening > 0 && getF64(state, perp, PERP.OPEN_LOTS) + opening > cap
  return capped ? REFUSALS.OPEN_INTEREST_LIMIT.number : 0
}

/** Registers NEEDED and THERE of an order of `size` lots that is worth register COST. */
function need(state: State, account: number, pair: number, sell: number, size: number): void {
  const { registers } = state
  const bucket = noted(state, N.BUCKET)
  const position = noted(state, N.POSITION)
  const leverage = noted(state, N.LEVERAGE)
  registers[R.THERE] = 0n
  if (bucket >= 0) {
    bucketFigures(state, bucket)
    registers[R.THERE] = registers[R.EQUITY]! + getI64(state, bucket, RISK_BUCKET.PENDING) - registers[R.SUM_INITIAL]!
  }
  if (position >= 0) {
    requirementOf(state, position)
    registers[R.NEEDED] = registers[R.INITIAL]!
    const before = get(state, position, POSITION.LEVERAGE)
    supposeOrder(state, position, sell, size)
    set(state, position, POSITION.LEVERAGE, leverage)
    requirementOf(state, position)
    set(state, position, POSITION.LEVERAGE, before)
    supposeOrder(state, position, sell, -size)
    registers[R.NEEDED] = registers[R.INITIAL]! - registers[R.NEEDED]!
  } else {
    notionalOf(state, pair, size, markOf(state, pair))
    registers[R.M1] = sell === 0 ? registers[R.COST]! - registers[R.NOTIONAL]! : registers[R.NOTIONAL]! - registers[R.COST]!
    initialMargin(state, pair, leverage)
    registers[R.NEEDED] = registers[R.INITIAL]!
    if (registers[R.M1]! > 0n) registers[R.NEEDED] = registers[R.NEEDED]! + registers[R.M1]!
  }
  const terms = termsRow(state, pair)
  const owner = accountRow(state, account)
  const maker = get(state, terms, TERMS.MAKER_PPM) - get(state, owner, ACCOUNT.MAKER_DISCOUNT)
  const taker = get(state, terms, TERMS.TAKER_PPM) - get(state, owner, ACCOUNT.TAKER_DISCOUNT)
  const ppm = maker > taker ? maker : taker
  requiredForCost(state, ppm > 0 ? ppm : 0)
  requireAddOn(state, largestAddOn(state, account, 0, true))
  registers[R.NEEDED] = registers[R.NEEDED]! + registers[R.REQUIRED]! - registers[R.COST]!
}

/** Raises register BROUGHT to what is short, if that is free. Otherwise registers REQUIRED and AMOUNT say what there would have to be. */
function checkCollateral(state: State): number {
  const { registers } = state
  const margin = noted(state, N.MARGIN_ACCOUNT)
  registers[R.AMOUNT] = 0n
  if (margin >= 0) registers[R.AMOUNT] = getI64(state, margin, MARGIN_ACCOUNT.DEPOSITED) - getI64(state, margin, MARGIN_ACCOUNT.EARMARKED)
  registers[R.REQUIRED] = registers[R.NEEDED]! - registers[R.THERE]!
  if (registers[R.REQUIRED]! > registers[R.AMOUNT]!) {
    // Both with what is there in the bucket; a bucket that is short itself has nothing, and what it lacks is asked for too.
    if (registers[R.THERE]! > 0n) {
      registers[R.REQUIRED] = registers[R.NEEDED]!
      registers[R.AMOUNT] = registers[R.AMOUNT]! + registers[R.THERE]!
    }
    return REFUSALS.INSUFFICIENT_MARGIN.number
  }
  if (registers[R.BROUGHT]! > registers[R.AMOUNT]!) {
    registers[R.REQUIRED] = registers[R.BROUGHT]!
    return REFUSALS.INSUFFICIENT_COLLATERAL.number
  }
  if (registers[R.REQUIRED]! > registers[R.BROUGHT]!) registers[R.BROUGHT] = registers[R.REQUIRED]!
  return 0
}

/**
 * The order that was just written at `row` is accepted: it gets its place, which is made if there is none, and brings register BROUGHT. It
 * counts from now on, and {@link endAdmission} says whether it rests.
 */
export function beginMargin(state: State, row: number): void {
  const pair = get(state, row, ORDER.PAIR)
  const flags = get(state, row, ORDER.FLAGS)
  const account = get(state, row, ORDER.ACCOUNT)
  let margin = noted(state, N.MARGIN_ACCOUNT)
  let bucket = noted(state, N.BUCKET)
  let position = noted(state, N.POSITION)
  const mode = (flags & Flag.CROSS) !== 0 ? MarginMode.CROSS : MarginMode.ISOLATED
  if (margin < 0) margin = makeParent(state, account)
  if (bucket < 0) bucket = makeBucket(state, margin, mode, pair, 0, 0)
  if (position < 0) position = makePosition(state, bucket, pair)
  // A CLOSE order need not say which mode its position has.
  const cross = get(state, bucket, RISK_BUCKET.MODE) === MarginMode.CROSS ? Flag.CROSS : 0
  set(state, row, ORDER.FLAGS, (flags & ~Flag.CROSS) | cross)
  const extra = orderMarginRow(state, get(state, row, ORDER.SLOT))
  clearWords(state, extra, 0, ORDER_MARGIN_WORDS)
  set(state, extra, ORDER_MARGIN.POSITION, positionAt(state, position) + 1)
  set(state, extra, ORDER_MARGIN.LEVERAGE, noted(state, N.LEVERAGE))
  if ((flags & Flag.REDUCE_ONLY) === 0) chooseLeverage(state, position, noted(state, N.LEVERAGE))
  bringCollateral(state, row)
  beginOrder(state, row)
  note(state, N.MATCHED, row + 1)
}

/** The leverage of the newest order is that of the position; POSITION tells it of one that is open. */
function chooseLeverage(state: State, position: number, leverage: number): void {
  if (get(state, position, POSITION.LEVERAGE) === leverage) return
  set(state, position, POSITION.LEVERAGE, leverage)
  if (get(state, position, POSITION.LOTS) === 0) return
  addF64(state, position, POSITION.VERSION, 1)
  setF64(state, position, POSITION.UPDATED_AT, now(state))
  state.registers[R.PROFIT] = 0n
  emitPosition(state, position, PositionReason.LEVERAGE)
}

/**
 * Cuts the reduce-only order at `row`, which was matched, to what may rest beside the others of its position. False: nothing may. Others
 * rest as they are.
 */
export function mayRest(state: State, row: number): boolean {
  if ((get(state, row, ORDER.FLAGS) & Flag.REDUCE_ONLY) === 0) return true
  const rests = lotsToRest(state, positionOf(state, row), row)
  if (rests === 0) return false
  const less = get(state, row, ORDER.REMAINING) - rests
  add(state, row, ORDER.REMAINING, -less)
  add(state, row, ORDER.LOTS, -less)
  return true
}

/**
 * The order at `row` was matched. Its fills are covered. What is left of it `rests`, or has ended: then it gives its collateral back.
 * MARGIN_ORDER tells of it.
 */
export function endAdmission(state: State, row: number, rests: boolean): void {
  const position = positionOf(state, row)
  const bucket = bucketOf(state, position)
  const traded = get(state, row, ORDER.TRADES) !== 0
  note(state, N.MATCHED, 0)
  if (traded) coverPositions(state, bucket)
  if (rests) linkOrder(state, row)
  else {
    dropOrder(state, row)
    giveBackCollateral(state, row)
  }
  emitMarginOrder(state, row)
  if (!rests) {
    countOrder(state, position, -1)
    giveUpPosition(state, position)
  }
  if (traded) armBucket(state, bucket)
}

/** The position of the order at `row`, which is about to be replaced; its row stays until {@link readmit}. */
export function holdPosition(state: State, row: number): number {
  const position = positionOf(state, row)
  countOrder(state, position, 1)
  return position
}

/** Accepts the order that was just written at `row` as the successor of one of `position` that has ended. */
export function readmit(state: State, row: number, position: number): void {
  const { LOTS, PRICE, FLAGS } = ORDER
  const code = checkAgain(state, position, get(state, row, FLAGS), get(state, row, PRICE), get(state, row, LOTS))
  assert(code === 0, 'the end of an order leaves room for its successor')
  beginMargin(state, row)
  countOrder(state, position, -1)
}
