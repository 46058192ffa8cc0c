/**
 * Price levels: FIFO queues of orders at one tick, in pages of 32 ticks that come and go with their orders.
 *
 *   directory[pair, tick / 32] -> page -> level (head, tail, count, lots) -> order -> order -> ...
 *
 * Invariants: a level without orders has its bit clear and all fields zero; a page with no bit set is in the free list; best
 * bid and best ask of the pair row are the highest and lowest occupied ticks of their side. Append and remove are O(1); a level
 * that empties at the best price costs one bitmap search.
 *
 * Orders are named by the address of their row here (columns.ts); the links in rows and levels are slots.
 */
import { Flag } from '../layout/command.ts'
import {
  ADDRESS_BITS, LEVEL, LEVEL_WORDS, NO_ASK, ORDER, ORDER_WORDS, PAGE, PAGE_LEVELS, PAGE_WORDS, PAIR, PAIR_WORDS, SCALAR, SCALARS_AT,
  TERMS, TERMS_WORDS,
} from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { clearBit, pageAbove, pageBelow, setBit } from '../state/bitmaps.ts'

const PAGES_FREE = SCALARS_AT + SCALAR.PAGES_FREE
const PAGES_USED = SCALARS_AT + SCALAR.PAGES_USED
const PAGES_LIVE = SCALARS_AT + SCALAR.PAGES_LIVE

/** Where the directory says which page holds `tick` of `pair`. */
const entryOf = (state: State, pair: number, tick: number): number =>
  (state.i32[(state.termsAt + pair * TERMS_WORDS + TERMS.DIRECTORY) & ADDRESS_BITS]! + (tick >>> 5)) & ADDRESS_BITS

/** The number of the level of an occupied tick. */
export function levelOf(state: State, pair: number, tick: number): number {
  return (state.i32[entryOf(state, pair, tick)]! - 1) * PAGE_LEVELS + (tick & 31)
}

/** The address of the first order of an occupied tick. */
export function headOf(state: State, pair: number, tick: number): number {
  pair |= 0
  tick |= 0
  const { i32 } = state
  const page = i32[entryOf(state, pair, tick)]! - 1
  const level = (state.levelsAt + (page * PAGE_LEVELS + (tick & 31)) * LEVEL_WORDS) & ADDRESS_BITS
  return (state.ordersAt + i32[level + LEVEL.HEAD]! * ORDER_WORDS) & ADDRESS_BITS
}

/** Puts the order at `row` at the back of its price level. Its PAIR, SLOT, PRICE, FLAGS and REMAINING must be set. */
export function appendToLevel(state: State, row: number): void {
  row &= ADDRESS_BITS
  const { i32, f64 } = state
  const pair = i32[row + ORDER.PAIR]!
  const tick = i32[row + ORDER.PRICE]!
  const sell = i32[row + ORDER.FLAGS]! & Flag.SELL
  const slot = i32[row + ORDER.SLOT]!
  let page = i32[entryOf(state, pair, tick)]! - 1
  if (page < 0) page = takePage(state, pair, tick >>> 5)
  const level = (page * PAGE_LEVELS + (tick & 31)) & ADDRESS_BITS
  const at = (state.levelsAt + level * LEVEL_WORDS) & ADDRESS_BITS
  const pairRow = (state.pairsAt + pair * PAIR_WORDS) & ADDRESS_BITS
  const count = i32[at + LEVEL.COUNT]!
  if (count === 0) {
    occupy(state, pair, pairRow, sell, tick, page)
    i32[at + LEVEL.HEAD] = slot
    i32[row + ORDER.PREV] = -1
  } else {
    const tail = i32[at + LEVEL.TAIL]!
    i32[(state.ordersAt + tail * ORDER_WORDS + ORDER.NEXT) & ADDRESS_BITS] = slot
    i32[row + ORDER.PREV] = tail
  }
  i32[row + ORDER.NEXT] = -1
  i32[row + ORDER.LEVEL] = level
  i32[at + LEVEL.TAIL] = slot
  i32[at + LEVEL.COUNT] = count + 1
  f64[(at + LEVEL.LOTS) >>> 1] = f64[(at + LEVEL.LOTS) >>> 1]! + i32[row + ORDER.REMAINING]!
  i32[pairRow + (sell === 0 ? PAIR.BID_ORDERS : PAIR.ASK_ORDERS)]!++
}

/** Marks a level that gets its first order and moves the best price. */
function occupy(state: State, pair: number, pairRow: number, sell: number, tick: number, page: number): void {
  const { i32 } = state
  const bits = (state.pagesAt + page * PAGE_WORDS + (sell === 0 ? PAGE.BIDS : PAGE.ASKS)) & ADDRESS_BITS
  if (i32[bits] === 0) setBit(state, pair * 2 + sell, tick >>> 5)
  i32[bits] = i32[bits]! | (1 << (tick & 31))
  if (sell !== 0) {
    if (tick < i32[pairRow + PAIR.BEST_ASK]!) i32[pairRow + PAIR.BEST_ASK] = tick
  } else if (tick > i32[pairRow + PAIR.BEST_BID]!) i32[pairRow + PAIR.BEST_BID] = tick
}

/** Takes the order at `row` out of its level; its REMAINING must still be what the level counts for it. */
export function removeFromLevel(state: State, row: number): void {
  row &= ADDRESS_BITS
  const { i32, f64 } = state
  const { ordersAt } = state
  const at = (state.levelsAt + i32[row + ORDER.LEVEL]! * LEVEL_WORDS) & ADDRESS_BITS
  const next = i32[row + ORDER.NEXT]!
  const prev = i32[row + ORDER.PREV]!
  if (prev < 0) i32[at + LEVEL.HEAD] = next
  else i32[(ordersAt + prev * ORDER_WORDS + ORDER.NEXT) & ADDRESS_BITS] = next
  if (next < 0) i32[at + LEVEL.TAIL] = prev
  else i32[(ordersAt + next * ORDER_WORDS + ORDER.PREV) & ADDRESS_BITS] = prev
  f64[(at + LEVEL.LOTS) >>> 1] = f64[(at + LEVEL.LOTS) >>> 1]! - i32[row + ORDER.REMAINING]!
  const sell = i32[row + ORDER.FLAGS]! & Flag.SELL
  const pair = i32[row + ORDER.PAIR]!
  const pairRow = (state.pairsAt + pair * PAIR_WORDS) & ADDRESS_BITS
  i32[pairRow + (sell === 0 ? PAIR.BID_ORDERS : PAIR.ASK_ORDERS)]!--
  const count = i32[at + LEVEL.COUNT]! - 1
  i32[at + LEVEL.COUNT] = count
  if (count === 0) vacate(state, pair, pairRow, sell, i32[row + ORDER.PRICE]!, at)
}

/** Clears an emptied level and moves the best price on. */
function vacate(state: State, pair: number, pairRow: number, sell: number, tick: number, at: number): void {
  const { i32, f64 } = state
  i32[at + LEVEL.HEAD] = 0
  i32[at + LEVEL.TAIL] = 0
  f64[(at + LEVEL.LOTS) >>> 1] = 0
  const entry = entryOf(state, pair, tick)
  const page = i32[entry]! - 1
  const bits = (state.pagesAt + page * PAGE_WORDS + (sell === 0 ? PAGE.BIDS : PAGE.ASKS)) & ADDRESS_BITS
  const left = i32[bits]! & ~(1 << (tick & 31))
  i32[bits] = left
  if (sell !== 0) {
    if (tick === i32[pairRow + PAIR.BEST_ASK]) i32[pairRow + PAIR.BEST_ASK] = tickAbove(state, pair, tick)
  } else if (tick === i32[pairRow + PAIR.BEST_BID]) i32[pairRow + PAIR.BEST_BID] = tickBelow(state, pair, tick)
  if (left === 0) {
    clearBit(state, pair * 2 + sell, tick >>> 5)
    givePageIfEmpty(state, entry, page)
  }
}

/** Ticks of `pair` in page-of-ticks `ticks` that hold orders of a side, as bits. */
function bitsOf(state: State, pair: number, ticks: number, side: number): number {
  const { i32 } = state
  const page = i32[entryOf(state, pair, ticks << 5)]! - 1
  return page < 0 ? 0 : i32[(state.pagesAt + page * PAGE_WORDS + side) & ADDRESS_BITS]!
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

function takePage(state: State, pair: number, ticks: number): number {
  const { i32 } = state
  let page = i32[PAGES_FREE]!
  if (page >= 0) i32[PAGES_FREE] = i32[state.pagesAt + page * PAGE_WORDS + PAGE.TICKS]!
  else page = i32[PAGES_USED]!++
  i32[PAGES_LIVE]!++
  const row = state.pagesAt + page * PAGE_WORDS
  i32[row + PAGE.PAIR] = pair
  i32[row + PAGE.TICKS] = ticks
  i32[entryOf(state, pair, ticks << 5)] = page + 1
  return page
}

/** A free page keeps the next free page in its TICKS word. */
function givePageIfEmpty(state: State, entry: number, page: number): void {
  const { i32 } = state
  const row = state.pagesAt + page * PAGE_WORDS
  if ((i32[row + PAGE.BIDS]! | i32[row + PAGE.ASKS]!) !== 0) return
  i32[row + PAGE.TICKS] = i32[PAGES_FREE]!
  i32[PAGES_FREE] = page
  i32[PAGES_LIVE]!--
  i32[entry] = 0
}
