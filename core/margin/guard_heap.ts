/**
 * The heaps of guards (guards.ts): two a perpetual in column `guards`, of its long and of its short positions, least key first. A heap is
 * its size and then rows of positions; row n of column `guardKeys` is the key of position n and its place, which is below 0 in a heap of
 * shorts. Keys are doubles, whole and below 2^53. All of it is derived from the stored columns, and zero until somebody builds it.
 */
import { GUARD, GUARD_DRIFT, GUARD_TAKEN, PERP_TERMS, POSITION } from '../state/margin_rows.ts'
import { get, getF64, guardDriftRow, guardRow, perpTermsRow, positionAt, set, setF64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'

export const perpNumber = (state: State, pair: number): number => get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER)
/** The row that counts how far funding moved the guards of `pair`, a perpetual. */
export const driftRow = (state: State, pair: number): number => guardDriftRow(state, perpNumber(state, pair))

/** Where in column `guards` the heap of a side of `pair`, a perpetual, begins. */
function heapOf(state: State, pair: number, shorts: boolean): number {
  const number = perpNumber(state, pair) - 1
  return (number * 2 + (shorts ? 1 : 0)) * (state.genesis.limits.positions + 1)
}

const keyOf = (state: State, position: number): number => getF64(state, guardRow(state, position), GUARD.KEY)

/** The position (its number) whose guard is reached first on that side of `pair`; -1: none has one. */
export function firstGuard(state: State, pair: number, shorts: boolean): number {
  const heap = heapOf(state, pair, shorts)
  return state.guards[heap] === 0 ? -1 : state.guards[heap + 1]!
}

/** Key of the guard of a position that has one. */
export const guardKey = keyOf

/** True when position `a` stands before `b`: at equal keys the lower row. */
function before(state: State, a: number, b: number): boolean {
  const difference = keyOf(state, a) - keyOf(state, b)
  return difference === 0 ? a < b : difference < 0
}

function put(state: State, heap: number, shorts: boolean, at: number, position: number): void {
  state.guards[heap + at] = position
  set(state, guardRow(state, position), GUARD.AT, shorts ? -at : at)
}

/** Moves the position at place `at` to where it belongs. */
function settle(state: State, heap: number, shorts: boolean, at: number): void {
  const { guards } = state
  const position = guards[heap + at]!
  while (at > 1 && before(state, position, guards[heap + (at >> 1)]!)) {
    put(state, heap, shorts, at, guards[heap + (at >> 1)]!)
    at >>= 1
  }
  const size = guards[heap]!
  for (;;) {
    let child = at * 2
    if (child > size) break
    if (child < size && before(state, guards[heap + child + 1]!, guards[heap + child]!)) child++
    if (!before(state, guards[heap + child]!, position)) break
    put(state, heap, shorts, at, guards[heap + child]!)
    at = child
  }
  put(state, heap, shorts, at, position)
}

/** Gives the position at address `row` a guard at `tick` on a side of its pair. It has none on the other. */
export function setGuard(state: State, row: number, shorts: boolean, tick: number): void {
  const { guards } = state
  const drift = driftRow(state, get(state, row, POSITION.PAIR))
  const position = positionAt(state, row)
  const guard = guardRow(state, position)
  const heap = heapOf(state, get(state, row, POSITION.PAIR), shorts)
  if (shorts) setF64(state, guard, GUARD.KEY, getF64(state, drift, GUARD_DRIFT.SHORTS) + tick)
  else setF64(state, guard, GUARD.KEY, getF64(state, drift, GUARD_DRIFT.LONGS) - tick)
  let at = get(state, guard, GUARD.AT)
  if (at === 0 || at === GUARD_TAKEN) {
    guards[heap] = guards[heap]! + 1
    at = guards[heap]!
    guards[heap + at] = position
  } else if (shorts) at = -at
  settle(state, heap, shorts, at)
}

/** The position at address `row` has no guard from now on. */
export function disarm(state: State, row: number): void {
  const { guards } = state
  const guard = guardRow(state, positionAt(state, row))
  let at = get(state, guard, GUARD.AT)
  set(state, guard, GUARD.AT, 0)
  if (at === 0 || at === GUARD_TAKEN) return
  const shorts = at < 0
  if (shorts) at = -at
  const heap = heapOf(state, get(state, row, POSITION.PAIR), shorts)
  const size = guards[heap]!
  const last = guards[heap + size]!
  guards[heap] = size - 1
  if (at === size) return
  put(state, heap, shorts, at, last)
  settle(state, heap, shorts, at)
}

/** The guard of the position at address `row` was reached: it is in no heap until its bucket was looked at. */
export function takeFromHeap(state: State, row: number): void {
  disarm(state, row)
  set(state, guardRow(state, positionAt(state, row)), GUARD.AT, GUARD_TAKEN)
}
