/** One of the processes of receipts.ts: it has an engine in a quick thread, as matcher and followers do, and hands on what it is asked. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startQuickThread } from '../../core/lib/quick_thread.ts'

const [path, dataDir, start] = process.argv.slice(2) as [string, string, string]
const worker = startQuickThread(join(import.meta.dirname, 'receipts_thread.ts'), {
  workerData: { genesis: readFileSync(path, 'utf8'), dataDir, start: Number(start) },
})
worker.on('message', (said) => process.send!(said))
worker.on('error', (error) => {
  throw error
})
process.on('message', (ask) => worker.postMessage(ask))
process.on('disconnect', () => process.exit(0))
