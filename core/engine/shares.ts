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
 * Every division is of integers below 2^48 and rounded down, so that any implementation comes to the same number.
 */

/** Most rows that everybody may hold while more than a tenth of the pool is free. */
const FEW_MOST = 64

/** FEW: what every family may hold of a pool of this capacity while more than a tenth is free. */
export const fewOf = (capacity: number): number => Math.min(FEW_MOST, Math.max(1, capacity >>> 14))

/** Rows of a pool of `capacity` that one family may hold while `free` are free; 0 when none are. */
export function shareOf(capacity: number, free: number): number {
  capacity |= 0
  free |= 0
  if (free <= 0) return 0
  const few = fewOf(capacity)
  const tenth = lastTenthOf(capacity)
  if (free <= tenth) return Math.max(1, Math.floor((few * free * free) / (tenth * tenth)))
  const square = Math.floor((free * free) / capacity)
  return Math.max(few, Math.floor(Math.floor((square * square) / capacity) / 8))
}

/** Rows that are kept for families that hold few. */
export const lastTenthOf = (capacity: number): number => Math.max(1, Math.floor(capacity / 10))

/** True when a family that holds `held` rows may take another one. */
export const mayTake = (held: number, capacity: number, free: number): boolean => held < shareOf(capacity, free)
