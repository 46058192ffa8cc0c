/**
 * The journal's file as LMDB lays it out: where it is, which of its pages are in use by its own meta pages. For whoever
 * looks at the file without LMDB, which ends the process where it finds something else than it expects.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'

export const journalPath = (dataDir: string): string => join(dataDir, 'journal')
export const dataFile = (dataDir: string): string => join(journalPath(dataDir), 'data.mdb')
/** LMDB's own, beside it: readers, locks, and a number that counter.ts looks after. */
export const lockFile = (dataDir: string): string => join(journalPath(dataDir), 'lock.mdb')

/** The journal cannot be trusted or opened. */
export class JournalError extends Error {
  override name = 'JournalError'
}

/** Nothing is wrong with the journal, but as many processes and threads read it as may. */
export class ReadersFull extends Error {
  override name = 'ReadersFull'
}

export const LMDB_MAGIC = 0xbeefc0de
/** Format of the files that this version of LMDB reads, and the flag that a page is a meta page. */
const LMDB_VERSION = 2
const IS_META = 8
/**
 * LMDB takes the page size of the operating system; snapshots of data directories move between machines that agree on
 * it.
 */
export const PAGE_BYTES = 4096
/**
 * Offsets inside a meta page: page header 24 bytes, then magic, version, address, map size, two database records of 48.
 */
const META = { FLAGS: 18, MAGIC: 24, VERSION: 28, PAGE_SIZE: 48, LAST_PAGE: 144 } as const

/**
 * Bytes of the file that its own meta pages say are used; 0 for a file nothing was written to. Throws {@link
 * JournalError}.
 */
export function usedBytes(dataDir: string): number {
  const fd = openSync(dataFile(dataDir), 'r')
  try {
    return usedIn(fd)
  } finally {
    closeSync(fd)
  }
}

/** The same of the journal's file that is open. */
export function usedIn(fd: number): number {
  const { size } = fstatSync(fd)
  // LMDB made the file and was interrupted before it wrote anything: nothing was ever in it.
  if (size === 0) return 0
  const meta = Buffer.alloc(2 * PAGE_BYTES)
  const whole = readSync(fd, meta, 0, meta.length, 0) === meta.length
  // What LMDB looks at too; but where it finds something else, its binding ends the process with SIGSEGV.
  const isMeta = (page: number): boolean =>
    (meta.readUInt16LE(page + META.FLAGS) & IS_META) !== 0 && meta.readUInt32LE(page + META.MAGIC) === LMDB_MAGIC
  if (!whole || ![0, PAGE_BYTES].every(isMeta)) {
    throw new JournalError(`the journal file is no LMDB file or shorter than its header (${size} bytes)`)
  }
  const versions = [0, PAGE_BYTES].map((page) => meta.readUInt32LE(page + META.VERSION))
  if (versions.some((version) => version !== LMDB_VERSION)) {
    throw new JournalError(`the journal file is of version ${versions.join(' and ')} of LMDB, expected ${LMDB_VERSION}`)
  }
  const pageSize = meta.readUInt32LE(META.PAGE_SIZE)
  if (pageSize !== PAGE_BYTES) throw new JournalError(`the journal file has pages of ${pageSize} bytes, expected ${PAGE_BYTES}`)
  const last = Math.max(...[0, PAGE_BYTES].map((page) => Number(meta.readBigUInt64LE(page + META.LAST_PAGE))))
  return (last + 1) * PAGE_BYTES
}
