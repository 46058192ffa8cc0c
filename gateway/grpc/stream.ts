/**
 * OrdersService.StreamOrders: many actions in flight on one stream (proto/svc/v1/orders_service.proto says what goes over it).
 *
 * An action is one request: it is authenticated, checked, admitted and run like a unary call of its operation, and is answered under its
 * request id when it is done. Actions enter the engine in the order they were sent.
 *
 * Credentials come with each action, or once with open_session; from then on an action without credentials is the session's if its counter
 * grew. A signature opens one stream (auth/replay_guard.ts). A refused signature of an action is its own answer; what breaks the rules of
 * the stream ends it with a status.
 *
 * The session of a stream is watched (auth/session_watch.ts) and looked up for every action: when it ends, nothing more is taken, and
 * the stream ends with SESSION_INVALID behind the answers of what the engine has been asked already, at most {@link CUT_MS} later.
 *
 * Bounds: {@link IN_FLIGHT_MAX} actions that are not answered, or whose answers the client has not taken; then nothing more is read.
 * Answers that became ready in one turn of the event loop leave in one message.
 */
import { status, type ServerInterceptingCallInterface } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { GATEWAY } from '../../core/ring/counters.ts'
import { authenticate } from '../auth/authenticate.ts'
import { setCaller, type SignedRequest } from '../auth/signed_request.ts'
import { findSession } from '../auth/session_cache.ts'
import type { Watched } from '../auth/session_watch.ts'
import { ALL_CREDENTIALS } from '../http/header_validation.ts'
import { Refused, refusedField, SHUTTING_DOWN } from '../refused.ts'
import { admit } from '../operations/admission.ts'
import type { Call, Operation } from '../operations/operation.ts'
import { StreamCall, type ActionKind, type StreamTypes } from './stream_call.ts'
import { countRequest, type Front } from './front.ts'
import { readLong, type Message } from './mapping.ts'
import { decodeMessage } from './methods.ts'

export const STREAM_PATH = '/svc.v1.OrdersService/StreamOrders'
/** Actions of one stream whose answers are not written yet. */
export const IN_FLIGHT_MAX = 256
/** Reading goes on when there are this few again. */
const IN_FLIGHT_RESUME = 128
/** Answers leave before the turn ends when they are this many bytes: a message must stay below the limit of 2 MiB. */
const FLUSH_BYTES = 512 * 1024
const REQUEST_ID_MAX = 64
/** How long answers under way may hold up the end of a stream whose session ended, ms. */
const CUT_MS = 1000
const NO_BYTES = Buffer.alloc(0)

/** The session that actions without credentials belong to. */
interface OpenSession extends Watched {
  readonly key: string
  counter: number
}

export class OrderStream {
  readonly #front: Front
  readonly #types: StreamTypes
  readonly #call: ServerInterceptingCallInterface
  #session: OpenSession | null = null
  /** Actions not answered, and answers not written. */
  #open = 0
  #reading = true
  #ended = false
  /** The client sends no more: the stream ends with the last answer. */
  #halfClosed = false
  /** Why the stream is to end: the service stops, or the session ended. Nothing more is taken; it ends with the last answer. */
  #ending: Refused | null = null
  #cutTimer: NodeJS.Timeout | null = null
  /** Answers of this turn, and how many they are. */
  #answers: protobuf.Writer | null = null
  #ready = 0
  #flushing = false
  #writing = false
  readonly #signed: { -readonly [K in keyof SignedRequest]: SignedRequest[K] } = {
    method: 'POST', target: STREAM_PATH, body: NO_BYTES, publicKey: '', timestamp: '', signature: '', credentials: 0,
    messageSignature: null,
  }

  constructor(front: Front, types: StreamTypes, call: ServerInterceptingCallInterface) {
    this.#front = front
    this.#types = types
    this.#call = call
  }

  start(): void {
    this.#call.startRead()
  }

  /** One StreamOrdersRequest. */
  take(bytes: Buffer): void {
    if (this.#ended || this.#sessionOver) return
    countRequest(this.#front, bytes.length)
    this.#open++
    const call = new StreamCall(this)
    const { engine, anonymous } = this.#front.gateway
    const from = performance.now()
    try {
      this.#serve(bytes, call)
    } catch (error) {
      engine.onError(error)
      call.refuse(new Refused('INTERNAL'))
    }
    anonymous.signed(from, performance.now())
    if (this.#ended) return
    if (this.#open < IN_FLIGHT_MAX && this.#ending === null) this.#call.startRead()
    else this.#reading = false
  }

  /** Ends the stream when what is under way is answered. */
  stop(): void {
    this.#ending ??= new Refused('ENGINE_UNAVAILABLE', SHUTTING_DOWN)
    this.#endWhenDone()
  }

  /** Ends the stream because its session ended. */
  #cut(): void {
    if (this.#ended || this.#sessionOver) return
    const refused = new Refused('SESSION_INVALID')
    this.#ending = refused
    // After a turn of the event loop, so that answers which are there are taken first, however late the timer is.
    this.#cutTimer = setTimeout(() => setImmediate(() => this.#close(refused)), CUT_MS)
    this.#endWhenDone()
  }

  get #sessionOver(): boolean {
    return this.#cutTimer !== null
  }

  /** The client sends no more. */
  finish(): void {
    this.#halfClosed = true
    this.#endWhenDone()
  }

  /** The client is gone; answers to come are dropped. */
  cancel(): void {
    this.#release()
    this.#answers = null
  }

  /** From here on the stream does nothing more. */
  #release(): void {
    this.#ended = true
    if (this.#session !== null) this.#front.gateway.watch.remove(this.#session)
    this.#session = null
    if (this.#cutTimer !== null) clearTimeout(this.#cutTimer)
  }

  get ended(): boolean {
    return this.#ended
  }

  get front(): Front {
    return this.#front
  }

  #serve(bytes: Buffer, call: StreamCall): void {
    const { envelope, action: actionType } = this.#types
    const message = decodeMessage(envelope, bytes)
    if (message instanceof Refused) return this.end(message, call)
    const action = decodeMessage(actionType, bytesOf(message))
    if (action instanceof Refused) return this.end(action, call)
    const { requestId, action: field } = action as { requestId: string; action?: string }
    call.requestId = requestId.slice(0, REQUEST_ID_MAX)
    const refused = this.#authenticate(message, action, call)
    if (call.over) return
    if (refused !== null) return call.refuse(refused)
    if (requestId === '' || requestId.length > REQUEST_ID_MAX) {
      return call.refuse(refusedField('requestId', `requestId must be 1 to ${REQUEST_ID_MAX} characters`))
    }
    const kind = this.#types.kinds.get(field ?? '')
    if (kind === undefined) return call.refuse(refusedField('action', 'action is required'))
    call.kind = kind
    if (kind.method === null) this.#openSession(message, action, call)
    else this.#run(kind, action[kind.field] as Message, call)
  }

  #run({ method }: ActionKind, message: Message, call: StreamCall): void {
    const { gateway, stopping } = this.#front
    if (stopping) return call.refuse(new Refused('ENGINE_UNAVAILABLE', SHUTTING_DOWN))
    const { row, operation } = method!.served
    const input = method!.readInput(message)
    if (input instanceof Refused) return call.refuse(input)
    const refused = admit(gateway, row, call, input)
    if (refused !== null) return call.refuse(refused)
    ;(operation as Operation<unknown>).run(gateway, call as Call<unknown>, input)
  }

  /** Who the action is of. A refusal is the action's answer; a rule of the stream that is broken ends it. */
  #authenticate(message: Message, action: Message, call: StreamCall): Refused | null {
    // Own properties came over the wire; the others are defaults.
    const keyed = Object.hasOwn(message, 'publicKey')
    const timed = Object.hasOwn(message, 'timestamp')
    const sealed = Object.hasOwn(message, 'signature')
    if (!keyed && !timed && !sealed) {
      this.#continueSession(action, call)
      return null
    }
    const { gateway } = this.#front
    const { publicKey, timestamp, signature } = message as { publicKey: string; timestamp: unknown; signature: string }
    const signed = this.#signed
    signed.body = bytesOf(message)
    signed.publicKey = publicKey
    signed.timestamp = String(readLong(timestamp))
    signed.signature = signature
    signed.credentials = keyed && timed && sealed ? ALL_CREDENTIALS : 0
    const code = authenticate(gateway.sessions, signed, gateway.now(), gateway.counters, call)
    return code === null ? null : new Refused(code)
  }

  #continueSession(action: Message, call: StreamCall): void {
    const { gateway } = this.#front
    const session = this.#session
    if (session === null) return this.end(new Refused('UNAUTHENTICATED', 'No session is open on this stream'), call)
    const found = findSession(gateway.sessions, session.key)
    if (typeof found === 'string' || found.view.generation !== session.generation || found.view.expiresAt <= gateway.time()) {
      this.#leave(call)
      return this.#cut()
    }
    const counter = counterOf(action)
    if (counter <= session.counter) return this.end(new Refused('UNAUTHENTICATED', 'The counter of the session did not grow'), call)
    session.counter = counter
    setCaller(call, found.view)
  }

  #openSession(message: Message, action: Message, call: StreamCall): void {
    const { gateway } = this.#front
    if (!Object.hasOwn(message, 'publicKey')) return call.refuse(new Refused('UNAUTHENTICATED', 'open_session is signed'))
    const counter = counterOf(action)
    if (counter < 0) return call.refuse(refusedField('counter', 'counter must be below 2^53'))
    const { publicKey: key, timestamp, signature } = message as { publicKey: string; timestamp: unknown; signature: string }
    const taken = gateway.replayGuard.take(signature, call.account, Number(timestamp), gateway.now())
    if (taken === 'full') {
      gateway.counters[GATEWAY.openings_full]!++
      return call.refuse(new Refused('OVERLOADED'))
    }
    if (taken === 'used') return call.refuse(new Refused('UNAUTHENTICATED', 'This signature has opened a session already'))
    const found = findSession(gateway.sessions, key)
    if (typeof found === 'string') return call.refuse(new Refused('SESSION_INVALID'))
    if (this.#session !== null) gateway.watch.remove(this.#session)
    this.#session = { key, session: call.session, generation: call.generation, counter, end: () => this.#cut() }
    gateway.watch.add(this.#session)
    call.answer({ expiresAt: Math.floor(found.view.expiresAt / 1000) })
  }

  /** The action is not answered: its session is over. */
  #leave(call: StreamCall): void {
    call.drop(new Refused('SESSION_INVALID'))
    this.#open--
  }

  /** Ends the stream with a status; answers that are ready leave before it, what is still under way is dropped. */
  end(refused: Refused, call: StreamCall): void {
    call.drop(refused)
    this.#close(refused)
  }

  #close(refused: Refused): void {
    if (this.#ended) return
    this.#flush()
    this.#release()
    this.#call.sendStatus(this.#front.statuses.ending(refused))
  }

  /** Takes the answer of one action. */
  push(answer: Message): void {
    if (this.#ended) return
    const { answer: type } = this.#types
    this.#answers ??= protobuf.Writer.create()
    // Field 1 of StreamOrdersResponse, length-delimited.
    type.encode(answer, this.#answers.uint32(ANSWERS_TAG).fork()).ldelim()
    this.#ready++
    if (this.#answers.len > FLUSH_BYTES) this.#flush()
    else this.#flushLater()
  }

  #flushLater(): void {
    if (this.#flushing || this.#writing) return
    this.#flushing = true
    setImmediate(() => {
      this.#flushing = false
      if (!this.#writing) this.#flush()
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
    this.#open -= count
    if (this.#ended) return
    this.#flush()
    if (!this.#reading && this.#ending === null && this.#open <= IN_FLIGHT_RESUME) {
      this.#reading = true
      this.#call.startRead()
    }
    this.#endWhenDone()
  }

  #endWhenDone(): void {
    if (this.#open > 0 || this.#ended) return
    if (this.#ending !== null) return this.#close(this.#ending)
    if (!this.#halfClosed) return
    this.#release()
    this.#call.sendStatus({ code: status.OK, details: 'OK', metadata: null })
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

