/** Price levels as they are, one after the other: what the matcher answers of a book. For the thread that writes the book only. */
import { levelOf, tickAbove, tickBelow } from '../book/levels.ts'
import { LEVEL, NO_ASK, PAIR } from '../state/columns.ts'
import { get, getF64, levelRow, pairRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { LEVEL_ANSWER, LEVEL_ANSWER_WORDS, type Cell } from '../ring/questions.ts'

/**
 * Writes bids below tick `from`, or asks above it, best first and `most` at most, into the payload, as its levels from number `first` on;
 * returns how many there were. `from` 0: from the best on.
 */
export function copyLevels(
  state: State, pair: number, bids: boolean, from: number, most: number, { i32, f64 }: Cell, first: number,
): number {
  if (most === 0) return 0
  let tick = from === 0 ? get(state, pairRow(state, pair), bids ? PAIR.BEST_BID : PAIR.BEST_ASK) : next(state, pair, bids, from)
  let count = 0
  for (; count < most && tick !== 0 && tick !== NO_ASK; count++) {
    const level = levelRow(state, levelOf(state, pair, tick))
    const at = (first + count) * LEVEL_ANSWER_WORDS
    i32[at + LEVEL_ANSWER.TICK] = tick
    i32[at + LEVEL_ANSWER.ORDERS] = get(state, level, LEVEL.COUNT)
    f64[(at + LEVEL_ANSWER.LOTS) >>> 1] = getF64(state, level, LEVEL.LOTS)
    tick = next(state, pair, bids, tick)
  }
  return count
}

const next = (state: State, pair: number, bids: boolean, tick: number): number =>
  bids ? tickBelow(state, pair, tick) : tickAbove(state, pair, tick)
