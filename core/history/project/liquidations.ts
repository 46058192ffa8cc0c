/** Read model of liquidations: a record for each, from its beginning to its end, changed in place. */
import { LIQUIDATION } from '../../layout/event.ts'
import { LiquidationStatus } from '../../layout/margin_events.ts'
import type { Views } from '../../layout/table.ts'
import { LIQUIDATION_RECORD } from '../store/margin_layout.ts'
import type { Tables } from '../store/heads.ts'
import type { PageTable } from '../store/pages.ts'
import type { Buckets } from './buckets.ts'

const { at: E } = LIQUIDATION
const { at: L } = LIQUIDATION_RECORD
/** Pages in memory: 4 MB at most. */
const PAGES = 1024

export interface LiquidationsModel {
  /** LIQUIDATION. */
  liquidated(events: Views, base: number): void
  flush(): void
}

export function createLiquidations(tables: Tables, buckets: Buckets): LiquidationsModel {
  const pages = tables.pages('liquidation_page', PAGES)
  return {
    liquidated: ({ i32, f64, i64 }, base) => {
      const account = i32[base + E.account]!
      const margin = buckets.marginOf(account, f64[(base + E.marginAccountSequence) >>> 1]!, i32[base + E.marginAccount]!)
      const bucket = buckets.bucketOf(account, f64[(base + E.bucketSequence) >>> 1]!, i32[base + E.bucket]!)
      buckets.name(account, bucket, margin)
      const time = f64[(base + E.time) >>> 1]!
      const at = recordOf(pages, account, bucket, f64[(base + E.began) >>> 1]!, time)
      const to = pages.views
      const status = i32[base + E.status]!
      to.f64[(at + L.updatedAt) >>> 1] = time
      to.i32[at + L.status] = status
      to.i64[(at + L.equity) >>> 1] = i64[(base + E.equity) >>> 1]!
      to.i64[(at + L.maintenance) >>> 1] = i64[(base + E.maintenance) >>> 1]!
      to.f64[(at + L.lots) >>> 1]! += Math.abs(i32[base + E.lots]!)
      if (i32[base + E.pair]! >= 0) to.i32[at + L.pair] = i32[base + E.pair]!
      const sum = status === LiquidationStatus.BAD_DEBT ? L.badDebt : L.fees
      to.i64[(at + sum) >>> 1]! += i64[(base + E.amount) >>> 1]!
      if (status === LiquidationStatus.COMPLETED) to.f64[(at + L.endedAt) >>> 1] = time
    },
    flush: () => pages.flush(),
  }
}

/** Address of the record of the liquidation of a bucket that began at `sequence`, made if need be. An account has few that are open. */
function recordOf(pages: PageTable, account: number, bucket: number, sequence: number, time: number): number {
  for (let number = pages.count(account) - 1; number >= 0; number--) {
    const at = pages.locate(account, number)
    const began = pages.views.f64[(at + L.sequence) >>> 1]!
    if (began === sequence && pages.views.i32[at + L.bucket] === bucket) return pages.change(account, number)
    // They stand in order of their beginnings.
    if (began < sequence) break
  }
  const at = pages.append(account)
  pages.views.f64[(at + L.sequence) >>> 1] = sequence
  pages.views.f64[(at + L.startedAt) >>> 1] = time
  pages.views.i32[at + L.bucket] = bucket
  pages.views.i32[at + L.pair] = -1
  return at
}
