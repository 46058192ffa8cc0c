/**
 * Order entry on one WebSocket (order_messages.ts says what goes over it): decodes its messages and encodes their answers. Whose a message
 * is, sessions and their ends are stream/signed_stream.ts; what it asks for is done as over REST (operations/serve.ts) and answered under
 * its id. Orders enter the engine in the order they were sent.
 *
 * Bounds. What is too much is OVERLOADED, unread but for its id (peek.ts). Messages draw bytes from a budget of their own, orders from the
 * rate classes. A message whose sender is not known, because it has no id or is not authenticated, draws from the ordinary budgets of
 * messages and bytes as well: a signature in vain costs as much as one that counts.
 */
import type { Static } from 'typebox'
import type { Caller, SignedRequest } from '../auth/signed_request.ts'
import type { FoundSession } from '../auth/session_cache.ts'
import { countResponse, GATEWAY } from '../../core/ring/counters.ts'
import type { Gateway } from '../context.ts'
import { noBody, objectOf, parseBoundedText, type JsonObject } from '../operations/body.ts'
import { ALL_CREDENTIALS } from '../auth/signed_request.ts'
import { errorBody, statusOf } from '../http/envelope.ts'
import { Refused, refusedField, SHUTTING_DOWN } from '../refused.ts'
import { BUDGET_FIELDS, type Budget } from '../limits/budget.ts'
import { TokenBucket } from '../limits/token_bucket.ts'
import { compile } from '../operations/operation.ts'
import { runOperation, type ReadableCall } from '../operations/serve.ts'
import type { Shape } from '../operations/json_shape.ts'
import type { SignatureShares } from '../stream/signature_shares.ts'
import { RESTART_GRACE_MS, SignedStream, type MessageCall, type SignedMessage, type StreamConnection } from '../stream/signed_stream.ts'
import { MESSAGE_SHAPE, readCredentials, type Frame, type Params } from './frames.ts'
import {
  ACTIONS, ORDER_MESSAGE_MAX, ORDER_MESSAGE_SHAPE, ORDER_TYPES, SESSION_OPEN, SessionBody, type OrderAction,
} from './order_messages.ts'
import { OrderPeek } from './peek.ts'
import { NAME_MAX, type ErrorCode } from './protocol.ts'

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
const NO_ID = refusedField('id', `id must be 1 to ${NAME_MAX} characters or a whole number`)

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
}

/** Order entry of one connection. */
export class OrderEntry {
  readonly stream: SignedStream
  readonly #gateway: Gateway
  readonly #connection: OrderConnection
  readonly #bytes: TokenBucket
  #released = false
  readonly #signed: { -readonly [K in keyof SignedRequest]: SignedRequest[K] } = {
    method: METHOD, target: '', body: '', publicKey: '', timestamp: '', signature: '', credentials: 0, messageSignature: null,
  }

  /** `client`: where the connection comes from (limits/network.ts). */
  constructor(gateway: Gateway, connection: OrderConnection, signatures: SignatureShares, client: string) {
    const { wsOrderBytesPerSecond, wsOrderBytesBurst } = gateway.config
    this.#gateway = gateway
    this.#connection = connection
    this.#bytes = new TokenBucket(wsOrderBytesPerSecond, wsOrderBytesBurst, performance.now())
    const ends: StreamConnection = {
      charge: (bytes) => connection.charge(bytes),
      broken: (why) => connection.fail('AUTH_FAILED', why),
      sessionOver: () => connection.sessionOver(),
      adopt: (caller, key) => connection.adopt(caller, key),
    }
    this.stream = new SignedStream(gateway, ends, signatures, client)
  }

  /**
   * How a message may be built before it is known whose it is. Who signs one sends its body as text, which is looked at when the signature
   * has been verified.
   */
  get shape(): Shape {
    return this.stream.hasSession ? ORDER_MESSAGE_SHAPE : MESSAGE_SHAPE
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
    this.stream.release()
  }

  /** One more message is refused whatever it says. */
  get isFull(): boolean {
    return this.stream.isFull || this.stream.isOverShare
  }

  /** Refuses a message that came when it {@link isFull}; false: it has to be parsed. */
  refuseUnread(bytes: ArrayBuffer): boolean {
    const from = performance.now()
    const message = new Uint8Array(bytes)
    if (bytes.byteLength > ORDER_MESSAGE_MAX || !peek.read(message)) return false
    if (!this.#acquire(bytes.byteLength, from, REFUSAL_BYTES)) return true
    if (this.stream.isUnknown && !this.#connection.charge(bytes.byteLength)) return true
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
    const { wsOrderBytesPerSecond } = this.#gateway.config
    this.#connection.fail('MESSAGE_RATE_LIMIT', `Too many bytes of order messages: the most are ${wsOrderBytesPerSecond} a second`)
    return false
  }

  /** A message of a type that {@link isOrderType} knows, of this many bytes. `stopping`: it is refused, because the service stops. */
  take(message: Params, bytes: number, stopping: boolean): void {
    if (!this.#acquire(bytes, performance.now())) return
    const full = this.stream.isFull
    const call = new OrderCall(this, idText(message['id']))
    this.stream.serve(call, () => {
      if (stopping) call.refuse(new Refused('ENGINE_UNAVAILABLE', SHUTTING_DOWN))
      else if (call.id === '') this.stream.refuseUnknown(NO_ID, bytes, call)
      else if (full) this.#refuseBeyondShare(bytes, call)
      else this.#serve(message, bytes, call)
    })
  }

  #serve(message: Params, bytes: number, call: OrderCall): void {
    const type = message['type'] as string
    const opens = type === SESSION_OPEN
    const signed = isSigned(message) ? this.#readSigned(type, message) : null
    if (signed instanceof Refused) return this.stream.refuseUnknown(signed, bytes, call)
    const known: SignedMessage = { bytes, signed, opens, counter: counterOf(message) }
    const whose = this.stream.identify(known, call)
    if (whose === 'over') return
    if (whose === 'share') return this.#refuseBeyondShare(bytes, call)
    if (opens) return this.#openSession(known, message, call)
    const action = ACTIONS.get(type)!
    call.asks(action, message['body'])
    runOperation(this.#gateway, action, call)
  }

  #openSession(known: SignedMessage, message: Params, call: OrderCall): void {
    const body = readBody(message['body'], 'optional', MESSAGE_SHAPE)
    const refused = body instanceof Refused ? body : sessionBody.check(body)
    if (refused !== null) return call.refuse(refused)
    const { counter = 0, cancelOnDisconnect = false, restartGraceMs = RESTART_GRACE_MS } = body as Static<typeof SessionBody>
    this.stream.openSession(known, counter, cancelOnDisconnect ? restartGraceMs : -1, call)
  }

  #refuseBeyondShare(bytes: number, call: OrderCall): void {
    const refused = new Refused('OVERLOADED')
    if (bytes < REFUSAL_BYTES && !this.#drawBytes(REFUSAL_BYTES - bytes, performance.now())) return call.drop(refused)
    this.#gateway.counters[GATEWAY.ws_orders_refused]!++
    if (this.stream.isUnknown) this.stream.refuseUnknown(refused, bytes, call)
    else call.refuse(refused)
  }

  /** What was signed. */
  #readSigned(type: string, message: Params): SignedRequest | Refused {
    const body = message['body'] ?? ''
    if (typeof body !== 'string') return refusedField('body', 'The body of a signed message is the text of a JSON object')
    // The hash takes lone surrogates for one another.
    if (!body.isWellFormed()) return new Refused('MALFORMED_REQUEST', 'The body is not valid UTF-8')
    const { publicKey, timestamp, signature } = readCredentials(message)
    const signed = this.#signed
    signed.target = type
    signed.body = body
    signed.publicKey = publicKey
    signed.timestamp = timestamp
    signed.signature = signature
    signed.credentials = publicKey === '' || timestamp === '' || signature === '' ? 0 : ALL_CREDENTIALS
    return signed
  }

  /** Sends the answer of a call that is over, and counts it. */
  finish(status: number, frame: Frame | null): void {
    const { counters } = this.#gateway
    if (this.#released) counters[GATEWAY.aborted]!++
    else {
      countResponse(counters, status)
      if (frame !== null) this.#connection.reply(frame)
    }
    this.stream.answered()
  }
}

/** One message as a call. */
class OrderCall implements MessageCall, ReadableCall {
  account = UNKNOWN
  application = 0
  session = UNKNOWN
  generation = 0
  agent = UNKNOWN
  budget: Budget | null = null
  /** As JSON; '' without one. */
  readonly id: string
  readonly #entry: OrderEntry
  #action: OrderAction | null = null
  #body: unknown = undefined
  #done = false

  constructor(entry: OrderEntry, id: string) {
    this.#entry = entry
    this.id = id
  }

  /** The message's own id, which its answer carries; one that is made when that is not fit for a log. */
  get requestId(): string {
    return this.#entry.gateway.requestIds.of(this.id.replaceAll('"', ''))
  }

  /** What it asks for, of whom is known who sent it. */
  asks(action: OrderAction, body: unknown): void {
    this.#action = action
    this.#body = body
  }

  readInput(): JsonObject | Refused {
    const { bodyRule, operation, check } = this.#action!
    const input = readBody(this.#body, bodyRule, operation.shape)
    this.#body = undefined
    return input instanceof Refused ? input : (check(input) ?? input)
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
    const data = JSON.stringify(output)
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

/** The id of a message as JSON; '' when it is not valid. */
function idText(id: unknown): string {
  if (typeof id === 'string') return id.length >= 1 && id.length <= NAME_MAX ? JSON.stringify(id) : ''
  return Number.isSafeInteger(id) ? String(id) : ''
}

/** Counter of a message of the session; -1: it is no whole number below 2^53. */
const counterOf = ({ counter }: Params): number => (Number.isSafeInteger(counter) ? (counter as number) : -1)

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
