/** Headers of the PROXY protocol, version 2, good ones and others. */
export const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')

/** A header with any command, family and payload. */
export function rawProxyHeader(command: number, family: number, payload: Buffer, length = payload.length): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from([command, family, length >> 8, length & 255]), payload])
}

const PORTS = Buffer.from([0, 80, 0, 81])

/** The header of a connection from this IPv4 address. */
export const proxyHeader = (address: string, more: Buffer = Buffer.alloc(0)): Buffer =>
  rawProxyHeader(0x21, 0x11, Buffer.concat([Buffer.from([...address.split('.').map(Number), 127, 0, 0, 1]), PORTS, more]))

/** The same of an IPv6 address, written out in eight groups. */
export const proxyHeader6 = (address: string): Buffer =>
  rawProxyHeader(0x21, 0x21, Buffer.concat([
    ...address.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')), Buffer.alloc(15), Buffer.from([1]), PORTS,
  ]))

/** One of a proxy that speaks for itself. */
export const LOCAL_HEADER = rawProxyHeader(0x20, 0x00, Buffer.alloc(0))
