/**
 * One WebSocket: its messages, its session and its subscriptions; what is waiting to leave is in outbox.ts.
 *
 * The session is watched like that of any stream (auth/session_watch.ts). When it ends the socket gets SESSION_INVALID and 1008.
 *
 * With order entry (order_session.ts) an end on this side, whatever it is for, waits for the answers of what the engine has been asked, at
 * most {@link ANSWERS_MS}; meanwhile nothing of a channel is told and nothing is taken.
 */
import type { Watched } from '../auth/session_watch.ts'
import { authenticate } from '../auth/authenticate.ts'
import { findSession, type FoundSession } from '../auth/session_cache.ts'
import type { Caller, SignedRequest } from '../auth/signed_request.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import { ALL_CREDENTIALS } from '../auth/signed_request.ts'
import type { Channel, Subscriber } from './channels/channel.ts'
import type { FanOut } from './fan_out.ts'
import {
  authenticatedFrame, errorFrame, MESSAGE_MAX, MESSAGE_SHAPE, parseMessage, pongFrame, readMessage, subscriptionFrame, type Frame,
  type LaterFrame, type Malformed, type Message, type Params, type RequestId,
} from './frames.ts'
import { CLOSED } from './closed.ts'
import { BYTES_PER_SECOND, MessageBudget } from '../limits/token_bucket.ts'
import type { SignatureShares } from '../stream/signature_shares.ts'
import { ANSWERS_MS } from '../stream/signed_stream.ts'
import type { AccountSockets } from './limits.ts'
import { OrderEntry, type OrderConnection } from './order_session.ts'
import { isOrderType, ORDER_MESSAGE_MAX } from './order_messages.ts'
import { Outbox, type Sending, type Socket } from './outbox.ts'
import { CLOSE, type CloseCode, type ErrorCode } from './protocol.ts'
import type { MessageScheduler } from './message_scheduler.ts'

/** What is signed to authenticate a socket (specification, Legacy request signing): GET, this, timestamp, hash of nothing. */
const TARGET = '/ws'
const NO_BYTES = Buffer.alloc(0)
const ORDER_ENTRY_OFF = 'Order entry is not switched on: the operator starts the exchange with --ws-order-entry 1'
/** How long a connection may have more subscriptions than `wsSubscriptions`, ms. */
export const BURST_MS = 10_000
/** Between two looks for snapshots that could not be read, ms. */
const RETRY_MS = 250

/** What the connections of a thread have in common. */
export interface Context extends Sending<Connection> {
  readonly fanOut: FanOut
  readonly channels: ReadonlyMap<string, Channel>
  readonly accountSockets: AccountSockets
  readonly signatures: SignatureShares
  /** Whether the service stops. */
  readonly stopping: () => boolean
}

interface Subscription {
  readonly channel: Channel
  readonly params: Params
}

export class Connection implements Subscriber, OrderConnection {
  readonly #context: Context
  readonly #socket: Socket
  readonly #budget: MessageBudget
  readonly #scheduler: MessageScheduler | null
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #outbox: Outbox<Connection>
  #session: Watched | null = null
  /** Goes off when there were too many subscriptions for too long. */
  #burst: NodeJS.Timeout | null = null
  /** Subscriptions whose snapshot could not be read, and when they are looked at again. */
  readonly #owed = new Set<Subscription>()
  #retry: NodeJS.Timeout | null = null
  #closed = false
  /** `null`: not switched on. */
  readonly #orders: OrderEntry | null
  #ending = false
  #usedAt: number
  readonly #caller: Caller = { account: -1, application: 0, session: -1, generation: 0, agent: -1 }

  /** `scheduler`: when its messages are served; without one at once. */
  constructor(context: Context, socket: Socket, scheduler: MessageScheduler | null = null) {
    this.#scheduler = scheduler
    const { config } = context.gateway
    this.#usedAt = performance.now()
    this.#context = context
    this.#socket = socket
    this.#outbox = new Outbox(context, socket, this)
    this.#budget = new MessageBudget(config)
    this.#orders = config.wsOrderEntry === 1 ? new OrderEntry(context.gateway, this, context.signatures, scheduler?.client ?? '') : null
    context.gateway.counters[GATEWAY.ws_connections]!++
  }

  get account(): number {
    return this.#caller.account
  }

  get closed(): boolean {
    return this.#closed
  }

  get subscriptions(): number {
    return this.#subscriptions.size
  }

  /** Whether it waits for answers before it closes. */
  get ending(): boolean {
    return this.#ending
  }

  /** When it was last in use as far as anybody looked: with a session, listening, or entering orders. */
  usedAt(now: number): number {
    if (this.#session !== null || this.#subscriptions.size > 0 || this.#ending) this.#usedAt = now
    return this.#usedAt
  }

  push(frame: Frame | LaterFrame): void {
    this.#outbox.push(frame)
  }

  reply(frame: Frame): void {
    this.#outbox.reply(frame)
  }

  replyNow(frame: Uint8Array): void {
    this.#outbox.replyNow(frame)
  }

  /** The client read some of what it was sent. */
  drained(): void {
    this.#outbox.drained()
  }

  /** Sends what is waiting (outbox.ts); true: there is more. */
  flush(): boolean {
    return this.#outbox.flush()
  }

  /** A message came. The bytes are valid during the call only. */
  receive(bytes: ArrayBuffer, binary: boolean): void {
    if (this.#closed) return
    const { byteLength } = bytes
    if (this.#orders?.isFull === true && !binary && !this.#ending && this.#orders.refuseUnread(bytes)) return this.#noteOrder()
    // With order entry a message has to be read before it is known which budgets it draws from.
    const early = this.#orders !== null && byteLength <= ORDER_MESSAGE_MAX ? parseMessage(bytes, binary, this.#orders.shape) : null
    if (early !== null && typeof early !== 'string' && isOrderType(early['type'])) return this.#takeOrder(early, byteLength)
    if (this.#ending || !this.acquire(byteLength)) return
    if (byteLength > MESSAGE_MAX) return this.close(CLOSE.TOO_LARGE, `message over ${MESSAGE_MAX} bytes`)
    const message = readMessage(early ?? parseMessage(bytes, binary, MESSAGE_SHAPE))
    const serve = (): void => this.#context.fanOut.betweenCommands(() => this.#serveSafely(message))
    if (this.#scheduler === null) serve()
    else this.#scheduler.take(this, message, byteLength, serve)
  }

  #noteOrder(): void {
    this.#context.gateway.counters[GATEWAY.ws_messages]!++
    this.#usedAt = performance.now()
  }

  #takeOrder(message: Params, bytes: number): void {
    const { stopping } = this.#context
    this.#noteOrder()
    // While the service stops they are refused; when the connection ends for another reason nothing is taken.
    if (!this.#ending || stopping()) this.#orders!.take(message, bytes, stopping())
  }

  /** Counts a message of this many bytes and draws it from the budgets, or ends the connection. */
  acquire(bytes: number): boolean {
    this.#context.gateway.counters[GATEWAY.ws_messages]!++
    return this.charge(bytes)
  }

  charge(bytes: number): boolean {
    if (this.#budget.take(bytes)) return true
    const { wsMessagesPerSecond, wsMessageBurst } = this.#context.gateway.config
    const most = `${wsMessagesPerSecond} a second, ${wsMessageBurst} at once, ${BYTES_PER_SECOND} bytes a second`
    this.fail('MESSAGE_RATE_LIMIT', `Too many messages: the most are ${most}`)
    return false
  }

  /** What goes wrong with a message is logged and ends this connection, and no other. */
  #serveSafely(message: Message | Malformed): void {
    try {
      this.#serve(message)
    } catch (error) {
      this.#context.gateway.faults.end(error, null)
      this.close(CLOSE.RESYNC, 'internal error')
    }
  }

  #serve(message: Message | Malformed): void {
    if (this.#closed || this.#ending) return
    switch (message.type) {
      case 'ping':
        return this.push(pongFrame(this.#context.gateway.now()))
      case 'auth':
        return this.#authenticate(message)
      case 'malformed':
        return this.push(errorFrame('INVALID_SUBSCRIPTION', message.problem, message.id, message.channel))
      case 'order':
        return this.push(errorFrame('ORDER_ENTRY_DISABLED', ORDER_ENTRY_OFF, message.id))
      default:
        return this.#changeSubscription(message)
    }
  }

  #authenticate({ publicKey, timestamp, signature }: Extract<Message, { type: 'auth' }>): void {
    const { gateway } = this.#context
    const caller: Caller = { ...this.#caller }
    const request: SignedRequest = {
      method: 'GET', target: TARGET, body: NO_BYTES, publicKey, timestamp, signature, credentials: ALL_CREDENTIALS, messageSignature: null,
    }
    const refused = authenticate(gateway.sessions, request, gateway.now(), gateway.counters, caller)
    if (refused?.code === 'SESSION_INVALID') return this.sessionOver()
    if (refused !== null) return this.fail('AUTH_FAILED', `Authentication failed: ${refused.code}: ${refused.message}`)
    const found = this.adopt(caller, publicKey)
    if (found !== null) this.push(authenticatedFrame(Math.floor(found.view.expiresAt / 1000)))
  }

  adopt({ account, application, session, generation, agent }: Caller, publicKey: string): FoundSession | null {
    const { gateway, accountSockets } = this.#context
    const refuse = (code: ErrorCode, message: string): null => {
      this.fail(code, message)
      return null
    }
    const found = findSession(gateway.sessions, publicKey)
    if (typeof found === 'string') return refuse(...SESSION_OVER)
    if (this.account >= 0 && this.account !== account) return refuse('AUTH_FAILED', 'The connection belongs to another account')
    if (this.account < 0 && !accountSockets.take(account)) {
      const { wsConnectionsPerAccount } = gateway.config
      return refuse('SUBSCRIPTION_LIMIT', `Too many authenticated connections of this account: the most are ${wsConnectionsPerAccount}`)
    }
    if (this.account < 0) gateway.counters[GATEWAY.ws_authenticated]!++
    Object.assign(this.#caller, { account, application, session, generation, agent })
    if (this.#session !== null) gateway.watch.remove(this.#session)
    this.#session = { session, generation, end: () => this.sessionOver() }
    gateway.watch.add(this.#session)
    return found
  }

  sessionOver(): void {
    this.fail(...SESSION_OVER)
  }

  #changeSubscription({ type, id, channel: name, params }: Extract<Message, { channel: string }>): void {
    const channel = this.#context.channels.get(name)
    const refuse = (code: ErrorCode, message: string): void => this.push(errorFrame(code, message, id, name))
    if (channel === undefined) return refuse('INVALID_SUBSCRIPTION', 'There is no such channel')
    if (channel.declaration.access === 'private') {
      if (this.#session === null) return refuse('AUTH_REQUIRED', 'Authenticate before private channels')
      if (!this.#isLive(this.#session)) return this.sessionOver()
    }
    const terms = channel.read(params)
    if (typeof terms === 'string') return refuse('INVALID_SUBSCRIPTION', terms)
    const key = `${name} ${JSON.stringify(terms)}`
    if (type === 'subscribe') {
      const refusal = channel.refusal?.(this, terms) ?? null
      return refusal === null ? this.#subscribe(key, { channel, params: terms }, id) : refuse('INVALID_SUBSCRIPTION', refusal)
    }
    if (!this.#subscriptions.has(key)) return refuse('INVALID_SUBSCRIPTION', 'There is no such subscription')
    this.#unsubscribe(key)
    this.push(subscriptionFrame('unsubscribed', id, name, terms))
  }

  /** Between two looks of the watch a session may be over already. */
  #isLive({ session, generation }: Watched): boolean {
    const { state, time } = this.#context.gateway
    const view = readSessionRow(state, session)
    return view !== null && view.generation === generation && view.expiresAt > time()
  }

  #subscribe(key: string, subscription: Subscription, id: RequestId): void {
    const { channel, params } = subscription
    const { name } = channel.declaration
    const { gateway, fanOut } = this.#context
    const { wsSubscriptions, wsSubscriptionBurst } = gateway.config
    if (!this.#subscriptions.has(key)) {
      const most = Math.max(wsSubscriptions, wsSubscriptionBurst)
      if (this.#subscriptions.size >= most) {
        return this.push(errorFrame('SUBSCRIPTION_LIMIT', `Too many subscriptions: the most are ${most}`, id, name))
      }
      this.#subscriptions.set(key, subscription)
      fanOut.count(1)
      if (this.#subscriptions.size > wsSubscriptions) this.#burst ??= setTimeout(() => this.#endBurst(), BURST_MS)
    }
    this.push(subscriptionFrame('subscribed', id, name, params))
    const standing = this.#subscriptions.get(key)!
    this.#owed.delete(standing)
    const waiting = this.#outbox.length
    if (channel.subscribe(this, params)) return this.#pay(this.#outbox.length - waiting)
    this.push(errorFrame('SNAPSHOT_UNAVAILABLE', 'The snapshot cannot be read now; the subscription stands', id, name))
    if (channel.seesToLate === true) return
    this.#owed.add(standing)
    this.#retry ??= setTimeout(() => this.#sendOwed(), RETRY_MS)
  }

  /** A snapshot of many frames takes as long as many messages, and draws as many: one for each frame behind the second. */
  #pay(frames: number): void {
    const most = Math.floor(this.#context.gateway.config.wsMessageBurst / 3)
    if (frames < 3 || this.#budget.takeMessages(Math.min(frames - 2, most))) return
    this.fail('MESSAGE_RATE_LIMIT', 'Too many large snapshots')
  }

  /** Sends the snapshots that can be read by now. */
  #sendOwed(): void {
    this.#context.fanOut.betweenCommands(() => {
      this.#retry = null
      for (const [key, owed] of this.#subscriptions) {
        if (!this.#owed.has(owed)) continue
        const { channel, params } = owed
        // What could not be told when it was asked for.
        const refusal = channel.refusal?.(this, params) ?? null
        if (refusal !== null) this.#end(key, 'INVALID_SUBSCRIPTION', refusal)
        else if (channel.subscribe(this, params)) this.#owed.delete(owed)
      }
      if (this.#owed.size > 0) this.#retry = setTimeout(() => this.#sendOwed(), RETRY_MS)
    })
  }

  /** Ends the newest subscriptions that are too many. */
  #endBurst(): void {
    this.#burst = null
    this.#context.fanOut.betweenCommands(() => {
      const most = this.#context.gateway.config.wsSubscriptions
      for (const key of [...this.#subscriptions.keys()].slice(most).reverse()) {
        this.#end(key, 'SUBSCRIPTION_LIMIT', `More than ${most} subscriptions for too long`)
      }
    })
  }

  /** Ends a subscription, and says why. */
  #end(key: string, code: ErrorCode, message: string): void {
    const { channel, params } = this.#subscriptions.get(key)!
    const { name } = channel.declaration
    this.#unsubscribe(key)
    this.push(errorFrame(code, message, undefined, name))
    this.push(subscriptionFrame('unsubscribed', undefined, name, params))
  }

  #unsubscribe(key: string): void {
    const { channel, params } = this.#subscriptions.get(key)!
    this.#owed.delete(this.#subscriptions.get(key)!)
    this.#subscriptions.delete(key)
    channel.unsubscribe(this, params)
    this.#context.fanOut.count(-1)
  }

  /** Says why, and closes with 1008. */
  fail(code: ErrorCode, message: string): void {
    this.close(CLOSE.POLICY, code, errorFrame(code, message))
  }

  /** Closes. Frames that are waiting leave first, answers that are under way too, for `waitMs` at most, and behind them `last`. */
  close(code: CloseCode, reason: string, last: Frame | null = null, waitMs = ANSWERS_MS): void {
    if (this.#closed || this.#ending) return
    const finish = (): void => {
      if (last !== null) this.push(last)
      this.#finish(code, reason)
    }
    if (this.#orders === null || this.#orders.stream.open === 0 || waitMs === 0) return finish()
    this.#unsubscribeAll()
    this.#ending = true
    this.#orders.stream.whenAnswered(finish, waitMs)
  }

  #finish(code: CloseCode, reason: string): void {
    while (this.flush());
    if (this.#closed) return
    const { counters } = this.#context.gateway
    counters[CLOSED[code]]!++
    this.#socket.end(code, reason)
    this.release()
  }

  #unsubscribeAll(): void {
    for (const key of [...this.#subscriptions.keys()]) this.#unsubscribe(key)
  }

  /** The socket closed or is about to, whoever did it: everything of it is given back. */
  release(): void {
    if (this.#closed) return
    this.#closed = true
    const { gateway, accountSockets, dirty } = this.#context
    this.#unsubscribeAll()
    this.#orders?.release()
    this.#ending = false
    if (this.#session !== null) gateway.watch.remove(this.#session)
    if (this.#burst !== null) clearTimeout(this.#burst)
    if (this.#retry !== null) clearTimeout(this.#retry)
    gateway.counters[GATEWAY.ws_connections]!--
    if (this.account >= 0) {
      accountSockets.give(this.account)
      gateway.counters[GATEWAY.ws_authenticated]!--
    }
    dirty.delete(this)
    this.#outbox.clear()
  }
}

const SESSION_OVER = ['SESSION_INVALID', 'Session expired or revoked'] as const
