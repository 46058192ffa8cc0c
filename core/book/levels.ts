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
import { LEVEL, ORDER, PAGE, PAGE_LEVELS, PAIR, SCALAR } from '../state/columns.ts'
import {
  add, addF64, addScalar, get, levelRow, orderRow, pageRow, pairRow, scalar, sequence, set, setF64, setScalar,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { clearBit, setBit } from '../state/bitmaps.ts'
import { entryOf, pageOf, tickAbove, tickBelow } from '../state/price_levels.ts'

export { levelOf, tickAbove, tickBelow } from '../state/price_levels.ts'

/** The address of the first order of an occupied tick. */
export function headOf(state: State, pair: number, tick: number): number {
  pair |= 0
  tick |= 0
  const page = pageOf(state, pair, tick)
  const level = levelRow(state, page * PAGE_LEVELS + (tick & 31))
  return orderRow(state, get(state, level, LEVEL.HEAD))
}

/** Puts the order at `row` at the back of its price level. Its PAIR, SLOT, PRICE, FLAGS and REMAINING must be set. */
export function appendToLevel(state: State, row: number): void {
  const pair = get(state, row, ORDER.PAIR)
  const tick = get(state, row, ORDER.PRICE)
  const sell = get(state, row, ORDER.FLAGS) & Flag.SELL
  const slot = get(state, row, ORDER.SLOT)
  let page = pageOf(state, pair, tick)
  if (page < 0) page = takePage(state, pair, tick >>> 5)
  const level = page * PAGE_LEVELS + (tick & 31)
  const at = levelRow(state, level)
  const book = pairRow(state, pair)
  const count = get(state, at, LEVEL.COUNT)
  if (count === 0) {
    occupy(state, pair, book, sell, tick, page)
    set(state, at, LEVEL.HEAD, slot)
    set(state, row, ORDER.PREV, -1)
  } else {
    const tail = get(state, at, LEVEL.TAIL)
    set(state, orderRow(state, tail), ORDER.NEXT, slot)
    set(state, row, ORDER.PREV, tail)
  }
  set(state, row, ORDER.NEXT, -1)
  set(state, row, ORDER.LEVEL, level)
  set(state, at, LEVEL.TAIL, slot)
  set(state, at, LEVEL.COUNT, count + 1)
  addF64(state, at, LEVEL.LOTS, get(state, row, ORDER.REMAINING))
  add(state, book, sell === 0 ? PAIR.BID_ORDERS : PAIR.ASK_ORDERS, 1)
}

/** Marks a level that gets its first order and moves the best price. */
function occupy(state: State, pair: number, book: number, sell: number, tick: number, page: number): void {
  const side = sell === 0 ? PAGE.BIDS : PAGE.ASKS
  const bits = get(state, pageRow(state, page), side)
  if (bits === 0) setBit(state, pair * 2 + sell, tick >>> 5)
  set(state, pageRow(state, page), side, bits | (1 << (tick & 31)))
  if (sell !== 0) {
    if (tick < get(state, book, PAIR.BEST_ASK)) set(state, book, PAIR.BEST_ASK, tick)
  } else if (tick > get(state, book, PAIR.BEST_BID)) set(state, book, PAIR.BEST_BID, tick)
}

/** Takes the order at `row` out of its level; its REMAINING must still be what the level counts for it. */
export function removeFromLevel(state: State, row: number): void {
  const at = levelRow(state, get(state, row, ORDER.LEVEL))
  const next = get(state, row, ORDER.NEXT)
  const prev = get(state, row, ORDER.PREV)
  if (prev < 0) set(state, at, LEVEL.HEAD, next)
  else set(state, orderRow(state, prev), ORDER.NEXT, next)
  if (next < 0) set(state, at, LEVEL.TAIL, prev)
  else set(state, orderRow(state, next), ORDER.PREV, prev)
  addF64(state, at, LEVEL.LOTS, -get(state, row, ORDER.REMAINING))
  const sell = get(state, row, ORDER.FLAGS) & Flag.SELL
  const pair = get(state, row, ORDER.PAIR)
  const book = pairRow(state, pair)
  add(state, book, sell === 0 ? PAIR.BID_ORDERS : PAIR.ASK_ORDERS, -1)
  const count = get(state, at, LEVEL.COUNT) - 1
  set(state, at, LEVEL.COUNT, count)
  if (count === 0) vacate(state, pair, book, sell, get(state, row, ORDER.PRICE), at)
}

/** Clears an emptied level and moves the best price on. */
function vacate(state: State, pair: number, book: number, sell: number, tick: number, at: number): void {
  set(state, at, LEVEL.HEAD, 0)
  set(state, at, LEVEL.TAIL, 0)
  setF64(state, at, LEVEL.LOTS, 0)
  const entry = entryOf(state, pair, tick)
  const page = get(state, entry, 0) - 1
  const side = sell === 0 ? PAGE.BIDS : PAGE.ASKS
  const left = get(state, pageRow(state, page), side) & ~(1 << (tick & 31))
  set(state, pageRow(state, page), side, left)
  if (sell !== 0) {
    if (tick === get(state, book, PAIR.BEST_ASK)) set(state, book, PAIR.BEST_ASK, tickAbove(state, pair, tick))
  } else if (tick === get(state, book, PAIR.BEST_BID)) set(state, book, PAIR.BEST_BID, tickBelow(state, pair, tick))
  if (left === 0) {
    clearBit(state, pair * 2 + sell, tick >>> 5)
    givePageIfEmpty(state, entry, page)
  }
}

function takePage(state: State, pair: number, ticks: number): number {
  let page = scalar(state, SCALAR.PAGES_FREE)
  if (page >= 0) setScalar(state, SCALAR.PAGES_FREE, get(state, pageRow(state, page), PAGE.TICKS))
  else {
    page = scalar(state, SCALAR.PAGES_USED)
    setScalar(state, SCALAR.PAGES_USED, page + 1)
  }
  addScalar(state, SCALAR.PAGES_LIVE, 1)
  const row = pageRow(state, page)
  set(state, row, PAGE.PAIR, pair)
  set(state, row, PAGE.TICKS, ticks)
  set(state, entryOf(state, pair, ticks << 5), 0, page + 1)
  return page
}

/** A free page keeps the next free page in its TICKS word. */
function givePageIfEmpty(state: State, entry: number, page: number): void {
  const row = pageRow(state, page)
  if ((get(state, row, PAGE.BIDS) | get(state, row, PAGE.ASKS)) !== 0) return
  set(state, row, PAGE.TICKS, scalar(state, SCALAR.PAGES_FREE))
  setScalar(state, SCALAR.PAGES_FREE, page)
  addScalar(state, SCALAR.PAGES_LIVE, -1)
  set(state, entry, 0, 0)
}

/** The book of `pair` changed with this command, for readers. */
export function touchBook(state: State, pair: number): void {
  const book = pairRow(state, pair)
  add(state, book, PAIR.VERSION, 1)
  setF64(state, book, PAIR.SEQUENCE, sequence(state))
}
