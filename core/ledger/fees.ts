/**
 * Fees: one rounding per order, in the house's favour.
 *
 * Each order sums `quote atoms × ppm` over its fills, at its taker rate on arrival and its maker rate while resting. Its fee
 * so far is the ceiling of that sum / 10^6 (a rebate is rounded toward zero), and a fill is charged the growth of it. So ten
 * thousand dust fills cost what one fill of the same size costs, every movement is a whole number of atoms, buyer pays =
 * seller gets + fees exactly, and no remainder is left over for anybody.
 *
 * Sums go through a register before they are divided: only then does the compiler keep them as machine integers. The sign of
 * an i64 is that of its upper word, which is cheaper to look at.
 *
 * Range: a fill is at most 4.5e14 quote atoms and a rate at most 20,000 ppm, so the sum of an order stays below 2^63 (genesis.ts).
 */
import { ORDER, TERMS } from '../state/columns.ts'
import { gain, get, getI64, setI64, signOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { R } from '../state/balances.ts'
import { addOnOfHold } from './add_ons.ts'

const PPM = 1_000_000n

/** Charges register QUOTE to the order at `row` at `ppm`; the fee of this fill, which may be negative, goes to register `to`. */
export function chargeFill(state: State, row: number, ppm: number, to: number): void {
  const { registers } = state
  gain(state, row, ORDER.FILLED_QUOTE, R.QUOTE)
  registers[R.AMOUNT] = getI64(state, row, ORDER.FEE_NUMERATOR) + registers[R.QUOTE]! * BigInt(ppm | 0)
  setI64(state, row, ORDER.FEE_NUMERATOR, registers[R.AMOUNT]!)
  if (signOf(state, row, ORDER.FEE_NUMERATOR) >= 0) registers[R.AMOUNT] = registers[R.AMOUNT]! + 999_999n
  registers[to] = getI64(state, row, ORDER.FEE)
  setI64(state, row, ORDER.FEE, registers[R.AMOUNT]! / PPM)
  registers[to] = getI64(state, row, ORDER.FEE) - registers[to]!
}

/** Register `to` = what {@link chargeFill} would charge. Nothing is changed but register AMOUNT. */
export function feeOfFill(state: State, row: number, ppm: number, to: number): void {
  const { registers } = state
  registers[R.AMOUNT] = getI64(state, row, ORDER.FEE_NUMERATOR) + registers[R.QUOTE]! * BigInt(ppm | 0)
  if (registers[R.AMOUNT]! >= 0n) registers[R.AMOUNT] = registers[R.AMOUNT]! + 999_999n
  registers[to] = registers[R.AMOUNT]! / PPM - getI64(state, row, ORDER.FEE)
}

/** Register HOLD = what a BUY of `lots` resting at its limit must lock: their value, fee and add-on still to come at its rates. */
export function holdOfBid(state: State, row: number, terms: number, lots: number): void {
  const { registers } = state
  registers[R.HOLD] = BigInt(get(state, row, ORDER.PRICE) | 0) * BigInt(lots | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  const ppm = get(state, row, ORDER.MAKER_PPM)
  addOnOfHold(state, row)
  if (ppm > 0) {
    registers[R.AMOUNT] = getI64(state, row, ORDER.FEE_NUMERATOR) + registers[R.HOLD]! * BigInt(ppm | 0) + 999_999n
    registers[R.HOLD] = registers[R.HOLD]! + registers[R.AMOUNT]! / PPM - getI64(state, row, ORDER.FEE)
  }
  registers[R.HOLD] = registers[R.HOLD]! + registers[R.ADD_ON]!
}

/** Register REQUIRED = register COST plus its fee at `ppm` >= 0, rounded up: the most a BUY of that value can cost. */
export function requiredForCost(state: State, ppm: number): void {
  const { registers } = state
  registers[R.REQUIRED] = registers[R.COST]!
  if (ppm === 0) return
  registers[R.AMOUNT] = registers[R.COST]! * BigInt(ppm | 0) + 999_999n
  registers[R.REQUIRED] = registers[R.COST]! + registers[R.AMOUNT]! / PPM
}
