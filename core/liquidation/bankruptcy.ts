/**
 * Prices at which a position of a bucket in liquidation may be closed, in closed form.
 *
 *   s lots, m mark, E equity of the bucket at the marks of now, v = |s| × t: atoms that one tick is worth to the position
 *
 * Closing all of it at p instead of at m changes E by v × (p - m) of a long, by v × (m - p) of a short. So the bankruptcy price, at
 * which E is 0 when the other marks stand, is m - E / v or m + E / v. In ticks it is rounded so that E does not fall below 0:
 *
 *   long   p = m - floor(E / v)        short  p = m + floor(E / v)
 *
 * A part of the lots that is closed there leaves the price where it is: E falls with the lots. The fee of an order comes on top, at
 * `ppm` of the value: p × (1 - f) of a long, p × (1 + f) of a short must not be beyond it, and one atom more, because a fee is rounded up.
 *
 * Widest product: v = |s| × t < 2^50, for v × the highest price, 2^10 ticks at least, is below 2^60 (state/perp_terms.ts); E: figures.ts.
 * **Range.** The quotient is held to 2^30 ticks before it is a number. A tick × 10^6 is below 2^50, exact in a double. A price beyond the
 * grid is the last one of the grid: then closing does not bring E to 0, and what is missing is the deficit of the bucket (deficit.ts).
 */
import { R } from '../state/balances.ts'
import { TERMS } from '../state/columns.ts'
import { POSITION } from '../state/margin_rows.ts'
import { get, getI64, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { markOf } from '../margin/figures.ts'

const MILLION = 1_000_000
const FAR = 1_073_741_824n

/** Ticks that register M1, atoms, is worth to the position, rounded down. Scratch: M0, M1, M2. */
function ticksOf(state: State, position: number): number {
  const { registers } = state
  const lots = get(state, position, POSITION.LOTS)
  const terms = termsRow(state, get(state, position, POSITION.PAIR))
  registers[R.M0] = BigInt((lots < 0 ? -lots : lots) | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  registers[R.M2] = registers[R.M1]! % registers[R.M0]!
  registers[R.M1] = registers[R.M1]! / registers[R.M0]!
  if (registers[R.M2]! < 0n) registers[R.M1] = registers[R.M1]! - 1n
  if (registers[R.M1]! > FAR) registers[R.M1] = FAR
  if (registers[R.M1]! < -FAR) registers[R.M1] = -FAR
  return Number(registers[R.M1]!)
}

const onGrid = (state: State, tick: number): number => Math.min(state.priceTicks - 1, Math.max(1, tick))

/** Bankruptcy price of the open position, ticks. Register EQUITY is that of its bucket. */
export function bankruptcyTick(state: State, position: number): number {
  const { registers } = state
  registers[R.M1] = registers[R.EQUITY]!
  const ticks = ticksOf(state, position)
  const mark = markOf(state, get(state, position, POSITION.PAIR))
  return onGrid(state, get(state, position, POSITION.LOTS) > 0 ? mark - ticks : mark + ticks)
}

/** The worst price at which an order that pays a fee of `ppm`, 0 or more, may close the open position. Register EQUITY as above. */
export function worstTick(state: State, position: number, ppm: number): number {
  const { registers } = state
  registers[R.M1] = registers[R.EQUITY]! - 1n
  const ticks = ticksOf(state, position)
  const mark = markOf(state, get(state, position, POSITION.PAIR))
  if (get(state, position, POSITION.LOTS) > 0) return onGrid(state, Math.ceil((Math.max(1, mark - ticks) * MILLION) / (MILLION - ppm)))
  return onGrid(state, Math.floor((Math.max(1, mark + ticks) * MILLION) / (MILLION + ppm)))
}
