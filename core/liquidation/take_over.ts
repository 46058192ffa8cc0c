/**
 * Take-over: the insurance fund takes what is left of a position at the bankruptcy price, so that its bucket ends with nothing lost by
 * others, and closes it in its own time (unwind.ts).
 *
 * The fund takes it only if it can carry it: its equity afterwards is at least the initial margin floor of all its positions; what it then
 * has of the pair is not beyond the limit of the pair; it is in no liquidation and owes nothing itself; and market and owner have enough of
 * the day's cover left (margin/fund_limits.ts).
 *
 * Widest product: lots × (mark - price) × atoms of a tick and lot < 2^60, the notional of one position; the sum of floors < 2^61
 * (state/perp_terms.ts).
 */
import { LiquidationStatus, PositionReason } from '../layout/margin_events.ts'
import { R } from '../state/balances.ts'
import { TERMS } from '../state/columns.ts'
import { BucketState, PERP_TERMS, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { get, getI64, perpTermsRow, positionRow, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { bucketHealth, markOf } from '../margin/figures.ts'
import { fundBucket } from '../margin/fund.ts'
import { armBucket } from '../margin/guards.ts'
import { changeLots, findPosition, giveUpPosition, makePosition, mayMakePosition } from '../margin/positions.ts'
import { initialMargin, notionalOf } from '../margin/tiers.ts'
import { bankruptcyTick } from './bankruptcy.ts'
import { countTakeOver, mayTakeOver } from '../margin/fund_limits.ts'
import { notePosition, tell } from './tell.ts'

/** The fund takes the open position of the bucket. False: it cannot, and nothing was done. Register EQUITY is that of the bucket. */
export function takeOver(state: State, bucket: number, position: number): boolean {
  const fund = fundBucket(state)
  if (fund < 0 || fund === bucket || get(state, fund, RISK_BUCKET.STATE) !== BucketState.ACTIVE) return false
  const pair = get(state, position, POSITION.PAIR)
  const lots = get(state, position, POSITION.LOTS)
  const price = bankruptcyTick(state, position)
  let target = findPosition(state, fund, pair)
  if (target < 0 && mayMakePosition(state, get(state, fund, RISK_BUCKET.ACCOUNT)) !== 0) return false
  const after = (target < 0 ? 0 : get(state, target, POSITION.LOTS)) + lots
  if (Math.abs(after) > get(state, perpTermsRow(state, pair), PERP_TERMS.MAX_POSITION_LOTS)) return false
  if (!canCarry(state, fund, pair, lots, after, price) || !mayTakeOver(state, bucket, pair, lots, after, price)) return false
  if (target < 0) target = makePosition(state, fund, pair)
  notePosition(state, position)
  state.registers[R.FILL_FEE] = 0n
  changeLots(state, position, -lots, price, PositionReason.TAKE_OVER)
  changeLots(state, target, lots, price, PositionReason.TAKE_OVER)
  countTakeOver(state, bucket, pair, lots, price)
  giveUpPosition(state, position)
  giveUpPosition(state, target)
  armBucket(state, fund)
  state.registers[R.AMOUNT] = 0n
  tell(state, bucket, pair, LiquidationStatus.TAKEN_OVER, Math.abs(lots), price)
  return true
}

/**
 * True when the fund can carry `after` lots of `pair`, of which `lots` come to it at `price`. Closing and opening at one price change its
 * equity by the same: lots × (mark - price).
 */
function canCarry(state: State, fund: number, pair: number, lots: number, after: number, price: number): boolean {
  const { registers } = state
  bucketHealth(state, fund)
  const atoms = getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
  registers[R.MOVED] = BigInt(lots | 0) * BigInt((markOf(state, pair) - price) | 0) * atoms
  registers[R.MOVED] = -registers[R.EQUITY]! - registers[R.MOVED]!
  addFloor(state, pair, after)
  let next = get(state, fund, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const held = positionRow(state, next - 1)
    next = get(state, held, POSITION.NEXT)
    const of = get(state, held, POSITION.PAIR)
    if (of !== pair) addFloor(state, of, get(state, held, POSITION.LOTS))
  }
  return registers[R.MOVED]! <= 0n
}

/** Adds the initial margin floor of so many lots of `pair` to register MOVED, what the fund lacks. */
function addFloor(state: State, pair: number, lots: number): void {
  const { registers } = state
  notionalOf(state, pair, lots, markOf(state, pair))
  initialMargin(state, pair, 0)
  registers[R.MOVED] = registers[R.MOVED]! + registers[R.INITIAL]!
}
