/**
 * Receipts at rest: pages of 16 KiB, written one behind the other in the order of acceptance.
 *
 * A receipt is what is needed to give an answer once more. Most of an answer is zero, follows from the rest or is said by the page, so
 * a resting order takes 76 to 88 bytes instead of 192:
 *
 *   page     | number of its first receipt | receipts | time, f64 | sequence, f64 | words in use | 0 | receipts ...          | 0 ... |
 *   word       0                             1          2           4               6              7   8                       4095
 *
 *   receipt  | account | mask | ms since the page's time | key, 4 | payload, 4 | sequence | words of the answer ... | 0 to the next
 *   word       0         1      2                          3        7            11         11 or 12 on              | even word
 *
 * Bit w of the mask: word 8 + w of the RESULT (layout/event.ts) is not 0 and stands here; REMAINING is what LOTS exclusive-or it gives.
 * OWN_SEQUENCE: the order is of the command's own sequence, which stands as the distance to the page's. OWN_EXPIRY: it expires a default
 * lifetime after the command. So the answer of before comes back word by word, whatever it was.
 *
 * Pages have running numbers. The newest of them stand in a ring in memory (column receiptPages, limit `receiptPages` of the genesis;
 * without it all do), older ones with the page store (page_store.ts), which is a directory that matcher and followers share
 * (lib/page_files.ts): a page that is full never changes again and is a function of the journal, so whoever writes it
 * writes the same bytes. Column receiptSeals has a checksum of every full page. It stands for the page in digests and snapshots, and what
 * the store gives back is held against it. Pages before the oldest receipt are nobody's.
 *
 * A receipt's number is its place in the order of acceptance, modulo what the room has (receipt_room.ts). In the page stands the number
 * that its first receipt had when the page was begun. A larger room counts anew (receipt_growth.ts) while the page stays as it is, so
 * that number is only written, and the one of now is in column receiptFirsts, which is derived.
 *
 *         receiptSeals (checksums)      x  x  x  x  x  x  x  x  x  x  x
 *         the store                     o  o  o  o  o  o  o  o  o  o  o            .: gone   o: full   >: being written
 *         pages               .  .  .  o  o  o  o  o  o  o  o  o  o  o  >
 *         the ring in memory            :        :              o  o  o  >
 *                                       head: the oldest receipt         tail: the newest
 */
import { assert } from '../lib/assert.ts'
import { ORDER_COMMAND } from '../layout/command.ts'
import { RESULT } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { CLOCK, SCALAR } from './columns.ts'
import { PAGE_OF_RECEIPTS, RECEIPT_PAGE_WORDS, RECEIPT_WORDS_MOST, SCRATCH_PAGE_WORDS } from './receipt_room.ts'
import type { State } from './state.ts'

const C = ORDER_COMMAND.at

const P = PAGE_OF_RECEIPTS
export const RECEIPT = { ACCOUNT: 0, MASK: 1, TIME: 2, KEY: 3, PAYLOAD: 7, ANSWER: 11 } as const

/** First word of a RESULT that a receipt keeps, and how many. */
const FROM = RESULT.at.pair
const WORDS = RESULT.words - FROM
const [LOTS, REMAINING] = [RESULT.at.lots, RESULT.at.remaining - FROM]
const EXPIRES = RESULT.at.expiresAt
const SEQUENCE = RESULT.at.orderSequence
const OWN_SEQUENCE = 1 << 24
const OWN_EXPIRY = 1 << 25
const pairAt = (word: number): number => 3 << (word - FROM)
/** What is said of time and sequence within a page fits a word. */
const DELTA_MOST = 0x7fffffff

function bitsOf(mask: number): number {
  let n = mask - ((mask >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Words of the receipt with this mask. */
export const wordsOfReceipt = (mask: number): number => (RECEIPT.ANSWER + bitsOf(mask & (OWN_SEQUENCE | (OWN_SEQUENCE - 1))) + 1) & ~1

/** Scratch pages (receipt_room.ts). */
export const Scratch = { HEAD: 0, FOUND: 1 } as const

/** True when the page stands in the ring. */
export const inMemory = ({ scalars, receiptRoom }: State, page: number): boolean =>
  scalars[SCALAR.RECEIPT_TAIL_PAGE]! - page < receiptRoom.memoryPages

/** Address of a page in the ring. */
export const ringAddress = ({ receiptPagesAt, receiptRoom }: State, page: number): number =>
  receiptPagesAt + (page % receiptRoom.memoryPages) * RECEIPT_PAGE_WORDS

/** Address of a page between head and tail; one of the store is read to a scratch page, for which another goes. */
export function pageAddress(state: State, page: number, scratch: number): number {
  if (inMemory(state, page)) return ringAddress(state, page)
  const { i32, receiptStore } = state
  const at = state.receiptScratchAt + scratch * SCRATCH_PAGE_WORDS
  if (i32[at + RECEIPT_PAGE_WORDS] === page + 1) return at
  i32[at + RECEIPT_PAGE_WORDS] = 0
  receiptStore.read(page, i32, at)
  assert(isSealed(state, page, i32, at), 'a page of receipts is not what it was')
  i32[at + RECEIPT_PAGE_WORDS] = page + 1
  return at
}

/** Checksum of a page, 64 bits in two words at `seals[to]`; true when it is what stood there. */
function checksum(words: Int32Array, at: number, seals: Int32Array, to: number, write: boolean): boolean {
  let a = 0x243f6a88
  let b = 0x13198a2e
  for (let word = at; word < at + RECEIPT_PAGE_WORDS; word++) {
    const value = words[word]!
    a = Math.imul(a ^ value, 0x9e3779b1)
    a ^= a >>> 15
    b = (Math.imul(b, 0x85ebca6b) + value) | 0
    b = (b << 13) | (b >>> 19)
  }
  const same = seals[to] === a && seals[to + 1] === b
  if (write) {
    seals[to] = a
    seals[to + 1] = b
  }
  return same
}

/** Address of the number of a page's first receipt. */
const firstAt = ({ receiptFirstsAt, receiptRoom }: State, page: number): number => receiptFirstsAt + (page % receiptRoom.pages)

const sealAt = ({ receiptRoom }: State, page: number): number => (page % receiptRoom.pages) * 2

/** True when the page at `words[at..]` is the full one of this number. */
export const isSealed = (state: State, page: number, words: Int32Array, at: number): boolean =>
  checksum(words, at, state.receiptSeals, sealAt(state, page), false)

/** The page is full: its checksum is taken, and it is the store's if the memory does not keep it. */
function seal(state: State, page: number): void {
  const { i32, scalars, receiptRoom } = state
  const at = ringAddress(state, page)
  checksum(i32, at, state.receiptSeals, sealAt(state, page), true)
  scalars[SCALAR.RECEIPT_SEALS_USED] = Math.min(page + 1, receiptRoom.pages)
  if (receiptRoom.memoryPages < receiptRoom.pages) state.receiptStore.write(page, i32, at)
}

/** Address of the page that has room for one more receipt of this command, number `number`. */
function openPage(state: State, number: number): number {
  const { i32, f64, scalars, clock, receiptRoom } = state
  const tail = scalars[SCALAR.RECEIPT_TAIL_PAGE]!
  const at = ringAddress(state, tail)
  const used = i32[at + P.USED]!
  const near =
    clock[CLOCK.TIME]! - f64[(at + P.TIME) >>> 1]! <= DELTA_MOST && clock[CLOCK.SEQUENCE]! - f64[(at + P.SEQUENCE) >>> 1]! <= DELTA_MOST
  if (used !== 0 && near && used + RECEIPT_WORDS_MOST <= RECEIPT_PAGE_WORDS) return at
  const page = used === 0 ? tail : tail + 1
  if (used !== 0) seal(state, tail)
  assert(page - scalars[SCALAR.RECEIPT_HEAD_PAGE]! < receiptRoom.pages, 'receipts have more pages than there are')
  const next = ringAddress(state, page)
  i32.fill(0, next, next + RECEIPT_PAGE_WORDS)
  i32[next + P.FIRST] = number
  i32[firstAt(state, page)] = number
  f64[(next + P.TIME) >>> 1] = clock[CLOCK.TIME]!
  f64[(next + P.SEQUENCE) >>> 1] = clock[CLOCK.SEQUENCE]!
  i32[next + P.USED] = P.RECEIPTS
  scalars[SCALAR.RECEIPT_TAIL_PAGE] = page
  scalars[SCALAR.RECEIPT_PAGES_USED] = Math.min(page + 1, receiptRoom.memoryPages)
  return next
}

/** Writes the RESULT at word `result` of the outbox as receipt `number`; its position (receipt_index.ts). */
export function appendReceipt(
  state: State, number: number, account: number, command: Views, base: number, result: number,
): number {
  const { i32, f64, clock, outbox } = state
  const { i32: answer, f64: answerF64 } = outbox
  const page = openPage(state, number)
  const offset = i32[page + P.USED]!
  const at = page + offset
  i32[at + RECEIPT.ACCOUNT] = account
  i32[at + RECEIPT.TIME] = clock[CLOCK.TIME]! - f64[(page + P.TIME) >>> 1]!
  for (let word = 0; word < 4; word++) {
    i32[at + RECEIPT.KEY + word] = command.i32[base + C.key + word]!
    i32[at + RECEIPT.PAYLOAD + word] = command.i32[base + C.payload + word]!
  }
  let [mask, left, next] = [0, (1 << WORDS) - 1, at + RECEIPT.ANSWER]
  if (answerF64[(result + SEQUENCE) >>> 1] === clock[CLOCK.SEQUENCE]!) {
    mask |= OWN_SEQUENCE
    left &= ~pairAt(SEQUENCE)
    i32[next++] = clock[CLOCK.SEQUENCE]! - f64[(page + P.SEQUENCE) >>> 1]!
  }
  if (answerF64[(result + EXPIRES) >>> 1] === clock[CLOCK.TIME]! + state.orderLifetimeMs) {
    mask |= OWN_EXPIRY
    left &= ~pairAt(EXPIRES)
  }
  for (let word = 0; word < WORDS; word++) {
    const value = word === REMAINING ? answer[result + FROM + word]! ^ answer[result + LOTS]! : answer[result + FROM + word]!
    if (value === 0 || (left & (1 << word)) === 0) continue
    mask |= 1 << word
    i32[next++] = value
  }
  i32[at + RECEIPT.MASK] = mask
  i32[page + P.USED] = offset + wordsOfReceipt(mask)
  i32[page + P.COUNT]! += 1
  return positionOf(state.scalars[SCALAR.RECEIPT_TAIL_PAGE]!, offset)
}

/** Writes what the receipt at `at` of the page at `page` says of its answer into the RESULT at word `result` of the outbox. */
export function restoreAnswer(state: State, page: number, at: number, result: number): void {
  const { i32, f64, outbox } = state
  const { i32: answer, f64: answerF64 } = outbox
  const mask = i32[at + RECEIPT.MASK]!
  let next = at + RECEIPT.ANSWER
  const sequence = (mask & OWN_SEQUENCE) !== 0 ? f64[(page + P.SEQUENCE) >>> 1]! + i32[next++]! : 0
  for (let word = 0; word < WORDS; word++) answer[result + FROM + word] = (mask & (1 << word)) !== 0 ? i32[next++]! : 0
  answer[result + FROM + REMAINING]! ^= answer[result + LOTS]!
  if ((mask & OWN_SEQUENCE) !== 0) answerF64[(result + SEQUENCE) >>> 1] = sequence
  if ((mask & OWN_EXPIRY) !== 0) answerF64[(result + EXPIRES) >>> 1] = timeOfReceipt(state, page, at) + state.orderLifetimeMs
}

/** One of the words PAIR, FLAGS, SLOT, PRICE and LOTS of the answer in the receipt at `words[at..]`. */
export function wordOfAnswer(words: Int32Array, at: number, word: number): number {
  const mask = words[at + RECEIPT.MASK]!
  const bit = 1 << (word - FROM)
  const before = bitsOf(mask & (bit - 1)) + ((mask & OWN_SEQUENCE) >>> 24)
  return (mask & bit) === 0 ? 0 : words[at + RECEIPT.ANSWER + before]!
}

/** When the command was accepted whose receipt is at `at` of the page at `page`, Unix ms. */
export const timeOfReceipt = ({ i32, f64 }: State, page: number, at: number): number =>
  f64[(page + P.TIME) >>> 1]! + i32[at + RECEIPT.TIME]!

// Positions: where a receipt stands, in one word.

/** Bits of the word of a receipt within its page, in pairs of words; the others are the page's, modulo. */
const OFFSET_BITS = 11
const PAGE_MASK = (1 << (32 - OFFSET_BITS)) - 1

const positionOf = (page: number, offset: number): number => ((page & PAGE_MASK) << OFFSET_BITS) | (offset >>> 1)
/** Word of the receipt within its page. */
export const offsetOf = (position: number): number => (position & ((1 << OFFSET_BITS) - 1)) << 1
/** Running number of its page: the newest that it can be. */
export const pageOf = ({ scalars }: State, position: number): number => {
  const tail = scalars[SCALAR.RECEIPT_TAIL_PAGE]!
  return tail - ((tail - (position >>> OFFSET_BITS)) & PAGE_MASK)
}
/** False when the receipt is dropped already. */
export function isKept(state: State, position: number): boolean {
  const { scalars } = state
  const page = pageOf(state, position)
  const head = scalars[SCALAR.RECEIPT_HEAD_PAGE]!
  return page > head || (page === head && offsetOf(position) >= scalars[SCALAR.RECEIPT_HEAD_AT]!)
}
/** Receipts of the page at `at` that stand before word `offset` of it. */
function receiptsBefore({ i32 }: State, at: number, offset: number): number {
  let count = 0
  for (let word: number = P.RECEIPTS; word < offset; count++) word += wordsOfReceipt(i32[at + word + RECEIPT.MASK]!)
  return count
}

/** Number of the receipt at word `offset` of page `page`, which is at `at`: of the page's first and of those before it there. */
export const numberOf = (state: State, page: number, at: number, offset: number): number =>
  (state.i32[firstAt(state, page)]! + receiptsBefore(state, at, offset)) % state.receiptRoom.numbers

/**
 * Receipt `number` stands at word `offset` of page `page`, which is at `at`; so the page's first has the number that is noted. It may be
 * negative where receipts before this one are dropped; nobody asks for those.
 */
export function enterFirst(state: State, page: number, at: number, offset: number, number: number): void {
  state.i32[firstAt(state, page)] = (number - receiptsBefore(state, at, offset)) % state.receiptRoom.numbers
}

/** True when receipt `number` is nobody's already (programs/receipts.ts). */
export const isForgotten = ({ receiptsForgotten }: State, number: number): boolean =>
  (receiptsForgotten[number >>> 5]! & (1 << (number & 31))) !== 0

/**
 * Calls `visit` with every receipt that is kept, oldest first, from page `fromPage` on; throws when a page of the store is not what it was.
 * From the oldest on, receiptFirsts is not read.
 */
export function eachReceipt(
  state: State, visit: (number: number, position: number, page: number, at: number) => void, fromPage: number = 0,
): void {
  const { i32, scalars, receiptRoom } = state
  const [head, tail] = [scalars[SCALAR.RECEIPT_HEAD_PAGE]!, scalars[SCALAR.RECEIPT_TAIL_PAGE]!]
  if (scalars[SCALAR.RECEIPTS_COUNT] === 0) return
  let number = fromPage > head ? i32[firstAt(state, fromPage)]! : scalars[SCALAR.RECEIPTS_HEAD]!
  for (let page = Math.max(head, fromPage); page <= tail; page++) {
    const address = pageAddress(state, page, Scratch.HEAD)
    assert(page === tail || !inMemory(state, page) || isSealed(state, page, i32, address), 'a page of receipts is not what it was')
    const used = i32[address + P.USED]!
    let offset: number = page === head ? scalars[SCALAR.RECEIPT_HEAD_AT]! : P.RECEIPTS
    for (; offset < used; number = (number + 1) % receiptRoom.numbers) {
      visit(number, positionOf(page, offset), address, address + offset)
      offset += wordsOfReceipt(i32[address + offset + RECEIPT.MASK]!)
    }
  }
}

/** The same with those that stand in memory; true when all do. */
export function eachReceiptInMemory(
  state: State, visit: (number: number, position: number, page: number, at: number) => void,
): boolean {
  const { scalars, receiptRoom } = state
  const first = scalars[SCALAR.RECEIPT_TAIL_PAGE]! - receiptRoom.memoryPages + 1
  eachReceipt(state, visit, first)
  return first <= scalars[SCALAR.RECEIPT_HEAD_PAGE]!
}
