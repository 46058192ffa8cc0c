/**
 * The journal's LMDB environment, and a look at its file before LMDB maps it.
 *
 * LMDB maps the file; reading a page beyond a truncated end would kill the process with SIGBUS instead of an error. So the two
 * meta pages are read first: the file must be as long as they say. `overlappingSync: false`: a failed flush must never leave a
 * readable batch (reliability.md 0.1). One writer, any number of read-only readers in other processes.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { open as openLmdb, type RootDatabase } from 'lmdb'

export type JournalDatabase = RootDatabase<Buffer, Buffer>

export const journalPath = (dataDir: string): string => join(dataDir, 'journal')
const dataFile = (dataDir: string): string => join(journalPath(dataDir), 'data.mdb')

export class JournalError extends Error {
  override name = 'JournalError'
}

const LMDB_MAGIC = 0xbeefc0de
/** Offsets inside a meta page: page header 16 bytes, then magic, version, address, map size, two database records of 48. */
const META = { MAGIC: 16, PAGE_SIZE: 40, LAST_PAGE: 136 } as const

/** Throws {@link JournalError} when the journal file is shorter than its own meta pages say. */
export function checkJournalFile(dataDir: string): void {
  const path = dataFile(dataDir)
  if (!existsSync(path)) return
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const meta = Buffer.alloc(8192)
    if (readSync(fd, meta, 0, 8192, 0) < 8192 || meta.readUInt32LE(META.MAGIC) !== LMDB_MAGIC) {
      throw new JournalError(`the journal file is no LMDB file or shorter than its header (${size} bytes)`)
    }
    const pageSize = meta.readUInt32LE(META.PAGE_SIZE)
    const last = Math.max(...[0, 4096].map((page) => Number(meta.readBigUInt64LE(page + META.LAST_PAGE))))
    const needs = (last + 1) * (pageSize > 0 ? pageSize : 4096)
    if (size < needs) throw new JournalError(`the journal file is truncated: ${size} bytes, its header says ${needs}`)
  } finally {
    closeSync(fd)
  }
}

export function openJournal(dataDir: string, readOnly: boolean, gibibytes = 64): JournalDatabase {
  checkJournalFile(dataDir)
  if (readOnly && !existsSync(dataFile(dataDir))) throw new JournalError(`no journal in ${dataDir}`)
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
