/** What `npm run journal -- archive | restore` do, for its command line (journal/main.ts). Progress goes to standard error. */
import { resolve } from 'node:path'
import { lockDirectory } from '../data_dir.ts'
import { openJournal } from '../journal/file.ts'
import { paceOf } from '../lib/pace.ts'
import { tailOf } from '../journal/tail.ts'
import { extendArchive, openArchive } from './archive.ts'
import { allowDrop, boundOf, restoreArchive } from './retention.ts'

const MIB = 2 ** 20

/** Archives what may go, at `mib` MiB a second; `drop`: an exchange may then forget it. What is printed. */
export function archive(dataDir: string, to: string, drop: boolean, mib: number): Record<string, unknown> {
  const warnings: string[] = []
  const directory = resolve(to)
  const { before, why } = boundOf(dataDir, (text) => warnings.push(text))
  const database = openJournal(dataDir, true)
  const pace = paceOf(mib, () => undefined)
  const { end, segments, batches, bytes, raw } = extendArchive(directory, database, before, (header) => {
    const sizes = `${(header.raw / MIB).toFixed(0)} MiB in ${header.stored} bytes`
    console.error(`up to sequence ${header.end.sequence - 1} of ${before - 1}, ${sizes}`)
    pace(header.raw)
  })
  if (drop && end.sequence > 1) allowDrop(dataDir, { before: end.sequence, directory, time: new Date().toISOString() })
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
