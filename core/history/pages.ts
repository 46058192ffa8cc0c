/**
 * The pages of one table, for the projector: records are appended and changed in memory, dirty pages are written at the end of a
 * transaction.
 *
 * All pages in memory lie in one arena with three views; a record is named by the number of its first 32-bit word there, like rows of the
 * engine. An address is valid until the next call of `append` or `locate`, which may put another page in its place. Bounded: `capacity`
 * pages of 4 KB; a page that has to make room is written early, inside the same transaction.
 */
import type { HistoryDatabase } from './store.ts'
import { OWNER_PAGES, PAGE_BYTES, PAGE_TABLES, PAGE_WORDS, pageId, storedBytes, type PageTableName } from './layout.ts'
import { viewsOf, type Views } from '../layout/table.ts'

/** What an owner's counter holds before it was looked up. */
const UNKNOWN = -1

export interface PageTable {
  readonly views: Views
  /** Makes room for the next record of `owner`; the address of its zeroed record. */
  append(owner: number): number
  /** Address of record `number` of `owner`, which exists, to be changed. */
  change(owner: number, number: number): number
  /** Address of record `number` of `owner`, which exists, to be read. */
  locate(owner: number, number: number): number
  /** Records of `owner`. */
  count(owner: number): number
  /** Writes the dirty pages; part of the caller's transaction. */
  flush(): void
}

/** Statements of one page table. */
function statementsOf(database: HistoryDatabase, table: PageTableName) {
  return {
    load: database.prepare<[number], Buffer>(`select records from ${table} where id = ?`).pluck(),
    last: database.prepare<[number, number], { id: number; records: Buffer }>(
      `select id, records from ${table} where id >= ? and id < ? order by id desc limit 1`,
    ),
    insert: database.prepare<[number, Uint8Array]>(`insert into ${table} values (?, ?)`),
    update: database.prepare<[Uint8Array, number]>(`update ${table} set records = ? where id = ?`),
  }
}

/** Records in use of a page as it is stored, of `words` each. */
export function recordsIn(stored: Buffer, words: number): number {
  const bytes = words * 4
  let used = Math.floor(stored.length / bytes)
  // Most records begin with a double, a sequence or a time; a FILL has its kind there, which is never zero.
  while (used > 0 && stored.readDoubleLE((used - 1) * bytes) === 0) used--
  return used
}

class Pages implements PageTable {
  readonly views: Views
  readonly #statements: ReturnType<typeof statementsOf>
  readonly #capacity: number
  /** Words of a record and records of a page. */
  readonly #words: number
  readonly #records: number
  /** Page id to place in the arena. */
  readonly #places = new Map<number, number>()
  /** By place: page id, records in use, bytes the stored row has (0: none), whether it was changed and used lately. */
  readonly #ids: Float64Array
  readonly #used: Int32Array
  readonly #stored: Int32Array
  readonly #dirty: Uint8Array
  readonly #recent: Uint8Array
  #dirtyPlaces: number[] = []
  #hand = 0
  /** Records by owner; grows with the owners. */
  #counts = new Float64Array(1024).fill(UNKNOWN)
  /** The page found last: most records of an owner come one after the other. */
  #lastId = -1
  #lastPlace = -1

  constructor(database: HistoryDatabase, table: PageTableName, capacity: number) {
    this.#statements = statementsOf(database, table)
    this.#capacity = capacity
    this.#words = PAGE_TABLES[table]
    this.#records = PAGE_WORDS / this.#words
    this.views = viewsOf(new ArrayBuffer(capacity * PAGE_BYTES))
    this.#ids = new Float64Array(capacity).fill(-1)
    this.#used = new Int32Array(capacity)
    this.#stored = new Int32Array(capacity)
    this.#dirty = new Uint8Array(capacity)
    this.#recent = new Uint8Array(capacity)
  }

  append(owner: number): number {
    const number = this.count(owner)
    const page = Math.floor(number / this.#records)
    const index = number - page * this.#records
    const id = pageId(owner, page)
    const place = index === 0 ? this.#create(id) : this.#place(id)
    this.#counts[owner] = number + 1
    this.#used[place] = index + 1
    this.#mark(place)
    return place * PAGE_WORDS + index * this.#words
  }

  change(owner: number, number: number): number {
    const page = Math.floor(number / this.#records)
    const place = this.#place(pageId(owner, page))
    this.#mark(place)
    return place * PAGE_WORDS + (number - page * this.#records) * this.#words
  }

  locate(owner: number, number: number): number {
    const page = Math.floor(number / this.#records)
    return this.#place(pageId(owner, page)) * PAGE_WORDS + (number - page * this.#records) * this.#words
  }

  count(owner: number): number {
    if (owner >= this.#counts.length) {
      const counts = new Float64Array(2 * owner).fill(UNKNOWN)
      counts.set(this.#counts)
      this.#counts = counts
    }
    const known = this.#counts[owner]!
    return known === UNKNOWN ? this.#lookUp(owner) : known
  }

  flush(): void {
    // In the order of the tree, so that neighbours are written together.
    const places = this.#dirtyPlaces.sort((a, b) => this.#ids[a]! - this.#ids[b]!)
    for (const place of places) if (this.#dirty[place] === 1) this.#write(place)
    this.#dirtyPlaces = []
  }

  #lookUp(owner: number): number {
    const last = this.#statements.last.get(pageId(owner, 0), pageId(owner + 1, 0))
    const count = last === undefined ? 0 : (last.id % OWNER_PAGES) * this.#records + recordsIn(last.records, this.#words)
    this.#counts[owner] = count
    return count
  }

  #mark(place: number): void {
    if (this.#dirty[place] === 1) return
    this.#dirty[place] = 1
    this.#dirtyPlaces.push(place)
  }

  /** The place of a page that exists. */
  #place(id: number): number {
    if (id === this.#lastId) return this.#lastPlace
    let place = this.#places.get(id)
    if (place === undefined) place = this.#load(id)
    this.#recent[place] = 1
    this.#lastId = id
    this.#lastPlace = place
    return place
  }

  #load(id: number): number {
    const records = this.#statements.load.get(id)
    if (records === undefined) throw new Error(`the history has no page ${id}`)
    const place = this.#create(id)
    this.views.bytes.set(records, place * PAGE_BYTES)
    this.#stored[place] = records.length
    this.#used[place] = recordsIn(records, this.#words)
    return place
  }

  /** A place with an empty page `id`. */
  #create(id: number): number {
    const place = this.#places.size < this.#capacity ? this.#places.size : this.#evict()
    this.views.i32.fill(0, place * PAGE_WORDS, (place + 1) * PAGE_WORDS)
    this.#places.set(id, place)
    this.#ids[place] = id
    this.#stored[place] = 0
    this.#used[place] = 0
    this.#recent[place] = 1
    this.#lastId = id
    this.#lastPlace = place
    return place
  }

  /** Takes the place of a page that was not used for a round of the hand. */
  #evict(): number {
    while (this.#recent[this.#hand] === 1) {
      this.#recent[this.#hand] = 0
      this.#hand = (this.#hand + 1) % this.#capacity
    }
    const place = this.#hand
    this.#hand = (this.#hand + 1) % this.#capacity
    if (this.#dirty[place] === 1) this.#write(place)
    this.#places.delete(this.#ids[place]!)
    return place
  }

  #write(place: number): void {
    const length = storedBytes(this.#used[place]! * this.#words * 4)
    const bytes = this.views.bytes.subarray(place * PAGE_BYTES, place * PAGE_BYTES + length)
    if (this.#stored[place] === 0) this.#statements.insert.run(this.#ids[place]!, bytes)
    else this.#statements.update.run(bytes, this.#ids[place]!)
    this.#stored[place] = length
    this.#dirty[place] = 0
  }
}

/** The pages of `table`, at most `capacity` of them in memory. */
export const createPages = (database: HistoryDatabase, table: PageTableName, capacity: number): PageTable =>
  new Pages(database, table, capacity)
