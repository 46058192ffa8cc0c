/** Order book depth from the shared columns. */
import { LEVEL, NO_ASK, PAIR } from '../state/columns.ts'
import { get, getF64, levelRow, pairRow, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { levelOf, tickAbove, tickBelow } from '../book/levels.ts'
import { BRIEF, consistently, hasMoved } from './consistent.ts'

export interface DepthLevel {
  /** Ticks; with grouping, the lowest tick of a bid group or the highest of an ask group. */
  price: number
  lots: number
  orders: number
}

export interface Depth {
  bids: DepthLevel[]
  asks: DepthLevel[]
  bestBid: number | null
  bestAsk: number | null
  /** Sequence of the last command that changed this book. */
  sequence: number
  /** The walk ended at its bound: there are levels behind the last that nobody looked at. */
  cut: boolean
}

/**
 * The best `depth` levels of each side of `pair`, grouped by `group` ticks; `null` when no consistent copy could be made. The
 * walk of a side looks at `most` levels at most.
 */
export function readDepth(
  state: State, gate: Int32Array, pair: number, depth: number, group: number, most: number = WALK_MAX,
): Depth | null {
  const at = wordOf(pairRow(state, pair), PAIR.VERSION)
  return consistently(gate, state.i32, at, (version) => {
    return copyDepth(state, pair, depth, group, most, () => hasMoved(state.i32, at, version))
  }, BRIEF)
}

/** The book as it is now: consistent only inside {@link consistently}. Stops when it is `pointless` to go on. */
function copyDepth(state: State, pair: number, depth: number, group: number, most: number, pointless: () => boolean): Depth {
  const row = pairRow(state, pair)
  const bid = get(state, row, PAIR.BEST_BID)
  const ask = get(state, row, PAIR.BEST_ASK)
  const bids = side(state, pair, bid, depth, group, true, most, pointless)
  const asks = side(state, pair, ask, depth, group, false, most, pointless)
  return {
    bids: bids.levels,
    asks: asks.levels,
    cut: bids.cut || asks.cut,
    bestBid: bid === 0 ? null : bid,
    bestAsk: ask === NO_ASK ? null : ask,
    sequence: getF64(state, row, PAIR.SEQUENCE),
  }
}

/** Levels of a side that one reader walks at most; a torn read ends here too. */
const WALK_MAX = 100_000
/** Levels between two looks whether the copy is still any good. */
const LOOK_LEVELS = 256

function side(
  state: State, pair: number, best: number, depth: number, group: number, bids: boolean, most: number, pointless: () => boolean,
): { levels: DepthLevel[]; cut: boolean } {
  const levels: DepthLevel[] = []
  let tick = best
  for (let walked = 0; tick !== 0 && tick !== NO_ASK; walked++) {
    if (walked === most || (walked % LOOK_LEVELS === LOOK_LEVELS - 1 && pointless())) return { levels, cut: true }
    const level = levelOf(state, pair, tick)
    if (level < 0) break
    const at = levelRow(state, level)
    const price = bids ? Math.floor(tick / group) * group : Math.ceil(tick / group) * group
    const last = levels[levels.length - 1]
    if (last !== undefined && last.price === price) {
      last.lots += getF64(state, at, LEVEL.LOTS)
      last.orders += get(state, at, LEVEL.COUNT)
    } else {
      if (levels.length === depth) break
      levels.push({ price, lots: getF64(state, at, LEVEL.LOTS), orders: get(state, at, LEVEL.COUNT) })
    }
    const next = bids ? tickBelow(state, pair, tick) : tickAbove(state, pair, tick)
    if (bids ? next >= tick : next <= tick) break
    tick = next
  }
  return { levels, cut: false }
}
