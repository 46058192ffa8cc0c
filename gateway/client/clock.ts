/** Time and chance of the streams, and how long to wait before trying again. Both are given, so that tests decide them. */

export interface Clock {
  /** Ms of a clock that never goes back. */
  now(): number
  /** At least 0, less than 1. */
  random(): number
  /** Runs `act` once after `ms`; what it gives back prevents that. */
  after(ms: number, act: () => void): () => void
}

export const REAL_CLOCK: Clock = {
  now: () => performance.now(),
  random: () => Math.random(),
  after: (ms, act) => {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
}

export interface BackoffOptions {
  /** Longest pause before the first new try in ms; doubles with each further one. Default 250. */
  readonly baseMs?: number
  /** Longest pause of all in ms. Default 10,000: for so long a client may be blind when the service is back. */
  readonly capMs?: number
  /** What stood for this long in ms begins with the shortest pause again. Default 10,000. */
  readonly stableMs?: number
}

/**
 * Pauses between tries: any time up to a bound that doubles with every failure (exponential back-off with full jitter), so that clients
 * which lost the same service do not come back together.
 */
export class Backoff {
  readonly #clock: Clock
  readonly #baseMs: number
  readonly #capMs: number
  readonly #stableMs: number
  #failures = 0
  #stoodAt: number | null = null

  constructor(clock: Clock, { baseMs = 250, capMs = 10_000, stableMs = 10_000 }: BackoffOptions) {
    this.#clock = clock
    this.#baseMs = baseMs
    this.#capMs = capMs
    this.#stableMs = stableMs
  }

  /** It worked, and stands from now on. */
  stands(): void {
    this.#stoodAt = this.#clock.now()
  }

  /** It failed: ms to wait, drawn from a bound that has doubled `least` times at least. */
  pause(least = 0): number {
    if (this.#stoodAt !== null && this.#clock.now() - this.#stoodAt >= this.#stableMs) this.#failures = 0
    this.#stoodAt = null
    const bound = Math.min(this.#capMs, this.#baseMs * 2 ** Math.max(least, this.#failures))
    this.#failures++
    return this.#clock.random() * bound
  }
}
