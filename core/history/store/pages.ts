/**
 * The pages of one table, for the projector: records are appended and changed in memory, dirty pages are written at the end of a
 * transaction, and with them the pages of checksums that stand for them (checks.ts), level by level, up to the owner's head.
 *
 * All pages in memory lie in one arena with views; a record is named by the number of its first 32-bit word there, like rows of the
 * engine. An address is valid until the next call of `append` or `locate`, which may put another page in its place. Bounded: `capacity`
 * pages of 4 KB; a page that has to make room is written early, inside the same transaction, and its checksum waits for the end of it.
 * A page that is read is checked; one that is not what was written last is {@link HistoryDamaged}.
 */
import { viewsOf, type Views } from '../../layout/table.ts'
import {
  checkBytes, checksumOf, describePage, FAN_OUT, heightOf, HistoryDamaged, LEVEL_COUNT, levelId, levelOf, levelPages, ownerOf, pageOf,
} from './checks.ts'
import { PAGE_WORDS, pageId, recordsPerPage, storedBytes, TABLE_NAMES } from './layout.ts'
import { pack, provedPage } from './packing.ts'
import type { HistoryDatabase } from './store.ts'

/** What an owner's counter holds before it was looked up. */
const UNKNOWN = -1

/** Numbers of records and roots by owner. Owners that never had anything have none. */
export interface Heads {
  count(owner: number): number
  root(owner: number): number
  set(owner: number, count: number, root: number): void
}

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
  /** Writes the dirty pages and their checksums; part of the caller's transaction. */
  flush(): void
}

/** Statements of one page table. */
function statementsOf(database: HistoryDatabase, table: string) {
  return {
    load: database.prepare<[number], Buffer>(`select records from ${table} where id = ?`).pluck(),
    insert: database.prepare<[number, Uint8Array]>(`insert into ${table} values (?, ?)`),
    update: database.prepare<[Uint8Array, number]>(`update ${table} set records = ? where id = ?`),
  }
}

export class Pages implements PageTable {
  readonly views: Views
  readonly #statements: ReturnType<typeof statementsOf>
  readonly #table: number
  readonly #capacity: number
  readonly #heads: Heads
  /** Words of a record, records of a page, and words of a page in the arena. */
  readonly #words: number
  readonly #records: number
  readonly #stride: number
  /** Page id to place in the arena. */
  readonly #places = new Map<number, number>()
  /** By place: page id, bytes the stored row has (0: none), whether it was changed and used lately. */
  readonly #ids: Float64Array
  readonly #stored: Int32Array
  readonly #dirty: Uint8Array
  readonly #recent: Uint8Array
  /** Places that were changed, by level. */
  readonly #changed: number[][] = Array.from({ length: LEVEL_COUNT }, () => [])
  /** Pages written since their checksums were last passed on, and those checksums; and of these the ones that left the arena. */
  #writtenIds: number[] = []
  #writtenSums: number[] = []
  readonly #gone = new Map<number, number>()
  #hand = 0
  /** Records by owner; grows with the owners. */
  #counts = new Float64Array(1024).fill(UNKNOWN)
  /** The page found last: most records of an owner come one after the other. */
  #lastId = -1
  #lastPlace = -1

  constructor(database: HistoryDatabase, table: number, capacity: number, words: number, heads: Heads) {
    this.#statements = statementsOf(database, TABLE_NAMES[table]!)
    this.#table = table
    this.#capacity = capacity
    this.#heads = heads
    this.#words = words
    this.#records = recordsPerPage(words)
    this.#stride = Math.max(PAGE_WORDS, words)
    this.views = viewsOf(new ArrayBuffer(capacity * this.#stride * 4))
    this.#ids = new Float64Array(capacity).fill(-1)
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
    this.#mark(place, 0)
    return place * this.#stride + index * this.#words
  }

  change(owner: number, number: number): number {
    const page = Math.floor(number / this.#records)
    const place = this.#place(pageId(owner, page))
    this.#mark(place, 0)
    return place * this.#stride + (number - page * this.#records) * this.#words
  }

  locate(owner: number, number: number): number {
    const page = Math.floor(number / this.#records)
    return this.#place(pageId(owner, page)) * this.#stride + (number - page * this.#records) * this.#words
  }

  count(owner: number): number {
    if (owner >= this.#counts.length) {
      const counts = new Float64Array(2 * owner).fill(UNKNOWN)
      counts.set(this.#counts)
      this.#counts = counts
    }
    const known = this.#counts[owner]!
    return known === UNKNOWN ? (this.#counts[owner] = this.#heads.count(owner)) : known
  }

  flush(): void {
    for (let level = 0; level < LEVEL_COUNT; level++) {
      // In the order of the tree, so that neighbours are written together.
      const places = this.#changed[level]!.sort((a, b) => this.#ids[a]! - this.#ids[b]!)
      this.#changed[level] = []
      for (const place of places) if (this.#dirty[place] === 1) this.#write(place)
      if (this.#writtenIds.length === 0) return
      this.#passOn(level)
    }
  }

  /** Puts the checksums of the pages of `level` that were written into the level above, or into the heads. */
  #passOn(level: number): void {
    const ids = this.#writtenIds
    const sums = this.#writtenSums
    this.#writtenIds = []
    this.#writtenSums = []
    for (const [i, id] of ids.entries()) {
      const owner = ownerOf(id)
      if (this.#gone.size > 0) this.#gone.delete(id)
      if (level === heightOf(this.#pagesOf(this.count(owner)))) {
        this.#heads.set(owner, this.count(owner), sums[i]!)
        continue
      }
      const page = pageOf(id, level)
      const place = this.#above(owner, level + 1, Math.floor(page / FAN_OUT))
      this.views.u32[place * this.#stride + (page % FAN_OUT)] = sums[i]!
      this.#mark(place, level + 1)
    }
  }

  /** The place of a page of checksums, made if need be. What the heads say is still what was before this flush. */
  #above(owner: number, level: number, page: number): number {
    const id = levelId(owner, level, page)
    const stored = this.#pagesOf(this.#heads.count(owner))
    const height = heightOf(stored)
    const exists = this.#places.has(id) || this.#gone.has(id) || (level <= height && page < levelPages(stored, level))
    if (exists) return this.#place(id)
    const place = this.#create(id)
    // What was the owner's root is now the first of several.
    if (page === 0 && level === height + 1 && stored > 0) this.views.u32[place * this.#stride] = this.#heads.root(owner)
    return place
  }

  #pagesOf(count: number): number {
    return Math.ceil(count / this.#records)
  }

  #mark(place: number, level: number): void {
    if (this.#dirty[place] === 1) return
    this.#dirty[place] = 1
    this.#changed[level]!.push(place)
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
    const sum = this.#sumOf(id)
    const records = this.#statements.load.get(id)
    if (records === undefined) throw new HistoryDamaged(`${describePage(this.#table, id)} is missing`)
    const bytes = provedPage(this.#table, id, records, sum)
    if (bytes.length > this.#stride * 4) throw new HistoryDamaged(`${describePage(this.#table, id)} is too large`)
    const place = this.#create(id)
    this.views.bytes.set(bytes, place * this.#stride * 4)
    this.#stored[place] = records.length
    return place
  }

  /** What the checksum of a stored page must be. */
  #sumOf(id: number): number {
    const waiting = this.#gone.get(id)
    if (waiting !== undefined) return waiting
    const owner = ownerOf(id)
    const level = levelOf(id)
    if (level === heightOf(this.#pagesOf(this.#heads.count(owner)))) return this.#heads.root(owner)
    const page = pageOf(id, level)
    const place = this.#place(levelId(owner, level + 1, Math.floor(page / FAN_OUT)))
    return this.views.u32[place * this.#stride + (page % FAN_OUT)]!
  }

  /** A place with an empty page `id`. */
  #create(id: number): number {
    const place = this.#places.size < this.#capacity ? this.#places.size : this.#evict()
    this.views.i32.fill(0, place * this.#stride, (place + 1) * this.#stride)
    this.#places.set(id, place)
    this.#ids[place] = id
    this.#stored[place] = 0
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
    const id = this.#ids[place]!
    if (this.#dirty[place] === 1) {
      this.#write(place)
      this.#gone.set(id, this.#writtenSums.at(-1)!)
    }
    this.#places.delete(id)
    return place
  }

  #write(place: number): void {
    const id = this.#ids[place]!
    const at = place * this.#stride * 4
    const bytes = this.views.bytes.subarray(at, at + this.#bytesOf(id))
    const stored = this.#isFull(id) ? pack(this.#table, bytes) : bytes
    if (this.#stored[place] === 0) this.#statements.insert.run(id, stored)
    else this.#statements.update.run(stored, id)
    this.#stored[place] = stored.length
    this.#dirty[place] = 0
    this.#writtenIds.push(id)
    this.#writtenSums.push(checksumOf(this.#table, bytes))
  }

  /** All records of a page of records are there. */
  #isFull(id: number): boolean {
    return levelOf(id) === 0 && this.count(ownerOf(id)) >= (pageOf(id, 0) + 1) * this.#records
  }

  /** Bytes of a page that is not packed in the file. */
  #bytesOf(id: number): number {
    const level = levelOf(id)
    const count = this.count(ownerOf(id))
    const page = pageOf(id, level)
    if (level === 0) return storedBytes(Math.min(this.#records, count - page * this.#records) * this.#words * 4)
    return checkBytes(Math.min(FAN_OUT, levelPages(this.#pagesOf(count), level - 1) - page * FAN_OUT) * 4)
  }
}
