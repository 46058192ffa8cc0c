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

const PPM = 1_000_000n

/** Charges register QUOTE to the order at `row` at `ppm`; the fee of this fill, which may be negative, goes to register `to`. */
export function chargeFill(state: State, row: number, ppm: number, to: number): void {
  row &= ADDRESS_BITS
  const { i32, i64 } = state
  const filled = (row + ORDER.FILLED_QUOTE) >>> 1
  const fee = (row + ORDER.FEE) >>> 1
  const sum = (row + ORDER.FEE_NUMERATOR) >>> 1
  i64[filled] = i64[filled]! + i64[R.QUOTE]!
  i64[R.AMOUNT] = i64[sum]! + i64[R.QUOTE]! * BigInt(ppm | 0)
  i64[sum] = i64[R.AMOUNT]!
  if (i32[row + ORDER.FEE_NUMERATOR + 1]! >= 0) i64[R.AMOUNT] = i64[R.AMOUNT]! + 999_999n
  i64[to] = i64[fee]!
  i64[fee] = i64[R.AMOUNT]! / PPM
  i64[to] = i64[fee]! - i64[to]!
}

/** Register HOLD = what a BUY of `lots` resting at its limit must lock: their value and the fee still to come at its maker rate. */
export function holdOfBid(state: State, row: number, terms: number, lots: number): void {
  row &= ADDRESS_BITS
  const { i32, i64 } = state
  i64[R.HOLD] = BigInt(i32[row + ORDER.PRICE]! | 0) * BigInt(lots | 0) * i64[(terms + TERMS.TICK_LOT_ATOMS) >>> 1]!
  const ppm = i32[row + ORDER.MAKER_PPM]!
  if (ppm <= 0) return
  i64[R.AMOUNT] = i64[(row + ORDER.FEE_NUMERATOR) >>> 1]! + i64[R.HOLD]! * BigInt(ppm | 0) + 999_999n
  i64[R.HOLD] = i64[R.HOLD]! + i64[R.AMOUNT]! / PPM - i64[(row + ORDER.FEE) >>> 1]!
}

/** Register REQUIRED = register COST plus its fee at `ppm` >= 0, rounded up: the most a BUY of that value can cost. */
export function requiredForCost(state: State, ppm: number): void {
  const { i64 } = state
  i64[R.REQUIRED] = i64[R.COST]!
  if (ppm === 0) return
  i64[R.AMOUNT] = i64[R.COST]! * BigInt(ppm | 0) + 999_999n
  i64[R.REQUIRED] = i64[R.COST]! + i64[R.AMOUNT]! / PPM
}
