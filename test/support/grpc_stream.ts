/** A client of OrdersService.StreamOrders: signs actions or counts them, and collects answers by request id. */
import { createHash, sign } from 'node:crypto'
import { Metadata, status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js'
import type { Session } from './gateway_harness.ts'
import { decodeMessage, detailsOf, encodeMessage, pathOf, type GrpcClient } from './grpc.ts'

export const STREAM = pathOf('StreamOrders')

/** The three credential fields for an action. */
export function signAction(session: Session, action: Uint8Array, timestamp = Date.now(), path = STREAM): object {
  const digest = createHash('sha256').update(action).digest('hex')
  const signature = sign(null, Buffer.from(`POST\n${path}\n${timestamp}\n${digest}`), session.privateKey).toString('hex')
  return { publicKey: session.publicKey, timestamp, signature }
}

export const encodeAction = (action: object): Buffer => encodeMessage('StreamOrdersAction', action)

/** One StreamOrdersRequest; without a session it carries no credentials. */
export function encodeRequest(action: object, session: Session | null): Buffer {
  const bytes = encodeAction(action)
  return encodeMessage('StreamOrdersRequest', { action: bytes, ...(session === null ? {} : signAction(session, bytes)) })
}

export interface StreamEnd {
  readonly code: status
  readonly message: string
  readonly reason: string | undefined
}

export class StreamClient {
  readonly call: ClientDuplexStream<Buffer, Buffer>
  /** Answers by request id, and how many came with each message. */
  readonly answers = new Map<string, any>()
  readonly order: string[] = []
  readonly batches: number[] = []
  readonly ended: Promise<StreamEnd>
  #wake: (() => void) | null = null

  constructor(client: GrpcClient) {
    const asIs = (bytes: Buffer): Buffer => bytes
    this.call = client.client.makeBidiStreamRequest<Buffer, Buffer>(STREAM, asIs, asIs, new Metadata())
    this.call.on('data', (bytes: Buffer) => this.#take(bytes))
    this.ended = new Promise((resolve) => {
      let failure: ServiceError | null = null
      this.call.on('error', (error: ServiceError) => (failure = error))
      this.call.on('status', ({ code, details, metadata }) => {
        const bytes = metadata.get('grpc-status-details-bin')[0] as Buffer | undefined
        resolve({ code: failure?.code ?? code, message: details, reason: bytes === undefined ? undefined : detailsOf(bytes).reason })
      })
    })
  }

  #take(bytes: Buffer): void {
    const { answers } = decodeMessage('StreamOrdersResponse', bytes)
    this.batches.push(answers.length)
    for (const answer of answers) {
      this.answers.set(answer.requestId, answer)
      this.order.push(answer.requestId)
    }
    this.#wake?.()
  }

  send(action: object, session: Session | null = null): void {
    this.call.write(encodeRequest(action, session))
  }

  /** Sends one action and waits for its answer. */
  async ask(action: { requestId: string }, session: Session | null = null): Promise<any> {
    this.send(action, session)
    await this.count(1, (id) => id === action.requestId)
    return this.answers.get(action.requestId)
  }

  /** Waits for `wanted` answers; rejects when the stream ends before. */
  async count(wanted: number, which: (requestId: string) => boolean = () => true): Promise<void> {
    const enough = (): boolean => this.order.filter(which).length >= wanted
    const over = this.ended.then(({ code, message }) => {
      if (!enough()) throw new Error(`the stream ended with ${status[code]}: ${message}`)
    })
    over.catch(() => undefined)
    while (!enough()) await Promise.race([new Promise<void>((resolve) => (this.#wake = resolve)), over])
  }
}
