/** What the gateways of one life ask the matcher (core/ring/questions.ts), and what must be true of its answers. */
import { writtenTo } from '../../core/ring/broadcast.ts'
import {
  Ask, attachQuestions, FIGURE, isAnswered, LEVEL_ANSWER, LEVEL_ANSWER_WORDS, putQuestion, takeAnswer,
} from '../../core/ring/questions.ts'
import type { Sequencer } from '../../core/sequencer/loop.ts'
import { readDepth, type DepthLevel } from '../../core/view/book.ts'
import type { Lane } from '../../core/threads.ts'

const quiet = new Int32Array(16)
const MOST = 100

export class LifeQuestions {
  readonly #sequencer: Sequencer
  readonly #lanes
  #turns = 0
  answers = 0

  constructor(sequencer: Sequencer, lanes: readonly Lane[]) {
    this.#sequencer = sequencer
    this.#lanes = lanes.map(({ questions }) => ({ cell: attachQuestions(questions), number: 0, pair: 0, asked: [] as number[], steps: 0 }))
  }

  /** Before the matcher's turn: who has no question open asks one, two turns of three. */
  ask(): void {
    this.#turns++
    for (const [index, lane] of this.#lanes.entries()) {
      if (lane.number !== 0 || (this.#turns + index) % 3 === 0) continue
      lane.pair = (this.#turns + index) % this.#sequencer.state.genesis.pairs.length
      lane.asked = [Ask.LEVELS, lane.pair, 0, 0, MOST, MOST]
      lane.number = putQuestion(lane.cell, lane.asked)
      lane.steps = 0
    }
  }

  /** Behind the matcher's turn: an answer is the book as it is now, and does not let wait for long. What is wrong, in words. */
  wrong(): string | null {
    const { state, events } = this.#sequencer
    for (const lane of this.#lanes) {
      if (lane.number === 0) continue
      if (!isAnswered(lane.cell, lane.number)) {
        if (++lane.steps > this.#lanes.length) return 'a question was not answered when all others had been'
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
}
