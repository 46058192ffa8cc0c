/**
 * The buckets that liquidation has to look at: a list through their rows, the one that came first in front.
 *
 *   LIQUIDATING  its liquidation goes on, a step with each command (liquidation/liquidate.ts)
 *   BAD_DEBT     it has no position left and owes; the insurance fund pays as soon as it can
 *   ACTIVE       it must be looked at and could not be yet: a price of it is stale, or its pair does not trade; or it has no position
 *                left, by which a guard would find it, and owes
 *
 * A bucket of the list has no guards (guards.ts): whoever walks the list looks at it. Buckets are named by the addresses of their rows.
 */
import { SCALAR } from '../state/columns.ts'
import { RISK_BUCKET } from '../state/margin_rows.ts'
import { addScalar, bucketAt, bucketRow, get, scalar, set, setScalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const { LIQUIDATED_NEXT: NEXT, LIQUIDATED_PREV: PREV } = RISK_BUCKET
const { LIQUIDATIONS_OLDEST: OLDEST, LIQUIDATIONS_NEWEST: NEWEST } = SCALAR

export const isListed = (state: State, bucket: number): boolean =>
  get(state, bucket, PREV) !== 0 || scalar(state, OLDEST) === bucketAt(state, bucket) + 1

/** Puts the bucket behind all others, unless it is in the list. */
export function enlistBucket(state: State, bucket: number): void {
  if (isListed(state, bucket)) return
  const link = bucketAt(state, bucket) + 1
  const last = scalar(state, NEWEST)
  set(state, bucket, PREV, last)
  set(state, bucket, NEXT, 0)
  if (last === 0) setScalar(state, OLDEST, link)
  else set(state, bucketRow(state, last - 1), NEXT, link)
  setScalar(state, NEWEST, link)
  addScalar(state, SCALAR.LIQUIDATIONS, 1)
}

/** Takes the bucket out of the list, if it is there. */
export function delistBucket(state: State, bucket: number): void {
  if (!isListed(state, bucket)) return
  const next = get(state, bucket, NEXT)
  const previous = get(state, bucket, PREV)
  if (previous === 0) setScalar(state, OLDEST, next)
  else set(state, bucketRow(state, previous - 1), NEXT, next)
  if (next === 0) setScalar(state, NEWEST, previous)
  else set(state, bucketRow(state, next - 1), PREV, previous)
  set(state, bucket, NEXT, 0)
  set(state, bucket, PREV, 0)
  addScalar(state, SCALAR.LIQUIDATIONS, -1)
}

/** The bucket behind `bucket` in the list, -1: behind the last one; of `bucket` -1 the first one. */
export function nextListed(state: State, bucket: number): number {
  const next = bucket < 0 ? scalar(state, OLDEST) : get(state, bucket, NEXT)
  return next === 0 ? -1 : bucketRow(state, next - 1)
}
