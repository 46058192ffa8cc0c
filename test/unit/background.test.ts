/** Promise: a thread that works in the background lowers its own priority and nobody else's. */
import { once } from 'node:events'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'

const file = join(import.meta.dirname, '..', '..', 'gateway', 'background.ts')
const code = `
  import(${JSON.stringify(file)}).then(({ workInBackground }) => {
    workInBackground()
    require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority(0))
  })`

t.test('the priority of one thread', { skip: process.platform === 'linux' ? false : 'priorities of threads are of Linux' }, async (t) => {
  const before = getPriority(0)
  const worker = new Worker(code, { eval: true })
  const [priority] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  t.equal(priority, Math.max(before, constants.priority.PRIORITY_BELOW_NORMAL))
  t.equal(getPriority(0), before, 'this thread goes on as before')
})
