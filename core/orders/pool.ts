/**
 * The pool of order rows and each account's list of resting orders, newest first.
 *
 * Every accepted order takes a slot, even one that never rests: the slot is part of its public id. Free slots form a stack in
 * their NEXT words, so the slot used last is used next and stays in cache; SEQUENCE 0 marks a free row.
 */
import { Flag, LABEL_SHIFT, ORDER_COMMAND } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, ACCOUNT_WORDS, CLOCK, DETAIL, DETAIL_WORDS, LABEL_WORDS, ORDER, ORDER_WORDS, SCALAR } from '../engine/columns.ts'
import { insertLabel, removeLabel } from '../engine/indexes.ts'
import type { State } from '../engine/state.ts'

/** Takes a slot; the caller checked that the pool is not full. */
export function takeSlot(state: State): number {
  const { scalars, orders } = state
  scalars[SCALAR.ORDERS_LIVE]!++
  const slot = scalars[SCALAR.ORDERS_FREE]!
  if (slot < 0) return scalars[SCALAR.ORDERS_USED]!++
  scalars[SCALAR.ORDERS_FREE] = orders[slot * ORDER_WORDS + ORDER.NEXT]!
  return slot
}

export function giveSlot(state: State, slot: number): void {
  const { scalars, orders, ordersF64 } = state
  const row = slot * ORDER_WORDS
  ordersF64[(row + ORDER.SEQUENCE) >>> 1] = 0
  orders[row + ORDER.NEXT] = scalars[SCALAR.ORDERS_FREE]!
  scalars[SCALAR.ORDERS_FREE] = slot
  scalars[SCALAR.ORDERS_LIVE]!--
}

/** Fills a fresh row: everything but HOLD, LEVEL and the queue and list links. */
export function writeOrder(state: State, slot: number, account: number, pair: number, flags: number, price: number, lots: number): void {
  const { orders, ordersF64, ordersI64, details, detailsF64, detailsI64, clock } = state
  const row = slot * ORDER_WORDS
  orders[row + ORDER.PRICE] = price
  orders[row + ORDER.REMAINING] = lots
  orders[row + ORDER.ACCOUNT] = account
  orders[row + ORDER.FLAGS] = flags
  orders[row + ORDER.PAIR] = pair
  orders[row + ORDER.LOTS] = lots
  orders[row + ORDER.MAKER_PPM] = state.makerPpm[pair]!
  ordersF64[(row + ORDER.SEQUENCE) >>> 1] = clock[CLOCK.SEQUENCE]!
  ordersI64[(row + ORDER.HOLD) >>> 1] = 0n
  const detail = slot * DETAIL_WORDS
  const wide = detail >>> 1
  detailsI64[wide + (DETAIL.FILLED_QUOTE >>> 1)] = 0n
  detailsI64[wide + (DETAIL.FEE_NUMERATOR >>> 1)] = 0n
  detailsI64[wide + (DETAIL.FEE >>> 1)] = 0n
  detailsF64[wide + (DETAIL.CREATED_AT >>> 1)] = clock[CLOCK.TIME]!
  detailsF64[wide + (DETAIL.UPDATED_AT >>> 1)] = clock[CLOCK.TIME]!
  detailsF64[wide + (DETAIL.EXPIRES_AT >>> 1)] = 0
  details[detail + DETAIL.BEST_PRICE] = 0
  details[detail + DETAIL.WORST_PRICE] = 0
  details[detail + DETAIL.TRADES] = 0
}

/** Copies the client order id of a command into the row and its FLAGS; an empty one clears it. */
export function writeLabel(state: State, slot: number, command: Views, base: number): void {
  const length = command.u32[base + ORDER_COMMAND.at.flags]! >>> LABEL_SHIFT
  const flags = slot * ORDER_WORDS + ORDER.FLAGS
  state.orders[flags] = (state.orders[flags]! & ((1 << LABEL_SHIFT) - 1)) | (length << LABEL_SHIFT)
  if (length === 0) return
  for (let word = 0; word < LABEL_WORDS; word++) state.labels[slot * LABEL_WORDS + word] = command.i32[base + ORDER_COMMAND.at.label + word]!
}

/** Puts an order at the head of its account's list and claims its label: it rests from now on. */
export function enlist(state: State, slot: number): void {
  const { orders, accounts } = state
  const row = slot * ORDER_WORDS
  const account = orders[row + ORDER.ACCOUNT]! * ACCOUNT_WORDS
  const head = accounts[account + ACCOUNT.ORDERS_HEAD]!
  orders[row + ORDER.ACCOUNT_PREV] = -1
  orders[row + ORDER.ACCOUNT_NEXT] = head
  if (head >= 0) orders[head * ORDER_WORDS + ORDER.ACCOUNT_PREV] = slot
  accounts[account + ACCOUNT.ORDERS_HEAD] = slot
  accounts[account + ACCOUNT.OPEN_ORDERS]!++
  const flags = orders[row + ORDER.FLAGS]! | Flag.RESTING
  orders[row + ORDER.FLAGS] = flags
  if (flags >>> LABEL_SHIFT !== 0) insertLabel(state, slot)
}

/** The opposite of {@link enlist}. */
export function delist(state: State, slot: number): void {
  const { orders, accounts } = state
  const row = slot * ORDER_WORDS
  const flags = orders[row + ORDER.FLAGS]!
  if (flags >>> LABEL_SHIFT !== 0) removeLabel(state, slot)
  orders[row + ORDER.FLAGS] = flags & ~Flag.RESTING
  const account = orders[row + ORDER.ACCOUNT]! * ACCOUNT_WORDS
  const prev = orders[row + ORDER.ACCOUNT_PREV]!
  const next = orders[row + ORDER.ACCOUNT_NEXT]!
  if (prev < 0) accounts[account + ACCOUNT.ORDERS_HEAD] = next
  else orders[prev * ORDER_WORDS + ORDER.ACCOUNT_NEXT] = next
  if (next >= 0) orders[next * ORDER_WORDS + ORDER.ACCOUNT_PREV] = prev
  accounts[account + ACCOUNT.OPEN_ORDERS]!--
}

/** True when (slot, sequence) names a resting order. */
export function isResting(state: State, slot: number, sequence: number): boolean {
  if (slot < 0 || slot >= state.scalars[SCALAR.ORDERS_USED]!) return false
  const row = slot * ORDER_WORDS
  return state.ordersF64[(row + ORDER.SEQUENCE) >>> 1] === sequence && sequence !== 0 && (state.orders[row + ORDER.FLAGS]! & Flag.RESTING) !== 0
}
