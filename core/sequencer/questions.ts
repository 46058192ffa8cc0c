/**
 * The matcher's side of the cells of questions (ring/questions.ts): what threads in front of the engine could not copy, because it moved.
 *
 * Between two batches the columns rest, so an answer is of one state. It is read from them and nothing of it is written there or into the
 * journal; a preview writes and takes back, with readers kept away (preview_answer.ts). What it costs whoever trades is bounded three times
 * over:
 *
 *   an answer    {@link LEVELS_MAX} levels of each side, or the orders that one fill path may have (book/walk.ts), which is what an order
 *                costs that is checked for the same; a preview two of the shorter paths of perpetuals
 *   a turn       one answer, and lanes take turns: who always asks delays nobody else's question by more than one answer of its own
 *   busy time    while turns have commands, the matcher rests from answering {@link RESTS} times as long as the last answer took, so
 *                questions take a twentieth of its time; when a turn had none, nobody is kept waiting
 */
import { CLOCK, NO_ASK, PAIR } from '../state/columns.ts'
import { getF64, pairCount, pairRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { writtenTo, type Broadcast } from '../ring/broadcast.ts'
import {
  AnswerCode, Ask, attachQuestions, beginAnswer, FIGURE, isAsked, LEVELS_MAX, LEVELS_QUESTION, PATH_QUESTION, publishAnswer,
  QUESTION_WORDS, takeQuestion, TICK_LOTS, type Cell,
} from '../ring/questions.ts'
import { wake } from '../ring/wait.ts'
import { copyLevels } from '../view/levels.ts'
import { PATH_MAX, walkPath, type Incoming } from '../view/fill_path.ts'
import type { Meter } from './meter.ts'
import { createPreviewScratch, writePreview, type PreviewScratch } from './preview_answer.ts'

/** Of the time that a busy matcher has, an answer is followed by this many times what it took. */
export const RESTS = 19
/**
 * What an answer takes at most, s, and each level or order of it: one that took longer lost its processor in between, which is no reason to
 * rest as many times as long.
 */
const [ANSWER_MOST, STEP_MOST] = [50e-6, 250e-9]

export interface Questions {
  readonly cells: readonly Cell[]
  readonly question: Int32Array
  readonly incoming: Incoming
  readonly preview: PreviewScratch
  /** Lane whose question is looked at first. */
  first: number
  /** Until then a busy matcher answers nothing, by {@link Meter.seconds}. */
  restsUntil: number
}

export const createQuestions = (buffers: readonly SharedArrayBuffer[]): Questions => ({
  cells: buffers.map(attachQuestions),
  question: new Int32Array(QUESTION_WORDS),
  incoming: { account: 0, pair: 0, flags: 0, price: 0, lots: 0 },
  preview: createPreviewScratch(),
  first: 0,
  restsUntil: 0,
})

export function anyQuestion({ cells }: Questions): boolean {
  for (let i = 0; i < cells.length; i++) if (isAsked(cells[i]!)) return true
  return false
}

/** What answering needs of the sequencer. */
export interface Answering {
  readonly state: State
  /** Word APPLYING. */
  readonly gate: Int32Array
  readonly events: Broadcast
  readonly questions: Questions
  readonly meter: Meter
}

/**
 * Answers one question, if one waits; only between batches, with all events published. `busy`: there are commands, so that it may rest.
 * `now`: sequenced time of the turn, Unix ms.
 */
export function answerQuestion(answering: Answering, now: number, busy: boolean): boolean {
  const { questions, meter } = answering
  const { cells, question } = questions
  for (let i = 0; i < cells.length; i++) {
    const lane = (questions.first + i) % cells.length
    if (!isAsked(cells[lane]!)) continue
    const began = meter.seconds()
    if (busy && began < questions.restsUntil) return false
    const cell = cells[lane]!
    const number = takeQuestion(cell, question)
    if (number === -1) continue
    beginAnswer(cell, number, question)
    const steps = write(answering, cell, now)
    publishAnswer(cell, number, steps < 0 ? AnswerCode.NO_QUESTION : AnswerCode.GOOD)
    wake(cell.wait)
    const ended = meter.seconds()
    questions.first = lane + 1
    questions.restsUntil = ended + RESTS * Math.min(ended - began, ANSWER_MOST + Math.max(0, steps) * STEP_MOST)
    meter.answered(ended - began)
    return true
  }
  return false
}

/** Writes the answer to the question that was copied; the levels or orders that it looked at, at most; -1: it is no question. */
function write(answering: Answering, cell: Cell, now: number): number {
  const { state, events, questions } = answering
  const { question } = questions
  const pair = question[LEVELS_QUESTION.PAIR]!
  if (pair < 0 || pair >= pairCount(state)) return -1
  cell.figures[FIGURE.SEQUENCE] = getF64(state, pairRow(state, pair), PAIR.SEQUENCE)
  cell.figures[FIGURE.POSITION] = writtenTo(events)
  if (question[0] === Ask.LEVELS) return writeLevels(state, pair, question, cell)
  const time = Math.max(now, state.clock[CLOCK.TIME]!)
  if (question[0] === Ask.PREVIEW) return writePreview(state, answering.gate, questions.preview, question, cell, time)
  return question[0] === Ask.FILL_PATH ? writePath(state, questions, cell, time) : -1
}

function writeLevels(state: State, pair: number, question: Int32Array, cell: Cell): number {
  const below = question[LEVELS_QUESTION.BIDS_BELOW]!
  const above = question[LEVELS_QUESTION.ASKS_ABOVE]!
  const [bids, asks] = [question[LEVELS_QUESTION.BIDS]!, question[LEVELS_QUESTION.ASKS]!]
  const { priceTicks } = state.genesis.limits
  if (below < 0 || above < 0 || below >= priceTicks || above >= priceTicks || above === NO_ASK) return -1
  if (bids < 0 || asks < 0 || bids > LEVELS_MAX || asks > LEVELS_MAX) return -1
  const count = copyLevels(state, pair, true, below, bids, cell, 0)
  cell.figures[FIGURE.BIDS] = count
  const others = copyLevels(state, pair, false, above, asks, cell, count)
  cell.figures[FIGURE.ASKS] = others
  return count + others
}

function writePath(state: State, { question, incoming }: Questions, cell: Cell, now: number): number {
  const account = question[PATH_QUESTION.ACCOUNT]!
  if (account < 0 || account >= state.genesis.limits.accounts) return -1
  incoming.account = account
  incoming.pair = question[PATH_QUESTION.PAIR]!
  incoming.flags = question[PATH_QUESTION.FLAGS]!
  incoming.price = question[PATH_QUESTION.PRICE]!
  incoming.lots = question[PATH_QUESTION.LOTS]!
  const path = walkPath(state, incoming, now)
  cell.figures[FIGURE.FILLED] = path.filled
  cell.figures[FIGURE.MEETS_OWN] = path.meetsOwn ? 1 : 0
  cell.figures[FIGURE.TOO_LONG] = path.tooLong ? 1 : 0
  cell.i64[TICK_LOTS] = path.tickLots
  return PATH_MAX
}
