/**
 * The journal's LMDB environment, and a look at its file before LMDB maps it.
 *
 * LMDB maps the file; reading a page beyond a truncated end would kill the process with SIGBUS instead of an error. So the two
 * meta pages are read first: the file must be as long as they say. `overlappingSync: false`: a failed flush must never leave a
 * readable batch. One writer, any number of read-only readers in other processes.
 *
 * What the system or LMDB says of a file that cannot be opened becomes one line that says what to do: SystemFault when the system will not
 * have it (lib/system_fault.ts), {@link JournalError} when the file is at fault.
 */
import { accessSync, closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open as openLmdb, type RootDatabase } from 'lmdb'
import { SystemFault, systemFault } from '../lib/system_fault.ts'
import { HEAD_KEY } from './head.ts'
import { headPath } from './head_file.ts'

export type JournalDatabase = RootDatabase<Buffer, Buffer> & {
  readonly dataDir: string
  /** Neither head record nor head file: written by a version from before them, or nothing was written yet. */
  headless: boolean
  /** Pages that the file may have, `gibibytes` of {@link openJournal}: LMDB itself enlarges its map when that is full. */
  readonly pages: number
}

export const journalPath = (dataDir: string): string => join(dataDir, 'journal')
export const dataFile = (dataDir: string): string => join(journalPath(dataDir), 'data.mdb')

/** The journal cannot be trusted or opened. */
export class JournalError extends Error {
  override name = 'JournalError'
}

const LMDB_MAGIC = 0xbeefc0de
/** Format of the files that this version of LMDB reads, and the flag that a page is a meta page. */
const LMDB_VERSION = 2
const IS_META = 8
/** LMDB takes the page size of the operating system; snapshots of data directories move between machines that agree on it. */
export const PAGE_BYTES = 4096
/** Offsets inside a meta page: page header 24 bytes, then magic, version, address, map size, two database records of 48. */
const META = { FLAGS: 18, MAGIC: 24, VERSION: 28, PAGE_SIZE: 48, LAST_PAGE: 144 } as const

/** Bytes of the file that its own meta pages say are used; 0 for a file nothing was written to. Throws {@link JournalError}. */
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

/** What a file that is shorter than others know may be, besides damaged. */
export const PLAIN_COPY = 'if this is a plain copy of a running directory, make one with "npm run operator -- backup" instead'

/** Pages of the file that LMDB uses, by the meta page in its map: costs no call of the system. */
export const usedPages = (database: JournalDatabase): number =>
  (database as unknown as { env: { info(): { lastPageNumber: number } } }).env.info().lastPageNumber + 1

/** Throws {@link JournalError} when the journal file is shorter than its own meta pages say. */
export function checkJournalFile(dataDir: string): void {
  if (!existsSync(dataFile(dataDir))) return
  const needs = usedBytes(dataDir)
  const { size } = statSync(dataFile(dataDir))
  if (size >= needs) return
  throw new JournalError(`the journal file is truncated: ${size} bytes, its header says ${needs}; restore it from a backup; ${PLAIN_COPY}`)
}

/**
 * Opens the journal of a data directory. Throws {@link JournalError} or SystemFault.
 * @param gibibytes address space, the most the file may grow to
 */
export function openJournal(dataDir: string, readOnly: boolean, gibibytes = 64): JournalDatabase {
  try {
    checkAccess(dataDir, readOnly)
    checkJournalFile(dataDir)
    if (readOnly && (!existsSync(dataFile(dataDir)) || usedBytes(dataDir) === 0)) throw new JournalError(`no journal in ${dataDir}`)
    const database = openLmdb<Buffer, Buffer>({
      path: journalPath(dataDir),
      keyEncoding: 'binary',
      encoding: 'binary',
      overlappingSync: false,
      mapSize: gibibytes * 2 ** 30,
      maxReaders: 126,
      readOnly,
    })
    const headless = !existsSync(headPath(dataDir)) && database.get(HEAD_KEY) === undefined
    return Object.assign(database, { dataDir, headless, pages: Math.floor((gibibytes * 2 ** 30) / PAGE_BYTES) })
  } catch (error) {
    throw named(dataDir, error as NodeJS.ErrnoException)
  }
}

/** LMDB ends the process with SIGSEGV when it may not write its lock file, as readers do too; that is found out before it tries. */
function checkAccess(dataDir: string, readOnly: boolean): void {
  const lockFile = join(journalPath(dataDir), 'lock.mdb')
  for (const path of [journalPath(dataDir), dataFile(dataDir), lockFile, headPath(dataDir)]) {
    const wanted = readOnly && path !== lockFile ? constants.R_OK : constants.R_OK | constants.W_OK
    if (existsSync(path)) accessSync(path, wanted)
  }
}

/** What LMDB says of damage in the middle of reading or writing, as a {@link JournalError}; any other error as it is. */
export function lmdbFault(error: unknown): unknown {
  const { message } = error as Error
  return message.startsWith('MDB_') ? new JournalError(`${message}; restore the journal from a backup`) : error
}

/** Errors of the system as LMDB numbers them. */
const NAMES: Readonly<Record<number, string>> = {
  1: 'EPERM', 5: 'EIO', 13: 'EACCES', 23: 'ENFILE', 24: 'EMFILE', 27: 'EFBIG', 28: 'ENOSPC', 30: 'EROFS', 122: 'EDQUOT',
}

/** The error that says what to do about what was thrown while the journal was opened. */
function named(dataDir: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof JournalError) return error
  const code = typeof error.code === 'number' ? NAMES[error.code] : error.code
  const fault = systemFault({ code, message: error.message }, error.path ?? journalPath(dataDir))
  if (fault instanceof SystemFault) return fault
  return new JournalError(`the journal in ${journalPath(dataDir)} cannot be opened: ${error.message}; restore it from a backup`)
}
