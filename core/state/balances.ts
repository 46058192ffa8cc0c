/**
 * Balance rows: available and locked atoms per (account, asset), with a version that grows by one for every change.
 *
 * Amounts between functions go through a register, never as a BigInt argument: a BigInt that crosses a call is allocated.
 * Nothing here checks for sufficiency; callers did, and invariants.ts proves it.
 */
import { ACCOUNT, ACCOUNT_WORDS, BALANCE_WORDS, REGISTERS_AT } from './columns.ts'
import type { State } from './state.ts'

/** Registers, by use: indexes into state.i64. */
export const R = {
  /** Quote and base atoms of one fill, and its fees. */
  QUOTE: REGISTERS_AT, TAKER_FEE: REGISTERS_AT + 1, MAKER_FEE: REGISTERS_AT + 2, BASE: REGISTERS_AT + 3,
  /** What an order needs to be accepted; what it will lock. */
  REQUIRED: REGISTERS_AT + 4, HOLD: REGISTERS_AT + 5,
  /** Cost of the fill path, from walk.ts. */
  COST: REGISTERS_AT + 6, AMOUNT: REGISTERS_AT + 7,
  /** What a replaced order releases. */
  RELEASE: REGISTERS_AT + 8,
  /** Sequence of the order being replaced, the bits of an f64: a number beyond 31 bits that crosses a call is allocated too. */
  REPLACED: REGISTERS_AT + 9,
  /** What a master-funded order took from its payer, and how much more (or less) of it is on hold; spending.ts. */
  TAKEN: REGISTERS_AT + 10, RESERVED: REGISTERS_AT + 11,
} as const

/** Index of the row of (account, asset) in state.balances; its address in state.i64 is `state.balancesAt` more. */
export const balanceRow = (state: State, account: number, asset: number): number => (account * state.assetCount + asset) * BALANCE_WORDS

/** Marks an account as changed for readers of the shared columns. */
export function touchAccount(state: State, account: number): void {
  state.accounts[account * ACCOUNT_WORDS + ACCOUNT.VERSION]!++
}
