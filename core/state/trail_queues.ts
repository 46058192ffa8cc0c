/**
 * Queues of trailing stops that are armed, of each perpetual and side one for each trailBps, in the order in which they were armed: column
 * trailQueues. A queue is its first and its last stop, and a bit says that it is not empty. The neighbours stand in the rows and are
 * stored; where queues begin and end is derived.
 */
import { LegFlag } from '../layout/conditional.ts'
import { CONDITIONAL, TRAIL_PLACES, TRAIL_QUEUE_WORDS } from './conditional_rows.ts'
import { PERP_TERMS } from './margin_rows.ts'
import { conditionalAt, conditionalRow, get, perpTermsRow, set } from './rows.ts'
import type { State } from './state.ts'

const BITS_AT = 2 * TRAIL_PLACES

/** Side of the stop at address `row`. 0: of longs, it sells; 1: of shorts. */
export const trailSide = (state: State, row: number): number => ((get(state, row, CONDITIONAL.FLAGS) & LegFlag.SELL) !== 0 ? 0 : 1)

const queuesOf = (state: State, pair: number, side: number): number =>
  ((get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER) - 1) * 2 + side) * TRAIL_QUEUE_WORDS
const queuesFor = (state: State, row: number): number => queuesOf(state, get(state, row, CONDITIONAL.PAIR), trailSide(state, row))

/** Address of the first stop of a queue that is not empty. */
export const firstOf = (state: State, pair: number, side: number, bps: number): number =>
  conditionalRow(state, state.trailQueues[queuesOf(state, pair, side) + 2 * bps]! - 1)

/** Lowest trailBps of a queue that is not empty, from `bps` on; -1: there is none. */
export function leastBps(state: State, pair: number, side: number, bps: number): number {
  const queues = queuesOf(state, pair, side)
  for (let word = bps >>> 5; word < TRAIL_PLACES / 32; word++) {
    const bits = state.trailQueues[queues + BITS_AT + word]! & (word === bps >>> 5 ? -1 << (bps & 31) : -1)
    if (bits !== 0) return word * 32 + 31 - Math.clz32(bits & -bits)
  }
  return -1
}

/** Puts the stop at address `row` at the end of its queue. */
export function enqueue(state: State, row: number): void {
  const { trailQueues } = state
  const queues = queuesFor(state, row)
  const bps = get(state, row, CONDITIONAL.TRAIL_BPS)
  const link = conditionalAt(state, row) + 1
  const last = trailQueues[queues + 2 * bps + 1]!
  set(state, row, CONDITIONAL.PREV, last)
  set(state, row, CONDITIONAL.NEXT, 0)
  if (last === 0) {
    trailQueues[queues + 2 * bps] = link
    trailQueues[queues + BITS_AT + (bps >>> 5)]! |= 1 << (bps & 31)
  } else set(state, conditionalRow(state, last - 1), CONDITIONAL.NEXT, link)
  trailQueues[queues + 2 * bps + 1] = link
}

/** Takes it out of its queue. */
export function dequeue(state: State, row: number): void {
  const { trailQueues } = state
  const queues = queuesFor(state, row)
  const bps = get(state, row, CONDITIONAL.TRAIL_BPS)
  const [next, prev] = [get(state, row, CONDITIONAL.NEXT), get(state, row, CONDITIONAL.PREV)]
  if (prev === 0) trailQueues[queues + 2 * bps] = next
  else set(state, conditionalRow(state, prev - 1), CONDITIONAL.NEXT, next)
  if (next === 0) trailQueues[queues + 2 * bps + 1] = prev
  else set(state, conditionalRow(state, next - 1), CONDITIONAL.PREV, prev)
  if (next === 0 && prev === 0) trailQueues[queues + BITS_AT + (bps >>> 5)]! &= ~(1 << (bps & 31))
  set(state, row, CONDITIONAL.NEXT, 0)
  set(state, row, CONDITIONAL.PREV, 0)
}

/** Finds the ends of the queue of the stop at address `row` again, which trails; all queues are empty before the first of them. */
export function rebuildQueue(state: State, row: number): void {
  const { trailQueues } = state
  const queues = queuesFor(state, row)
  const bps = get(state, row, CONDITIONAL.TRAIL_BPS)
  const link = conditionalAt(state, row) + 1
  if (get(state, row, CONDITIONAL.PREV) === 0) trailQueues[queues + 2 * bps] = link
  if (get(state, row, CONDITIONAL.NEXT) === 0) trailQueues[queues + 2 * bps + 1] = link
  trailQueues[queues + BITS_AT + (bps >>> 5)]! |= 1 << (bps & 31)
}
