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
import { ADDRESS_BITS, ORDER, TERMS } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { R } from '../state/balances.ts'

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const { PRICE, MAKER_PPM, FILLED_QUOTE, FEE, FEE_NUMERATOR } = ORDER
const { TICK_LOT_ATOMS } = TERMS
const { QUOTE, AMOUNT, HOLD, COST, REQUIRED } = R
const PPM = 1_000_000n

/** Charges register QUOTE to the order at `row` at `ppm`; the fee of this fill, which may be negative, goes to register `to`. */
export function chargeFill(state: State, row: number, ppm: number, to: number): void {
  row &= ADDRESS
  const { i32, i64 } = state
  const filled = (row + FILLED_QUOTE) >>> 1
  const fee = (row + FEE) >>> 1
  const sum = (row + FEE_NUMERATOR) >>> 1
  i64[filled] = i64[filled]! + i64[QUOTE]!
  i64[AMOUNT] = i64[sum]! + i64[QUOTE]! * BigInt(ppm | 0)
  i64[sum] = i64[AMOUNT]!
  if (i32[row + FEE_NUMERATOR + 1]! >= 0) i64[AMOUNT] = i64[AMOUNT]! + 999_999n
  i64[to] = i64[fee]!
  i64[fee] = i64[AMOUNT]! / PPM
  i64[to] = i64[fee]! - i64[to]!
}

/** Register HOLD = what a BUY of `lots` resting at its limit must lock: their value and the fee still to come at its maker rate. */
export function holdOfBid(state: State, row: number, terms: number, lots: number): void {
  row &= ADDRESS
  const { i32, i64 } = state
  i64[HOLD] = BigInt(i32[row + PRICE]! | 0) * BigInt(lots | 0) * i64[(terms + TICK_LOT_ATOMS) >>> 1]!
  const ppm = i32[row + MAKER_PPM]!
  if (ppm <= 0) return
  i64[AMOUNT] = i64[(row + FEE_NUMERATOR) >>> 1]! + i64[HOLD]! * BigInt(ppm | 0) + 999_999n
  i64[HOLD] = i64[HOLD]! + i64[AMOUNT]! / PPM - i64[(row + FEE) >>> 1]!
}

/** Register REQUIRED = register COST plus its fee at `ppm` >= 0, rounded up: the most a BUY of that value can cost. */
export function requiredForCost(state: State, ppm: number): void {
  const { i64 } = state
  i64[REQUIRED] = i64[COST]!
  if (ppm === 0) return
  i64[AMOUNT] = i64[COST]! * BigInt(ppm | 0) + 999_999n
  i64[REQUIRED] = i64[COST]! + i64[AMOUNT]! / PPM
}
