/**
 * What the history follower does, without its process: one transaction of a projection at a time, looks at the fee
 * tiers, reading its store back. follower.ts runs it on the real journal and clock, a simulator on its own.
 *
 * Between transactions it reads the store back (scrub.ts), so many pages a second, and as fast as it can once somebody
 * found damage. When it is behind it takes large transactions one after another; when it keeps up, it rests after each
 * for a few times as long as that took, so that a busy exchange costs it few large transactions and a quiet one little
 * delay.
 */
import type { Io } from '../lib/io.ts'
import type { FromFollower } from '../threads.ts'
import type { Projection } from './project/projection.ts'
import { createScrub, type Scrub } from './scrub.ts'
import { checkpoint } from './store/store.ts'
import { createTierWatch, type TierWatch } from './tiers.ts'

/** Commands of one transaction, at most. */
const SLICE = 65_536
/**
 * Rest after a transaction: this many times as long as it took, within these ms; and when there was nothing to do. Few large
 * transactions write each page once where many small ones write it again and again: at 12,000 orders a second over REST the follower
 * takes 9 us of a core for each, and with a rest of 3 times it took 18. What is read is older by the rest at most.
 */
const REST = 9
const REST_LEAST_MS = 2
const REST_MOST_MS = 40
const IDLE_MS = 10
/** How often the exchange hears of it. */
const BEAT_MS = 100
const REPORT_MS = 1_000
/** Pages read back at once: a millisecond or two. */
const SCRUB_SLICE = 128

export interface HistoryFollowerParts {
  readonly projection: Projection
  /** The store's file, which is read back. */
  readonly path: string
  readonly io: Pick<Io, 'seconds'>
  readonly say: (message: FromFollower) => void
  /** Seconds between looks at the fee tiers; pages to read back a second. */
  readonly tierSeconds: number
  readonly scrubPages: number
}

export class HistoryFollower {
  readonly #parts: HistoryFollowerParts
  readonly #tiers: TierWatch
  readonly #begun: { readonly at: number; readonly sequence: number }
  #caughtUp = false
  #beatAt = 0
  #beatEvents: number
  #reportAt: number
  #tiersAt: number
  #scrub: Scrub | null = null
  #scrubbedAt: number
  /** The pass after which a suspicion is over. */
  #suspectUntil = 0

  constructor(parts: HistoryFollowerParts) {
    this.#parts = parts
    const { projection } = parts
    const now = this.#ms()
    this.#tiers = createTierWatch(projection)
    this.#begun = { at: now, sequence: projection.sequence }
    this.#beatEvents = projection.events
    this.#reportAt = now + REPORT_MS
    this.#tiersAt = now
    this.#scrubbedAt = now
  }

  #ms(): number {
    return this.#parts.io.seconds() * 1000
  }

  /** Somebody found damage: what is left of this pass, and a whole one, are read as fast as they go. */
  suspect(): void {
    this.#suspectUntil = (this.#scrub?.passes ?? 0) + 2
  }

  /**
   * One transaction; how long to rest afterwards, ms: 0: not at all, there is more; `null`: nothing is left to do and
   * `finishing` was asked for. Throws what a damaged store throws, and what the projection does.
   */
  turn(finishing: boolean): number | null {
    const { projection } = this.#parts
    const started = this.#ms()
    const from = projection.sequence
    // Before the step, when it is as far behind as it gets.
    if (started - this.#beatAt >= BEAT_MS) this.#beat(started)
    const more = projection.step(SLICE)
    const now = this.#ms()
    if (!more && !this.#caughtUp) {
      this.#caughtUp = true
      this.#beat(now)
    }
    if (!more) this.#lookAtTiers(now)
    const hurry = this.#readBack(now)
    if (more || hurry) return 0
    if (finishing) return null
    return projection.sequence === from ? IDLE_MS : Math.min(REST_MOST_MS, Math.max(REST_LEAST_MS, REST * (now - started)))
  }

  /** Lets go of the store, its log written back. */
  async finish(): Promise<void> {
    const { projection, say } = this.#parts
    this.#scrub?.close()
    checkpoint(projection.database, true)
    say({ type: 'stopped', sequence: projection.sequence })
    await projection.close()
  }

  /** Closes its files where it is, as the end of its process does. */
  abandon(): void {
    this.#scrub?.close()
    this.#parts.projection.database.close()
  }

  /** Reads back what is due by now. True while there is a suspicion, which does not wait. */
  #readBack(now: number): boolean {
    const { projection, path, scrubPages } = this.#parts
    // Not before there is something: a store that is being made is read when it is whole.
    if (!this.#caughtUp) return false
    const scrub = (this.#scrub ??= createScrub(path, projection.genesis))
    const suspicion = scrub.passes < this.#suspectUntil
    const due = suspicion ? SCRUB_SLICE : Math.min(SCRUB_SLICE, Math.floor((scrubPages * (now - this.#scrubbedAt)) / 1000))
    if (due === 0) return false
    this.#scrubbedAt = now
    scrub.step(due)
    return suspicion
  }

  #beat(now: number): void {
    const { projection, say } = this.#parts
    const { sequence, events } = projection
    const lag = projection.end() - sequence
    const eventsPerSecond = this.#beatAt === 0 ? 0 : ((events - this.#beatEvents) / (now - this.#beatAt)) * 1000
    this.#beatAt = now
    this.#beatEvents = events
    const [scrubPasses, scrubPages] = [this.#scrub?.passes ?? 0, this.#scrub?.pages ?? 0]
    say({ type: 'history', caughtUp: this.#caughtUp, sequence, lag, eventsPerSecond, scrubPasses, scrubPages })
    if (this.#caughtUp || now < this.#reportAt) return
    this.#reportAt = now + REPORT_MS
    const records = sequence - this.#begun.sequence
    const rate = (records / (now - this.#begun.at)) * 1000
    say({ type: 'progress', stage: 'history', records, rate, secondsLeft: lag / rate })
  }

  /** Only when it has caught up, so that the engine's tiers and the volumes are of one moment. */
  #lookAtTiers(now: number): void {
    if (this.#tiers.pending === 0 && now >= this.#tiersAt) {
      this.#tiersAt = now + this.#parts.tierSeconds * 1000
      this.#tiers.begin()
    }
    if (this.#tiers.pending === 0) return
    const changes = this.#tiers.look()
    if (changes.length > 0) this.#parts.say({ type: 'tiers', changes })
  }
}
