/**
 * How far one index price may be from the one before.
 *
 *   bound = min(indexBand, max(initial margin - costs, initial margin / 4))       of the tier with the most leverage
 *   costs = taker fee + liquidation fee
 *
 * So one step never takes more than a position with the most leverage has when it is opened, fees of its liquidation included: an owner of
 * both sides wins nothing from the insurance fund. A market whose costs are nearly its initial margin has a quarter of the margin as
 * its bound, else no price would be taken. The terms stay what the genesis says; {@link indexStepPpm} says what is in force.
 *
 * Widest product: none; all are ppm, 10^6 at most.
 */
import { SCALAR, TERMS } from '../state/columns.ts'
import { PERP_TERMS, TIER } from '../state/margin_rows.ts'
import { get, perpTermsRow, scalar, termsRow, tierRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Ppm of the index before. */
export function indexStepPpm(state: State, pair: number): number {
  const terms = perpTermsRow(state, pair)
  const band = get(state, terms, PERP_TERMS.INDEX_BAND_PPM)
  if (scalar(state, SCALAR.RULES) < 5) return band
  const initial = get(state, tierRow(state, pair, 0), TIER.INITIAL_PPM)
  const costs = get(state, termsRow(state, pair), TERMS.TAKER_PPM) + get(state, terms, PERP_TERMS.LIQUIDATION_FEE_PPM)
  return Math.max(1, Math.min(band, Math.max(initial - costs, Math.floor(initial / 4))))
}
