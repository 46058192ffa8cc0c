/**
 * Receipts move to a larger room when their limit is raised (growth.ts). Pages keep their running numbers and their bytes, because full
 * ones may stand in files that other processes share, which are further or not so far. What depends on the room is placed anew:
 *
 *   receiptPages        those in memory: page % memoryPages of before to page % memoryPages of now
 *   receiptSeals        of full pages: page % pages of before to page % pages of now
 *   receiptsForgotten   receipts are numbered from 0 again, the oldest first; the bit of a receipt goes to its new number
 *   the store           when all pages stood in memory and now not all do: the full ones, which the ring will go past
 *
 * What was dropped is left behind. All of it is a function of the state alone, whatever the store has. Index, blocks and the numbers of
 * pages are derived and made anew behind this (rebuild.ts).
 */
import { SCALAR, type ColumnName } from './columns.ts'
import { ringAddress } from './receipt_pages.ts'
import { RECEIPT_PAGE_WORDS } from './receipt_room.ts'
import type { State } from './state.ts'

/** Stored columns that are placed anew. */
export const RECEIPT_COLUMNS = ['receiptPages', 'receiptSeals', 'receiptsForgotten'] as const satisfies ColumnName[]
/** The columns of before, and their room. */
export type ReceiptsBefore = Pick<State, (typeof RECEIPT_COLUMNS)[number] | 'receiptRoom'>

/** Brings receipts to the room of now, whose columns are empty; the scalars are those of before. */
export function moveReceipts(state: State, before: ReceiptsBefore): void {
  movePages(state, before)
  moveSeals(state, before)
  renumber(state, before)
  fillStore(state, before)
}

function movePages({ scalars, receiptPages, receiptRoom }: State, before: ReceiptsBefore): void {
  const [head, tail] = [scalars[SCALAR.RECEIPT_HEAD_PAGE]!, scalars[SCALAR.RECEIPT_TAIL_PAGE]!]
  for (let page = Math.max(head, tail - before.receiptRoom.memoryPages + 1); page <= tail; page++) {
    const from = (page % before.receiptRoom.memoryPages) * RECEIPT_PAGE_WORDS
    const words = before.receiptPages.subarray(from, from + RECEIPT_PAGE_WORDS)
    receiptPages.set(words, (page % receiptRoom.memoryPages) * RECEIPT_PAGE_WORDS)
  }
  // 0: no page was ever begun.
  if (scalars[SCALAR.RECEIPT_PAGES_USED] !== 0) scalars[SCALAR.RECEIPT_PAGES_USED] = Math.min(tail + 1, receiptRoom.memoryPages)
}

function moveSeals({ scalars, receiptSeals, receiptRoom }: State, before: ReceiptsBefore): void {
  const tail = scalars[SCALAR.RECEIPT_TAIL_PAGE]!
  for (let page = scalars[SCALAR.RECEIPT_HEAD_PAGE]!; page < tail; page++) {
    const from = (page % before.receiptRoom.pages) * 2
    receiptSeals.set(before.receiptSeals.subarray(from, from + 2), (page % receiptRoom.pages) * 2)
  }
  scalars[SCALAR.RECEIPT_SEALS_USED] = Math.min(tail, receiptRoom.pages)
}

/** Bits stand for receipts that are kept, and for no others. */
function renumber({ scalars, receiptsForgotten }: State, { receiptsForgotten: bits, receiptRoom: { numbers } }: ReceiptsBefore): void {
  const head = scalars[SCALAR.RECEIPTS_HEAD]!
  const words = scalars[SCALAR.FORGOTTEN_USED]!
  let used = 0
  for (let word = 0; word < words; word++) {
    for (let left = bits[word]!; left !== 0; left &= left - 1) {
      const number = (word * 32 + 31 - Math.clz32(left & -left) - head + numbers) % numbers
      receiptsForgotten[number >>> 5]! |= 1 << (number & 31)
      used = Math.max(used, (number >>> 5) + 1)
    }
  }
  scalars[SCALAR.FORGOTTEN_USED] = used
  scalars[SCALAR.RECEIPTS_HEAD] = 0
}

/** Where all pages stand in memory, none was ever given to the store. */
function fillStore(state: State, { receiptRoom: { pages, memoryPages } }: ReceiptsBefore): void {
  const { i32, scalars, receiptRoom, receiptStore } = state
  if (memoryPages < pages || receiptRoom.memoryPages === receiptRoom.pages) return
  const tail = scalars[SCALAR.RECEIPT_TAIL_PAGE]!
  for (let page = scalars[SCALAR.RECEIPT_HEAD_PAGE]!; page < tail; page++) receiptStore.write(page, i32, ringAddress(state, page))
}
