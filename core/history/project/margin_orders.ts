/** Read model of where orders of perpetuals stand: beside the record of each such order one that names its bucket and its leverage. */
import { Flag } from '../../layout/command.ts'
import { MARGIN_ORDER } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import { MarginMode } from '../../state/margin_rows.ts'
import { ORDER_MARGIN_RECORD } from '../store/margin_layout.ts'
import type { Tables } from '../store/heads.ts'
import type { Buckets } from './buckets.ts'

const { at: E } = MARGIN_ORDER
const { at: O } = ORDER_MARGIN_RECORD
/** Pages in memory: only the last of each account is ever changed. */
const PAGES = 4096

export interface MarginOrdersModel {
  /** MARGIN_ORDER. */
  ordered(events: Views, base: number): void
  flush(): void
}

export function createMarginOrders(tables: Tables, buckets: Buckets): MarginOrdersModel {
  const pages = tables.pages('margin_order_page', PAGES)
  return {
    ordered: (events, base) => {
      const { i32, f64 } = events
      const account = i32[base + E.account]!
      const margin = buckets.marginOf(account, f64[(base + E.marginAccountSequence) >>> 1]!, i32[base + E.marginAccount]!)
      const bucket = buckets.bucketOf(account, f64[(base + E.bucketSequence) >>> 1]!, i32[base + E.bucket]!)
      buckets.name(account, bucket, margin)
      const mode = (i32[base + E.flags]! & Flag.CROSS) !== 0 ? MarginMode.CROSS : MarginMode.ISOLATED
      buckets.describe(account, bucket, mode, events, base + E.strategyKey)
      const at = pages.append(account)
      pages.views.f64[(at + O.sequence) >>> 1] = f64[(base + E.orderSequence) >>> 1]!
      pages.views.i32[at + O.bucket] = bucket
      pages.views.i32[at + O.leverage] = i32[base + E.leverage]!
    },
    flush: () => pages.flush(),
  }
}
