/**
 * The due queue: what time will do next, in the order in which it will do it.
 *
 * A 4-ary heap of places. A place is something that time acts on, and has a key: a moment in Unix ms, then a sequence. Its key is never
 * after the moment at which something must happen there, and may be before it: who finds a place first in the queue looks there, and
 * either something is due or the key goes up. So keys go down when something earlier comes, and nobody has to tell the queue what ended.
 *
 *   kind      place                                   key
 *   ORDERS    16 neighbouring rows of the order pool  expiry of the earliest order that rests there, and its sequence
 *   DEADLINES one account                             its deadline (orders/dead_man.ts), and 0; Infinity: it has none
 *
 * Other kinds (slices, triggers, funding, ends of sessions) are further ranges of places behind these, as {@link duePlaces} counts them.
 *
 * **An order without a time of its own costs nothing here.** Its lifetime is that of the genesis, so it cannot expire before the last
 * look at its place plus one lifetime, which is the highest key a place gets. An order with a time of its own is compared with the key
 * of its place.
 *
 * Derived: in no snapshot and no digest. Keys depend on when somebody looked; which order is next does not, because it is found in the
 * rows: by (expiresAt, sequence), whatever the heap went through. Nothing here allocates: numbers that are not small integers stay in
 * the columns.
 */
import { Flag } from '../layout/command.ts'
import { ACCOUNT, DUE_ROWS, DUE_SHIFT, duePlaces, ORDER, SCALAR } from './columns.ts'
import { accountRow, get, getF64, now, orderRow, scalar } from './rows.ts'
import type { State } from './state.ts'

const CHILDREN = 4
/** What {@link takeExpired} says besides a slot and an account. */
export const NOT_DUE = -1
export const LOOK_AGAIN = -2
const FIRST_ACCOUNT = -3

/** The account whose deadline {@link takeExpired} found; only of an answer below {@link LOOK_AGAIN}. */
export const accountTaken = (taken: number): number => FIRST_ACCOUNT - taken

/** Places in the heap; they stand from 1 on, so that 0 is none. */
export const dueCount = (state: State): number => state.dueHeap[0]!

/** True when the key of place `a` comes before that of place `b`; equal keys by place, so that there is one order only. */
function before(state: State, a: number, b: number): boolean {
  const { dueKeys } = state
  if (dueKeys[2 * a] !== dueKeys[2 * b]) return dueKeys[2 * a]! < dueKeys[2 * b]!
  return dueKeys[2 * a + 1] === dueKeys[2 * b + 1] ? a < b : dueKeys[2 * a + 1]! < dueKeys[2 * b + 1]!
}

function put(state: State, at: number, place: number): void {
  state.dueHeap[at] = place
  state.dueAt[place] = at
}

/** The place at `at` has a lower key than before. */
function rise(state: State, at: number): void {
  const { dueHeap } = state
  const place = dueHeap[at]!
  while (at > 1) {
    const above = ((at - 2) >>> 2) + 1
    if (!before(state, place, dueHeap[above]!)) break
    put(state, at, dueHeap[above]!)
    at = above
  }
  put(state, at, place)
}

/** The place at `at` has a higher key than before. */
function sink(state: State, at: number): void {
  const { dueHeap } = state
  const count = dueHeap[0]!
  const place = dueHeap[at]!
  for (;;) {
    const first = CHILDREN * (at - 1) + 2
    if (first > count) break
    let least = first
    const end = Math.min(first + CHILDREN, count + 1)
    for (let child = first + 1; child < end; child++) if (before(state, dueHeap[child]!, dueHeap[least]!)) least = child
    if (!before(state, dueHeap[least]!, place)) break
    put(state, at, dueHeap[least]!)
    at = least
  }
  put(state, at, place)
}

/** A row of the pool is used for the first time, and with it its place: nothing expires there before a lifetime is over. */
export function openPlace(state: State, slot: number): void {
  if ((slot & (DUE_ROWS - 1)) !== 0) return
  const place = slot >>> DUE_SHIFT
  state.dueKeys[2 * place] = now(state) + state.orderLifetimeMs
  state.dueKeys[2 * place + 1] = 0
  append(state, place)
}

function append(state: State, place: number): void {
  const at = ++state.dueHeap[0]!
  put(state, at, place)
  rise(state, at)
}

/** The order in `slot` rests from now on and has a time of its own. At equal times those that were there have lower sequences. */
export function noteExpiry(state: State, slot: number): void {
  const { dueKeys } = state
  const place = slot >>> DUE_SHIFT
  const row = orderRow(state, slot)
  if (getF64(state, row, ORDER.EXPIRES_AT) >= dueKeys[2 * place]!) return
  setKey(state, place, row)
  rise(state, state.dueAt[place]!)
}

/** The deadline of the account is another. An account that never had one has no place in the heap. */
export function noteDeadline(state: State, account: number): void {
  const { dueKeys } = state
  const place = state.dueOrderPlaces + account
  const deadline = getF64(state, accountRow(state, account), ACCOUNT.DEADLINE)
  const before = dueKeys[2 * place]!
  dueKeys[2 * place] = deadline === 0 ? Infinity : deadline
  if (state.dueAt[place] === 0) {
    if (deadline !== 0) append(state, place)
  } else if (dueKeys[2 * place]! < before) rise(state, state.dueAt[place]!)
  else sink(state, state.dueAt[place]!)
}

/** The account whose deadline is the first place of the queue, as {@link takeExpired} says it; the queue does not name it again. */
function takeDeadline(state: State, place: number): number {
  state.dueKeys[2 * place] = Infinity
  sink(state, 1)
  return FIRST_ACCOUNT - (place - state.dueOrderPlaces)
}

/** True when a resting order stands at `row`. */
const rests = (state: State, row: number): boolean => (get(state, row, ORDER.FLAGS) & Flag.RESTING) !== 0

/** True when the order at row `a` expires before that at row `b`, which may be none (-1). */
function sooner(state: State, a: number, b: number): boolean {
  if (b < 0) return true
  const later = getF64(state, a, ORDER.EXPIRES_AT) - getF64(state, b, ORDER.EXPIRES_AT)
  return later === 0 ? getF64(state, a, ORDER.SEQUENCE) < getF64(state, b, ORDER.SEQUENCE) : later < 0
}

/** Gives a place the expiry of the order at `row` as its key; -1: of an order that might come now. */
function setKey(state: State, place: number, row: number): void {
  state.dueKeys[2 * place] = row < 0 ? now(state) + state.orderLifetimeMs : getF64(state, row, ORDER.EXPIRES_AT)
  state.dueKeys[2 * place + 1] = row < 0 ? 0 : getF64(state, row, ORDER.SEQUENCE)
}

/**
 * One look at the first place: the slot of the resting order that expires first of all, when its time is over at `time`; the queue
 * does not name it again, so the caller must end it. Below {@link LOOK_AGAIN}: an account whose deadline is over. {@link NOT_DUE}: nothing
 * is due. {@link LOOK_AGAIN}: the place had gone up.
 */
export function takeExpired(state: State, time: number): number {
  const { dueHeap, dueKeys } = state
  if (dueHeap[0] === 0) return NOT_DUE
  const place = dueHeap[1]!
  const key = 2 * place
  if (dueKeys[key]! > time) return NOT_DUE
  if (place >= state.dueOrderPlaces) return takeDeadline(state, place)
  const end = Math.min((place + 1) << DUE_SHIFT, scalar(state, SCALAR.ORDERS_USED))
  // The earliest two that the queue has not named.
  let first = -1
  let second = -1
  for (let slot = place << DUE_SHIFT; slot < end; slot++) {
    const row = orderRow(state, slot)
    if (!rests(state, row)) continue
    const at = getF64(state, row, ORDER.EXPIRES_AT)
    if (at < dueKeys[key]! || (at === dueKeys[key]! && getF64(state, row, ORDER.SEQUENCE) < dueKeys[key + 1]!)) continue
    if (sooner(state, row, first)) {
      second = first
      first = row
    } else if (sooner(state, row, second)) second = row
  }
  const exact = first >= 0 && getF64(state, first, ORDER.EXPIRES_AT) === dueKeys[key] &&
    getF64(state, first, ORDER.SEQUENCE) === dueKeys[key + 1]
  setKey(state, place, exact ? second : first)
  sink(state, 1)
  return exact ? get(state, first, ORDER.SLOT) : LOOK_AGAIN
}

/** The whole queue from the rows; its columns are all zero. */
export function rebuildDue(state: State): void {
  const used = scalar(state, SCALAR.ORDERS_USED)
  for (let place = 0; place < duePlaces(used); place++) {
    let first = -1
    for (let slot = place << DUE_SHIFT; slot < Math.min((place + 1) << DUE_SHIFT, used); slot++) {
      const row = orderRow(state, slot)
      if (rests(state, row) && sooner(state, row, first)) first = row
    }
    setKey(state, place, first)
    append(state, place)
  }
  const accounts = scalar(state, SCALAR.ACCOUNTS)
  for (let account = 0; account < accounts; account++) noteDeadline(state, account)
}
