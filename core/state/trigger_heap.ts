/**
 * The heaps of triggers: two a pair in column `triggers`, of what fires when the price is at a trigger or below, and at it or above; the
 * trigger that is met first in front. So a price touches only what it crosses.
 *
 * A heap is its size and then rows of conditional orders; column `triggerAt` has where each of them stands, 0: in none. At one trigger the
 * one that was made first comes first, then the lower row. Derived: in no digest, built from the rows after a load (rebuild.ts).
 */
import { LegFlag } from '../layout/conditional.ts'
import { CONDITIONAL } from './conditional_rows.ts'
import { conditionalAt, conditionalRow, get, getF64 } from './rows.ts'
import type { State } from './state.ts'

/** Where in column `triggers` the heap of a side of `pair` begins. */
const heapOf = (state: State, pair: number, above: number): number =>
  (pair * 2 + above) * (state.genesis.limits.conditionalOrders + 1)

const sideOf = (state: State, row: number): number => ((get(state, row, CONDITIONAL.FLAGS) & LegFlag.ABOVE) !== 0 ? 1 : 0)

/** Address of the first of the heap, or -1. */
export function firstTrigger(state: State, pair: number, above: boolean): number {
  const heap = heapOf(state, pair, above ? 1 : 0)
  return state.triggers[heap] === 0 ? -1 : conditionalRow(state, state.triggers[heap + 1]!)
}

/** No price is above it. */
const HIGHEST = 2 ** 31 - 1

/** Ticks at which the conditional order at address `row` is met. A trailing stop without an activation price is armed by any mark. */
export function metAt(state: State, row: number): number {
  const trigger = get(state, row, CONDITIONAL.TRIGGER)
  return trigger !== 0 || sideOf(state, row) === 1 ? trigger : HIGHEST
}

/** True when a price is at a trigger or beyond it: above, or below. Ticks. */
export const meets = (above: boolean, trigger: number, price: number): boolean => (above ? price >= trigger : price <= trigger)

/** True when the conditional order at address `row` is met by the price `mark`, ticks. */
export const isCrossed = (state: State, row: number, mark: number): boolean => meets(sideOf(state, row) === 1, metAt(state, row), mark)

/** True when the conditional order at address `a` is met before that at `b`, which stands in the same heap. */
function before(state: State, a: number, b: number): boolean {
  const difference = metAt(state, a) - metAt(state, b)
  if (difference !== 0) return sideOf(state, a) === 1 ? difference < 0 : difference > 0
  return isOlder(state, a, b)
}

/** True when the one at `a` was made before that at `b`; of one command the lower row. */
export function isOlder(state: State, a: number, b: number): boolean {
  const made = getF64(state, a, CONDITIONAL.CREATED_SEQUENCE) - getF64(state, b, CONDITIONAL.CREATED_SEQUENCE)
  return made === 0 ? a < b : made < 0
}

function put(state: State, heap: number, at: number, conditional: number): void {
  state.triggers[heap + at] = conditional
  state.triggerAt[conditional] = at
}

/** Moves the one at place `at` to where it belongs. */
function settle(state: State, heap: number, at: number): void {
  const { triggers } = state
  const conditional = triggers[heap + at]!
  const row = conditionalRow(state, conditional)
  while (at > 1 && before(state, row, conditionalRow(state, triggers[heap + (at >> 1)]!))) {
    put(state, heap, at, triggers[heap + (at >> 1)]!)
    at >>= 1
  }
  const size = triggers[heap]!
  for (;;) {
    let child = at * 2
    if (child > size) break
    const [left, right] = [conditionalRow(state, triggers[heap + child]!), conditionalRow(state, triggers[heap + child + 1]!)]
    if (child < size && before(state, right, left)) child++
    if (!before(state, conditionalRow(state, triggers[heap + child]!), row)) break
    put(state, heap, at, triggers[heap + child]!)
    at = child
  }
  put(state, heap, at, conditional)
}

/** Puts the conditional order at address `row` into the heap of its pair and direction. */
export function enterHeap(state: State, row: number): void {
  const heap = heapOf(state, get(state, row, CONDITIONAL.PAIR), sideOf(state, row))
  const at = ++state.triggers[heap]!
  put(state, heap, at, conditionalAt(state, row))
  settle(state, heap, at)
}

/** Takes it out again. */
export function leaveHeap(state: State, row: number): void {
  const { triggers, triggerAt } = state
  const heap = heapOf(state, get(state, row, CONDITIONAL.PAIR), sideOf(state, row))
  const conditional = conditionalAt(state, row)
  const at = triggerAt[conditional]!
  const size = triggers[heap]!
  triggerAt[conditional] = 0
  const last = triggers[heap + size]!
  triggers[heap + size] = 0
  triggers[heap] = size - 1
  if (at === size) return
  put(state, heap, at, last)
  settle(state, heap, at)
}
