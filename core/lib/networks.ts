/**
 * IP addresses and networks as numbers: `10.0.0.0/8`, `192.0.2.7`, `2001:db8::/32`.
 *
 * Every address is 128 bits: an IPv4 address is the IPv6 address that it is mapped to (`::ffff:192.0.2.7`), so both writings are
 * one address.
 */
import { isIPv4, isIPv6 } from 'node:net'

const BITS = 128
const V4_BITS = 32
/** `::ffff:0:0/96`, where IPv4 addresses are. */
const MAPPED = 0xffffn << 32n

const v4BitsOf = (text: string): bigint => text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)

/** The bits of an address; `null`: it is none. The zone of an IPv6 address (`%eth0`) is left out. */
export function addressBits(text: string): bigint | null {
  if (isIPv4(text)) return MAPPED | v4BitsOf(text)
  if (!isIPv6(text)) return null
  let address = text.split('%')[0]!
  const dotted = address.slice(address.lastIndexOf(':') + 1)
  if (dotted.includes('.')) {
    const bits = v4BitsOf(dotted)
    address = `${address.slice(0, -dotted.length)}${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`
  }
  const [left = '', right] = address.split('::')
  const head = left === '' ? [] : left.split(':')
  const tail = right === undefined || right === '' ? [] : right.split(':')
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n)
}

interface Network {
  /** Bits behind the prefix. */
  readonly shift: bigint
  /** The prefix. */
  readonly prefix: bigint
}

/** What is wrong with a list of networks. */
export class NetworkError extends Error {
  override name = 'NetworkError'
}

function readNetwork(text: string): Network {
  const [address = '', length, ...more] = text.split('/')
  const bits = addressBits(address)
  if (bits === null || address.includes('%') || more.length > 0) throw new NetworkError(`${text} is neither address nor network`)
  const width = isIPv4(address) ? V4_BITS : BITS
  if (length === undefined) return { shift: 0n, prefix: bits }
  if (!/^(?:[1-9][0-9]{0,2})$/.test(length) || Number(length) > width) {
    throw new NetworkError(`${text}: the length of its prefix must be from 1 to ${width}`)
  }
  const shift = BigInt(width - Number(length))
  if ((bits >> shift) << shift !== bits) throw new NetworkError(`${text} has bits behind its prefix: which network is meant?`)
  return { shift, prefix: bits >> shift }
}

/** A list of addresses and networks. */
export class Networks {
  readonly #networks: readonly Network[]

  /** `text`: addresses and networks between commas; '' is none. Throws {@link NetworkError}. */
  constructor(text: string) {
    this.#networks = text.split(',').map((each) => each.trim()).filter((each) => each !== '').map(readNetwork)
  }

  get isEmpty(): boolean {
    return this.#networks.length === 0
  }

  /** Whether this address is in one of them. */
  contains(bits: bigint): boolean {
    return this.#networks.some(({ shift, prefix }) => bits >> shift === prefix)
  }

  /** Whether any address that begins with all but the last `free` bits of `bits` is in one of them. */
  touches(bits: bigint, free: number): boolean {
    const rest = BigInt(free)
    return this.#networks.some(({ shift, prefix }) => {
      const most = shift > rest ? shift : rest
      return bits >> most === prefix >> (most - shift)
    })
  }
}
