/**
 * Who is asked first in auto-deleveraging: positions of the other side of a perpetual, by profit × leverage.
 *
 *   score = U / |COST| × LEVERAGE       U at the mark of now; ties: the lower row first
 *
 * A score is a double, made by the same two operations everywhere. Whoever gains most for what he put in is asked first; positions with a
 * loss come last, but they come: the lots of both sides are equal, so there is somebody for every lot.
 *
 * There is no list of the positions of a perpetual; a walk over all rows finds the best RANKED_MAX, {@link WALK_MAX} rows with each
 * command. While it goes on they are a heap, who is asked last at its root, so a row costs as many steps as the heap has levels; at its
 * end they are sorted once. In a storm the walks are most of the work, and the more one finds, the fewer there are. Its place and what it
 * found stand in the column `rankings`, one row for each side of each perpetual: whoever needs the same side goes on with the same walk,
 * and with what it found. A ranking is good for {@link GOOD_MS} from when it began; a walk that is not at its end goes on however long it
 * takes. Positions may have changed since they were ranked: whoever asks one looks at it.
 *
 * Widest product: U < 2^60 (margin/figures.ts), and |COST| is 1 at least, so a score is a double < 2^60 × 10^5 (LEVERAGE_MOST) < 2^77:
 * rounded, never infinite, never NaN.
 */
import { N, R } from '../state/balances.ts'
import { SCALAR } from '../state/columns.ts'
import { PERP_TERMS, POSITION, RANKED, RANKED_MAX, RANKED_WORDS, RANKING, RankingPhase } from '../state/margin_rows.ts'
import {
  add, get, getF64, getI64, noted, now, perpTermsRow, positionRow, rankedRow, rankingRow, scalar, set, setF64,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { unrealizedOf } from '../margin/figures.ts'

/** Rows of positions that one command looks at, at most; one with little work to do looks at fewer (note ROWS). */
export const WALK_MAX = 4096
/** ms of sequenced time. */
export const GOOD_MS = 1000

/** Goes on with the ranking of the longs or of the shorts of `pair`. Its row once it is at its end; -1: the next command goes on. */
export function rankingOf(state: State, pair: number, shorts: boolean): number {
  const ranking = rankingRow(state, get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER), shorts ? 1 : 0)
  const ranked = get(state, ranking, RANKING.PHASE) === RankingPhase.RANKED
  const spent = get(state, ranking, RANKING.NEXT) === get(state, ranking, RANKING.COUNT)
  if (ranked && !spent && now(state) - getF64(state, ranking, RANKING.BEGAN) < GOOD_MS) return ranking
  if (ranked || get(state, ranking, RANKING.PHASE) === RankingPhase.NONE) begin(state, ranking)
  const used = scalar(state, SCALAR.POSITIONS_USED)
  const from = get(state, ranking, RANKING.CURSOR)
  const end = Math.min(used, from + noted(state, N.ROWS))
  for (let row = from; row < end; row++) rank(state, ranking, row, pair, shorts)
  set(state, ranking, RANKING.CURSOR, end)
  if (end < used) return -1
  sort(state, ranking)
  set(state, ranking, RANKING.PHASE, RankingPhase.RANKED)
  return ranking
}

function begin(state: State, ranking: number): void {
  set(state, ranking, RANKING.PHASE, RankingPhase.WALKING)
  set(state, ranking, RANKING.CURSOR, 0)
  set(state, ranking, RANKING.COUNT, 0)
  set(state, ranking, RANKING.NEXT, 0)
  setF64(state, ranking, RANKING.BEGAN, now(state))
}

const isOf = (state: State, position: number, pair: number, shorts: boolean): boolean => {
  const lots = get(state, position, POSITION.LOTS)
  return (shorts ? lots < 0 : lots > 0) && get(state, position, POSITION.PAIR) === pair
}

/** What an open position is ranked by. */
export function scoreOf(state: State, position: number): number {
  const { registers } = state
  unrealizedOf(state, position)
  registers[R.M0] = getI64(state, position, POSITION.COST)
  if (registers[R.M0]! < 0n) registers[R.M0] = -registers[R.M0]!
  if (registers[R.M0] === 0n) registers[R.M0] = 1n
  return (Number(registers[R.UNREALIZED]!) / Number(registers[R.M0]!)) * get(state, position, POSITION.LEVERAGE)
}

/** Notes the position, if it is one of this side and among the best so far. */
function rank(state: State, ranking: number, row: number, pair: number, shorts: boolean): void {
  const position = positionRow(state, row)
  if (!isOf(state, position, pair, shorts)) return
  const score = scoreOf(state, position)
  const count = get(state, ranking, RANKING.COUNT)
  if (count === RANKED_MAX && getF64(state, rankedRow(ranking, 0), RANKED.SCORE) >= score) return
  const place = count < RANKED_MAX ? count : 0
  if (count < RANKED_MAX) add(state, ranking, RANKING.COUNT, 1)
  const at = rankedRow(ranking, place)
  setF64(state, at, RANKED.SCORE, score)
  setF64(state, at, RANKED.OPENED_SEQUENCE, getF64(state, position, POSITION.OPENED_SEQUENCE))
  set(state, at, RANKED.POSITION, row)
  if (count === RANKED_MAX) sink(state, ranking, RANKED_MAX)
  else rise(state, ranking, place)
}

/** True when place `a` is asked after place `b`. */
function after(state: State, ranking: number, a: number, b: number): boolean {
  const [one, other] = [rankedRow(ranking, a), rankedRow(ranking, b)]
  const difference = getF64(state, one, RANKED.SCORE) - getF64(state, other, RANKED.SCORE)
  return difference === 0 ? get(state, one, RANKED.POSITION) > get(state, other, RANKED.POSITION) : difference < 0
}

function swap(state: State, ranking: number, a: number, b: number): void {
  const [one, other] = [rankedRow(ranking, a), rankedRow(ranking, b)]
  for (let word = 0; word < RANKED_WORDS; word++) {
    const kept = state.i32[one + word]!
    state.i32[one + word] = state.i32[other + word]!
    state.i32[other + word] = kept
  }
}

/** What stands at `place` belongs there or nearer to the root of the heap. */
function rise(state: State, ranking: number, place: number): void {
  while (place > 0) {
    const above = (place - 1) >> 1
    if (!after(state, ranking, place, above)) return
    swap(state, ranking, place, above)
    place = above
  }
}

/** What stands at the root belongs there or deeper in a heap of `count`. */
function sink(state: State, ranking: number, count: number): void {
  for (let place = 0; ; ) {
    let child = 2 * place + 1
    if (child >= count) return
    if (child + 1 < count && after(state, ranking, child + 1, child)) child++
    if (!after(state, ranking, child, place)) return
    swap(state, ranking, place, child)
    place = child
  }
}

/** Makes the heap a list, best first: the root, who is asked last of those left, goes to the end of them. */
function sort(state: State, ranking: number): void {
  for (let left = get(state, ranking, RANKING.COUNT) - 1; left > 0; left--) {
    swap(state, ranking, 0, left)
    sink(state, ranking, left)
  }
}

/** The position at a place of a ranking, if it is still what it was, or -1. */
export function rankedAt(state: State, ranking: number, place: number, pair: number, shorts: boolean): number {
  const at = rankedRow(ranking, place)
  const position = positionRow(state, get(state, at, RANKED.POSITION))
  const same = getF64(state, position, POSITION.OPENED_SEQUENCE) === getF64(state, at, RANKED.OPENED_SEQUENCE)
  return same && isOf(state, position, pair, shorts) ? position : -1
}

/** The next position of a ranking that is still what it was, or -1: all were asked. It is asked once. */
export function nextRanked(state: State, ranking: number, pair: number, shorts: boolean): number {
  while (get(state, ranking, RANKING.NEXT) < get(state, ranking, RANKING.COUNT)) {
    const position = rankedAt(state, ranking, get(state, ranking, RANKING.NEXT), pair, shorts)
    add(state, ranking, RANKING.NEXT, 1)
    if (position >= 0) return position
  }
  return -1
}

/** The last position that {@link nextRanked} gave is not closed yet: it is the first to be asked again. */
export const askAgain = (state: State, ranking: number): void => add(state, ranking, RANKING.NEXT, -1)
