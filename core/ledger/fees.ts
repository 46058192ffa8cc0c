/**
 * Fees: one rounding per order, in the house's favour.
 *
 * Each order sums `quote atoms × ppm` over its fills, at its taker rate on arrival and its maker rate while resting. Its fee
 * so far is the ceiling of that sum / 10^6 (a rebate is rounded toward zero), and a fill is charged the growth of it. So ten
 * thousand dust fills cost what one fill of the same size costs, every movement is a whole number of atoms, buyer pays =
 * seller gets + fees exactly, and no remainder is left over for anybody.
 *
 * Sums go through a register before they are divided or compared: only then does the compiler keep them as machine integers.
 *
 * Range: a fill is at most 4.5e14 quote atoms and a rate at most 20,000 ppm, so the sum of an order stays below 2^63 (genesis.ts).
 */
import { DETAIL, DETAIL_WORDS, ORDER, ORDER_WORDS } from '../engine/columns.ts'
import type { State } from '../engine/state.ts'
import { R } from './balances.ts'

const PPM = 1_000_000n

/** Charges register QUOTE to order `slot` at `ppm`; the fee of this fill, which may be negative, goes to register `to`. */
export function chargeFill(state: State, slot: number, ppm: number, to: number): void {
  const { detailsI64, registers } = state
  const row = (slot * DETAIL_WORDS) >>> 1
  const sum = row + (DETAIL.FEE_NUMERATOR >>> 1)
  const fee = row + (DETAIL.FEE >>> 1)
  detailsI64[row + (DETAIL.FILLED_QUOTE >>> 1)] = detailsI64[row + (DETAIL.FILLED_QUOTE >>> 1)]! + registers[R.QUOTE]!
  detailsI64[sum] = detailsI64[sum]! + registers[R.QUOTE]! * BigInt(ppm | 0)
  registers[to] = detailsI64[fee]!
  registers[R.AMOUNT] = detailsI64[sum]!
  if (registers[R.AMOUNT]! > 0n) registers[R.AMOUNT] = registers[R.AMOUNT]! + 999_999n
  detailsI64[fee] = registers[R.AMOUNT]! / PPM
  registers[to] = detailsI64[fee]! - registers[to]!
}

/** Register HOLD = what a BUY of `lots` resting at its limit must lock: their value and the fee still to come at its maker rate. */
export function holdOfBid(state: State, slot: number, lots: number): void {
  const { orders, detailsI64, registers } = state
  const row = slot * ORDER_WORDS
  const detail = (slot * DETAIL_WORDS) >>> 1
  registers[R.HOLD] = BigInt(orders[row + ORDER.PRICE]! | 0) * BigInt(lots | 0) * state.tickLotAtoms[orders[row + ORDER.PAIR]!]!
  const ppm = orders[row + ORDER.MAKER_PPM]!
  if (ppm <= 0) return
  registers[R.AMOUNT] = detailsI64[detail + (DETAIL.FEE_NUMERATOR >>> 1)]! + registers[R.HOLD]! * BigInt(ppm | 0) + 999_999n
  registers[R.HOLD] = registers[R.HOLD]! + registers[R.AMOUNT]! / PPM - detailsI64[detail + (DETAIL.FEE >>> 1)]!
}

/** Register REQUIRED = register COST plus its fee at `ppm` >= 0, rounded up: the most a BUY of that value can cost. */
export function requiredForCost(state: State, ppm: number): void {
  const { registers } = state
  registers[R.AMOUNT] = registers[R.COST]! * BigInt(ppm | 0) + 999_999n
  registers[R.REQUIRED] = registers[R.COST]! + registers[R.AMOUNT]! / PPM
}
