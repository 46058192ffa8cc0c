/** Promise: every refusal has one number and one name for ever, and the HTTP and gRPC status that the specification gives its class. */
import t from 'tap'
import { REFUSALS, refusalByNumber, type ErrorClass, type Refusal } from '../../core/layout/refusals.ts'

const all: [string, Refusal][] = Object.entries(REFUSALS)

/** The specification's table of statuses, by class of error. */
const STATUSES: Record<ErrorClass, [http: number, grpc: string]> = {
  VALIDATION_ERROR: [400, 'INVALID_ARGUMENT'],
  UNAUTHENTICATED: [401, 'UNAUTHENTICATED'],
  PERMISSION_DENIED: [403, 'PERMISSION_DENIED'],
  NOT_FOUND: [404, 'NOT_FOUND'],
  CONFLICT: [409, 'FAILED_PRECONDITION'],
  RATE_LIMIT_EXCEEDED: [429, 'RESOURCE_EXHAUSTED'],
  OPERATIONS_BLOCKED: [503, 'UNAVAILABLE'],
  UNAVAILABLE: [503, 'UNAVAILABLE'],
  INTERNAL: [500, 'INTERNAL'],
}
/** What the specification names one by one. The idempotency conflict is its one exception to the table: gRPC ALREADY_EXISTS. */
const NAMED: Record<string, [http: number, grpc: string]> = {
  INVALID_SELF_TRADE_PREVENTION_MODE: [400, 'INVALID_ARGUMENT'],
  SELF_TRADE_NOT_ALLOWED: [400, 'INVALID_ARGUMENT'],
  POST_ONLY_WOULD_CROSS: [400, 'INVALID_ARGUMENT'],
  INSUFFICIENT_BALANCE: [400, 'INVALID_ARGUMENT'],
  UNAUTHENTICATED: [401, 'UNAUTHENTICATED'],
  INVALID_SIGNATURE: [401, 'UNAUTHENTICATED'],
  MIXED_CREDENTIALS: [401, 'UNAUTHENTICATED'],
  CLOCK_SKEW: [401, 'UNAUTHENTICATED'],
  SESSION_INVALID: [401, 'UNAUTHENTICATED'],
  USER_AGENT_REQUIRED: [403, 'PERMISSION_DENIED'],
  NOT_FOUND: [404, 'NOT_FOUND'],
  ORDER_NOT_FOUND: [404, 'NOT_FOUND'],
  CLIENT_ORDER_ID_CONFLICT: [409, 'FAILED_PRECONDITION'],
  IDEMPOTENCY_KEY_CONFLICT: [409, 'ALREADY_EXISTS'],
  RATE_LIMIT_EXCEEDED: [429, 'RESOURCE_EXHAUSTED'],
  INTERNAL: [500, 'INTERNAL'],
  OPERATIONS_BLOCKED: [503, 'UNAVAILABLE'],
  ORDER_SUBMISSION_CAPACITY_EXCEEDED: [503, 'UNAVAILABLE'],
  ORDER_SUBMISSION_UNAVAILABLE: [503, 'UNAVAILABLE'],
  ENGINE_UNAVAILABLE: [503, 'UNAVAILABLE'],
  VERIFICATION_UNAVAILABLE: [503, 'UNAVAILABLE'],
  SERVICE_UNAVAILABLE: [503, 'UNAVAILABLE'],
}
/** The only refusals whose status is not that of their class: framing errors of HTTP itself, and the conflict above. */
const EXCEPTIONS: Record<string, [http: number, grpc: string]> = {
  BODY_TOO_LARGE: [413, 'INVALID_ARGUMENT'],
  LENGTH_REQUIRED: [411, 'INVALID_ARGUMENT'],
  REQUEST_TIMEOUT: [408, 'INVALID_ARGUMENT'],
  METHOD_NOT_ALLOWED: [405, 'INVALID_ARGUMENT'],
  IDEMPOTENCY_KEY_CONFLICT: [409, 'ALREADY_EXISTS'],
}
/** Blocks of numbers by the stage that refuses. */
const BLOCKS: Record<number, ErrorClass[]> = {
  1: ['UNAUTHENTICATED', 'PERMISSION_DENIED', 'CONFLICT'],
  2: ['VALIDATION_ERROR'],
  3: ['VALIDATION_ERROR', 'CONFLICT', 'RATE_LIMIT_EXCEEDED', 'OPERATIONS_BLOCKED', 'UNAVAILABLE'],
  4: ['VALIDATION_ERROR', 'CONFLICT', 'NOT_FOUND', 'PERMISSION_DENIED', 'UNAVAILABLE'],
  5: ['VALIDATION_ERROR', 'NOT_FOUND'],
  6: ['VALIDATION_ERROR', 'NOT_FOUND'],
  9: ['UNAVAILABLE', 'INTERNAL'],
}

t.test('numbers and codes are unique and well formed', async (t) => {
  t.ok(all.length >= 40, `${all.length} refusals`)
  t.equal(new Set(all.map(([, each]) => each.number)).size, all.length, 'numbers')
  t.equal(new Set(all.map(([, each]) => each.code)).size, all.length, 'codes')
  t.equal(new Set(all.map(([, each]) => each.message)).size, all.length, 'messages')
  for (const [key, { code, number, message }] of all) {
    t.equal(key, code, 'named by its code')
    t.match(code, /^[A-Z]+(_[A-Z]+)*$/)
    t.ok(Number.isInteger(number) && number >= 100 && number <= 999, `${code} has three digits; 0 is success`)
    t.match(message, /^[A-Za-z].*[a-zA-Z]$/, `${code}: ${message}`)
  }
})

t.test('the specification says the status', async (t) => {
  for (const [code, { error, http, grpc }] of all) t.same([http, grpc], EXCEPTIONS[code] ?? STATUSES[error], code)
  for (const [code, statuses] of Object.entries(NAMED)) {
    const { http, grpc } = REFUSALS[code as keyof typeof REFUSALS]
    t.same([http, grpc], statuses, code)
  }
  t.match(REFUSALS.INSUFFICIENT_BALANCE.message, /^Insufficient balance/, 'its message begins as clients expect')
})

t.test('numbers lie in the block of their stage', async (t) => {
  for (const [code, { number, error }] of all) t.ok(BLOCKS[Math.floor(number / 100)]?.includes(error), `${code} ${number} ${error}`)
})

t.test('what a client may do next follows from the class', async (t) => {
  for (const [code, { http, retry }] of all) {
    if (http === 429) t.equal(retry, 'after', code)
    if (http === 503) t.ok(['safe', 'same-key', 'ambiguous'].includes(retry), `${code}: ${retry}`)
    if ([400, 403, 404, 405, 409, 413].includes(http)) t.equal(retry, 'no', code)
    if (http === 401) t.ok(['reauthenticate', 'no'].includes(retry), `${code}: ${retry}`)
  }
  t.equal(REFUSALS.ORDER_SUBMISSION_CAPACITY_EXCEEDED.retry, 'same-key')
  t.equal(REFUSALS.ORDER_SUBMISSION_UNAVAILABLE.retry, 'same-key')
  t.equal(REFUSALS.SERVICE_UNAVAILABLE.retry, 'ambiguous', 'it may have been applied')
  t.equal(REFUSALS.INTERNAL.retry, 'ambiguous', 'reads and cancels may be repeated, and nobody knows of an order')
  t.equal(REFUSALS.INVALID_COMMAND.retry, 'no', 'no engine can apply it')
  t.equal(REFUSALS.OPERATIONS_BLOCKED.retry, 'safe', 'blocked, not applied')
})

/** Exceptions of ccxt; the adapter raises one of them. */
const CCXT = [
  'PermissionDenied', 'AuthenticationError', 'InvalidNonce', 'BadRequest', 'BadSymbol', 'InvalidOrder', 'InsufficientFunds',
  'OrderNotFound', 'DuplicateOrderId', 'OrderImmediatelyFillable', 'RateLimitExceeded', 'OnMaintenance', 'ExchangeNotAvailable',
  'ExchangeError',
]
t.test('every refusal has an exception of ccxt', async (t) => {
  for (const [code, { ccxt }] of all) t.ok(CCXT.includes(ccxt), `${code}: ${ccxt}`)
})

t.test('a number leads back to its refusal, an unknown one to INTERNAL', async (t) => {
  for (const [, each] of all) t.equal(refusalByNumber(each.number), each)
  for (const number of [0, -1, 99, 105, 1000, 2 ** 31 - 1, NaN, 110.5]) t.equal(refusalByNumber(number), REFUSALS.INTERNAL, String(number))
})
