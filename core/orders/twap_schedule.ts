/**
 * The schedule of a TWAP order as a function of its seed: when each slice is due and how large it is. The same seed is the same schedule,
 * on any machine and however often it is asked; nothing of it is kept.
 *
 *   time of slice k    start + (k + j) × window / slices, with j from -0.2 to 0.2; of the first one j is 0
 *   size of slice k    (lots left / slices left) × f, with f from 0.8 to 1.2; of the last one all that is left
 *
 * j and f are thousandths, drawn by hashing (seed, k); without RANDOMIZE 0 and 1. All slices are due before the end: the last one not later
 * than (slices - 0.8) × window / slices. Numbers: a window has 2^30 ms at most, k × 1000 + j below 2^25, so products are below 2^55; they
 * are split so that each is exact: whole ms of a slice and the rest apart.
 */
import { Flag } from '../layout/flags.ts'
import { TwapOption } from '../layout/twap.ts'
import { bestOpposite } from '../book/match.ts'
import { isPerpetual } from '../margin/mark_price.ts'
import { NO_ASK, PAIR, TERMS } from '../state/columns.ts'
import { TWAP } from '../state/conditional_rows.ts'
import { PERP } from '../state/margin_rows.ts'
import { get, getF64, pairRow, perpRow, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const THOUSAND = 1000
/** Slices vary by so many thousandths. */
const JITTER = 200
const FOR_TIME = 1
const FOR_SIZE = 2

/** A number from -JITTER to JITTER, for slice `k` of the TWAP order at `row`. */
function drawn(state: State, row: number, k: number, what: number): number {
  if ((get(state, row, TWAP.OPTIONS) & TwapOption.RANDOMIZE) === 0) return 0
  let h = Math.imul(get(state, row, TWAP.SEED_LOW) ^ Math.imul(k + 1, 0x9e3779b1), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 15) ^ get(state, row, TWAP.SEED_HIGH), 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 13) ^ Math.imul(what, 0x27d4eb2f), 0x165667b1)
  h = Math.imul(h ^ (h >>> 16), 0x2c1b3c6d)
  h ^= h >>> 15
  return ((h >>> 0) % (2 * JITTER + 1)) - JITTER
}

/** When slice `k` is due, Unix ms; behind the last one: the end of the window. */
export function sliceAt(state: State, row: number, k: number): number {
  const slices = get(state, row, TWAP.SLICES)
  const start = getF64(state, row, TWAP.START_AT)
  const end = getF64(state, row, TWAP.END_AT)
  if (k >= slices) return end
  const window = end - start
  const thousandths = k === 0 ? 0 : k * THOUSAND + drawn(state, row, k, FOR_TIME)
  const parts = slices * THOUSAND
  const each = Math.floor(window / parts)
  return start + each * thousandths + Math.floor(((window - each * parts) * thousandths) / parts)
}

/** How many slices are due at `time`, from the `reached` first ones on. */
export function slicesDue(state: State, row: number, reached: number, time: number): number {
  let due = reached
  const slices = get(state, row, TWAP.SLICES)
  while (due < slices && sliceAt(state, row, due) <= time) due++
  return due
}

/** Lots of slice `k`, of those that are left. At least `least`, and never so many that less than that would be left over. */
export function lotsOfSlice(state: State, row: number, k: number, left: number, least: number): number {
  const slices = get(state, row, TWAP.SLICES) - k
  if (slices <= 1 || left <= least) return left
  const even = Math.floor(left / slices)
  const lots = Math.max(least, Math.floor((even * (THOUSAND + drawn(state, row, k, FOR_SIZE))) / THOUSAND))
  return lots >= left || left - lots < least ? left : lots
}

/** The price of now of its pair: the last trade, of a perpetual the mark; ticks, 0: none. */
export function lastPrice(state: State, row: number): number {
  const pair = get(state, row, TWAP.PAIR)
  return isPerpetual(state, pair) ? get(state, perpRow(state, pair), PERP.MARK) : get(state, pairRow(state, pair), PAIR.LAST_PRICE)
}

/** The least lots of a slice at the price of now: of an order of the pair, by lots and by value. */
export function leastLots(state: State, row: number): number {
  const pair = get(state, row, TWAP.PAIR)
  const terms = termsRow(state, pair)
  const flags = get(state, row, TWAP.FLAGS)
  if ((flags & Flag.REDUCE_ONLY) !== 0) return 1
  const best = bestOpposite(state, pair, flags & Flag.SELL)
  const known = best !== 0 && best !== NO_ASK
  const price = known ? best : lastPrice(state, row)
  const least = get(state, terms, TERMS.MIN_LOTS)
  if (price === 0) return least
  return Math.max(least, Math.ceil(getF64(state, terms, TERMS.MIN_NOTIONAL) / (price * getF64(state, terms, TERMS.TICK_LOT_ATOMS_F64))))
}
