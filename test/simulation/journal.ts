/**
 * The journal's storage on the simulated disk: what LMDB promises and how it keeps it, in as few lines as that takes.
 *
 *   page 0, 1   meta pages, written in turn: number of the transaction, pages in use, keys, CRC-32
 *   page 2 ...  one block of pages for each transaction: what it put and removed
 *
 * A transaction writes its block, syncs, writes the older meta page, syncs. So whatever a crash leaves, one of the meta
 * pages is whole and everything that it counts is on the disk. When a sync fails, the old meta page is put back into
 * the cache, as LMDB does it. A block has a checksum only so that a lost page is said where it is found; nothing is
 * mended.
 *
 * `headless` journals and damage of LMDB's own trees are not its business.
 */
import { crc32 } from 'node:zlib'
import { HEAD_KEY } from '../../core/journal/head.ts'
import { JournalError } from '../../core/journal/pages.ts'
import type { HeadStorage, JournalStore, KeyRange } from '../../core/journal/store.ts'
import { PAGE, type SimulatedDisk, type SimulatedFile } from './disk.ts'

export const DATA = 'journal/data'
export const HEAD = 'journal/head'
const MAGIC = 0x53494d31
const META_BYTES = 32
const BLOCK_BYTES = 16
/** Of an operation: 1 put, 0 remove; length of the value; key. */
const OPERATION_BYTES = 1 + 4 + 8
const FIRST_PAGE = 2

interface Meta {
  readonly transaction: number
  /** Page behind the last block. */
  readonly end: number
  readonly entries: number
}

interface Operation {
  readonly key: Buffer
  readonly value: Buffer | null
}

const pagesOf = (bytes: number): number => Math.ceil(bytes / PAGE)

function encodeMeta({ transaction, end, entries }: Meta): Buffer {
  const bytes = Buffer.alloc(META_BYTES)
  bytes.writeUInt32LE(MAGIC, 0)
  bytes.writeDoubleLE(transaction, 4)
  bytes.writeUInt32LE(end, 12)
  bytes.writeUInt32LE(entries, 16)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, META_BYTES - 4)), META_BYTES - 4)
  return bytes
}

function decodeMeta(bytes: Buffer): Meta | null {
  if (bytes.length < META_BYTES || bytes.readUInt32LE(0) !== MAGIC) return null
  if (crc32(bytes.subarray(0, META_BYTES - 4)) !== bytes.readUInt32LE(META_BYTES - 4)) return null
  return { transaction: bytes.readDoubleLE(4), end: bytes.readUInt32LE(12), entries: bytes.readUInt32LE(16) }
}

function encodeBlock(operations: readonly Operation[]): Buffer {
  const parts = operations.flatMap(({ key, value }) => {
    const front = Buffer.alloc(5)
    front[0] = value === null ? 0 : 1
    front.writeUInt32LE(value?.length ?? 0, 1)
    return [front, key, ...(value === null ? [] : [value])]
  })
  const body = Buffer.concat(parts)
  const front = Buffer.alloc(BLOCK_BYTES)
  front.writeUInt32LE(MAGIC, 0)
  front.writeUInt32LE(body.length, 4)
  front.writeUInt32LE(operations.length, 8)
  front.writeUInt32LE(crc32(body), 12)
  return Buffer.concat([front, body])
}

function* decodeBlock(body: Buffer, count: number): Generator<Operation> {
  for (let at = 0, done = 0; done < count; done++) {
    const length = body.readUInt32LE(at + 1)
    const key = Buffer.from(body.subarray(at + 5, at + OPERATION_BYTES))
    const value = body[at] === 0 ? null : Buffer.from(body.subarray(at + OPERATION_BYTES, at + OPERATION_BYTES + length))
    yield { key, value }
    at += OPERATION_BYTES + length
  }
}

export class SimulatedJournal implements JournalStore {
  headless: boolean
  readonly pages: number
  readonly headFile: HeadStorage
  readonly #file: SimulatedFile
  readonly #read: () => void
  #meta: Meta = { transaction: 0, end: FIRST_PAGE, entries: 0 }
  /** In the order of keys. */
  #entries: { key: Buffer; value: Buffer }[] = []
  /** Of the transaction under way. */
  #operations: Operation[] | null = null

  /** `read` is called before each entry of a range: where a follower may be killed. */
  constructor(disk: SimulatedDisk, pages = 1 << 20, read: () => void = () => undefined) {
    this.#read = read
    this.#file = disk.open(DATA)
    this.headFile = headFileOn(disk)
    this.pages = pages
    this.refresh()
    this.headless = disk.find(HEAD) === null && this.get(HEAD_KEY) === undefined
  }

  /** Reads what was committed since it looked last. */
  refresh(): void {
    const metas = [0, 1].map((page) => decodeMeta(this.#file.read(page * PAGE, META_BYTES)))
    const newest = metas.reduce((a, b) => (b !== null && b.transaction > (a?.transaction ?? 0) ? b : a), null)
    if (newest === null || newest.transaction === this.#meta.transaction) return
    for (let page = this.#meta.end; page < newest.end; ) page += this.#readBlock(page)
    this.#meta = newest
  }

  /** Takes over the block at this page; its pages. */
  #readBlock(page: number): number {
    const front = this.#file.read(page * PAGE, BLOCK_BYTES)
    const isBlock = front.length === BLOCK_BYTES && front.readUInt32LE(0) === MAGIC
    const length = isBlock ? front.readUInt32LE(4) : 0
    const body = this.#file.read(page * PAGE + BLOCK_BYTES, length)
    if (!isBlock || body.length !== length || crc32(body) !== front.readUInt32LE(12)) {
      throw new JournalError(`page ${page} of the journal is in use and not what was written`)
    }
    for (const operation of decodeBlock(body, front.readUInt32LE(8))) this.#take(operation)
    return pagesOf(BLOCK_BYTES + length)
  }

  #take({ key, value }: Operation): void {
    const at = this.#place(key)
    const found = this.#entries[at]?.key.equals(key) === true
    this.#entries.splice(at, found ? 1 : 0, ...(value === null ? [] : [{ key, value }]))
  }

  /** Where `key` is or would be. */
  #place(key: Buffer): number {
    let from = 0
    let to = this.#entries.length
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#entries[middle]!.key.compare(key) < 0) from = middle + 1
      else to = middle
    }
    return from
  }

  get(key: Buffer): Buffer | undefined {
    const found = this.#entries[this.#place(key)]
    return found?.key.equals(key) === true ? found.value : undefined
  }

  getBinaryFast(key: Buffer): Buffer | undefined {
    return this.get(key)
  }

  * getRange({ start, reverse = false, limit = Infinity }: KeyRange): Generator<{ key: Buffer; value: Buffer }> {
    this.refresh()
    let at = this.#place(start)
    if (reverse && this.#entries[at]?.key.equals(start) !== true) at--
    for (let given = 0; given < limit && at >= 0 && at < this.#entries.length; given++) {
      this.#read()
      yield this.#entries[at]!
      at += reverse ? -1 : 1
    }
  }

  * getKeys(range: KeyRange = { start: Buffer.alloc(8) }): Generator<Buffer> {
    for (const { key } of this.getRange(range)) yield key
  }

  transactionSync(write: () => void): void {
    const operations: Operation[] = []
    const before = this.#entries
    this.#operations = operations
    // A transaction sees what it wrote; nobody else does before it is committed.
    this.#entries = [...before]
    try {
      write()
    } finally {
      this.#operations = null
      this.#entries = before
    }
    this.#commit(operations)
  }

  #commit(operations: readonly Operation[]): void {
    const block = encodeBlock(operations)
    const { transaction, end } = this.#meta
    const before = this.#entries.length
    const added = operations.reduce((sum, { key, value }) => {
      const known = this.get(key) !== undefined
      return sum + (value === null ? (known ? -1 : 0) : known ? 0 : 1)
    }, 0)
    const meta = { transaction: transaction + 1, end: end + pagesOf(block.length), entries: before + added }
    this.#file.write(end * PAGE, block)
    this.#file.sync()
    const at = (meta.transaction % 2) * PAGE
    const old = Buffer.from(this.#file.read(at, META_BYTES))
    this.#file.write(at, encodeMeta(meta))
    try {
      this.#file.sync()
    } catch (error) {
      // Nobody may read what may not be on the disk.
      this.#file.write(at, old)
      throw error
    }
    for (const operation of operations) this.#take(operation)
    this.#meta = meta
  }

  putSync(key: Buffer, value: Buffer): void {
    this.#does({ key: Buffer.from(key), value: Buffer.from(value) })
  }

  removeSync(key: Buffer): void {
    this.#does({ key: Buffer.from(key), value: null })
  }

  #does(operation: Operation): void {
    this.#operations!.push(operation)
    this.#take(operation)
  }

  entryCount(): number {
    return this.#meta.entries
  }

  usedPages(): number {
    return this.#meta.end
  }

  checkFree(): void {
    // Pages are never used twice.
  }

  async close(): Promise<void> {
    // There is nothing to let go.
  }
}

const headFileOn = (disk: SimulatedDisk): HeadStorage => ({
  read: () => {
    const file = disk.find(HEAD)
    return file === null ? null : Buffer.from(file.read(0, file.size))
  },
  open: () => {
    const file = disk.open(HEAD)
    return {
      read: (into) => file.read(0, into.length).copy(into),
      write: (from, at, length) => file.write(at, from.subarray(at, at + length)),
      sync: () => {
        file.sync()
        disk.syncNames()
      },
      close: () => undefined,
    }
  },
})
