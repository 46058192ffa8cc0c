/**
 * Answers that their clients do not take: what is held of them, and until when.
 *
 * An answer leaves as far as the kernel takes it; what is left is held here until the client reads on. Only one answer of a connection can
 * be held: the library closes a connection whose client sends another request meanwhile. All together hold `answerMb` at most, a client
 * its share of that (limits/shares.ts). A long answer to a read is refused before anything of it leaves when it would find no room, as
 * OVERLOADED, or as RATE_LIMIT_EXCEEDED to a client with its share. Other answers tell what has been done: they are tried, and
 * their connection is closed when what is left of one finds no room. After {@link GRACE_MS} what is left must be taken at
 * `answerKbPerSecond` at least, or the connection is closed.
 *
 * The library's own buffer of a connection has what it collects of short answers before it asks the kernel, 16 KiB at most.
 */
import type { HttpResponse } from 'uWebSockets.js'
import { GATEWAY } from '../../core/ring/counters.ts'
import { networkOf } from '../limits/network.ts'
import { readProxies, Shares, type ProxySettings } from '../limits/shares.ts'
import { Refused } from '../refused.ts'

/** For this long an answer may be taken as slowly as its client likes, ms. */
const GRACE_MS = 5_000
const SWEEP_MS = 250
/** Seconds after which a client that has its share may try again. */
const RETRY_S = 1
/** Answers up to this many bytes are never refused. */
export const SHORT = 16 * 1024

export interface AnswerLimits extends ProxySettings {
  /** MiB of all answers that are held. */
  readonly answerMb: number
  readonly answerKbPerSecond: number
}

/** What is left of one answer. */
interface Rest {
  readonly client: string
  readonly held: number
  readonly response: HttpResponse
  readonly begun: number
  /** Bytes the kernel took since then. */
  taken: number
}

export class Unsent {
  readonly #shares: Shares
  readonly #bytesPerMs: number
  readonly #counters: Float64Array
  readonly #rests = new Set<Rest>()
  readonly #timer: NodeJS.Timeout

  constructor({ answerMb, answerKbPerSecond, ...proxies }: AnswerLimits, counters: Float64Array) {
    this.#shares = new Shares(answerMb * 1024 * 1024, readProxies(proxies))
    this.#bytesPerMs = (answerKbPerSecond * 1024) / 1000
    this.#counters = counters
    counters[GATEWAY.unsent_capacity] = this.#shares.most
    this.#timer = setInterval(() => this.#sweep(performance.now()), SWEEP_MS).unref()
  }

  /** Why an answer of this many bytes to a read of this address is not to leave; `null`: it is. */
  refusal(address: string, bytes: number): Refused | null {
    const client = networkOf(address)
    const none = this.#shares.take(client, bytes)
    if (none === null) {
      this.#shares.give(client, bytes)
      return null
    }
    this.#counters[GATEWAY.answers_refused]!++
    return none === 'full' ? new Refused('OVERLOADED')
      : new Refused('RATE_LIMIT_EXCEEDED', 'Too many answers to this address are not taken', { retryAfter: RETRY_S })
  }

  /** Holds an answer of which the library has not sent everything, and sends the rest as the client takes it. */
  hold(response: HttpResponse, address: string, answer: string | Uint8Array): void {
    const bytes = typeof answer === 'string' ? Buffer.from(answer) : answer
    const rest: Rest = { client: networkOf(address), held: bytes.length, response, begun: performance.now(), taken: 0 }
    const begin = response.getWriteOffset()
    if (this.#shares.take(rest.client, rest.held) !== null) {
      this.#counters[GATEWAY.answers_no_room]!++
      // A handler may not leave a response that is neither ended nor watched.
      response.onAborted(() => undefined)
      response.close()
      return
    }
    this.#rests.add(rest)
    this.#count()
    response.onAborted(() => this.#end(rest))
    response.onWritable((offset) => {
      const [all, ended] = response.tryEnd(bytes.subarray(offset), bytes.length)
      if (ended) this.#end(rest)
      else rest.taken = response.getWriteOffset() - begin
      return all
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #end(rest: Rest): void {
    if (!this.#rests.delete(rest)) return
    this.#shares.give(rest.client, rest.held)
    this.#count()
  }

  #count(): void {
    this.#counters[GATEWAY.unsent_bytes] = this.#shares.total
  }

  #sweep(now: number): void {
    for (const rest of this.#rests) {
      // In the order they began: those behind are younger.
      const late = now - rest.begun - GRACE_MS
      if (late <= 0) return
      if (rest.taken >= late * this.#bytesPerMs) continue
      this.#counters[GATEWAY.answers_slow]!++
      rest.response.close()
    }
  }
}
