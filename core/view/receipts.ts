/** Idempotency receipts from the shared columns: what the stored answer of a key is about. */
import { CLOCK, SCALAR } from '../state/columns.ts'
import { sameWords } from '../state/indexes.ts'
import { findReceipt, type Match } from '../state/receipt_index.ts'
import { inMemory, offsetOf, pageOf, RECEIPT, ringAddress, wordOfAnswer } from '../state/receipt_pages.ts'
import { RECEIPT_PAGE_WORDS } from '../state/receipt_room.ts'
import type { State } from '../state/state.ts'
import { RESULT } from '../layout/event.ts'
import { APPLYING } from '../ring/counters.ts'
import { consistently } from './consistent.ts'

export interface ReceiptView {
  /** Index of the pair of the order that was answered. */
  pair: number
  /** Flag bits of that order. */
  flags: number
}

/** The rules since which a payload hash is over the normal form of a request (gateway/bridge/payload.ts). */
const FORMS_SINCE = 4

/** A receipt may be kept at `time`, sequenced, whose payload hash is one of before the rules 4. */
export const mayKnowFormerPayloads = ({ scalars, clock, genesis }: State, time: number): boolean =>
  scalars[SCALAR.RULES]! < FORMS_SINCE || time < clock[CLOCK.FORMS_AT]! + genesis.limits.receiptLifetimeMs

/** A page that was read from the store: of this thread alone. */
const page = new Int32Array(RECEIPT_PAGE_WORDS)

/**
 * The receipt of `account` for the key whose hash is the four words of `key`; 'unreadable' when nobody could tell while receipts changed.
 * Only the engine decides what a key means; this is for readers that need to know what it was used for.
 */
export function readReceipt(state: State, gate: Int32Array, account: number, key: Int32Array): ReceiptView | 'unknown' | 'unreadable' {
  const { i32, receiptStore } = state
  let view: ReceiptView | null = null
  const see = (words: Int32Array, at: number): boolean => {
    if (words[at + RECEIPT.ACCOUNT] !== account || !sameWords(words, at + RECEIPT.KEY, key, 0, 4)) return false
    view = { pair: wordOfAnswer(words, at, RESULT.at.pair), flags: wordOfAnswer(words, at, RESULT.at.flags) }
    return true
  }
  const look: Match = (_state, position) => {
    const number = pageOf(state, position)
    if (inMemory(state, number)) return see(i32, ringAddress(state, number) + offsetOf(position))
    // A page that cannot be read has another key; one that is being read while it is written is full, and what is written is the same.
    receiptStore.read(number, page, 0)
    return see(page, offsetOf(position))
  }
  // Any command may move the index, so the copy is good only if no batch was applied meanwhile: the gate counts them.
  return consistently(gate, gate, APPLYING, () => {
    view = null
    findReceipt(state, account, key, 0, look)
    return view ?? 'unknown'
  }) ?? 'unreadable'
}
