/**
 * Headers of the PROXY protocol, version 2: what a proxy that hands on bytes writes first of all on a connection, so that the service knows
 * the client's address. Sixteen bytes (signature, version and command, family, length), the addresses, and fields that are passed over.
 *
 * It is read from trusted proxies only (client_address.ts), once, before anything else of the connection, {@link LENGTH_MAX} bytes at
 * most: what the client sends stands behind it and is never taken for another. Version 1 is not spoken.
 */
import type { Socket } from 'node:net'

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const HEAD = 16
/** Addresses take 36 bytes; the rest is for fields that proxies add. */
export const LENGTH_MAX = 4_096

/** Low half of byte 12. */
const LOCAL = 0
const PROXY = 1
/** Byte 13: family and transport. */
const TCP4 = 0x11
const TCP6 = 0x21
const UNSPECIFIED = 0x00
const UNIX = 0x31

/** `more`: it is not whole; `none`: these bytes begin no header; `bad`: it is broken, or of a kind that is not taken here. */
export type ProxyHeader = 'more' | 'none' | 'bad' | {
  /** Bytes of the header. */
  readonly length: number
  /** Address of the client; `null`: the proxy speaks for itself. */
  readonly source: string | null
}

export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  const begun = Math.min(bytes.length, SIGNATURE.length)
  if (!bytes.subarray(0, begun).equals(SIGNATURE.subarray(0, begun))) return 'none'
  if (bytes.length < HEAD) return 'more'
  const [version, command] = [bytes[12]! >> 4, bytes[12]! & 15]
  const length = HEAD + bytes.readUInt16BE(14)
  if (version !== 2 || command > PROXY || length > LENGTH_MAX) return 'bad'
  if (bytes.length < length) return 'more'
  if (command === LOCAL) return { length, source: null }
  const addresses = bytes.subarray(HEAD, length)
  switch (bytes[13]) {
    case TCP4:
      return addresses.length < 12 ? 'bad' : { length, source: [...addresses.subarray(0, 4)].join('.') }
    case TCP6: {
      if (addresses.length < 36) return 'bad'
      const groups = Array.from({ length: 8 }, (_, i) => addresses.readUInt16BE(2 * i).toString(16))
      return { length, source: groups.join(':') }
    }
    case UNSPECIFIED:
    case UNIX:
      return { length, source: null }
    default:
      return 'bad'
  }
}

/** What stands at the beginning of a connection: a header, `none`, or `bad`. */
export type Beginning = Exclude<ProxyHeader, 'more'>

/** Reads the header of a new connection; bytes behind it, or those of no header, stay in the socket. Never called when it closes before. */
export function readProxyHeader(socket: Socket, done: (beginning: Beginning) => void): void {
  let bytes: Buffer = Buffer.alloc(0)
  const look = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    bytes = Buffer.concat([bytes, chunk])
    const header = parseProxyHeader(bytes)
    if (header === 'more') return
    socket.off('readable', look)
    const rest = typeof header === 'string' ? bytes : bytes.subarray(header.length)
    if (rest.length > 0) socket.unshift(rest)
    done(header)
  }
  socket.on('readable', look)
  look()
}
