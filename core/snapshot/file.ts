/**
 * Snapshot files: `snapshots/<sequence>.sqlite` in the data directory.
 *
 * Written in transactions of half a MiB, each made durable, so that the journal's own fsync never waits behind more than that; the
 * descriptive row comes last and the file gets its name only when everything is on disk. Loading checks the seal of that row and the
 * digest over every stored column; a file that does not verify is not used. Nothing is ever changed in a finished file.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { stateDigest } from './state_digest.ts'
import { drawHashKey } from '../lib/hash_key.ts'
import { realIo, type Io } from '../lib/io.ts'
import { readPageFiles, receiptDirectory, removePages, writePageFiles, type PageFiles, type WriterOptions } from '../lib/page_files.ts'
import { CLOCK, LIMIT, SCALAR } from '../state/columns.ts'
import { loadColumns, storedColumns, type StoredColumn } from '../state/digest.ts'
import { parseGenesis } from '../state/genesis.ts'
import { raisedLimits } from '../state/growth.ts'
import { memoryPages, type PageStore } from '../state/page_store.ts'
import { RECEIPT_PAGE_WORDS, receiptRoomOf } from '../state/receipt_room.ts'
import { createState, type State } from '../state/state.ts'
import type { Place } from '../journal/reader.ts'
import type { SnapshotInfo, SnapshotStore } from './store.ts'

/**
 * Which columns a snapshot holds and what their words mean. Grows with every change of a stored column; a snapshot of another format is
 * no fault, it is passed over and the journal is replayed instead.
 */
export const SNAPSHOT_FORMAT = 5

/** A whole snapshot, but of another version of this program. */
export class OtherFormat extends Error {
  override name = 'OtherFormat'
}

/** Bytes per durable transaction. */
const CHUNK_BYTES = 1 << 19

export const snapshotDirectory = (dataDir: string): string => join(dataDir, 'snapshots')
export const snapshotPath = (dataDir: string, sequence: number): string =>
  join(snapshotDirectory(dataDir), `${String(sequence).padStart(16, '0')}.sqlite`)

/** Where pages of receipts are for whoever reads a data directory: what it writes itself stays in its memory. */
const readerStore = (dataDir: string): PageStore =>
  memoryPages(readPageFiles(receiptDirectory(dataDir), RECEIPT_PAGE_WORDS, true))

/** A store of pages, and how it makes them durable. */
type Receipts = PageStore & Partial<Pick<PageFiles, 'sync'>>

/** Where they are for whoever follows the journal of a data directory to its end. */
export const receiptFiles = (dataDir: string, options: WriterOptions): PageFiles =>
  writePageFiles(receiptDirectory(dataDir), RECEIPT_PAGE_WORDS, options)

/** The snapshots of a data directory. `receipts`: where an engine that is rebuilt has pages of receipts. */
export const snapshotFiles = (dataDir: string, receipts: Receipts = readerStore(dataDir)): SnapshotStore => ({
  receipts,
  list: () => listSnapshots(dataDir),
  load: (sequence, io) => loadSnapshot(dataDir, sequence, io, receipts),
  write: (...what) => {
    // It names pages that must be there when it is.
    receipts.sync?.()
    return writeSnapshot(dataDir, ...what)
  },
  prune: (keep) => pruneSnapshots(dataDir, keep),
})

/** Sequences of the snapshot files, newest first. */
export function listSnapshots(dataDir: string): number[] {
  if (!existsSync(snapshotDirectory(dataDir))) return []
  return readdirSync(snapshotDirectory(dataDir))
    .filter((name) => /^[0-9]{16}\.sqlite$/.test(name))
    .map((name) => Number(name.slice(0, 16)))
    .sort((a, b) => b - a)
}

/** Writes the state as it stands. `between` is called between transactions. */
export function writeSnapshot(
  dataDir: string,
  state: State,
  genesis: string,
  batchChecksum: number,
  eventsChecksum: number,
  between: () => void = () => undefined,
): SnapshotInfo {
  const sequence = state.clock[CLOCK.SEQUENCE]!
  mkdirSync(snapshotDirectory(dataDir), { recursive: true })
  const path = snapshotPath(dataDir, sequence)
  const unfinished = `${path}.unfinished`
  rmSync(unfinished, { force: true })
  const info = { sequence, timeMs: state.clock[CLOCK.TIME]!, batchChecksum, eventsChecksum, digest: stateDigest(state), genesis }
  const database = new Database(unfinished)
  try {
    database.pragma('journal_mode = off')
    database.pragma('synchronous = full')
    database.exec(readFileSync(join(import.meta.dirname, 'schema.sql'), 'utf8'))
    const insert = database.prepare('insert into chunk values (?, ?, ?)')
    for (const { name, bytes } of storedColumns(state)) {
      for (let at = 0, number = 0; at < bytes.length; at += CHUNK_BYTES, number++) {
        insert.run(name, number, Buffer.from(bytes.slice(at, Math.min(bytes.length, at + CHUNK_BYTES)).buffer))
        between()
      }
    }
    database
      .prepare('insert into snapshot values (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(sequence, info.timeMs, SNAPSHOT_FORMAT, batchChecksum, eventsChecksum, info.digest, genesis, sealOf(info, SNAPSHOT_FORMAT))
  } finally {
    database.close()
  }
  renameSync(unfinished, path)
  realIo.syncDirectory(snapshotDirectory(dataDir))
  return info
}

/** Removes all but the newest `keep` snapshots, what an interrupted writer left, and pages of receipts that none of the rest names. */
export function pruneSnapshots(dataDir: string, keep: number): void {
  for (const sequence of listSnapshots(dataDir).slice(keep)) rmSync(snapshotPath(dataDir, sequence), { force: true })
  for (const name of readdirSync(snapshotDirectory(dataDir))) {
    if (name.endsWith('.unfinished')) rmSync(join(snapshotDirectory(dataDir), name), { force: true })
  }
  removePages(receiptDirectory(dataDir), oldestPage(dataDir))
}

/** The first page of receipts that a snapshot of the directory names; 0 when there is none, or one does not tell. */
function oldestPage(dataDir: string): number {
  try {
    const first = Math.min(...listSnapshots(dataDir).map((sequence) => receiptPagesOf(dataDir, sequence).from))
    return Number.isFinite(first) ? first : 0
  } catch {
    return 0
  }
}

/** What a snapshot says about itself; throws when the file is not a whole snapshot of this format. */
export function readSnapshotInfo(dataDir: string, sequence: number): SnapshotInfo {
  const database = new Database(snapshotPath(dataDir, sequence), { readonly: true, fileMustExist: true })
  try {
    return infoOf(database, sequence)
  } finally {
    database.close()
  }
}

/** What a snapshot of any format continues in the journal; throws when it does not say so whole. */
export function snapshotPlace(dataDir: string, sequence: number): Place {
  const database = new Database(snapshotPath(dataDir, sequence), { readonly: true, fileMustExist: true })
  try {
    return { sequence: sequence + 1, checksum: describedIn(database, sequence).batchChecksum }
  } finally {
    database.close()
  }
}

function infoOf(database: Database.Database, sequence: number): SnapshotInfo {
  const format = database.prepare<[], number>('select format from snapshot').pluck().get()
  if (format !== undefined && format !== SNAPSHOT_FORMAT) {
    throw new OtherFormat(`it has format ${format}, this version reads ${SNAPSHOT_FORMAT}`)
  }
  return describedIn(database, sequence)
}

/** What a snapshot of any format says about itself, held against its seal. */
function describedIn(database: Database.Database, sequence: number): SnapshotInfo {
  const row = database.prepare('select * from snapshot').get() as Record<string, number | string> | undefined
  if (row === undefined) throw new Error('it is incomplete')
  if (row['sequence'] !== sequence) throw new Error(`it says it is ${row['sequence']}`)
  const info = {
    sequence,
    timeMs: row['time_ms'] as number,
    batchChecksum: row['batch_checksum'] as number,
    eventsChecksum: row['events_checksum'] as number,
    digest: row['digest'] as string,
    genesis: row['genesis'] as string,
  }
  if (row['seal'] !== sealOf(info, row['format'] as number)) throw new Error('its description does not match its seal')
  return info
}

/** The digest covers the columns; this covers what is said about them. */
function sealOf({ sequence, timeMs, batchChecksum, eventsChecksum, digest, genesis }: SnapshotInfo, format: number): string {
  const said = JSON.stringify([format, sequence, timeMs, batchChecksum, eventsChecksum, digest, genesis])
  return createHash('sha256').update(said).digest('hex')
}

/** Pages of receipts that the snapshot leaves to the files of the directory: from the first one to the one before the last. */
export function receiptPagesOf(dataDir: string, sequence: number): { from: number; to: number } {
  const database = new Database(snapshotPath(dataDir, sequence), { readonly: true, fileMustExist: true })
  try {
    const { genesis } = infoOf(database, sequence)
    const first = database.prepare<[string], Buffer>('select bytes from chunk where column_name = ? and number = 0').pluck()
    const scalars = first.get('scalars')!
    const from = scalars.readInt32LE(SCALAR.RECEIPT_HEAD_PAGE * 4)
    // A copy starts where numbers of eight bytes may.
    const raised = raisedLimits(new Float64Array(Uint8Array.from(first.get('limits')!).buffer), LIMIT.IN_FORCE)
    const { memoryPages: kept } = receiptRoomOf({ ...parseGenesis(genesis).limits, ...raised })
    return { from, to: Math.max(from, scalars.readInt32LE(SCALAR.RECEIPT_TAIL_PAGE * 4) - kept + 1) }
  } finally {
    database.close()
  }
}

/** Loads and verifies a snapshot into a new state; throws when anything about it does not verify. */
export function loadSnapshot(
  dataDir: string, sequence: number, io: Pick<Io, 'random'> = realIo, receipts: PageStore = readerStore(dataDir),
): { state: State; info: SnapshotInfo } {
  const database = new Database(snapshotPath(dataDir, sequence), { readonly: true, fileMustExist: true })
  try {
    const info = infoOf(database, sequence)
    const state = createState(parseGenesis(info.genesis), undefined, drawHashKey(io), receipts)
    loadColumns(state, verifiedColumns(database, state, info))
    return { state, info }
  } finally {
    database.close()
  }
}

/** The columns, verified in the state after the last one and before anything is derived from them. */
function* verifiedColumns(database: Database.Database, state: State, info: SnapshotInfo): Generator<StoredColumn> {
  yield* columnsIn(database)
  if (state.clock[CLOCK.SEQUENCE] !== info.sequence || stateDigest(state) !== info.digest) throw new Error('its digest does not match')
}

function* columnsIn(database: Database.Database): Generator<StoredColumn> {
  // Limits first: the other columns are as long as they say.
  const named = database.prepare<[], { name: string }>("select distinct column_name as name from chunk order by column_name <> 'limits'")
  const names = named.all()
  const chunks = database.prepare('select bytes from chunk where column_name = ? order by number')
  for (const { name } of names) {
    yield { name, bytes: Buffer.concat((chunks.all(name) as { bytes: Buffer }[]).map((row) => row.bytes)) }
  }
}
