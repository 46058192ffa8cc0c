/**
 * The fan-out of a thread: a reader of the event ring of its own, which hands every event to the channels.
 *
 * A turn takes in what is new and then lets the channels tell what became of it, once per topic whatever happened. Turns rest at least
 * {@link REST_MS}, and twice as long as the last one took: when many listen, frames hold more and the thread keeps time for requests. It
 * runs only while there are subscriptions.
 *
 * Every command ends with its RESULT, so the fan-out knows when it stands between two commands. Frames are made there and subscriptions
 * are changed there only: none has half a command. A reader that was lapped, and a channel that finds its state contradicted, leave no
 * doubt what to do: all sockets with subscriptions are closed with 1013, and the clients begin anew.
 */
import { EventType, eventTypeOf } from '../../core/layout/event.ts'
import { RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { createReader, read, writtenTo, type Broadcast, type Reader } from '../../core/ring/broadcast.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import type { Channel } from './channels/channel.ts'

/** Between two turns, ms. */
const REST_MS = 5
const REST_MOST_MS = 100
/** Records copied at once, and copies one turn makes at most. */
const BATCH = 256
const COPIES_MAX = 64

export interface FanOutParts {
  readonly ring: Broadcast
  readonly channels: ReadonlyMap<string, Channel>
  readonly counters: Float64Array
  /** Sends what channels pushed. */
  readonly send: () => void
  /** Closes the sockets with subscriptions: what they missed is gone. */
  readonly resync: () => void
  readonly onError: (error: unknown) => void
}

export class FanOut {
  readonly #parts: FanOutParts
  readonly #reader: Reader
  readonly #records: Views
  #subscriptions = 0
  /** The last event ended its command. */
  #whole = true
  #inTurn = false
  readonly #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | null = null

  constructor(parts: FanOutParts) {
    this.#parts = parts
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
    this.#act()
    this.#parts.send()
  }

  /** Takes in what is new and sends what became of it. */
  turn(): void {
    const { onError, send } = this.#parts
    this.#inTurn = true
    try {
      this.#takeIn()
      if (this.#whole) for (const channel of this.#parts.channels.values()) channel.flush()
    } catch (error) {
      onError(error)
      this.#resync()
    }
    this.#inTurn = false
    if (this.#whole) this.#act()
    send()
  }

  /** Stops the timer. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#subscriptions = 0
  }

  #takeIn(): void {
    const { channels } = this.#parts
    const { u32 } = this.#records
    for (let copies = 0; copies < COPIES_MAX || !this.#whole; copies++) {
      const count = read(this.#reader)
      if (count === 0) return
      if (count < 0) {
        this.#parts.counters[GATEWAY.lapped]!++
        return this.#resync()
      }
      for (let i = 0; i < count; i++) {
        for (const channel of channels.values()) channel.take(this.#records, i * RECORD_WORDS)
      }
      this.#whole = eventTypeOf(u32[(count - 1) * RECORD_WORDS]!) === EventType.RESULT
    }
  }

  #resync(): void {
    this.#whole = true
    this.#parts.resync()
  }

  #act(): void {
    for (let act = this.#waiting.shift(); act !== undefined; act = this.#waiting.shift()) {
      try {
        act()
      } catch (error) {
        this.#parts.onError(error)
        this.#resync()
      }
    }
  }

  #wind(rest: number): void {
    // Without subscriptions there may still be acts that wait for the end of a command.
    if (this.#timer !== null || (this.#subscriptions === 0 && this.#waiting.length === 0)) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      const began = performance.now()
      this.turn()
      this.#wind(Math.min(REST_MOST_MS, Math.max(REST_MS, 2 * (performance.now() - began))))
    }, rest)
  }
}
