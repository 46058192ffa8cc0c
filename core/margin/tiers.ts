/**
 * Risk tiers: what a notional needs (specification, Perpetual market config). Ladders are those of state/perp_terms.ts.
 *
 *   notional               N = |lots| × tick × t               t: quote atoms of a lot at one tick
 *   tier                   the last one whose lower bound is at or below N
 *   initial margin         max(ceil(N × initialPpm / 10^6) - deduction, ceil(N × 100 / leverage))
 *   maintenance margin     ceil(N × maintenancePpm / 10^6) - deduction
 *
 * Requirements are rounded up. **Widest products.** N of a position is below 2^60 (NOTIONAL_MOST), that of its exposure, which is at most
 * two positions, below 2^61. N × ppm is N / 10^6 × ppm + ceil(N % 10^6 × ppm / 10^6): at most N + 10^12. N × 100 / leverage, leverage
 * in hundredths from 100 on, is N / leverage × 100 + ceil(N % leverage × 100 / leverage): at most N + 100.
 */
import { TERMS } from '../state/columns.ts'
import { TIER, PERP_TERMS } from '../state/margin_rows.ts'
import { get, getI64, perpTermsRow, termsRow, tierRow } from '../state/rows.ts'
import { R } from '../state/balances.ts'
import type { State } from '../state/state.ts'

const PPM = 1_000_000n
const WORD = 2 ** 30

/** Register NOTIONAL = |lots| × tick × atoms of a tick and lot. `lots` may be beyond 31 bits: an exposure is a sum. */
export function notionalOf(state: State, pair: number, lots: number, tick: number): void {
  const { registers } = state
  const size = lots < 0 ? -lots : lots
  const high = Math.floor(size / WORD)
  const low = size - high * WORD
  registers[R.NOTIONAL] = BigInt(high | 0) * 1_073_741_824n + BigInt(low | 0)
  registers[R.NOTIONAL] = registers[R.NOTIONAL]! * BigInt(tick | 0) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
}

/** Place, from 0, of the tier of register NOTIONAL in the ladder of `pair`. */
export function tierOf(state: State, pair: number): number {
  const { registers } = state
  let place = get(state, perpTermsRow(state, pair), PERP_TERMS.TIERS) - 1
  while (place > 0 && registers[R.NOTIONAL]! < getI64(state, tierRow(state, pair, place), TIER.LOWER_BOUND)) place--
  return place
}

/** Register M0 = register NOTIONAL × ppm / 10^6, rounded up. */
function shareOf(state: State, ppm: number): void {
  const { registers } = state
  registers[R.M0] = (registers[R.NOTIONAL]! % PPM) * BigInt(ppm | 0) + 999_999n
  registers[R.M0] = (registers[R.NOTIONAL]! / PPM) * BigInt(ppm | 0) + registers[R.M0]! / PPM
}

/**
 * Register INITIAL = initial margin of register NOTIONAL at `leverage`, hundredths; 0: no leverage was selected, so the floor of the tier
 * alone. Scratch: M0.
 */
export function initialMargin(state: State, pair: number, leverage: number): void {
  const { registers } = state
  const tier = tierRow(state, pair, tierOf(state, pair))
  shareOf(state, get(state, tier, TIER.INITIAL_PPM))
  registers[R.INITIAL] = registers[R.M0]! - getI64(state, tier, TIER.INITIAL_DEDUCTION)
  if (leverage <= 0) return
  registers[R.M0] = (registers[R.NOTIONAL]! % BigInt(leverage | 0)) * 100n + BigInt((leverage - 1) | 0)
  registers[R.M0] = (registers[R.NOTIONAL]! / BigInt(leverage | 0)) * 100n + registers[R.M0]! / BigInt(leverage | 0)
  if (registers[R.M0]! > registers[R.INITIAL]!) registers[R.INITIAL] = registers[R.M0]!
}

/** Register MAINTENANCE = maintenance margin of register NOTIONAL. Scratch: M0. */
export function maintenanceMargin(state: State, pair: number): void {
  const { registers } = state
  const tier = tierRow(state, pair, tierOf(state, pair))
  shareOf(state, get(state, tier, TIER.MAINTENANCE_PPM))
  registers[R.MAINTENANCE] = registers[R.M0]! - getI64(state, tier, TIER.MAINTENANCE_DEDUCTION)
}

/** Highest leverage, hundredths, that the tier of register NOTIONAL allows. */
export const maxLeverageAt = (state: State, pair: number): number =>
  get(state, tierRow(state, pair, tierOf(state, pair)), TIER.MAX_LEVERAGE)
