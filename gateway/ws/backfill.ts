/**
 * Joins what the history knows with the events behind it, so that updates continue a snapshot without a gap and without a repetition.
 *
 * The history is behind the events and answers later. While its answer is awaited the events are kept; the answer says which sequence it
 * is complete to, and what was kept behind that continues it. Two rules make it exact:
 *
 *   - an answer that is not as far as the engine was when keeping began would leave a gap: it is asked for again
 *   - an answer may be ahead of the events taken in so far: whoever goes on from it leaves out those that are not behind its sequence
 *
 * Bounded: so many joins of a channel ask and keep events at once, others wait for their turn and keep nothing; {@link KEPT_MAX} events
 * each; {@link ATTEMPTS_MAX} answers. What goes over these, or finds no history, fails, and is tried again after a pause that doubles.
 * Times are those of the gateway's clock, which may be set back.
 */
import { CLOCK } from '../../core/state/columns.ts'
import type { Queries, QueryName } from '../../core/history/answer/queries.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'

/** Events one of them keeps. */
export const KEPT_MAX = 10_000
/** Answers that are not far enough before it fails; the history takes a tenth of a second for each. */
const ATTEMPTS_MAX = 20
/** Before the next try, ms. */
const PAUSE_MS = 250
const PAUSE_MOST_MS = 8_000

/** The joins of one channel. */
export class Joins {
  readonly gateway: Gateway
  /** As many as may ask and keep events at once. */
  readonly most: number
  /** Those that do, or were given up while the history owes them an answer. */
  busy = 0

  constructor(gateway: Gateway, most: number) {
    this.gateway = gateway
    this.most = most
  }
}

/** `answer` with the `events` behind it, all of it complete to `sequence`; or no answer, and the events that were kept for it. */
export type Outcome<Name extends QueryName, Event> =
  | { readonly answer: Queries[Name]['answer']; readonly sequence: number; readonly events: readonly Event[] }
  | { readonly answer: null; readonly events: readonly Event[] }

interface Answered<Name extends QueryName> {
  readonly answer: Queries[Name]['answer'] | Refused
  readonly sequence: number
}

export class Backfill<Name extends QueryName, Event extends { readonly sequence: number }> {
  readonly #joins: Joins
  readonly #name: Name
  readonly #ask: Queries[Name]['ask']
  #kept: Event[] = []
  #open = false
  /** The engine was here when keeping began: every event that was not kept is at or before it. */
  #since = 0
  #awaiting = false
  #answered: Answered<Name> | null = null
  #attempts = 0
  #failedAt = -Infinity
  #pause = 0

  constructor(joins: Joins, name: Name, ask: Queries[Name]['ask']) {
    this.#joins = joins
    this.#name = name
    this.#ask = ask
  }

  /** It failed, and has not succeeded since. */
  get failing(): boolean {
    return this.#pause > 0
  }

  /** It has asked and keeps events. */
  get open(): boolean {
    return this.#open
  }

  /** Keeps an event of the command that is under way. */
  keep(event: Event): void {
    if (this.#open) this.#kept.push(event)
  }

  /** Goes on, between two commands; `null`: there is nothing to say yet. After an answer it is done. */
  look(): Outcome<Name, Event> | null {
    if (!this.#open && this.#mayBegin()) this.#begin()
    if (this.#kept.length > KEPT_MAX) return this.#fail()
    const answered = this.#answered
    if (answered === null) return null
    const { answer, sequence } = answered
    if (answer instanceof Refused) return this.#fail()
    if (sequence < this.#since) {
      this.#attempts++
      if (this.#attempts >= ATTEMPTS_MAX) return this.#fail()
      this.#send()
      return null
    }
    const events = this.#end().filter((event) => event.sequence > sequence)
    this.#pause = 0
    return { answer, events, sequence: events.at(-1)?.sequence ?? sequence }
  }

  /** Nobody waits for it any more. */
  close(): void {
    if (this.#open) this.#end()
  }

  #mayBegin(): boolean {
    const { gateway, busy, most } = this.#joins
    return (this.#awaiting || busy < most) && Math.abs(gateway.time() - this.#failedAt) >= this.#pause
  }

  #begin(): void {
    this.#open = true
    if (!this.#awaiting) this.#joins.busy++
    this.#since = this.#joins.gateway.state.clock[CLOCK.SEQUENCE]!
    this.#attempts = 0
    this.#answered = null
    if (!this.#awaiting) this.#send()
  }

  #send(): void {
    this.#answered = null
    this.#awaiting = true
    askHistory(this.#joins.gateway.history, this.#name, this.#ask, (answer, sequence) => {
      this.#awaiting = false
      // It may be the answer to what was asked before a failure: what it says is true all the same.
      if (this.#open) this.#answered = { answer, sequence }
      else this.#joins.busy--
    })
  }

  #fail(): Outcome<Name, Event> {
    this.#pause = Math.min(PAUSE_MOST_MS, Math.max(PAUSE_MS, 2 * this.#pause))
    this.#failedAt = this.#joins.gateway.time()
    return { answer: null, events: this.#end() }
  }

  /** Keeps nothing any more; what was kept. */
  #end(): Event[] {
    const kept = this.#kept
    this.#open = false
    if (!this.#awaiting) this.#joins.busy--
    this.#kept = []
    this.#answered = null
    return kept
  }
}
