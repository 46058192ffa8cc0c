/**
 * Idempotency receipts: the answer of an accepted order, kept for 24 hours under (account, key).
 *
 * Receipts form a circular buffer in order of acceptance, so the oldest is the next to expire; an index finds them by key. The
 * same key with the same payload repeats the stored answer, another payload is a conflict, and a new key is refused while the
 * buffer is full or the family has its share of it (state/shares.ts; specification, Errors, rules 4 and 7). A refused order leaves no
 * receipt: its retry runs again.
 *
 * One command drops {@link DROPS} expired receipts at most. When it meets an expired one of its own key behind more of them, it forgets
 * that one alone: the row keeps its place in the buffer, is nobody's, and is passed over when its turn to be dropped comes. Before the
 * rules 1 it dropped all that had expired.
 */
import { Flag, ORDER_COMMAND, typeOfKind } from '../layout/command.ts'
import { EventType, RESULT } from '../layout/event.ts'
import { RECORD_WORDS, type Views } from '../layout/table.ts'
import { ACCOUNT, ACCOUNT_WORDS, CLOCK, NOBODY, RECEIPT, RECEIPT_WORDS, SCALAR } from '../state/columns.ts'
import { findReceipt, indexReceipt, sameWords, unindexReceipt } from '../state/indexes.ts'
import { nextRecord } from '../state/outbox.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { mayTake } from '../state/shares.ts'
import type { State } from '../state/state.ts'

const C = ORDER_COMMAND.at

/** 0: the command may run. Otherwise the number of its refusal, or REPEATED when the stored answer was emitted. */
export const REPEATED = -1

/** Expired receipts one admission drops at most. */
const DROPS = 1024

/** Admits a keyed command of `account`. */
export function admitKey(state: State, account: number, command: Views, base: number): number {
  dropExpired(state, DROPS)
  let receipt = findReceipt(state, account, command.i32, base + C.key)
  if (receipt >= 0 && hasExpired(state, receipt)) {
    if (state.scalars[SCALAR.RULES]! >= 1) forget(state, receipt)
    else dropExpired(state, state.genesis.limits.receipts)
    receipt = -1
  }
  if (receipt < 0) return hasRoom(state, account) ? 0 : REFUSALS.ORDER_SUBMISSION_CAPACITY_EXCEEDED.number
  if (!sameWords(state.receipts, receipt * RECEIPT_WORDS + RECEIPT.PAYLOAD, command.i32, base + C.payload, 4)) {
    return REFUSALS.IDEMPOTENCY_KEY_CONFLICT.number
  }
  repeat(state, receipt, command, base)
  return REPEATED
}

/** Room for one more receipt: in the buffer, and in the share of the account's family. */
function hasRoom(state: State, account: number): boolean {
  const { scalars, accounts, genesis } = state
  const { receipts: capacity } = genesis.limits
  const free = capacity - scalars[SCALAR.RECEIPTS_COUNT]!
  if (scalars[SCALAR.RULES]! < 1) return free > 0
  return mayTake(accounts[familyOf(state, account) + ACCOUNT.FAMILY_RECEIPTS]!, capacity, free)
}

/** Place of the account row that the family of `account` is counted on. */
const familyOf = ({ accounts }: State, account: number): number => accounts[account * ACCOUNT_WORDS + ACCOUNT.FAMILY]! * ACCOUNT_WORDS

/** Adds to the receipts that `account` and its family have. */
function count(state: State, account: number, change: number): void {
  const { accounts } = state
  accounts[account * ACCOUNT_WORDS + ACCOUNT.RECEIPTS]! += change
  accounts[familyOf(state, account) + ACCOUNT.FAMILY_RECEIPTS]! += change
}

/** Stores the RESULT at word `result` of the outbox as the answer of a keyed command that was accepted. */
export function keepReceipt(state: State, account: number, command: Views, base: number, result: number): void {
  const { scalars, receipts, receiptsF64, outbox } = state
  const receipt = (scalars[SCALAR.RECEIPTS_HEAD]! + scalars[SCALAR.RECEIPTS_COUNT]!) % state.genesis.limits.receipts
  scalars[SCALAR.RECEIPTS_COUNT]!++
  if (receipt >= scalars[SCALAR.RECEIPTS_USED]!) scalars[SCALAR.RECEIPTS_USED] = receipt + 1
  const row = receipt * RECEIPT_WORDS
  for (let word = 0; word < 4; word++) {
    receipts[row + RECEIPT.KEY + word] = command.i32[base + C.key + word]!
    receipts[row + RECEIPT.PAYLOAD + word] = command.i32[base + C.payload + word]!
  }
  receiptsF64[(row + RECEIPT.TIME) >>> 1] = state.clock[CLOCK.TIME]!
  receipts[row + RECEIPT.ACCOUNT] = account
  for (let word = 0; word < RECORD_WORDS; word++) receipts[row + RECEIPT.RESULT + word] = outbox.i32[result + word]!
  count(state, account, 1)
  indexReceipt(state, receipt)
}

function repeat(state: State, receipt: number, command: Views, base: number): void {
  const { outbox, receipts, clock } = state
  const at = nextRecord(outbox)
  const from = receipt * RECEIPT_WORDS + RECEIPT.RESULT
  for (let word = 0; word < RECORD_WORDS; word++) outbox.i32[at + word] = receipts[from + word]!
  const kind = command.u32[base]!
  outbox.u32[at + RESULT.at.kind] = EventType.RESULT | (typeOfKind(kind) << 8) | (kind & 0xffff0000)
  outbox.u32[at + RESULT.at.correlation] = command.u32[base + C.correlation]!
  outbox.f64[(at + RESULT.at.sequence) >>> 1] = clock[CLOCK.SEQUENCE]!
  outbox.f64[(at + RESULT.at.time) >>> 1] = clock[CLOCK.TIME]!
  outbox.i32[at + RESULT.at.flags]! |= Flag.REPEATED
}

const hasExpired = (state: State, receipt: number): boolean =>
  state.receiptsF64[(receipt * RECEIPT_WORDS + RECEIPT.TIME) >>> 1]! + state.genesis.limits.receiptLifetimeMs <= state.clock[CLOCK.TIME]!

/** Takes a receipt from its account. */
function release(state: State, receipt: number): void {
  unindexReceipt(state, receipt)
  count(state, state.receipts[receipt * RECEIPT_WORDS + RECEIPT.ACCOUNT]!, -1)
}

/** The same with one that keeps its row until its turn to be dropped. */
function forget(state: State, receipt: number): void {
  release(state, receipt)
  state.receipts[receipt * RECEIPT_WORDS + RECEIPT.ACCOUNT] = NOBODY
}

/** Drops up to `most` receipts whose 24 hours are over, oldest first. */
function dropExpired(state: State, most: number): void {
  const { scalars } = state
  for (let dropped = 0; dropped < most && scalars[SCALAR.RECEIPTS_COUNT]! > 0; dropped++) {
    const head = scalars[SCALAR.RECEIPTS_HEAD]!
    if (!hasExpired(state, head)) return
    if (state.receipts[head * RECEIPT_WORDS + RECEIPT.ACCOUNT] !== NOBODY) release(state, head)
    scalars[SCALAR.RECEIPTS_HEAD] = (head + 1) % state.genesis.limits.receipts
    scalars[SCALAR.RECEIPTS_COUNT]!--
  }
}
