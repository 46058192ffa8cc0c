/** The quick thread of journal_process.ts, as the matcher is one: commits, once it is told that somebody keeps room. */
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { dataFile, openJournal } from '../../core/journal/file.ts'
import { createWriter } from '../../core/journal/writer.ts'

export interface JournalWork {
  readonly directory: string
  /** Of a commit. */
  readonly records: number
  readonly commits: number
  /** Room for all commits is made before the first, and none meanwhile. */
  readonly before: boolean
}

export interface Commits {
  /** Of each commit. */
  readonly micros: Float64Array
  /** From the first to the end of the last. */
  readonly seconds: number
  /** Bytes by which the file grew meanwhile. */
  readonly room: number
}

const WARM = 50
/** Most of the journal. */
const GIBIBYTES = 8

async function commitAll({ directory, records, commits }: JournalWork): Promise<Commits> {
  const database = openJournal(directory, false, GIBIBYTES)
  const writer = createWriter(database, records)
  const micros = new Float64Array(commits)
  let sequence = 1
  const commit = (index: number): number => {
    writer.words.fill(sequence)
    const started = performance.now()
    writer.commit(sequence, 1_700_000_000_000 + index, records, records, 0)
    sequence += records
    return (performance.now() - started) * 1000
  }
  for (let warm = 0; warm < WARM; warm++) commit(warm)
  parentPort!.postMessage('warm')
  await once(parentPort!, 'message')
  const size = statSync(dataFile(directory)).size
  const started = performance.now()
  for (let index = 0; index < commits; index++) micros[index] = commit(index)
  const seconds = (performance.now() - started) / 1000
  const room = statSync(dataFile(directory)).size - size
  await database.close()
  return { micros, seconds, room }
}

parentPort!.postMessage(await commitAll(workerData as JournalWork))
