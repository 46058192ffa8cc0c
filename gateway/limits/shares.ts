/**
 * What all clients share, so that none has it all: places for connections, bytes that are held for requests.
 *
 * A client may have as much as is left free. Alone it gets half of the whole; two that want all get a third each, k of them
 * 1/(k+1) each, and
 * as much is free for whoever comes next. No knob says how much that is, and nobody is held back while the whole is empty.
 *
 * A client is a network (network.ts). Addresses of proxies stand for many clients (`proxyAddresses`): they may fill all but the
 * last tenth.
 *
 * Held amounts are exact: whoever takes gives back. Memory is one entry for each client that holds something.
 */
import { networkOf } from './network.ts'

/** `full`: nothing is left for anybody; `share`: this client has its share. */
export type NoRoom = 'full' | 'share'

/** Share of the whole that proxies leave alone. */
const PROXY_RESERVE = 10

export class Shares {
  readonly most: number
  readonly #proxies: ReadonlySet<string>
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(most: number, proxies: ReadonlySet<string> = new Set()) {
    this.most = most
    this.#proxies = proxies
  }

  get total(): number {
    return this.#total
  }

  heldBy(client: string): number {
    return this.#held.get(client) ?? 0
  }

  /** Takes `amount` for `client`, or nothing and says why. */
  take(client: string, amount = 1): NoRoom | null {
    const free = this.most - this.#total - amount
    if (free < 0) return 'full'
    const held = (this.#held.get(client) ?? 0) + amount
    // The last of a whole of one is nobody's share, and yet somebody must have it.
    if (this.#proxies.has(client) ? free < Math.floor(this.most / PROXY_RESERVE) : held > Math.max(free, 1)) return 'share'
    this.#held.set(client, held)
    this.#total += amount
    return null
  }

  give(client: string, amount = 1): void {
    const held = (this.#held.get(client) ?? 0) - amount
    if (held < 0) throw new Error('more was given back than taken')
    if (held === 0) this.#held.delete(client)
    else this.#held.set(client, held)
    this.#total -= amount
  }
}

/** The clients of `proxyAddresses`: addresses between commas. */
export const readProxies = (text: string): ReadonlySet<string> =>
  new Set(text.split(',').map((each) => each.trim()).filter((each) => each !== '').map(networkOf))
