/**
 * Whether a connection pings too often while nothing else is sent to it.
 *
 * A client that pings every {@link PING_EVERY_MS} is never too early on the whole, but one ping in two comes some ms early. So pings are
 * counted against an allowance that grows with time: one ping each {@link PING_EVERY_MS} less {@link TOLERANCE}, and {@link AT_ONCE} at
 * once. An early ping is forgotten as soon as the allowance has grown again.
 */
export const PING_EVERY_MS = 10_000
/** Part of the time between two pings by which each may come early. */
const TOLERANCE = 0.1
/** Pings at once. */
const AT_ONCE = 3
/** A PING frame: what an acknowledgement adds to the bytes written. */
const PING_BYTES = 17

export class Pings {
  readonly #everyMs = PING_EVERY_MS * (1 - TOLERANCE)
  /** When the allowance is whole again, ms. */
  #wholeAt = -Infinity
  #written = 0

  /** A ping came at `now` (ms, never back), when so many bytes were written to the connection: whether it is one too many. */
  isTooMany(now: number, bytesWritten: number): boolean {
    // Clients that measure the path ping along with the data they are sent.
    const isIdle = bytesWritten - this.#written <= PING_BYTES
    this.#written = bytesWritten
    if (!isIdle) this.#wholeAt = -Infinity
    const wholeAt = Math.max(this.#wholeAt, now) + this.#everyMs
    if (wholeAt - now > AT_ONCE * this.#everyMs) return true
    this.#wholeAt = wholeAt
    return false
  }
}
