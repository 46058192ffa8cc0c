/**
 * The insurance fund: an account of its own, with a parent margin account and one cross bucket without a strategy key (SCALAR.FUND). It
 * has no wallet: its address is zero, so nobody can sign in to it. What it has is all committed to its bucket, so that its positions
 * are backed by everything there is: DEPOSITED = EARMARKED = ALLOCATED.
 */
import { parentOf } from './buckets.ts'
import { SCALAR } from '../state/columns.ts'
import { MARGIN_ACCOUNT } from '../state/margin_rows.ts'
import { bucketRow, get, scalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Address of the fund's bucket; -1: there is no fund yet. */
export function fundBucket(state: State): number {
  const account = scalar(state, SCALAR.FUND) - 1
  return account < 0 ? -1 : bucketRow(state, get(state, parentOf(state, account), MARGIN_ACCOUNT.FIRST_BUCKET) - 1)
}
