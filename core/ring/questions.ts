/**
 * A cell of questions: what a thread in front of the engine asks the matcher, and the answer. One cell a lane: one thread asks, and asks
 * one thing at a time; the matcher answers between two batches, so an answer is of one state, whatever moves.
 *
 *   asker                                        matcher
 *   add 1 to ASKED (odd: being written)
 *   write the question
 *   add 1 to ASKED: n, even           ------->   load ASKED: n is even, and not answered yet
 *                                                copy the question
 *                                                add 0 to ASKED: still n, so nobody wrote meanwhile
 *                                                exchange BEGUN: n
 *                                                write the answer, the question repeated
 *   load ANSWERED: n                  <-------   store ANSWERED: n
 *   copy the answer
 *   add 0 to BEGUN: still n, so nobody wrote meanwhile
 *
 * Words between are plain: view/consistent.ts says why both sides CHANGE the word that guards a copy, and test/unit/memory_order.test.ts
 * proves it here. An asker that keeps to this never meets the other's writing: the second looks are there so that one that does not (that
 * died in the middle, or asked twice) gets no answer instead of a wrong one. Numbers go round after 2^31 questions: only equality counts.
 *
 * The asker sleeps on a wait cell of its own (ring/wait.ts); the matcher wakes it only if it does. Nothing here is state of the engine.
 */
import { WAIT_WORDS } from './wait.ts'

/** Levels of each side that one answer has at most: what the matcher looks at for one question, and the bound of its time. */
export const LEVELS_MAX = 1000

/** Kinds of question. */
export const Ask = { LEVELS: 1, FILL_PATH: 2, PREVIEW: 3 } as const
/** Code of an answer: whether the question was one. */
export const AnswerCode = { GOOD: 0, NO_QUESTION: 1 } as const

/** Words of a question; kind first. */
export const QUESTION_WORDS = 14
/** LEVELS. `bidsBelow`, `asksAbove`: ticks behind which the walk begins; 0: with the best. `bids`, `asks`: levels at most; 0: none. */
export const LEVELS_QUESTION = { KIND: 0, PAIR: 1, BIDS_BELOW: 2, ASKS_ABOVE: 3, BIDS: 4, ASKS: 5 } as const
/** FILL_PATH: view/fill_path.ts, Incoming. */
export const PATH_QUESTION = { KIND: 0, PAIR: 1, ACCOUNT: 2, FLAGS: 3, PRICE: 4, LOTS: 5 } as const

/** PREVIEW: an order of a perpetual, in the words of ORDER_COMMAND (layout/command.ts); the sequence of what is named is a double. */
export const PREVIEW_QUESTION = {
  KIND: 0, PAIR: 1, ACCOUNT: 2, FLAGS: 3, PRICE: 4, LOTS: 5, LEVERAGE: 6, SLIPPAGE_BPS: 7, MARGIN_ACCOUNT: 8, BUCKET: 9,
  SEQUENCE_LOW: 10, SEQUENCE_HIGH: 11, KEY_LOW: 12, KEY_HIGH: 13,
} as const

/** Places in the cell, in words. The asker writes the first two lines, the matcher the others. */
const ASKED = WAIT_WORDS
const QUESTION = ASKED + 1
const BEGUN = 2 * WAIT_WORDS
const ANSWERED = BEGUN + 1
const CODE = BEGUN + 2
const ECHO = BEGUN + 4
const FIGURES = 4 * WAIT_WORDS
const PAYLOAD = 5 * WAIT_WORDS

/** Figures of an answer: doubles, from {@link Cell}.figures on. */
export const FIGURE = {
  /** Sequence of the last command that changed the book. */
  SEQUENCE: 0,
  /** Place in the event ring behind the last event that is in the answer: later ones are not. */
  POSITION: 1,
  /** LEVELS: how many follow. */
  BIDS: 2, ASKS: 3,
  /** FILL_PATH. */
  FILLED: 2, MEETS_OWN: 3, TOO_LONG: 4,
} as const
/** FILL_PATH: its value, an i64 of the payload. */
export const TICK_LOTS = 0

/**
 * PREVIEW, in the payload: what Preview of orders/preview.ts says, and the bucket that it is of as it stands, so that whoever asked can
 * work out what it would be afterwards. Words, i64s and doubles by their index in the view of their type.
 */
export const PREVIEW_ANSWER = {
  CODE: 0, LOTS: 1, LIMIT: 2, TOUCH: 3, FILLED: 4, TRADES: 5, BEST: 6, WORST: 7, MEETS_OWN: 8, TOO_LONG: 9,
  /** Rows of bucket and margin account, -1: there is none yet; kinds and mark of the pair; positions that follow. */
  BUCKET: 10, MARGIN: 11, MARGIN_KIND: 12, MARK: 13, POSITIONS: 14,
  /** 1: its bucket would not bear the next fill. */
  UNBORNE: 15,
  /** Atoms; COST: ticks × lots of what it would fill. Cumulative funding of the pair, 10^-6 atoms. */
  BROUGHT: 8, REQUIRED: 9, AVAILABLE: 10, COST: 11, ALLOCATED: 12, PENDING: 13, REALIZED: 14, CUMULATIVE: 15,
  /** Of BROUGHT, what no fill would commit. */
  UNCOMMITTED: 18,
  /** f64: sequences that made bucket and margin account. */
  BUCKET_SEQUENCE: 16, MARGIN_SEQUENCE: 17,
  /** Words of the strategy key and the scope of the bucket. */
  STRATEGY_KEY: 38, SCOPE: 50,
} as const
/** Words before the positions, and of one. */
export const PREVIEW_WORDS = 58
export const PREVIEW_POSITION_WORDS = 20
/** Of a position, from its first word on; i64s and doubles from the half of it on. */
export const PREVIEW_POSITION = {
  PAIR: 0, LOTS: 1, LEVERAGE: 2, REDUCE_LOTS: 3, COST: 2, FUNDED_TO: 3, CUMULATIVE: 4, BID_VALUE: 5, ASK_VALUE: 6,
  BID_LOTS: 7, ASK_LOTS: 8, MARK: 18,
} as const

/** Words of a level in the payload, bids first, best first; lots are a double. */
export const LEVEL_ANSWER_WORDS = 4
export const LEVEL_ANSWER = { TICK: 0, ORDERS: 1, LOTS: 2 } as const
const WORDS = PAYLOAD + 2 * LEVELS_MAX * LEVEL_ANSWER_WORDS

export const QUESTIONS_BYTES = WORDS * 4

/** The cell as a thread sees it. */
export interface Cell {
  readonly words: Int32Array
  /** The asker's wait cell. */
  readonly wait: Int32Array
  readonly question: Int32Array
  readonly figures: Float64Array
  /** The payload in three views. */
  readonly i32: Int32Array
  readonly f64: Float64Array
  readonly i64: BigInt64Array
}

export const createQuestions = (): SharedArrayBuffer => new SharedArrayBuffer(QUESTIONS_BYTES)

export function attachQuestions(buffer: SharedArrayBuffer): Cell {
  const payload = PAYLOAD * 4
  return {
    words: new Int32Array(buffer),
    wait: new Int32Array(buffer, 0, WAIT_WORDS),
    question: new Int32Array(buffer, QUESTION * 4, QUESTION_WORDS),
    figures: new Float64Array(buffer, FIGURES * 4, WAIT_WORDS / 2),
    i32: new Int32Array(buffer, payload),
    f64: new Float64Array(buffer, payload),
    i64: new BigInt64Array(buffer, payload),
  }
}

/** Asker: puts a question, whose number it returns. Only when the one before it is answered: there is room for one. */
export function putQuestion({ words, question }: Cell, asked: ArrayLike<number>): number {
  Atomics.add(words, ASKED, 1)
  for (let word = 0; word < QUESTION_WORDS; word++) question[word] = asked[word] ?? 0
  return (Atomics.add(words, ASKED, 1) + 1) | 0
}

/** Asker: question `number` is answered, or something else is. */
export const isAnswered = ({ words }: Cell, number: number): boolean => Atomics.load(words, ANSWERED) === number

/**
 * Asker: what `copy` made of the answer to `asked`, question `number`; `null` when that is not what stands there. Only when it
 * {@link isAnswered}.
 */
export function takeAnswer<T>({ words }: Cell, number: number, asked: ArrayLike<number>, copy: () => T): T | null {
  if (Atomics.load(words, ANSWERED) !== number || words[CODE] !== AnswerCode.GOOD) return null
  for (let word = 0; word < QUESTION_WORDS; word++) if (words[ECHO + word] !== (asked[word] ?? 0)) return null
  const value = copy()
  return Atomics.add(words, BEGUN, 0) === number ? value : null
}

/** Matcher: whether a question waits. */
export function isAsked({ words }: Cell): boolean {
  const number = Atomics.load(words, ASKED)
  return (number & 1) === 0 && number !== words[ANSWERED]
}

/** Matcher: copies the question that waits; its number, or -1 (no number is odd): none, or it is being written. */
export function takeQuestion({ words, question }: Cell, to: Int32Array): number {
  const number = Atomics.load(words, ASKED)
  // Its own word: nobody else writes it.
  if ((number & 1) !== 0 || number === words[ANSWERED]) return -1
  for (let word = 0; word < QUESTION_WORDS; word++) to[word] = question[word]!
  return Atomics.add(words, ASKED, 0) === number ? number : -1
}

/** Matcher: begins the answer to question `number`; figures and payload are written between this and {@link publishAnswer}. */
export function beginAnswer({ words }: Cell, number: number, asked: Int32Array): void {
  Atomics.exchange(words, BEGUN, number)
  for (let word = 0; word < QUESTION_WORDS; word++) words[ECHO + word] = asked[word]!
}

/** Matcher: the answer is whole. */
export function publishAnswer({ words }: Cell, number: number, code: number): void {
  words[CODE] = code
  Atomics.store(words, ANSWERED, number)
}
