/** Comparing two stores row by row: equal journals give equal rows, whenever and in whatever pieces they were projected. */
import type { HistoryDatabase } from './store.ts'

/** Tables with the column that has everything but the id. */
const TABLES = {
  order_page: 'records', posting_page: 'records', trade_page: 'records', account_hour: 'state', price_hour: 'ticks',
  order_reference_page: 'records', posting_reference_page: 'records', application_trade_page: 'records', application_user: 'traded_ms',
  candle_page: 'records',
} as const

export interface Comparison {
  /** Rows of each table of the first store. */
  readonly rows: Record<string, number>
  /** First row in which they differ, by table; empty when they are equal. */
  readonly differences: { readonly table: string; readonly id: number; readonly what: 'missing' | 'more' | 'other' }[]
}

interface Row {
  readonly id: number
  readonly value: Buffer | number
}

const same = (one: Row['value'], other: Row['value']): boolean =>
  one instanceof Buffer && other instanceof Buffer ? one.equals(other) : one === other

/** What `store` has missing, more or other than `truth`. */
export function compareStores(store: HistoryDatabase, truth: HistoryDatabase): Comparison {
  const rows: Record<string, number> = {}
  const differences: Comparison['differences'] = []
  for (const [table, column] of Object.entries(TABLES)) {
    const sql = `select id, ${column} as value from ${table} order by id`
    const wanted = truth.prepare<[], Row>(sql).iterate()
    let next = wanted.next()
    rows[table] = 0
    for (const row of store.prepare<[], Row>(sql).iterate()) {
      rows[table]++
      const truth = next.done === true ? null : next.value
      if (truth !== null && truth.id === row.id && same(truth.value, row.value)) {
        next = wanted.next()
        continue
      }
      const what = truth === null || row.id < truth.id ? 'more' : row.id > truth.id ? 'missing' : 'other'
      differences.push({ table, id: what === 'missing' ? truth!.id : row.id, what })
      break
    }
    if (next.done !== true && differences.at(-1)?.table !== table) differences.push({ table, id: next.value.id, what: 'missing' })
    wanted.return?.()
  }
  return { rows, differences }
}
