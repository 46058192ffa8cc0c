/** Comparing two stores row by row: equal journals give equal rows, whenever and in whatever pieces they were projected. */
import { tableNumber } from './checks.ts'
import { ROOT_BYTES } from './heads.ts'
import { pageId, TABLE_NAMES, type PageTableName } from './layout.ts'
import { unpack } from './packing.ts'
import { readPosition, type HistoryDatabase } from './store.ts'

export interface Comparison {
  /** Rows of each table of the first store. */
  readonly rows: Record<string, number>
  /** First row in which they differ, by table; empty when they are equal. */
  readonly differences: { readonly table: string; readonly id: number; readonly what: 'missing' | 'more' | 'other' }[]
}

interface Row {
  readonly id: number
  readonly value: Buffer
}

/** Both say the same, packed (packing.ts) or not. */
function isSame(table: PageTableName, one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true
  const [a, b] = [one, other].map((stored) => Buffer.from(unpack(tableNumber(table), stored) ?? []))
  return a!.length > 0 && a!.equals(b!)
}

/** Rows of a table in order; none where a store of an older format does not have it. Of head_page those of the first `tables`. */
function* rowsOf(store: HistoryDatabase, table: PageTableName, tables: number): Generator<Row> {
  if (store.prepare('select 1 from sqlite_schema where name = ?').get(table) === undefined) return
  const end = table === 'head_page' ? pageId(tables, 0) : Infinity
  yield* store.prepare<[number], Row>(`select id, records as value from ${table} where id < ? order by id`).iterate(end)
}

/**
 * How many tables a store has: one that a version before wrote last lacks those that came later, until it goes on, though what they have
 * comes of things that happened before, too.
 */
const tablesOf = (roots: Buffer | undefined): number => (roots === undefined ? TABLE_NAMES.length : roots.length / ROOT_BYTES)

/** What `store` has missing, more or other than `truth`, of the tables that it has. */
export function compareStores(store: HistoryDatabase, truth: HistoryDatabase): Comparison {
  const rows: Record<string, number> = {}
  const differences: Comparison['differences'] = []
  const tables = tablesOf(readPosition(store)?.roots)
  for (const table of TABLE_NAMES.slice(0, tables)) {
    const wanted = rowsOf(truth, table, tables)
    let next = wanted.next()
    rows[table] = 0
    for (const row of rowsOf(store, table, tables)) {
      rows[table]++
      const truth = next.done === true ? null : next.value
      if (truth !== null && truth.id === row.id && isSame(table, truth.value, row.value)) {
        next = wanted.next()
        continue
      }
      const what = truth === null || row.id < truth.id ? 'more' : row.id > truth.id ? 'missing' : 'other'
      differences.push({ table, id: what === 'missing' ? truth!.id : row.id, what })
      break
    }
    if (next.done !== true && differences.at(-1)?.table !== table) differences.push({ table, id: next.value.id, what: 'missing' })
    wanted.return(undefined)
  }
  return { rows, differences }
}
