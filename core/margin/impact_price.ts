/**
 * Impact prices: the average price at which a stated notional could be sold into the bids of a pair, or bought from its asks, at once.
 *
 * - **Weight.** A quote moves an impact price by no more than its share of the notional, so a tiny one moves nothing.
 * - **Thin book.** A side that cannot bear the notional within {@link LEVELS} levels has no impact price.
 * - **Premium.** What the book says beyond the index: how far its bids are above it, or its asks below it. An index between both impact
 *   prices has a premium of 0. So a wide book says nothing, and whoever wants a premium stands ready to trade at it.
 *
 * - **Spot price.** What TWAP orders of a spot pair wait for: the last trade, within the impact prices of {@link SPOT_PART} times the least
 *   value of an order. A thin book has none, so that a tiny trade in an empty book starts nobody's order.
 *
 * Notionals are whole ticks × lots, prices millionths of a tick, bids rounded down and asks rounded up. Widest numbers: a notional is at
 * most {@link IMPACT_MOST}, its value less than a price more, 2^47; the lots of it are at most that notional, and a rest × 100 is below
 * 2^53. All are exact.
 */
import { LEVEL, NO_ASK, PAIR, SCALAR, TERMS } from '../state/columns.ts'
import { IMPACT_MOST, PERP, PERP_TERMS } from '../state/margin_rows.ts'
import { levelOf, tickAbove, tickBelow } from '../state/price_levels.ts'
import { get, getF64, levelRow, pairRow, perpRow, perpTermsRow, scalar, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Levels of a side that are looked at. A book of as many least orders bears a thousand times the least value of an order. */
export const LEVELS = 1000
/** Of a tick. */
const MILLION = 1_000_000
/** A notional of less than a hundredth of the open interest makes no price. */
const OPEN_PART = 100
/** Least values of an order that each side of a spot book must bear. */
const SPOT_PART = 100

/** Ticks × lots that each side of the book of `pair`, a perpetual, must bear. It has an index. */
export function impactNotional(state: State, pair: number): number {
  const perp = perpRow(state, pair)
  const open = getF64(state, perp, PERP.OPEN_LOTS)
  const share = ((open - (open % OPEN_PART)) / OPEN_PART) * get(state, perp, PERP.INDEX)
  return Math.min(IMPACT_MOST, Math.max(getF64(state, perpTermsRow(state, pair), PERP_TERMS.IMPACT), share))
}

/** Price at which `notional` can be sold into the bids (`sell` 0) or bought from the asks, millionths of a tick; 0: there is too little. */
export function impactPrice(state: State, pair: number, notional: number, sell: number): number {
  let tick = get(state, pairRow(state, pair), sell === 0 ? PAIR.BEST_BID : PAIR.BEST_ASK)
  let value = 0
  let lots = 0
  for (let looks = 0; looks < LEVELS && tick !== 0 && tick !== NO_ASK; looks++) {
    const lacks = notional - value
    const rest = lacks % tick
    const wanted = (lacks - rest) / tick + (rest === 0 ? 0 : 1)
    const there = getF64(state, levelRow(state, levelOf(state, pair, tick)), LEVEL.LOTS)
    if (there >= wanted) return average(value + wanted * tick, lots + wanted, sell)
    value += there * tick
    lots += there
    tick = sell === 0 ? tickBelow(state, pair, tick) : tickAbove(state, pair, tick)
  }
  return 0
}

/** `value / lots` in millionths, two digits at a time. */
function average(value: number, lots: number, sell: number): number {
  let rest = value % lots
  let price = (value - rest) / lots
  for (let digits = 0; digits < 6; digits += 2) {
    const left = (rest * 100) % lots
    price = price * 100 + (rest * 100 - left) / lots
    rest = left
  }
  return sell !== 0 && rest !== 0 ? price + 1 : price
}

/**
 * How far a book with these impact prices is beyond the index of `pair`, a perpetual, millionths of a tick. 0 of a thin book: a price of 0.
 */
export function premiumOver(state: State, pair: number, bid: number, ask: number): number {
  if (bid === 0 || ask === 0) return 0
  const index = get(state, perpRow(state, pair), PERP.INDEX) * MILLION
  return Math.max(0, bid - index) - Math.max(0, index - ask)
}

/** The price that TWAP orders of `pair`, a spot pair, wait for, ticks; 0: there is none. Before the rules 5 it was the last trade. */
export function spotPrice(state: State, pair: number): number {
  const last = get(state, pairRow(state, pair), PAIR.LAST_PRICE)
  if (last === 0 || scalar(state, SCALAR.RULES) < 5) return last
  const terms = termsRow(state, pair)
  const value = Math.min(IMPACT_MOST, getF64(state, terms, TERMS.MIN_NOTIONAL)) * SPOT_PART
  const notional = Math.min(IMPACT_MOST, Math.max(1, Math.ceil(value / getF64(state, terms, TERMS.TICK_LOT_ATOMS_F64))))
  const bid = impactPrice(state, pair, notional, 0)
  const ask = bid === 0 ? 0 : impactPrice(state, pair, notional, 1)
  return ask === 0 ? 0 : Math.min(Math.ceil(ask / MILLION), Math.max(Math.floor(bid / MILLION), last))
}
