/**
 * Reading the pages of a store, each checked against what the position row stands for (checks.ts): one page of records a reader at a
 * time in memory, found again by record number or by binary search.
 *
 * Heads and pages of checksums are kept in a bounded cache by what their checksum must be, so that they stay good from one transaction
 * to the next for as long as nobody wrote them. What is not what was written is {@link HistoryDamaged}, never an answer.
 */
import type Database from 'better-sqlite3'
import { viewsOf, type Views } from '../../layout/table.ts'
import { describePage, FAN_OUT, heightOf, HistoryDamaged, levelId, tableNumber } from './checks.ts'
import { Roots } from './heads.ts'
import { HEAD, PAGE_BYTES, PAGE_TABLES, pageId, pageRecords, recordsPerPage, TABLE_NAMES, type PageTableName } from './layout.ts'
import { provedPage } from './packing.ts'
import { checkedPosition, READ_POSITION, type HistoryDatabase, type PositionRow, type StorePosition } from './store.ts'

const { at: H } = HEAD
const HEAD_TABLE = tableNumber('head_page')
const HEAD_BYTES = PAGE_TABLES.head_page * 4
const HEADS = pageRecords('head_page')
/** Heads and pages of checksums kept, of all tables: 16 MB at most. */
const KEPT = 4096
/** Tables in the key of a kept page. */
const TABLES = TABLE_NAMES.length

/** Records of an owner and the checksum over them. */
interface Head {
  readonly count: number
  readonly root: number
}

/** A store that is read, as it is at one position. */
export class CheckedStore {
  readonly database: HistoryDatabase
  readonly #position
  /** By table, prepared when it is asked: older stores do not have all. */
  readonly #load: Database.Statement<[number], Buffer>[] = []
  readonly #kept = new Map<number, { sum: number; bytes: Buffer }>()
  #current: { position: StorePosition; roots: Roots } | null = null

  constructor(database: HistoryDatabase) {
    this.database = database
    this.#position = database.prepare<[], PositionRow>(READ_POSITION)
  }

  /** The store may have changed: its position is read again. */
  forget(): void {
    this.#current = null
  }

  /** Pages that were kept are read again too. */
  forgetAll(): void {
    this.forget()
    this.#kept.clear()
  }

  get position(): StorePosition {
    return this.#now().position
  }

  /** Owners that a table may have: 0 to this, exclusive. */
  owners(table: number): number {
    return table === HEAD_TABLE ? TABLES : this.#now().roots.count(table)
  }

  head(table: number, owner: number): Head {
    const { roots } = this.#now()
    if (table === HEAD_TABLE) return { count: roots.count(owner), root: roots.root(owner) }
    const owners = roots.count(table)
    if (owner >= owners) return { count: 0, root: 0 }
    const page = Math.floor(owner / HEADS)
    const sum = this.sumOf(HEAD_TABLE, table, page, { count: owners, root: roots.root(table) }, HEADS)
    const bytes = this.#keep(HEAD_TABLE, pageId(table, page), sum)
    const at = (owner - page * HEADS) * HEAD_BYTES
    return { count: bytes.readDoubleLE(at + H.count * 4), root: bytes.readUInt32LE(at + H.root * 4) }
  }

  /** What the checksum of page `page` of an owner's records must be, of which `perPage` make a page. */
  sumOf(table: number, owner: number, page: number, { count, root }: Head, perPage: number): number {
    let sum = root
    for (let level = heightOf(Math.ceil(count / perPage)); level > 0; level--) {
      const bytes = this.#keep(table, levelId(owner, level, Math.floor(page / FAN_OUT ** level)), sum)
      sum = bytes.readUInt32LE((Math.floor(page / FAN_OUT ** (level - 1)) % FAN_OUT) * 4)
    }
    return sum
  }

  /** The page of this id, unpacked; one of records is good until the next call. */
  load(table: number, id: number, sum: number): Uint8Array {
    this.#load[table] ??= this.database.prepare<[number], Buffer>(`select records from ${TABLE_NAMES[table]!} where id = ?`).pluck()
    const bytes = this.#load[table].get(id)
    if (bytes === undefined) throw new HistoryDamaged(`${describePage(table, id)} is missing`)
    return provedPage(table, id, bytes, sum)
  }

  #now(): { position: StorePosition; roots: Roots } {
    if (this.#current !== null) return this.#current
    const row = this.#position.get()
    if (row === undefined) throw new HistoryDamaged('the position is missing')
    const position = checkedPosition(row)
    return (this.#current = { position, roots: new Roots(position.roots) })
  }

  /** A page of heads or of checksums. */
  #keep(table: number, id: number, sum: number): Buffer {
    const key = id * TABLES + table
    const kept = this.#kept.get(key)
    if (kept !== undefined && kept.sum === sum) return kept.bytes
    // Neither heads nor checksums are packed: these are the bytes that were read.
    const bytes = this.load(table, id, sum) as Buffer
    if (this.#kept.size >= KEPT) this.#kept.clear()
    this.#kept.set(key, { sum, bytes })
    return bytes
  }
}

export interface PageReader {
  readonly views: Views
  /** Pages read so far: what a question costs. */
  loads: number
  /** Owners that the table may have: 0 to this, exclusive. */
  owners(): number
  /** Records of `owner`. */
  count(owner: number): number
  /** Address of record `number` of `owner`, valid until the next call. */
  locate(owner: number, number: number): number
  /**
   * How many records of `owner`, of the first `count`, pass `before`, which holds for some from the first on and then for none. It is
   * known to hold for the first `least`.
   */
  search(owner: number, count: number, before: (at: number) => boolean, least?: number): number
  /** The store may have changed, and was told so: look again. */
  forget(): void
}

/** `words` of a record where the table does not say. */
export function createPageReader(store: CheckedStore, name: PageTableName, words: number = PAGE_TABLES[name]): PageReader {
  const table = tableNumber(name)
  const perPage = recordsPerPage(words)
  const views = viewsOf(new ArrayBuffer(Math.max(PAGE_BYTES, words * 4)))
  /** The page in memory, its checksum, and whether it is known to be the newest. */
  let here = -1
  let sumHere = -1
  let good = false
  const turnTo = (owner: number, page: number, id: number): void => {
    const sum = store.sumOf(table, owner, page, store.head(table, owner), perPage)
    if (id !== here || sum !== sumHere) {
      here = -1
      views.bytes.set(store.load(table, id, sum))
      here = id
      sumHere = sum
      reader.loads++
    }
    good = true
  }
  const reader: PageReader = {
    views,
    loads: 0,
    owners: () => store.owners(table),
    count: (owner) => store.head(table, owner).count,
    locate: (owner, number) => {
      const page = Math.floor(number / perPage)
      const id = pageId(owner, page)
      if (here !== id || !good) turnTo(owner, page, id)
      return (number - page * perPage) * words
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
      good = false
    },
  }
  return reader
}
