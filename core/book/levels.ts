/**
 * Price levels: FIFO queues of orders at one tick, in pages of 32 ticks that come and go with their orders.
 *
 *   directory[pair, tick / 32] -> page -> level (head, tail, count, lots) -> order -> order -> ...
 *
 * Invariants: a level without orders has its bit clear and all fields zero; a page with no bit set is in the free list; best
 * bid and best ask of the pair row are the highest and lowest occupied ticks of their side. Append and remove are O(1); a level
 * that empties at the best price costs one bitmap search.
 */
import { Flag } from '../layout/command.ts'
import { LEVEL, LEVEL_WORDS, NO_ASK, ORDER, ORDER_WORDS, PAGE, PAGE_LEVELS, PAGE_WORDS, PAIR, PAIR_WORDS, SCALAR } from '../engine/columns.ts'
import type { State } from '../engine/state.ts'
import { clearBit, pageAbove, pageBelow, setBit } from './bitmaps.ts'

/** The level of an occupied tick. */
export function levelOf(state: State, pair: number, tick: number): number {
  const page = state.directory[pair * state.pagesPerPair + (tick >>> 5)]! - 1
  return page * PAGE_LEVELS + (tick & 31)
}

/** Puts an order at the back of its price level. The row's PAIR, PRICE, FLAGS and REMAINING must be set. */
export function appendToLevel(state: State, slot: number): void {
  const { orders, levels, levelsF64, pages, pairs } = state
  const row = slot * ORDER_WORDS
  const pair = orders[row + ORDER.PAIR]!
  const tick = orders[row + ORDER.PRICE]!
  const sell = orders[row + ORDER.FLAGS]! & Flag.SELL
  let page = state.directory[pair * state.pagesPerPair + (tick >>> 5)]! - 1
  if (page < 0) page = takePage(state, pair, tick >>> 5)
  const level = page * PAGE_LEVELS + (tick & 31)
  const at = level * LEVEL_WORDS
  if (levels[at + LEVEL.COUNT] === 0) {
    const bits = page * PAGE_WORDS + (sell ? PAGE.ASKS : PAGE.BIDS)
    if (pages[bits] === 0) setBit(state, pair * 2 + sell, tick >>> 5)
    pages[bits]! |= 1 << (tick & 31)
    const pairRow = pair * PAIR_WORDS
    if (sell) {
      if (tick < pairs[pairRow + PAIR.BEST_ASK]!) pairs[pairRow + PAIR.BEST_ASK] = tick
    } else if (tick > pairs[pairRow + PAIR.BEST_BID]!) pairs[pairRow + PAIR.BEST_BID] = tick
    levels[at + LEVEL.HEAD] = slot
    orders[row + ORDER.PREV] = -1
  } else {
    const tail = levels[at + LEVEL.TAIL]!
    orders[tail * ORDER_WORDS + ORDER.NEXT] = slot
    orders[row + ORDER.PREV] = tail
  }
  orders[row + ORDER.NEXT] = -1
  orders[row + ORDER.LEVEL] = level
  levels[at + LEVEL.TAIL] = slot
  levels[at + LEVEL.COUNT]!++
  levelsF64[(at + LEVEL.LOTS) >>> 1]! += orders[row + ORDER.REMAINING]!
  pairs[pair * PAIR_WORDS + (sell ? PAIR.ASK_ORDERS : PAIR.BID_ORDERS)]!++
}

/** Takes an order out of its level; its REMAINING must still be what the level counts for it. */
export function removeFromLevel(state: State, slot: number): void {
  const { orders, levels, levelsF64 } = state
  const row = slot * ORDER_WORDS
  const at = orders[row + ORDER.LEVEL]! * LEVEL_WORDS
  const next = orders[row + ORDER.NEXT]!
  const prev = orders[row + ORDER.PREV]!
  if (prev < 0) levels[at + LEVEL.HEAD] = next
  else orders[prev * ORDER_WORDS + ORDER.NEXT] = next
  if (next < 0) levels[at + LEVEL.TAIL] = prev
  else orders[next * ORDER_WORDS + ORDER.PREV] = prev
  levelsF64[(at + LEVEL.LOTS) >>> 1]! -= orders[row + ORDER.REMAINING]!
  const sell = orders[row + ORDER.FLAGS]! & Flag.SELL
  const pair = orders[row + ORDER.PAIR]!
  state.pairs[pair * PAIR_WORDS + (sell ? PAIR.ASK_ORDERS : PAIR.BID_ORDERS)]!--
  if (--levels[at + LEVEL.COUNT]! === 0) vacate(state, pair, sell, orders[row + ORDER.PRICE]!, at)
}

/** Clears an emptied level and moves the best price on. */
function vacate(state: State, pair: number, sell: number, tick: number, at: number): void {
  const { levels, levelsF64, pages, pairs } = state
  levels[at + LEVEL.HEAD] = 0
  levels[at + LEVEL.TAIL] = 0
  levelsF64[(at + LEVEL.LOTS) >>> 1] = 0
  const page = state.directory[pair * state.pagesPerPair + (tick >>> 5)]! - 1
  const bits = page * PAGE_WORDS + (sell ? PAGE.ASKS : PAGE.BIDS)
  const left = pages[bits]! & ~(1 << (tick & 31))
  pages[bits] = left
  const pairRow = pair * PAIR_WORDS
  if (sell) {
    if (tick === pairs[pairRow + PAIR.BEST_ASK]) pairs[pairRow + PAIR.BEST_ASK] = tickAbove(state, pair, tick)
  } else if (tick === pairs[pairRow + PAIR.BEST_BID]) pairs[pairRow + PAIR.BEST_BID] = tickBelow(state, pair, tick)
  if (left === 0) {
    clearBit(state, pair * 2 + sell, tick >>> 5)
    if ((pages[page * PAGE_WORDS + PAGE.BIDS]! | pages[page * PAGE_WORDS + PAGE.ASKS]!) === 0) givePage(state, pair, tick >>> 5, page)
  }
}

/** The highest bid tick below `tick`, or 0. */
export function tickBelow(state: State, pair: number, tick: number): number {
  const ticks = tick >>> 5
  const page = state.directory[pair * state.pagesPerPair + ticks]! - 1
  const bit = tick & 31
  const near = page < 0 || bit === 0 ? 0 : state.pages[page * PAGE_WORDS + PAGE.BIDS]! & (-1 >>> (32 - bit))
  if (near !== 0) return (tick & ~31) | (31 - Math.clz32(near))
  const below = pageBelow(state, pair * 2, ticks)
  if (below < 0) return 0
  const word = state.pages[(state.directory[pair * state.pagesPerPair + below]! - 1) * PAGE_WORDS + PAGE.BIDS]!
  return (below << 5) | (31 - Math.clz32(word))
}

/** The lowest ask tick above `tick`, or NO_ASK. */
export function tickAbove(state: State, pair: number, tick: number): number {
  const ticks = tick >>> 5
  const page = state.directory[pair * state.pagesPerPair + ticks]! - 1
  const bit = tick & 31
  const near = page < 0 || bit === 31 ? 0 : state.pages[page * PAGE_WORDS + PAGE.ASKS]! & (-1 << (bit + 1))
  if (near !== 0) return (tick & ~31) | (31 - Math.clz32(near & -near))
  const above = pageAbove(state, pair * 2 + 1, ticks)
  if (above < 0) return NO_ASK
  const word = state.pages[(state.directory[pair * state.pagesPerPair + above]! - 1) * PAGE_WORDS + PAGE.ASKS]!
  return (above << 5) | (31 - Math.clz32(word & -word))
}

function takePage(state: State, pair: number, ticks: number): number {
  const { scalars, pages } = state
  let page = scalars[SCALAR.PAGES_FREE]!
  if (page >= 0) scalars[SCALAR.PAGES_FREE] = pages[page * PAGE_WORDS + PAGE.TICKS]!
  else page = scalars[SCALAR.PAGES_USED]!++
  pages[page * PAGE_WORDS + PAGE.PAIR] = pair
  pages[page * PAGE_WORDS + PAGE.TICKS] = ticks
  state.directory[pair * state.pagesPerPair + ticks] = page + 1
  return page
}

/** A free page keeps the next free page in its TICKS word. */
function givePage(state: State, pair: number, ticks: number, page: number): void {
  const { scalars, pages } = state
  pages[page * PAGE_WORDS + PAGE.TICKS] = scalars[SCALAR.PAGES_FREE]!
  scalars[SCALAR.PAGES_FREE] = page
  state.directory[pair * state.pagesPerPair + ticks] = 0
}
