/**
 * Bodies that came in part: what they hold, and until when they must have come.
 *
 * Only what arrived is held, never what a head promises. All together hold `bodyMb` at most, a client its share (limits/shares.ts): a
 * body for which there is no room is refused as OVERLOADED, one of a client with its share as RATE_LIMIT_EXCEEDED. After
 * {@link GRACE_MS} a body must have come at `bodyKbPerSecond` at least, or it is 408 REQUEST_TIMEOUT. Whoever is refused has its
 * connection closed. Bodies that come in one piece are never here.
 */
import { GATEWAY } from '../../core/ring/counters.ts'
import { networkOf } from '../limits/network.ts'
import { readProxies, Shares, type ProxySettings } from '../limits/shares.ts'
import { Refused } from '../refused.ts'

/** For this long a body may come as slowly as it likes, ms: uWebSockets.js itself drops one below 16 KiB/s after ten seconds. */
const GRACE_MS = 5_000
const SWEEP_MS = 250
/** Seconds after which a client that has its share may try again. */
const RETRY_S = 1

export interface BodyLimits extends ProxySettings {
  /** MiB of all unfinished bodies. */
  readonly bodyMb: number
  readonly bodyKbPerSecond: number
}

export class Unfinished {
  readonly #shares: Shares
  readonly #bytesPerMs: number
  readonly #counters: Float64Array
  readonly #bodies = new Set<Body>()
  readonly #timer: NodeJS.Timeout

  constructor({ bodyMb, bodyKbPerSecond, ...proxies }: BodyLimits, counters: Float64Array) {
    this.#shares = new Shares(bodyMb * 1024 * 1024, readProxies(proxies))
    this.#bytesPerMs = (bodyKbPerSecond * 1024) / 1000
    this.#counters = counters
    counters[GATEWAY.unfinished_body_capacity] = bodyMb * 1024 * 1024
    this.#timer = setInterval(() => this.#sweep(performance.now()), SWEEP_MS).unref()
  }

  /** A body from this address of which a part came. `refuse` must end its connection. */
  begin(address: string, refuse: (refused: Refused) => void): Body {
    const body = new Body(this, networkOf(address), refuse)
    this.#bodies.add(body)
    return body
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Room for more bytes of a body, or why there is none. */
  hold({ client }: Body, bytes: number): Refused | null {
    const none = this.#shares.take(client, bytes)
    this.#count()
    if (none === null) return null
    this.#counters[GATEWAY.bodies_refused]!++
    return none === 'full' ? new Refused('OVERLOADED')
      : new Refused('RATE_LIMIT_EXCEEDED', 'Too many unfinished bodies from this address', { retryAfter: RETRY_S })
  }

  /** The body is whole, refused or abandoned. */
  end(body: Body): void {
    if (!this.#bodies.delete(body)) return
    this.#shares.give(body.client, body.size)
    this.#count()
  }

  #count(): void {
    this.#counters[GATEWAY.unfinished_body_bytes] = this.#shares.total
  }

  #sweep(now: number): void {
    for (const body of this.#bodies) {
      // In the order they began: those behind are younger.
      const late = now - body.begun - GRACE_MS
      if (late <= 0) return
      if (body.size >= late * this.#bytesPerMs) continue
      this.#counters[GATEWAY.bodies_slow]!++
      body.refuse(new Refused('REQUEST_TIMEOUT'))
    }
  }
}

/** One of them. */
export class Body {
  /** Whose share it is of (limits/network.ts). */
  readonly client: string
  readonly begun = performance.now()
  size = 0
  over = false
  readonly #pieces: Buffer[] = []
  readonly #all: Unfinished
  readonly #tell: (refused: Refused) => void

  constructor(all: Unfinished, client: string, tell: (refused: Refused) => void) {
    this.#all = all
    this.client = client
    this.#tell = tell
  }

  /** Keeps a copy of another part. */
  add(chunk: ArrayBuffer): void {
    if (this.over || chunk.byteLength === 0) return
    const refused = this.#all.hold(this, chunk.byteLength)
    if (refused !== null) return this.refuse(refused)
    this.size += chunk.byteLength
    this.#pieces.push(Buffer.from(chunk.slice(0)))
  }

  /** The parts and the last of them. */
  whole(last: Buffer): Buffer {
    return this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last])
  }

  /** Gives everything back. */
  end(): void {
    this.over = true
    this.#all.end(this)
    this.#pieces.length = 0
  }

  refuse(refused: Refused): void {
    this.end()
    this.#tell(refused)
  }
}
