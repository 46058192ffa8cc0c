/**
 * What a sub-account has spent of its master.
 *
 * A spend limit counts, per (sub-account, asset), OUTSTANDING: the holds of its resting master-funded orders that spend the asset, and
 * SPENT: what their fills took since the UTC midnight RESET_AT. Both are kept whether or not the limit still exists or is active, so that
 * nothing is forgotten by deleting it. SPENT of an earlier day counts as nothing and is cleared by the next fill. It stops growing at
 * MAX_ISSUED, which is more than any daily limit leaves room for.
 *
 * A master-funded order was admitted under a limit, whose row stays, so counting always finds one. Orders without the flag pay one test.
 */
import { Flag } from '../layout/command.ts'
import { DAY_MS, dayOf } from '../lib/day.ts'
import { ORDER, PROFILE, SPEND_LIMIT, SpendLimitState, TERMS } from '../state/columns.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import {
  gain, get, getF64, getI64, limitRow, now, profileRow, setF64, setI64, signOf, termsRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { R, touchAccount } from '../state/balances.ts'

const USABLE = SpendLimitState.EXISTS | SpendLimitState.ACTIVE

/** The UTC midnight at or before a time, Unix ms. */
export const midnightOf = (time: number): number => dayOf(time) * DAY_MS

/** The asset that an order with these flags spends: base of a SELL, quote of a BUY. */
export const assetSpent = (state: State, pair: number, flags: number): number =>
  get(state, termsRow(state, pair), (flags & Flag.SELL) !== 0 ? TERMS.BASE : TERMS.QUOTE)

/** Address of the limit row of (sub-account, asset), whatever its state, or -1. */
export function addressOfLimit(state: State, sub: number, asset: number): number {
  let next = get(state, profileRow(state, sub), PROFILE.FIRST_LIMIT)
  while (next !== 0) {
    const row = limitRow(state, next - 1)
    if (get(state, row, SPEND_LIMIT.ASSET) === asset) return row
    next = get(state, row, SPEND_LIMIT.NEXT)
  }
  return -1
}

/**
 * True when `sub` may spend register REQUIRED more of its master's `asset` today. Register RELEASE is what a replaced order under
 * the same limit gives back first.
 */
export function maySpend(state: State, sub: number, asset: number): boolean {
  const { registers } = state
  const row = addressOfLimit(state, sub, asset)
  if (row < 0 || get(state, row, SPEND_LIMIT.STATE) !== USABLE) return false
  registers[R.RESERVED] = getI64(state, row, SPEND_LIMIT.OUTSTANDING) - registers[R.RELEASE]! + registers[R.REQUIRED]!
  if (registers[R.RESERVED]! > getI64(state, row, SPEND_LIMIT.MAX)) return false
  if (signOf(state, row, SPEND_LIMIT.DAILY) < 0) return true
  leftToday(state, row)
  return registers[R.RESERVED]! <= registers[R.TAKEN]!
}

/** Lowers register BUDGET to what the limit of `sub` leaves of its master's `asset`, whether or not it may spend that. */
export function roomToSpend(state: State, sub: number, asset: number): void {
  const { registers } = state
  const row = addressOfLimit(state, sub, asset)
  if (row < 0) registers[R.BUDGET] = 0n
  else registers[R.BUDGET] = getI64(state, row, SPEND_LIMIT.MAX) - getI64(state, row, SPEND_LIMIT.OUTSTANDING)
}

/** Register AMOUNT: what {@link maySpend} leaves of the limit of `sub` today, at least 0. */
export function leftToSpend(state: State, sub: number, asset: number): void {
  const { registers } = state
  const row = addressOfLimit(state, sub, asset)
  registers[R.AMOUNT] = 0n
  if (row < 0 || get(state, row, SPEND_LIMIT.STATE) !== USABLE) return
  registers[R.AMOUNT] = getI64(state, row, SPEND_LIMIT.MAX)
  if (signOf(state, row, SPEND_LIMIT.DAILY) >= 0) {
    leftToday(state, row)
    if (registers[R.TAKEN]! < registers[R.AMOUNT]!) registers[R.AMOUNT] = registers[R.TAKEN]!
  }
  registers[R.AMOUNT] = registers[R.AMOUNT]! + registers[R.RELEASE]! - getI64(state, row, SPEND_LIMIT.OUTSTANDING)
  if (registers[R.AMOUNT]! < 0n) registers[R.AMOUNT] = 0n
}

/** Register TAKEN: what the daily limit of the row, which has one, leaves today; negative when it was lowered below what was spent. */
function leftToday(state: State, row: number): void {
  const { registers } = state
  registers[R.TAKEN] = getI64(state, row, SPEND_LIMIT.DAILY)
  const today = getF64(state, row, SPEND_LIMIT.RESET_AT) + DAY_MS > now(state)
  if (today) registers[R.TAKEN] = registers[R.TAKEN]! - getI64(state, row, SPEND_LIMIT.SPENT)
}

/** Counts the hold in register HOLD of the master-funded order at `row`, which rests from now on, and marks its payer as changed. */
export function countHold(state: State, row: number): void {
  const { registers } = state
  registers[R.RESERVED] = registers[R.HOLD]!
  registers[R.TAKEN] = 0n
  count(state, row)
}

/** Counts what the master-funded order at `row` gave back, register RELEASE, and marks its payer as changed. */
export function countRelease(state: State, row: number): void {
  const { registers } = state
  registers[R.RESERVED] = -registers[R.RELEASE]!
  registers[R.TAKEN] = 0n
  count(state, row)
}

/** Counts a fill that registers QUOTE, BASE, TAKER_FEE and MAKER_FEE describe, for each of the two orders that is master-funded. */
export function countFill(state: State, taker: number, maker: number): void {
  const { registers } = state
  if ((get(state, taker, ORDER.FLAGS) & Flag.MASTER_FUNDED) !== 0) {
    registers[R.RESERVED] = 0n
    if ((get(state, taker, ORDER.FLAGS) & Flag.SELL) !== 0) registers[R.TAKEN] = registers[R.BASE]!
    else if (registers[R.TAKER_FEE]! > 0n) registers[R.TAKEN] = registers[R.QUOTE]! + registers[R.TAKER_FEE]!
    else registers[R.TAKEN] = registers[R.QUOTE]!
    if (isCharged(state, taker)) registers[R.TAKEN] = registers[R.TAKEN]! + registers[R.TAKER_ADD_ON]!
    count(state, taker)
  }
  if ((get(state, maker, ORDER.FLAGS) & Flag.MASTER_FUNDED) !== 0) {
    if ((get(state, maker, ORDER.FLAGS) & Flag.SELL) !== 0) registers[R.TAKEN] = registers[R.BASE]!
    else if (get(state, maker, ORDER.MAKER_PPM) > 0) registers[R.TAKEN] = registers[R.QUOTE]! + registers[R.MAKER_FEE]!
    else registers[R.TAKEN] = registers[R.QUOTE]!
    if (isCharged(state, maker)) registers[R.TAKEN] = registers[R.TAKEN]! + registers[R.MAKER_ADD_ON]!
    registers[R.RESERVED] = -registers[R.TAKEN]!
    count(state, maker)
  }
}

/** True when what the master-funded order at `row` spends has an add-on: a BUY spends quote atoms, with what its application charges. */
const isCharged = (state: State, row: number): boolean => (get(state, row, ORDER.FLAGS) & (Flag.SELL | Flag.ADD_ON)) === Flag.ADD_ON

/** Adds registers RESERVED and TAKEN to the limit of the master-funded order at `row`. Readers of its payer see a change. */
function count(state: State, row: number): void {
  const sub = get(state, row, ORDER.ACCOUNT)
  const limit = addressOfLimit(state, sub, assetSpent(state, get(state, row, ORDER.PAIR), get(state, row, ORDER.FLAGS)))
  gain(state, limit, SPEND_LIMIT.OUTSTANDING, R.RESERVED)
  if (getF64(state, limit, SPEND_LIMIT.RESET_AT) + DAY_MS <= now(state)) {
    setI64(state, limit, SPEND_LIMIT.SPENT, 0n)
    setF64(state, limit, SPEND_LIMIT.RESET_AT, midnightOf(now(state)))
  }
  gain(state, limit, SPEND_LIMIT.SPENT, R.TAKEN)
  if (getI64(state, limit, SPEND_LIMIT.SPENT) > MAX_ISSUED) setI64(state, limit, SPEND_LIMIT.SPENT, MAX_ISSUED)
  touchAccount(state, get(state, profileRow(state, sub), PROFILE.MASTER) - 1)
}
