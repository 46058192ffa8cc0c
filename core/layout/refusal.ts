/** What a refusal is. All of them are in refusals.ts. */
export type Retry = 'no' | 'after' | 'safe' | 'same-key' | 'ambiguous' | 'reauthenticate'
export type ErrorClass =
  | 'VALIDATION_ERROR'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'RATE_LIMIT_EXCEEDED'
  | 'OPERATIONS_BLOCKED'
  | 'UNAVAILABLE'
  | 'INTERNAL'

export interface Refusal {
  readonly number: number
  readonly code: string
  readonly error: ErrorClass
  readonly http: number
  /** gRPC status name. */
  readonly grpc: string
  readonly retry: Retry
  readonly ccxt: string
  readonly message: string
}

const HTTP: Record<ErrorClass, [http: number, grpc: string, retry: Retry]> = {
  VALIDATION_ERROR: [400, 'INVALID_ARGUMENT', 'no'],
  UNAUTHENTICATED: [401, 'UNAUTHENTICATED', 'reauthenticate'],
  PERMISSION_DENIED: [403, 'PERMISSION_DENIED', 'no'],
  NOT_FOUND: [404, 'NOT_FOUND', 'no'],
  CONFLICT: [409, 'FAILED_PRECONDITION', 'no'],
  RATE_LIMIT_EXCEEDED: [429, 'RESOURCE_EXHAUSTED', 'after'],
  OPERATIONS_BLOCKED: [503, 'UNAVAILABLE', 'safe'],
  UNAVAILABLE: [503, 'UNAVAILABLE', 'safe'],
  INTERNAL: [500, 'INTERNAL', 'no'],
}

/** A refusal; its HTTP status, gRPC status and retry are those of its class unless `over` names others. */
export function refusal(
  number: number, code: string, error: ErrorClass, message: string, ccxt: string, over: Partial<Refusal> = {},
): Refusal {
  const [http, grpc, retry] = HTTP[error]
  return { number, code, error, http, grpc, retry, ccxt, message, ...over }
}
