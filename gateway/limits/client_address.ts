/**
 * Whose address counts: that of the socket, or the one a trusted proxy names (`trustedProxies`).
 *
 * - The socket's address is the client's, unless it is a trusted proxy's. What strangers write into `X-Forwarded-For` counts for
 *   nothing, since everybody can write it.
 * - A trusted proxy appends the address it was called from to `X-Forwarded-For`. The list is read from its right end: trusted
 *   proxies are passed over, and the first other address is the client. What stands left of it was written by the client.
 * - An entry that is no address ends the reading: the client is the proxy that wrote it, the last one that was passed over.
 *   So do {@link HOPS_MAX} proxies. When there is nothing but proxies, the leftmost is the client.
 * - An entry may have a port, `192.0.2.7:4711` or `[2001:db8::7]:4711`, which is left out.
 */
import { addressBits, Networks } from '../../core/lib/networks.ts'
import { createBoundedMap, remember } from '../bounded_map.ts'

/** Header of HTTP, metadata of gRPC. */
export const FORWARDED_FOR = 'x-forwarded-for'
/** Most proxies that are passed over. */
const HOPS_MAX = 16
/** Relayed connections come from here: 127.64.0.0/10, whose last 22 bits count. */
const RELAYED = /^127\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./
const RELAYED_BITS = 22
/** Of a connection that is over, whose client is not known any more. No connection comes from this address (RFC 1122, 3.2.1.3). */
export const NOBODY = '0.0.0.0'
/** Peers of which it is remembered whether they are proxies. */
const PEERS = 1_024

const V4_WITH_PORT = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/
const V6_IN_BRACKETS = /^\[([^\]]*)\](?::\d{1,5})?$/
const withoutPort = (entry: string): string => (V4_WITH_PORT.exec(entry) ?? V6_IN_BRACKETS.exec(entry))?.[1] ?? entry

export class ClientAddresses {
  readonly #proxies: Networks
  readonly #known = createBoundedMap<string, boolean>(PEERS)
  /** Clients of relayed connections, by the address those come from. */
  readonly #relayed = new Map<string, string>()
  #relays = 0

  /** `trusted`: the networks of `trustedProxies`. */
  constructor(trusted: string) {
    this.#proxies = new Networks(trusted)
  }

  /** Whether this address is a trusted proxy's. */
  trusts(address: string): boolean {
    if (this.#proxies.isEmpty) return false
    const known = this.#known.entries.get(address)
    if (known !== undefined) return known
    const bits = addressBits(address)
    const trusted = bits !== null && this.#proxies.contains(bits)
    remember(this.#known, address, trusted)
    return trusted
  }

  /** An address of the loopback for a connection that is relayed for this client, until {@link relayed} ends that. */
  relay(client: string): string {
    for (;;) {
      const at = this.#relays++ % 2 ** RELAYED_BITS
      const address = `127.${64 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`
      if (this.#relayed.has(address)) continue
      this.#relayed.set(address, client)
      return address
    }
  }

  relayed(address: string): void {
    this.#relayed.delete(address)
  }

  /**
   * Address at the other end of a connection: for a relayed one that of its client. One that was relayed and is over, whose last bytes are
   * still being read, is {@link NOBODY}'s: not of a client of its own each, and not of this machine either, which may be trusted.
   */
  peerOf(address: string): string {
    if (this.#relays === 0 || !RELAYED.test(address)) return address
    return this.#relayed.get(address) ?? NOBODY
  }

  /** Address of the client. `peer`: of the socket; `forwarded`: all of X-Forwarded-For in its order, '' without it. */
  clientOf(peer: string, forwarded: string): string {
    if (forwarded === '' || peer === NOBODY || !this.trusts(peer)) return peer
    let client = peer
    let end = forwarded.length
    for (let hops = 0; hops < HOPS_MAX && end >= 0; hops++) {
      const comma = end === 0 ? -1 : forwarded.lastIndexOf(',', end - 1)
      const entry = withoutPort(forwarded.slice(comma + 1, end).trim())
      if (addressBits(entry) === null) return client
      client = entry
      if (!this.trusts(entry)) return client
      end = comma
    }
    return client
  }
}
