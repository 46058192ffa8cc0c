/** Budgets that fill at a steady rate. */

/** A bucket of `burst` that fills with `rate` a second. Times are ms of a clock that never goes back. */
export class TokenBucket {
  readonly #rate: number
  readonly #burst: number
  #level: number
  #at: number

  constructor(rate: number, burst: number, now: number) {
    this.#rate = rate
    this.#burst = burst
    this.#level = burst
    this.#at = now
  }

  /** Takes `amount`, or nothing and says so. */
  take(amount: number, now: number): boolean {
    this.#level = Math.min(this.#burst, this.#level + ((now - this.#at) / 1000) * this.#rate)
    this.#at = now
    if (this.#level < amount) return false
    this.#level -= amount
    return true
  }
}

/** Bytes of messages of one connection: burst, and per second. */
export const BYTES_BURST = 512 * 1024
export const BYTES_PER_SECOND = 64 * 1024

/** What one connection may send that nobody answers for: messages of a WebSocket, and messages of streams whose sender is not known. */
export class MessageBudget {
  readonly #messages: TokenBucket
  readonly #bytes: TokenBucket

  constructor({ wsMessagesPerSecond, wsMessageBurst }: { readonly wsMessagesPerSecond: number; readonly wsMessageBurst: number }) {
    const now = performance.now()
    this.#messages = new TokenBucket(wsMessagesPerSecond, wsMessageBurst, now)
    this.#bytes = new TokenBucket(BYTES_PER_SECOND, BYTES_BURST, now)
  }

  /** Draws one message of so many bytes; false: it is one too many. */
  take(bytes: number): boolean {
    const now = performance.now()
    return this.#messages.take(1, now) && this.#bytes.take(bytes, now)
  }

  /** Draws as many messages as an answer to one is worth. */
  takeMessages(count: number): boolean {
    return this.#messages.take(count, performance.now())
  }
}
