/** What an account has on perpetuals, over all its margin accounts. */
import { R } from '../state/balances.ts'
import { MARGIN_ACCOUNT, RISK_BUCKET } from '../state/margin_rows.ts'
import { get, getI64, marginAccountRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { parentOf } from './buckets.ts'
import { bucketHealth } from './figures.ts'
import { eachBucket } from './leads.ts'

/**
 * Register AMOUNT = what is deposited in the margin accounts of `account`, and what their buckets have made or lost since, at the marks of
 * now. Walks its buckets. Scratch: as bucketHealth.
 */
export function accountEquity(state: State, account: number): void {
  const { registers } = state
  registers[R.AMOUNT] = 0n
  for (let margin = parentOf(state, account); margin >= 0;) {
    registers[R.AMOUNT] = registers[R.AMOUNT]! + getI64(state, margin, MARGIN_ACCOUNT.DEPOSITED)
    const next = get(state, margin, MARGIN_ACCOUNT.NEXT)
    margin = next === 0 ? -1 : marginAccountRow(state, next - 1)
  }
  eachBucket(state, account, (bucket) => {
    bucketHealth(state, bucket)
    registers[R.AMOUNT] = registers[R.AMOUNT]! + registers[R.EQUITY]! - getI64(state, bucket, RISK_BUCKET.ALLOCATED)
  })
}
