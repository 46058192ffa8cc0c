/**
 * Who pays for an order, and what it holds while it rests.
 *
 * The payer of an order is its owner, or its owner's master when it carries Flag.MASTER_FUNDED: funds check, hold, fills, fees and
 * release go to the payer's balances; the order, its rates and its place among the owner's orders stay the owner's.
 *
 * The hold of an order is what its remaining lots can cost: base of a SELL, value at its limit and the fee still to come of a BUY. It
 * moves from available to locked when the order rests, shrinks with each fill (settle.ts) and goes back when the order ends.
 */
import { Flag } from '../layout/command.ts'
import { BALANCE, ORDER, PROFILE, TERMS } from '../state/columns.ts'
import { balanceRow, gain, get, getI64, lose, profileRow, setI64, termsRow, touchBalance } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { R } from '../state/balances.ts'
import { holdOfBid } from './fees.ts'
import { assetSpent, countHold, countRelease } from './spending.ts'

/** The account whose balances pay for an order of `account` with these flags; -1: a master asked for its master. */
export function payerFor(state: State, account: number, flags: number): number {
  return (flags & Flag.MASTER_FUNDED) === 0 ? account : get(state, profileRow(state, account), PROFILE.MASTER) - 1
}

/** The account that pays for the order at `row`. */
export const payerOf = (state: State, row: number): number => payerFor(state, get(state, row, ORDER.ACCOUNT), get(state, row, ORDER.FLAGS))

/** True when the order at `row` and an order of `account` that `payer` pays for must not trade with each other. */
export const isOwn = (state: State, row: number, account: number, payer: number): boolean =>
  get(state, row, ORDER.ACCOUNT) === account || payerOf(state, row) === payer

/** The balance that the order at `row` spends. */
const balanceOf = (state: State, row: number): number =>
  balanceRow(state, payerOf(state, row), assetSpent(state, get(state, row, ORDER.PAIR), get(state, row, ORDER.FLAGS)))

const isFunded = (state: State, row: number): boolean => (get(state, row, ORDER.FLAGS) & Flag.MASTER_FUNDED) !== 0

/** Locks what an order needs for the lots that rest, of the account that pays for it. */
export function lockRemaining(state: State, row: number): void {
  const { registers } = state
  const terms = termsRow(state, get(state, row, ORDER.PAIR))
  const remaining = get(state, row, ORDER.REMAINING)
  if ((get(state, row, ORDER.FLAGS) & Flag.SELL) === 0) holdOfBid(state, row, terms, remaining)
  else registers[R.HOLD] = BigInt(remaining | 0) * getI64(state, terms, TERMS.LOT_ATOMS)
  setI64(state, row, ORDER.HOLD, registers[R.HOLD]!)
  const balance = balanceOf(state, row)
  lose(state, balance, BALANCE.AVAILABLE, R.HOLD)
  gain(state, balance, BALANCE.LOCKED, R.HOLD)
  touchBalance(state, balance)
  if (isFunded(state, row)) countHold(state, row)
}

/** Gives the hold of the order at `row` back to whoever pays for it; register RELEASE says how much it was. */
export function releaseHold(state: State, row: number): void {
  state.registers[R.RELEASE] = getI64(state, row, ORDER.HOLD)
  setI64(state, row, ORDER.HOLD, 0n)
  const balance = balanceOf(state, row)
  gain(state, balance, BALANCE.AVAILABLE, R.RELEASE)
  lose(state, balance, BALANCE.LOCKED, R.RELEASE)
  touchBalance(state, balance)
  if (isFunded(state, row)) countRelease(state, row)
}
