/**
 * Promise: a matcher thread that failed says its exit code and stays until the process ends. LMDB's clean-up after a failed commit may
 * abort the process, and the exit code must have been announced before.
 */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { dataFile, journalPath } from '../../core/journal/file.ts'
import { startQuickThread } from '../../core/lib/quick_thread.ts'
import { EXIT, type FromThread } from '../../core/threads.ts'

t.test('a matcher that cannot open its journal', async (t) => {
  const dataDir = t.testdir({})
  mkdirSync(journalPath(dataDir))
  writeFileSync(dataFile(dataDir), 'no journal'.repeat(2000))
  const config = readConfig(['--data-dir', dataDir], {})!
  const entry = join(import.meta.dirname, '..', '..', 'core', 'sequencer', 'thread.ts')
  const matcher = startQuickThread(entry, { workerData: { config, shared: {} } })
  t.teardown(async () => void (await matcher.terminate()))
  let ended = false
  matcher.on('exit', () => (ended = true))
  const [message] = (await once(matcher, 'message')) as [FromThread]
  t.match(message, { type: 'fatal', code: EXIT.JOURNAL })
  // Each look is answered by the thread itself.
  for (let look = 0; look < 20 && !ended; look++) await matcher.getHeapStatistics().catch(() => (ended = true))
  t.equal(ended, false, 'it is still there')
})
