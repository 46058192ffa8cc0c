/**
 * The one register of refusals: everything the service says no with.
 *
 * A refusal is a value, never an exception. Numbers are stored in RESULT records and receipts, so they are a promise: never
 * renumber. Blocks by stage: 1xx edge and authentication, 2xx schema, 3xx admission, 4xx risk and funds, 5xx matching,
 * 6xx reading, 9xx availability. (Specification, Errors.)
 *
 * `retry`: `no` = the same request will be refused again; `after` = wait for Retry-After; `safe` = nothing was applied, retry;
 * `same-key` = retry with the same idempotency key only; `ambiguous` = it may have been applied: reconcile, or repeat what is idempotent;
 * `reauthenticate` = sign in again. `ccxt` is the class a ccxt
 * adapter raises.
 */
import { PROGRAM_REFUSALS } from './program_refusals.ts'
import { refusal, type Refusal } from './refusal.ts'

export type { ErrorClass, Refusal, Retry } from './refusal.ts'

export const REFUSALS = {
  // 1xx edge and authentication
  USER_AGENT_REQUIRED: refusal(
    101,
    'USER_AGENT_REQUIRED',
    'PERMISSION_DENIED',
    'A non-empty User-Agent header is required',
    'PermissionDenied',
  ),
  UNAUTHENTICATED: refusal(110, 'UNAUTHENTICATED', 'UNAUTHENTICATED', 'Authentication required', 'AuthenticationError'),
  INVALID_SIGNATURE: refusal(111, 'INVALID_SIGNATURE', 'UNAUTHENTICATED', 'Signature rejected', 'AuthenticationError'),
  CLOCK_SKEW: refusal(112, 'CLOCK_SKEW', 'UNAUTHENTICATED', 'request timestamp outside allowed skew', 'InvalidNonce', { retry: 'no' }),
  SESSION_INVALID: refusal(113, 'SESSION_INVALID', 'UNAUTHENTICATED', 'Session expired or revoked', 'AuthenticationError'),
  MIXED_CREDENTIALS: refusal(114, 'MIXED_CREDENTIALS', 'UNAUTHENTICATED', 'Mixed credential protocols', 'AuthenticationError'),
  NONCE_INVALID: refusal(115, 'NONCE_INVALID', 'UNAUTHENTICATED', 'Unknown, expired or used nonce', 'AuthenticationError'),
  SESSION_KEY_IN_USE: refusal(
    116,
    'SESSION_KEY_IN_USE',
    'CONFLICT',
    'The session public key belongs to another identity',
    'AuthenticationError',
  ),
  OPERATOR_ONLY: refusal(117, 'OPERATOR_ONLY', 'PERMISSION_DENIED', 'Only the operator may do this', 'PermissionDenied'),
  AGENT_NOT_ALLOWED: refusal(
    118,
    'AGENT_NOT_ALLOWED',
    'PERMISSION_DENIED',
    'The delegated agent is not allowed to do this',
    'PermissionDenied',
  ),
  MASTER_ONLY: refusal(119, 'MASTER_ONLY', 'PERMISSION_DENIED', 'Only master accounts may do this', 'PermissionDenied'),
  APPLICATION_INACTIVE: refusal(
    120,
    'APPLICATION_INACTIVE',
    'PERMISSION_DENIED',
    'The application is not active',
    'PermissionDenied',
  ),
  CONSENT_REQUIRED: refusal(
    121,
    'CONSENT_REQUIRED',
    'PERMISSION_DENIED',
    'The wallet of the sub-account has not agreed to its master yet',
    'PermissionDenied',
  ),
  // 2xx schema
  VALIDATION_ERROR: refusal(200, 'VALIDATION_ERROR', 'VALIDATION_ERROR', 'Invalid request', 'BadRequest'),
  MALFORMED_REQUEST: refusal(201, 'MALFORMED_REQUEST', 'VALIDATION_ERROR', 'Malformed request', 'BadRequest'),
  BODY_TOO_LARGE: refusal(202, 'BODY_TOO_LARGE', 'VALIDATION_ERROR', 'The request body is too large', 'BadRequest', { http: 413 }),
  LENGTH_REQUIRED: refusal(
    203,
    'LENGTH_REQUIRED',
    'VALIDATION_ERROR',
    'Transfer-Encoding is not taken: send a Content-Length',
    'BadRequest',
    { http: 411 },
  ),
  REQUEST_TIMEOUT: refusal(
    205,
    'REQUEST_TIMEOUT',
    'VALIDATION_ERROR',
    'The request body did not come in time; nothing was applied',
    'ExchangeNotAvailable',
    { http: 408, retry: 'safe' },
  ),
  BODY_TOO_COMPLEX: refusal(
    204,
    'BODY_TOO_COMPLEX',
    'VALIDATION_ERROR',
    'The body has too many values, or too many inside one another',
    'BadRequest',
  ),
  INVALID_TICK: refusal(
    210,
    'INVALID_TICK',
    'VALIDATION_ERROR',
    'Price is not a multiple of the tick size or out of range',
    'InvalidOrder',
  ),
  INVALID_LOT: refusal(
    211,
    'INVALID_LOT',
    'VALIDATION_ERROR',
    'Quantity is not a multiple of the lot size or out of range',
    'InvalidOrder',
  ),
  INVALID_SELF_TRADE_PREVENTION_MODE: refusal(
    212,
    'INVALID_SELF_TRADE_PREVENTION_MODE',
    'VALIDATION_ERROR',
    'Unknown selfTradePreventionMode',
    'InvalidOrder',
  ),
  INVALID_EXPIRATION: refusal(213, 'INVALID_EXPIRATION', 'VALIDATION_ERROR', 'expirationDate is not in the future', 'InvalidOrder'),
  // 3xx admission
  OPERATIONS_BLOCKED: refusal(300, 'OPERATIONS_BLOCKED', 'OPERATIONS_BLOCKED', 'Operations are blocked for maintenance', 'OnMaintenance'),
  RATE_LIMIT_EXCEEDED: refusal(301, 'RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED', 'Rate limit exceeded', 'RateLimitExceeded'),
  IDEMPOTENCY_KEY_CONFLICT: refusal(
    302,
    'IDEMPOTENCY_KEY_CONFLICT',
    'CONFLICT',
    'The idempotency key was used with another payload',
    'InvalidOrder',
    { grpc: 'ALREADY_EXISTS' },
  ),
  ORDER_SUBMISSION_CAPACITY_EXCEEDED: refusal(
    303,
    'ORDER_SUBMISSION_CAPACITY_EXCEEDED',
    'UNAVAILABLE',
    'Retained receipts are at capacity; nothing was applied',
    'ExchangeNotAvailable',
    { retry: 'same-key' },
  ),
  ORDER_SUBMISSION_UNAVAILABLE: refusal(
    304,
    'ORDER_SUBMISSION_UNAVAILABLE',
    'UNAVAILABLE',
    'The original response cannot be retrieved; an order may exist',
    'ExchangeNotAvailable',
    { retry: 'same-key' },
  ),
  CLIENT_ORDER_ID_CONFLICT: refusal(
    305,
    'CLIENT_ORDER_ID_CONFLICT',
    'CONFLICT',
    'Another resting order holds this clientOrderId',
    'DuplicateOrderId',
  ),
  PAIR_NOT_ACTIVE: refusal(306, 'PAIR_NOT_ACTIVE', 'VALIDATION_ERROR', 'The trading pair is not active', 'BadSymbol'),
  TOO_MANY_OPEN_ORDERS: refusal(307, 'TOO_MANY_OPEN_ORDERS', 'VALIDATION_ERROR', 'Too many open orders', 'InvalidOrder'),
  FAUCET_LIMIT: refusal(
    308,
    'FAUCET_LIMIT',
    'RATE_LIMIT_EXCEEDED',
    'Faucet requests of the last 24 hours are used up',
    'RateLimitExceeded',
  ),
  FAUCET_ASSET: refusal(309, 'FAUCET_ASSET', 'VALIDATION_ERROR', 'The faucet does not mint this asset', 'BadRequest'),
  ADDRESS_IN_USE: refusal(310, 'ADDRESS_IN_USE', 'CONFLICT', 'The wallet has an account in this application already', 'BadRequest'),
  TOO_MANY_SUB_ACCOUNTS: refusal(311, 'TOO_MANY_SUB_ACCOUNTS', 'CONFLICT', 'Too many sub-accounts', 'BadRequest'),
  LIMIT_EXISTS: refusal(312, 'LIMIT_EXISTS', 'VALIDATION_ERROR', 'The limit already exists', 'BadRequest'),
  NOT_SUB_ACCOUNT: refusal(313, 'NOT_SUB_ACCOUNT', 'VALIDATION_ERROR', 'useMasterBalance is for sub-accounts', 'InvalidOrder'),
  TOO_MANY_AGENTS: refusal(314, 'TOO_MANY_AGENTS', 'CONFLICT', 'Too many delegated agents', 'BadRequest'),
  CLIENT_ID_IN_USE: refusal(315, 'CLIENT_ID_IN_USE', 'CONFLICT', 'Another application has this client id', 'BadRequest'),
  SYMBOL_IN_USE: refusal(330, 'SYMBOL_IN_USE', 'CONFLICT', 'Another asset or trading pair has this symbol or token', 'BadRequest'),
  TOO_MANY_ASSETS: refusal(331, 'TOO_MANY_ASSETS', 'CONFLICT', 'No room for another asset: raise the limit', 'BadRequest'),
  TOO_MANY_PAIRS: refusal(332, 'TOO_MANY_PAIRS', 'CONFLICT', 'No room for another trading pair: raise the limit', 'BadRequest'),
  LISTING_TERMS: refusal(333, 'LISTING_TERMS', 'VALIDATION_ERROR', 'These terms cannot be', 'BadRequest'),
  LIMIT_NOT_RAISED: refusal(334, 'LIMIT_NOT_RAISED', 'VALIDATION_ERROR', 'A limit is raised, never lowered', 'BadRequest'),
  LIMIT_TOO_LARGE: refusal(335, 'LIMIT_TOO_LARGE', 'VALIDATION_ERROR', 'The limit is beyond what the engine has memory for', 'BadRequest'),
  TOO_MANY_APPLICATIONS: refusal(316, 'TOO_MANY_APPLICATIONS', 'CONFLICT', 'Too many applications or origins', 'BadRequest'),
  TOO_MANY_IN_FLIGHT: refusal(
    317,
    'TOO_MANY_IN_FLIGHT',
    'RATE_LIMIT_EXCEEDED',
    'Too many requests of this account are unanswered; nothing was applied',
    'RateLimitExceeded',
  ),
  // 4xx risk and funds
  INSUFFICIENT_BALANCE: refusal(400, 'INSUFFICIENT_BALANCE', 'VALIDATION_ERROR', 'Insufficient balance', 'InsufficientFunds'),
  BELOW_MIN_NOTIONAL: refusal(401, 'BELOW_MIN_NOTIONAL', 'VALIDATION_ERROR', 'Order value is below the minimum notional', 'InvalidOrder'),
  BELOW_MIN_ORDER_SIZE: refusal(
    402,
    'BELOW_MIN_ORDER_SIZE',
    'VALIDATION_ERROR',
    'Quantity is below the minimum order size',
    'InvalidOrder',
  ),
  ABOVE_MAX_ORDER_SIZE: refusal(
    403,
    'ABOVE_MAX_ORDER_SIZE',
    'VALIDATION_ERROR',
    'Quantity or value is above the maximum order size',
    'InvalidOrder',
  ),
  SUB_ACCOUNT_LIMIT_EXCEEDED: refusal(
    404,
    'SUB_ACCOUNT_LIMIT_EXCEEDED',
    'VALIDATION_ERROR',
    'The order exceeds what the sub-account may spend of its master\'s balance',
    'InsufficientFunds',
  ),
  INSUFFICIENT_MARGIN: refusal(410, 'INSUFFICIENT_MARGIN', 'VALIDATION_ERROR', 'insufficient initial margin', 'InsufficientFunds'),
  INSUFFICIENT_COLLATERAL: refusal(
    411, 'INSUFFICIENT_COLLATERAL', 'VALIDATION_ERROR', 'insufficient free collateral', 'InsufficientFunds',
  ),
  LEVERAGE_TOO_HIGH: refusal(412, 'LEVERAGE_TOO_HIGH', 'VALIDATION_ERROR', 'The leverage is above what this notional allows',
  'InvalidOrder'),
  LEVERAGE_TOO_LOW: refusal(413, 'LEVERAGE_TOO_LOW', 'VALIDATION_ERROR', 'The leverage is below the least of the pair', 'InvalidOrder'),
  REDUCE_ONLY_REJECTED: refusal(
    414, 'REDUCE_ONLY_REJECTED', 'VALIDATION_ERROR', 'There is no position that this order would reduce', 'InvalidOrder',
  ),
  POSITION_LIMIT_EXCEEDED: refusal(
    415, 'POSITION_LIMIT_EXCEEDED', 'VALIDATION_ERROR', 'With its orders the position would be larger than maxPositionSize', 'InvalidOrder',
  ),
  OPEN_INTEREST_LIMIT: refusal(
    416, 'OPEN_INTEREST_LIMIT', 'VALIDATION_ERROR', 'The open interest of the pair is at its cap; reduceOnly orders are taken',
    'InvalidOrder',
  ),
  PRICE_STALE: refusal(
    417, 'PRICE_STALE', 'VALIDATION_ERROR', 'The index price is stale; only reduceOnly orders are taken until it is fresh', 'InvalidOrder',
  ),
  PAIR_REDUCE_ONLY: refusal(418, 'PAIR_REDUCE_ONLY', 'VALIDATION_ERROR', 'Only reduceOnly orders are taken on this pair', 'InvalidOrder'),
  WRONG_TRADING_MODE: refusal(
    419, 'WRONG_TRADING_MODE', 'VALIDATION_ERROR', 'A perpetual takes tradingMode MARGIN, a spot pair SPOT', 'InvalidOrder',
  ),
  MASTER_BALANCE_NOT_ALLOWED: refusal(
    420, 'MASTER_BALANCE_NOT_ALLOWED', 'VALIDATION_ERROR', 'useMasterBalance cannot apply to margin orders', 'InvalidOrder',
  ),
  RISK_BUCKET_MISMATCH: refusal(
    421, 'RISK_BUCKET_MISMATCH', 'VALIDATION_ERROR', 'The risk bucket is of another pair, margin mode, strategy key or margin account',
    'InvalidOrder',
  ),
  RISK_BUCKET_IN_LIQUIDATION: refusal(
    422, 'RISK_BUCKET_IN_LIQUIDATION', 'CONFLICT', 'The risk bucket is in liquidation or in bad debt', 'InvalidOrder',
  ),
  MARGIN_ACCOUNT_NOT_FLAT: refusal(
    423, 'MARGIN_ACCOUNT_NOT_FLAT', 'CONFLICT', 'The margin account has positions or open orders', 'BadRequest',
  ),
  TOO_MANY_MARGIN_ACCOUNTS: refusal(424, 'TOO_MANY_MARGIN_ACCOUNTS', 'CONFLICT', 'Too many margin sub-accounts', 'BadRequest'),
  TOO_MANY_RISK_BUCKETS: refusal(425, 'TOO_MANY_RISK_BUCKETS', 'CONFLICT', 'Too many risk buckets', 'BadRequest'),
  TOO_MANY_POSITIONS: refusal(426, 'TOO_MANY_POSITIONS', 'CONFLICT', 'Too many positions', 'BadRequest'),
  TOO_MANY_REDUCE_ONLY: refusal(
    427, 'TOO_MANY_REDUCE_ONLY', 'VALIDATION_ERROR', 'Too many reduce-only orders rest on this position', 'InvalidOrder',
  ),
  POSITION_NOT_FOUND: refusal(428, 'POSITION_NOT_FOUND', 'NOT_FOUND', 'Position not found', 'BadRequest'),
  PRICE_OUT_OF_BAND: refusal(429, 'PRICE_OUT_OF_BAND', 'VALIDATION_ERROR', 'The price is too far from the one before', 'BadRequest'),
  STRATEGY_KEY_UNKNOWN: refusal(430, 'STRATEGY_KEY_UNKNOWN', 'NOT_FOUND', 'No risk bucket has this strategy key', 'BadRequest'),
  WRONG_PERP_MODE: refusal(431, 'WRONG_PERP_MODE', 'CONFLICT', 'The perpetual is in a mode that does not allow this', 'BadRequest'),
  TRAILING_STOP_EXISTS: refusal(
    440, 'TRAILING_STOP_EXISTS', 'CONFLICT', 'The position has a trailing stop already; cancel it first', 'InvalidOrder',
  ),
  INVALID_TRIGGER_PRICE: refusal(
    441, 'INVALID_TRIGGER_PRICE', 'VALIDATION_ERROR', 'The trigger price is on the wrong side: it would fire at once', 'InvalidOrder',
  ),
  TOO_MANY_CONDITIONAL_ORDERS: refusal(
    442, 'TOO_MANY_CONDITIONAL_ORDERS', 'CONFLICT', 'Too many conditional orders wait, of the position, the account or its family',
    'InvalidOrder',
  ),
  TOO_MANY_TWAP_ORDERS: refusal(
    443, 'TOO_MANY_TWAP_ORDERS', 'CONFLICT', 'Too many TWAP orders run, of the account or its family', 'InvalidOrder',
  ),
  INVALID_SCHEDULE: refusal(
    444, 'INVALID_SCHEDULE', 'VALIDATION_ERROR', 'The window of the TWAP order is over, empty or longer than 7 days', 'InvalidOrder',
  ),
  BEYOND_LIMIT_PRICE: refusal(
    445, 'BEYOND_LIMIT_PRICE', 'VALIDATION_ERROR', 'The market is beyond the limit price of the TWAP order, or there is none',
    'InvalidOrder',
  ),
  ...PROGRAM_REFUSALS,
  CHAIN_UNAVAILABLE: refusal(
    909, 'CHAIN_UNAVAILABLE', 'UNAVAILABLE', 'The chain or the signer does not answer; nothing was applied', 'ExchangeNotAvailable',
  ),
  // 5xx matching
  POST_ONLY_WOULD_CROSS: refusal(
    500,
    'POST_ONLY_WOULD_CROSS',
    'VALIDATION_ERROR',
    'A post-only order would cross the book',
    'OrderImmediatelyFillable',
  ),
  SELF_TRADE_NOT_ALLOWED: refusal(
    501,
    'SELF_TRADE_NOT_ALLOWED',
    'VALIDATION_ERROR',
    'A FOK order with CANCEL_BOTH meets an order of the same owner',
    'InvalidOrder',
  ),
  ORDER_NOT_FOUND: refusal(502, 'ORDER_NOT_FOUND', 'NOT_FOUND', 'Order not found', 'OrderNotFound'),
  // 6xx reading and names
  NOT_FOUND: refusal(600, 'NOT_FOUND', 'NOT_FOUND', 'Not found', 'BadRequest'),
  ROUTE_NOT_FOUND: refusal(601, 'ROUTE_NOT_FOUND', 'NOT_FOUND', 'No such operation', 'BadRequest'),
  METHOD_NOT_ALLOWED: refusal(602, 'METHOD_NOT_ALLOWED', 'VALIDATION_ERROR', 'Method not allowed', 'BadRequest', { http: 405 }),
  // 9xx availability
  OVERLOADED: refusal(900, 'OVERLOADED', 'UNAVAILABLE', 'The service is at capacity; nothing was applied', 'ExchangeNotAvailable'),
  ENGINE_UNAVAILABLE: refusal(
    901,
    'ENGINE_UNAVAILABLE',
    'UNAVAILABLE',
    'The matching engine is momentarily unreachable',
    'ExchangeNotAvailable',
  ),
  SERVICE_UNAVAILABLE: refusal(902, 'SERVICE_UNAVAILABLE', 'UNAVAILABLE', 'An internal deadline expired', 'ExchangeNotAvailable', {
    retry: 'ambiguous',
  }),
  VERIFICATION_UNAVAILABLE: refusal(
    903,
    'VERIFICATION_UNAVAILABLE',
    'UNAVAILABLE',
    'Signatures cannot be verified now; this is no verdict',
    'ExchangeNotAvailable',
  ),
  DISK_RESERVE: refusal(
    904,
    'DISK_RESERVE',
    'UNAVAILABLE',
    'Free disk space is below the reserve; new orders are refused',
    'ExchangeNotAvailable',
  ),
  DISK_FULL: refusal(906, 'DISK_FULL', 'UNAVAILABLE', 'Nothing can be recorded until there is room; reads go on', 'ExchangeNotAvailable'),
  TRIGGERS_BEHIND: refusal(
    907,
    'TRIGGERS_BEHIND',
    'UNAVAILABLE',
    'Conditional orders of earlier prices still have to fire; send the price again',
    'ExchangeNotAvailable',
  ),
  HISTORY_UNAVAILABLE: refusal(
    905,
    'HISTORY_UNAVAILABLE',
    'UNAVAILABLE',
    'The history is momentarily unreadable',
    'ExchangeNotAvailable',
  ),
  INVALID_COMMAND: refusal(
    998,
    'INVALID_COMMAND',
    'INTERNAL',
    'The request became a record that no engine can apply; nothing was recorded or applied',
    'ExchangeError',
  ),
  INTERNAL: refusal(999, 'INTERNAL', 'INTERNAL', 'Internal error', 'ExchangeError', { retry: 'ambiguous' }),
} as const satisfies Record<string, Refusal>

export type RefusalCode = keyof typeof REFUSALS

const BY_NUMBER = new Map<number, Refusal>(Object.values(REFUSALS).map((r) => [r.number, r]))
if (BY_NUMBER.size !== Object.keys(REFUSALS).length) throw new Error('refusal numbers repeat')

/** The refusal of a RESULT record's `code`. */
export function refusalByNumber(number: number): Refusal {
  return BY_NUMBER.get(number) ?? REFUSALS.INTERNAL
}
