/**
 * Connections of the gRPC port: how many there may be, and what one may do to the server beside calls.
 *
 * grpc-js bounds messages, streams, idleness and age; it has no answer to clients that keep a connection busy without calls. Here a
 * connection ends with ENHANCE_YOUR_CALM when it pings more often than every {@link PING_EVERY_MS} while nothing else is sent to it
 * (after two warnings' worth; pings without calls are allowed), or changes its settings all the time. Node ends floods of resets,
 * CONTINUATION frames and broken frames by itself.
 */
import { constants, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { createServer, type Server, type Socket } from 'node:net'

/** Request metadata of one call in bytes, as HTTP/2 counts them (32 per entry besides its text). */
export const METADATA_MAX = 16 * 1024
export const PING_EVERY_MS = 10_000
/** Pings too many that are forgiven. */
const PING_STRIKES = 2
/** A PING frame: what an acknowledgement adds to the bytes written. */
const PING_BYTES = 17
/** Changes of settings a client may make on one connection. */
const SETTINGS_MAX = 32
/** A unary call whose client takes this long, or up to twice as long, to send its request or to take its answer is given up, ms. */
export const STALLED_MS = 60_000

/** Milliseconds of each unit of grpc-timeout. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 }
/** Longer deadlines are none, ms. */
const DEADLINE_MAX_MS = 2 ** 31 - 1

function deadlineMs(timeout: string): number {
  const [, count, unit] = /^([0-9]{1,8})([HMSmun])$/.exec(timeout) ?? []
  return unit === undefined ? 0 : Number(count) * UNITS[unit]!
}

export interface Port {
  readonly listener: Server
  readonly sockets: Set<Socket>
}

/** Accepts at most `most` connections and hands them to `inject`; `changed` is told how many are open. */
export function openPort(most: number, inject: (socket: Socket) => void, changed: (open: number) => void): Port {
  const sockets = new Set<Socket>()
  const listener = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    changed(sockets.size)
    socket.once('close', () => {
      sockets.delete(socket)
      changed(sockets.size)
    })
    // A connection that breaks is only closed; what it was doing ends with it.
    socket.on('error', () => socket.destroy())
    inject(socket)
  })
  listener.maxConnections = most
  return { listener, sockets }
}

/** Listens and returns the port; rejects when it is taken. */
export function listen({ listener }: Port, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen({ host, port }, () => {
      const address = listener.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/**
 * Watches what comes over an HTTP/2 server's connections. `longLived` are the methods whose streams may be silent; calls of others that
 * wait for their client for `stalledMs` are reset.
 */
export function guard(server: Http2Server, longLived: ReadonlySet<string>, stalledMs: number): void {
  server.updateSettings({ maxHeaderListSize: METADATA_MAX })
  server.on('session', guardSession)
  // Before the library reads it: it counts in 32 bits, and a deadline of weeks would have passed at once.
  server.prependListener('stream', (_stream, headers) => {
    const timeout = headers['grpc-timeout']
    if (timeout !== undefined && deadlineMs(String(timeout)) > DEADLINE_MAX_MS) delete headers['grpc-timeout']
  })
  // One sweep instead of a timer for each call, which would cost a call a sixth of its time.
  const calls = new Map<ServerHttp2Stream, Wait>()
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    if (longLived.has(String(headers[':path']))) return
    calls.set(stream, 'no')
    stream.once('close', () => calls.delete(stream))
  })
  setInterval(() => sweep(calls), stalledMs).unref()
}

/** Whether a call waited for its client when it was last looked at: for the rest of its request, or for room to write the answer. */
type Wait = 'no' | 'sending' | 'taking'

/** Resets calls that wait for their clients as they did at the last sweep. */
function sweep(calls: Map<ServerHttp2Stream, Wait>): void {
  for (const [stream, before] of calls) {
    const now: Wait = stream.writableLength > 0 ? 'taking' : stream.readableEnded ? 'no' : 'sending'
    if (now !== 'no' && now === before) stream.close(constants.NGHTTP2_CANCEL)
    else calls.set(stream, now)
  }
}

function guardSession(session: ServerHttp2Session): void {
  let strikes = 0
  let pingedAt = -Infinity
  let written = 0
  let settings = 0
  session.on('ping', () => {
    const now = performance.now()
    const { bytesWritten } = session.socket
    // Clients that measure the path ping along with the data they are sent.
    const idle = bytesWritten - written <= PING_BYTES
    written = bytesWritten
    if (!idle) strikes = 0
    else if (now - pingedAt < PING_EVERY_MS && ++strikes > PING_STRIKES) expel(session, 'too_many_pings')
    pingedAt = now
  })
  session.on('remoteSettings', () => {
    if (++settings > SETTINGS_MAX) expel(session, 'too_many_settings')
  })
}

function expel(session: ServerHttp2Session, reason: string): void {
  if (session.destroyed) return
  session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from(reason))
  // Later, so that the frame leaves.
  setImmediate(() => session.destroy())
}
