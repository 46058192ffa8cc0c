/**
 * What one call may take of the gRPC port before it is served: headers, time, memory (message_reader.ts).
 *
 * - Request metadata beyond {@link METADATA_MAX} is refused with RESOURCE_EXHAUSTED. The setting that announces the bound binds no
 *   client: it
 *   counts from its acknowledgement on, which a client may leave out.
 * - The request of a unary call has to be whole within `requestMs` of its beginning; of a stream of orders the first message. A
 *   client that
 *   does not take its answer for {@link STALLED_MS} is given up. Such calls are reset.
 * - What is held for a request counts as its connection's until the call is over.
 */
import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { status, type ServerInterceptingCallInterface } from '@grpc/grpc-js'
import { lookMs } from '../limits/port.ts'
import type { Connection, Connections } from './connections.ts'
import { MessageReader, NO_ROOM, PREFIX } from './message_reader.ts'

/** Request metadata of one call in bytes, as HTTP/2 counts them (32 per entry besides its text). */
export const METADATA_MAX = 16 * 1024
const ENTRY_BYTES = 32
/** A call whose client takes this long, or up to twice as long, to take its answer is given up, ms. */
export const STALLED_MS = 60_000

/** Milliseconds of each unit of grpc-timeout. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 }
/** Longer deadlines are none, ms. */
const DEADLINE_MAX_MS = 2 ** 31 - 1

function deadlineMs(timeout: string): number {
  const [, count, unit] = /^([0-9]{1,8})([HMSmun])$/.exec(timeout) ?? []
  return unit === undefined ? 0 : Number(count) * UNITS[unit]!
}

type StreamListener = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]) => void

export interface CallLimits {
  /** Methods whose streams may be silent. */
  readonly longLived: ReadonlySet<string>
  /** Those of them whose first message has to come in time, too. */
  readonly prompt: ReadonlySet<string>
  readonly requestMs: number
  readonly stalledMs: number
  /** Bytes of one message. */
  readonly messageMax: number
  readonly onNoRoom: () => void
}

/** Since when a call waits for its client, ms of performance.now(). */
interface Waiting {
  /** For the rest of its request; 0: that may take any time. */
  begun: number
  /** For its client to take what was written; 0: it does not. */
  taking: number
  /** How often its client took something, and the same at the last look. */
  taken: number
  seen: number
}

export class Calls {
  readonly #connections: Connections
  readonly #limits: CallLimits
  readonly #waiting = new Map<ServerHttp2Stream, Waiting>()
  readonly #timer: NodeJS.Timeout

  /** Takes over the calls of `server`, and hands on what is let in. */
  constructor(server: Http2Server, connections: Connections, limits: CallLimits) {
    this.#connections = connections
    this.#limits = limits
    server.updateSettings({ maxHeaderListSize: METADATA_MAX })
    const serve = server.listeners('stream') as StreamListener[]
    server.removeAllListeners('stream')
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]) => {
      // What ends a stream is an error to Node, and one that nobody listens for would end the exchange.
      stream.on('error', () => undefined)
      const connection = connections.of(stream.session)
      // It was told to end in this turn.
      if (connection === undefined) return stream.close(constants.NGHTTP2_REFUSED_STREAM)
      countReceived(stream, connection)
      if (this.#admit(stream, connection, headers, raw)) for (const each of serve) each.call(server, stream, headers, flags, raw)
      // Behind the library, which holds the data back until it reads; what nobody reads is dropped.
      stream.on('data', () => undefined)
    })
    this.#timer = setInterval(() => this.#sweep(), lookMs(limits.requestMs))
    this.#timer.unref()
  }

  /**
   * Reads the messages of a call of the library in its place. `streams`: its messages are served one by one, and {@link
   * MessageReader.served}
   * is said of each.
   */
  readFor(call: ServerInterceptingCallInterface, streams: boolean): MessageReader {
    const internals = internalsOf(call)
    const { stream } = internals
    const { messageMax, onNoRoom } = this.#limits
    const reader = new MessageReader(this.#connections.of(stream.session)!.room, messageMax, streams, onNoRoom)
    stream.once('close', () => reader.close())
    internals.decoder = reader
    internals.decompressMessage = (message, encoding) => {
      const bytes = message.subarray(PREFIX)
      return encoding === 'identity' ? bytes : reader.inflate(bytes, encoding)
    }
    return reader
  }

  /** The first message of this call came. */
  begun(call: ServerInterceptingCallInterface): void {
    const waiting = this.#waiting.get(internalsOf(call).stream)
    if (waiting !== undefined) waiting.begun = 0
  }

  /** Resets a call whose client asks for more than it takes; clients call that RESOURCE_EXHAUSTED. */
  calm(call: ServerInterceptingCallInterface): void {
    internalsOf(call).stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Whether this call is let in; otherwise it has been refused. */
  #admit(stream: ServerHttp2Stream, connection: Connection, headers: IncomingHttpHeaders, raw: readonly string[]): boolean {
    const size = sizeOf(raw)
    const large = size > METADATA_MAX
    const held = !large && connection.room.take(size) ? size : 0
    this.#watch(stream, connection, size, held, String(headers[':path']))
    if (large) return refuse(stream, `Request metadata of more than ${METADATA_MAX} bytes`)
    if (held === 0) {
      this.#limits.onNoRoom()
      return refuse(stream, NO_ROOM)
    }
    this.#connections.asked(connection)
    // Before the library reads it: it counts in 32 bits, and a deadline of weeks would have passed at once.
    const timeout = headers['grpc-timeout']
    if (timeout !== undefined && deadlineMs(String(timeout)) > DEADLINE_MAX_MS) delete headers['grpc-timeout']
    return true
  }

  #watch(stream: ServerHttp2Stream, connection: Connection, size: number, held: number, path: string): void {
    const { longLived, prompt } = this.#limits
    connection.opened(size)
    const timed = !longLived.has(path) || prompt.has(path)
    const waiting: Waiting = { begun: timed ? performance.now() : 0, taking: 0, taken: 0, seen: 0 }
    this.#waiting.set(stream, waiting)
    connection.outgoing.watch(stream, () => waiting.taken++)
    stream.once('close', () => {
      this.#waiting.delete(stream)
      connection.room.give(held)
      connection.closed(stream.aborted)
    })
  }

  /** Resets calls that wait for their clients for too long. */
  #sweep(): void {
    const now = performance.now()
    const { requestMs, stalledMs } = this.#limits
    for (const [stream, waiting] of this.#waiting) {
      if (stream.writableLength === 0) waiting.taking = 0
      else if (waiting.taking === 0 || waiting.taken !== waiting.seen) waiting.taking = now
      waiting.seen = waiting.taken
      const sending = waiting.begun > 0 && !stream.readableEnded && now - waiting.begun > requestMs
      const taking = waiting.taking > 0 && now - waiting.taking > stalledMs
      if (sending || taking) stream.close(constants.NGHTTP2_CANCEL)
    }
  }
}

/** Counts data as it comes: a stream of orders that has enough under way leaves a whole window of it unread. */
function countReceived(stream: ServerHttp2Stream, connection: Connection): void {
  const push = stream.push.bind(stream)
  // The one way in which Node hands on what came.
  stream.push = (data: Buffer | null): boolean => {
    if (data !== null) connection.received += data.length
    return push(data)
  }
}

/** Bytes of a header block as HTTP/2 counts them (RFC 9113, 6.5.2). */
function sizeOf(raw: readonly string[]): number {
  let size = 0
  for (const text of raw) size += text.length
  return size + (raw.length / 2) * ENTRY_BYTES
}

/** Ends a call before the library knows of it. Always false. */
function refuse(stream: ServerHttp2Stream, message: string): false {
  const headers = { ':status': 200, 'content-type': 'application/grpc+proto' }
  stream.respond({ ...headers, 'grpc-status': String(status.RESOURCE_EXHAUSTED), 'grpc-message': encodeURI(message) }, { endStream: true })
  return false
}

/** Parts of a call of the library that its types keep private: its stream, what reads its messages, and what unpacks them. */
interface Internals {
  readonly stream: ServerHttp2Stream
  decoder: Pick<MessageReader, 'write'>
  decompressMessage: (message: Buffer, encoding: string) => Buffer | Promise<Buffer>
}

function internalsOf(call: ServerInterceptingCallInterface): Internals {
  const internals = call as unknown as Internals
  if (internals.stream === undefined || internals.decoder === undefined || typeof internals.decompressMessage !== 'function') {
    throw new Error('grpc-js reads the messages of its calls elsewhere')
  }
  return internals
}
