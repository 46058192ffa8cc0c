/**
 * How a call fails: {@link RingbookError} when the service answered, {@link NetworkError} when nobody knows whether it did. What a
 * subscription is refused with is a {@link StreamError}.
 *
 * Each says what became of the request ({@link Outcome}). `not-applied` is said only of what is known: a refusal that names itself, a
 * status below 500 that says so, a request that never left. Everything else is `unknown`: a 502, 503 or 504 without a code comes from
 * something in front of the service, which may have passed the request on. (Specification, Errors, rules 6 and 7.)
 *
 * The envelope does not carry the register's retry class and a browser does not load the register, so the class is derived from
 * status and code here; a test holds {@link retryOf} and {@link outcomeOf} against every row of the register.
 */

/**
 * `no`: refused again. `after`: wait `retryAfter` seconds. `safe`: nothing was applied. `same-key`: only with the same
 * key. `ambiguous`: may have been applied; only what is idempotent is repeated.
 */
export type RetryClass = 'no' | 'after' | 'safe' | 'same-key' | 'ambiguous' | 'reauthenticate'

/**
 * Whether what was asked took effect. `not-applied`: nothing was, so a new request cannot do it twice. `unknown`: it may have been; look
 * (order stream, or the same idempotency key) before asking anew. `applied`: the service said yes, and what it said was lost on the way.
 */
export type Outcome = 'not-applied' | 'unknown' | 'applied'

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

const SAME_KEY: ReadonlySet<string> = new Set(['ORDER_SUBMISSION_CAPACITY_EXCEEDED', 'ORDER_SUBMISSION_UNAVAILABLE'])
/** Refusals with a status of 408, 409 or above 499 that are known to have applied nothing. A name that is not here proves nothing. */
const NOTHING_APPLIED: ReadonlySet<string> = new Set([
  'REQUEST_TIMEOUT', 'SESSION_KEY_IN_USE', 'IDEMPOTENCY_KEY_CONFLICT', 'CLIENT_ORDER_ID_CONFLICT', 'ADDRESS_IN_USE',
  'TOO_MANY_SUB_ACCOUNTS', 'TOO_MANY_AGENTS', 'CLIENT_ID_IN_USE', 'SYMBOL_IN_USE', 'TOO_MANY_ASSETS', 'TOO_MANY_PAIRS',
  'TOO_MANY_APPLICATIONS', 'OPERATIONS_BLOCKED', 'ORDER_SUBMISSION_CAPACITY_EXCEEDED', 'OVERLOADED', 'ENGINE_UNAVAILABLE',
  'VERIFICATION_UNAVAILABLE', 'DISK_RESERVE', 'DISK_FULL', 'HISTORY_UNAVAILABLE', 'INVALID_COMMAND', 'RISK_BUCKET_IN_LIQUIDATION',
  'MARGIN_ACCOUNT_NOT_FLAT', 'TOO_MANY_MARGIN_ACCOUNTS', 'TOO_MANY_RISK_BUCKETS', 'TOO_MANY_POSITIONS', 'WRONG_PERP_MODE',
  'TRAILING_STOP_EXISTS', 'TOO_MANY_CONDITIONAL_ORDERS', 'TOO_MANY_TWAP_ORDERS', 'TRIGGERS_BEHIND',
  'NOT_ENROLLED', 'NO_FEE_CHANGES_LEFT', 'LEASE_CONFLICT', 'LEASE_LOST', 'LAUNCH_EXISTS', 'TOO_MANY_LAUNCHES', 'LAUNCH_ENDED',
  'HANDLE_TAKEN', 'HANDLE_CHANGE_TOO_SOON', 'ALREADY_LEADER', 'TOO_MANY_LEADERS', 'ALREADY_FOLLOWING', 'CANNOT_FOLLOW', 'CANNOT_LEAD',
  'TOO_MANY_FOLLOWS', 'LEADER_FULL', 'FOLLOW_STOPPING', 'COPY_MARGIN_ACCOUNT', 'LEADER_EQUITY', 'COPY_PARTLY_FILLED', 'COPY_PRICE',
  'WITHDRAWALS_STOPPED', 'TOO_MANY_WITHDRAWALS', 'WITHDRAWAL_STATUS', 'CHAIN_ORDER', 'SETTLEMENT_ORDER', 'CHAIN_UNAVAILABLE',
])
/** Codes that leave it open, whatever the status is: items of a batch have them in a 200. */
const LEFT_OPEN: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'ORDER_SUBMISSION_UNAVAILABLE', 'INTERNAL'])

/** What became of a change that was refused with this HTTP status and code; of an item of a batch, with the code of its error. */
export function outcomeOf(status: number, code: string): Outcome {
  if (LEFT_OPEN.has(code)) return 'unknown'
  if (NOTHING_APPLIED.has(code)) return 'not-applied'
  // What is no refusal at all (a redirect, a 1xx) was not said by the service. Timeouts and conflicts without a name may come late.
  const saysNo = (status >= 400 && status < 500 && status !== 408 && status !== 409) || status === 200
  return saysNo ? 'not-applied' : 'unknown'
}

/** The register's retry class of a refusal with this HTTP status and code; `ambiguous` of a failure that does not name itself. */
export function retryOf(status: number, code: string): RetryClass {
  if (SAME_KEY.has(code)) return 'same-key'
  if (outcomeOf(status, code) === 'unknown') return 'ambiguous'
  if (code === 'CLOCK_SKEW' || code === 'INVALID_COMMAND') return 'no'
  if (status === 401) return 'reauthenticate'
  if (status === 429) return 'after'
  return status >= 500 || status === 408 ? 'safe' : 'no'
}

/** The class of a failure of which more is known: what was applied is asked for again with its key, what was not is free. */
function retryKnowing(outcome: Outcome, retry: RetryClass): RetryClass {
  if (outcome === 'applied') return 'same-key'
  if (outcome === 'unknown') return 'ambiguous'
  return retry === 'ambiguous' ? 'safe' : retry
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
  /** Of the whole call: a try of which nobody knows is not made good by a later one that was refused. */
  readonly outcome: Outcome

  /** What the service calls the request, in its log too. Over a socket there is none. */
  requestId: string | undefined = undefined

  /** `outcome`: when more is known than status and code say. */
  constructor(envelope: Envelope, outcome?: Outcome) {
    super(envelope.message)
    this.status = envelope.statusCode
    this.error = envelope.error
    this.code = envelope.code ?? envelope.error
    this.details = envelope.details ?? {}
    this.outcome = outcome ?? outcomeOf(this.status, this.code)
    this.retry = outcome === undefined ? retryOf(this.status, this.code) : retryKnowing(outcome, retryOf(this.status, this.code))
  }

  /** Seconds to wait before trying again, when the service named them. */
  get retryAfter(): number | undefined {
    const seconds = Number(this.details['retryAfter'])
    return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
  }
}

/** No answer: refused connection, reset, timeout. What was asked may have happened, unless `outcome` says that it never left. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
  readonly timedOut: boolean
  readonly outcome: Outcome
  readonly retry: RetryClass
  /** The caller's own name of the request (`CallOptions`), which the service's log has if it came that far. */
  requestId: string | undefined = undefined

  constructor(message: string, cause: unknown, outcome: Outcome = 'unknown') {
    super(message, { cause })
    this.timedOut = cause instanceof Error && cause.name === 'TimeoutError'
    this.outcome = outcome
    this.retry = retryKnowing(outcome, 'ambiguous')
  }
}

/** Failures of a connection that never stood, as Node names them. A browser does not tell. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID',
])
/** Calls of the system on a connection that stands: it may end with the same names, EHOSTUNREACH for one, when a route is lost. */
const CONNECTED: ReadonlySet<unknown> = new Set(['read', 'write', 'writev', 'shutdown'])

/** Whether a failed `fetch` is known to have sent nothing. */
export function neverSent(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code, syscall } = at as { code?: unknown; syscall?: unknown }
    if (NEVER_CONNECTED.has(code)) return !CONNECTED.has(syscall)
  }
  return false
}

const RANK: Readonly<Record<Outcome, number>> = { 'not-applied': 0, unknown: 1, applied: 2 }

/** Keeps what an earlier try of the same call came to, when that is worse: a later refusal does not undo it. */
export function keepOutcome(error: unknown, before: Outcome): unknown {
  if ((error instanceof RingbookError || error instanceof NetworkError) && RANK[error.outcome] < RANK[before]) {
    ;(error as { outcome: Outcome }).outcome = before
  }
  return error
}

/** What the service refused on the socket; or what it would have refused. */
export class StreamError extends Error {
  override readonly name = 'StreamError'
  /** Code of an error frame (specification, Events, rule 4). */
  readonly code: string
  /** A subscription changes nothing; calls of order entry get one only when no session was opened, so before they left. */
  readonly outcome: Outcome = 'not-applied'

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The error of a response that is not 2xx, whatever its body is. `outcome`: when more is known than status and code say. */
export function errorOf(status: number, text: string, retryAfter: string | null, outcome?: Outcome): RingbookError {
  let json: Partial<Envelope> | null = null
  try {
    json = JSON.parse(text) as Partial<Envelope> | null
  } catch {
    // Not an envelope; said below.
  }
  const isEnvelope = json !== null && typeof json === 'object' && typeof json.error === 'string' && typeof json.message === 'string'
  const envelope = isEnvelope
    ? (json as Envelope)
    : { error: UNEXPECTED_RESPONSE, message: `HTTP ${status} without an error envelope`, statusCode: status }
  const details = { ...envelope.details }
  const seconds = secondsOf(retryAfter ?? '')
  if (details['retryAfter'] === undefined && seconds >= 0) details['retryAfter'] = seconds
  return new RingbookError({ ...envelope, statusCode: status, details }, outcome)
}

/** A Retry-After header: seconds, or a date (RFC 9110, 10.2.3). NaN when it is neither. */
const secondsOf = (header: string): number =>
  /^\d+$/.test(header) ? Number(header) : Math.max(0, Math.ceil((Date.parse(header) - Date.now()) / 1000))
