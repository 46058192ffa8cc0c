/**
 * Connections of the gRPC port: what one may do to the server beside calls. How many there may be is limits/port.ts, what a call may hold
 * calls.ts.
 *
 * grpc-js bounds messages, streams and age. It has no answer to clients that keep a connection busy without calls, and its way to end a
 * connection leaves the socket open until the client closes it. Here a connection ends
 * - politely after `idleMs` without a call, and at once a moment later;
 * - with ENHANCE_YOUR_CALM when it pings more often than every 10 s while nothing else is sent to it (pings.ts; pings without calls
 *   are allowed), changes its settings all the time, resets more than {@link RESETS_MAX} calls on all connections of its client, or
 *   sends more beside its messages and their headers (window updates, priorities, padding, empty frames) than {@link BESIDE_MAX} and
 *   what its traffic explains, from one look to the next.
 * After a flood the client gets no connection for a while (limits/backoff.ts), so that connecting anew gains nothing.
 * Node ends floods of CONTINUATION and of broken frames by itself.
 */
import { constants, type Http2Server, type Http2Session, type ServerHttp2Session } from 'node:http2'
import { createServer, type Server, type Socket } from 'node:net'
import { listenOn } from '../limits/door.ts'
import type { Backlog } from '../limits/backlog.ts'
import { NOBODY, type ClientAddresses } from '../limits/client_address.ts'
import { networkOf } from '../limits/network.ts'
import { readProxyHeader } from '../limits/proxy_header.ts'
import { type Shares } from '../limits/shares.ts'
import { lookMs, type ConnectionPort } from '../limits/port.ts'
import { Room } from './message_reader.ts'
import { Outgoing } from './outgoing.ts'
import { Pings } from './pings.ts'

/** Changes of settings a client may make on one connection. */
const SETTINGS_MAX = 32
/** Time between two looks, ms. */
const LOOK_MS = 250
/** Calls a client may reset on all its connections between two looks; a connection whose calls all miss a deadline resets 100 at once. */
const RESETS_MAX = 200
/** Bytes beside messages, their headers and what belongs to them. */
const BESIDE_MAX = 64 * 1024
/** What belongs to a call beside its headers and messages: frames, window updates. */
const CALL_BYTES = 512
/** Of what is written to a client, the part it may write back to acknowledge it. */
const ACKNOWLEDGED = 8

/** Reasons of ends after which the client gets no connection for a while. */
const FLOODS: ReadonlySet<string> = new Set(['too_many_resets', 'too_many_frames', 'too_many_settings'])

/** Listens for connections that `port` admits, and hands them to `inject`. */
export class Listener {
  readonly server: Server
  readonly #sockets = new Map<string, Socket>()
  /** Addresses of clients whose connections proxies handed on, by the proxy's end. */
  readonly #sources = new Map<string, string>()

  constructor(port: ConnectionPort, addresses: ClientAddresses, inject: (socket: Socket) => void) {
    this.server = createServer({ noDelay: true }, (socket) => {
      if (!port.admit(socket)) return
      const place = placeOf(socket)
      this.#sockets.set(place, socket)
      socket.once('close', () => {
        this.#sockets.delete(place)
        this.#sources.delete(place)
      })
      if (!addresses.trusts(socket.remoteAddress ?? '')) return inject(socket)
      readProxyHeader(socket, (beginning) => {
        if (beginning === 'bad') return void socket.destroy()
        if (beginning !== 'none' && beginning.source !== null) {
          if (!port.moveTo(socket, beginning.source)) return
          this.#sources.set(place, beginning.source)
        }
        inject(socket)
      })
    })
  }

  /**
   * Address at the other end of this connection, or that of the client whose connection a trusted proxy handed on. Whether a connection
   * that is over was handed on is not known any more.
   */
  addressOf(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
    const place = placeOf(socket)
    return this.#sources.get(place) ?? (this.#sockets.has(place) ? socket.remoteAddress! : NOBODY)
  }

  /** The accepted socket under this one, which may be a wrapper; `undefined` when it is gone. */
  find(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): Socket | undefined {
    return this.#sockets.get(placeOf(socket))
  }

  /** Listens and returns the port; rejects when it is taken. */
  listen(host: string, port: number): Promise<number> {
    return listenOn(this.server, host, port)
  }
}

const placeOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string => `${remoteAddress} ${remotePort}`

/** What connections may hold. */
export interface Memory {
  /** Bytes of requests, of all connections. */
  readonly requests: Shares
  /** The same of one, bytes. */
  readonly most: number
  readonly answers: Backlog
}

/** What a connection asks of all of them. */
interface Owner {
  expel(connection: Connection, reason: string): void
  /** Counts a call that this client reset: how many since the last look. */
  resets(client: string): number
}

/** One connection with what is counted of it. */
export class Connection {
  readonly session: ServerHttp2Session
  /** As accepted; gone when `undefined`. */
  readonly socket: Socket | undefined
  readonly room: Room
  readonly outgoing: Outgoing
  /** Calls that are open. */
  calls = 0
  /** Since when there are none, ms of performance.now(). */
  idleSince = performance.now()
  /** Bytes of messages that came, ever; those that nobody read yet are among them. */
  received = 0
  /** Since the last look. */
  #expected = 0
  #read = 0
  #written = 0
  #received = 0
  readonly #pings = new Pings()
  #settings = 0
  /** Of whom it is (limits/network.ts). */
  readonly client: string
  readonly #owner: Owner

  constructor(session: ServerHttp2Session, socket: Socket | undefined, client: string, memory: Memory, owner: Owner) {
    this.session = session
    this.socket = socket
    this.room = new Room(memory.requests, client, memory.most)
    this.outgoing = new Outgoing(client, memory.answers, () => owner.expel(this, 'answers_not_taken'))
    this.client = client
    this.#owner = owner
    session.on('ping', () => this.#pinged())
    session.on('remoteSettings', () => {
      if (++this.#settings > SETTINGS_MAX) owner.expel(this, 'too_many_settings')
    })
  }

  /** A call with headers of this size began. */
  opened(headerBytes: number): void {
    this.calls++
    this.#expected += headerBytes + CALL_BYTES
  }

  /** A call ended; `reset`: by its client. */
  closed(reset: boolean): void {
    this.calls--
    if (this.calls === 0) this.idleSince = performance.now()
    if (reset && this.#owner.resets(this.client) > RESETS_MAX) this.#owner.expel(this, 'too_many_resets')
  }

  /** Looks at what came since the last time. */
  endAbusive(): void {
    if (this.socket === undefined) return
    const { bytesRead, bytesWritten } = this.socket
    const messages = this.received - this.#received
    const beside = bytesRead - this.#read - messages
    const explained = this.#expected + messages + (bytesWritten - this.#written) / ACKNOWLEDGED
    if (beside > BESIDE_MAX + explained) this.#owner.expel(this, 'too_many_frames')
    this.#received = this.received
    this.#read = bytesRead
    this.#written = bytesWritten
    this.#expected = 0
  }

  #pinged(): void {
    if (this.#pings.isTooMany(performance.now(), this.session.socket.bytesWritten)) this.#owner.expel(this, 'too_many_pings')
  }
}

/** The connections of an HTTP/2 server. */
export class Connections {
  readonly #all = new Map<Http2Session, Connection>()
  readonly #port: ConnectionPort
  readonly #idleMs: number
  readonly #timers: readonly NodeJS.Timeout[]
  /** Calls that clients reset since the last look. */
  readonly #resets = new Map<string, number>()

  constructor(server: Http2Server, port: ConnectionPort, listener: Pick<Listener, 'find' | 'addressOf'>, idleMs: number, memory: Memory) {
    this.#port = port
    this.#idleMs = idleMs
    const owner: Owner = {
      expel: (each, why) => this.#expel(each, why),
      resets: (client) => {
        const count = (this.#resets.get(client) ?? 0) + 1
        this.#resets.set(client, count)
        return count
      },
    }
    server.on('session', (session) => {
      const client = networkOf(listener.addressOf(session.socket))
      const connection = new Connection(session, listener.find(session.socket), client, memory, owner)
      this.#all.set(session, connection)
      session.once('close', () => {
        this.#all.delete(session)
        connection.outgoing.end()
      })
    })
    this.#timers = [
      setInterval(() => this.#look(), lookMs(idleMs)),
      setInterval(() => {
        for (const connection of this.#all.values()) connection.endAbusive()
        this.#resets.clear()
      }, LOOK_MS),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  of(session: Http2Session | undefined): Connection | undefined {
    return session === undefined ? undefined : this.#all.get(session)
  }

  /** The first request of this connection came. */
  asked({ socket }: Connection): void {
    if (socket !== undefined) this.#port.asked(socket)
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** Ends connections without calls, and sees to it that those which are ending are gone soon. */
  #look(): void {
    const late = performance.now() - this.#idleMs
    for (const connection of this.#all.values()) {
      const { session, socket, calls, idleSince } = connection
      if (calls > 0) continue
      if (session.closed || session.destroyed) this.#leave(connection)
      else if (idleSince <= late) {
        session.goaway(constants.NGHTTP2_NO_ERROR)
        this.#leave(connection)
        if (socket !== undefined) this.#port.end(socket, 'idle')
        session.close()
      }
    }
  }

  /** It is not looked at any more. */
  #leave({ session, socket }: Connection): void {
    this.#all.delete(session)
    if (socket !== undefined) this.#port.finish(socket)
  }

  #expel(connection: Connection, reason: string): void {
    const { session, socket } = connection
    if (session.destroyed) return
    this.#leave(connection)
    if (socket !== undefined) this.#port.end(socket, 'flood', FLOODS.has(reason))
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from(reason))
    // Later, so that the frame leaves.
    setImmediate(() => session.destroy())
  }
}
