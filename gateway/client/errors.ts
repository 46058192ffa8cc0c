/**
 * How a call fails: {@link RingbookError} when the service answered, {@link NetworkError} when nobody knows whether it did. What a
 * subscription is refused with is a {@link StreamError}.
 *
 * The envelope does not carry the register's retry class and a browser does not load the register, so the class is derived from
 * status and code here; a test holds {@link retryOf} against every row of core/layout/refusals.ts. (Specification, Errors.)
 */

/**
 * `no`: refused again. `after`: wait `retryAfter` seconds. `safe`: nothing was applied. `same-key`: only with the same
 * key. `ambiguous`: may have been applied.
 */
export type RetryClass = 'no' | 'after' | 'safe' | 'same-key' | 'ambiguous' | 'reauthenticate'

/** The body of every refusal. */
export interface Envelope {
  readonly error: string
  readonly message: string
  readonly code?: string
  readonly statusCode: number
  readonly details?: Readonly<Record<string, unknown>>
}

/** Code of a response that is no envelope: something else than the service answered, a proxy for one. */
export const UNEXPECTED_RESPONSE = 'UNEXPECTED_RESPONSE'

const SAME_KEY = new Set(['ORDER_SUBMISSION_CAPACITY_EXCEEDED', 'ORDER_SUBMISSION_UNAVAILABLE'])

/** The register's retry class of a refusal with this HTTP status and code. */
export function retryOf(status: number, code: string): RetryClass {
  if (SAME_KEY.has(code)) return 'same-key'
  if (code === 'SERVICE_UNAVAILABLE') return 'ambiguous'
  if (code === 'CLOCK_SKEW') return 'no'
  if (status === 401) return 'reauthenticate'
  if (status === 429) return 'after'
  return status > 500 || status === 408 ? 'safe' : 'no'
}

export class RingbookError extends Error {
  override readonly name = 'RingbookError'
  readonly status: number
  /** Stable code of the register. */
  readonly code: string
  /** Class of the error. */
  readonly error: string
  readonly details: Readonly<Record<string, unknown>>
  readonly retry: RetryClass

  constructor(envelope: Envelope) {
    super(envelope.message)
    this.status = envelope.statusCode
    this.error = envelope.error
    this.code = envelope.code ?? envelope.error
    this.details = envelope.details ?? {}
    this.retry = retryOf(this.status, this.code)
  }

  /** Seconds to wait before trying again, when the service named them. */
  get retryAfter(): number | undefined {
    const seconds = Number(this.details['retryAfter'])
    return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
  }
}

/** No answer: refused connection, reset, timeout. What was asked may have happened. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  readonly timedOut: boolean

  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.timedOut = cause instanceof Error && cause.name === 'TimeoutError'
  }
}

/** What the service refused on the socket; or what it would have refused. */
export class StreamError extends Error {
  override readonly name = 'StreamError'
  /** Code of an error frame (specification, Events, rule 4). */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The error of a response that is not 2xx, whatever its body is. */
export function errorOf(status: number, text: string, retryAfter: string | null): RingbookError {
  let json: Partial<Envelope> | null = null
  try {
    json = JSON.parse(text) as Partial<Envelope> | null
  } catch {
    // Not an envelope; said below.
  }
  if (json === null || typeof json !== 'object' || typeof json.error !== 'string' || typeof json.message !== 'string') {
    return new RingbookError({ error: UNEXPECTED_RESPONSE, message: `HTTP ${status} without an error envelope`, statusCode: status })
  }
  const details = { ...json.details }
  if (details['retryAfter'] === undefined && retryAfter !== null) details['retryAfter'] = Number(retryAfter)
  return new RingbookError({ ...(json as Envelope), statusCode: status, details })
}
