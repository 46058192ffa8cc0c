/**
 * The asker of a thread: its end of the cell of questions (core/ring/questions.ts).
 *
 * What it is given are tasks, each of which takes as many questions as it needs. One question is open at a time, and tasks take turns by
 * questions, so a task of a hundred delays one of a single question by one answer. A cell whose question is not answered stays closed: what
 * waits is given up by its own deadline, and nothing is ever written over a question.
 */
import { attachQuestions, isAnswered, putQuestion, takeAnswer, type Cell } from '../../core/ring/questions.ts'
import { WAIT, wake } from '../../core/ring/wait.ts'
import type { Faults } from '../faults.ts'

/** Something that is asked. */
export interface Task<Copy = unknown> {
  /** The next question; `null`: it is over. */
  next(): readonly number[] | null
  /** Copies what the answer has; it counts only when {@link take} gets it. */
  copy(cell: Cell): Copy
  take(copy: Copy): void
  /** What stood there was no answer to its question, or taking it went wrong: it is over. */
  fail(): void
  /** Gives up what has waited until `now`, by performance.now(). */
  expire(now: number): void
}

/** A parked thread looks again after this long whatever happens, ms. */
const PARK_MS = 50
const SWEEP_MS = 100

export class Asker {
  readonly #cell: Cell
  readonly #matcher: Int32Array
  readonly #faults: Faults
  readonly #tasks: Task[] = []
  #open: { readonly task: Task; readonly question: readonly number[]; readonly number: number } | null = null
  #idle = 0
  readonly #polls: number
  readonly #timer: NodeJS.Timeout

  /** `matcher`: the wait cell of the matcher; `polls`: looks in vain before the thread parks, as those of engine_client.ts. */
  constructor(questions: SharedArrayBuffer, matcher: SharedArrayBuffer, faults: Faults, polls: number) {
    this.#cell = attachQuestions(questions)
    this.#matcher = new Int32Array(matcher)
    this.#faults = faults
    this.#polls = polls
    this.#timer = setInterval(() => this.#expire(), SWEEP_MS)
    this.#timer.unref()
  }

  add(task: Task): void {
    this.#tasks.push(task)
    this.#ask()
  }

  /** Asks nothing more; what waits is given up. */
  close(): void {
    clearInterval(this.#timer)
    for (const task of this.#tasks.splice(0)) task.fail()
    this.#open?.task.fail()
  }

  #ask(): void {
    while (this.#open === null) {
      const task = this.#tasks.shift()
      if (task === undefined) return
      const question = task.next()
      if (question === null) continue
      this.#open = { task, question, number: putQuestion(this.#cell, question) }
      wake(this.#matcher)
      this.#idle = 0
      setImmediate(this.#look)
    }
  }

  readonly #look = (): void => {
    if (this.#open === null) return
    if (isAnswered(this.#cell, this.#open.number)) this.#answered()
    else if (this.#idle++ < this.#polls) setImmediate(this.#look)
    else this.#park()
  }

  #answered(): void {
    const { task, question, number } = this.#open!
    this.#open = null
    try {
      const copied = takeAnswer(this.#cell, number, question, () => ({ copy: task.copy(this.#cell) }))
      if (copied === null) throw new Error('what stands in the cell of questions is no answer to the question')
      task.take(copied.copy)
      this.#tasks.push(task)
    } catch (error) {
      // The requests that wait for it are many: fail refuses them, each by itself.
      this.#faults.end(error, null)
      task.fail()
    }
    this.#ask()
  }

  /** Looks again when the matcher wakes this cell (protocol of core/ring/wait.ts, for a thread that may not block). */
  #park(): void {
    const { wait } = this.#cell
    const seen = Atomics.load(wait, WAIT.WAKE)
    Atomics.store(wait, WAIT.SLEEPING, 1)
    const wakeUp = (): void => {
      Atomics.store(wait, WAIT.SLEEPING, 0)
      this.#idle = 0
      this.#look()
    }
    if (this.#open !== null && isAnswered(this.#cell, this.#open.number)) return void setImmediate(wakeUp)
    const waiting = Atomics.waitAsync(wait, WAIT.WAKE, seen, PARK_MS)
    if (waiting.async) void waiting.value.then(wakeUp)
    else setImmediate(wakeUp)
  }

  #expire(): void {
    const now = performance.now()
    for (const task of this.#tasks) task.expire(now)
    this.#open?.task.expire(now)
  }
}
