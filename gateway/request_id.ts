/**
 * X-Request-Id: the name of a request in its answer and in the log. A client may give its own, else the gateway makes one.
 *
 * What is made is the start of the thread, its number and a count, in base 36: no two of an exchange are the same, and making one needs no
 * randomness.
 */

/** A client's own: 1 to 64 letters, digits, dots, underscores and hyphens. */
export const GIVEN = /^[A-Za-z0-9._-]{1,64}$/
/** The header of REST, and the metadata of gRPC. */
export const REQUEST_ID = 'x-request-id'

export class RequestIds {
  readonly #prefix: string
  #count = 0

  /** Of thread `number`, which started at `now`, Unix ms. */
  constructor(number: number, now: number) {
    this.#prefix = `${now.toString(36)}-${number.toString(36)}-`
  }

  make(): string {
    return this.#prefix + (this.#count++).toString(36)
  }

  /** The client's own, when it is one; otherwise one is made. */
  of(given: string): string {
    return given !== '' && GIVEN.test(given) ? given : this.make()
  }
}
