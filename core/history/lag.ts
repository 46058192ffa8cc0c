/**
 * How late the history is, in time: how long what it lacks has been in the journal. Measured from outside, because a
 * follower that hangs says nothing: the end of the journal is marked, and the time until the history has reached the mark
 * is its lag; until then the lag is the last one, or the time that the mark stands already, whichever is longer.
 */
export class Lag {
  /** The end of the journal that is waited for, and when it was that, ms; `null`: nothing is missing. */
  #mark: { readonly sequence: number; readonly at: number } | null = null
  #last = 0

  /** The lag in ms. `end`: of the journal; `reached`: by the history; `now`: of a monotonic clock, ms. */
  look(end: number, reached: number, now: number): number {
    if (reached >= end) {
      this.#mark = null
      this.#last = 0
      return 0
    }
    if (this.#mark !== null && reached < this.#mark.sequence) return Math.max(this.#last, now - this.#mark.at)
    if (this.#mark !== null) this.#last = now - this.#mark.at
    this.#mark = { sequence: end, at: now }
    return this.#last
  }
}
