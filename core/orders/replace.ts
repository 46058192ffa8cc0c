/**
 * Replacing a resting order: one atomic step that ends the original as REPLACED and places its successor.
 *
 * Omitted terms stay: price as it is, quantity as what is still open, post-only, self-trade mode, expiration and client order id as
 * they were. The successor has a new id. A lower quantity at the same price keeps its place in the queue; anything else goes to
 * the back. Everything that can refuse is checked before the original is touched, so a refused replace leaves it as it was; a
 * retry after success finds no such order (specification, Orders, rule 3).
 */
import { Flag, LABEL_SHIFT, ORDER_COMMAND } from '../layout/command.ts'
import { outcomeOf, Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { assert } from '../lib/assert.ts'
import { DETAIL, DETAIL_WORDS, LEVEL, LEVEL_WORDS, ORDER, ORDER_WORDS } from '../engine/columns.ts'
import { emitLabel, emitOrderEnded, emitOrderResult, emitResult } from '../engine/emit.ts'
import { findLabel } from '../engine/indexes.ts'
import { REFUSALS } from '../engine/refusals.ts'
import type { State } from '../engine/state.ts'
import { clearExpiredTouch, isExpired } from '../book/match.ts'
import { R, touchAccount } from '../ledger/balances.ts'
import { sessionAccount } from '../programs/sessions.ts'
import { checkFunds, checkPostOnly, checkTerms } from './admission.ts'
import { endOrder, release, touchBook } from './end.ts'
import { delist, enlist, isResting, takeSlot, writeLabel, writeOrder } from './pool.ts'
import { checkOpen, execute, lockRemaining, markReplacement } from './place.ts'
import { admitKey, keepReceipt, REPEATED } from './receipts.ts'

const C = ORDER_COMMAND.at

export function replaceOrder(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  const given = command.i32[base + C.flags]!
  let code = account < 0 ? REFUSALS.SESSION_INVALID.number : 0
  if (code === 0 && (given & Flag.KEYED) !== 0) code = admitKey(state, account, command, base)
  if (code === REPEATED) return
  const target = command.i32[base + C.targetSlot]!
  if (code === 0) code = checkTarget(state, account, target, command.f64[(base + C.targetSequence) >>> 1]!)
  const row = target * ORDER_WORDS
  const pair = code === 0 ? state.orders[row + ORDER.PAIR]! : 0
  if (code === 0) clearExpiredTouch(state, pair, state.orders[row + ORDER.FLAGS]! & Flag.SELL)
  const flags = code === 0 ? successorFlags(state.orders[row + ORDER.FLAGS]!, given) : 0
  const price = (given & Flag.NEW_PRICE) !== 0 || code !== 0 ? command.i32[base + C.price]! : state.orders[row + ORDER.PRICE]!
  const lots = (given & Flag.NEW_LOTS) !== 0 || code !== 0 ? command.i32[base + C.lots]! : state.orders[row + ORDER.REMAINING]!
  if (code === 0) code = checkSuccessor(state, command, base, account, target, pair, flags, price, lots)
  if (code !== 0) {
    emitResult(state, command, base, code, account, 0, 0)
    return
  }
  const keepsPlace = price === state.orders[row + ORDER.PRICE] && lots < state.orders[row + ORDER.REMAINING]!
  const result = keepsPlace ? shrink(state, target, flags, lots, command, base) : reissue(state, target, flags, price, lots, command, base)
  if ((given & Flag.KEYED) !== 0) keepReceipt(state, account, command, base, result)
}

/** The order named by (slot, sequence) rests, is the caller's, and its time is not over. */
export function checkTarget(state: State, account: number, slot: number, sequence: number): number {
  const found = isResting(state, slot, sequence) && state.orders[slot * ORDER_WORDS + ORDER.ACCOUNT] === account && !isExpired(state, slot)
  return found ? 0 : REFUSALS.ORDER_NOT_FOUND.number
}

function successorFlags(old: number, given: number): number {
  let flags = old & (Flag.SELL | Flag.POST_ONLY | Flag.CANCEL_BOTH | Flag.STP_GIVEN | Flag.EXPIRES)
  if ((given & Flag.NEW_STP) !== 0) flags = (flags & ~Flag.CANCEL_BOTH) | (given & Flag.CANCEL_BOTH) | Flag.STP_GIVEN
  if ((given & Flag.NEW_POST_ONLY) !== 0) flags = (flags & ~Flag.POST_ONLY) | (given & Flag.POST_ONLY)
  const label = given >>> LABEL_SHIFT === 0 ? old >>> LABEL_SHIFT : given >>> LABEL_SHIFT
  return flags | (label << LABEL_SHIFT)
}

function checkSuccessor(
  state: State, command: Views, base: number, account: number, target: number, pair: number, flags: number, price: number, lots: number,
): number {
  let code = checkOpen(state, pair)
  if (code === 0) code = checkTerms(state, pair, flags, price, lots)
  const length = command.u32[base + C.flags]! >>> LABEL_SHIFT
  if (code === 0 && length !== 0) {
    const holder = findLabel(state, account, command.i32, base + C.label, length)
    if (holder >= 0 && holder !== target) code = REFUSALS.CLIENT_ORDER_ID_CONFLICT.number
  }
  if (code === 0) code = checkPostOnly(state, pair, flags, price)
  state.registers[R.RELEASE] = state.ordersI64[(target * ORDER_WORDS + ORDER.HOLD) >>> 1]!
  if (code === 0) code = checkFunds(state, account, pair, flags, price, lots)
  return code
}

/** Ends the original and places the successor at the back of its level, in the same slot. */
function reissue(state: State, target: number, flags: number, price: number, lots: number, command: Views, base: number): number {
  const row = target * ORDER_WORDS
  const account = state.orders[row + ORDER.ACCOUNT]!
  const pair = state.orders[row + ORDER.PAIR]!
  const originalSequence = state.ordersF64[(row + ORDER.SEQUENCE) >>> 1]!
  const expiresAt = state.detailsF64[(target * DETAIL_WORDS + DETAIL.EXPIRES_AT) >>> 1]!
  endOrder(state, target, Status.CANCELLED, Reason.REPLACED, command.u32[base + C.correlation]!, true)
  const slot = takeSlot(state)
  assert(slot === target, 'a replaced order leaves its slot to its successor')
  writeOrder(state, slot, account, pair, flags, price, lots)
  if (command.u32[base + C.flags]! >>> LABEL_SHIFT !== 0) writeLabel(state, slot, command, base)
  state.detailsF64[(slot * DETAIL_WORDS + DETAIL.EXPIRES_AT) >>> 1] = expiresAt
  const result = execute(state, slot, price, 0, command, base)
  markReplacement(state, result, originalSequence, target)
  return result
}

/** Gives the successor the original's place in the queue: same row, new sequence, fewer lots. */
function shrink(state: State, target: number, flags: number, lots: number, command: Views, base: number): number {
  const { orders, levelsF64 } = state
  const row = target * ORDER_WORDS
  const account = orders[row + ORDER.ACCOUNT]!
  const pair = orders[row + ORDER.PAIR]!
  const originalSequence = state.ordersF64[(row + ORDER.SEQUENCE) >>> 1]!
  const expiresAt = state.detailsF64[(target * DETAIL_WORDS + DETAIL.EXPIRES_AT) >>> 1]!
  const level = orders[row + ORDER.LEVEL]!
  const at = (level * LEVEL_WORDS + LEVEL.LOTS) >>> 1
  levelsF64[at] = levelsF64[at]! - orders[row + ORDER.REMAINING]! + lots
  delist(state, target)
  release(state, target)
  emitOrderEnded(state, target, Status.CANCELLED, Reason.REPLACED, command.u32[base + C.correlation]!, true)
  writeOrder(state, target, account, pair, flags, orders[row + ORDER.PRICE]!, lots)
  if (command.u32[base + C.flags]! >>> LABEL_SHIFT !== 0) writeLabel(state, target, command, base)
  lockRemaining(state, target)
  state.detailsF64[(target * DETAIL_WORDS + DETAIL.EXPIRES_AT) >>> 1] = expiresAt
  enlist(state, target)
  if (flags >>> LABEL_SHIFT !== 0) emitLabel(state, target)
  const result = emitOrderResult(state, command, base, target, outcomeOf(Status.SUBMITTED, Reason.NONE))
  markReplacement(state, result, originalSequence, target)
  touchAccount(state, account)
  touchBook(state, pair)
  return result
}
