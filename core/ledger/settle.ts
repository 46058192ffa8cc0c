/**
 * Settlement of one fill: the four balance rows and the house's fees.
 *
 * The taker pays from available (its order locks only what rests); the maker pays from locked. Registers on entry: QUOTE, BASE,
 * TAKER_FEE, MAKER_FEE. Sum over the four rows and the fee account is zero in both assets (I1, I3).
 */
import { BALANCE, ORDER, ORDER_WORDS, TOTAL, TOTAL_WORDS } from '../engine/columns.ts'
import type { State } from '../engine/state.ts'
import { balanceRow, R, touchAccount } from './balances.ts'

/** Taker buys from a resting SELL. */
export function settleBuy(state: State, taker: number, maker: number, makerSlot: number, base: number, quote: number): void {
  const { balances, registers, ordersI64 } = state
  const hold = (makerSlot * ORDER_WORDS + ORDER.HOLD) >>> 1
  ordersI64[hold] = ordersI64[hold]! - registers[R.BASE]!
  let row = balanceRow(state, taker, quote)
  balances[row + BALANCE.AVAILABLE] = balances[row + BALANCE.AVAILABLE]! - registers[R.QUOTE]! - registers[R.TAKER_FEE]!
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
  row = balanceRow(state, taker, base)
  balances[row + BALANCE.AVAILABLE] = balances[row + BALANCE.AVAILABLE]! + registers[R.BASE]!
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
  row = balanceRow(state, maker, quote)
  balances[row + BALANCE.AVAILABLE] = balances[row + BALANCE.AVAILABLE]! + registers[R.QUOTE]! - registers[R.MAKER_FEE]!
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
  row = balanceRow(state, maker, base)
  balances[row + BALANCE.LOCKED] = balances[row + BALANCE.LOCKED]! - registers[R.BASE]!
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
  collectFees(state, quote)
  touchAccount(state, maker)
}

/** Taker sells to a resting BUY: the maker pays value and a positive fee out of its hold; a rebate goes to its available. */
export function settleSell(state: State, taker: number, maker: number, makerSlot: number, base: number, quote: number): void {
  const { balances, registers, ordersI64 } = state
  const hold = (makerSlot * ORDER_WORDS + ORDER.HOLD) >>> 1
  let row = balanceRow(state, maker, quote)
  if (registers[R.MAKER_FEE]! > 0n) {
    ordersI64[hold] = ordersI64[hold]! - registers[R.QUOTE]! - registers[R.MAKER_FEE]!
    balances[row + BALANCE.LOCKED] = balances[row + BALANCE.LOCKED]! - registers[R.QUOTE]! - registers[R.MAKER_FEE]!
  } else {
    ordersI64[hold] = ordersI64[hold]! - registers[R.QUOTE]!
    balances[row + BALANCE.LOCKED] = balances[row + BALANCE.LOCKED]! - registers[R.QUOTE]!
    balances[row + BALANCE.AVAILABLE] = balances[row + BALANCE.AVAILABLE]! - registers[R.MAKER_FEE]!
  }
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
  row = balanceRow(state, maker, base)
  balances[row + BALANCE.AVAILABLE] = balances[row + BALANCE.AVAILABLE]! + registers[R.BASE]!
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
  row = balanceRow(state, taker, base)
  balances[row + BALANCE.AVAILABLE] = balances[row + BALANCE.AVAILABLE]! - registers[R.BASE]!
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
  row = balanceRow(state, taker, quote)
  balances[row + BALANCE.AVAILABLE] = balances[row + BALANCE.AVAILABLE]! + registers[R.QUOTE]! - registers[R.TAKER_FEE]!
  balances[row + BALANCE.VERSION] = balances[row + BALANCE.VERSION]! + 1n
  collectFees(state, quote)
  touchAccount(state, maker)
}

function collectFees(state: State, quote: number): void {
  const { totals, registers } = state
  const row = quote * TOTAL_WORDS + TOTAL.FEES
  totals[row] = totals[row]! + registers[R.TAKER_FEE]! + registers[R.MAKER_FEE]!
}
