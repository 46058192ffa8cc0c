/**
 * One unary call from bytes to answer: credentials, signature over the exact serialised bytes, message, input, admission, operation; the
 * same order and the same parts as over HTTP. What nobody signed waits for its share of the thread (limits/anonymous.ts); what the library
 * takes for a call is paid for besides, {@link LIBRARY_MS}.
 *
 * grpc-js ends a call whose deadline passed; like a cancelled one it is dropped, and what it asked of the engine goes on.
 */
import type { handleUnaryCall, sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js'
import type { RefusalCode } from '../../core/layout/refusals.ts'
import { authenticate } from '../auth/authenticate.ts'
import { authenticateServer } from '../auth/server_key.ts'
import { Refused, SHUTTING_DOWN } from '../refused.ts'
import type { Job, Payer } from '../limits/anonymous.ts'
import type { Budget } from '../limits/budget.ts'
import { networkOf } from '../limits/network.ts'
import { admit } from '../operations/admission.ts'
import type { Call, Operation } from '../operations/operation.ts'
import { readCredentials } from './credentials.ts'
import { clientOf, countAborted, countAnswer, countRequest, type Front } from './front.ts'
import { decodeMessage, type Method } from './methods.ts'
import { budgetMetadata } from './status.ts'

type Bytes = Buffer
type Incoming = ServerUnaryCall<Bytes, Bytes>

/** What grpc-js and Node's HTTP/2 take for a unary call, ms: nine tenths of it, before and behind what is measured here. */
export const LIBRARY_MS = 0.15

class UnaryCall implements Call, Job {
  account = -1
  application = 0
  session = -1
  generation = 0
  agent = -1
  budget: Budget | null = null
  readonly #front: Front
  readonly #method: Method
  readonly #incoming: Incoming
  readonly #reply: sendUnaryData<Bytes>
  #ended = false
  /** Whose credentials are wrong. */
  rejected = false
  readonly #client: string

  constructor(front: Front, method: Method, incoming: Incoming, reply: sendUnaryData<Bytes>) {
    this.#front = front
    this.#method = method
    this.#incoming = incoming
    this.#reply = reply
    this.#client = networkOf(this.ip())
    countRequest(front, incoming.request.length)
    incoming.once('cancelled', () => {
      if (this.#ended) return
      this.#ended = true
      countAborted(front)
    })
  }

  ip(): string {
    return clientOf(this.#front, this.#incoming.getPeer(), this.#incoming.metadata)
  }

  get client(): string {
    return this.#client
  }

  get reads(): boolean {
    return this.#method.served.row.method === 'GET'
  }

  get over(): boolean {
    return this.#ended
  }

  keep(): void {
    // The message is the call's own, and counts as held until that is over.
  }

  run(payer: Payer): void {
    const { history } = this.#front.gateway
    payer.charge(LIBRARY_MS)
    history.payer = payer
    this.serveSafely()
    history.payer = null
  }

  /** Answers or refuses, whatever goes wrong. */
  serveSafely(): void {
    try {
      serve(this.#front, this.#method, this.#incoming, this)
    } catch (error) {
      this.fail(error)
    }
  }

  answer(output: unknown): void {
    if (this.#ended) return
    let bytes: Uint8Array
    try {
      bytes = this.#method.response.encode(this.#method.write(output as object)).finish()
    } catch (error) {
      return this.fail(error)
    }
    this.#ended = true
    countAnswer(this.#front, null)
    const metadata = budgetMetadata(this.budget)
    if (metadata !== null) this.#incoming.sendMetadata(metadata)
    this.#reply(null, bytes as Bytes)
  }

  refuse(refused: Refused): void {
    if (this.#ended) return
    this.#ended = true
    countAnswer(this.#front, refused)
    this.#reply(this.#front.statuses.ending(refused))
  }

  reject(code: RefusalCode): void {
    this.rejected = true
    this.refuse(new Refused(code))
  }

  /** An unexpected error: logged and counted, nothing of it leaves. */
  fail(error: unknown): void {
    this.#front.gateway.engine.onError(error)
    this.refuse(new Refused('INTERNAL'))
  }
}

/** The handler of one method. Requests and responses are bytes: the signature is over them. */
export function serveUnary(front: Front, method: Method): handleUnaryCall<Bytes, Bytes> {
  return (incoming, reply) => {
    const { anonymous } = front.gateway
    const call = new UnaryCall(front, method, incoming, reply)
    if (method.served.row.access === 'public') return anonymous.submit(call)
    const from = performance.now()
    call.serveSafely()
    const until = performance.now()
    if (call.rejected) anonymous.charge(call.client, until - from)
    else anonymous.signed(from, until)
  }
}

function serve(front: Front, method: Method, incoming: Incoming, call: UnaryCall): void {
  const { gateway } = front
  const { row, operation } = method.served
  if (front.stopping) return call.refuse(new Refused('ENGINE_UNAVAILABLE', SHUTTING_DOWN))
  const credentials = readCredentials(incoming.metadata)
  if (typeof credentials === 'string') return call.reject(credentials)
  const body = incoming.request
  if (row.access === 'session') {
    const signed = { method: 'POST', target: method.path, body, messageSignature: null, ...credentials }
    const code = authenticate(gateway.sessions, signed, gateway.now(), gateway.counters, call)
    if (code !== null) return call.reject(code)
  } else if (row.access === 'server-key') {
    const code = authenticateServer(gateway.applications, credentials.serverKey, gateway.time(), gateway.counters, call)
    if (code !== null) return call.reject(code)
  }
  const message = decodeMessage(method.request, body)
  if (message instanceof Refused) return call.refuse(message)
  const input = method.readInput(message)
  if (input instanceof Refused) return call.refuse(input)
  const refused = admit(gateway, row, call, input)
  if (refused !== null) return call.refuse(refused)
  ;(operation as Operation<unknown>).run(gateway, call as Call<unknown>, input)
}
