/**
 * Registers: BigInt scratch, because a BigInt that crosses a call is allocated. Amounts between functions go through one of these, and so
 * do sums before they are compared or divided.
 */
import { ACCOUNT } from './columns.ts'
import { accountRow, add } from './rows.ts'
import type { State } from './state.ts'

/** Registers, by use: indexes into state.registers. */
export const R = {
  /** Quote and base atoms of one fill, and its fees. */
  QUOTE: 0, TAKER_FEE: 1, MAKER_FEE: 2, BASE: 3,
  /** What an order needs to be accepted; what it will lock. */
  REQUIRED: 4, HOLD: 5,
  /** Cost of the fill path, from walk.ts. */
  COST: 6, AMOUNT: 7,
  /** What a replaced order releases. */
  RELEASE: 8,
  /** Sequence of the order being replaced, the bits of an f64: a number beyond 31 bits that crosses a call is allocated too. */
  REPLACED: 9,
  /** What a master-funded order took from its payer, and how much more (or less) of it is on hold; spending.ts. */
  TAKEN: 10, RESERVED: 11,
  /** What the path of a MARKET BUY may cost before walk.ts stops. */
  BUDGET: 12,
} as const

/** Marks an account as changed for readers of the shared columns. */
export const touchAccount = (state: State, account: number): void => add(state, accountRow(state, account), ACCOUNT.VERSION, 1)
