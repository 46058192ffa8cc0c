/**
 * LMDB's list of free pages, held against the pages that are in use, before the journal is opened for writing. LMDB believes the list: a
 * page that stands in it wrongly is overwritten by one of the next commits, and an acknowledged batch is gone.
 *
 * Each listed page is asked who it is, by its own bytes: a page of a tree has keys, an overflow page has a batch in front of it. That key
 * is then looked up from the newest root: when the way leads over the very page, it is in use. So nothing is refused that was not proved,
 * and it costs a few reads for each listed page, of which a journal has a handful, however large it is. More than {@link LISTED_MOST} are
 * not asked, and a listed page whose own bytes are damaged too passes.
 *
 *   page          0 number   16 flags, 18   20 end of the node offsets, bytes   24 node offsets; of an overflow page 20 how many pages
 *   node          0 size of the data, or of a branch its page   4 flags   6 bytes of the key   8 key, then data
 *   list of pages  count, then page numbers; -n in front of one: a block of n pages; 0: nothing
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { dataFile, JournalError, PAGE_BYTES, usedIn } from './pages.ts'
import { HEADER_BYTES, keyOf, MAGIC } from './frame.ts'
import { HEAD_KEY } from './head.ts'

const FLAGS = { BRANCH: 1, LEAF: 2, OVERFLOW: 4, BIG_DATA: 1 } as const
/** In a meta page: roots of both trees, last page, transaction. */
const META = { FREE_ROOT: 88, MAIN_ROOT: 136, LAST_PAGE: 144, TRANSACTION: 152 } as const
const NODES = 24
/** Listed pages that are asked; levels of a tree; pages of the longest batch (4096 records) or genesis. */
const LISTED_MOST = 4096
const LEVELS_MOST = 16
const BATCH_PAGES = 160

interface Node {
  readonly key: Buffer
  readonly data: Buffer
  /** Page of a branch, or of data that stands elsewhere; -1: the data is here. */
  readonly page: number
}

/** Throws {@link JournalError} when the list names a page that is in use or none, or cannot be read. A file with nothing in it is good. */
export function checkFreeList(dataDir: string): void {
  const fd = openSync(dataFile(dataDir), 'r')
  try {
    if (usedIn(fd) > 0) new FreeList(fd).check()
  } finally {
    closeSync(fd)
  }
}

class FreeList {
  readonly #fd: number
  readonly #pages: number
  readonly #meta: Buffer
  readonly #last: number

  constructor(fd: number) {
    this.#fd = fd
    this.#pages = Math.floor(fstatSync(fd).size / PAGE_BYTES)
    const [one, other] = [this.#read(0), this.#read(1)]
    this.#meta = one.readBigUInt64LE(META.TRANSACTION) > other.readBigUInt64LE(META.TRANSACTION) ? one : other
    this.#last = Number(this.#meta.readBigUInt64LE(META.LAST_PAGE))
  }

  check(): void {
    const way = this.#wayTo(HEAD_KEY)
    const beyond = way.find((page) => page > this.#last)
    if (beyond !== undefined) throw wrong(`its header says that ${this.#last} is the last page, page ${beyond} is in use`)
    const listed = new Set<number>()
    const own = new Set<number>()
    this.#list(this.#root(META.FREE_ROOT), listed, own, 0)
    for (const page of [...listed].slice(0, LISTED_MOST)) {
      if (page < 2 || page > this.#last) throw wrong(`its list of free pages names page ${page} of 2 to ${this.#last}`)
      if (own.has(page) || this.#isInUse(page)) throw wrong(`its list of free pages names page ${page}, which is in use`)
    }
  }

  #root(at: number): number {
    return Number(this.#meta.readBigInt64LE(at))
  }

  #read(page: number, count = 1): Buffer {
    const bytes = Buffer.alloc(count * PAGE_BYTES)
    readSync(this.#fd, bytes, 0, bytes.length, page * PAGE_BYTES)
    return bytes
  }

  /** The page, when it is one of a tree. */
  #ofTree(page: number): Buffer | null {
    if (page < 2 || page >= this.#pages) return null
    const bytes = this.#read(page)
    return Number(bytes.readBigUInt64LE(0)) === page && (flagsOf(bytes) & (FLAGS.BRANCH | FLAGS.LEAF)) !== 0 ? bytes : null
  }

  /** Adds what the tree of free pages under `page` lists, and the pages of the tree itself. */
  #list(page: number, listed: Set<number>, own: Set<number>, level: number): void {
    if (page < 0) return
    const bytes = this.#ofTree(page)
    if (bytes === null || level > LEVELS_MOST || own.has(page)) throw wrong(`its list of free pages cannot be read at page ${page}`)
    own.add(page)
    for (const node of nodesOf(bytes)) {
      if ((flagsOf(bytes) & FLAGS.BRANCH) !== 0) this.#list(node.page, listed, own, level + 1)
      else addListed(node.page < 0 ? node.data : this.#overflow(node.page, own), listed)
    }
  }

  #overflow(page: number, own: Set<number>): Buffer {
    const count = page < 2 || page >= this.#pages ? 0 : this.#read(page).readUInt32LE(20)
    if (count === 0 || page + count > this.#pages) throw wrong(`its list of free pages cannot be read at page ${page}`)
    for (let more = 0; more < count; more++) own.add(page + more)
    return this.#read(page, count).subarray(NODES)
  }

  /** Pages from the root of all batches to where this key stands, or would stand. */
  #wayTo(key: Buffer): number[] {
    const way: number[] = []
    for (let page = this.#root(META.MAIN_ROOT); way.length < LEVELS_MOST; ) {
      const bytes = this.#ofTree(page)
      if (bytes === null) return way
      way.push(page)
      const nodes = nodesOf(bytes)
      if ((flagsOf(bytes) & FLAGS.BRANCH) === 0) {
        const found = nodes.find((node) => node.key.equals(key))
        return found === undefined || found.page < 0 ? way : [...way, found.page]
      }
      page = (nodes.findLast((node, index) => index === 0 || Buffer.compare(node.key, key) <= 0) ?? { page: -1 }).page
    }
    return way
  }

  #isInUse(page: number): boolean {
    const tree = this.#ofTree(page)
    if (tree !== null) {
      const nodes = nodesOf(tree)
      const key = (nodes[1] ?? nodes[0])?.key
      return key !== undefined && this.#wayTo(key).includes(page)
    }
    for (let head = page; head > 1 && head > page - BATCH_PAGES; head--) {
      const bytes = this.#read(head)
      if (Number(bytes.readBigUInt64LE(0)) !== head || (flagsOf(bytes) & FLAGS.OVERFLOW) === 0) continue
      if (head + bytes.readUInt32LE(20) <= page || bytes.readUInt32LE(NODES) !== MAGIC) return false
      const sequence = bytes.subarray(NODES, NODES + HEADER_BYTES).readDoubleLE(16)
      return Number.isSafeInteger(sequence) && sequence > 0 && this.#wayTo(keyOf(sequence)).at(-1) === head
    }
    return false
  }
}

const wrong = (words: string): JournalError => new JournalError(`the journal file is damaged: ${words}; restore it from a backup`)
const flagsOf = (page: Buffer): number => page.readUInt16LE(18)

/** The nodes of a page, as far as they lie in it. */
function nodesOf(page: Buffer): Node[] {
  const nodes: Node[] = []
  const branch = (flagsOf(page) & FLAGS.BRANCH) !== 0
  const count = Math.min(page.readUInt16LE(20), PAGE_BYTES - NODES) >>> 1
  for (let index = 0; index < count; index++) {
    const at = NODES + page.readUInt16LE(NODES + 2 * index)
    if (at + 8 > PAGE_BYTES) return nodes
    const size = page.readUInt32LE(at)
    const flags = page.readUInt16LE(at + 4)
    const data = at + 8 + page.readUInt16LE(at + 6)
    const elsewhere = !branch && (flags & FLAGS.BIG_DATA) !== 0
    if (data + (elsewhere ? 8 : branch ? 0 : size) > PAGE_BYTES) return nodes
    const to = branch ? size + flags * 2 ** 32 : elsewhere ? Number(page.readBigInt64LE(data)) : -1
    nodes.push({ key: page.subarray(at + 8, data), data: page.subarray(data, data + size), page: to })
  }
  return nodes
}

/** Adds the pages of one list. */
function addListed(list: Buffer, listed: Set<number>): void {
  const words = list.length >>> 3
  const count = words === 0 ? -1 : Number(list.readBigInt64LE(0))
  if (count < 0 || count >= words) throw wrong(`its list of free pages says that it has ${count} pages where ${words - 1} fit`)
  for (let index = 1; index <= count; index++) {
    const word = Number(list.readBigInt64LE(8 * index))
    const block = word < 0 ? -word : 1
    const first = word < 0 && index < count ? Number(list.readBigInt64LE(8 * ++index)) : word
    if (first === 0) continue
    for (let more = 0; more < block && listed.size <= LISTED_MOST; more++) listed.add(first + more)
  }
}
