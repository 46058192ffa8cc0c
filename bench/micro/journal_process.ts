/** The process of journal.ts: its main thread keeps room and head, a quick thread commits, as in the exchange. */
import { appendFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { dataFile, PAGE_BYTES } from '../../core/journal/file.ts'
import { keepHead, keepRoom } from '../../core/journal/room.ts'
import { RECORD_BYTES } from '../../core/layout/table.ts'
import { startQuickThread } from '../../core/lib/quick_thread.ts'
import type { Commits, JournalWork } from './journal_thread.ts'

/** Most of the journal. */
const GIBIBYTES = 8

const wrong = (failure: Error | null): void => {
  if (failure !== null) throw failure
}

process.once('message', async (work: JournalWork) => {
  const worker = startQuickThread(join(import.meta.dirname, 'journal_thread.ts'), { workerData: work })
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
