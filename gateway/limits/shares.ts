/**
 * What all clients share, so that none has it all: places for connections, bytes that are held for requests.
 *
 * A client may have as much as is left free. Alone it gets half of the whole; two that want all get a third each, k of them
 * 1/(k+1) each, and
 * as much is free for whoever comes next. No knob says how much that is, and nobody is held back while the whole is empty.
 *
 * A client is a network (network.ts). Addresses of proxies stand for many clients (`proxyAddresses`, `trustedProxies`): they may
 * fill all but the last tenth.
 *
 * Held amounts are exact: whoever takes gives back. Memory is one entry for each client that holds something.
 */
import { addressBits, Networks } from '../../core/lib/networks.ts'
import { createBoundedMap, remember } from '../bounded_map.ts'

/** `full`: nothing is left for anybody; `share`: this client has its share. */
export type NoRoom = 'full' | 'share'

/** Share of the whole that proxies leave alone. */
const PROXY_RESERVE = 10

/** Clients that stand for many. */
export type Proxies = Pick<ReadonlySet<string>, 'has'>

export class Shares {
  readonly most: number
  readonly #proxies: Proxies
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(most: number, proxies: Proxies = new Set()) {
    this.most = most
    this.#proxies = proxies
  }

  get total(): number {
    return this.#total
  }

  heldBy(client: string): number {
    return this.#held.get(client) ?? 0
  }

  /** Makes a place of `from` one of `to`, or leaves it and says why: what others have taken since then counts for `to` alone. */
  move(from: string, to: string): NoRoom | null {
    this.give(from)
    const none = this.take(to)
    if (none === null) return null
    this.#held.set(from, this.heldBy(from) + 1)
    this.#total++
    return none
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

export interface ProxySettings {
  /** Addresses and networks between commas. */
  readonly proxyAddresses: string
  readonly trustedProxies: string
}

/** Clients of which it is remembered whether they are proxies. */
const CLIENTS = 1_024
/** Of an IPv6 client the bits that are not known: it is a /64 (network.ts). */
const FREE_BITS = 64

/** The clients in which an address of these settings is. */
export function readProxies({ proxyAddresses, trustedProxies }: ProxySettings): Proxies {
  const networks = new Networks(`${proxyAddresses},${trustedProxies}`)
  if (networks.isEmpty) return new Set()
  const known = createBoundedMap<string, boolean>(CLIENTS)
  const look = (client: string): boolean => {
    const isV6 = client.includes(':')
    const bits = addressBits(isV6 ? `${client}::` : client)
    return bits !== null && networks.touches(bits, isV6 ? FREE_BITS : 0)
  }
  return {
    has: (client) => {
      const before = known.entries.get(client)
      if (before !== undefined) return before
      const found = look(client)
      remember(known, client, found)
      return found
    },
  }
}
