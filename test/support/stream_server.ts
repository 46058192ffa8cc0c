/** A service of streams that does what a test tells it, on the package `ws`; and a clock that the test turns. */
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { AddressInfo, Socket as TcpSocket } from 'node:net'
import type { Clock } from '../../gateway/client/clock.ts'
import { createSigner, type Signer, type SocketType, type StreamError, type StreamOptions } from '../../gateway/client/index.ts'
import { Streams, urlOf } from '../../gateway/client/streams.ts'
import type { Frame } from './sockets.ts'

interface PackageSocket {
  on(event: 'message', listener: (data: Buffer) => void): void
  on(event: 'close', listener: (code: number) => void): void
  on(event: 'error', listener: () => void): void
  send(data: string | Buffer): void
  close(code?: number, reason?: string): void
  readonly _socket: TcpSocket
}
interface PackageServer {
  on(event: 'connection', listener: (socket: PackageSocket, request: { url: string }) => void): void
  once(event: string, listener: () => void): void
  address(): AddressInfo
  close(): void
  readonly clients: Iterable<{ terminate(): void }>
}
const { WebSocketServer, WebSocket } = createRequire(import.meta.url)('ws') as {
  WebSocketServer: new (options: object) => PackageServer
  WebSocket: SocketType
}
/** The WebSocket of the package, for clients that take any. */
export const PackageWebSocket = WebSocket

const LOOKS = 4000

/** Resolves when this holds, which it must within 20 s. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    if (holds()) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`in vain: ${what}`)
}

/** One socket of the service, with what its client said. */
export class ServedSocket {
  readonly messages: Frame[] = []
  readonly path: string
  /** Code of the client's close frame; `null` before. */
  closed: number | null = null
  readonly #socket: PackageSocket

  constructor(socket: PackageSocket, path: string) {
    this.#socket = socket
    this.path = path
    socket.on('message', (data) => this.messages.push(JSON.parse(data.toString()) as Frame))
    socket.on('close', (code) => (this.closed = code))
    socket.on('error', () => undefined)
  }

  /** The messages of a type, when there are so many. */
  async said(type: string, count = 1): Promise<Frame[]> {
    const found = (): Frame[] => this.messages.filter((message) => message['type'] === type)
    await until(`${count} of ${type}`, () => found().length >= count)
    return found()
  }

  send(frame: Frame | string | Buffer): void {
    this.#socket.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame))
  }

  greet(): void {
    this.send({ type: 'connected', connectionId: 'c', heartbeatMs: 60_000 })
  }

  /** Confirms a subscription. */
  confirm({ id, channel, params }: Frame, written = params): void {
    this.send({ type: 'subscribed', id, channel, params: written })
  }

  close(code?: number, reason = ''): void {
    this.#socket.close(code, reason)
  }

  /** Begins a frame and breaks off in it. */
  dropInFrame(): void {
    this.#socket._socket.write(Buffer.from([0x81, 100, 0x7b]))
    this.#socket._socket.destroySoon()
  }
}

export class StreamServer {
  /** Every socket there was, in order. */
  readonly sockets: ServedSocket[] = []
  readonly baseUrl: string
  /** Whether sockets are greeted. */
  greets = true

  private constructor(server: PackageServer) {
    this.baseUrl = `http://127.0.0.1:${server.address().port}`
    server.on('connection', (socket, { url }) => {
      const served = new ServedSocket(socket, url)
      this.sockets.push(served)
      if (this.greets) served.greet()
    })
  }

  static async open(t: { teardown(handler: () => void): void }): Promise<StreamServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server as never, 'listening')
    const streams = new StreamServer(server)
    t.teardown(() => {
      for (const client of server.clients) client.terminate()
      server.close()
    })
    return streams
  }

  /** Socket number `index`, when it is there. */
  async socket(index = 0): Promise<ServedSocket> {
    await until(`socket ${index}`, () => this.sockets.length > index)
    return this.sockets[index]!
  }
}

interface Timer {
  readonly at: number
  readonly ms: number
  readonly act: () => void
}

/** Time that passes when the test says so; chance is always `chance`. */
export class TestClock implements Clock {
  chance = 0.5
  #now = 0
  readonly #timers = new Set<Timer>()

  now(): number {
    return this.#now
  }

  random(): number {
    return this.chance
  }

  after(ms: number, act: () => void): () => void {
    const timer = { at: this.#now + ms, ms, act }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** What was set, in ms from when it was set. */
  get waiting(): number[] {
    return [...this.#timers].map(({ ms }) => ms)
  }

  /** Lets time pass, and what is due happen. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (let rounds = 0; rounds < 100_000; rounds++) {
      const [due] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (due === undefined) break
      this.#timers.delete(due)
      this.#now = Math.max(this.#now, due.at)
      due.act()
    }
    this.#now = end
  }
}

export const PAIR = '11111111-1111-4111-8111-111111111111'
/** The service's time in Unix ms, and the shortest back-off in ms, of every stage. */
export const NOW = 1_700_000_000_000
export const BASE = 100

export interface Stage {
  readonly server: StreamServer
  readonly clock: TestClock
  readonly streams: Streams
  /** The key of the session; a test may change it. */
  readonly session: { signer: Signer | null }
}

type Test = { teardown(handler: () => void): void }

/** Streams of a client with a session, in front of such a service. */
export async function stage(t: Test, options: StreamOptions = {}, baseUrl?: string): Promise<Stage> {
  const server = await StreamServer.open(t)
  const clock = new TestClock()
  const session = { signer: createSigner() as Signer | null }
  const streams = new Streams(urlOf(baseUrl ?? server.baseUrl), { clock, baseMs: BASE, capMs: 10_000, ...options }, {
    signer: () => session.signer, now: () => NOW,
  })
  t.teardown(() => streams.close())
  return { server, clock, streams, session }
}

/** What a subscription told: frames by type and data, statuses and codes of errors, in order. */
export function record(): { told: unknown[]; handlers: object } {
  const told: unknown[] = []
  return {
    told,
    handlers: {
      snapshot: (data: unknown) => told.push(['snapshot', data]),
      update: (data: unknown, { type }: { type: string }) => told.push([type, data]),
      error: ({ code }: StreamError) => told.push(code),
      status: (status: string) => told.push(status),
    },
  }
}

/** Confirms subscription number `count` of a socket. */
export async function confirmed(socket: ServedSocket, count = 1): Promise<Frame> {
  const asked = (await socket.said('subscribe', count))[count - 1]!
  socket.confirm(asked)
  return asked
}

export const update = (channel: string, data: object, more: object = {}): Frame =>
  ({ channel, type: `${channel}_update`, timestamp: '2026-01-01T00:00:00.000Z', data, ...more })
export const snapshot = (channel: string, data: object, more: object = {}): Frame => ({ ...update(channel, data, more), type: 'snapshot' })
