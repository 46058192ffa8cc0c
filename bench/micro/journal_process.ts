/** The process of journal.ts: its main thread keeps room and head, a thread commits, as in the exchange. */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { appendFileSync, statSync } from 'node:fs'
import { dataFile, openJournal, PAGE_BYTES } from '../../core/journal/file.ts'
import { keepHead, keepRoom } from '../../core/journal/room.ts'
import { createWriter } from '../../core/journal/writer.ts'
import { RECORD_BYTES } from '../../core/layout/table.ts'

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
const GIBIBYTES = 8

const wrong = (failure: Error | null): void => {
  if (failure !== null) throw failure
}

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

if (isMainThread) {
  process.once('message', async (work: JournalWork) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: work })
    await once(worker, 'message')
    const needed = work.commits * (work.records * RECORD_BYTES + 8 * PAGE_BYTES)
    if (work.before) appendFileSync(dataFile(work.directory), Buffer.alloc(needed), { flush: true })
    else keepRoom(work.directory, GIBIBYTES * 2 ** 30, wrong)
    keepHead(work.directory, wrong)
    const done = once(worker, 'message')
    worker.postMessage('go')
    const [commits] = (await done) as [Commits]
    process.send!(commits)
  })
} else {
  parentPort!.postMessage(await commitAll(workerData as JournalWork))
}
