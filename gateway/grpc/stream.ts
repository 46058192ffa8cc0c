/**
 * OrdersService.StreamOrders: many actions in flight on one stream (proto/svc/v1/orders_service.proto says what goes over it). It decodes
 * actions and encodes their answers; whose an action is, sessions and their ends are stream/signed_stream.ts, and what an action asks for
 * is done as for a unary call (operations/serve.ts). Actions enter the engine in the order they were sent.
 *
 * Nothing is refused that can wait: with {@link IN_FLIGHT_MAX} actions that are not answered, or whose answers the client has not taken,
 * nothing more is read, and an action whose account had its share of signatures in this turn is served in the next one. Answers that became
 * ready in one turn of the event loop leave in one message.
 */
import { status, type ServerInterceptingCallInterface } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { GRACE_MS_MAX } from '../../core/layout/command.ts'
import { findSession, type FoundSession } from '../auth/session_cache.ts'
import type { Caller, SignedRequest } from '../auth/signed_request.ts'
import { ALL_CREDENTIALS } from '../auth/signed_request.ts'
import { MessageBudget } from '../limits/token_bucket.ts'
import { runOperation } from '../operations/serve.ts'
import { Refused, refusedField, SHUTTING_DOWN } from '../refused.ts'
import {
  ANSWERS_MS, IN_FLIGHT_MAX, RESTART_GRACE_MS, SignedStream, type SignedMessage, type StreamConnection,
} from '../stream/signed_stream.ts'
import { countRequest, type Front } from './front.ts'
import { readLong, type Message } from './mapping.ts'
import { decodeMessage } from './methods.ts'
import { StreamCall, type ActionStream, type StreamTypes } from './stream_call.ts'

export const STREAM_PATH = '/svc.v1.OrdersService/StreamOrders'
/** Reading goes on when there are this few again. */
const IN_FLIGHT_RESUME = 128
/** Answers leave before the turn ends when they are this many bytes: a message must stay below the limit of 2 MiB. */
const FLUSH_BYTES = 512 * 1024
const REQUEST_ID_MAX = 64
const NO_BYTES = Buffer.alloc(0)

export class OrderStream implements ActionStream, StreamConnection {
  readonly front: Front
  readonly #types: StreamTypes
  readonly #call: ServerInterceptingCallInterface
  readonly #budget: MessageBudget
  readonly #stream: SignedStream
  #reading = true
  #ended = false
  /** Nothing more is read: the service stops, or the session ended. */
  #ending = false
  /** Its session ended: nothing more is taken. */
  #isOver = false
  /** Answers of this turn, and how many they are. */
  #answers: protobuf.Writer | null = null
  #ready = 0
  #flushing = false
  #writing = false
  readonly #signed: { -readonly [K in keyof SignedRequest]: SignedRequest[K] } = {
    method: 'POST', target: STREAM_PATH, body: NO_BYTES, publicKey: '', timestamp: '', signature: '', credentials: 0,
    messageSignature: null,
  }

  /** `client`: where the stream comes from (limits/network.ts). */
  constructor(front: Front, types: StreamTypes, call: ServerInterceptingCallInterface, client: string) {
    this.front = front
    this.#types = types
    this.#call = call
    this.#budget = new MessageBudget(front.gateway.config)
    this.#stream = new SignedStream(front.gateway, this, front.signatures, client)
  }

  start(): void {
    this.#call.startRead()
  }

  /** One StreamOrdersRequest. */
  take(bytes: Buffer): void {
    if (this.#ended || this.#isOver) return
    // Nothing is read meanwhile, so it is one message of a stream that waits.
    if (this.#stream.isOverShare) return void setImmediate(() => this.take(bytes))
    countRequest(this.front, bytes.length)
    const call = new StreamCall(this)
    this.#stream.serve(call, () => this.#serve(bytes, call))
    if (this.#ended) return
    if (!this.#stream.isFull && !this.#ending) this.#call.startRead()
    else this.#reading = false
  }

  /** Ends the stream when what is under way is answered. */
  stop(): void {
    this.#ending = true
    this.#stream.whenAnswered(() => this.#close(new Refused('ENGINE_UNAVAILABLE', SHUTTING_DOWN)), Infinity)
  }

  sessionOver(): void {
    if (this.#ended || this.#isOver) return
    this.#ending = this.#isOver = true
    this.#stream.whenAnswered(() => this.#close(new Refused('SESSION_INVALID')), ANSWERS_MS)
  }

  /** The client sends no more: the stream ends with the last answer. */
  finish(): void {
    this.#stream.whenAnswered(() => {
      if (this.#ended) return
      this.#release()
      this.#call.sendStatus({ code: status.OK, details: 'OK', metadata: null })
    }, Infinity)
  }

  /** The client is gone; answers to come are dropped. */
  cancel(): void {
    this.#release()
    this.#answers = null
  }

  /** From here on the stream does nothing more. */
  #release(): void {
    this.#ended = true
    this.#stream.release()
  }

  get ended(): boolean {
    return this.#ended
  }

  charge(bytes: number): boolean {
    if (this.#budget.take(bytes)) return true
    this.#close(new Refused('RATE_LIMIT_EXCEEDED', 'Too many actions whose sender is not known', { retryAfter: 1 }))
    return false
  }

  broken(why: string): void {
    this.#close(new Refused('UNAUTHENTICATED', why))
  }

  adopt(_caller: Caller, publicKey: string): FoundSession | null {
    const found = findSession(this.front.gateway.sessions, publicKey)
    if (typeof found !== 'string') return found
    this.#close(new Refused('SESSION_INVALID'))
    return null
  }

  #serve(bytes: Buffer, call: StreamCall): void {
    const { envelope, action: actionType } = this.#types
    const outer = decodeMessage(envelope, bytes)
    if (outer instanceof Refused) return this.#end(outer, call)
    const { message } = outer
    const inner = decodeMessage(actionType, bytesOf(message))
    if (inner instanceof Refused) return this.#end(inner, call)
    const { message: action, unknown } = inner
    const { requestId, action: field } = action as { requestId: string; action?: string }
    call.id = requestId.slice(0, REQUEST_ID_MAX)
    const kind = this.#types.kinds.get(field ?? '')
    const opens = kind !== undefined && kind.method === null
    const known: SignedMessage = { bytes: bytes.length, signed: this.#readSigned(message), opens, counter: counterOf(action) }
    const whose = this.#stream.identify(known, call)
    if (whose === 'share') return call.refuse(new Refused('OVERLOADED'))
    if (whose === 'over') return
    if (requestId === '' || requestId.length > REQUEST_ID_MAX) {
      return call.refuse(refusedField('requestId', `requestId must be 1 to ${REQUEST_ID_MAX} characters`))
    }
    if (kind === undefined) return call.refuse(refusedField('action', 'action is required'))
    call.asks(kind, action[kind.field] as Message, unknown)
    if (opens) this.#openSession(known, action[kind.field] as Message, call)
    else if (this.front.stopping) call.refuse(new Refused('ENGINE_UNAVAILABLE', SHUTTING_DOWN))
    else runOperation(this.front.gateway, kind.method!.served, call)
  }

  #openSession(known: SignedMessage, opening: Message, call: StreamCall): void {
    if (known.counter < 0) return call.refuse(refusedField('counter', 'counter must be below 2^53'))
    const graceMs = Object.hasOwn(opening, 'restartGraceMs') ? Number(opening['restartGraceMs']) : RESTART_GRACE_MS
    if (graceMs < 0 || graceMs > GRACE_MS_MAX) {
      return call.refuse(refusedField('restartGraceMs', `restart_grace_ms must be 0 to ${GRACE_MS_MAX}`))
    }
    this.#stream.openSession(known, known.counter, opening['cancelOnDisconnect'] === true ? graceMs : -1, call)
  }

  /** What was signed; `null`: no credentials came. */
  #readSigned(message: Message): SignedRequest | null {
    // Own properties came over the wire; the others are defaults.
    const keyed = Object.hasOwn(message, 'publicKey')
    const timed = Object.hasOwn(message, 'timestamp')
    const sealed = Object.hasOwn(message, 'signature')
    if (!keyed && !timed && !sealed) return null
    const { publicKey, timestamp, signature } = message as { publicKey: string; timestamp: unknown; signature: string }
    const signed = this.#signed
    signed.body = bytesOf(message)
    signed.publicKey = publicKey
    signed.timestamp = String(readLong(timestamp))
    signed.signature = signature
    signed.credentials = keyed && timed && sealed ? ALL_CREDENTIALS : 0
    return signed
  }

  /** Ends the stream with a status; answers that are ready leave before it, what is still under way is dropped. */
  #end(refused: Refused, call: StreamCall): void {
    call.drop(refused)
    this.#close(refused)
  }

  #close(refused: Refused): void {
    if (this.#ended) return
    this.#flush()
    this.#release()
    this.#call.sendStatus(this.front.statuses.ending(refused))
  }

  /** By itself: what cannot be encoded must leave nothing among the answers of others. */
  encode(answer: Message): Uint8Array {
    return this.#types.answer.encode(answer).finish()
  }

  push(answer: Uint8Array): void {
    if (this.#ended) return
    this.#answers ??= protobuf.Writer.create()
    // Field 1 of StreamOrdersResponse, length-delimited.
    this.#answers.uint32(ANSWERS_TAG).bytes(answer)
    this.#ready++
    if (this.#answers.len > FLUSH_BYTES) this.#flush()
    else this.#flushLater()
  }

  dropped(): void {
    this.#stream.answered()
  }

  #flushLater(): void {
    if (this.#flushing || this.#writing) return
    this.#flushing = true
    setImmediate(() => {
      this.#flushing = false
      if (!this.#writing) this.front.gateway.faults.guard(null, () => this.#flush())
    })
  }

  #flush(): void {
    const answers = this.#answers
    if (answers === null || this.#ended) return
    const count = this.#ready
    this.#answers = null
    this.#ready = 0
    this.#writing = true
    this.#call.sendMessage(answers.finish(), () => this.#written(count))
  }

  #written(count: number): void {
    this.#writing = false
    if (this.#ended) return
    // What is ready leaves before the stream may end.
    this.#flush()
    this.#stream.answered(count)
    if (this.#ended || this.#reading || this.#ending || this.#stream.open > IN_FLIGHT_RESUME) return
    this.#reading = true
    this.#call.startRead()
  }
}

const ANSWERS_TAG = (1 << 3) | 2

/** The action of a StreamOrdersRequest as sent. */
const bytesOf = (message: Message): Buffer => (Object.hasOwn(message, 'action') ? (message['action'] as Buffer) : NO_BYTES)

/** Counter of an action; -1 when it is no whole number below 2^53. */
function counterOf(action: Message): number {
  const counter = readLong(action['counter'])
  return typeof counter === 'number' ? counter : -1
}
