/**
 * Funding of perpetuals: the premium is sampled each full minute, and at the end of each interval one rate is paid by one side to the
 * other. FUNDING_STEP is the sequencer's own command (sequencer/margin_timers.ts); it does whatever is over, so it is O(1).
 *
 * Paying touches no position: it moves CUMULATIVE, what one long lot has paid ever, and each position settles the difference when it is
 * touched next. A rate of 10^-8 of the mark's value of a lot makes CUMULATIVE a number of 10^-8 atoms, kept in 10^-6 and cut towards 0:
 * longs and shorts are settled by the same number, so nothing is gained or lost by the cut.
 *
 * Intervals end at multiples of their length since 1970, in sequenced time. One that nobody was there for (the exchange was down) is not
 * made up for: the one that is over ends with the samples it has, the next ends at the next multiple. Without samples, or with a stale
 * index, the rate is 0. A premium is sampled only while the index is fresh and the pair takes orders: nobody pays for the premium of a
 * book that he cannot trade with. Each sample is paid for its minute alone (margin/funding_rate.ts), so few samples pay little.
 *
 * Widest product: mark × atoms of a tick and lot × rate: value of a lot at most 2^36 (state/perp_terms.ts), a rate at most 2^22: 2^58.
 */
import { FUNDING_STEP_COMMAND } from '../layout/margin.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitFundingRate, emitMark, emitResult } from '../events/emit.ts'
import { premiumOf, rateSoFar } from '../margin/funding_rate.ts'
import { isFresh, isPerpetual, takesOrders } from '../margin/mark_price.ts'
import { R } from '../state/balances.ts'
import { TERMS } from '../state/columns.ts'
import { PERP, PERP_TERMS } from '../state/margin_rows.ts'
import { add, gain, get, getF64, getI64, now, perpRow, perpTermsRow, set, setF64, setI64, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { laneRefusal } from './policy.ts'

const MINUTE = 60_000
/** 10^-8 atoms in 10^-6 atoms. */
const FINER = 100n

const nextMultiple = (time: number, step: number): number => time - (time % step) + step

/** Samples and payments of `pair` begin. */
export function scheduleFunding(state: State, pair: number): void {
  const perp = perpRow(state, pair)
  setF64(state, perp, PERP.NEXT_SAMPLE_AT, nextMultiple(now(state), MINUTE))
  setF64(state, perp, PERP.NEXT_FUNDING_AT, nextMultiple(now(state), getF64(state, perpTermsRow(state, pair), PERP_TERMS.FUNDING_MS)))
}

/** They end; what was sampled of this interval is paid to nobody. */
export function endFunding(state: State, pair: number): void {
  const perp = perpRow(state, pair)
  setI64(state, perp, PERP.PREMIUM_SUM, 0n)
  set(state, perp, PERP.SAMPLES, 0)
  setF64(state, perp, PERP.NEXT_SAMPLE_AT, 0)
  setF64(state, perp, PERP.NEXT_FUNDING_AT, 0)
}

const isOver = (state: State, at: number): boolean => at !== 0 && at <= now(state)
/** True when FUNDING_STEP of `pair` has something to do at the time of now. */
const isDue = (state: State, pair: number): boolean =>
  isOver(state, getF64(state, perpRow(state, pair), PERP.NEXT_SAMPLE_AT)) ||
  isOver(state, getF64(state, perpRow(state, pair), PERP.NEXT_FUNDING_AT))

/** A sample of the premium, the end of an interval, or both, in this order. NOT_FOUND: no such perpetual, or nothing is over. */
export function fundingStep(state: State, command: Views, base: number): void {
  const pair = command.i32[base + FUNDING_STEP_COMMAND.at.pair]!
  let code = laneRefusal(command, base)
  if (code === 0 && !(isPerpetual(state, pair) && isDue(state, pair))) code = REFUSALS.NOT_FOUND.number
  if (code === 0) {
    const perp = perpRow(state, pair)
    const ends = isOver(state, getF64(state, perp, PERP.NEXT_FUNDING_AT))
    if (isOver(state, getF64(state, perp, PERP.NEXT_SAMPLE_AT))) sample(state, pair)
    if (ends) endInterval(state, pair)
    emitMark(state, pair, rateSoFar(state, pair))
  }
  emitResult(state, command, base, code, -1, 0, 0)
}

function sample(state: State, pair: number): void {
  const perp = perpRow(state, pair)
  setF64(state, perp, PERP.NEXT_SAMPLE_AT, nextMultiple(now(state), MINUTE))
  if (!isFresh(state, pair) || !takesOrders(state, pair)) return
  setI64(state, perp, PERP.PREMIUM_SUM, getI64(state, perp, PERP.PREMIUM_SUM) + BigInt(premiumOf(state, pair)))
  add(state, perp, PERP.SAMPLES, 1)
}

/** Pays the rate of the interval that is over and begins the next. */
function endInterval(state: State, pair: number): void {
  const { registers } = state
  const perp = perpRow(state, pair)
  const samples = get(state, perp, PERP.SAMPLES)
  const rate = isFresh(state, pair) ? rateSoFar(state, pair) : 0
  registers[R.M0] = getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS) * BigInt(get(state, perp, PERP.MARK))
  registers[R.M1] = registers[R.M0]! * BigInt(rate)
  registers[R.M0] = registers[R.M1]! / FINER
  gain(state, perp, PERP.CUMULATIVE, R.M0)
  set(state, perp, PERP.LAST_RATE, rate)
  setF64(state, perp, PERP.LAST_FUNDING_AT, now(state))
  setI64(state, perp, PERP.PREMIUM_SUM, 0n)
  set(state, perp, PERP.SAMPLES, 0)
  setF64(state, perp, PERP.NEXT_FUNDING_AT, nextMultiple(now(state), getF64(state, perpTermsRow(state, pair), PERP_TERMS.FUNDING_MS)))
  emitFundingRate(state, pair, samples)
}
