/**
 * What waits in a thread for the clients of all its connections of a kind, in bytes: bounded, and of it a client has its share (shares.ts).
 * What would go beyond that has room made for it at once: the connection for which most waits is cut, of the client that has its share, or
 * of everybody. Whoever reads what it is sent is never the largest.
 */
import { Shares, type Proxies } from './shares.ts'

/** Where a backlog counts: bytes that wait, how many may, and connections it cut. */
export interface BacklogCounters {
  readonly waiting: number
  readonly capacity: number
  readonly cut: number
}

export interface Backlogged {
  readonly client: string
  /** Bytes taken for it in the backlog, which alone sets them. */
  held: number
  /** It was cut, or closed: nothing more is counted of it. */
  over: boolean
  /** Closes it. */
  cut(): void
}

export class Backlog {
  readonly #shares: Shares
  readonly #counters: Float64Array
  readonly #at: BacklogCounters
  readonly #waiting = new Set<Backlogged>()

  /** `most`: bytes. */
  constructor(most: number, proxies: Proxies, counters: Float64Array, at: BacklogCounters) {
    this.#shares = new Shares(most, proxies)
    this.#counters = counters
    this.#at = at
    counters[at.capacity] = most
  }

  /** So many bytes wait for this one now; it or others may be cut for that. */
  note(one: Backlogged, bytes: number): void {
    if (one.over) return
    if (bytes > one.held) this.#waiting.add(one)
    while (bytes > one.held) {
      const none = this.#shares.take(one.client, bytes - one.held)
      if (none === null) one.held = bytes
      else if (this.#cutLargest(none === 'share' ? one.client : null, one, bytes) === one) return
    }
    this.#give(one, one.held - bytes)
  }

  /** It closed. */
  end(one: Backlogged): void {
    one.over = true
    this.#give(one, one.held)
  }

  #give(one: Backlogged, bytes: number): void {
    if (bytes > 0) {
      this.#shares.give(one.client, bytes)
      one.held -= bytes
    }
    if (one.held === 0) this.#waiting.delete(one)
    this.#counters[this.#at.waiting] = this.#shares.total
  }

  /** Cuts the one for which most waits, of one client or of all; `bytes` wait for `grown`. */
  #cutLargest(client: string | null, grown: Backlogged, bytes: number): Backlogged {
    let largest = grown
    let most = bytes
    for (const each of this.#waiting) {
      if (each.held <= most || (client !== null && each.client !== client)) continue
      largest = each
      most = each.held
    }
    this.#counters[this.#at.cut]!++
    largest.cut()
    this.end(largest)
    return largest
  }
}
