/**
 * Queues of copy trading: leads that wait for their turn, leaders whose handles were released, and follows with something to close. Doubly
 * linked rows, oldest first; a link is the row's number + 1, 0: there is none. The ends stand in the row of copy trading (copy_rows.ts). A
 * row that is taken has no links.
 */
import { COPYING, FOLLOW, LEAD, LEADER } from './copy_rows.ts'
import { copyingRow, followAt, followRow, get, leadAt, leaderAt, leaderRow, leadRow, set } from './rows.ts'
import type { State } from './state.ts'

export interface Queue {
  /** Words of the ends in the row of copy trading, and of the links in a row of the queue. */
  readonly first: number
  readonly last: number
  readonly next: number
  readonly prev: number
  readonly rowOf: (state: State, number: number) => number
  readonly numberOf: (state: State, row: number) => number
}

export const WAITING_LEADS: Queue = {
  first: COPYING.FIRST_LEAD, last: COPYING.LAST_LEAD, next: LEAD.NEXT, prev: LEAD.PREV, rowOf: leadRow, numberOf: leadAt,
}
export const RELEASED_LEADERS: Queue = {
  first: COPYING.FIRST_RELEASED, last: COPYING.LAST_RELEASED, next: LEADER.NEXT, prev: LEADER.PREV, rowOf: leaderRow, numberOf: leaderAt,
}

const closing = (first: number, last: number): Queue =>
  ({ first, last, next: FOLLOW.CLOSE_NEXT, prev: FOLLOW.CLOSE_PREV, rowOf: followRow, numberOf: followAt })
/** By the pause that goes before each. */
export const CLOSING_FOLLOWS: readonly Queue[] = [
  closing(COPYING.FIRST_CLOSING, COPYING.LAST_CLOSING), closing(COPYING.FIRST_CLOSING_2, COPYING.LAST_CLOSING_2),
  closing(COPYING.FIRST_CLOSING_3, COPYING.LAST_CLOSING_3), closing(COPYING.FIRST_CLOSING_4, COPYING.LAST_CLOSING_4),
]

/** The oldest row; -1: none waits. */
export function firstOf(state: State, { first, rowOf }: Queue): number {
  const link = get(state, copyingRow(state), first)
  return link === 0 ? -1 : rowOf(state, link - 1)
}

/** Puts a row that stands nowhere at the end. */
export const append = (state: State, queue: Queue, row: number): void =>
  putAt(state, queue, row, queue.last, queue.first, queue.prev, queue.next)

/** Puts a row that stands nowhere before all others. */
export const prepend = (state: State, queue: Queue, row: number): void =>
  putAt(state, queue, row, queue.first, queue.last, queue.next, queue.prev)

/** Words: `end` of the end where the row comes to stand, `far` of the other; `inward` of links to the others, `outward` of those back. */
function putAt(state: State, queue: Queue, row: number, end: number, far: number, inward: number, outward: number): void {
  const copying = copyingRow(state)
  const neighbour = get(state, copying, end)
  const link = queue.numberOf(state, row) + 1
  set(state, row, inward, neighbour)
  set(state, row, outward, 0)
  if (neighbour === 0) set(state, copying, far, link)
  else set(state, queue.rowOf(state, neighbour - 1), outward, link)
  set(state, copying, end, link)
}

/** Takes a row out, wherever it stands. */
export function take(state: State, queue: Queue, row: number): void {
  const copying = copyingRow(state)
  const [next, prev] = [get(state, row, queue.next), get(state, row, queue.prev)]
  if (prev === 0) set(state, copying, queue.first, next)
  else set(state, queue.rowOf(state, prev - 1), queue.next, next)
  if (next === 0) set(state, copying, queue.last, prev)
  else set(state, queue.rowOf(state, next - 1), queue.prev, prev)
  set(state, row, queue.next, 0)
  set(state, row, queue.prev, 0)
}
