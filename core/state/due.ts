/**
 * The due queue: what time will do next, in the order in which it will do it.
 *
 * A 4-ary heap of places. A place is something that time acts on, and has a key: a moment in Unix ms, then a sequence. Its key is never
 * after the moment at which something must happen there, and may be before it: who finds a place first in the queue looks there, and
 * either something is due or the key goes up. So keys go down when something earlier comes, and nobody has to tell the queue what ended.
 *
 *   kind      place                                   key
 *   ORDERS    16 neighbouring rows of the order pool  expiry of the earliest order that rests there, and its sequence
 *   ACCOUNT   one account                             its deadline (orders/dead_man.ts) or the end of its grace (orders/
 *                                                     cancel_on_disconnect.ts), and 0; Infinity: it has none
 *   CONDITIONAL one conditional order                 its expiry, and 0; Infinity: it has none
 *   TWAP      one TWAP order                          when it is looked at next, and 0; Infinity: never
 *
 * Kinds are ranges of places, in this order. Other kinds (ends of sessions) would be further ranges behind these.
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
import { ACCOUNT, DISCONNECT, DUE_ROWS, DUE_SHIFT, duePlaces, ORDER, SCALAR } from './columns.ts'
import { CONDITIONAL, TWAP } from './conditional_rows.ts'
import { accountRow, conditionalRow, disconnectRow, get, getF64, now, orderRow, scalar, twapRow } from './rows.ts'
import type { State } from './state.ts'

const CHILDREN = 4
/** What {@link takeExpired} says besides a slot and a place behind those of orders. */
export const NOT_DUE = -1
export const LOOK_AGAIN = -2
const FIRST_PLACE = -3

/** Kinds of places behind those of orders, in their order. */
export const DueKind = { ACCOUNT: 0, CONDITIONAL: 1, TWAP: 2 } as const

/** Places of a kind begin so far behind those of orders. */
function startOf(state: State, kind: number): number {
  const { accounts, conditionalOrders } = state.genesis.limits
  return kind === DueKind.ACCOUNT ? 0 : kind === DueKind.CONDITIONAL ? accounts : accounts + conditionalOrders
}

/** Kind and row of what {@link takeExpired} found; only of an answer below {@link LOOK_AGAIN}. */
export function placeTaken(state: State, taken: number): { kind: number; row: number } {
  const place = FIRST_PLACE - taken
  let kind: number = DueKind.TWAP
  while (kind > 0 && place < startOf(state, kind)) kind--
  return { kind, row: place - startOf(state, kind) }
}

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

/** The moment of a place behind those of orders is another, 0: it has none. One that never had one has no place in the heap. */
function noteMoment(state: State, place: number, moment: number): void {
  const { dueKeys } = state
  const before = dueKeys[2 * place]!
  dueKeys[2 * place] = moment === 0 ? Infinity : moment
  if (state.dueAt[place] === 0) {
    if (moment !== 0) append(state, place)
  } else if (dueKeys[2 * place]! < before) rise(state, state.dueAt[place]!)
  else sink(state, state.dueAt[place]!)
}

/** When the account's orders are cancelled by themselves: the earlier of its deadline and the end of its grace; 0: never. */
export function cancelMoment(state: State, account: number): number {
  const deadline = getF64(state, accountRow(state, account), ACCOUNT.DEADLINE)
  const returnBy = getF64(state, disconnectRow(state, account), DISCONNECT.RETURN_BY)
  return deadline === 0 || returnBy === 0 ? deadline + returnBy : Math.min(deadline, returnBy)
}

/** The {@link cancelMoment} of the account is another. */
export function noteDeadline(state: State, account: number): void {
  noteMoment(state, state.dueOrderPlaces + account, cancelMoment(state, account))
}

/** The expiry of the conditional order is another. */
export function noteConditional(state: State, conditional: number): void {
  const place = state.dueOrderPlaces + startOf(state, DueKind.CONDITIONAL) + conditional
  noteMoment(state, place, getF64(state, conditionalRow(state, conditional), CONDITIONAL.EXPIRES_AT))
}

/** The TWAP order is looked at at another time. */
export function noteTwap(state: State, twap: number): void {
  const place = state.dueOrderPlaces + startOf(state, DueKind.TWAP) + twap
  noteMoment(state, place, getF64(state, twapRow(state, twap), TWAP.NEXT_AT))
}

/** The first place of the queue, which is none of orders, as {@link takeExpired} says it; the queue does not name it again. */
function takePlace(state: State, place: number): number {
  state.dueKeys[2 * place] = Infinity
  sink(state, 1)
  return FIRST_PLACE - (place - state.dueOrderPlaces)
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
 * does not name it again, so the caller must end it. Below {@link LOOK_AGAIN}: what {@link placeTaken} says. {@link NOT_DUE}: nothing is
 * due. {@link LOOK_AGAIN}: the place had gone up.
 */
export function takeExpired(state: State, time: number): number {
  const { dueHeap, dueKeys } = state
  if (dueHeap[0] === 0) return NOT_DUE
  const place = dueHeap[1]!
  const key = 2 * place
  if (dueKeys[key]! > time) return NOT_DUE
  if (place >= state.dueOrderPlaces) return takePlace(state, place)
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
  const [conditionals, twaps] = [scalar(state, SCALAR.CONDITIONALS_USED), scalar(state, SCALAR.TWAPS_USED)]
  for (let conditional = 0; conditional < conditionals; conditional++) noteConditional(state, conditional)
  for (let twap = 0; twap < twaps; twap++) noteTwap(state, twap)
}
