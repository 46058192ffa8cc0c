/**
 * One unary call: its credentials, a signature over the exact serialised bytes, its message, its answer. What comes of it is the same for
 * every transport (operations/serve.ts). What nobody signed waits for its share of the thread (limits/anonymous.ts); what the library
 * takes for a call is paid for besides, {@link LIBRARY_MS}.
 *
 * grpc-js ends a call whose deadline passed; like a cancelled one it is dropped, and what it asked of the engine goes on.
 */
import type { handleUnaryCall, sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js'
import { authenticate } from '../auth/authenticate.ts'
import { authenticateServer } from '../auth/server_key.ts'
import { Refused, SHUTTING_DOWN } from '../refused.ts'
import type { Payer } from '../limits/anonymous.ts'
import type { Budget } from '../limits/budget.ts'
import { networkOf } from '../limits/network.ts'
import type { JsonObject } from '../operations/operation.ts'
import { serve, servePublic, type ServedCall } from '../operations/serve.ts'
import { readCredentials } from './credentials.ts'
import { clientOf, countAborted, countAnswer, countRequest, requestIdOf, type Front } from './front.ts'
import { decodeMessage, type Method } from './methods.ts'
import { answerMetadata } from './status.ts'

type Bytes = Buffer
type Incoming = ServerUnaryCall<Bytes, Bytes>

/** What grpc-js and Node's HTTP/2 take for a unary call, ms: nine tenths of it, before and behind what is measured here. */
export const LIBRARY_MS = 0.15

class UnaryCall implements ServedCall {
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
  readonly #client: string
  readonly requestId: string

  constructor(front: Front, method: Method, incoming: Incoming, reply: sendUnaryData<Bytes>) {
    this.#front = front
    this.#method = method
    this.#incoming = incoming
    this.#reply = reply
    this.#client = networkOf(this.ip())
    this.requestId = requestIdOf(front, incoming.metadata)
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
    this.resume(payer, () => servePublic(this.#front.gateway, this.#method.served, this, payer))
  }

  resume(payer: Payer, act: () => void): void {
    payer.charge(LIBRARY_MS)
    act()
  }

  authenticate(): Refused | null {
    const { row } = this.#method.served
    const { request: body, metadata } = this.#incoming
    const { sessions, applications, counters, now, time } = this.#front.gateway
    const credentials = readCredentials(metadata)
    if (credentials instanceof Refused) return credentials
    if (row.access === 'public') return null
    if (row.access === 'server-key') return authenticateServer(applications, credentials.serverKey, time(), counters, this)
    const signed = { method: 'POST', target: this.#method.path, body, messageSignature: null, ...credentials }
    return authenticate(sessions, signed, now(), counters, this)
  }

  readInput(): JsonObject | Refused {
    const decoded = decodeMessage(this.#method.request, this.#incoming.request)
    return decoded instanceof Refused ? decoded : this.#method.readInput(decoded.message, decoded.unknown)
  }

  answer(output: unknown): void {
    if (this.#ended) return
    const bytes = this.#method.response.encode(this.#method.write(output as object)).finish()
    this.#ended = true
    countAnswer(this.#front, null)
    this.#incoming.sendMetadata(answerMetadata(this.budget, this.requestId))
    this.#reply(null, bytes as Bytes)
  }

  refuse(refused: Refused): void {
    if (this.#ended) return
    this.#ended = true
    countAnswer(this.#front, refused)
    this.#reply(this.#front.statuses.ending(refused, this.requestId))
  }
}

/** The handler of one method. Requests and responses are bytes: the signature is over them. */
export function serveUnary(front: Front, method: Method): handleUnaryCall<Bytes, Bytes> {
  return (incoming, reply) => {
    const call = new UnaryCall(front, method, incoming, reply)
    if (front.stopping) call.refuse(new Refused('ENGINE_UNAVAILABLE', SHUTTING_DOWN))
    else serve(front.gateway, method.served, call)
  }
}
