/** A thread that asks and a matcher that answers, without threads: the test says when there is a batch and when a question is answered. */
import { createBroadcast, broadcast, type Broadcast } from '../../core/ring/broadcast.ts'
import { WAIT_WORDS } from '../../core/ring/wait.ts'
import { createQuestions as createCell } from '../../core/ring/questions.ts'
import { answerQuestion, createQuestions, type Questions } from '../../core/sequencer/questions.ts'
import type { Meter } from '../../core/sequencer/meter.ts'
import type { State } from '../../core/state/state.ts'
import type { Views } from '../../core/layout/table.ts'
import { Asker } from '../../gateway/bridge/asker.ts'
import { Faults } from '../../gateway/faults.ts'
import { Books } from '../../gateway/bridge/books.ts'

export interface StageOptions {
  /** Of a side, that a question asks. */
  readonly levels?: number
  readonly waitMs?: number
  /** Records of the event ring. */
  readonly ring?: number
  /** The first one is the asker's. */
  readonly lanes?: number
}

export class AskedStage {
  readonly cells: readonly SharedArrayBuffer[]
  readonly questions: Questions
  /** Word APPLYING. */
  readonly gate = new Int32Array(new SharedArrayBuffer(64))
  readonly matcherWait = new Int32Array(new SharedArrayBuffer(WAIT_WORDS * 4))
  readonly events: Broadcast
  readonly errors: unknown[] = []
  readonly counters = new Float64Array(128)
  readonly asker: Asker
  readonly books: Books
  /** Answers so far and what they took; the matcher's clock, and what passes on it at each look, s. */
  answers = 0
  spent = 0
  seconds = 0
  tick = 0
  readonly #state: State
  readonly #meter: Meter

  constructor(state: State, { ring = 65_536, lanes = 1, ...given }: StageOptions = {}) {
    this.#state = state
    this.events = createBroadcast(ring)
    this.cells = Array.from({ length: lanes }, createCell)
    this.questions = createQuestions(this.cells)
    const faults = new Faults((error) => this.errors.push(error))
    this.asker = new Asker(this.cells[0]!, this.matcherWait.buffer, faults, 32)
    this.books = new Books({
      state, gate: this.gate, events: this.events, asker: this.asker, counters: this.counters,
      proxies: new Set(), faults, ...given,
    })
    const answered = (seconds: number): void => {
      this.answers++
      this.spent += seconds
    }
    this.#meter = { seconds: () => (this.seconds += this.tick), answered } as unknown as Meter
  }

  /** Events of commands that were applied. */
  publish(said: Views, records: number): void {
    broadcast(this.events, said.i32, records)
  }

  /** What the matcher does behind a batch; false: it answered nothing. */
  answer(now = 0, busy = false): boolean {
    const { events, questions, gate } = this
    return answerQuestion({ state: this.#state, gate, events, questions, meter: this.#meter }, now, busy)
  }
}

/** Lets the asker look at its cell. */
export const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
