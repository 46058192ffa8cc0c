/**
 * Positions as rows, and what changes them: lots at a price, and funding.
 *
 * A position has LOTS s (long above 0) and COST c, what its lots were bought for, signed as they are. t: quote atoms of a lot at one tick.
 *
 *   opening q lots at p      c += q × p × t
 *   closing k of |s| lots    part of the cost = c / |s| × k + c % |s| × k / |s|, truncated; profit = signed value - part
 *   funding                  F = floor(-s × (CUMULATIVE - FUNDED_TO) / 10^6), settled before every change of lots
 *
 * Exact: a fill takes its value from R - c of the buyer and gives it to R - c of the seller, whatever the parts of the costs are, because
 * what the truncation leaves stays in the cost and is realised with the last lot. Receivers of funding get the floor and payers pay the
 * ceiling of it; the rest stays in the funding pool.
 *
 * A row is there while it has lots or resting orders ({@link giveUpPosition}). Its identity is (OPENED_SEQUENCE, row): turning a position
 * closes one and opens another. Within one command a position is changed in one direction only, so it is opened once at most.
 *
 * **Versions of balances.** Funding, liquidation and auto-deleveraging move no balance, but the owner is told of them with the row of his
 * collateral asset, and listeners ignore a row whose version is not higher than the last one (specification, Events, rule 5). So each of
 * them gives that row a new version ({@link touchCollateral}): of funding when it is settled, never for all positions at once.
 *
 * **Widest products.** COST below 2^60: COST / |s| × k below that, COST % |s| × k below 2^62. Funding: figures.ts.
 */
import { PositionReason } from '../layout/margin_events.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { emitFundingPayment, emitPosition } from '../events/margin.ts'
import { R } from '../state/balances.ts'
import { ACCOUNT, SCALAR, TERMS, TOTAL } from '../state/columns.ts'
import { MARGIN_TOTAL, MarginMode, PERP, POSITION, POSITION_WORDS, RISK_BUCKET } from '../state/margin_rows.ts'
import {
  add, addF64, addScalar, balanceRow, bucketAt, bucketRow, clearWords, gain, get, getF64, getI64, load, lose, marginTotalRow, now, perpRow,
  positionAt, positionRow, scalar, sequence, set, setF64, setI64, setScalar, termsRow, totalRow, touchBalance, wordOf,
} from '../state/rows.ts'
import { countForFamily, familyMayTake, familyRow } from '../state/shares.ts'
import type { State } from '../state/state.ts'
import { touchBucket, useBucket } from './buckets.ts'
import { endWithPosition } from './conditionals.ts'
import { fundingOf } from './figures.ts'
import { disarm } from './guard_heap.ts'
import { noteLead } from './leads.ts'
import { forgetMet } from './met.ts'
import { enlistBucket } from './liquidation_list.ts'

/** The bucket of a position. */
export const bucketOf = (state: State, position: number): number => bucketRow(state, get(state, position, POSITION.BUCKET))

/** The row of `pair` in the bucket (-1: of none), or -1. Walks at most one row a perpetual. */
export function findPosition(state: State, bucket: number, pair: number): number {
  if (bucket < 0) return -1
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const row = positionRow(state, next - 1)
    if (get(state, row, POSITION.PAIR) === pair) return row
    next = get(state, row, POSITION.NEXT)
  }
  return -1
}

/** Why `account` may not have a position row more: number of a refusal; 0: it may. */
export const mayMakePosition = (state: State, account: number): number =>
  familyMayTake(state, account, ACCOUNT.FAMILY_POSITIONS, scalar(state, SCALAR.POSITIONS_LIVE), state.genesis.limits.positions)
    ? 0 : REFUSALS.TOO_MANY_POSITIONS.number

/** A row for `pair` in the bucket, which has none, without lots and orders. {@link mayMakePosition} said that there may be one. */
export function makePosition(state: State, bucket: number, pair: number): number {
  const free = scalar(state, SCALAR.POSITIONS_FREE)
  const number = free === 0 ? scalar(state, SCALAR.POSITIONS_USED) : free - 1
  const row = positionRow(state, number)
  if (free === 0) addScalar(state, SCALAR.POSITIONS_USED, 1)
  else setScalar(state, SCALAR.POSITIONS_FREE, get(state, row, POSITION.NEXT))
  addScalar(state, SCALAR.POSITIONS_LIVE, 1)
  const account = get(state, bucket, RISK_BUCKET.ACCOUNT)
  countForFamily(state, account, ACCOUNT.FAMILY_POSITIONS)
  const version = getF64(state, row, POSITION.VERSION)
  clearWords(state, row, 0, POSITION_WORDS)
  setF64(state, row, POSITION.VERSION, version)
  set(state, row, POSITION.ACCOUNT, account)
  set(state, row, POSITION.BUCKET, bucketAt(state, bucket))
  set(state, row, POSITION.PAIR, pair)
  set(state, row, POSITION.NEXT, get(state, bucket, RISK_BUCKET.FIRST_POSITION))
  set(state, bucket, RISK_BUCKET.FIRST_POSITION, number + 1)
  add(state, bucket, RISK_BUCKET.POSITIONS, 1)
  useBucket(state, bucket)
  return row
}

/** Gives the row back when it has neither lots nor resting orders; otherwise it stays. True when it went. */
export function giveUpPosition(state: State, row: number): boolean {
  if (get(state, row, POSITION.LOTS) !== 0 || get(state, row, POSITION.ORDERS) !== 0) return false
  disarm(state, row)
  const bucket = bucketOf(state, row)
  const number = positionAt(state, row)
  const following = get(state, row, POSITION.NEXT)
  const first = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  if (first === number + 1) set(state, bucket, RISK_BUCKET.FIRST_POSITION, following)
  else {
    let before = positionRow(state, first - 1)
    while (get(state, before, POSITION.NEXT) !== number + 1) before = positionRow(state, get(state, before, POSITION.NEXT) - 1)
    set(state, before, POSITION.NEXT, following)
  }
  add(state, bucket, RISK_BUCKET.POSITIONS, -1)
  const account = get(state, row, POSITION.ACCOUNT)
  const version = getF64(state, row, POSITION.VERSION)
  clearWords(state, row, 0, POSITION_WORDS)
  setF64(state, row, POSITION.VERSION, version)
  set(state, row, POSITION.NEXT, scalar(state, SCALAR.POSITIONS_FREE))
  setScalar(state, SCALAR.POSITIONS_FREE, number + 1)
  addScalar(state, SCALAR.POSITIONS_LIVE, -1)
  add(state, familyRow(state, account), ACCOUNT.FAMILY_POSITIONS, -1)
  return true
}

/** The position changed: its version and time, and those of its bucket. */
function touchPosition(state: State, row: number, bucket: number): void {
  addF64(state, row, POSITION.VERSION, 1)
  setF64(state, row, POSITION.UPDATED_AT, now(state))
  touchBucket(state, bucket)
}

/** What the owner of the position at `row` is told of with his balance happened: a new version of it. */
function touchCollateral(state: State, row: number): void {
  touchBalance(state, balanceRow(state, get(state, row, POSITION.ACCOUNT), state.collateralAsset))
}

/** Whether listeners to balances are told of a change for `reason`. */
const isToldOfBalance = (reason: number): boolean =>
  reason === PositionReason.LIQUIDATION || reason === PositionReason.TAKE_OVER || reason === PositionReason.DELEVERAGE

/** Settles the funding of a position that has some to settle; FUNDING_PAYMENT says how much. Register FUNDING = what it got. */
export function settleFunding(state: State, row: number): void {
  const perp = perpRow(state, get(state, row, POSITION.PAIR))
  if (getI64(state, row, POSITION.FUNDED_TO) === getI64(state, perp, PERP.CUMULATIVE)) {
    state.registers[R.FUNDING] = 0n
    return
  }
  fundingOf(state, row)
  if (get(state, row, POSITION.LOTS) !== 0) {
    const bucket = bucketOf(state, row)
    gain(state, row, POSITION.FUNDING, R.FUNDING)
    gain(state, bucket, RISK_BUCKET.REALIZED, R.FUNDING)
    gain(state, bucket, RISK_BUCKET.LIFETIME, R.FUNDING)
    lose(state, marginTotalRow(state, state.collateralAsset), MARGIN_TOTAL.FUNDING_POOL, R.FUNDING)
    touchPosition(state, row, bucket)
    touchCollateral(state, row)
    emitFundingPayment(state, row)
  }
  setI64(state, row, POSITION.FUNDED_TO, getI64(state, perp, PERP.CUMULATIVE))
}

/**
 * Changes a position by `lots` (signed, not 0) at `price` ticks and emits POSITION: opening or enlarging it, closing of it, or both, one
 * after the other. Funding is settled first. Register FILL_FEE is the fee of it, which the bucket pays and the house gets: of a fill that
 * turns the position in parts by its lots. It is 0 afterwards. Register PROFIT = what the last part realised.
 *
 * The guards of the bucket are those of before; only a position that was closed has none. Whoever changed all that he is going to change
 * arms the bucket (guards.ts), and gives the row up if it is not needed.
 */
export function changeLots(state: State, row: number, lots: number, price: number, reason: number): void {
  const { registers } = state
  settleFunding(state, row)
  const held = get(state, row, POSITION.LOTS)
  if (scalar(state, SCALAR.LEADERS_USED) !== 0) noteLead(state, row, lots, price)
  if (held === 0 || (held > 0) === (lots > 0)) {
    openLots(state, row, lots, price)
    payFee(state, row)
    finish(state, row, reason)
    return
  }
  const size = held < 0 ? -held : held
  const asked = lots < 0 ? -lots : lots
  if (asked <= size) {
    closeLots(state, row, asked, price)
    payFee(state, row)
    finish(state, row, reason)
    return
  }
  // The fee of the part that closes, truncated; that of the other is the rest.
  registers[R.M5] = registers[R.FILL_FEE]!
  registers[R.M4] = (registers[R.M5]! % BigInt(asked | 0)) * BigInt(size | 0)
  registers[R.FILL_FEE] = (registers[R.M5]! / BigInt(asked | 0)) * BigInt(size | 0) + registers[R.M4]! / BigInt(asked | 0)
  registers[R.M5] = registers[R.M5]! - registers[R.FILL_FEE]!
  closeLots(state, row, size, price)
  payFee(state, row)
  finish(state, row, reason)
  registers[R.FILL_FEE] = registers[R.M5]!
  openLots(state, row, lots < 0 ? size - asked : asked - size, price)
  payFee(state, row)
  finish(state, row, reason)
}

/** Lots of longs, which are those of all shorts: changed with the long ones. */
function countLots(state: State, row: number, before: number, after: number): void {
  const perp = perpRow(state, get(state, row, POSITION.PAIR))
  addF64(state, perp, PERP.OPEN_LOTS, (after > 0 ? after : 0) - (before > 0 ? before : 0))
  if ((before === 0) !== (after === 0)) add(state, perp, PERP.POSITIONS, before === 0 ? 1 : -1)
}

/** Adds signed `lots` on the side where the position stands, or opens it. */
function openLots(state: State, row: number, lots: number, price: number): void {
  const { registers } = state
  const pair = get(state, row, POSITION.PAIR)
  const held = get(state, row, POSITION.LOTS)
  if (held === 0) {
    setF64(state, row, POSITION.OPENED_SEQUENCE, sequence(state))
    setF64(state, row, POSITION.OPENED_AT, now(state))
    setI64(state, row, POSITION.REALIZED, 0n)
    setI64(state, row, POSITION.FUNDING, 0n)
    setI64(state, row, POSITION.FEES, 0n)
    forgetMet(state, row)
    noteScope(state, bucketOf(state, row), pair)
  }
  registers[R.M0] = BigInt(lots | 0) * BigInt(price | 0) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
  gain(state, row, POSITION.COST, R.M0)
  registers[R.PROFIT] = 0n
  set(state, row, POSITION.LOTS, held + lots)
  countLots(state, row, held, held + lots)
}

/** Takes `lots` (above 0) of those that it has from the position. Registers PROFIT and COST_PART say what that realised and took. */
function closeLots(state: State, row: number, lots: number, price: number): void {
  const { registers } = state
  const held = get(state, row, POSITION.LOTS)
  const size = held < 0 ? -held : held
  const left = held < 0 ? held + lots : held - lots
  const terms = termsRow(state, get(state, row, POSITION.PAIR))
  registers[R.M0] = getI64(state, row, POSITION.COST)
  registers[R.M1] = (registers[R.M0]! % BigInt(size | 0)) * BigInt(lots | 0)
  registers[R.COST_PART] = (registers[R.M0]! / BigInt(size | 0)) * BigInt(lots | 0) + registers[R.M1]! / BigInt(size | 0)
  registers[R.PROFIT] = BigInt((held - left) | 0) * BigInt(price | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  registers[R.PROFIT] = registers[R.PROFIT]! - registers[R.COST_PART]!
  lose(state, row, POSITION.COST, R.COST_PART)
  gain(state, row, POSITION.REALIZED, R.PROFIT)
  const bucket = bucketOf(state, row)
  gain(state, bucket, RISK_BUCKET.REALIZED, R.PROFIT)
  gain(state, bucket, RISK_BUCKET.LIFETIME, R.PROFIT)
  set(state, row, POSITION.LOTS, left)
  countLots(state, row, held, left)
}

/** The bucket pays register FILL_FEE (below 0: it gets a rebate) to the house; the position counts it. The register is 0 afterwards. */
function payFee(state: State, row: number): void {
  const { registers } = state
  const bucket = bucketOf(state, row)
  gain(state, row, POSITION.FEES, R.FILL_FEE)
  lose(state, bucket, RISK_BUCKET.REALIZED, R.FILL_FEE)
  lose(state, bucket, RISK_BUCKET.LIFETIME, R.FILL_FEE)
  gain(state, totalRow(state, state.collateralAsset), TOTAL.FEES, R.FILL_FEE)
  registers[R.FILL_FEE] = 0n
}

/** Tells of a change, and closes a position without lots: it has its id once more in what is told, and none from then on. */
function finish(state: State, row: number, reason: number): void {
  touchPosition(state, row, bucketOf(state, row))
  if (isToldOfBalance(reason)) touchCollateral(state, row)
  emitPosition(state, row, reason)
  if (get(state, row, POSITION.LOTS) !== 0) return
  if (get(state, row, POSITION.FIRST_CONDITIONAL) !== 0) endWithPosition(state, row)
  setF64(state, row, POSITION.OPENED_SEQUENCE, 0)
  disarm(state, row)
  // No guard will find it.
  if (owes(state, bucketOf(state, row))) enlistBucket(state, bucketOf(state, row))
}

/** True when the bucket has no open position, and less than nothing. */
function owes(state: State, bucket: number): boolean {
  const { registers } = state
  load(state, bucket, RISK_BUCKET.ALLOCATED, R.M0)
  load(state, bucket, RISK_BUCKET.REALIZED, R.M1)
  registers[R.M0] = registers[R.M0]! + registers[R.M1]!
  if (registers[R.M0]! >= 0n) return false
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    if (get(state, position, POSITION.LOTS) !== 0) return false
    next = get(state, position, POSITION.NEXT)
  }
  return true
}

/** A cross bucket has traded the pair. */
function noteScope(state: State, bucket: number, pair: number): void {
  if (get(state, bucket, RISK_BUCKET.MODE) !== MarginMode.CROSS) return
  const at = wordOf(bucket, RISK_BUCKET.SCOPE) + (pair >>> 5)
  state.i32[at] = state.i32[at]! | (1 << (pair & 31))
}
