/**
 * The rate of a funding interval, from the samples of its premium. Rates and premiums are whole numbers of 10^-8.
 *
 *   premium = (middle of the book within the mark's band, or the mark) / index - 1
 *   rate    = mean premium × length of the interval / 8 hours, within RATE_CAP
 *
 * So a premium of 0.01 % that lasts costs longs 0.01 % in eight hours, however often funding is paid. Divisions cut towards 0.
 *
 * Widest products. Of a sample: twice a price, below 2^31 ticks, × 10^4, in two steps of four digits each. Of the rate: a sum of samples
 * is below 2^40 (a premium is at most the band, half of the index, and an interval has at most 10,080 minutes); it is divided by
 * (samples × 28,800) before it is multiplied by the seconds of the interval, at most 604,800 (lib/proportion.ts): below 2^48.
 */
import { proportion } from '../lib/proportion.ts'
import { PERP, PERP_TERMS } from '../state/margin_rows.ts'
import { get, getF64, getI64, perpRow, perpTermsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { boundedDoubleMiddle } from './mark_price.ts'

/** The time in which a premium is paid once, seconds. */
const PREMIUM_SECONDS = 28_800
const TEN_THOUSAND = 10_000

/** The premium of `pair` now. It has an index. */
export function premiumOf(state: State, pair: number): number {
  const perp = perpRow(state, pair)
  const index = 2 * get(state, perp, PERP.INDEX)
  const middle = boundedDoubleMiddle(state, pair)
  const above = ((middle === 0 ? 2 * get(state, perp, PERP.MARK) : middle) - index) * TEN_THOUSAND
  const rest = above % index
  return ((above - rest) / index) * TEN_THOUSAND + Math.trunc((rest * TEN_THOUSAND) / index)
}

/** The rate of the interval of `pair` by the samples that it has so far; 0: it has none. */
export function rateSoFar(state: State, pair: number): number {
  const perp = perpRow(state, pair)
  const terms = perpTermsRow(state, pair)
  const samples = get(state, perp, PERP.SAMPLES)
  if (samples === 0) return 0
  const seconds = getF64(state, terms, PERP_TERMS.FUNDING_MS) / 1000
  const rate = proportion(Number(getI64(state, perp, PERP.PREMIUM_SUM)), seconds, samples * PREMIUM_SECONDS)
  const cap = get(state, terms, PERP_TERMS.RATE_CAP)
  return Math.min(cap, Math.max(-cap, rate))
}
