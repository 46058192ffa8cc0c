/**
 * Balance rows: available and locked atoms per (account, asset), with a version that grows by one for every change.
 *
 * Amounts come in a register (state.registers), never as a BigInt argument: a BigInt that crosses a call is allocated.
 * Nothing here checks for sufficiency; callers did, and invariants.ts proves it.
 */
import { ACCOUNT, ACCOUNT_WORDS, BALANCE, BALANCE_WORDS } from '../engine/columns.ts'
import type { State } from '../engine/state.ts'

/** Register numbers, by use. */
export const R = {
  /** Quote atoms of one fill. */
  QUOTE: 0, TAKER_FEE: 1, MAKER_FEE: 2, BASE: 3,
  /** What an order needs to be accepted; what it will lock. */
  REQUIRED: 4, HOLD: 5,
  /** Cost of the fill path, from walk.ts. */
  COST: 6, AMOUNT: 7,
  /** What a replaced order releases. */
  RELEASE: 8,
} as const

/** Index of the row of (account, asset) in state.balances. */
export const balanceRow = (state: State, account: number, asset: number): number => (account * state.assetCount + asset) * BALANCE_WORDS

/** Marks an account as changed for readers of the shared columns. */
export function touchAccount(state: State, account: number): void {
  state.accounts[account * ACCOUNT_WORDS + ACCOUNT.VERSION]!++
}

/** available -= register HOLD, locked += register HOLD. */
export function lock(state: State, row: number): void {
  const { balances, registers } = state
  balances[row + BALANCE.AVAILABLE] = balances[row + BALANCE.AVAILABLE]! - registers[R.HOLD]!
  balances[row + BALANCE.LOCKED] = balances[row + BALANCE.LOCKED]! + registers[R.HOLD]!
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
}

/** locked -= register RELEASE, available += register RELEASE. */
export function unlock(state: State, row: number): void {
  const { balances, registers } = state
  balances[row + BALANCE.AVAILABLE] = balances[row + BALANCE.AVAILABLE]! + registers[R.RELEASE]!
  balances[row + BALANCE.LOCKED] = balances[row + BALANCE.LOCKED]! - registers[R.RELEASE]!
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
}
