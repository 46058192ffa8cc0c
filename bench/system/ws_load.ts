/**
 * A load generator for order entry on WebSockets: frames made, masked and signed beforehand, written to plain sockets, answers counted
 * without parsing them. A WebSocket library as the client would cost as much as the server.
 */
import { connect, type Socket } from 'node:net'
import { createPrng } from '../../core/lib/prng.ts'
import { signedOrder } from '../../test/support/order_client.ts'
import type { Trader } from '../../test/support/traders.ts'
import type { Tally } from './grpc_load.ts'
import { randomOrder } from './orders.ts'

/** Ids are numbers of six digits, so that the status of every answer stands in the same place. */
export const FIRST_ID = 100_000
const ID_AT = '{"type":"result","id":'.length
const STATUS_AT = '{"type":"result","id":100000,"status":'.length
const GOOD = '2'.charCodeAt(0)

/** A number of `digits` digits at this place. */
function numberAt(bytes: Buffer, at: number, digits: number): number {
  let number = 0
  for (let i = at; i < at + digits; i++) number = number * 10 + bytes[i]! - 0x30
  return number
}

/** Of the answer whose text begins at `start`. */
export const idOf = (bytes: Buffer, start: number): number => numberAt(bytes, start + ID_AT, 6)
export const statusOf = (bytes: Buffer, start: number): number => numberAt(bytes, start + STATUS_AT, 3)

/** The same message with another id, which is not signed. */
export function withId(message: Buffer, id: number): Buffer {
  const copy = Buffer.from(message)
  copy.write(String(id), copy.indexOf('"id":') + '"id":'.length, 'latin1')
  return copy
}

/** A text frame of a client. Its mask is zero, which is as good as any and leaves the text as it is. */
export function frame(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message))
  const { length } = text
  const head = length < 126 ? [0x81, 0x80 | length] : [0x81, 0xfe, length >>> 8, length & 0xff]
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), text])
}

/** `count` orders, each with its own signature. */
export function signedFrames(traders: readonly Trader[], pair: string, count: number, seed: number): Buffer[] {
  const random = createPrng(seed)
  return Array.from({ length: count }, (_, i) => {
    const body = JSON.stringify(randomOrder(pair, random))
    return frame(signedOrder(traders[i % traders.length]!.signer, 'order.create', body, FIRST_ID + i))
  })
}

/** `count` orders of an open session; the first has `counter`. `keyOf` gives each an idempotency key. */
export function countedFrames(
  pair: string, count: number, seed: number, counter: number, keyOf: (order: number) => string | undefined = () => undefined,
): Buffer[] {
  const random = createPrng(seed)
  return Array.from({ length: count }, (_, i) => {
    const idempotencyKey = keyOf(i)
    const body = { ...randomOrder(pair, random), ...(idempotencyKey === undefined ? {} : { idempotencyKey }) }
    return frame({ type: 'order.create', id: FIRST_ID + i, counter: counter + i, body })
  })
}

export const openingFrame = ({ signer }: Trader): Buffer => frame(signedOrder(signer, 'session.open', undefined, FIRST_ID))

/** One socket: writes frames and counts answers. */
export class SocketLoad {
  readonly tally: Tally = { accepted: 0, refused: 0, latencies: [] }
  /** Gets every answer: its text begins at `start`. */
  onAnswer: ((bytes: Buffer, start: number) => void) | null = null
  readonly #socket: Socket
  readonly #started: number[] = []
  #rest: Buffer = Buffer.alloc(0)
  #some: (() => void) | null = null
  #open = 0
  #due: Buffer[] = []
  #ended = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#ended = true
      this.#some?.()
    })
  }

  static open(port: number): Promise<SocketLoad> {
    const head = [
      'GET /ws HTTP/1.1', 'Host: bench', 'User-Agent: bench', 'Upgrade: websocket', 'Connection: Upgrade',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13',
    ]
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(`${head.join('\r\n')}\r\n\r\n`))
      socket.once('error', reject)
      let received = Buffer.alloc(0)
      const listen = (chunk: Buffer): void => {
        received = Buffer.concat([received, chunk])
        // The head of the answer and the frame `connected` behind it.
        if (!received.includes('heartbeatMs')) return
        socket.off('data', listen)
        resolve(new SocketLoad(socket))
      }
      socket.on('data', listen)
    })
  }

  /** Sends frames of `next` with `inFlight` not answered at most, until it gives `null`; resolves when all are answered. */
  async drive(next: () => Buffer | null, inFlight: number): Promise<void> {
    for (let done = false; !done || this.#open > 0; ) {
      const chunk: Buffer[] = []
      const now = performance.now()
      while (!done && this.#open < inFlight) {
        const bytes = next()
        done = bytes === null
        if (bytes === null) break
        chunk.push(bytes)
        this.#started.push(now)
        this.#open++
      }
      if (chunk.length > 0) this.#socket.write(Buffer.concat(chunk))
      if (this.#open > 0) await new Promise<void>((resolve) => (this.#some = resolve))
      if (this.#ended) throw new Error(`the connection ended: ${this.#rest.toString('latin1', 0, 300)}`)
    }
  }

  /** Sends a frame with the next {@link flush}, however many are not answered; its latency counts from `due`. */
  send(bytes: Buffer, due: number): void {
    this.#due.push(bytes)
    this.#started.push(due)
    this.#open++
  }

  flush(): void {
    if (this.#ended) throw new Error(`the connection ended: ${this.#rest.toString('latin1', 0, 300)}`)
    if (this.#due.length > 0) this.#socket.write(Buffer.concat(this.#due))
    this.#due = []
  }

  /** Frames that are not answered. */
  get open(): number {
    return this.#open
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Frames of the server are not masked; answers of single orders have 126 to 65,535 bytes, others have less. */
  #take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const now = performance.now()
    let at = 0
    while (at + 4 <= bytes.length) {
      const long = bytes[at + 1] === 126
      const start = at + (long ? 4 : 2)
      const end = start + (long ? bytes.readUInt16BE(at + 2) : bytes[at + 1]!)
      if (end > bytes.length) break
      this.onAnswer?.(bytes, start)
      if (bytes[start + STATUS_AT] === GOOD) this.tally.accepted++
      else this.tally.refused++
      // Answers come in the order of the messages but for refusals, which is near enough for a latency.
      this.tally.latencies.push(now - this.#started.shift()!)
      this.#open--
      at = end
    }
    this.#rest = bytes.subarray(at)
    this.#some?.()
  }
}
