/**
 * Follows with something to close, by when they are looked at next: those that are being stopped, and live ones whose leader closed what
 * could not be closed in the copy (orders/copy_close.ts). Live ones with lots that wait for a price to open at stand here too, with the
 * shortest pause (orders/copy_open.ts). Each look is a COPY_STEP of the sequencer.
 *
 * Who could close nothing in a round is looked at again after a pause, {@link PAUSE_ROUNDS} times after each of {@link PAUSES_MS} and after
 * the last one from then on: some 280 rounds for a pair that is halted for a day. A round that closed anything begins with the shortest
 * pause again. Each pause has a queue of its own, so each queue is in the order of times, and whoever is next is a head of one.
 */
import { FollowState } from '../layout/copying.ts'
import { append, CLOSING_FOLLOWS, firstOf, prepend, take } from '../state/copy_queues.ts'
import { FOLLOW } from '../state/copy_rows.ts'
import { add, get, getF64, now, set, setF64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'

export const PAUSES_MS = [5_000, 20_000, 80_000, 320_000] as const
export const PAUSE_ROUNDS = 4
/** ms that lots of a follow wait for a price to open at, at most. */
export const OPEN_WAIT_MS = 20_000

/** True when it stands in a queue; of one that is being stopped, except within a step of it. */
export const isClosing = (state: State, row: number): boolean =>
  get(state, row, FOLLOW.STATE) === FollowState.STOPPING || get(state, row, FOLLOW.CLOSE_LEFT) !== 0

function stand(state: State, row: number, queue: number, at: number): void {
  set(state, row, FOLLOW.CLOSE_QUEUE, queue)
  if (get(state, row, FOLLOW.STATE) !== FollowState.STOPPING) set(state, row, FOLLOW.CLOSE_LEFT, 1)
  setF64(state, row, FOLLOW.CLOSE_AT, at)
}

/** It stands in no queue and is looked at next, before all others that have not waited longer. */
export function lookFirst(state: State, row: number): void {
  stand(state, row, 0, now(state))
  prepend(state, CLOSING_FOLLOWS[0]!, row)
}

/** It stands in no queue, and is looked at again when the pause of its rounds is over. */
export function lookLater(state: State, row: number): void {
  const queue = Math.min(PAUSES_MS.length - 1, Math.floor(get(state, row, FOLLOW.ROUNDS) / PAUSE_ROUNDS))
  add(state, row, FOLLOW.ROUNDS, 1)
  stand(state, row, queue, now(state) + PAUSES_MS[queue]!)
  append(state, CLOSING_FOLLOWS[queue]!, row)
}

/** It stands in no queue, and is looked at again after the shortest pause. */
export function lookSoon(state: State, row: number): void {
  stand(state, row, 0, now(state) + PAUSES_MS[0])
  append(state, CLOSING_FOLLOWS[0]!, row)
}

/** Lots of a live follow wait for a price to open at: it is looked at after the shortest pause at the latest. */
export function waitToOpen(state: State, row: number): void {
  if (getF64(state, row, FOLLOW.OPEN_UNTIL) === 0) setF64(state, row, FOLLOW.OPEN_UNTIL, now(state) + OPEN_WAIT_MS)
  if (isClosing(state, row)) {
    if (getF64(state, row, FOLLOW.CLOSE_AT) <= now(state) + PAUSES_MS[0]) return
    leaveClosing(state, row)
  } else {
    set(state, row, FOLLOW.TRIED, 0)
    set(state, row, FOLLOW.ROUNDS, 0)
  }
  lookSoon(state, row)
}

/** Out of its queue. */
export function leaveClosing(state: State, row: number): void {
  take(state, CLOSING_FOLLOWS[get(state, row, FOLLOW.CLOSE_QUEUE)]!, row)
  set(state, row, FOLLOW.CLOSE_LEFT, 0)
}

/** Something of a live follow could not be closed: it is tried again after the shortest pause, unless it waits for that already. */
export function tryLater(state: State, row: number): void {
  if (isClosing(state, row)) return
  set(state, row, FOLLOW.TRIED, 0)
  set(state, row, FOLLOW.ROUNDS, 0)
  lookLater(state, row)
}

/** The follow that has waited longest among those whose time has come at `time`; -1: none. */
export function firstClosing(state: State, time: number): number {
  let [first, earliest] = [-1, Infinity]
  for (const queue of CLOSING_FOLLOWS) {
    const row = firstOf(state, queue)
    const at = row < 0 ? Infinity : getF64(state, row, FOLLOW.CLOSE_AT)
    if (at > time || at >= earliest) continue
    first = row
    earliest = at
  }
  return first
}
