/**
 * The live audit: the follower of the snapshots checks every invariant (state/invariants.ts) of what it has replayed, once when it has
 * caught up after its start and then before each snapshot. Its state is the matcher's, made a second time from the journal, so the
 * matcher pays nothing. A state in which one fails is not written as a snapshot, and the exchange stops taking orders
 * (gateway/operator/audit.ts).
 *
 * Bounded: an audit is left out while less than {@link REST} times as long as the last one took have passed since that ended; the
 * snapshot is then written without. So audits take a fifth of the follower's time at most, however large the state. One that failed is
 * not written before another one was good.
 */
import { InvariantBroken } from '../lib/assert.ts'
import { CLOCK } from '../state/columns.ts'
import { checkInvariants } from '../state/invariants.ts'
import type { State } from '../state/state.ts'

/** What an audit found; `broken` in words, beginning with the number of the invariant. */
export interface Audited {
  readonly sequence: number
  readonly seconds: number
  readonly broken: string | null
}

const REST = 4

export class Audit {
  readonly #seconds: () => number
  #endedAt = -Infinity
  #took = 0
  #broken: string | null = null

  /** `seconds`: a monotonic clock. */
  constructor(seconds: () => number) {
    this.#seconds = seconds
  }

  /** Why the state may not be kept, as far as is known. */
  get broken(): string | null {
    return this.#broken
  }

  /** Checks the state; `null`: it is too soon after the last time. `between` is called several times a second. */
  run(state: State, between: () => void): Audited | null {
    const started = this.#seconds()
    if (started - this.#endedAt < REST * this.#took) return null
    this.#broken = brokenIn(state, between)
    this.#endedAt = this.#seconds()
    this.#took = this.#endedAt - started
    return { sequence: state.clock[CLOCK.SEQUENCE]!, seconds: this.#took, broken: this.#broken }
  }
}

function brokenIn(state: State, between: () => void): string | null {
  try {
    checkInvariants(state, between)
    return null
  } catch (error) {
    if (error instanceof InvariantBroken) return error.message
    // A link that leads out of its column may break the checking itself: that is no better.
    if (error instanceof TypeError || error instanceof RangeError) return `checking failed: ${error.message}`
    throw error
  }
}
