/**
 * The file of the history, `history.sqlite` in the data directory: opening it for the projector and for readers, its position, its
 * checkpoints.
 *
 * One writer, any number of readers, write-ahead log: readers never wait for the writer nor it for them. A transaction is not flushed by
 * itself (synchronous NORMAL): after a power failure the file is whole and a little older, and projection goes on from its position.
 * Checkpoints are explicit, so that the log cannot grow while readers come and go: past {@link LOG_BYTES} the log is written back and cut.
 * What is read is checked from the position row on (checks.ts). The row itself could be an older one, if a write of its page was lost: so
 * the sequence stands in the file's header too (SQLite's `user_version`), which is on another page.
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { accessSync, constants, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { HistoryDamaged } from './checks.ts'
import type { Place } from '../../journal/reader.ts'
import { isReadable } from './layout.ts'

export type HistoryDatabase = Database.Database

/** Log length at which a checkpoint is tried; and how long it may wait for readers to be elsewhere, ms. */
const LOG_BYTES = 192 * 2 ** 20
const CHECKPOINT_WAIT_MS = 50
/** KiB of the file kept in memory by the writer and by each reader. */
const WRITER_CACHE_KIB = 131_072
const READER_CACHE_KIB = 32_768

/** Where the store stands: the columns of its one `position` row. */
export interface StorePosition {
  format: number
  genesis: string
  sequence: number
  time_ms: number
  batch_checksum: number
  events_checksum: number
  events: number
  /** Of all tables (heads.ts). */
  roots: Buffer
}

export const historyPath = (dataDir: string): string => join(dataDir, 'history.sqlite')
export const genesisDigest = (genesis: string): string => createHash('sha256').update(genesis).digest('hex')

/** Removes a store with its log; nobody may have it open. */
export function removeStore(path: string): void {
  // The log first: one that outlived its file would be taken for a log of the next.
  for (const suffix of ['-wal', '-shm', '']) rmSync(`${path}${suffix}`, { force: true })
}

/** Opens the store for writing and makes it if there is none. `path` ':memory:' makes one that is kept nowhere. */
export function openWriter(path: string): HistoryDatabase {
  const fresh = path === ':memory:' || !existsSync(path)
  const database = new Database(path, { timeout: CHECKPOINT_WAIT_MS })
  try {
    prepareWriter(database, fresh)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function prepareWriter(database: HistoryDatabase, fresh: boolean): void {
  database.pragma('page_size = 4096')
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = normal')
  database.pragma('wal_autocheckpoint = 0')
  database.pragma(`cache_size = -${WRITER_CACHE_KIB}`)
  const empty = fresh || database.prepare('select 1 from sqlite_schema').get() === undefined
  database.transaction(() => {
    for (const file of empty ? ['schema.sql', 'later_tables.sql'] : ['later_tables.sql']) {
      database.exec(readFileSync(join(import.meta.dirname, file), 'utf8'))
    }
  })()
}

/** Errors of SQLite that say nothing of the file: somebody has it, or the disk, the memory or the rights are at fault. */
const NOT_THE_FILE = /^SQLITE_(BUSY|LOCKED|FULL|NOMEM|IOERR|CANTOPEN|READONLY|PERM|INTERRUPT|MISUSE)/
/** The file ends before a page that it has. */
const TOO_SHORT = 'SQLITE_IOERR_SHORT_READ'

/**
 * The store at `path` is not what was written, or is no database at all: it can only be made anew. All statements are fixed, so that any
 * error SQLite has with one of them comes from what it found in the file; a file it takes for read-only although it is not says so too.
 */
export function isDamaged(error: unknown, path: string): boolean {
  if (error instanceof HistoryDamaged) return true
  const code = String((error as { code?: string }).code)
  if (code === 'SQLITE_READONLY') return isWritable(path)
  return code === TOO_SHORT || (code.startsWith('SQLITE_') && !NOT_THE_FILE.test(code))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Opens the store for reading; throws when there is none that could be read. */
export function openReader(path: string): HistoryDatabase {
  const database = new Database(path, { readonly: true, fileMustExist: true, timeout: 1_000 })
  try {
    database.pragma(`cache_size = -${READER_CACHE_KIB}`)
    const position = readPosition(database)
    if (position === null || !isReadable(position.format)) throw new Error('the history is not there yet')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** A row of `position`, its checksum, and what the header of the file says of it. */
export interface PositionRow extends StorePosition {
  readonly checksum: number
  readonly header: number
  readonly one?: number
}
/** One statement, so that row and header are of one transaction. */
export const READ_POSITION = 'select *, (select user_version from pragma_user_version) as header from position'
/** Stores of this format and newer have the sequence in the header. */
const FIRST_WITH_HEADER = 6
const headerOf = ({ format, sequence }: StorePosition): number => (format < FIRST_WITH_HEADER ? 0 : sequence % 2 ** 31)

/** `null`: nothing was projected yet. That of another format is given as it is, any other is checked: {@link HistoryDamaged}. */
export function readPosition(database: HistoryDatabase): StorePosition | null {
  const row = database.prepare<[], PositionRow>(READ_POSITION).get()
  return row === undefined ? null : checkedPosition(row)
}

/** What a row of `position` says. */
export function checkedPosition({ checksum, header, one: _one, ...position }: PositionRow): StorePosition {
  if (!isReadable(position.format)) return position
  if (checksum !== sumOf(position)) throw new HistoryDamaged('the position is not what was written')
  if (header !== headerOf(position)) throw new HistoryDamaged('the position is not the one that was written last')
  return position
}

/** Covers every column, in this order. */
function sumOf(position: StorePosition): number {
  const { format, genesis, sequence, time_ms: time, batch_checksum: batch, events_checksum: sum, events, roots } = position
  return crc32(roots, crc32(JSON.stringify([format, genesis, sequence, time, batch, sum, events])))
}

/** What the history of a data directory continues in the journal; `null`: there is none, or it has nothing yet. Throws when unreadable. */
export function storedPlace(dataDir: string): Place | null {
  const path = historyPath(dataDir)
  if (!existsSync(path)) return null
  const database = new Database(path, { readonly: true, fileMustExist: true, timeout: 1_000 })
  try {
    const made = database.prepare("select 1 from sqlite_schema where name = 'position'").get() !== undefined
    const position = made ? readPosition(database) : null
    return position === null ? null : { sequence: position.sequence + 1, checksum: position.batch_checksum }
  } finally {
    database.close()
  }
}

/** Part of the caller's transaction. */
export function writePosition(database: HistoryDatabase, position: StorePosition): void {
  const { format, genesis, sequence, time_ms: time, batch_checksum: batch, events_checksum: checksum, events, roots } = position
  database
    .prepare('insert or replace into position values (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(format, genesis, sequence, time, batch, checksum, events, roots, sumOf(position))
  database.pragma(`user_version = ${headerOf(position)}`)
}

/** Writes the log back into the file and cuts it, when it is long or `now` is asked for. */
export function checkpoint(database: HistoryDatabase, now = false): void {
  const log = `${database.name}-wal`
  if (!now && (!existsSync(log) || statSync(log).size < LOG_BYTES)) return
  database.pragma('wal_checkpoint(truncate)')
}
