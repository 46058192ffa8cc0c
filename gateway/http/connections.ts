/**
 * Plain connections of the HTTP port of one gateway thread; a connection that becomes a WebSocket is counted there from then on
 * (ws/server.ts).
 *
 * The library says when a connection comes and from where, and that one went, but not which. Silent ones it closes itself, 10 to
 * 14 s after
 * they came or after their last answer, also when their head comes byte by byte. So a client is counted by the connections it opened
 * lately, {@link LATELY_MS} to twice that, and may have opened as many as there are free (the rule of limits/shares.ts). What it
 * keeps open
 * by asking all the time is not seen by that; therefore, while more than three quarters of all places are taken, every answer closes its
 * connection.
 */
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js'
import { PORT_COUNTER, type PortBlock } from '../../core/ring/ports.ts'
import { networkOf } from '../limits/network.ts'
import type { Proxies } from '../limits/shares.ts'

/** At least as long as the library keeps a silent connection. */
const LATELY_MS = 15_000
const PRESSED = 0.75

export class HttpConnections {
  readonly #most: number
  readonly #proxies: Proxies
  readonly #counters: PortBlock
  readonly #now: () => number
  /** Connections opened by client, in this period and in the one before. */
  #opened = new Map<string, number>()
  #openedBefore = new Map<string, number>()
  #periodEnd: number
  #open = 0

  constructor(most: number, proxies: Proxies, counters: PortBlock, now = () => performance.now()) {
    this.#most = most
    this.#proxies = proxies
    this.#counters = counters
    this.#now = now
    this.#periodEnd = now() + LATELY_MS
    counters[PORT_COUNTER.most] = most
  }

  /** Whether answers are to close their connections. */
  get pressed(): boolean {
    return this.#open > this.#most * PRESSED
  }

  get open(): number {
    return this.#open
  }

  /** Counts the connections of `app` from now on. */
  watch(app: TemplatedApp, addressOf: (response: HttpResponse) => string): void {
    app.filter((response: HttpResponse, change: number) => {
      this.#change(change)
      // Closing comes back here at once, as one less.
      if (change > 0 && !this.admit(addressOf(response))) response.close()
    })
  }

  /** A connection has become a WebSocket. */
  upgraded(): void {
    this.#change(-1)
  }

  /** Whether a new connection, counted already, from this address may stay. */
  admit(address: string): boolean {
    const free = this.#most - this.#open
    if (free < 0) return this.#refuse(PORT_COUNTER.refused_full)
    const client = networkOf(address)
    this.#turn()
    const opened = (this.#opened.get(client) ?? 0) + 1
    const lately = opened + (this.#openedBefore.get(client) ?? 0)
    if (!this.#proxies.has(client) && this.#open > 1 && lately > free) return this.#refuse(PORT_COUNTER.refused_share)
    this.#opened.set(client, opened)
    return true
  }

  #refuse(counter: number): false {
    this.#counters[counter]!++
    return false
  }

  #change(by: number): void {
    this.#open += by
    this.#counters[PORT_COUNTER.open] = this.#open
  }

  #turn(): void {
    const now = this.#now()
    if (now < this.#periodEnd) return
    this.#openedBefore = now < this.#periodEnd + LATELY_MS ? this.#opened : new Map()
    this.#opened = new Map()
    this.#periodEnd = now + LATELY_MS
  }
}
