/**
 * Finds receipts by account and idempotency key: derived state, rebuilt on load.
 *
 * The index is a row of blocks, each a table of its own for so many receipts in the order of acceptance. Receipts come at one end and go
 * at the other, so nothing is ever removed from a block: when its last receipt is dropped, the block is forgotten as a whole. Memory
 * grows with use, a block at a time, and comes back for the next one; a block that is given back is emptied while the one before is
 * filled, a few words with each receipt.
 *
 *   place, 8 bytes   | tag: last word of the key, made odd; 0: free | position (receipt_pages.ts) |
 *
 * Tables are 2/3 full at most. A search asks every block from the newest to the oldest, 17 at most; with few receipts there is one.
 * Where a key stands depends on the key of the process (indexes.ts, hashWords). A tag that is right leads to the receipt, which says
 * whether it is the one; it is wrong once in 2^31.
 */
import { sameWords, hashWords } from './indexes.ts'
import { SCALAR } from './columns.ts'
import { eachReceipt, enterFirst, isKept, offsetOf, pageAddress, pageOf, RECEIPT, Scratch } from './receipt_pages.ts'
import type { State } from './state.ts'

/** Words of a place. */
const PLACE = 2

/** Address of a physical block. */
const blockAddress = (state: State, block: number): number => state.receiptIndexAt + block * state.receiptRoom.places * PLACE

/** Where in its block a search for the key at `words[at..]` begins. */
const homeOf = (state: State, account: number, words: Int32Array, at: number): number =>
  Math.floor((hashWords(state, account, words, at, 4) * state.receiptRoom.places) / 0x100000000) * PLACE

/**
 * Place in receiptBlocks, behind the reserve, that counts the receipts dropped since the index was made. A receipt's block goes by that
 * and not by its number, which is stored and knows nothing of blocks.
 */
const DROPPED = 1

/** What the `nth` receipt that is kept counts as, the oldest being 0: modulo what all blocks have. */
function countOf({ receiptBlocks, receiptRoom }: State, nth: number): number {
  return (receiptBlocks[receiptRoom.blocks + DROPPED]! + nth) % (receiptRoom.blocks * receiptRoom.blockReceipts)
}

/** The block of the `nth` receipt, in the order of acceptance. */
const turnOf = (state: State, nth: number): number => Math.floor(countOf(state, nth) / state.receiptRoom.blockReceipts)

/** The oldest receipt is dropped: it leaves the index. */
export function leaveIndex(state: State): void {
  state.receiptBlocks[state.receiptRoom.blocks + DROPPED] = countOf(state, 1)
}

/** A physical block that none of the turns from that of the oldest receipt to `turn` has. */
function freeBlock(state: State, turn: number): number {
  const { receiptBlocks, receiptRoom } = state
  const oldest = turnOf(state, 0)
  for (let block = 0; ; block++) {
    let used = false
    for (let each = turn; ; each = (each + receiptRoom.blocks - 1) % receiptRoom.blocks) {
      used ||= receiptBlocks[each] === block + 1
      if (each === oldest) break
    }
    if (!used) return block
  }
}

/** Gives a block to a turn: the one in reserve, which is empty; and chooses the next reserve. */
function enterTurn(state: State, turn: number): void {
  const { receiptBlocks, receiptRoom } = state
  const reserve = receiptRoom.blocks
  receiptBlocks[turn] = receiptBlocks[reserve] !== 0 ? receiptBlocks[reserve]! : freeBlock(state, turn) + 1
  receiptBlocks[reserve] = freeBlock(state, turn) + 1
}

/** Empties the part of the reserve that the receipt at `place` of its block pays for. Pages of it that nobody used stay untouched. */
function emptyReserve(state: State, place: number): void {
  const { i32, receiptBlocks, receiptRoom } = state
  const at = blockAddress(state, receiptBlocks[receiptRoom.blocks]! - 1)
  const words = receiptRoom.places * PLACE
  const end = Math.floor(((place + 1) * words) / receiptRoom.blockReceipts)
  for (let word = Math.floor((place * words) / receiptRoom.blockReceipts); word < end; word++) {
    if (i32[at + word] !== 0) i32[at + word] = 0
  }
}

/** Enters the `nth` receipt that is kept, of `account`, whose key is at `words[at..]`. They come one after another. */
export function indexReceipt(state: State, nth: number, account: number, words: Int32Array, at: number, position: number): void {
  const { i32, receiptBlocks, receiptRoom } = state
  const turn = turnOf(state, nth)
  const place = countOf(state, nth) % receiptRoom.blockReceipts
  if (place === 0 || receiptBlocks[turn] === 0) enterTurn(state, turn)
  emptyReserve(state, place)
  const block = blockAddress(state, receiptBlocks[turn]! - 1)
  const end = block + receiptRoom.places * PLACE
  let entry = block + homeOf(state, account, words, at)
  while (i32[entry] !== 0) entry = entry + PLACE === end ? block : entry + PLACE
  i32[entry + 1] = position
  i32[entry] = words[at + 3]! | 1
}

/**
 * Reads where a search for the key at `words[at..]` begins in each block, when there is a receipt (engine/warm.ts): a new key is looked for
 * in all of them, and the processor overlaps reads that no decision stands between.
 */
export function readHomes(state: State, account: number, words: Int32Array, at: number): number {
  const { i32, receiptBlocks, receiptRoom, scalars } = state
  const home = homeOf(state, account, words, at)
  const newest = turnOf(state, scalars[SCALAR.RECEIPTS_COUNT]! - 1)
  let read = 0
  for (let turn = turnOf(state, 0); ; turn = turn + 1 === receiptRoom.blocks ? 0 : turn + 1) {
    read ^= i32[blockAddress(state, receiptBlocks[turn]! - 1) + home]!
    if (turn === newest) return read
  }
}

/** Says whether the receipt at a position is the one that is looked for. */
export type Match = (state: State, position: number, account: number, words: Int32Array, at: number) => boolean

/** Position of the newest receipt of `account` for the key at `words[at..]`, or -1. Bounded, so that a reader cannot spin. */
export function findReceipt(state: State, account: number, words: Int32Array, at: number, isIt: Match = isReceipt): number {
  const { i32, receiptBlocks, receiptRoom, scalars } = state
  const count = scalars[SCALAR.RECEIPTS_COUNT]!
  if (count === 0) return -1
  const home = homeOf(state, account, words, at)
  const tag = words[at + 3]! | 1
  const oldest = turnOf(state, 0)
  let turn = turnOf(state, count - 1)
  for (let turns = 0; turns < receiptRoom.blocks; turns++) {
    const block = blockAddress(state, receiptBlocks[turn]! - 1)
    const end = block + receiptRoom.places * PLACE
    let found = -1
    // A key that was used again before its first receipt was dropped stands behind itself: the last one counts.
    for (let entry = block + home, looked = 0; i32[entry] !== 0 && looked < receiptRoom.places; looked++) {
      const position = i32[entry + 1]!
      if (i32[entry] === tag && isKept(state, position) && isIt(state, position, account, words, at)) found = position
      entry = entry + PLACE === end ? block : entry + PLACE
    }
    if (found !== -1 || turn === oldest) return found
    turn = turn === 0 ? receiptRoom.blocks - 1 : turn - 1
  }
  return -1
}

const isReceipt: Match = (state, position, account, words, at) => {
  const receipt = pageAddress(state, pageOf(state, position), Scratch.FOUND) + offsetOf(position)
  return state.i32[receipt + RECEIPT.ACCOUNT] === account && sameWords(state.i32, receipt + RECEIPT.KEY, words, at, 4)
}

/** Enters all receipts that are kept into an empty index, and the numbers of pages; throws when a page of them is not what it was. */
export function rebuildReceiptIndex(state: State): void {
  const { scalars, i32 } = state
  let [nth, last] = [0, scalars[SCALAR.RECEIPT_HEAD_PAGE]!]
  const [head, at] = [pageAddress(state, last, Scratch.HEAD), scalars[SCALAR.RECEIPT_HEAD_AT]!]
  enterFirst(state, last, head, at, scalars[SCALAR.RECEIPTS_HEAD]!)
  eachReceipt(state, (number, position, address, receipt) => {
    const page = pageOf(state, position)
    if (page !== last) enterFirst(state, page, address, receipt - address, number)
    last = page
    indexReceipt(state, nth++, i32[receipt + RECEIPT.ACCOUNT]!, i32, receipt + RECEIPT.KEY, position)
  })
}
