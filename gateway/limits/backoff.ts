/**
 * Clients whose connections were ended as floods, and for how long new ones of theirs are refused: {@link FIRST_MS} after the first such
 * end, twice as long after each one that follows, {@link LONGEST_MS} at most. A client that was quiet for {@link FORGET_MS} begins anew.
 *
 * Proxies stand for many clients and are never backed off. The map is bounded; the oldest entry goes first. Times are ms of a clock that
 * never goes back.
 */
import { createBoundedMap, remember, type BoundedMap } from '../bounded_map.ts'
import type { Proxies } from './shares.ts'

export const FIRST_MS = 1_000
export const LONGEST_MS = 60_000
export const FORGET_MS = 300_000
const CLIENTS_MAX = 4_096

interface Strikes {
  readonly count: number
  readonly until: number
}

export class Backoff {
  readonly #proxies: Proxies
  readonly #now: () => number
  readonly #clients: BoundedMap<string, Strikes> = createBoundedMap(CLIENTS_MAX)

  constructor(proxies: Proxies, now: () => number) {
    this.#proxies = proxies
    this.#now = now
  }

  /** A connection of this client was ended as a flood. */
  strike(client: string): void {
    if (this.#proxies.has(client)) return
    const before = this.#clients.entries.get(client)
    const now = this.#now()
    const count = before === undefined || now - before.until > FORGET_MS ? 1 : before.count + 1
    const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(count - 1, 30))
    this.#clients.entries.delete(client)
    remember(this.#clients, client, { count, until: now + ms })
  }

  /** Whether new connections of this client are refused now. */
  isOff(client: string): boolean {
    const strikes = this.#clients.entries.get(client)
    return strikes !== undefined && this.#now() < strikes.until
  }
}
