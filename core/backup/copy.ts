/**
 * Copying the parts of a data directory that an exchange is writing: each at a bounded rate, so that the journal's fsync does not wait
 * behind it, and each as it was at one moment.
 *
 * The journal grows at its end only, so its batches are read in order, checked, in short read transactions, and written into a journal of
 * their own. What is dropped at its beginning meanwhile was copied before.
 * The history is copied row by row within one read transaction; its log grows by what is projected meanwhile.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { historyPath, openReader, openWriter } from '../history/store/store.ts'
import { openJournal } from '../journal/file.ts'
import { keyOf } from '../journal/frame.ts'
import { endSequence, takeBatches, type Place } from '../journal/reader.ts'
import { putTail, tailOf } from '../journal/tail.ts'
import { createWriter } from '../journal/writer.ts'
import { realIo } from '../lib/io.ts'
import { fileOfPage, PAGES, receiptDirectory } from '../lib/page_files.ts'
import type { Pace } from '../lib/pace.ts'
import { balancesPath, listBalances } from '../settlement/balances_file.ts'
import { BackupError } from './manifest.ts'

const MIB = 2 ** 20
/** Bytes written between two looks at the rate. */
const PIECE = MIB
/** Bytes of journal in one durable transaction of the copy. */
const TRANSACTION = 4 * MIB
/** The name of a schema's tables. */
const TABLES = "select name from sqlite_schema where type = 'table' and name <> 'position'"

/** Copies a file that nobody changes; durable when it returns. Throws when there is none. */
export function copyFile(from: string, to: string, pace: Pace): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  const piece = Buffer.alloc(PIECE)
  const source = openSync(from, 'r')
  try {
    const copy = openSync(to, 'wx', 0o600)
    try {
      for (let read = readSync(source, piece); read > 0; read = readSync(source, piece)) {
        writeSync(copy, piece, 0, read)
        pace(read)
      }
      fsyncSync(copy)
    } finally {
      closeSync(copy)
    }
  } finally {
    closeSync(source)
  }
  realIo.syncDirectory(dirname(to))
}

/** The files with the pages of receipts that a snapshot names. What is written to the last of them meanwhile is behind those pages. */
export function copyReceipts(dataDir: string, to: string, { from, to: end }: { from: number; to: number }, pace: Pace): void {
  for (let page = from; page < end; page += PAGES - (page % PAGES)) {
    copyFile(fileOfPage(receiptDirectory(dataDir), page), fileOfPage(receiptDirectory(to), page), pace)
  }
}

/** Balances of settlement: those that the snapshot is behind, and later ones; confirmed ones may go meanwhile. */
export function copyBalances(dataDir: string, to: string, pace: Pace): void {
  for (const batch of listBalances(dataDir)) {
    try {
      copyFile(balancesPath(dataDir, batch), balancesPath(to, batch), pace)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/**
 * Copies the journal up to its end as it is now; where that is. Every batch is checked. The copy begins where the journal did: what is
 * dropped meanwhile is in it, or throws BatchesArchived when it was not copied yet.
 */
export async function copyJournal(dataDir: string, to: string, gibibytes: number, pace: Pace): Promise<Place> {
  mkdirSync(join(to, 'journal'), { recursive: true, mode: 0o700 })
  const source = openJournal(dataDir, true)
  const copy = openJournal(to, false, gibibytes)
  const end = endSequence(source)
  const tail = tailOf(source)
  let place: Place = tail
  try {
    putTail(copy, tail)
    while (place.sequence <= end) {
      const { values, bytes, end: taken } = takeBatches(source, place, end + 1, TRANSACTION)
      if (values.length === 0) throw new BackupError(`the journal ends at ${place.sequence - 1}, and said ${end}`)
      copy.transactionSync(() => {
        for (const value of values) copy.putSync(keyOf(value.readDoubleLE(16)), value)
      })
      place = taken
      pace(bytes)
    }
    // Counts what was written, and puts the two heads that say where the copy ends.
    createWriter(copy, 1, place).close()
  } finally {
    await Promise.all([source.close(), copy.close()])
  }
  return place
}

/** Copies the history as it is now; its sequence. */
export function copyHistory(dataDir: string, to: string, pace: Pace): number {
  const source = openReader(historyPath(dataDir))
  const copy = openWriter(historyPath(to))
  try {
    source.exec('begin')
    const position = source.prepare<[], Record<string, unknown>>('select * from position').get()!
    for (const { name } of source.prepare<[], { name: string }>(TABLES).all()) copyTable(source, copy, name, pace)
    const names = Object.keys(position)
    copy.prepare(`insert into position (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`).run(...Object.values(position))
    copy.pragma(`user_version = ${String(source.pragma('user_version', { simple: true }))}`)
    return position['sequence'] as number
  } finally {
    source.close()
    copy.pragma('wal_checkpoint(truncate)')
    copy.pragma('journal_mode = delete')
    copy.close()
  }
}

interface Row {
  readonly id: number
  readonly records: Buffer
}

function copyTable(source: Database.Database, copy: Database.Database, name: string, pace: Pace): void {
  const insert = copy.prepare<[number, Buffer]>(`insert into ${name} values (?, ?)`)
  const put = copy.transaction((rows: readonly Row[]) => {
    for (const { id, records } of rows) insert.run(id, records)
  })
  let rows: Row[] = []
  let bytes = 0
  const flush = (): void => {
    put(rows)
    copy.pragma('wal_checkpoint(truncate)')
    pace(bytes)
    rows = []
    bytes = 0
  }
  for (const row of source.prepare<[], Row>(`select id, records from ${name} order by id`).iterate()) {
    rows.push(row)
    bytes += row.records.length
    if (bytes >= PIECE) flush()
  }
  flush()
}

/** Copies a small SQLite file as it is now. */
export function copyDatabase(from: string, to: string): void {
  const source = new Database(from, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    source.prepare('vacuum into ?').run(to)
  } finally {
    source.close()
  }
}
