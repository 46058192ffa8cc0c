/**
 * A line to `/ws` that is there as long as it is wanted: opens the socket, watches it, and opens another one after a close that was not
 * ours. What is to be said is not stored here: whenever a message may leave, the line asks its owner for one, so that nothing old is sent
 * and nothing piles up.
 *
 * Messages leave at the pace the service allows. A browser cannot ping, so a message does when nothing came for a while; a socket that does
 * not answer, or says what is no frame, is given up. (Specification, Limits; close codes: the README of the gateway.)
 */
import { Backoff, type BackoffOptions, type Clock } from './clock.ts'

/** What is used of a WebSocket: that of browsers and of Node 22, and that of the package `ws`. */
export interface SocketLike {
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  onerror: ((event: unknown) => void) | null
  send(text: string): void
  close(): void
}
export type SocketType = new (url: string) => SocketLike

export type SocketStatus = 'connecting' | 'open' | 'reconnecting' | 'closed'

export interface ReconnectingSocketOptions extends BackoffOptions {
  /** Default: the WebSocket of the platform. */
  readonly WebSocket?: SocketType
  /** Messages a second, and at once: below the 20 and 300 of the service, because messages may arrive closer than they left. */
  readonly messagesPerSecond?: number
  readonly messageBurst?: number
  /** Longest silence before a ping in ms. Default 15,000. */
  readonly pingMs?: number
  /** Longest time to connect, and to answer a ping, in ms. Default 10,000. */
  readonly answerMs?: number
}

/** A frame as it came; nothing of it is checked but that it is an object. */
export type RawFrame = Readonly<Record<string, unknown>>

export interface SocketOwner {
  /** The next message, if there is one; asked for whenever one may leave. */
  next(): object | null
  /** The socket is open and knows nothing yet. */
  opened(): void
  /** A frame came. What it throws gives the socket up. */
  took(frame: RawFrame): void
  /** The socket is gone; `reason` is the service's word for it, when it gave one. */
  lost(code: number, reason: string): void
  statusChanged(status: SocketStatus): void
}

/** Codes of the service's closes, and how often the pause has doubled for them at least. */
const RESYNC = 1013
const GOING_AWAY = 1001
const NO_CLOSE_FRAME = 1006
const LEAST_OTHER = 1
const LEAST_GOING_AWAY = 2
const LEAST_RATE_LIMIT = 4

function leastOf(code: number, reason: string): number {
  if (code === RESYNC) return 0
  if (reason === 'MESSAGE_RATE_LIMIT') return LEAST_RATE_LIMIT
  return code === GOING_AWAY ? LEAST_GOING_AWAY : LEAST_OTHER
}

export class ReconnectingSocket {
  readonly #url: string
  readonly #options: Required<Omit<ReconnectingSocketOptions, keyof BackoffOptions | 'WebSocket'>>
  readonly #socketType: SocketType
  readonly #clock: Clock
  readonly #owner: SocketOwner
  readonly #backoff: Backoff
  #status: SocketStatus = 'closed'
  #socket: SocketLike | null = null
  /** Messages that may leave now, as of `#pacedAt`. */
  #allowance = 0
  #pacedAt = 0
  #heardAt = 0
  /** A ping is to be sent; and one was, or is about to be, and nothing came since. */
  #pingDue = false
  #pinging = false
  /** What the service complained of last, of the whole connection. */
  #complaint = ''
  /** Prevents what is to come: the next try or the watch, and the next message. */
  #cancelTimer = nothing
  #cancelPace: (() => void) | null = null

  constructor(url: string, options: ReconnectingSocketOptions, clock: Clock, owner: SocketOwner) {
    const { WebSocket = globalThis.WebSocket as unknown as SocketType | undefined } = options
    if (WebSocket === undefined) throw new Error('streams need a WebSocket: the option streams.WebSocket')
    this.#url = url
    this.#options = { messagesPerSecond: 18, messageBurst: 240, pingMs: 15_000, answerMs: 10_000, ...options }
    this.#socketType = WebSocket
    this.#clock = clock
    this.#owner = owner
    this.#backoff = new Backoff(clock, options)
  }

  get status(): SocketStatus {
    return this.#status
  }

  /** Opens it, if it is closed. */
  open(): void {
    if (this.#status !== 'closed') return
    this.#setStatus('connecting')
    this.#connect()
  }

  /** Closes it for good, or until it is opened again. */
  close(): void {
    if (this.#status === 'closed') return
    this.#drop()
    this.#setStatus('closed')
  }

  /** Closes the socket and opens another one at once. */
  restart(): void {
    if (this.#status !== 'open') return
    this.#drop()
    this.#setStatus('reconnecting')
    this.#owner.lost(NO_CLOSE_FRAME, '')
    if (this.status === 'reconnecting') this.#connect()
  }

  /** There is something to say: sends what may leave now, and the rest in time. */
  wake(): void {
    if (this.#status !== 'open' || this.#cancelPace !== null) return
    const { messagesPerSecond, messageBurst } = this.#options
    const now = this.#clock.now()
    this.#allowance = Math.min(messageBurst, this.#allowance + ((now - this.#pacedAt) / 1000) * messagesPerSecond)
    this.#pacedAt = now
    for (; this.#allowance >= 1; this.#allowance--) {
      const message = this.#nextMessage()
      if (message === null) return
      this.#socket!.send(JSON.stringify(message))
    }
    this.#cancelPace = this.#clock.after(Math.ceil(((1 - this.#allowance) / messagesPerSecond) * 1000), () => {
      this.#cancelPace = null
      this.wake()
    })
  }

  #nextMessage(): object | null {
    if (!this.#pingDue) return this.#owner.next()
    this.#pingDue = false
    return { type: 'ping' }
  }

  #connect(): void {
    this.#complaint = ''
    let socket: SocketLike
    try {
      socket = new this.#socketType(this.#url)
    } catch {
      return this.#fail(NO_CLOSE_FRAME, '')
    }
    this.#socket = socket
    // Node's gives no close when it could not connect.
    socket.onerror = () => this.#fail(NO_CLOSE_FRAME, '')
    socket.onmessage = ({ data }) => this.#receive(data)
    socket.onclose = ({ code, reason }) => this.#fail(code, reason)
    this.#cancelTimer = this.#clock.after(this.#options.answerMs, () => this.#fail(NO_CLOSE_FRAME, ''))
  }

  #receive(data: unknown): void {
    this.#heardAt = this.#clock.now()
    this.#pinging = false
    const frame = readFrame(data)
    if (frame === null) return this.#fail(NO_CLOSE_FRAME, '')
    if (this.#status !== 'open') {
      if (frame['type'] === 'connected') this.#begin()
      return
    }
    const { type, id, channel, code } = frame
    if (type === 'error' && id === undefined && channel === undefined) this.#complaint = String(code)
    try {
      this.#owner.took(frame)
    } catch {
      this.#fail(NO_CLOSE_FRAME, '')
    }
  }

  #begin(): void {
    this.#cancelTimer()
    this.#backoff.stands()
    this.#allowance = this.#options.messageBurst
    this.#pacedAt = this.#clock.now()
    this.#watch(this.#options.pingMs)
    this.#setStatus('open')
    this.#owner.opened()
    this.wake()
  }

  /** Looks again after `ms` whether something came. */
  #watch(ms: number): void {
    this.#cancelTimer = this.#clock.after(ms, () => {
      const { pingMs, answerMs } = this.#options
      const silence = this.#clock.now() - this.#heardAt
      if (this.#pinging) return this.#fail(NO_CLOSE_FRAME, '')
      if (silence < pingMs) return this.#watch(pingMs - silence)
      this.#pinging = true
      this.#pingDue = true
      this.wake()
      this.#watch(answerMs)
    })
  }

  /** The socket is gone, or given up. */
  #fail(code: number, reason: string): void {
    const word = reason === '' ? this.#complaint : reason
    this.#drop()
    const pause = this.#backoff.pause(leastOf(code, word))
    this.#cancelTimer = this.#clock.after(pause, () => this.#connect())
    if (this.#status === 'open') this.#setStatus('reconnecting')
    this.#owner.lost(code, word)
  }

  /** Lets go of the socket and of everything that was to come. */
  #drop(): void {
    this.#cancelTimer()
    this.#cancelPace?.()
    this.#cancelPace = null
    this.#pinging = false
    this.#pingDue = false
    const socket = this.#socket
    this.#socket = null
    if (socket === null) return
    socket.onmessage = null
    socket.onclose = null
    // The package `ws` throws what nobody listens to.
    socket.onerror = nothing
    socket.close()
  }

  #setStatus(status: SocketStatus): void {
    this.#status = status
    this.#owner.statusChanged(status)
  }
}

const nothing = (): void => undefined

/** One frame, or `null` when this is none. */
function readFrame(data: unknown): RawFrame | null {
  if (typeof data !== 'string') return null
  try {
    const json: unknown = JSON.parse(data)
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as RawFrame) : null
  } catch {
    return null
  }
}
