/**
 * Making the journal's file as small as what is in it. LMDB gives nothing back to the file system: what was dropped is written over, and
 * the file keeps its size. So the batches are copied into a new file, which takes the place of the old one in one step when it is whole.
 * Only for the process that holds the directory's lock; it needs as much free disk as the batches take.
 */
import { renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { dataFile, journalPath, openJournal } from '../journal/file.ts'
import { endOf } from '../journal/end.ts'
import { realIo } from '../lib/io.ts'
import type { Pace } from '../lib/pace.ts'
import { copyJournal } from './copy.ts'
import { BackupError } from './manifest.ts'

/** Bytes of the file before and after. */
export interface Compacted {
  readonly before: number
  readonly after: number
}

/** Compacts the journal of a directory; what an interrupted call left is removed. Throws when the copy is not the journal. */
export async function compactJournal(dataDir: string, gibibytes: number, pace: Pace): Promise<Compacted> {
  const aside = join(dataDir, 'journal.compacted')
  rmSync(aside, { recursive: true, force: true })
  await copyJournal(dataDir, aside, gibibytes, pace)
  const ends = await Promise.all([dataDir, aside].map(async (directory) => {
    const database = openJournal(directory, true, gibibytes)
    const { batches, next, checksum } = endOf(database)
    await database.close()
    return `${batches} batches up to sequence ${next - 1}, checksum ${checksum}`
  }))
  if (ends[0] !== ends[1]) throw new BackupError(`the copy has ${ends[1]}, the journal ${ends[0]}`)
  const before = statSync(dataFile(dataDir)).size
  renameSync(dataFile(aside), dataFile(dataDir))
  realIo.syncDirectory(journalPath(dataDir))
  rmSync(aside, { recursive: true, force: true })
  return { before, after: statSync(dataFile(dataDir)).size }
}
