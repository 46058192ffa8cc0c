/**
 * Starting again what ended: followers (follower.ts) and the thread of the chain (chain_thread.ts). The pause before each start is twice
 * the one before, up to a bound, until one is said to work.
 */
const PAUSE_MS = 1_000
const PAUSE_MOST_MS = 30_000

export class Restart {
  readonly #start: () => void
  #pause = PAUSE_MS
  #timer: NodeJS.Timeout | undefined
  #finishing = false

  /** `start`: starts it once more. Nothing is started here. */
  constructor(start: () => void) {
    this.#start = start
  }

  /** Nothing is started any more. */
  get finishing(): boolean {
    return this.#finishing
  }

  /** It works: the next trouble is a new one. */
  well(): void {
    this.#pause = PAUSE_MS
  }

  /** It ended: it is started again after the pause, unless it was to end. */
  ended(): void {
    if (this.#finishing) return
    this.#timer = setTimeout(this.#start, this.#pause)
    this.#timer.unref()
    this.#pause = Math.min(2 * this.#pause, PAUSE_MOST_MS)
  }

  /** From now on an end is for good. */
  finish(): void {
    this.#finishing = true
    clearTimeout(this.#timer)
  }
}
