/**
 * Sequenced time: what the journal is stamped with, and what sessions, grants, limits and orders expire by.
 *
 * It advances by the monotonic clock. The wall clock only pulls at it, by {@link SLEW} of what passes: a wall clock that is steered by NTP
 * is followed, and one that is set changes nothing at once. A step of the wall clock is counted and said. Sequenced time never goes back
 * and never jumps while the process runs, but for two reasons, both forwards: the operator accepts the wall clock (ACCEPT_CLOCK), or a
 * start was waiting and the wall clock became plausible.
 *
 * A start has nothing but the time of the journal's last command and the wall clock. When that is ahead by up to `gapMs`, the exchange was
 * down so long, and the wall clock is taken. When it is further ahead, or behind by more than `jumpMs`, nobody can say from here which of
 * the two is wrong: the clock waits. Time goes on from the last command, timers rest, and everything else works, until the operator
 * accepts the wall clock or somebody puts that right.
 *
 * All figures stand in one typed array: it is looked at in every turn of the loop, which makes no garbage.
 */
import type { Io } from '../lib/io.ts'
import { MATCHER } from '../ring/counters.ts'

/** Jumps of the wall clock are said this often at most, ms; all are counted. */
const SAY_MS = 60_000
/** Part of the time that passes by which sequenced time may be pulled to the wall clock, either way. */
export const SLEW = 500e-6
/** Reading both clocks takes longer than this, ms, when the thread was interrupted in between: then the pair means nothing. */
const READ_MS = 20

export interface ClockBounds {
  /** A step of the wall clock above this, ms, is a jump. */
  readonly jumpMs: number
  /** How far the wall clock may be ahead of the last command at a start, ms. */
  readonly gapMs: number
}

export type ClockLog = (level: 'info' | 'warn', message: string, fields: Record<string, unknown>) => void

/** Words of the figures, all ms: sequenced time, the monotonic clock then, and both clocks when they were last read as a pair. */
const [TIME, MONOTONIC, SEEN_WALL, SEEN_AT] = [0, 1, 2, 3]

export class SequencerClock {
  readonly #io: Io
  readonly #bounds: ClockBounds
  readonly #counters: Float64Array
  readonly #log: ClockLog
  readonly #ms = new Float64Array(4)
  #waits = false
  /** When a jump was said last, by the monotonic clock, ms. */
  #saidAt = -Infinity

  /** `last`: sequenced time of the last command, Unix ms; 0: there is none. `counters`: the matcher's block. */
  constructor(io: Io, last: number, bounds: ClockBounds, counters: Float64Array, log: ClockLog) {
    this.#io = io
    this.#bounds = bounds
    this.#counters = counters
    this.#log = log
    const wall = io.now()
    const monotonic = io.seconds() * 1000
    this.#ms.set([last, monotonic, wall, monotonic])
    this.#waits = last > 0 && !this.#isPlausible()
    if (this.#waits) {
      const fields = { aheadSeconds: (wall - last) / 1000, boundSeconds: (wall < last ? bounds.jumpMs : bounds.gapMs) / 1000 }
      log('warn', `the wall clock is too far ${wall < last ? 'behind' : 'ahead of'} the journal: timers rest and time goes on from the `
        + 'last command; put the wall clock right, or accept it: npm run operator -- clock accept', fields)
    } else if (wall > last) this.#ms[TIME] = wall
    this.#tell()
  }

  /** True while timers rest, because the wall clock is not believed. */
  get waits(): boolean {
    return this.#waits
  }

  /** Sequenced time now, whole Unix ms. */
  now(): number {
    const ms = this.#ms
    const before = this.#io.seconds() * 1000
    const wall = this.#io.now()
    const monotonic = this.#io.seconds() * 1000
    const passed = Math.max(0, monotonic - ms[MONOTONIC]!)
    ms[MONOTONIC] = monotonic
    ms[TIME]! += passed
    if (monotonic - before <= READ_MS) this.#compare(wall, monotonic)
    if (!this.#waits) ms[TIME]! += Math.max(-passed * SLEW, Math.min(passed * SLEW, this.#behind()))
    this.#tell()
    return Math.floor(ms[TIME]!)
  }

  /** How far sequenced time is behind the wall clock, ms. */
  #behind(): number {
    const ms = this.#ms
    return ms[SEEN_WALL]! + (ms[MONOTONIC]! - ms[SEEN_AT]!) - ms[TIME]!
  }

  /** The operator says that the wall clock is right: time goes on from there, or from where it is when that is later. Timers act. */
  accept(): void {
    const before = this.now()
    const wall = this.#ms[SEEN_WALL]!
    if (wall > this.#ms[TIME]!) this.#ms[TIME] = wall
    this.#waits = false
    this.#tell()
    this.#log('warn', 'the operator accepted the wall clock', { movedSeconds: Math.max(0, wall - before) / 1000 })
  }

  #compare(wall: number, monotonic: number): void {
    const ms = this.#ms
    const step = wall - ms[SEEN_WALL]! - (monotonic - ms[SEEN_AT]!)
    ms[SEEN_WALL] = wall
    ms[SEEN_AT] = monotonic
    if (Math.abs(step) > this.#bounds.jumpMs) this.#jumped(step)
    if (this.#waits && this.#isPlausible()) {
      this.#waits = false
      this.#log('info', 'the wall clock is plausible again: timers act', { movedSeconds: Math.max(0, wall - ms[TIME]!) / 1000 })
      if (wall > ms[TIME]!) ms[TIME] = wall
    }
  }

  #jumped(step: number): void {
    this.#counters[MATCHER.clock_jumps]!++
    if (this.#ms[MONOTONIC]! - this.#saidAt < SAY_MS) return
    this.#saidAt = this.#ms[MONOTONIC]!
    const fields = { seconds: step / 1000, behindSeconds: this.#behind() / 1000 }
    this.#log('warn', 'the wall clock jumped; sequenced time did not, it follows slowly', fields)
  }

  /** Whether an exchange that stood still since its last command would see this wall clock. */
  #isPlausible(): boolean {
    const behind = this.#behind()
    return behind <= this.#bounds.gapMs && behind >= -this.#bounds.jumpMs
  }

  #tell(): void {
    const ms = this.#ms
    this.#counters[MATCHER.clock_offset_ms] = ms[TIME]! - (this.#io.monotonicOrigin + ms[MONOTONIC]!)
    this.#counters[MATCHER.clock_behind_ms] = this.#behind()
    this.#counters[MATCHER.clock_waits] = this.#waits ? 1 : 0
  }
}
