/** Clients of the WebSocket: the package `ws`, which knows nothing of the server's library, and raw sockets that send any bytes. */
import { createHash, sign } from 'node:crypto'
import { createRequire } from 'node:module'
import { connect, type Socket as TcpSocket } from 'node:net'
import { checkFrame } from './frame_check.ts'
import type { Session } from './gateway_harness.ts'

/** What is used of `ws`, which comes without types. */
interface PackageSocket {
  on(event: 'message', listener: (data: Buffer) => void): void
  on(event: 'close', listener: (code: number, reason: Buffer) => void): void
  on(event: 'error', listener: (error: Error) => void): void
  on(event: 'pong', listener: (data: Buffer) => void): void
  on(event: 'unexpected-response', listener: (request: unknown, response: { statusCode: number }) => void): void
  send(data: string | Buffer, options?: { binary?: boolean }): void
  ping(data?: string): void
  close(code?: number): void
  terminate(): void
  pause(): void
  readonly extensions: string
}
type PackageSocketClass = new (url: string, options: { headers: Record<string, string>; ca?: string }) => PackageSocket
const { WebSocket: PackageSocketType } = createRequire(import.meta.url)('ws') as { WebSocket: PackageSocketClass }

export type Frame = Record<string, any>

/** Who signs: a session of the harness, or a signer of the client. */
export interface SocketSigner {
  readonly publicKey: string
  sign(bytes: Buffer): Uint8Array
}

export const signerOf = ({ publicKey, privateKey }: Session): SocketSigner =>
  ({ publicKey, sign: (bytes) => sign(null, bytes, privateKey) })

/** The message that authenticates a socket. */
export function authMessage({ publicKey, sign: signBytes }: SocketSigner, timestamp = String(Date.now()), target = '/ws'): Frame {
  const digest = createHash('sha256').update('').digest('hex')
  const signature = Buffer.from(signBytes(Buffer.from(`GET\n${target}\n${timestamp}\n${digest}`))).toString('hex')
  return { type: 'auth', publicKey, timestamp, signature }
}

const WAIT_MS = 20_000

export class SocketClient {
  /** Every frame that came, in order. */
  readonly frames: Frame[] = []
  /** Length of the text of each. */
  readonly closed: Promise<{ code: number; reason: string }>
  readonly socket: PackageSocket
  readonly #listeners = new Set<() => void>()
  #asked = 0
  #over = false

  private constructor(url: string, headers: Record<string, string>, ca: string | null) {
    this.socket = new PackageSocketType(url, { headers, ...(ca === null ? {} : { ca }) })
    this.socket.on('message', (data) => {
      checkFrame(data.toString())
      this.frames.push(JSON.parse(data.toString()) as Frame)
      for (const look of [...this.#listeners]) look()
    })
    this.socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.#over = true
        resolve({ code, reason: reason.toString() })
        for (const look of [...this.#listeners]) look()
      })
    })
  }

  /** Connects, over TLS when it is told whom to trust, and waits for the first frame; throws when the upgrade is refused. */
  static async open(
    port: number, headers: Record<string, string> = { 'User-Agent': 'test' }, ca: string | null = null,
  ): Promise<SocketClient> {
    const client = new SocketClient(`${ca === null ? 'ws' : 'wss'}://127.0.0.1:${port}/ws`, headers, ca)
    await Promise.race([
      client.next((frame) => frame['type'] === 'connected').catch(() => new Promise(() => undefined)),
      client.closed.then(({ code }) => Promise.reject(new Error(`closed before it was connected: ${code}`))),
    ])
    return client
  }

  send(message: Frame | string | Buffer): void {
    this.socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message))
  }

  /** The first frame from number `from` on for which this holds; throws when there can be none. */
  next(holds: (frame: Frame) => boolean, from = 0): Promise<Frame> {
    return new Promise((resolve, reject) => {
      let at = from
      const look = (): void => {
        for (; at < this.frames.length; at++) {
          if (!holds(this.frames[at]!)) continue
          finish()
          return resolve(this.frames[at]!)
        }
        if (this.#over) fail('the socket is closed')
      }
      const fail = (why: string): void => {
        finish()
        reject(new Error(`${why}; the last frames: ${JSON.stringify(this.frames.slice(-3)).slice(0, 1000)}`))
      }
      const finish = (): void => {
        clearTimeout(timer)
        this.#listeners.delete(look)
      }
      const timer = setTimeout(() => fail('no such frame'), WAIT_MS)
      this.#listeners.add(look)
      look()
    })
  }

  /** Sends a request with an id of its own and waits for what answers it. */
  ask(message: Frame): Promise<Frame> {
    const id = `ask-${++this.#asked}`
    const from = this.frames.length
    this.send({ ...message, id })
    return this.next((frame) => frame['id'] === id, from)
  }

  subscribe(channel: string, params: object = {}): Promise<Frame> {
    return this.ask({ type: 'subscribe', channel, params })
  }

  async authenticate(signer: SocketSigner): Promise<Frame> {
    const from = this.frames.length
    this.send(authMessage(signer))
    return this.next(({ type }) => type === 'authenticated' || type === 'error', from)
  }

  /** Frames of a channel, from number `from` on. */
  of(channel: string, from = 0): Frame[] {
    return this.frames.slice(from).filter((frame) => frame['channel'] === channel && frame['data'] !== undefined)
  }

  close(): void {
    this.socket.terminate()
  }
}

/** One frame, masked unless it is told otherwise; `first` is the first byte: FIN, reserved bits, opcode. */
export function rawFrame(first: number, payload: string | Buffer = '', masked = true): Buffer {
  const bytes = Buffer.from(payload as string)
  const { length } = bytes
  const mask = masked ? 0x80 : 0
  const head = length < 126 ? [first, mask | length] : length < 65_536 ? [first, mask | 126, length >>> 8, length & 0xff]
    : [first, mask | 127, 0, 0, 0, 0, length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff]
  const key = masked ? Buffer.from([0x37, 0xfa, 0x21, 0x3d]) : Buffer.alloc(0)
  if (masked) for (let i = 0; i < length; i++) bytes[i]! ^= key[i & 3]!
  return Buffer.concat([Buffer.from(head), key, bytes])
}

const TEXT = 1
export interface RawFrame {
  readonly opcode: number
  readonly payload: Buffer
}

/** A socket that has upgraded (or was refused) and sends what it is given. */
export class RawSocket {
  readonly socket: TcpSocket
  /** Frames that were held against their declaration. */
  #checked = 0
  #received = Buffer.alloc(0)
  closed = false
  readonly #listeners = new Set<() => void>()

  constructor(port: number, head: readonly string[] = UPGRADE) {
    this.socket = connect(port, '127.0.0.1', () => this.socket.write(`${head.join('\r\n')}\r\n\r\n`))
    const told = (): void => {
      for (const listener of [...this.#listeners]) listener()
    }
    this.socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
      told()
    })
    this.socket.on('error', () => undefined)
    this.socket.on('close', () => {
      this.closed = true
      told()
    })
  }

  /** Status of the answer to the upgrade; 0 before it came. */
  get status(): number {
    return this.#received.includes('\r\n\r\n') ? Number(this.#received.toString('latin1').split(' ')[1]) : 0
  }

  get head(): string {
    return this.#received.subarray(0, this.#received.indexOf('\r\n\r\n')).toString('latin1').toLowerCase()
  }

  /** Frames of the server that are complete. It does not mask them. */
  get frames(): RawFrame[] {
    const frames: RawFrame[] = []
    let at = this.#received.indexOf('\r\n\r\n') + 4
    while (at >= 4 && at + 2 <= this.#received.length) {
      let length = this.#received[at + 1]! & 0x7f
      let start = at + 2
      if (length === 126) {
        length = this.#received.readUInt16BE(start)
        start += 2
      } else if (length === 127) {
        length = Number(this.#received.readBigUInt64BE(start))
        start += 8
      }
      if (start + length > this.#received.length) break
      frames.push({ opcode: this.#received[at]! & 0x0f, payload: this.#received.subarray(start, start + length) })
      at = start + length
    }
    for (; this.#checked < frames.length; this.#checked++) {
      const { opcode, payload } = frames[this.#checked]!
      if (opcode === TEXT) checkFrame(payload.toString())
    }
    return frames
  }

  /** Waits until this holds; false when it never does. */
  until(holds: () => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (holds()) finish(true)
      }
      const finish = (result: boolean): void => {
        clearTimeout(timer)
        this.#listeners.delete(look)
        resolve(result)
      }
      const timer = setTimeout(() => finish(holds()), WAIT_MS)
      this.#listeners.add(look)
      look()
    })
  }

  write(...frames: Buffer[]): void {
    this.socket.write(Buffer.concat(frames))
  }

  destroy(): void {
    this.socket.destroy()
  }
}

export const UPGRADE: readonly string[] = [
  'GET /ws HTTP/1.1', 'Host: test', 'User-Agent: test', 'Upgrade: websocket', 'Connection: Upgrade',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13',
]
