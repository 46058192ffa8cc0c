/**
 * Memory of the rate budgets: one row per account, written by all gateway threads under the row's lock (gateway/limits/rate_limiter.ts).
 *
 * A window is two words: which window of the wall clock it is, and the items drawn in it. The rows of an account that is a master also
 * hold what its whole family drew. Nothing here is state of the engine: it starts empty and is gone with the process.
 */
export const BUDGET_ROW_WORDS = 32
/** Places in a row, in 32-bit words; {@link BUDGET}.LOCK guards the row and the rows of everybody whose family it is. */
export const BUDGET = {
  LOCK: 0,
  CREATE_SECOND: 2, CREATE_MINUTE: 4, REDUCE_SECOND: 6, REDUCE_MINUTE: 8, MOVEMENT_MINUTE: 10, MOVEMENT_DAY: 12, CLOSE_SECOND: 14,
  FAMILY_CREATE_SECOND: 16, FAMILY_CREATE_MINUTE: 18, FAMILY_REDUCE_SECOND: 20, FAMILY_REDUCE_MINUTE: 22,
  /** Authenticated WebSocket connections, counted by atomic operations (gateway/ws/limits.ts). */
  SOCKETS: 24,
  /** Sessions opened on streams: number of the period and how many, under the lock of ring/replay_guard.ts. */
  OPENINGS: 26,
} as const

/** Bytes for this many accounts. The operating system commits a row when its account first draws. */
export const budgetsBytes = (accounts: number): number => accounts * BUDGET_ROW_WORDS * 4
