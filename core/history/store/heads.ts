/**
 * What the owners of every table have, for the projector: numbers of records and roots of checksums (checks.ts), as records of head_page;
 * and the roots of head_page itself, 16 bytes a table, which go into the position row.
 */
import { tableNumber } from './checks.ts'
import { HEAD, PAGE_TABLES, TABLE_NAMES, type PageTableName } from './layout.ts'
import { Pages, type Heads, type PageTable } from './pages.ts'
import { readPosition, type HistoryDatabase } from './store.ts'

const { at: H } = HEAD
/** Pages of heads in memory: 248 owners each, 4 MB. */
const PAGES = 1024
/** Bytes of a table in the roots: number of owners, root, zero. */
export const ROOT_BYTES = 16

/** By table, in order: the owners and the root over their heads. The heads of head_page, as the position row has them. */
export class Roots implements Heads {
  readonly bytes: Buffer
  /** Those of a position row, or of an empty store. */
  constructor(bytes: Buffer | null) {
    // Tables that came later have nothing in the row of an older store.
    this.bytes = Buffer.alloc(TABLE_NAMES.length * ROOT_BYTES)
    bytes?.copy(this.bytes)
  }

  count(table: number): number {
    return this.bytes.readDoubleLE(table * ROOT_BYTES)
  }

  root(table: number): number {
    return this.bytes.readUInt32LE(table * ROOT_BYTES + 8)
  }

  set(table: number, count: number, root: number): void {
    this.bytes.writeDoubleLE(count, table * ROOT_BYTES)
    this.bytes.writeUInt32LE(root, table * ROOT_BYTES + 8)
  }
}

class TableHeads implements Heads {
  readonly #pages: PageTable
  readonly #table: number
  constructor(pages: PageTable, table: number) {
    this.#pages = pages
    this.#table = table
  }

  count(owner: number): number {
    if (owner >= this.#pages.count(this.#table)) return 0
    const at = this.#pages.locate(this.#table, owner)
    return this.#pages.views.f64[(at + H.count) >>> 1]!
  }

  root(owner: number): number {
    if (owner >= this.#pages.count(this.#table)) return 0
    const at = this.#pages.locate(this.#table, owner)
    return this.#pages.views.u32[at + H.root]!
  }

  set(owner: number, count: number, root: number): void {
    while (this.#pages.count(this.#table) <= owner) this.#pages.append(this.#table)
    const at = this.#pages.change(this.#table, owner)
    this.#pages.views.f64[(at + H.count) >>> 1] = count
    this.#pages.views.u32[at + H.root] = root
  }
}

/** The tables of a store that is written. */
export interface Tables {
  readonly database: HistoryDatabase
  /** The pages of `table`, at most `capacity` of them in memory; `words` of a record where the table does not say. */
  pages(table: PageTableName, capacity: number, words?: number): PageTable
  /** Owners that `table` may have: 0 to this, exclusive. */
  owners(table: PageTableName): number
  /** Writes the heads, after the pages of every table were; what the position row must say then. Part of the caller's transaction. */
  flush(): Buffer
}

/** Goes on where the store stands. */
export function openTables(database: HistoryDatabase): Tables {
  const roots = new Roots(readPosition(database)?.roots ?? null)
  const heads = new Pages(database, tableNumber('head_page'), PAGES, PAGE_TABLES.head_page, roots)
  return {
    database,
    pages: (table, capacity, words = PAGE_TABLES[table]) => {
      const number = tableNumber(table)
      return new Pages(database, number, capacity, words, new TableHeads(heads, number))
    },
    owners: (table) => heads.count(tableNumber(table)),
    flush: () => {
      heads.flush()
      return Buffer.from(roots.bytes)
    },
  }
}
