/**
 * What the gateways of one life ask the matcher (core/ring/questions.ts), and what must be true of its answers: a book is the one behind
 * the last command; a preview changes nothing, and says what the order comes to if it is the next command (auditor.ts holds it against
 * that).
 */
import { writtenTo } from '../../core/ring/broadcast.ts'
import {
  Ask, attachQuestions, FIGURE, isAnswered, LEVEL_ANSWER, LEVEL_ANSWER_WORDS, PREVIEW_QUESTION, putQuestion, takeAnswer, type Cell,
} from '../../core/ring/questions.ts'
import type { Sequencer } from '../../core/sequencer/loop.ts'
import { answerQuestion } from '../../core/sequencer/questions.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { readDepth, type DepthLevel } from '../../core/view/book.ts'
import type { Lane } from '../../core/threads.ts'
import { readPreview } from '../../gateway/bridge/previews.ts'
import type { Foreseen } from './clients.ts'
import { Violation } from './violation.ts'

const quiet = new Int32Array(16)
const MOST = 100
/** Previews that wait to be asked, at most. */
const PREVIEWS_MAX = 8

interface Preview {
  readonly asked: readonly number[]
  readonly told: (foreseen: Foreseen) => void
}

/** The question of a lane; number 0: none. */
interface Open {
  readonly cell: Cell
  number: number
  pair: number
  asked: readonly number[]
  steps: number
  preview: Preview | null
}

export class LifeQuestions {
  readonly #sequencer: Sequencer
  readonly #lanes
  readonly #previews: Preview[] = []
  #turns = 0
  answers = 0

  constructor(sequencer: Sequencer, lanes: readonly Lane[]) {
    this.#sequencer = sequencer
    this.#lanes = lanes.map(({ questions }): Open =>
      ({ cell: attachQuestions(questions), number: 0, pair: 0, asked: [], steps: 0, preview: null }))
  }

  /** Asks for a preview as soon as a lane is free; false: too many wait. An exchange that dies tells nothing. */
  preview(asked: readonly number[], told: (foreseen: Foreseen) => void): boolean {
    if (this.#previews.length >= PREVIEWS_MAX) return false
    this.#previews.push({ asked, told })
    return true
  }

  /** Before the matcher's turn: who has no question open asks one, two turns of three. */
  ask(): void {
    this.#turns++
    for (const [index, lane] of this.#lanes.entries()) {
      if (lane.number !== 0 || (this.#turns + index) % 3 === 0) continue
      lane.preview = this.#previews.shift() ?? null
      lane.pair = (this.#turns + index) % this.#sequencer.state.genesis.pairs.length
      lane.asked = lane.preview?.asked ?? [Ask.LEVELS, lane.pair, 0, 0, MOST, MOST]
      lane.number = putQuestion(lane.cell, lane.asked)
      lane.steps = 0
    }
  }

  /** With a preview open: one question is answered, which leaves the whole state as it was. False: none is open. */
  changed(now: number): boolean {
    if (!this.#lanes.some(({ number, preview }) => number !== 0 && preview !== null)) return false
    const before = stateDigest(this.#sequencer.state)
    answerQuestion(this.#sequencer, now, false)
    if (stateDigest(this.#sequencer.state) !== before) throw new Violation('an answer to a question changed the state')
    this.#look(0)
    return true
  }

  /** Behind the matcher's turn: an answer is the book as it is now, and does not let wait for long. */
  look(): void {
    this.#look(1)
  }

  /** `turns`: the matcher had them since the last look. */
  #look(turns: number): void {
    const wrong = this.#wrong(turns)
    if (wrong !== null) throw new Violation(wrong)
  }

  #wrong(turns: number): string | null {
    const { state, events } = this.#sequencer
    for (const lane of this.#lanes) {
      if (lane.number === 0) continue
      if (!isAnswered(lane.cell, lane.number)) {
        lane.steps += turns
        if (lane.steps > this.#lanes.length) return 'a question was not answered when all others had been'
        continue
      }
      if (lane.preview !== null) {
        const wrong = this.#told(lane, lane.preview)
        if (wrong !== null) return wrong
        continue
      }
      const { cell } = lane
      const told = takeAnswer(cell, lane.number, lane.asked, () => {
        const levels = (first: number, count: number): DepthLevel[] => Array.from({ length: count }, (_, n) => {
          const at = (first + n) * LEVEL_ANSWER_WORDS
          const { TICK, LOTS, ORDERS } = LEVEL_ANSWER
          return { price: cell.i32[at + TICK]!, lots: cell.f64[(at + LOTS) >>> 1]!, orders: cell.i32[at + ORDERS]! }
        })
        const { BIDS, ASKS, SEQUENCE, POSITION } = FIGURE
        const [bids, asks] = [levels(0, cell.figures[BIDS]!), levels(cell.figures[BIDS]!, cell.figures[ASKS]!)]
        return { book: { bids, asks, sequence: cell.figures[SEQUENCE]! }, position: cell.figures[POSITION]! }
      })
      const { bids, asks, sequence } = readDepth(state, quiet, lane.pair, MOST, 1)!
      const book = JSON.stringify({ bids, asks, sequence })
      if (JSON.stringify(told?.book) !== book) return `the answer ${JSON.stringify(told)} is not the book ${book}`
      if (told!.position !== writtenTo(events)) return `an answer stands at event ${told!.position}, there are ${writtenTo(events)}`
      lane.number = 0
      this.answers++
    }
    return null
  }

  /** The answer to a preview goes to who asked. */
  #told(lane: Open, { asked, told }: Preview): string | null {
    const said = takeAnswer(lane.cell, lane.number, asked, () => readPreview(lane.cell))
    if (said === null) return `no preview of pair ${asked[PREVIEW_QUESTION.PAIR]} for account ${asked[PREVIEW_QUESTION.ACCOUNT]}`
    const { code, filled, trades, best, worst } = said
    told({ behind: this.#sequencer.state.clock[CLOCK.SEQUENCE]!, code, filled, trades, best, worst })
    lane.number = 0
    lane.preview = null
    this.answers++
    return null
  }
}
