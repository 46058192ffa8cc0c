/** Refusals that several operations can give for the same reason, for their declarations. */
import type { RefusalCode } from '../../core/layout/refusals.ts'

/** Refusals of an order's terms, in any form they come. */
export const TERMS: readonly RefusalCode[] = [
  'NOT_FOUND', 'INVALID_TICK', 'INVALID_LOT', 'BELOW_MIN_NOTIONAL', 'BELOW_MIN_ORDER_SIZE', 'ABOVE_MAX_ORDER_SIZE', 'PAIR_NOT_ACTIVE',
  'INSUFFICIENT_BALANCE', 'POST_ONLY_WOULD_CROSS', 'SELF_TRADE_NOT_ALLOWED', 'CLIENT_ORDER_ID_CONFLICT', 'TOO_MANY_OPEN_ORDERS',
  'INVALID_EXPIRATION', 'SUB_ACCOUNT_LIMIT_EXCEEDED', 'NOT_SUB_ACCOUNT', 'WRONG_TRADING_MODE', 'MASTER_BALANCE_NOT_ALLOWED',
  'INSUFFICIENT_MARGIN', 'LEVERAGE_TOO_HIGH', 'LEVERAGE_TOO_LOW', 'REDUCE_ONLY_REJECTED', 'TOO_MANY_REDUCE_ONLY',
  'POSITION_LIMIT_EXCEEDED', 'OPEN_INTEREST_LIMIT', 'PRICE_STALE', 'PAIR_REDUCE_ONLY', 'WRONG_PERP_MODE', 'RISK_BUCKET_MISMATCH',
  'RISK_BUCKET_IN_LIQUIDATION', 'TOO_MANY_MARGIN_ACCOUNTS', 'TOO_MANY_RISK_BUCKETS', 'TOO_MANY_POSITIONS', 'STRATEGY_KEY_UNKNOWN',
  'LEASE_LOST',
]
/** Refusals of legs, with an order or without. */
export const LEGS: readonly RefusalCode[] = [
  'INVALID_TICK', 'INVALID_LOT', 'INVALID_EXPIRATION', 'INVALID_TRIGGER_PRICE', 'TRAILING_STOP_EXISTS', 'TOO_MANY_CONDITIONAL_ORDERS',
]
export const KEYED: readonly RefusalCode[] = [
  'IDEMPOTENCY_KEY_CONFLICT', 'ORDER_SUBMISSION_CAPACITY_EXCEEDED', 'ORDER_SUBMISSION_UNAVAILABLE',
]
/** What every command to the engine can meet; a batch answers an expired deadline item by item. */
export const COMMAND: readonly RefusalCode[] = ['OVERLOADED', 'TOO_MANY_IN_FLIGHT', 'DISK_FULL', 'SERVICE_UNAVAILABLE', 'INVALID_COMMAND']
export const BATCH: readonly RefusalCode[] = ['OVERLOADED', 'TOO_MANY_IN_FLIGHT', 'DISK_FULL', 'INVALID_COMMAND']
/** The shared columns could not be read in one piece. */
export const READ: readonly RefusalCode[] = ['ENGINE_UNAVAILABLE']
export const HISTORY: readonly RefusalCode[] = ['HISTORY_UNAVAILABLE']
export const WALLET: readonly RefusalCode[] = ['NOT_FOUND', 'VERIFICATION_UNAVAILABLE', 'RATE_LIMIT_EXCEEDED']
/** A listing that looks at every account of the application. */
export const WALK: readonly RefusalCode[] = ['OVERLOADED', ...READ]
