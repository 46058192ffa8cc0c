/** Rows of families: columns spendLimits, agents and agentMargins (columns.ts). */
import { f64, i64 } from './fields.ts'

/** What a sub-account's orders may spend of its master's balance of one asset. Once made, a row stays its (sub-account, asset)'s. */
export const SPEND_LIMIT_WORDS = 20
export const SPEND_LIMIT = {
  /** Row of the sub-account; asset. */
  SUB: 0, ASSET: 1,
  /** Row + 1. */
  NEXT: 2,
  /** SpendLimitState bits. */
  STATE: 3,
  /** f64 each: id, times in Unix ms, the UTC midnight SPENT counts from. */
  CREATED_SEQUENCE: f64(4), CREATED_AT: f64(6), UPDATED_AT: f64(8), RESET_AT: f64(10),
  /** i64 each, atoms. DAILY -1: none. OUTSTANDING: held by resting orders now. SPENT: by fills since RESET_AT. */
  MAX: i64(12), DAILY: i64(14), OUTSTANDING: i64(16), SPENT: i64(18),
} as const
export const SpendLimitState = { EXISTS: 1, ACTIVE: 2 } as const

/** Delegated agents. A revoked row may be given to another agent of the same owner. */
export const AGENT_WORDS = 48
export const AGENT = {
  /** Account that granted. */
  OWNER: 0,
  /** Row + 1. */
  NEXT: 1,
  /** AgentStatus. */
  STATUS: 2,
  /** As in UPSERT_AGENT. */
  GRANTS: 3,
  /** 20 bytes. */
  ADDRESS: 4,
  /** Resting orders it placed. */
  OPEN_ORDERS: 9,
  /** f64 each. */
  CREATED_SEQUENCE: f64(10), CREATED_AT: f64(12), UPDATED_AT: f64(14), EXPIRES_AT: f64(16),
  /** i64. */
  MAX_NOTIONAL: i64(18),
  MAX_LEVERAGE: 20, MAX_OPEN_ORDERS: 21,
  /** Its sessions, row + 1. */
  FIRST_SESSION: 22,
  /** 32 bytes each. */
  NAME: 24, PAIRS: 32,
} as const
export const AgentStatus = { NONE: 0, ACTIVE: 1, REVOKED: 2 } as const

export const AGENT_MARGIN_WORDS = 32
/** Margin accounts that an agent may use when its grants name them (AgentMargin.LISTED), as UPSERT_AGENT names them. By the agent's row. */
export const AGENT_MARGIN = {
  /** f64 each; 0: no more are named. */
  SEQUENCES: f64(0),
  /** i32 each. */
  ROWS: 20,
} as const
