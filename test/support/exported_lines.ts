/** The lines that export prints for people, as plain values. */
import { openJournal } from '../../core/journal/file.ts'
import { readBatches } from '../../core/journal/reader.ts'
import { realIo } from '../../core/lib/io.ts'
import { fromGenesis } from '../../core/recovery/recover.ts'
import { Names } from '../../core/replay/names.ts'
import { Telling, type About } from '../../core/replay/telling.ts'
import type { Told } from './told_records.ts'

/** All of a journal that goes back to its beginning, and the state that they end in. */
export function exportedLines(dataDir: string, about: About = {}): { lines: Told[]; names: Names } {
  const database = openJournal(dataDir, true)
  const lines: Told[] = []
  let listener: ReturnType<Telling['lines']> | null = null
  const { replayer } = fromGenesis(database, (...heard) => listener?.(...heard), realIo)
  const names = new Names(replayer.state)
  listener = new Telling(names, about).lines((line) => lines.push(JSON.parse(JSON.stringify(line)) as Told))
  for (const batch of readBatches(database, replayer.place)) replayer.batch(batch)
  return { lines, names }
}
