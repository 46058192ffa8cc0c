/**
 * The file of the history, `history.sqlite` in the data directory: opening it for the projector and for readers, its position, its
 * checkpoints.
 *
 * One writer, any number of readers, write-ahead log: readers never wait for the writer nor it for them. A transaction is not flushed by
 * itself (synchronous NORMAL): after a power failure the file is whole and a little older, and projection goes on from its position.
 * Checkpoints are explicit, so that the log cannot grow while readers come and go: past {@link LOG_BYTES} the log is written back and cut.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { HISTORY_FORMAT } from './layout.ts'

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
  database.pragma('page_size = 4096')
  database.pragma('journal_mode = wal')
  database.pragma('synchronous = normal')
  database.pragma('wal_autocheckpoint = 0')
  database.pragma(`cache_size = -${WRITER_CACHE_KIB}`)
  const empty = fresh || database.prepare('select 1 from sqlite_schema').get() === undefined
  if (empty) database.transaction(() => database.exec(readFileSync(join(import.meta.dirname, 'schema.sql'), 'utf8')))()
  return database
}

/** SQLite found the file damaged, or no database at all: it can only be made anew. */
export const isDamaged = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { code?: string }).code))

/** Opens the store for reading; throws when there is none that could be read. */
export function openReader(path: string): HistoryDatabase {
  const database = new Database(path, { readonly: true, fileMustExist: true, timeout: 1_000 })
  try {
    database.pragma(`cache_size = -${READER_CACHE_KIB}`)
    const position = readPosition(database)
    if (position === null || position.format !== HISTORY_FORMAT) throw new Error('the history is not there yet')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** `null`: nothing was projected yet. */
export function readPosition(database: HistoryDatabase): StorePosition | null {
  return (database.prepare('select * from position').get() as StorePosition | undefined) ?? null
}

export function writePosition(database: HistoryDatabase, position: StorePosition): void {
  const { format, genesis, sequence, time_ms: time, batch_checksum: batch, events_checksum: checksum, events } = position
  database
    .prepare('insert or replace into position values (1, ?, ?, ?, ?, ?, ?, ?)')
    .run(format, genesis, sequence, time, batch, checksum, events)
}

/** Writes the log back into the file and cuts it, when it is long or `now` is asked for. */
export function checkpoint(database: HistoryDatabase, now = false): void {
  const log = `${database.name}-wal`
  if (!now && (!existsSync(log) || statSync(log).size < LOG_BYTES)) return
  database.pragma('wal_checkpoint(truncate)')
}
