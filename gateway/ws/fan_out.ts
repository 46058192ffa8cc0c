/**
 * The fan-out of a thread: a reader of the event ring of its own, which hands every event to the channels.
 *
 * A tick takes in what is new and then lets the channels tell what became of it, once per topic whatever happened. What they told is sent
 * in slices of {@link SLICE_MS}: most of a tick is one system call per socket. A tick that told {@link TICK_FRAMES} listeners leaves other
 * topics to the next one, which follows soon; so topics take ticks, and what they tell is new. Between slices and ticks the thread serves
 * requests or sleeps, so that the matcher need not wait for it on a machine with few processors. Turns that told everything rest
 * {@link REST_MS}, less when they were short, longer when they were long: when many listen, frames hold more. It runs only while there
 * are subscriptions.
 *
 * Every command ends with its RESULT, so the fan-out knows when it stands between two commands. Frames are made there and subscriptions
 * are changed there only: none has half a command. A reader that was lapped, and a channel that finds its state contradicted, leave no
 * doubt what to do: all sockets with subscriptions are closed with 1013, and the clients begin anew.
 */
import { EventType, eventTypeOf, RESULT } from '../../core/layout/event.ts'
import { RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { createReader, read, writtenTo, type Broadcast, type Reader } from '../../core/ring/broadcast.ts'
import { GATEWAY, LAG_BUCKETS, LAG_HISTOGRAM, LAG_SUM } from '../../core/ring/counters.ts'
import type { Faults } from '../faults.ts'
import type { Channel } from './channels/channel.ts'

/** Between two ticks, ms: when there is little to do, and at most. */
const REST_MS = 5
const REST_MOST_MS = 100
/** Between two slices, ms: others have the processor. No rest is shorter. */
const PAUSE_MS = 1
/** Rests are this many times as long as a tick as long as that is below {@link REST_MS}: listeners take a tenth of the thread at most. */
const REST_TIMES = 10
/** Frames a channel pushes in a tick, about. */
const TICK_FRAMES = 256
/** From one tick to the next, if they are not so long that this would leave them less than half their time to rest, ms. */
const EVERY_MS = 25
/** How long sending keeps the thread from everything else, ms. */
const SLICE_MS = 1
/** Records copied at once, and copies one tick makes at most. */
const BATCH = 256
const COPIES_MAX = 64

/** How long to rest after a tick that worked for `took` ms, ms. `more`: it left something. */
function restAfter(took: number, more: boolean): number {
  if (more) return PAUSE_MS
  const idle = Math.min(REST_MS, Math.max(PAUSE_MS, REST_TIMES * took))
  return Math.min(REST_MOST_MS, Math.max(idle, took / 2, Math.min(took, EVERY_MS - took)))
}

export interface FanOutParts {
  readonly ring: Broadcast
  readonly channels: ReadonlyMap<string, Channel>
  readonly counters: Float64Array
  /** Sends what channels pushed, until all is sent or it is `until` by performance.now(); false: there is more. */
  readonly send: (until: number) => boolean
  /** Closes the sockets with subscriptions: what they missed is gone. */
  readonly resync: () => void
  readonly faults: Faults
  /** Wall clock, Unix ms. */
  readonly now: () => number
}

export class FanOut {
  readonly #parts: FanOutParts
  readonly #channels: readonly Channel[]
  readonly #reader: Reader
  readonly #records: Views
  #subscriptions = 0
  /** The last event ended its command. */
  #whole = true
  #inTurn = false
  /** Sequenced time of the first command that this tick tells of, and of the first one that it leaves to the next, Unix ms; 0: none. */
  #oldest = 0
  #left = 0
  /** What a tick told is being sent. */
  #publishing = false
  /** How long this tick kept the thread so far, ms. */
  #worked = 0
  /** Frames sent before this tick. */
  #frames = 0
  /** When the timer's tick began, by performance.now(); 0: none is under way. */
  #began = 0
  readonly #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | null = null
  /** The next slice of what is being sent. */
  #next: NodeJS.Timeout | null = null

  constructor(parts: FanOutParts) {
    this.#parts = parts
    this.#channels = [...parts.channels.values()]
    this.#reader = createReader(parts.ring, BATCH)
    this.#records = viewsOf(this.#reader.copy.buffer)
  }

  /** Counts subscriptions that were made or ended. The first one begins with what is written from here on. */
  count(change: number): void {
    if (this.#subscriptions === 0) {
      this.#reader.position = writtenTo(this.#parts.ring)
      this.#whole = true
    }
    this.#subscriptions += change
    this.#parts.counters[GATEWAY.ws_subscriptions]! += change
    this.#wind(REST_MS)
  }

  /** Runs `act` now or, in the middle of a command, when that has ended; in the order of the calls. What it pushed is sent. */
  betweenCommands(act: () => void): void {
    this.#waiting.push(act)
    if (this.#inTurn || (!this.#whole && this.#subscriptions > 0)) return
    this.#measured(() => this.#act())
    // While a tick is being sent, what was pushed leaves with it.
    if (this.#next === null) this.#send()
  }

  /** Takes in what is new and sends what became of it, at once if it takes no longer than a slice; `most`: see {@link Channel.flush}. */
  tick(most = TICK_FRAMES): void {
    const { faults, counters } = this.#parts
    this.#frames = counters[GATEWAY.ws_frames]!
    this.#publishing = true
    this.#worked = 0
    this.#measured(() => {
      this.#inTurn = true
      try {
        this.#takeIn()
        if (this.#whole) this.#flush(most)
      } catch (error) {
        faults.end(error, null)
        this.#resync()
      }
      this.#inTurn = false
      if (this.#whole) this.#act()
    })
    this.#send()
  }

  #flush(most: number): void {
    this.#left = 0
    for (const channel of this.#channels) {
      const left = channel.flush(most) ?? 0
      if (left > 0 && (this.#left === 0 || left < this.#left)) this.#left = left
    }
  }

  /** Sends a slice, and the others in later turns of the loop, between which requests are served. */
  #send(): void {
    if (this.#next !== null) clearTimeout(this.#next)
    this.#next = null
    let all = true
    this.#measured(() => (all = this.#parts.send(performance.now() + SLICE_MS)))
    if (!all) this.#next = setTimeout(() => this.#send(), PAUSE_MS)
    else this.#sent()
  }

  /** All was sent. */
  #sent(): void {
    const { counters, now } = this.#parts
    if (this.#publishing) {
      if (this.#oldest > 0 && counters[GATEWAY.ws_frames]! > this.#frames) this.#countLag((now() - this.#oldest) / 1000)
      if (this.#whole) this.#oldest = this.#left
    }
    this.#publishing = false
    const began = this.#began
    this.#began = 0
    if (began > 0) this.#wind(restAfter(this.#worked, this.#left > 0))
  }

  /** Counts what `act` computes, and how long it kept the thread. */
  #measured(act: () => void): void {
    const { counters } = this.#parts
    const began = performance.now()
    const { user, system } = process.threadCpuUsage()
    act()
    const used = process.threadCpuUsage({ user, system })
    counters[GATEWAY.ws_cpu_seconds]! += (used.user + used.system) / 1e6
    const ms = performance.now() - began
    this.#worked += ms
    const seconds = ms / 1000
    if (seconds > counters[GATEWAY.ws_stall_seconds_max]!) counters[GATEWAY.ws_stall_seconds_max] = seconds
  }

  #countLag(seconds: number): void {
    const { counters } = this.#parts
    let bucket = 0
    while (bucket < LAG_BUCKETS.length && seconds > LAG_BUCKETS[bucket]!) bucket++
    counters[LAG_HISTOGRAM + bucket]!++
    counters[LAG_SUM]! += seconds
  }

  /** Stops ticks and slices. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#next !== null) clearTimeout(this.#next)
    this.#timer = null
    this.#next = null
    this.#subscriptions = 0
  }

  #takeIn(): void {
    const channels = this.#channels
    const { u32, f64 } = this.#records
    for (let copies = 0; copies < COPIES_MAX || !this.#whole; copies++) {
      const count = read(this.#reader)
      if (count === 0) return
      if (count < 0) {
        this.#parts.counters[GATEWAY.lapped]!++
        return this.#resync()
      }
      for (let i = 0; i < count; i++) {
        for (const channel of channels) channel.take(this.#records, i * RECORD_WORDS)
      }
      const last = (count - 1) * RECORD_WORDS
      this.#whole = eventTypeOf(u32[last]!) === EventType.RESULT
      for (let at = 0; at <= last && this.#oldest === 0; at += RECORD_WORDS) {
        if (eventTypeOf(u32[at]!) === EventType.RESULT) this.#oldest = f64[(at + RESULT.at.time) >>> 1]!
      }
    }
  }

  #resync(): void {
    this.#whole = true
    this.#parts.resync()
  }

  #act(): void {
    const { faults } = this.#parts
    const before = faults.current
    // What channels ask is of all who listen, and of no request.
    faults.current = null
    for (let act = this.#waiting.shift(); act !== undefined; act = this.#waiting.shift()) {
      try {
        act()
      } catch (error) {
        faults.end(error, null)
        this.#resync()
      }
    }
    faults.current = before
  }

  #wind(rest: number): void {
    // Without subscriptions there may still be acts that wait for the end of a command.
    const idle = this.#subscriptions === 0 && this.#waiting.length === 0
    if (idle || this.#timer !== null || this.#began > 0) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#began = performance.now()
      this.tick()
    }, rest)
  }
}
