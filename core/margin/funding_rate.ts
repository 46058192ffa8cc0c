/**
 * The rate of a funding interval, from the samples of its premium. Rates and premiums are whole numbers of 10^-8.
 *
 *   premium = what the impact prices of the book are beyond the index (mark_price.ts), within the mark's band, / index
 *   rate    = sum of the samples / 480, the minutes of eight hours, within RATE_CAP
 *
 * A book that is thin or lacks a side has a premium of 0, which is sampled as any other. Before the rules 5 a premium was (middle of best
 * bid and best ask, or the mark) / index - 1.
 *
 * So a premium of 0.01 % that lasts costs longs 0.01 % in eight hours, however often funding is paid, and each sample is paid for its own
 * minute. A minute without a sample (before the listing, during an outage, with a stale index or a halted pair) counts as a premium of
 * 0: one sample of a book at the edge of its band never stands for an interval in which nobody could trade against it. Divisions cut
 * towards 0.
 *
 * While an interval runs, its rate is what it comes to if the minutes that are left are like the mean of those that were sampled:
 * sum × (samples + minutes left) / (samples × 480). At its end none is left, and that is the rate.
 *
 * Widest products. Of a sample: millionths of a tick, below 2^50, × 100, never formed (lib/proportion.ts). Of the rate: a sum of samples
 * is below 2^39 (a premium is at most the band, 5 × 10^7, half of the index, and an interval has at most 10,080 minutes); samples and
 * minutes left are 10,081 together at most, below 2^14, samples × 480 below 2^23, their product below 2^37, as lib/proportion.ts asks.
 */
import { proportion } from '../lib/proportion.ts'
import { SCALAR } from '../state/columns.ts'
import { PERP, PERP_TERMS } from '../state/margin_rows.ts'
import { get, getF64, getI64, perpRow, perpTermsRow, scalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { bookPremium, boundedDoubleMiddle, highestMark, lowestMark } from './mark_price.ts'

/** The minutes in which a premium is paid once. */
const PREMIUM_MINUTES = 480
const MINUTE = 60_000
const MILLION = 1_000_000
const TEN_THOUSAND = 10_000

/** The premium of `pair` now. It has an index. */
export function premiumOf(state: State, pair: number): number {
  if (scalar(state, SCALAR.RULES) < 5) return touchPremium(state, pair)
  const index = get(state, perpRow(state, pair), PERP.INDEX)
  const lowest = (lowestMark(state, pair) - index) * MILLION
  const highest = (highestMark(state, pair) - index) * MILLION
  // Millionths of a tick × 100 / ticks are 10^-8 of the index.
  return proportion(Math.min(highest, Math.max(lowest, bookPremium(state, pair))), 100, index)
}

/** The same before the rules 5: of twice a price, below 2^31 ticks, × 10^4, in two steps of four digits each. */
function touchPremium(state: State, pair: number): number {
  const perp = perpRow(state, pair)
  const index = 2 * get(state, perp, PERP.INDEX)
  const middle = boundedDoubleMiddle(state, pair)
  const above = ((middle === 0 ? 2 * get(state, perp, PERP.MARK) : middle) - index) * TEN_THOUSAND
  const rest = above % index
  return ((above - rest) / index) * TEN_THOUSAND + Math.trunc((rest * TEN_THOUSAND) / index)
}

/** Minutes of the running interval of a perpetual that are still to be sampled. */
function minutesLeft(state: State, perp: number): number {
  const left = getF64(state, perp, PERP.NEXT_FUNDING_AT) - getF64(state, perp, PERP.NEXT_SAMPLE_AT)
  return left < 0 ? 0 : (left - (left % MINUTE)) / MINUTE + 1
}

/** The rate of the interval of `pair`, those of its minutes that are left being like the samples that it has; 0: it has none. */
export function rateSoFar(state: State, pair: number): number {
  const perp = perpRow(state, pair)
  const samples = get(state, perp, PERP.SAMPLES)
  if (samples === 0) return 0
  const sum = Number(getI64(state, perp, PERP.PREMIUM_SUM))
  const rate = proportion(sum, samples + minutesLeft(state, perp), samples * PREMIUM_MINUTES)
  const cap = get(state, perpTermsRow(state, pair), PERP_TERMS.RATE_CAP)
  return Math.min(cap, Math.max(-cap, rate))
}
