/** What `npm run journal -- archive | restore` do, for its command line (journal/main.ts). Progress goes to standard error. */
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { lockDirectory, makeFilesPrivate, takeDirectory } from '../data_dir.ts'
import { openJournal } from '../journal/file.ts'
import type { JournalStore } from '../journal/store.ts'
import { paceOf, type Pace } from '../lib/pace.ts'
import { tailOf } from '../journal/tail.ts'
import { checkSegments, extendArchive, openArchive } from './archive.ts'
import { allowDrop, boundOf, forbidDrop, restoreArchive } from './retention.ts'
import { ArchiveError } from './segment.ts'

const MIB = 2 ** 20

/**
 * Archives what may go, at `mib` MiB a second; `drop`: an exchange may then forget it. What is printed. One call at a time has an archive,
 * until it has given its word: another one throws DirectoryLocked. Throws {@link ArchiveError}, and then nothing more is dropped.
 */
export async function archive(dataDir: string, to: string, drop: boolean, mib: number): Promise<Record<string, unknown>> {
  const directory = resolve(to)
  const database = openJournal(dataDir, true)
  try {
    makeFilesPrivate()
    mkdirSync(directory, { recursive: true })
    const lock = await takeDirectory(directory)
    try {
      return archiveInto(directory, dataDir, database, drop, paceOf(mib, () => undefined))
    } catch (error) {
      if (error instanceof ArchiveError) forbidDrop(dataDir, directory)
      throw error
    } finally {
      lock.release()
    }
  } finally {
    await database.close()
  }
}

function archiveInto(directory: string, dataDir: string, database: JournalStore, drop: boolean, pace: Pace): Record<string, unknown> {
  const warnings: string[] = []
  const { before, why } = boundOf(dataDir, (text) => warnings.push(text))
  const made = extendArchive(directory, database, before, (header) => {
    const sizes = `${(header.raw / MIB).toFixed(0)} MiB in ${header.stored} bytes`
    console.error(`up to sequence ${header.end.sequence - 1} of ${before - 1}, ${sizes}`)
    pace(header.raw)
  })
  const { end, segments, batches, bytes, raw } = made
  if (drop && end.sequence > 1) {
    checkSegments(made, database, (header) => {
      console.error(`read back up to sequence ${header.end.sequence - 1} of ${end.sequence - 1}`)
      pace(header.raw)
    })
    allowDrop(dataDir, { before: end.sequence, directory, time: new Date().toISOString() })
  }
  return {
    directory, upTo: end.sequence - 1, why, segments: segments.length, batches, bytes, raw, journalBeginsAt: tailOf(database).sequence,
    mayBeDropped: drop, warnings,
  }
}

/** Puts everything back that was dropped. The exchange must not run. */
export async function restore(dataDir: string, from: string, gibibytes: number): Promise<Record<string, unknown>> {
  const lock = await lockDirectory(dataDir)
  try {
    const database = openJournal(dataDir, false, gibibytes)
    const batches = restoreArchive(dataDir, openArchive(resolve(from)), database, (done, of) => console.error(`${done} of ${of} segments`))
    const { sequence } = tailOf(database)
    await database.close()
    return { batches, journalBeginsAt: sequence }
  } finally {
    lock.release()
  }
}
