/** Promise: a thread that works in the background, or when a core is idle, says so of itself and of nobody else. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'

interface Schedule {
  readonly priority: number
  readonly policy: number
}

const file = join(import.meta.dirname, '..', '..', 'gateway', 'background.ts')
/** proc(5): the 41st field of stat; the second is a name in brackets, the third is the first behind it. */
const POLICY = 41 - 3
const policyOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[POLICY])
/** sched(7) */
const [SCHED_OTHER, SCHED_IDLE] = [0, 5]
const skip = process.platform === 'linux' ? false : 'priorities of threads are of Linux'

/** How a thread is scheduled that called this function. */
async function scheduleAfter(t: Test, name: 'workInBackground' | 'workWhenIdle'): Promise<Schedule> {
  const code = `
    import(${JSON.stringify(file)}).then((background) => {
      background.${name}()
      const stat = require('node:fs').readFileSync('/proc/thread-self/stat', 'latin1')
      require('node:worker_threads').parentPort.postMessage({ priority: require('node:os').getPriority(0), stat })
    })`
  const worker = new Worker(code, { eval: true })
  t.teardown(() => worker.terminate())
  const [{ priority, stat }] = (await once(worker, 'message')) as [{ priority: number; stat: string }]
  return { priority, policy: policyOf(stat) }
}

for (const [name, wanted] of [['workInBackground', SCHED_OTHER], ['workWhenIdle', SCHED_IDLE]] as const) {
  t.test(name, { skip }, async (t) => {
    const before = getPriority(0)
    const { priority, policy } = await scheduleAfter(t, name)
    t.equal(policy, wanted)
    t.equal(priority, Math.max(before, constants.priority.PRIORITY_BELOW_NORMAL))
    t.equal(policyOf(readFileSync('/proc/thread-self/stat', 'latin1')), SCHED_OTHER, 'this thread goes on as before')
    t.equal(getPriority(0), before)
  })
}
