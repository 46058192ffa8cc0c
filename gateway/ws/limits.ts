/**
 * Bounds of a connection: messages and bytes in a while, and the sockets an account has authenticated.
 *
 * A bucket holds a burst and fills at a steady rate. Messages and ping frames acquire one from the bucket of messages, and their bytes from
 * that of bytes; continuations, pongs and closes acquire nothing. What finds a bucket empty ends the connection.
 *
 * Authenticated connections are counted in memory that all gateway threads share, so the bound is exact for the whole process.
 */
import { BUDGET, BUDGET_ROW_WORDS } from '../../core/ring/budgets.ts'

/** Bytes of messages of one connection: burst, and per second. */
export const BYTES_BURST = 512 * 1024
export const BYTES_PER_SECOND = 64 * 1024

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

/** Authenticated connections per account, over all gateway threads. */
export class AccountSockets {
  readonly #rows: Int32Array
  readonly #most: number

  /** `budgets`: rows of core/ring/budgets.ts. */
  constructor(budgets: SharedArrayBuffer, most: number) {
    this.#rows = new Int32Array(budgets)
    this.#most = most
  }

  /** Counts one more of `account`, unless it has as many as it may. */
  take(account: number): boolean {
    const at = account * BUDGET_ROW_WORDS + BUDGET.SOCKETS
    if (Atomics.add(this.#rows, at, 1) < this.#most) return true
    Atomics.sub(this.#rows, at, 1)
    return false
  }

  give(account: number): void {
    Atomics.sub(this.#rows, account * BUDGET_ROW_WORDS + BUDGET.SOCKETS, 1)
  }
}
