/**
 * Prices of a perpetual: how old the index is, and the mark that margin is counted at.
 *
 *   mark    = median(index, index + basis, book), within MARK_BAND_PPM of the index
 *   book    = index + premium of its impact prices (impact_price.ts)
 *   basis   = the premium, smoothed: each index price moves it by dt / (dt + BASIS_MS) of what it lacks, where dt is the time since the
 *             one before, STALE_MS at most
 *
 * The basis begins at 0, so that the first book there is has no weight yet. The premium it learns from is within BASIS_PPM of the index:
 * half of what the initial margin of the first tier is above its maintenance margin. So a position opened at the index with the most
 * leverage is not liquidated by what books say alone. A book that is thin or lacks a side, or that nobody can trade with because the pair
 * takes no orders, stands in the median as index + basis, and the basis goes back to 0 as it came.
 *
 * **Who can move it.** The book is one voice of three, and both others are anchored to the index: the mark always lies between the index
 * and index + basis. A tiny quote is no voice at all, and trades are none. A book that is wrong for a moment moves nothing; one that stays
 * wrong moves the basis, within its bound, while everybody can trade the notional against it. Otherwise two accounts of one owner would
 * trade far from the index, with the margin of the fair price, and leave the loss of the one to the fund when the mark comes back.
 *
 * Before the rules 5 the book was the median of best bid, best ask and last trade at any size (their middle before the first trade), the
 * basis learned its middle within MARK_BAND_PPM, and a book without a voice taught it nothing.
 *
 * A mark that the operator forced wins until its time is over. A perpetual that settles has the settlement price as its mark.
 *
 * Numbers: prices here are millionths of a tick, whole numbers in doubles. A price is below 2^30 ticks, so 2^50 of these; a sum of three
 * is below 2^52. Widest products: index × band in ppm, below 2^50; of the smoothing (lib/proportion.ts) dt × (dt + BASIS_MS), below 2^45,
 * because both are an hour at most. All are exact.
 */
import { PairStatus } from '../layout/command.ts'
import { PerpMode } from '../layout/margin.ts'
import { proportion } from '../lib/proportion.ts'
import { NO_ASK, PAIR, SCALAR, TERMS } from '../state/columns.ts'
import { PERP, PERP_TERMS } from '../state/margin_rows.ts'
import {
  get, getF64, getI64, now, pairCount, pairRow, perpRow, perpTermsRow, scalar, set, setF64, setI64, termsRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { impactNotional, impactPrice, premiumOver } from './impact_price.ts'

/** Of a tick, and of the whole in ppm. */
const MILLION = 1_000_000

/** True when `pair` is listed and a perpetual. */
export const isPerpetual = (state: State, pair: number): boolean =>
  pair >= 0 && pair < pairCount(state) && get(state, termsRow(state, pair), TERMS.PERP) !== 0

/**
 * True when margin may be counted at the mark of `pair`: its index price is not older than STALE_MS, in sequenced time. While it is not,
 * nothing is liquidated, triggered or paid, and only orders that reduce are taken. The mark of a perpetual that settles is final, so
 * it is fresh.
 */
export function isFresh(state: State, pair: number): boolean {
  const perp = perpRow(state, pair)
  if (get(state, perp, PERP.MODE) >= PerpMode.SETTLING) return true
  const at = getF64(state, perp, PERP.INDEX_AT)
  return at !== 0 && now(state) - at <= getF64(state, perpTermsRow(state, pair), PERP_TERMS.STALE_MS)
}

/** Ticks that the mark may be away from the index. */
function bandWidth(state: State, pair: number): number {
  const product = get(state, perpRow(state, pair), PERP.INDEX) * get(state, perpTermsRow(state, pair), PERP_TERMS.MARK_BAND_PPM)
  return (product - (product % MILLION)) / MILLION
}
/** Lowest and highest mark around the index, ticks. */
export const lowestMark = (state: State, pair: number): number =>
  Math.max(1, get(state, perpRow(state, pair), PERP.INDEX) - bandWidth(state, pair))
export const highestMark = (state: State, pair: number): number =>
  Math.min(state.priceTicks - 1, get(state, perpRow(state, pair), PERP.INDEX) + bandWidth(state, pair))

/** True when the pair takes orders, so that its book is one that can be traded with. */
export const takesOrders = (state: State, pair: number): boolean => get(state, pairRow(state, pair), PAIR.STATUS) === PairStatus.ACTIVE

/** Twice the middle of the book, ticks; 0: a side is empty, or the pair takes no orders. */
export function doubleMiddle(state: State, pair: number): number {
  if (!takesOrders(state, pair)) return 0
  const book = pairRow(state, pair)
  const bid = get(state, book, PAIR.BEST_BID)
  const ask = get(state, book, PAIR.BEST_ASK)
  return bid === 0 || ask === NO_ASK ? 0 : bid + ask
}
/** The same within the band around the index. */
export function boundedDoubleMiddle(state: State, pair: number): number {
  const middle = doubleMiddle(state, pair)
  return middle === 0 ? 0 : Math.min(2 * highestMark(state, pair), Math.max(2 * lowestMark(state, pair), middle))
}

/** True while the marks of before the rules 5 are in force. */
const hasTouchMarks = (state: State): boolean => scalar(state, SCALAR.RULES) < 5

/** The basis after the index of `pair` was set at the time of now. */
export function smoothBasis(state: State, pair: number): void {
  const perp = perpRow(state, pair)
  const since = getF64(state, perp, PERP.BASIS_AT)
  const isTaught = !hasTouchMarks(state) || boundedDoubleMiddle(state, pair) !== 0
  setF64(state, perp, PERP.BASIS_AT, now(state))
  if (since === 0 || !isTaught) return
  const terms = perpTermsRow(state, pair)
  const step = Math.min(getF64(state, terms, PERP_TERMS.STALE_MS), now(state) - since)
  const basis = Number(getI64(state, perp, PERP.BASIS))
  const smoothing = getF64(state, terms, PERP_TERMS.BASIS_MS)
  setI64(state, perp, PERP.BASIS, BigInt(basis + proportion(basisTarget(state, pair) - basis, step, step + smoothing)))
}

/** What the basis goes to, millionths of a tick. */
function basisTarget(state: State, pair: number): number {
  const index = get(state, perpRow(state, pair), PERP.INDEX)
  if (hasTouchMarks(state)) return boundedDoubleMiddle(state, pair) * (MILLION / 2) - index * MILLION
  // A millionth of the index is as many millionths of a tick as the index has ticks.
  const most = index * get(state, perpTermsRow(state, pair), PERP_TERMS.BASIS_PPM)
  return Math.min(most, Math.max(-most, bookPremium(state, pair)))
}

/** How far the book of `pair` is beyond the index, millionths of a tick; 0: it has no voice. */
export function bookPremium(state: State, pair: number): number {
  if (!takesOrders(state, pair)) return 0
  const notional = impactNotional(state, pair)
  return premiumOver(state, pair, impactPrice(state, pair, notional, 0), impactPrice(state, pair, notional, 1))
}

/** Sets the mark of `pair` from what is there now. Without an index there is none. */
export function setMark(state: State, pair: number): void {
  const perp = perpRow(state, pair)
  if (getF64(state, perp, PERP.FORCED_UNTIL) <= now(state)) {
    set(state, perp, PERP.FORCED_MARK, 0)
    setF64(state, perp, PERP.FORCED_UNTIL, 0)
  }
  const forced = get(state, perp, PERP.FORCED_MARK)
  if (get(state, perp, PERP.MODE) >= PerpMode.SETTLING) set(state, perp, PERP.MARK, get(state, perp, PERP.SETTLEMENT))
  else set(state, perp, PERP.MARK, forced === 0 ? marketMark(state, pair) : forced)
}

function marketMark(state: State, pair: number): number {
  const perp = perpRow(state, pair)
  const index = get(state, perp, PERP.INDEX) * MILLION
  const fair = index + Number(getI64(state, perp, PERP.BASIS))
  const between = median(index, fair, bookPrice(state, pair, fair))
  // To the nearest tick, a half upwards.
  const ticks = Math.floor((between + MILLION / 2) / MILLION)
  return Math.min(highestMark(state, pair), Math.max(lowestMark(state, pair), ticks))
}

/** What the book says, millionths of a tick; `fair`: it says nothing. */
function bookPrice(state: State, pair: number, fair: number): number {
  if (hasTouchMarks(state)) return touchPrice(state, pair, fair)
  if (!takesOrders(state, pair)) return fair
  const notional = impactNotional(state, pair)
  const bid = impactPrice(state, pair, notional, 0)
  const ask = impactPrice(state, pair, notional, 1)
  return bid === 0 || ask === 0 ? fair : get(state, perpRow(state, pair), PERP.INDEX) * MILLION + premiumOver(state, pair, bid, ask)
}

/** The same before the rules 5. */
function touchPrice(state: State, pair: number, fair: number): number {
  const middle = doubleMiddle(state, pair)
  if (middle === 0) return fair
  const book = pairRow(state, pair)
  const last = get(state, book, PAIR.LAST_PRICE)
  return last === 0 ? middle * (MILLION / 2) : median(get(state, book, PAIR.BEST_BID), get(state, book, PAIR.BEST_ASK), last) * MILLION
}

/** The middle one of three. */
const median = (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
