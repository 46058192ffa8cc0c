/**
 * Idempotency receipts: the answer of an accepted order, kept for 24 hours under (account, key).
 *
 * Receipts stand in order of acceptance (state/receipt_pages.ts), so the oldest is the next to expire; an index finds them by key
 * (state/receipt_index.ts). The same key with the same payload repeats the stored answer, another payload is a conflict, and a new key is
 * refused while there is no room or the family has its share of it (state/shares.ts; specification, Errors, rules 4 and 7). A
 * refused order leaves no receipt: its retry runs again. For a day after an upgrade from before the rules 4 a command carries two payload
 * hashes, today's and the one of then, and a receipt may have either.
 *
 * One command drops {@link DROPS} expired receipts at most. When it meets an expired one of its own key behind more of them, it forgets
 * that one alone: the receipt keeps its place, is nobody's, and is passed over when its turn to be dropped comes. Before the
 * rules 1 it dropped all that had expired.
 */
import { Flag, ORDER_COMMAND, typeOfKind } from '../layout/command.ts'
import { EventType, RESULT } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { assert } from '../lib/assert.ts'
import { ACCOUNT, CLOCK, SCALAR } from '../state/columns.ts'
import { sameWords } from '../state/indexes.ts'
import { findReceipt, indexReceipt, leaveIndex } from '../state/receipt_index.ts'
import {
  appendReceipt, isForgotten, numberOf, offsetOf, pageAddress, pageOf, RECEIPT, restoreAnswer, Scratch, timeOfReceipt, wordsOfReceipt,
} from '../state/receipt_pages.ts'
import { PAGE_OF_RECEIPTS } from '../state/receipt_room.ts'
import { nextRecord } from '../state/outbox.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { familyRow, mayTake } from '../state/shares.ts'
import { accountRow, add, get, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const C = ORDER_COMMAND.at

/** 0: the command may run. Otherwise the number of its refusal, or REPEATED when the stored answer was emitted. */
export const REPEATED = -1

/** Expired receipts one admission drops at most. */
const DROPS = 1024

/** Admits a keyed command of `account`. */
export function admitKey(state: State, account: number, command: Views, base: number): number {
  dropExpired(state, DROPS)
  const position = findReceipt(state, account, command.i32, base + C.key)
  if (position === -1) return admitNew(state, account)
  const page = pageAddress(state, pageOf(state, position), Scratch.FOUND)
  const receipt = page + offsetOf(position)
  if (hasExpired(state, page, receipt)) {
    if (state.scalars[SCALAR.RULES]! >= 1) forget(state, pageOf(state, position), page, receipt)
    else dropExpired(state, state.genesis.limits.receipts)
    return admitNew(state, account)
  }
  const same = sameWords(state.i32, wordOf(receipt, RECEIPT.PAYLOAD), command.i32, base + C.payload, 4)
  if (!same && !wasSame(state, receipt, command, base)) return REFUSALS.IDEMPOTENCY_KEY_CONFLICT.number
  repeat(state, page, receipt, command, base)
  return REPEATED
}

/** The receipt is of before the rules 4, and the command carries the hash that its payload had then. */
function wasSame({ i32 }: State, receipt: number, command: Views, base: number): boolean {
  const from = base + C.former
  const carried = (command.i32[from]! | command.i32[from + 1]! | command.i32[from + 2]! | command.i32[from + 3]!) !== 0
  return carried && sameWords(i32, wordOf(receipt, RECEIPT.PAYLOAD), command.i32, from, 4)
}

const admitNew = (state: State, account: number): number =>
  hasRoom(state, account) ? 0 : REFUSALS.ORDER_SUBMISSION_CAPACITY_EXCEEDED.number

/** Room for one more receipt: in the buffer, and in the share of the account's family. */
function hasRoom(state: State, account: number): boolean {
  const { scalars, genesis } = state
  const { receipts: capacity } = genesis.limits
  const free = capacity - scalars[SCALAR.RECEIPTS_COUNT]!
  if (scalars[SCALAR.RULES]! < 1) return free > 0
  return mayTake(get(state, familyRow(state, account), ACCOUNT.FAMILY_RECEIPTS), capacity, free)
}

/** Adds to the receipts that `account` and its family have. */
function count(state: State, account: number, change: number): void {
  add(state, accountRow(state, account), ACCOUNT.RECEIPTS, change)
  add(state, familyRow(state, account), ACCOUNT.FAMILY_RECEIPTS, change)
}

/** Stores the RESULT at word `result` of the outbox as the answer of a keyed command that was accepted. */
export function keepReceipt(state: State, account: number, command: Views, base: number, result: number): void {
  const { scalars, outbox } = state
  assert(outbox.i32[result + RESULT.at.code] === 0 && outbox.i32[result + RESULT.at.account] === account, 'a receipt of a refusal')
  const number = (scalars[SCALAR.RECEIPTS_HEAD]! + scalars[SCALAR.RECEIPTS_COUNT]!) % state.receiptRoom.numbers
  const position = appendReceipt(state, number, account, command, base, result)
  indexReceipt(state, scalars[SCALAR.RECEIPTS_COUNT]!, account, command.i32, base + C.key, position)
  scalars[SCALAR.RECEIPTS_COUNT]!++
  count(state, account, 1)
}

/** Answers as the first time; since the rules 4 with the time of then. The sequence is the repeated command's own, as every RESULT's. */
function repeat(state: State, page: number, receipt: number, command: Views, base: number): void {
  const { outbox, clock } = state
  const at = nextRecord(outbox)
  const kind = command.u32[base]!
  restoreAnswer(state, page, receipt, at)
  outbox.u32[at + RESULT.at.kind] = EventType.RESULT | (typeOfKind(kind) << 8) | (kind & 0xffff0000)
  outbox.u32[at + RESULT.at.correlation] = command.u32[base + C.correlation]!
  outbox.f64[(at + RESULT.at.sequence) >>> 1] = clock[CLOCK.SEQUENCE]!
  const then = state.scalars[SCALAR.RULES]! >= 4
  outbox.f64[(at + RESULT.at.time) >>> 1] = then ? timeOfReceipt(state, page, receipt) : clock[CLOCK.TIME]!
  outbox.i32[at + RESULT.at.code] = 0
  outbox.i32[at + RESULT.at.account] = get(state, receipt, RECEIPT.ACCOUNT)
  outbox.i32[at + RESULT.at.flags]! |= Flag.REPEATED
}

const hasExpired = (state: State, page: number, receipt: number): boolean =>
  timeOfReceipt(state, page, receipt) + state.genesis.limits.receiptLifetimeMs <= state.clock[CLOCK.TIME]!

/** Takes a receipt of page `page`, which is at `at`, from its account before its turn to be dropped comes. */
function forget(state: State, page: number, at: number, receipt: number): void {
  const { receiptsForgotten, scalars } = state
  const number = numberOf(state, page, at, receipt - at)
  if (isForgotten(state, number)) return
  receiptsForgotten[number >>> 5]! |= 1 << (number & 31)
  scalars[SCALAR.FORGOTTEN_USED] = Math.max(scalars[SCALAR.FORGOTTEN_USED]!, (number >>> 5) + 1)
  count(state, get(state, receipt, RECEIPT.ACCOUNT), -1)
}

/** Drops up to `most` receipts whose 24 hours are over, oldest first. */
function dropExpired(state: State, most: number): void {
  const { scalars } = state
  for (let dropped = 0; dropped < most && scalars[SCALAR.RECEIPTS_COUNT]! > 0; dropped++) if (!dropOldest(state)) return
}

/** Drops the oldest receipt; false when its time is not over. */
function dropOldest(state: State): boolean {
  const { scalars, receiptsForgotten } = state
  let page = pageAddress(state, scalars[SCALAR.RECEIPT_HEAD_PAGE]!, Scratch.HEAD)
  if (scalars[SCALAR.RECEIPT_HEAD_AT]! >= get(state, page, PAGE_OF_RECEIPTS.USED)) {
    const next = scalars[SCALAR.RECEIPT_HEAD_PAGE]! + 1
    scalars[SCALAR.RECEIPT_HEAD_PAGE] = next
    scalars[SCALAR.RECEIPT_HEAD_AT] = PAGE_OF_RECEIPTS.RECEIPTS
    state.receiptStore.drop(next)
    page = pageAddress(state, next, Scratch.HEAD)
  }
  const receipt = page + scalars[SCALAR.RECEIPT_HEAD_AT]!
  if (!hasExpired(state, page, receipt)) return false
  const number = scalars[SCALAR.RECEIPTS_HEAD]!
  if (isForgotten(state, number)) receiptsForgotten[number >>> 5]! &= ~(1 << (number & 31))
  else count(state, get(state, receipt, RECEIPT.ACCOUNT), -1)
  scalars[SCALAR.RECEIPT_HEAD_AT]! += wordsOfReceipt(get(state, receipt, RECEIPT.MASK))
  scalars[SCALAR.RECEIPTS_HEAD] = (number + 1) % state.receiptRoom.numbers
  scalars[SCALAR.RECEIPTS_COUNT]!--
  leaveIndex(state)
  return true
}
