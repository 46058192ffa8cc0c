/**
 * Work that waits for a block, beside the turns of the vault thread: one at a time, and after a failure not again before a pause, which
 * grows. What it throws is said when it is something else than before.
 */
import { Changes, type Tell } from './tell.ts'

const PAUSE_MS = 1_000
const PAUSE_MOST_MS = 60_000

export class Job {
  readonly #name: string
  readonly #changes: Changes
  readonly #clock: () => number
  #running: Promise<void> | null = null
  #pause = 0
  #until = -Infinity
  failures = 0

  /** `name`: what it is, for the log; `clock`: monotonic, ms. */
  constructor(name: string, tell: Tell, clock: () => number) {
    this.#name = name
    this.#changes = new Changes(tell)
    this.#clock = clock
  }

  get isFree(): boolean {
    return this.#running === null && this.#clock() >= this.#until
  }

  /** Begins the work unless it is under way or pauses. */
  start(work: () => Promise<void>): void {
    if (!this.isFree) return
    this.#running = work().then(() => this.#ended(null), (error: Error) => this.#ended(error))
  }

  /** Settles when nothing is under way. */
  async idle(): Promise<void> {
    await this.#running
  }

  #ended(error: Error | null): void {
    this.#running = null
    const said = error === null ? 'well' : `${error.name}: ${error.message}`
    this.#changes.say(
      'state', said, 'well', error === null ? 'info' : 'warn',
      error === null ? `${this.#name} goes on` : `${this.#name} failed; it is tried again`, error === null ? {} : { reason: said },
    )
    if (error === null) {
      this.#pause = 0
      return
    }
    this.failures++
    this.#pause = Math.min(PAUSE_MOST_MS, Math.max(PAUSE_MS, 2 * this.#pause))
    this.#until = this.#clock() + this.#pause
  }
}
