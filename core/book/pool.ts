/**
 * The pool of order rows and each account's list of resting orders, newest first.
 *
 * Every accepted order takes a slot, even one that never rests: the slot is part of its public id. Free slots form a stack in
 * their NEXT words, so the slot used last is used next and stays in cache; SEQUENCE 0 marks a free row. An order is named by the
 * address of its row here (columns.ts); links are slots.
 */
import { Flag, CLIENT_ORDER_ID_SHIFT, ORDER_COMMAND, Origin, originOf, PairStatus } from '../layout/command.ts'
import { read, readF64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { broken } from '../lib/assert.ts'
import { ACCOUNT, AGENT, CLIENT_ORDER_ID_WORDS, ORDER, PAIR as PAIRS, SCALAR, TERMS } from '../state/columns.ts'
import { giveAddOn } from '../ledger/add_ons.ts'
import { TWAP } from '../state/conditional_rows.ts'
import { noteTwap, openPlace } from '../state/due.ts'
import { insertClientOrderId, removeClientOrderId } from '../state/indexes.ts'
import {
  accountRow, add, addScalar, agentRow, clearBoth, get, getF64, getI64, isZero, clientOrderIdRow, now, orderRow, pairRow, scalar,
  sequence, set, setF64, setI64, setScalar, setWords, termsRow, twapRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Takes a slot and returns the address of its row; the caller checked that the pool is not full. */
export function takeSlot(state: State): number {
  addScalar(state, SCALAR.ORDERS_LIVE, 1)
  let slot = scalar(state, SCALAR.ORDERS_FREE)
  let row = 0
  if (slot < 0) {
    slot = scalar(state, SCALAR.ORDERS_USED)
    setScalar(state, SCALAR.ORDERS_USED, slot + 1)
    row = orderRow(state, slot)
    openPlace(state, slot)
  } else {
    row = orderRow(state, slot)
    setScalar(state, SCALAR.ORDERS_FREE, get(state, row, ORDER.NEXT))
  }
  set(state, row, ORDER.SLOT, slot)
  return row
}

/** Frees the slot of an order that is in no queue and holds nothing any more; one that still does is atoms nobody could ever move. */
export function giveSlot(state: State, row: number): void {
  if (!isZero(state, row, ORDER.HOLD)) stopHolding(state, row)
  setF64(state, row, ORDER.SEQUENCE, 0)
  set(state, row, ORDER.NEXT, scalar(state, SCALAR.ORDERS_FREE))
  setScalar(state, SCALAR.ORDERS_FREE, get(state, row, ORDER.SLOT))
  addScalar(state, SCALAR.ORDERS_LIVE, -1)
}

/** Stops everything. Out of the way of {@link giveSlot}, which is hot. */
function stopHolding(state: State, row: number): never {
  broken('I2', `order ${getF64(state, row, ORDER.SEQUENCE)} ended and still holds ${getI64(state, row, ORDER.HOLD)} atoms`)
}

/**
 * Fills a fresh row: everything but SLOT, LEVEL, EXPIRES_AT and the queue and list links. The maker rate is that of the account's
 * tier now, and stays; so do the rates of its application.
 */
export function writeOrder(state: State, row: number, account: number, pair: number, flags: number, price: number, lots: number): void {
  setF64(state, row, ORDER.UPDATED_AT, now(state))
  set(state, row, ORDER.ACCOUNT, account | 0)
  set(state, row, ORDER.PAIR, pair | 0)
  set(state, row, ORDER.FLAGS, flags | 0)
  set(state, row, ORDER.PRICE, price | 0)
  set(state, row, ORDER.LOTS, lots | 0)
  set(state, row, ORDER.REMAINING, lots | 0)
  const discount = get(state, accountRow(state, account), ACCOUNT.MAKER_DISCOUNT)
  set(state, row, ORDER.MAKER_PPM, get(state, termsRow(state, pair), TERMS.MAKER_PPM) - discount)
  set(state, row, ORDER.TRADES, 0)
  setI64(state, row, ORDER.FILLED_QUOTE, 0n)
  setI64(state, row, ORDER.FEE, 0n)
  setI64(state, row, ORDER.HOLD, 0n)
  // BEST_PRICE and WORST_PRICE are neighbours.
  clearBoth(state, row, ORDER.BEST_PRICE)
  setF64(state, row, ORDER.SEQUENCE, sequence(state))
  setI64(state, row, ORDER.FEE_NUMERATOR, 0n)
  setF64(state, row, ORDER.CREATED_AT, now(state))
  if (scalar(state, SCALAR.BUILDER_FEES) !== 0) giveAddOn(state, row)
}

/** Notes that a delegated agent placed the order that was just written at `row`. */
export function markAgent(state: State, row: number, agent: number): void {
  set(state, row, ORDER.FLAGS, get(state, row, ORDER.FLAGS) | Flag.BY_AGENT)
  state.orderAgents[get(state, row, ORDER.SLOT)] = agent + 1
}

/** Adds to what the agent that placed the order in `slot` has resting. */
function countAgentOrder(state: State, slot: number, change: number): void {
  const row = agentRow(state, state.orderAgents[slot]! - 1)
  add(state, row, AGENT.OPEN_ORDERS, change)
}

/** The slice at `row` of a TWAP order rests no more: what it filled is that order's, which is looked at next if that was all of it. */
function endSlice(state: State, row: number): void {
  const parent = state.orderParents[get(state, row, ORDER.SLOT)]! - 1
  if (parent < 0 || get(state, twapRow(state, parent), TWAP.CHILD) !== get(state, row, ORDER.SLOT) + 1) return
  const twap = twapRow(state, parent)
  set(state, twap, TWAP.CHILD, 0)
  add(state, twap, TWAP.FILLED, get(state, row, ORDER.LOTS) - get(state, row, ORDER.REMAINING))
  setI64(state, twap, TWAP.FILLED_QUOTE, getI64(state, twap, TWAP.FILLED_QUOTE) + getI64(state, row, ORDER.FILLED_QUOTE))
  setI64(state, twap, TWAP.FEE, getI64(state, twap, TWAP.FEE) + getI64(state, row, ORDER.FEE))
  if (get(state, twap, TWAP.FILLED) < get(state, twap, TWAP.LOTS)) return
  setF64(state, twap, TWAP.NEXT_AT, now(state))
  noteTwap(state, parent)
}

/** Copies the client order id of a command into the row and its FLAGS; an empty one clears it. */
export function writeClientOrderId(state: State, row: number, command: Views, base: number): void {
  const length = command.u32[base + ORDER_COMMAND.at.flags]! >>> CLIENT_ORDER_ID_SHIFT
  set(state, row, ORDER.FLAGS, (get(state, row, ORDER.FLAGS) & ((1 << CLIENT_ORDER_ID_SHIFT) - 1)) | (length << CLIENT_ORDER_ID_SHIFT))
  if (length === 0) return
  setWords(
    state, clientOrderIdRow(state, get(state, row, ORDER.SLOT)), 0, CLIENT_ORDER_ID_WORDS, command.i32,
    base + ORDER_COMMAND.at.label,
  )
}

/** Puts an order at the head of its account's list and claims its label: it rests from now on. */
export function enlist(state: State, row: number): void {
  const slot = get(state, row, ORDER.SLOT)
  const account = accountRow(state, get(state, row, ORDER.ACCOUNT))
  const head = get(state, account, ACCOUNT.ORDERS_HEAD)
  set(state, row, ORDER.ACCOUNT_PREV, -1)
  set(state, row, ORDER.ACCOUNT_NEXT, head)
  if (head >= 0) set(state, orderRow(state, head), ORDER.ACCOUNT_PREV, slot)
  set(state, account, ACCOUNT.ORDERS_HEAD, slot)
  add(state, account, ACCOUNT.OPEN_ORDERS, 1)
  add(state, accountRow(state, get(state, account, ACCOUNT.FAMILY)), ACCOUNT.FAMILY_ORDERS, 1)
  const flags = get(state, row, ORDER.FLAGS) | Flag.RESTING
  set(state, row, ORDER.FLAGS, flags)
  if (flags >>> CLIENT_ORDER_ID_SHIFT !== 0) insertClientOrderId(state, slot)
  if ((flags & Flag.BY_AGENT) !== 0) countAgentOrder(state, slot, 1)
}

/** The opposite of {@link enlist}. */
export function delist(state: State, row: number): void {
  const flags = get(state, row, ORDER.FLAGS)
  if (flags >>> CLIENT_ORDER_ID_SHIFT !== 0) removeClientOrderId(state, get(state, row, ORDER.SLOT))
  if ((flags & Flag.BY_AGENT) !== 0) countAgentOrder(state, get(state, row, ORDER.SLOT), -1)
  if (originOf(flags) === Origin.TWAP) endSlice(state, row)
  set(state, row, ORDER.FLAGS, flags & ~Flag.RESTING)
  const account = accountRow(state, get(state, row, ORDER.ACCOUNT))
  const prev = get(state, row, ORDER.ACCOUNT_PREV)
  const next = get(state, row, ORDER.ACCOUNT_NEXT)
  if (prev < 0) set(state, account, ACCOUNT.ORDERS_HEAD, next)
  else set(state, orderRow(state, prev), ORDER.ACCOUNT_NEXT, next)
  if (next >= 0) set(state, orderRow(state, next), ORDER.ACCOUNT_PREV, prev)
  add(state, account, ACCOUNT.OPEN_ORDERS, -1)
  add(state, accountRow(state, get(state, account, ACCOUNT.FAMILY)), ACCOUNT.FAMILY_ORDERS, -1)
}

/** The row of the resting order that a command names by targetSlot and targetSequence, or -1. */
export function restingTarget(state: State, command: Views, base: number): number {
  const slot = read(command, base, ORDER_COMMAND.at.targetSlot)
  return restingAt(state, slot, readF64(command, base, ORDER_COMMAND.at.targetSequence))
}

/** The row of the resting order in `slot` that the command of sequence `placedBy` placed, or -1. */
export function restingAt(state: State, slot: number, placedBy: number): number {
  if (slot < 0 || slot >= scalar(state, SCALAR.ORDERS_USED)) return -1
  const row = orderRow(state, slot)
  const rests = getF64(state, row, ORDER.SEQUENCE) === placedBy && placedBy !== 0 && (get(state, row, ORDER.FLAGS) & Flag.RESTING) !== 0
  return rests ? row : -1
}

/** True when not even cancels may touch the pair of the order at `row`. */
export const isHalted = (state: State, row: number): boolean => isPairHalted(state, get(state, row, ORDER.PAIR))

/** True when not even cancels may touch the pair. */
export const isPairHalted = (state: State, pair: number): boolean => get(state, pairRow(state, pair), PAIRS.STATUS) === PairStatus.HALTED
