/**
 * The streams of a client: any number of subscriptions over one line (reconnecting_socket.ts), which is opened by the first and closed
 * with the last.
 *
 * Whatever happens to the socket, what stands here is subscribed to again and begins with a new snapshot. Private channels wait for the
 * session, which authenticates each socket. A session that is over is dropped: private subscriptions are told and stand still until the
 * next sign-in, public ones go on.
 */
import { Backoff, REAL_CLOCK, type Clock } from './clock.ts'
import { StreamError } from './errors.ts'
import {
  ReconnectingSocket, type ReconnectingSocketOptions, type SocketOwner, type SocketStatus, type RawFrame,
} from './reconnecting_socket.ts'
import { signRequest, type Signer } from './signing.ts'
import type { ChannelName, ChannelParams, Handlers, PrivateChannel, Subscription } from './stream_types.ts'
import { keyOf, Listener, saidOf, notify, termsOf, Topic, type AnyHandlers, type Fields } from './topic.ts'

export interface StreamOptions extends ReconnectingSocketOptions {
  /** Most different subscriptions; more are refused here. Default 1024, as many as the service takes. */
  readonly subscriptions?: number
  readonly status?: (status: SocketStatus) => void
  /** The session is over, or was refused: the place to sign in again. Private subscriptions go on by themselves then. */
  readonly sessionEnded?: (error: StreamError) => void
  /** Order entry alone: when its socket ends, every open order of the account is cancelled. Default false. */
  readonly cancelOnDisconnect?: boolean
  /**
   * With `cancelOnDisconnect`: after a crash of the exchange the account may return for so many ms, with its next order over a socket, and
   * its orders stay; 5,000 by default, 60,000 at most, 0: its start cancels at once.
   */
  readonly restartGraceMs?: number
  readonly clock?: Clock
}

/** What signs: the key of the session, and the service's time in Unix ms. */
export interface Session {
  signer(): Signer | null
  now(): number
}

/** The compiler says when one is missing. */
const PRIVATE: { readonly [N in PrivateChannel]: true } = {
  orders: true, balances: true, conditionalOrders: true, twapOrders: true, positions: true, account: true, liquidations: true,
}
/** What is signed to authenticate a socket. */
const TARGET = '/ws'
/** How long a line without subscriptions is kept for the next one, ms. */
const LINGER_MS = 1000
const NO_BYTES = new Uint8Array(0)
/** Complaints about a whole connection that are about its session or account. */
const SESSION_CODES: ReadonlySet<string> = new Set(['SESSION_INVALID', 'AUTH_FAILED', 'SUBSCRIPTION_LIMIT'])

/** Where the WebSocket of the service at `baseUrl` is. */
export const urlOf = (baseUrl: string): string => baseUrl.replace(/^http/, 'ws') + TARGET

export class Streams implements SocketOwner {
  readonly #options: StreamOptions
  readonly #clock: Clock
  readonly #session: Session
  readonly #socket: ReconnectingSocket
  /** By channel and parameters as given. */
  readonly #topics = new Map<string, Topic>()
  /** Those about which something is to be said. */
  readonly #dirty = new Set<Topic>()
  /** By the id of the last message about each. */
  readonly #asked = new Map<number, Topic>()
  /** Topics that stand, by channel and pair. */
  readonly #routes = new Map<string, Set<Topic>>()
  #lastId = 0
  #auth: 'none' | 'asked' | 'done' = 'none'
  /** What this socket was told of its session. */
  #complaint: StreamError | null = null
  #cancelLinger = (): void => undefined
  /** Why there is no session to use, as far as is known. */
  #sessionError: StreamError | null = null

  constructor(url: string, options: StreamOptions, session: Session) {
    this.#options = options
    this.#clock = options.clock ?? REAL_CLOCK
    this.#session = session
    this.#socket = new ReconnectingSocket(url, options, this.#clock, this)
  }

  get status(): SocketStatus {
    return this.#socket.status
  }

  subscribe<N extends ChannelName>(channel: N, params: ChannelParams<N>, handlers: Handlers<N>): Subscription {
    const key = keyOf(channel, params as Fields)
    let topic = this.#topics.get(key)
    const fresh = topic === undefined
    topic ??= new Topic(channel, termsOf(params as Fields), channel in PRIVATE, new Backoff(this.#clock, this.#options))
    const listener = this.#listen(topic, key, handlers as unknown as AnyHandlers)
    if (fresh && this.#topics.size >= (this.#options.subscriptions ?? 1024)) {
      topic.phase = 'suspended'
      queueMicrotask(() => this.#end(topic, new StreamError('SUBSCRIPTION_LIMIT', 'Too many subscriptions')))
      return listener
    }
    this.#topics.set(key, topic)
    const error = topic.isPrivate ? this.#lacking() : null
    if (error === null) this.#start(topic)
    else {
      topic.phase = 'suspended'
      queueMicrotask(() => topic.phase === 'suspended' && listener.refuse(error))
    }
    this.#cancelLinger()
    this.#socket.open()
    return listener
  }

  /** A sign-in gave a new session: private subscriptions use it from now on. */
  signedIn(): void {
    this.#sessionError = null
    // A socket keeps its account, and whose the new session is, is not known here.
    if (this.#auth !== 'none') this.#socket.restart()
    for (const topic of this.#topics.values()) {
      if (topic.phase !== 'suspended') continue
      topic.setStatus('connecting')
      this.#start(topic)
    }
  }

  /** Closes all subscriptions, and the socket. */
  close(): void {
    for (const topic of [...this.#topics.values()]) for (const listener of [...topic.listeners]) listener.close()
    this.#cancelLinger()
    this.#hangUp()
  }

  #hangUp(): void {
    this.#forget()
    this.#socket.close()
  }

  #listen(topic: Topic, key: string, handlers: AnyHandlers): Listener {
    const listener = new Listener(handlers, () => this.#renew(topic), (closed) => {
      if (!topic.listeners.delete(closed)) return
      if (topic.listeners.size === 0) this.#leave(key, topic)
      closed.end()
    })
    topic.listeners.add(listener)
    return listener
  }

  /** Lets the topic be asked for. */
  #start(topic: Topic): void {
    topic.stopPause()
    topic.phase = 'waiting'
    this.#say(topic)
  }

  #lacking(): StreamError | null {
    if (this.#session.signer() === null) return new StreamError('AUTH_REQUIRED', 'Sign in before private channels')
    return this.#sessionError
  }

  #say(topic: Topic): void {
    this.#dirty.add(topic)
    this.#socket.wake()
  }

  /** Nobody listens to it any more. */
  #leave(key: string, topic: Topic): void {
    if (this.#topics.get(key) === topic) this.#topics.delete(key)
    topic.stopPause()
    this.#unroute(topic)
    this.#asked.delete(topic.id)
    if (topic.told) this.#say(topic)
    else this.#dirty.delete(topic)
    if (this.#topics.size > 0) return
    this.#cancelLinger()
    this.#cancelLinger = this.#clock.after(LINGER_MS, () => this.#hangUp())
  }

  /** The service does not have it, and will not. */
  #end(topic: Topic, error: StreamError): void {
    topic.phase = 'suspended'
    topic.told = false
    topic.refuse(error)
    for (const listener of [...topic.listeners]) listener.close()
  }

  /** Asks for a new snapshot, at once when the last one was good for a while. */
  #renew(topic: Topic): void {
    if (topic.phase !== 'standing' || topic.listeners.size === 0) return
    topic.phase = 'waiting'
    topic.interrupt()
    topic.pauseWith(this.#clock.after(topic.backoff.pause(), () => this.#start(topic)))
  }

  next(): object | null {
    for (const topic of this.#dirty) {
      if (!topic.isPrivate || this.#auth === 'done' || topic.listeners.size === 0) return this.#messageOf(topic)
      if (this.#auth === 'none') return this.#authenticate()
    }
    return null
  }

  #messageOf(topic: Topic): object {
    const { channel, params } = topic
    this.#dirty.delete(topic)
    this.#asked.delete(topic.id)
    topic.id = ++this.#lastId
    topic.told = topic.listeners.size > 0
    if (!topic.told) return { type: 'unsubscribe', id: topic.id, channel, params }
    topic.phase = 'asked'
    this.#asked.set(topic.id, topic)
    return { type: 'subscribe', id: topic.id, channel, params }
  }

  #authenticate(): object {
    this.#auth = 'asked'
    const headers = signRequest(this.#session.signer()!, 'GET', TARGET, NO_BYTES, this.#session.now())
    return {
      type: 'auth', publicKey: headers['X-Svc-PublicKey'], timestamp: headers['X-Svc-Timestamp'], signature: headers['X-Svc-Signature'],
    }
  }

  opened(): void {
    for (const topic of this.#topics.values()) if (topic.phase === 'waiting') this.#dirty.add(topic)
  }

  lost(_code: number, reason: string): void {
    const complaint = this.#complaint ?? new StreamError(reason, 'The session was refused')
    this.#forget()
    for (const topic of this.#topics.values()) {
      topic.stopPause()
      topic.told = false
      if (topic.phase === 'suspended') continue
      topic.phase = 'waiting'
      topic.interrupt()
    }
    if (SESSION_CODES.has(complaint.code)) this.#dropSession(complaint)
  }

  /** Nothing of the socket that was there counts any more. */
  #forget(): void {
    this.#auth = 'none'
    this.#complaint = null
    this.#dirty.clear()
    this.#asked.clear()
    this.#routes.clear()
  }

  statusChanged(status: SocketStatus): void {
    notify(this.#options.status, status)
  }

  #dropSession(error: StreamError): void {
    this.#sessionError = error
    for (const topic of this.#topics.values()) {
      if (!topic.isPrivate || topic.phase === 'suspended') continue
      topic.stopPause()
      topic.phase = 'suspended'
      this.#dirty.delete(topic)
      topic.refuse(error)
    }
    notify(this.#options.sessionEnded, error)
  }

  took(frame: RawFrame): void {
    const { type, id, channel, data } = frame
    if (typeof channel === 'string' && isFields(data)) return this.#takeData(channel, frame, data)
    switch (type) {
      case 'authenticated':
        this.#auth = 'done'
        return this.#socket.wake()
      case 'subscribed':
        return this.#stand(this.#asked.get(id as number), frame)
      case 'unsubscribed':
        return this.#takeUnsubscribed(frame)
      case 'error':
        return this.#takeError(frame)
    }
  }

  #stand(topic: Topic | undefined, { params }: RawFrame): void {
    if (topic === undefined || topic.phase !== 'asked' || topic.listeners.size === 0) return
    if (!isFields(params)) throw new TypeError('a confirmation without parameters')
    this.#unroute(topic)
    const route = routeOf(topic.channel, params['tradingPairId'])
    this.#routes.set(route, (this.#routes.get(route) ?? new Set()).add(topic))
    topic.backoff.stands()
    topic.stand(params)
  }

  #unroute(topic: Topic): void {
    const route = routeOf(topic.channel, topic.confirmed?.['tradingPairId'])
    this.#routes.get(route)?.delete(topic)
    if (this.#routes.get(route)?.size === 0) this.#routes.delete(route)
  }

  #takeData(channel: string, frame: RawFrame, data: Fields): void {
    const pair = saidOf(data, 'tradingPairId')
    const routes = new Set([routeOf(channel, pair), routeOf(channel)])
    const found = [...routes].flatMap((route) => [...(this.#routes.get(route) ?? [])])
    for (const topic of found) if (topic.covers(frame['type'], data) && !topic.take(frame)) this.#renew(topic)
  }

  /** The same subscription may stand under two spellings of its parameters, of which one was given up. */
  #takeUnsubscribed({ id, channel, params }: RawFrame): void {
    if (typeof channel !== 'string' || !isFields(params)) return
    for (const topic of this.#topics.values()) {
      if (topic.phase !== 'standing' || keyOf(channel, params) !== keyOf(topic.channel, topic.confirmed!)) continue
      if (id === undefined) this.#end(topic, new StreamError('SUBSCRIPTION_LIMIT', 'Too many subscriptions for too long'))
      else this.#start(topic)
    }
  }

  #takeError({ id, code, message, channel }: RawFrame): void {
    if (typeof code !== 'string' || typeof message !== 'string') throw new TypeError('an error without code or message')
    const error = new StreamError(code, message)
    if (id === undefined) {
      if (!SESSION_CODES.has(code) || channel !== undefined) return
      // The service is about to close. Whatever becomes of that, the next socket comes after a pause.
      this.#complaint = error
      throw error
    }
    const topic = this.#asked.get(id as number)
    if (topic === undefined) return
    // The subscription stands, but without a snapshot it is worth nothing.
    if (code === 'SNAPSHOT_UNAVAILABLE') this.#renew(topic)
    else this.#end(topic, error)
  }
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Frames of one channel and pair, or of no pair in particular. */
const routeOf = (channel: string, pair?: unknown): string => (typeof pair === 'string' ? `${channel} ${pair}` : channel)
