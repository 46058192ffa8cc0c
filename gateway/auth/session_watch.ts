/**
 * The watch over sessions that something open belongs to (a stream of orders; any connection that was signed once): it is ended when its
 * session ends, without waiting for what its client does next. One watch per gateway thread.
 *
 * A session is looked at in the shared columns, as for every request: it is over when its row has another generation, or when its time
 * is. That covers every way a session ends (its own revocation, the operator's, an agent's, a newer session in its place, expiry),
 * because all of them are written there, after their commit. Every {@link SWEEP_MS} all watched sessions are looked at, a slice at a
 * time; one that expires before the next sweep gets a timer of its own millisecond. A refresh moves the expiry in the row, so it needs no
 * word to the watch.
 *
 * It decides nothing about requests: those look at their session themselves, also between two sweeps.
 */
import type { State } from '../../core/state/state.ts'
import type { Faults } from '../faults.ts'
import { readSessionRow } from '../../core/view/accounts.ts'

/** Between two sweeps, ms: how long something may stay open after its session was revoked. */
export const SWEEP_MS = 50
/** Sessions looked at in one go, about half a millisecond. */
const SLICE = 4096

/** Something open. `end` is called once, when the session is over; then it is no longer watched. */
export interface Watched {
  /** Row of the session, and the generation it had when it signed. */
  readonly session: number
  readonly generation: number
  readonly end: () => void
}

export class SessionWatch {
  readonly #state: State
  readonly #now: () => number
  readonly #faults: Faults
  readonly #slice: number
  readonly #watched = new Set<Watched>()
  /** Runs while something is watched. */
  #sweep: NodeJS.Timeout | null = null
  /** Where the sweep under way goes on. */
  #rest: Iterator<Watched> | null = null
  /** Goes off at the nearest expiry, Unix ms, when that comes before the next sweep. */
  #expiry: NodeJS.Timeout | null = null
  #expiryAt = Infinity

  /** `now` in Unix ms, the clock by which requests are judged. `slice`: sessions looked at in one go. */
  constructor(state: State, now: () => number, faults: Faults, slice = SLICE) {
    this.#faults = faults
    this.#state = state
    this.#now = now
    this.#slice = slice
  }

  /** Things watched. */
  get size(): number {
    return this.#watched.size
  }

  /** Watches from now on; a session that is over already ends it at the next look, never inside this call. */
  add(watched: Watched): void {
    this.#watched.add(watched)
    this.#sweep ??= setInterval(() => this.#start(), SWEEP_MS)
    this.#timeFor(this.#expiryOf(watched))
  }

  /** What was closed otherwise is no longer watched. */
  remove(watched: Watched): void {
    this.#watched.delete(watched)
    if (this.#watched.size === 0) this.close()
  }

  /** Ends nothing; stops looking. */
  close(): void {
    if (this.#sweep !== null) clearInterval(this.#sweep)
    if (this.#expiry !== null) clearTimeout(this.#expiry)
    this.#sweep = null
    this.#expiry = null
    this.#expiryAt = Infinity
    this.#rest = null
    this.#watched.clear()
  }

  /** A sweep that is still under way goes on instead. */
  #start(): void {
    if (this.#rest !== null) return
    this.#rest = this.#watched.values()
    this.#look()
  }

  #look(): void {
    for (let looked = 0; looked < this.#slice && this.#rest !== null; looked++) {
      const { value, done } = this.#rest.next() as IteratorResult<Watched, undefined>
      if (done === true) this.#rest = null
      else this.#check(value)
    }
    if (this.#rest !== null) setImmediate(() => this.#look())
  }

  #check(watched: Watched): void {
    const expiresAt = this.#expiryOf(watched)
    if (expiresAt > this.#now()) return this.#timeFor(expiresAt)
    this.remove(watched)
    this.#faults.guard(null, watched.end)
  }

  /** Unix ms; 0 when the row is another session's, or being given to one. */
  #expiryOf({ session, generation }: Watched): number {
    const view = readSessionRow(this.#state, session)
    return view === null || view.generation !== generation ? 0 : view.expiresAt
  }

  #timeFor(expiresAt: number): void {
    const left = expiresAt - this.#now()
    if (left > SWEEP_MS || expiresAt >= this.#expiryAt) return
    if (this.#expiry !== null) clearTimeout(this.#expiry)
    this.#expiryAt = expiresAt
    // A timer may go off early; looking then sets it again.
    this.#expiry = setTimeout(() => {
      this.#expiry = null
      this.#expiryAt = Infinity
      this.#start()
    }, Math.max(1, left))
  }
}
