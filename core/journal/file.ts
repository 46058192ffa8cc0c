/**
 * The journal's LMDB environment, and a look at its file before LMDB maps it.
 *
 * LMDB maps the file; reading a page beyond a truncated end would kill the process with SIGBUS instead of an error. So the two
 * meta pages are read first: the file must be as long as they say. `overlappingSync: false`: a failed flush must never leave a
 * readable batch. One writer, any number of read-only readers in other processes.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open as openLmdb, type RootDatabase } from 'lmdb'

export type JournalDatabase = RootDatabase<Buffer, Buffer>

export const journalPath = (dataDir: string): string => join(dataDir, 'journal')
export const dataFile = (dataDir: string): string => join(journalPath(dataDir), 'data.mdb')

export class JournalError extends Error {
  override name = 'JournalError'
}

const LMDB_MAGIC = 0xbeefc0de
/** LMDB takes the page size of the operating system; snapshots of data directories move between machines that agree on it. */
const PAGE_BYTES = 4096
/** Offsets inside a meta page: page header 24 bytes, then magic, version, address, map size, two database records of 48. */
const META = { MAGIC: 24, PAGE_SIZE: 48, LAST_PAGE: 144 } as const

/** Bytes of the file that its own meta pages say are used; 0 for a file nothing was written to. Throws {@link JournalError}. */
export function usedBytes(dataDir: string): number {
  const fd = openSync(dataFile(dataDir), 'r')
  try {
    const { size } = fstatSync(fd)
    // LMDB made the file and was interrupted before it wrote anything: nothing was ever in it.
    if (size === 0) return 0
    const meta = Buffer.alloc(2 * PAGE_BYTES)
    if (readSync(fd, meta, 0, meta.length, 0) < meta.length || meta.readUInt32LE(META.MAGIC) !== LMDB_MAGIC) {
      throw new JournalError(`the journal file is no LMDB file or shorter than its header (${size} bytes)`)
    }
    const pageSize = meta.readUInt32LE(META.PAGE_SIZE)
    if (pageSize !== PAGE_BYTES) throw new JournalError(`the journal file has pages of ${pageSize} bytes, expected ${PAGE_BYTES}`)
    const last = Math.max(...[0, PAGE_BYTES].map((page) => Number(meta.readBigUInt64LE(page + META.LAST_PAGE))))
    return (last + 1) * PAGE_BYTES
  } finally {
    closeSync(fd)
  }
}

/** Throws {@link JournalError} when the journal file is shorter than its own meta pages say. */
export function checkJournalFile(dataDir: string): void {
  if (!existsSync(dataFile(dataDir))) return
  const needs = usedBytes(dataDir)
  const { size } = statSync(dataFile(dataDir))
  if (size < needs) throw new JournalError(`the journal file is truncated: ${size} bytes, its header says ${needs}`)
}

export function openJournal(dataDir: string, readOnly: boolean, gibibytes = 64): JournalDatabase {
  checkJournalFile(dataDir)
  if (readOnly && (!existsSync(dataFile(dataDir)) || usedBytes(dataDir) === 0)) throw new JournalError(`no journal in ${dataDir}`)
  return openLmdb<Buffer, Buffer>({
    path: journalPath(dataDir),
    keyEncoding: 'binary',
    encoding: 'binary',
    overlappingSync: false,
    mapSize: gibibytes * 2 ** 30,
    maxReaders: 126,
    readOnly,
  })
}
