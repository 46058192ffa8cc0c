/**
 * How much room receipts take, from the limits of the genesis: `receipts` at once, of which `receiptPages` pages stand in memory.
 */
import type { Limits } from './genesis.ts'

/** 16 KiB. */
export const RECEIPT_PAGE_WORDS = 4096
/** Words of a page's head, and where receipts begin. */
export const PAGE_OF_RECEIPTS = { FIRST: 0, COUNT: 1, TIME: 2, SEQUENCE: 4, USED: 6, RECEIPTS: 8 } as const
/** Pages that were read back, each with its number + 1 behind it: of the oldest receipt, and of one that is looked for. */
export const SCRATCH_PAGE_WORDS = RECEIPT_PAGE_WORDS + 2
export const RECEIPT_SCRATCH_WORDS = 2 * SCRATCH_PAGE_WORDS
/** The longest receipt: what is said of every one, and all 24 words of an answer, made even. */
export const RECEIPT_WORDS_MOST = 36
/** Receipts that a page has at least; not all of one are used that is given up early (receipt_pages.ts). */
const IN_A_PAGE = Math.floor((RECEIPT_PAGE_WORDS - 8) / RECEIPT_WORDS_MOST)
/** Pages more than the shortest have: given up early, and the two at the ends. */
const PAGES_MORE = 64
/**
 * Most blocks of the index that hold something at once, but for one that is begun; and fewest receipts of a block. A new key is looked for
 * in every block, and the memory of the index grows and comes back by blocks.
 */
const BLOCKS = 16
const BLOCK_LEAST = 8
/** Numbers of receipts are stored in states and pages: they go as far as this many parts of the limit and one more, for ever. */
const NUMBER_PARTS = 32
const PART_LEAST = 8

export interface ReceiptRoom {
  /** Pages between the oldest receipt and the newest, at most. */
  readonly pages: number
  /** Of these the newest that stand in memory. */
  readonly memoryPages: number
  /** Receipts of a block of the index, its places, and its blocks that may hold something at once. */
  readonly blockReceipts: number
  readonly places: number
  readonly blocks: number
  /** Receipts are numbered modulo this. */
  readonly numbers: number
}

export function receiptRoomOf({ receipts, receiptPages }: Pick<Limits, 'receipts' | 'receiptPages'>): ReceiptRoom {
  const pages = Math.ceil(receipts / IN_A_PAGE) + PAGES_MORE
  const blockReceipts = Math.max(BLOCK_LEAST, Math.ceil(receipts / BLOCKS))
  const blocks = Math.ceil(receipts / blockReceipts) + 1
  return {
    pages,
    memoryPages: receiptPages === 0 ? pages : Math.min(pages, receiptPages),
    blockReceipts,
    places: Math.ceil((blockReceipts * 3) / 2),
    blocks,
    numbers: numbersOf(receipts),
  }
}

function numbersOf(receipts: number): number {
  const part = Math.max(PART_LEAST, Math.ceil(receipts / NUMBER_PARTS))
  return (Math.ceil(receipts / part) + 1) * part
}
