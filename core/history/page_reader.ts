/** Reading the pages of one table: one page at a time in memory, found again by record number or by binary search. */
import { viewsOf, type Views } from '../layout/table.ts'
import { OWNER_PAGES, PAGE_BYTES, PAGE_TABLES, PAGE_WORDS, pageId, type PageTableName } from './layout.ts'
import { recordsIn } from './pages.ts'
import type { HistoryDatabase } from './store.ts'

export interface PageReader {
  readonly views: Views
  /** Pages read so far: what a question costs. */
  loads: number
  /** Records of `owner`. */
  count(owner: number): number
  /** Address of record `number` of `owner`, valid until the next call. */
  locate(owner: number, number: number): number
  /**
   * How many records of `owner`, of the first `count`, pass `before`, which holds for some from the first on and then for none. It is
   * known to hold for the first `least`.
   */
  search(owner: number, count: number, before: (at: number) => boolean, least?: number): number
  /** The store may have changed: read again. */
  forget(): void
}

export function createPageReader(database: HistoryDatabase, table: PageTableName): PageReader {
  const load = database.prepare<[number], Buffer>(`select records from ${table} where id = ?`).pluck()
  const last = database.prepare<[number, number], { id: number; records: Buffer }>(
    `select id, records from ${table} where id >= ? and id < ? order by id desc limit 1`,
  )
  const words = PAGE_TABLES[table]
  const pageRecords = PAGE_WORDS / words
  const views = viewsOf(new ArrayBuffer(PAGE_BYTES))
  let here = -1
  const keep = (id: number, records: Buffer): void => {
    views.bytes.set(records)
    here = id
    reader.loads++
  }
  const reader: PageReader = {
    views,
    loads: 0,
    count: (owner) => {
      const row = last.get(pageId(owner, 0), pageId(owner + 1, 0))
      if (row === undefined) return 0
      keep(row.id, row.records)
      return (row.id % OWNER_PAGES) * pageRecords + recordsIn(row.records, words)
    },
    locate: (owner, number) => {
      const page = Math.floor(number / pageRecords)
      const id = pageId(owner, page)
      if (here !== id) {
        const records = load.get(id)
        if (records === undefined) throw new Error(`the history has no page ${id}`)
        keep(id, records)
      }
      return (number - page * pageRecords) * words
    },
    search: (owner, count, before, least = 0) => {
      let low = least
      let high = count
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        if (before(reader.locate(owner, middle))) low = middle + 1
        else high = middle
      }
      return low
    },
    forget: () => {
      here = -1
    },
  }
  return reader
}
