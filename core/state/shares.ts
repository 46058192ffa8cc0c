/**
 * Shares: how much of a bounded pool one family may take, so that nobody fills a pool for everybody else.
 *
 * A family is a master with its sub-accounts; it counts as one, so that sub-accounts multiply nothing. Whoever holds less than its share
 * may take a row more; what is held already is never taken away. The share is a function of the pool's capacity C and of its free rows F:
 *
 *   more than a tenth is free:    C / 8 × (F / C)^4, at least FEW
 *   the last tenth, T rows:       FEW × (F / T)^2, at least 1
 *
 * FEW is C / 16,384, from 1 to 64. A lone family may take 9 % of an empty pool; the last tenth is for those who hold few. Shares shrink
 * faster than the pool fills, because rows stay for a day (receipts) or for 90 (orders): with a share in proportion to what is free a
 * few dozen families, one after another, would take nearly all.
 *
 * What n greedy families, one after another, leave to the next one of a pool of 1,048,576 (test/unit/pool_shares.test.ts):
 *
 *   families before     0    1      16     128  911  1,605  6,500  13,000  28,600
 *   share of the next   131,072  91,115  10,685  750  64   64     4      1       0
 *
 * Every division is of integers below 2^53 and rounded down, so that any implementation comes to the same number; for that, rows of pools
 * of more than 2^24 are counted in eights.
 */
import { ACCOUNT, SCALAR } from './columns.ts'
import { accountRow, add, get, scalar } from './rows.ts'
import type { State } from './state.ts'

/** Most rows that everybody may hold while more than a tenth of the pool is free. */
const FEW_MOST = 64

/** Rows of larger pools are counted in eights, so that products stay exact. */
const COUNTED_SINGLY = 2 ** 24

/** FEW: what every family may hold of a pool of this capacity while more than a tenth is free. */
export const fewOf = (capacity: number): number => Math.min(FEW_MOST, Math.max(1, capacity >>> 14))

/** Rows of a pool of `capacity` that one family may hold while `free` are free; 0 when none are. */
export function shareOf(capacity: number, free: number): number {
  capacity |= 0
  free |= 0
  if (free <= 0) return 0
  const few = fewOf(capacity)
  const tenth = lastTenthOf(capacity)
  const eighths = capacity > COUNTED_SINGLY ? 3 : 0
  const f = free >>> eighths
  if (free <= tenth) return Math.max(1, Math.floor((few * f * f) / (tenth >>> eighths) ** 2))
  const c = capacity >>> eighths
  const square = Math.floor((f * f) / c)
  return Math.max(few, Math.floor((Math.floor((square * square) / c) << eighths) / 8))
}

/** Rows that are kept for families that hold few. */
export const lastTenthOf = (capacity: number): number => Math.max(1, Math.floor(capacity / 10))

/** True when a family that holds `held` rows may take another one. */
export const mayTake = (held: number, capacity: number, free: number): boolean => held < shareOf(capacity, free)

/** The account row that the family of `account` is counted on. */
export const familyRow = (state: State, account: number): number =>
  accountRow(state, get(state, accountRow(state, account), ACCOUNT.FAMILY))

/**
 * True when the family of `account` may take one more row of a pool of which `used` of `capacity` are. `word` of its master's row counts
 * what it has. Before the rules 1 whatever was free could be taken.
 */
export function familyMayTake(state: State, account: number, word: number, used: number, capacity: number): boolean {
  if (scalar(state, SCALAR.RULES) < 1) return used < capacity
  return mayTake(get(state, familyRow(state, account), word), capacity, capacity - used)
}

/** One row more of the pool that `word` counts is the family's of `account`. */
export function countForFamily(state: State, account: number, word: number): void {
  add(state, familyRow(state, account), word, 1)
}
