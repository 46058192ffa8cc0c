/**
 * Signatures that opened a session on a stream. Freshness is no replay cache (specification, Authentication, rule 3), and for a single
 * request need not be: who repeats it gets the same request. Who repeated an open_session would get a session to send anything with, so
 * each such signature opens one stream. It is remembered until it is stale on any clock.
 */
import { FRESHNESS_MS } from '../auth/legacy.ts'

/** A signature is fresh from one window before the server's time to one after. */
const REMEMBERED_MS = 2 * FRESHNESS_MS
/** Signatures remembered in one period; more open nothing. */
const OPENINGS_MAX = 65_536

export class Openings {
  #current = new Set<string>()
  #previous = new Set<string>()
  #since = 0
  readonly #startedAt: number

  /** What was signed before `startedAt`, Unix ms, may have been used before a restart, and opens nothing. */
  constructor(startedAt: number) {
    this.#startedAt = startedAt
  }

  /** Takes a fresh signature made at `signedAt`, at `now`, Unix ms: `taken` once, then `used`; `full` when too many are remembered. */
  take(signature: string, signedAt: number, now: number): 'taken' | 'used' | 'full' {
    if (signedAt < this.#startedAt) return 'used'
    if (now - this.#since >= REMEMBERED_MS) {
      // What is in the current set may be younger than the period; after two periods nothing is.
      this.#previous = now - this.#since >= 2 * REMEMBERED_MS ? new Set() : this.#current
      this.#current = new Set()
      this.#since = now
    }
    if (this.#current.has(signature) || this.#previous.has(signature)) return 'used'
    if (this.#current.size >= OPENINGS_MAX) return 'full'
    this.#current.add(signature)
    return 'taken'
  }
}
