/**
 * Orders over a socket: the calls of REST that market makers make often, without a signature for each. One signed message opens a session
 * on the socket, and a counter that grows continues it; so the way to the service must be trusted: TLS, or the same machine. The operator
 * switches it on.
 *
 * Calls are sent in the order they are made and answered under their id, with the errors of REST. When the socket is lost, every call that
 * was not answered fails with {@link NetworkError}. Its `outcome` is `not-applied` for a call that was never given to a socket, and
 * `unknown` for one that was: it may have happened, and an idempotency key is the way to ask. Nothing is sent twice by itself. The next
 * socket comes as for streams (reconnecting_socket.ts).
 *
 * Bounds: {@link IN_FLIGHT} calls are not answered at the service, {@link WAITING_MAX} more wait here; others are
 * OVERLOADED. A body of more than {@link BODY_MAX} bytes is BODY_TOO_LARGE here: the service closes the socket for it,
 * and everything else under way would be unknown.
 */
import type { OperationTypes } from '../operations/index.ts'
import type { ORDER_ACTIONS } from '../ws/order_messages.ts'
import { REAL_CLOCK, type Clock } from './clock.ts'
import { NetworkError, RingbookError, type Envelope, type Outcome } from './errors.ts'
import { ReconnectingSocket, type SocketOwner, type SocketStatus, type RawFrame } from './reconnecting_socket.ts'
import { signRequest } from './signing.ts'
import type { Session, StreamOptions } from './streams.ts'

type Actions = typeof ORDER_ACTIONS
export type OrderOperation = Actions[keyof Actions]
type TypeOf<N extends OrderOperation> = { [T in keyof Actions]: Actions[T] extends N ? T : never }[keyof Actions]

/** The messages of the operations. */
const TYPES: { readonly [N in OrderOperation]: TypeOf<N> } = {
  CreateOrder: 'order.create', CancelOrder: 'order.cancel', ReplaceOrder: 'order.replace', BatchCreateOrders: 'order.batch',
  BatchReplaceOrders: 'order.batch_replace', BatchCancelOrders: 'order.batch_cancel', BatchCancelAllOrders: 'order.cancel_all',
  BatchCancelOrdersByPair: 'order.cancel_by_pair',
}

type Input<N extends OrderOperation> = OperationTypes[N]['input']
type Arguments<N extends OrderOperation> = {} extends Input<N> ? [input?: Input<N>] : [input: Input<N>]

/** Order entry of a client: the operations by name. */
export type Orders = { readonly [N in OrderOperation]: (...rest: Arguments<N>) => Promise<OperationTypes[N]['output']> } & {
  readonly status: SocketStatus
  /** Closes the socket; calls that are not answered fail. The next call opens another one. */
  close(): void
}

const SESSION_OPEN = 'session.open'
const IN_FLIGHT = 256
const WAITING_MAX = 4096
/** A session begins with one of so many counters; far below 2^53, where they end. */
const COUNTERS = 2 ** 40
/** Order messages have rate classes of their own; the pace of streams is not theirs. */
const UNPACED = 1e9

/** Bytes of a body: what a message may have, less what stands around it. */
export const BODY_MAX = 64 * 1024 - 256

/** Length of a body as it is sent. Throws TypeError for what JSON cannot say, before it is in the way of others. */
function bytesOf(body: object): number {
  const text = JSON.stringify(body)
  return text.length * 3 <= BODY_MAX ? text.length : new TextEncoder().encode(text).length
}

interface Call {
  readonly type: string
  readonly body: object
  readonly resolve: (data: unknown) => void
  readonly reject: (error: Error) => void
  readonly stopTimer: () => void
}

/** HTTP status that a refusal of the whole socket would have over REST. */
const STATUSES: Readonly<Record<string, number>> = {
  ORDER_ENTRY_DISABLED: 403, AUTH_FAILED: 401, SESSION_INVALID: 401, MESSAGE_RATE_LIMIT: 429,
}

/** Nothing was sent before the session opened, so nothing was applied. */
const refusalOf = (code: string, message: string): RingbookError =>
  new RingbookError({ error: code, code, message, statusCode: STATUSES[code] ?? 400 }, 'not-applied')

export class OrderEntry implements SocketOwner {
  readonly #clock: Clock
  readonly #session: Session
  readonly #timeoutMs: number
  readonly #wish: object
  readonly #socket: ReconnectingSocket
  /** Calls that were not sent, in order, and those that were, by id. */
  readonly #waiting = new Set<Call>()
  readonly #sent = new Map<number, Call>()
  #lastId = 0
  #counter = 0
  #opening: 'none' | 'asked' | 'open' = 'none'

  /** `timeoutMs`: longest time of a call. */
  constructor(url: string, options: StreamOptions, session: Session, timeoutMs: number) {
    this.#clock = options.clock ?? REAL_CLOCK
    this.#session = session
    this.#timeoutMs = timeoutMs
    const { cancelOnDisconnect, restartGraceMs } = options
    this.#wish = cancelOnDisconnect !== true ? {} : { cancelOnDisconnect, ...(restartGraceMs === undefined ? {} : { restartGraceMs }) }
    this.#socket = new ReconnectingSocket(url, { ...options, messagesPerSecond: UNPACED, messageBurst: UNPACED }, this.#clock, this)
  }

  get status(): SocketStatus {
    return this.#socket.status
  }

  async call(name: OrderOperation, body: object = {}): Promise<unknown> {
    if (this.#session.signer() === null) throw new Error('sign in first')
    if (bytesOf(body) > BODY_MAX) {
      const message = 'Too large for a socket: split the batch, or use REST'
      throw new RingbookError({ error: 'VALIDATION_ERROR', code: 'BODY_TOO_LARGE', message, statusCode: 413 })
    }
    if (this.#waiting.size >= WAITING_MAX) {
      throw new RingbookError({ error: 'UNAVAILABLE', code: 'OVERLOADED', message: 'Too many calls are waiting', statusCode: 503 })
    }
    return new Promise((resolve, reject) => {
      const late = (): void => {
        const outcome = this.#waiting.delete(call) ? 'not-applied' : 'unknown'
        for (const [id, each] of this.#sent) if (each === call) this.#sent.delete(id)
        reject(new NetworkError(`${name}: no answer`, new DOMException('too late', 'TimeoutError'), outcome))
      }
      const call: Call = { type: TYPES[name], body, resolve, reject, stopTimer: this.#clock.after(this.#timeoutMs, late) }
      this.#waiting.add(call)
      this.#socket.open()
      this.#socket.wake()
    })
  }

  /** A new session may be of another account: what comes is for that one. */
  signedIn(): void {
    this.#socket.restart()
  }

  close(): void {
    this.#socket.close()
    this.#failAll((call, outcome) => new NetworkError(`${call.type}: the socket was closed`, undefined, outcome))
  }

  next(): object | null {
    if (this.#opening === 'none') return this.#openSession()
    if (this.#opening === 'asked' || this.#sent.size >= IN_FLIGHT) return null
    for (const call of this.#waiting) {
      this.#waiting.delete(call)
      this.#sent.set(++this.#lastId, call)
      return { type: call.type, id: this.#lastId, counter: ++this.#counter, body: call.body }
    }
    return null
  }

  #openSession(): object {
    this.#opening = 'asked'
    const body = JSON.stringify({ counter: this.#counter, ...this.#wish })
    const bytes = new TextEncoder().encode(body)
    const headers = signRequest(this.#session.signer()!, 'WS', SESSION_OPEN, bytes, this.#session.now())
    return {
      type: SESSION_OPEN, id: ++this.#lastId, body, publicKey: headers['X-Svc-PublicKey'],
      timestamp: headers['X-Svc-Timestamp'], signature: headers['X-Svc-Signature'],
    }
  }

  opened(): void {
    this.#opening = 'none'
    // One signature opens one session, and a signature is of the millisecond: with a counter of its own no other client
    // of the same key, opening at the same time, has the same one.
    this.#counter = Math.floor(this.#clock.random() * COUNTERS)
  }

  took({ type, id, status, data, error, code, message }: RawFrame): void {
    const isOpening = this.#opening === 'asked' && id === this.#lastId
    if (type === 'error' && isOpening) return this.#refuse(refusalOf(String(code), String(message)))
    if (type !== 'result') return
    const failure = status === 200 ? null : new RingbookError(error as Envelope, isOpening ? 'not-applied' : undefined)
    if (isOpening) {
      if (failure !== null) return this.#refuse(failure)
      this.#opening = 'open'
      return this.#socket.wake()
    }
    const call = this.#sent.get(id as number)
    if (call === undefined) return
    this.#sent.delete(id as number)
    call.stopTimer()
    if (failure === null) call.resolve(data)
    else call.reject(failure)
    this.#socket.wake()
  }

  /** No session is to be had: who waits is told, and the next call tries again. Nothing has left: the session comes first. */
  #refuse(error: Error): void {
    this.#socket.close()
    this.#failAll(() => error)
  }

  lost(code: number, reason: string): void {
    const words = reason === '' ? code : reason
    this.#failAll((call, outcome) => new NetworkError(`${call.type}: the socket was lost (${words})`, undefined, outcome))
  }

  statusChanged(): void {
    // Whoever wants to know asks.
  }

  #failAll(errorOf: (call: Call, outcome: Outcome) => Error): void {
    const sent = [...this.#sent.values()]
    const waiting = [...this.#waiting]
    this.#sent.clear()
    this.#waiting.clear()
    const fail = (calls: Call[], outcome: Outcome): void => {
      for (const call of calls) {
        call.stopTimer()
        call.reject(errorOf(call, outcome))
      }
    }
    fail(sent, 'unknown')
    fail(waiting, 'not-applied')
  }
}

/** The operations of `entry` by name. */
export function ordersOf(entry: () => OrderEntry, close: () => void): Orders {
  const orders = { close }
  for (const name of Object.keys(TYPES) as OrderOperation[]) {
    Object.defineProperty(orders, name, { value: async (input?: object) => entry().call(name, input) })
  }
  Object.defineProperty(orders, 'status', { get: () => entry().status })
  return orders as Orders
}
