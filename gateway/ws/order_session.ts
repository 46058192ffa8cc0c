/**
 * Order entry on one WebSocket (order_messages.ts says what goes over it): each message is one request, which is authenticated, checked,
 * admitted and run like one over REST, and answered under its id. Orders enter the engine in the order they were sent.
 *
 * A refused signature is the message's own answer. What breaks the rules of the session (no session, a counter that did not grow) ends the
 * connection with AUTH_FAILED, so that nothing behind it is done. A signature of `session.open` opens one session, over all threads and
 * transports (auth/replay_guard.ts); a second one replaces the first. The session is watched, and looked up for every message: when it is
 * over nothing more is taken, and the connection ends with SESSION_INVALID.
 *
 * Bounds. {@link IN_FLIGHT_MAX} messages are not answered, and so many signatures are looked at in a turn of the loop (signature_turns.ts);
 * more are OVERLOADED, unread but for their ids (peek.ts). Messages draw bytes from a budget of their own, orders from the rate classes. A
 * message whose sender is not known, because it has no id or is not authenticated, draws from the ordinary budgets of messages and bytes
 * as well: a signature in vain costs as much as one that counts.
 *
 * What ends a connection on this side waits for the answers of what the engine has been asked, {@link ANSWERS_MS} at most (connection.ts).
 */
import { authenticate } from '../auth/authenticate.ts'
import { setCaller, type Caller, type SignedRequest } from '../auth/signed_request.ts'
import { findSession, type FoundSession } from '../auth/session_cache.ts'
import type { Watched } from '../auth/session_watch.ts'
import { countResponse, GATEWAY } from '../../core/ring/counters.ts'
import type { Gateway } from '../context.ts'
import { noBody, objectOf, parseBoundedText, type JsonObject } from '../http/body.ts'
import { ALL_CREDENTIALS } from '../http/header_validation.ts'
import { errorBody, statusOf } from '../http/envelope.ts'
import { Refused, refusedField, SHUTTING_DOWN } from '../refused.ts'
import { BUDGET_FIELDS, type Budget } from '../limits/budget.ts'
import { admit } from '../operations/admission.ts'
import { compile, type Call, type Operation } from '../operations/operation.ts'
import type { Shape } from '../http/json_shape.ts'
import { MESSAGE_SHAPE, readCredentials, type Frame, type Params } from './frames.ts'
import { TokenBucket } from './limits.ts'
import {
  ACTIONS, ORDER_MESSAGE_MAX, ORDER_MESSAGE_SHAPE, ORDER_TYPES, SESSION_OPEN, SessionBody, type OrderAction,
} from './order_messages.ts'
import { OrderPeek } from './peek.ts'
import { stranger, type SignatureShares, type Signer } from './signature_shares.ts'
import { NAME_MAX, type ErrorCode } from './protocol.ts'

/** Messages of one connection that are not answered. */
export const IN_FLIGHT_MAX = 256
/** How long answers under way may hold up the end of a connection, ms. */
export const ANSWERS_MS = 1000
/** The method in what is signed: no request of another transport has it. */
const METHOD = 'WS'
/** What a message beyond a share draws at least from the budget of bytes: refusing costs more than the shortest message has. */
const REFUSAL_BYTES = 512
const UNKNOWN = -1
const FULL_STATUS = statusOf(new Refused('OVERLOADED'))
/** The answer to an unread message, made anew in the same bytes each time: what is before the id, and behind it. */
const BEFORE_ID = Buffer.from('{"type":"result","id":')
const BEHIND_ID = Buffer.from(`,"status":${FULL_STATUS},"error":${errorBody(new Refused('OVERLOADED'))}}`)
const unread = new Uint8Array(BEFORE_ID.length + NAME_MAX + 2 + BEHIND_ID.length)
unread.set(BEFORE_ID)
const peek = new OrderPeek(ORDER_TYPES)

const sessionBody = compile(SessionBody)

/** What order entry wants of its connection. */
export interface OrderConnection {
  /** Sends an answer at the end of the turn. */
  reply(frame: Frame): void
  /** Sends an answer which is valid during the call only: at once where nothing waits. */
  replyNow(frame: Uint8Array): void
  /** Draws a message of this many bytes from the ordinary budgets, or ends the connection. */
  charge(bytes: number): boolean
  /** Says why, and closes with 1008. */
  fail(code: ErrorCode, message: string): void
  sessionOver(): void
  /** Makes the connection one of this caller, as `auth` does; `null`: it may not be, and has ended. */
  adopt(caller: Caller, publicKey: string): FoundSession | null
  /** The last answer was given while the connection waited for it. */
  answered(): void
}

/** The session that messages without credentials belong to. */
interface OpenSession extends Watched {
  readonly key: string
  counter: number
}

/** Order entry of one connection. */
export class OrderEntry {
  readonly #gateway: Gateway
  readonly #connection: OrderConnection
  readonly #bytes: TokenBucket
  #session: OpenSession | null = null
  /** Messages that are not answered. */
  #open = 0
  #released = false
  readonly #signed: { -readonly [K in keyof SignedRequest]: SignedRequest[K] } = {
    method: METHOD, target: '', body: '', publicKey: '', timestamp: '', signature: '', credentials: 0, messageSignature: null,
  }

  readonly #signatures: SignatureShares
  readonly #signer: Signer

  /** `client`: where the connection comes from (limits/network.ts). */
  constructor(gateway: Gateway, connection: OrderConnection, signatures: SignatureShares, client: string) {
    this.#signatures = signatures
    this.#signer = stranger(client)
    const { wsOrderBytesPerSecond, wsOrderBytesBurst } = gateway.config
    this.#gateway = gateway
    this.#connection = connection
    this.#bytes = new TokenBucket(wsOrderBytesPerSecond, wsOrderBytesBurst, performance.now())
  }

  get open(): number {
    return this.#open
  }

  /**
   * How a message may be built before it is known whose it is. Who signs one sends its body as text, which is looked at when the signature
   * has been verified.
   */
  get shape(): Shape {
    return this.#session === null ? MESSAGE_SHAPE : ORDER_MESSAGE_SHAPE
  }

  get released(): boolean {
    return this.#released
  }

  get gateway(): Gateway {
    return this.#gateway
  }

  /** The connection is gone; answers to come are dropped. */
  release(): void {
    this.#released = true
    if (this.#session !== null) this.#gateway.watch.remove(this.#session)
    this.#session = null
  }

  /** One more message is refused whatever it says; without a session it is taken to be signed. */
  get isFull(): boolean {
    return this.#open >= IN_FLIGHT_MAX || (this.#session === null && this.#signatures.isOver(this.#signer))
  }

  /** Whom nobody knows draws from the ordinary budgets, whatever the answer is. */
  get #isUnknown(): boolean {
    return this.#session === null && this.#signer.account === UNKNOWN
  }

  /** Refuses a message that came when it {@link isFull}; false: it has to be parsed. */
  refuseUnread(bytes: ArrayBuffer): boolean {
    const from = performance.now()
    const message = new Uint8Array(bytes)
    if (bytes.byteLength > ORDER_MESSAGE_MAX || !peek.read(message)) return false
    if (!this.#acquire(bytes.byteLength, from, REFUSAL_BYTES)) return true
    if (this.#isUnknown && !this.#connection.charge(bytes.byteLength)) return true
    const { counters, anonymous } = this.#gateway
    counters[GATEWAY.ws_orders_refused]!++
    countResponse(counters, FULL_STATUS)
    this.#connection.replyNow(fullAnswer(message, peek.idFrom, peek.idTo))
    anonymous.signed(from, performance.now())
    return true
  }

  /** Counts a message, which draws `least` bytes at least; false: those are too many, and the connection ends. */
  #acquire(bytes: number, now: number, least = 0): boolean {
    const { counters } = this.#gateway
    if (!this.#drawBytes(Math.max(bytes, least), now)) return false
    counters[GATEWAY.ws_orders]!++
    counters[GATEWAY.requests]!++
    counters[GATEWAY.body_bytes]! += bytes
    return true
  }

  #drawBytes(bytes: number, now: number): boolean {
    if (this.#bytes.take(bytes, now)) return true
    this.#connection.fail('MESSAGE_RATE_LIMIT', 'Too many bytes of order messages')
    return false
  }

  /** A message of a type that {@link isOrderType} knows, of this many bytes. `stopping`: it is refused, because the service stops. */
  take(message: Params, bytes: number, stopping: boolean): void {
    const from = performance.now()
    if (!this.#acquire(bytes, from)) return
    this.#open++
    const call = new OrderCall(this, idText(message['id']))
    if (stopping) return call.refuse(new Refused('ENGINE_UNAVAILABLE', SHUTTING_DOWN))
    try {
      this.#serve(message, bytes, call)
    } catch (error) {
      this.#gateway.engine.onError(error)
      call.refuse(new Refused('INTERNAL'))
    }
    this.#gateway.anonymous.signed(from, performance.now())
  }

  #serve(message: Params, bytes: number, call: OrderCall): void {
    if (call.id === '') {
      return this.#refuseUnknown(refusedField('id', `id must be 1 to ${NAME_MAX} characters or a whole number`), bytes, call)
    }
    if (this.#open > IN_FLIGHT_MAX) return this.#refuseBeyondShare(bytes, call)
    const type = message['type'] as string
    const signed = isSigned(message)
    if (!signed && type === SESSION_OPEN) return this.#refuseUnknown(new Refused('UNAUTHENTICATED', `${type} is signed`), bytes, call)
    if (signed && !this.#signatures.take(this.#signer)) return this.#refuseBeyondShare(bytes, call)
    const refused = signed ? this.#authenticate(type, message, call) : this.#continueSession(message, call)
    if (call.over) return
    if (refused !== null) return this.#refuseUnknown(refused, bytes, call)
    if (type === SESSION_OPEN) this.#openSession(message, bytes, call)
    else this.#run(ACTIONS.get(type)!, message['body'], call)
  }

  #run({ row, operation, bodyRule, check }: OrderAction, body: unknown, call: OrderCall): void {
    const input = readBody(body, bodyRule, operation.shape)
    if (input instanceof Refused) return call.refuse(input)
    const refused = check(input) ?? admit(this.#gateway, row, call, input)
    if (refused !== null) return call.refuse(refused)
    ;(operation as Operation<unknown>).run(this.#gateway, call as Call<unknown>, input)
  }

  #refuseBeyondShare(bytes: number, call: OrderCall): void {
    const refused = new Refused('OVERLOADED')
    if (bytes < REFUSAL_BYTES && !this.#drawBytes(REFUSAL_BYTES - bytes, performance.now())) return call.drop(refused)
    this.#gateway.counters[GATEWAY.ws_orders_refused]!++
    if (this.#isUnknown) this.#refuseUnknown(refused, bytes, call)
    else call.refuse(refused)
  }

  /** Refuses a message of nobody knows whom. */
  #refuseUnknown(refused: Refused, bytes: number, call: OrderCall): void {
    if (this.#connection.charge(bytes)) call.refuse(refused)
    else call.drop(refused)
  }

  /** Who signed the message, or why it is nobody. */
  #authenticate(type: string, message: Params, call: OrderCall): Refused | null {
    const body = message['body'] ?? ''
    if (typeof body !== 'string') return refusedField('body', 'The body of a signed message is the text of a JSON object')
    // The hash takes lone surrogates for one another.
    if (!body.isWellFormed()) return new Refused('MALFORMED_REQUEST', 'The body is not valid UTF-8')
    const { sessions, counters, now } = this.#gateway
    const { publicKey, timestamp, signature } = readCredentials(message)
    const signed = this.#signed
    signed.target = type
    signed.body = body
    signed.publicKey = publicKey
    signed.timestamp = timestamp
    signed.signature = signature
    signed.credentials = publicKey === '' || timestamp === '' || signature === '' ? 0 : ALL_CREDENTIALS
    const code = authenticate(sessions, signed, now(), counters, call)
    this.#signer.account = code === null ? call.account : UNKNOWN
    return code === null ? null : new Refused(code)
  }

  #continueSession(message: Params, call: OrderCall): null {
    const session = this.#session
    if (session === null) return this.#end('No session is open on this connection', call)
    const { sessions, time } = this.#gateway
    const found = findSession(sessions, session.key)
    if (typeof found === 'string' || found.view.generation !== session.generation || found.view.expiresAt <= time()) {
      call.drop(new Refused('SESSION_INVALID'))
      this.#connection.sessionOver()
      return null
    }
    const counter = message['counter']
    if (!Number.isSafeInteger(counter) || (counter as number) <= session.counter) {
      return this.#end('The counter of the session did not grow', call)
    }
    session.counter = counter as number
    setCaller(call, found.view)
    return null
  }

  /** A rule of the session is broken. */
  #end(message: string, call: OrderCall): null {
    call.drop(new Refused('UNAUTHENTICATED'))
    this.#connection.fail('AUTH_FAILED', message)
    return null
  }

  #openSession(message: Params, bytes: number, call: OrderCall): void {
    const { replayGuard, watch, now, counters } = this.#gateway
    const body = readBody(message['body'], 'optional', MESSAGE_SHAPE)
    const refused = body instanceof Refused ? body : sessionBody.check(body)
    if (refused !== null) return call.refuse(refused)
    const { counter = 0 } = body as { counter?: number }
    const { publicKey: key, timestamp, signature } = readCredentials(message)
    const taken = replayGuard.take(signature, call.account, Number(timestamp), now())
    if (taken === 'full') {
      counters[GATEWAY.openings_full]!++
      return call.refuse(new Refused('OVERLOADED'))
    }
    const used = 'This signature has opened a session already, or may have'
    if (taken === 'used') return this.#refuseUnknown(new Refused('UNAUTHENTICATED', used), bytes, call)
    const found = this.#connection.adopt(call, key)
    if (found === null) return call.drop(new Refused('UNAUTHENTICATED'))
    if (this.#session !== null) watch.remove(this.#session)
    const end = (): void => this.#connection.sessionOver()
    this.#session = { key, session: call.session, generation: call.generation, counter, end }
    watch.add(this.#session)
    call.answer({ expiresAt: Math.floor(found.view.expiresAt / 1000) })
  }

  /** Sends the answer of a call that is over, and counts it. */
  finish(status: number, frame: Frame | null): void {
    const { counters } = this.#gateway
    this.#open--
    if (this.#released) counters[GATEWAY.aborted]!++
    else {
      countResponse(counters, status)
      if (frame !== null) this.#connection.reply(frame)
    }
    if (this.#open === 0) this.#connection.answered()
  }
}

/** One message as a call. */
class OrderCall implements Call {
  account = UNKNOWN
  application = 0
  session = UNKNOWN
  generation = 0
  agent = UNKNOWN
  budget: Budget | null = null
  /** As JSON; '' without one. */
  readonly id: string
  readonly #entry: OrderEntry
  #done = false

  constructor(entry: OrderEntry, id: string) {
    this.#entry = entry
    this.id = id
  }

  /** No operation of order entry asks for it. */
  ip(): string {
    return ''
  }

  /** Answered, refused or dropped. */
  get over(): boolean {
    return this.#done
  }

  answer(output: unknown): void {
    if (this.#done) return
    const entry = this.#entry
    if (entry.released) return this.#finish(200, null)
    let data: string
    try {
      data = JSON.stringify(output)
    } catch (error) {
      entry.gateway.engine.onError(error)
      return this.refuse(new Refused('INTERNAL'))
    }
    const { budget } = this
    const rest = budget === null ? '' : `,"budget":${budgetText(budget)}`
    this.#finish(200, Buffer.from(`{"type":"result","id":${this.id},"status":200,"data":${data}${rest}}`))
  }

  refuse(refused: Refused): void {
    if (this.#done) return
    const status = statusOf(refused)
    const id = this.id === '' ? '' : `"id":${this.id},`
    this.#finish(status, Buffer.from(`{"type":"result",${id}"status":${status},"error":${errorBody(refused)}}`))
  }

  /** It is not answered: the connection ends because of it, or before it. */
  drop(refused: Refused): void {
    if (!this.#done) this.#finish(statusOf(refused), null)
  }

  #finish(status: number, frame: Frame | null): void {
    this.#done = true
    this.#entry.finish(status, frame)
  }
}

/** The answer to an unread message whose id stands between these; valid until the next. */
function fullAnswer(message: Uint8Array, idFrom: number, idTo: number): Uint8Array {
  let at = BEFORE_ID.length
  for (let from = idFrom; from < idTo; from++) unread[at++] = message[from]!
  unread.set(BEHIND_ID, at)
  return unread.subarray(0, at + BEHIND_ID.length)
}

/** The id of a message as JSON; '' when it is none. */
function idText(id: unknown): string {
  if (typeof id === 'string') return id.length >= 1 && id.length <= NAME_MAX ? JSON.stringify(id) : ''
  return Number.isSafeInteger(id) ? String(id) : ''
}

/** Whether any credential came; `null` and absent are the same. */
const isSigned = ({ publicKey, timestamp, signature }: Params): boolean =>
  (publicKey ?? null) !== null || (timestamp ?? null) !== null || (signature ?? null) !== null

function readBody(body: unknown, rule: OrderAction['bodyRule'], shape: Shape): JsonObject | Refused {
  if (typeof body === 'string' && body !== '') return parseBoundedText(body, shape)
  return body === undefined || body === null || body === '' ? noBody(rule) : objectOf(body)
}

/** A window that is not metered is absent. */
function budgetText(budget: Budget): string {
  let text = ''
  for (const field of BUDGET_FIELDS) if (budget[field] >= 0) text += `${text === '' ? '{' : ','}"${field}":${budget[field]}`
  return text === '' ? '{}' : `${text}}`
}
