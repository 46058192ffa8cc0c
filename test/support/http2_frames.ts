/** Frames of HTTP/2 written by hand, for clients that do what no library would. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export const TYPE = {
  DATA: 0, HEADERS: 1, PRIORITY: 2, RST_STREAM: 3, SETTINGS: 4, PING: 6, GOAWAY: 7, WINDOW_UPDATE: 8, CONTINUATION: 9,
} as const
export const END_STREAM = 1
export const END_HEADERS = 4

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A literal header field without indexing; its name is shorter than 127 bytes. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), integer(value.length), Buffer.from(value)])
}

/** A length with a prefix of seven bits (RFC 7541, 5.1). */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value])
  const bytes = [127]
  let rest = value - 127
  for (; rest >= 128; rest >>>= 7) bytes.push(128 | (rest & 127))
  return Buffer.from([...bytes, rest])
}

/** The header block of a call to `path`. */
export const callHeaders = (path: string): Buffer => Buffer.concat([
  field(':method', 'POST'), field(':scheme', 'http'), field(':path', path), field(':authority', 'x'),
  field('content-type', 'application/grpc'), field('te', 'trailers'),
])

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/**
 * A connection that has sent its preface and, unless `acknowledge` is false, an acknowledgement of the settings; it reads what
 * it is sent.
 */
export async function openRaw(port: number, { from = '127.0.0.1', acknowledge = true } = {}): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  socket.on('error', () => undefined)
  socket.resume()
  await once(socket, 'connect')
  socket.write(Buffer.concat([PREFACE, frame(TYPE.SETTINGS, 0, 0), ...(acknowledge ? [frame(TYPE.SETTINGS, 1, 0)] : [])]))
  return socket
}
