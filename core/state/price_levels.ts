/**
 * Occupied price levels: where the level of a tick is, and which tick is next. They are written by book/levels.ts.
 *
 * Each look is O(1): a word of the directory, and where a page of ticks ends one search of the bitmaps.
 */
import { NO_ASK, PAGE, PAGE_LEVELS, TERMS } from './columns.ts'
import { pageAbove, pageBelow } from './bitmaps.ts'
import { get, pageRow, termsRow } from './rows.ts'
import type { State } from './state.ts'

/** Where the directory says which page holds `tick` of `pair`. */
export const entryOf = (state: State, pair: number, tick: number): number =>
  get(state, termsRow(state, pair), TERMS.DIRECTORY) + (tick >>> 5)

/** The page that holds `tick` of `pair`; -1: none does. */
export const pageOf = (state: State, pair: number, tick: number): number => get(state, entryOf(state, pair, tick), 0) - 1

/** The number of the level of an occupied tick. */
export function levelOf(state: State, pair: number, tick: number): number {
  return pageOf(state, pair, tick) * PAGE_LEVELS + (tick & 31)
}

/** Ticks of `pair` in page-of-ticks `ticks` that hold orders of a side, as bits. */
function bitsOf(state: State, pair: number, ticks: number, side: number): number {
  const page = pageOf(state, pair, ticks << 5)
  return page < 0 ? 0 : get(state, pageRow(state, page), side)
}

/** The highest bid tick below `tick`, or 0. */
export function tickBelow(state: State, pair: number, tick: number): number {
  const ticks = tick >>> 5
  const bit = tick & 31
  const near = bit === 0 ? 0 : bitsOf(state, pair, ticks, PAGE.BIDS) & (-1 >>> (32 - bit))
  if (near !== 0) return (tick & ~31) | (31 - Math.clz32(near))
  const below = pageBelow(state, pair * 2, ticks)
  return below < 0 ? 0 : (below << 5) | (31 - Math.clz32(bitsOf(state, pair, below, PAGE.BIDS)))
}

/** The lowest ask tick above `tick`, or NO_ASK. */
export function tickAbove(state: State, pair: number, tick: number): number {
  const ticks = tick >>> 5
  const bit = tick & 31
  const near = bit === 31 ? 0 : bitsOf(state, pair, ticks, PAGE.ASKS) & (-1 << (bit + 1))
  if (near !== 0) return (tick & ~31) | (31 - Math.clz32(near & -near))
  const above = pageAbove(state, pair * 2 + 1, ticks)
  if (above < 0) return NO_ASK
  const word = bitsOf(state, pair, above, PAGE.ASKS)
  return (above << 5) | (31 - Math.clz32(word & -word))
}
