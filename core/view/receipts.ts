/** Idempotency receipts from the shared columns: what the stored answer of a key is about. */
import { RECEIPT, RECEIPT_WORDS } from '../state/columns.ts'
import { findReceipt } from '../state/indexes.ts'
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

/**
 * The receipt of `account` for the key whose hash is the four words of `key`; `null` when there is none, or none could be read while
 * receipts changed. Only the engine decides what a key means; this is for readers that need to know what it was used for.
 */
export function readReceipt(state: State, gate: Int32Array, account: number, key: Int32Array): ReceiptView | null {
  // Any command may move the index, so the copy is good only if no batch was applied meanwhile: the gate counts them.
  return consistently(gate, gate, APPLYING, () => {
    const receipt = findReceipt(state, account, key, 0)
    if (receipt < 0) return null
    const result = receipt * RECEIPT_WORDS + RECEIPT.RESULT
    return { pair: state.receipts[result + RESULT.at.pair]!, flags: state.receipts[result + RESULT.at.flags]! }
  })
}
