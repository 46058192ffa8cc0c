/**
 * One subscription of the service and everybody here who listens to it.
 *
 * A topic is `waiting` until its message leaves, `asked` until the service confirms it, and then `standing`: only then its frames count.
 * One that wants a session that is over is `suspended`. All listeners of a topic get the same snapshots.
 */
import type { Backoff } from './clock.ts'
import { gapDetectionOf, GAP, type GapDetection } from './gap_detection.ts'
import type { StreamError } from './errors.ts'
import type { RawFrame } from './reconnecting_socket.ts'
import type { Subscription, SubscriptionStatus } from './stream_types.ts'

export type Fields = Readonly<Record<string, unknown>>
export type Phase = 'waiting' | 'asked' | 'standing' | 'suspended'

/** Handlers of any channel. */
export interface AnyHandlers {
  readonly snapshot?: (data: unknown, frame: RawFrame) => void
  readonly update?: (data: unknown, frame: RawFrame) => void
  readonly error?: (error: StreamError) => void
  readonly status?: (status: SubscriptionStatus) => void
}

/** Runs code of the application. What it throws is its own: it comes up as an uncaught error and stops nothing here. */
export function notify<A extends unknown[]>(handler: ((...values: A) => void) | undefined, ...values: A): void {
  try {
    handler?.(...values)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

/** Parameters without those that are absent, in one order. */
export function termsOf(params: Fields): Fields {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(given.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export const keyOf = (channel: string, params: Fields): string => `${channel} ${JSON.stringify(termsOf(params))}`

/** Parameters that narrow a channel which has a snapshot of everything too. */
const SCOPES = ['tradingPairId', 'marginAccountId'] as const

export class Topic {
  readonly channel: string
  readonly params: Fields
  readonly isPrivate: boolean
  readonly listeners = new Set<Listener>()
  readonly backoff: Backoff
  phase: Phase = 'waiting'
  /** The service was told of it, on this socket. */
  told = false
  /** Id of the last message about it. */
  id = 0
  /** Parameters as the service writes them; `null` before it confirmed. */
  confirmed: Fields | null = null
  #cancelPause = (): void => undefined
  #gaps: GapDetection

  constructor(channel: string, params: Fields, isPrivate: boolean, backoff: Backoff) {
    this.channel = channel
    this.params = params
    this.isPrivate = isPrivate
    this.backoff = backoff
    this.#gaps = gapDetectionOf(channel)
  }

  /** Tries again after a while. */
  pauseWith(cancel: () => void): void {
    this.#cancelPause = cancel
  }

  stopPause(): void {
    this.#cancelPause()
    this.#cancelPause = () => undefined
  }

  /** The service confirmed it: a snapshot follows. */
  stand(params: Fields): void {
    this.phase = 'standing'
    this.confirmed = params
    this.#gaps = gapDetectionOf(this.channel)
    for (const listener of [...this.listeners]) listener.confirm()
  }

  /** Hands a frame on. False: something is missing before it. */
  take(frame: RawFrame): boolean {
    const whole = this.#gaps.take(frame)
    if (whole === GAP) return false
    if (whole !== null) for (const listener of [...this.listeners]) listener.hear(whole)
    return true
  }

  /**
   * Whether a frame with this data is told to this topic. A snapshot says whose it is; an update is told to everybody whose parameters it
   * has, as far as it says them.
   */
  covers(type: unknown, data: Fields): boolean {
    const { confirmed } = this
    if (this.phase !== 'standing' || confirmed === null) return false
    const names = Object.keys(confirmed)
    if (type === 'snapshot') return [...SCOPES, ...names].every((name) => data[name] === confirmed[name])
    return names.every((name) => (saidOf(data, name) ?? confirmed[name]) === confirmed[name])
  }

  setStatus(status: SubscriptionStatus): void {
    for (const listener of [...this.listeners]) listener.setStatus(status)
  }

  /** It goes on without being complete, unless it never was. */
  interrupt(): void {
    for (const listener of [...this.listeners]) if (listener.status === 'open') listener.setStatus('reconnecting')
  }

  refuse(error: StreamError): void {
    for (const listener of [...this.listeners]) listener.refuse(error)
  }
}

/** What a frame says of a parameter: itself, or the first record of its list. */
export function saidOf(data: Fields, name: string): unknown {
  if (data[name] !== undefined) return data[name]
  const list = Object.values(data).find((value) => Array.isArray(value)) as Fields[] | undefined
  return list?.[0]?.[name]
}

/** One call of `subscribe`. */
export class Listener implements Subscription {
  readonly ready: Promise<void>
  readonly #handlers: AnyHandlers
  readonly #renew: () => void
  readonly #close: (listener: Listener) => void
  #status: SubscriptionStatus = 'connecting'
  #isReady = (): void => undefined
  #isNot = (_: unknown): void => undefined

  constructor(handlers: AnyHandlers, renew: () => void, close: (listener: Listener) => void) {
    this.#handlers = handlers
    this.#renew = renew
    this.#close = close
    this.ready = new Promise((resolve, reject) => {
      this.#isReady = resolve
      this.#isNot = reject
    })
    // Whoever does not wait for it has the handler `error`.
    this.ready.catch(() => undefined)
  }

  get status(): SubscriptionStatus {
    return this.#status
  }

  renew(): void {
    this.#renew()
  }

  close(): void {
    this.#close(this)
  }

  confirm(): void {
    this.#isReady()
    this.setStatus('open')
  }

  hear(frame: RawFrame): void {
    const { snapshot, update } = this.#handlers
    notify(frame['type'] === 'snapshot' ? snapshot : update, frame['data'], frame)
  }

  refuse(error: StreamError): void {
    this.#isNot(error)
    notify(this.#handlers.error, error)
    this.setStatus('closed')
  }

  setStatus(status: SubscriptionStatus): void {
    if (status === this.#status) return
    this.#status = status
    notify(this.#handlers.status, status)
  }

  /** It was closed here. */
  end(): void {
    this.#isNot(new Error('the subscription was closed'))
    this.setStatus('closed')
  }
}
