/**
 * A load generator for gRPC: requests framed and signed beforehand, sent over plain HTTP/2 connections, answers counted without decoding
 * more than it takes. A gRPC library as the client would cost more than the server.
 */
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { hash } from 'node:crypto'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { loadSchema, messageOf } from '../../gateway/grpc/schema.ts'
import type { Trader } from '../../test/support/traders.ts'
import { randomOrder } from './orders.ts'

const root = loadSchema()
const encode = (name: string, value: object): Buffer => {
  const type = messageOf(root, name)
  return Buffer.from(type.encode(type.fromObject(value)).finish())
}
export const CREATE = '/svc.v1.OrdersService/CreateOrder'
export const STREAM = '/svc.v1.OrdersService/StreamOrders'

/** A gRPC message frame: not compressed, length, bytes. */
function frame(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/** The same orders as over HTTP, enumerations by their names in the .proto files. */
function order(pair: string, random: Prng): object {
  const { orderType, side, timeInForce, ...terms } = randomOrder(pair, random)
  return { ...terms, orderType: `ORDER_TYPE_${orderType}`, side: `SIDE_${side}`, timeInForce: `TIME_IN_FORCE_${timeInForce}` }
}

function sign({ signer }: Trader, path: string, bytes: Uint8Array, timestamp: number): string {
  return Buffer.from(signer.sign(Buffer.from(`POST\n${path}\n${timestamp}\n${hash('sha256', bytes)}`))).toString('hex')
}

const callTo = (path: string): Record<string, string> =>
  ({ ':method': 'POST', ':path': path, ':scheme': 'http', ':authority': 'bench', 'content-type': 'application/grpc', te: 'trailers' })

export interface UnaryRequest {
  readonly headers: Record<string, string>
  readonly body: Buffer
}

/** `count` signed CreateOrder calls. */
export function signUnary(traders: readonly Trader[], pair: string, count: number, seed: number): UnaryRequest[] {
  const random = createPrng(seed)
  const timestamp = Date.now()
  return Array.from({ length: count }, (_, i) => {
    const trader = traders[i % traders.length]!
    const bytes = encode('CreateOrderRequest', order(pair, random))
    const headers = {
      ...callTo(CREATE),
      'x-svc-publickey': trader.signer.publicKey,
      'x-svc-timestamp': String(timestamp),
      'x-svc-signature': sign(trader, CREATE, bytes, timestamp),
    }
    return { headers, body: frame(bytes) }
  })
}

/** `count` framed StreamOrdersRequests, each with its own signature. */
export function signActions(traders: readonly Trader[], pair: string, count: number, seed: number): Buffer[] {
  const random = createPrng(seed)
  return Array.from({ length: count }, (_, i) => {
    const trader = traders[i % traders.length]!
    return signedAction(trader, { requestId: String(i), createOrder: order(pair, random) })
  })
}

export function signedAction(trader: Trader, value: object): Buffer {
  const action = encode('StreamOrdersAction', value)
  const timestamp = Date.now()
  const signature = sign(trader, STREAM, action, timestamp)
  return frame(encode('StreamOrdersRequest', { action, publicKey: trader.signer.publicKey, timestamp, signature }))
}

/** Framed actions of a session that is open, without credentials; the first has `counter`. */
export function countedActions(pair: string, count: number, seed: number, counter: number): Buffer[] {
  const random = createPrng(seed)
  return Array.from({ length: count }, (_, i) => countedAction(counter + i, order(pair, random)))
}

/** Of a StreamOrdersResponse: request id, order and status of every order that was made. */
export function createdIn(message: Buffer): { requestId: string; createOrder?: { orderId: string; matchResult?: { status: string } } }[] {
  const type = messageOf(root, 'StreamOrdersResponse')
  return type.toObject(type.decode(message), { enums: String })['answers']
}

/** One of them: creates this order. */
export function countedAction(counter: number, createOrder: object): Buffer {
  const action = encode('StreamOrdersAction', { requestId: String(counter), counter, createOrder })
  return frame(encode('StreamOrdersRequest', { action }))
}

export interface Tally {
  /** Orders that were accepted. */
  accepted: number
  refused: number
  /** Of answers, ms: since they were sent, or since they were due, whichever the caller said. */
  latencies: number[]
}

const newTally = (): Tally => ({ accepted: 0, refused: 0, latencies: [] })

export const openConnection = (port: number): ClientHttp2Session => {
  const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 4 * 1024 * 1024 } })
  session.on('connect', () => session.setLocalWindowSize(16 * 1024 * 1024))
  return session
}

/** One connection of unary calls. */
export class UnaryLoad {
  readonly tally = newTally()
  readonly #session: ClientHttp2Session
  #ended: (() => void) | null = null
  #failure: Error | null = null
  #open = 0

  constructor(session: ClientHttp2Session) {
    this.#session = session
  }

  /** Keeps `inFlight` calls going with requests of `next`, until it gives `null`; resolves when all have ended. */
  async drive(next: () => UnaryRequest | null, inFlight: number): Promise<void> {
    for (let done = false; !done || this.#open > 0; ) {
      while (!done && this.#open < inFlight) {
        const request = next()
        done = request === null
        if (request !== null) this.send(request, performance.now())
      }
      if (this.#open > 0) await new Promise<void>((resolve) => (this.#ended = resolve))
      if (this.#failure !== null) throw this.#failure
    }
  }

  /** Calls, however many calls have not ended; its latency counts from `due`. */
  send({ headers, body }: UnaryRequest, due: number): void {
    const stream = this.#session.request(headers)
    let status = ''
    const note = (received: Record<string, unknown>): void => void (status = String(received['grpc-status'] ?? status))
    this.#open++
    stream.on('response', note)
    stream.on('trailers', note)
    stream.on('error', (error) => (this.#failure = error))
    stream.on('close', () => {
      if (status === '0') this.tally.accepted++
      else this.tally.refused++
      this.tally.latencies.push(performance.now() - due)
      this.#open--
      this.#ended?.()
    })
    stream.resume()
    stream.end(body)
  }

  flush(): void {
    if (this.#failure !== null) throw this.#failure
  }

  /** Calls that have not ended. */
  get open(): number {
    return this.#open
  }
}

/** One StreamOrders stream: writes frames and counts answers. */
export class StreamLoad {
  readonly stream: ClientHttp2Stream
  readonly tally = newTally()
  /** Gets every StreamOrdersResponse whole. */
  onResponse: ((message: Buffer) => void) | null = null
  readonly #started: number[] = []
  #rest: Buffer = Buffer.alloc(0)
  #answered: (() => void) | null = null
  #open = 0
  #due: Buffer[] = []

  constructor(session: ClientHttp2Session) {
    this.stream = session.request(callTo(STREAM))
    this.stream.on('data', (chunk: Buffer) => this.#take(chunk))
    this.stream.on('error', () => undefined)
  }

  /** Sends frames of `next` with `inFlight` not answered at most, until it gives `null`; resolves when all are answered. */
  async drive(next: () => Buffer | null, inFlight: number): Promise<void> {
    for (let done = false; !done; ) {
      const chunk: Buffer[] = []
      const now = performance.now()
      while (this.#open < inFlight) {
        const bytes = next()
        done = bytes === null
        if (bytes === null) break
        chunk.push(bytes)
        this.#started.push(now)
        this.#open++
      }
      if (chunk.length > 0) this.stream.write(Buffer.concat(chunk))
      if (!done) await this.#some()
    }
    while (this.#open > 0) await this.#some()
  }

  /** Sends a frame with the next {@link flush}, however many are not answered; its latency counts from `due`. */
  send(bytes: Buffer, due: number): void {
    this.#due.push(bytes)
    this.#started.push(due)
    this.#open++
  }

  flush(): void {
    if (this.stream.destroyed) throw new Error(`the stream ended with ${this.stream.rstCode}`)
    if (this.#due.length > 0) this.stream.write(Buffer.concat(this.#due))
    this.#due = []
  }

  /** Frames that are not answered. */
  get open(): number {
    return this.#open
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.stream.once('close', resolve))
    this.stream.end()
    await closed
  }

  #some(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve
      if (this.stream.destroyed) reject(new Error(`the stream ended with ${this.stream.rstCode}`))
    })
  }

  #take(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
      const end = 5 + bytes.readUInt32BE(1)
      this.#count(bytes, 5, end)
      this.onResponse?.(bytes.subarray(5, end))
      bytes = bytes.subarray(end)
    }
    this.#rest = bytes
    this.#answered?.()
  }

  /** Answers of one StreamOrdersResponse: field 1, each beginning with its request id and then the error (field 2) or the result. */
  #count(bytes: Buffer, from: number, to: number): void {
    const now = performance.now()
    for (let at = from; at < to; ) {
      let length = bytes[at + 1]!
      let start = at + 2
      if (length >= 0x80) {
        length = (length & 0x7f) | (bytes[start]! << 7)
        start++
      }
      const result = start + 2 + bytes[start + 1]!
      if (bytes[result] === ERROR_TAG) this.tally.refused++
      else this.tally.accepted++
      // Answers come in the order of the requests but for refusals, which is near enough for a latency.
      this.tally.latencies.push(now - this.#started.shift()!)
      this.#open--
      at = start + length
    }
  }
}

/** Field 2, length-delimited. */
const ERROR_TAG = (2 << 3) | 2
