/**
 * Preloaded into every thread of an exchange (`--import`): makes one of them throw once a file is there. THROW_IN says which: `gateway`,
 * the first one, out of its event loop; `matcher`, behind the commit of a batch and before it is applied. THROW_FILE is the file.
 */
import { existsSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

const { THROW_IN, THROW_FILE } = process.env
const due = (): boolean => existsSync(THROW_FILE!)
const data = isMainThread ? null : (workerData as { quick?: unknown; number?: number } | null)

if (THROW_IN === 'gateway' && data?.number === 1) {
  const timer = setInterval(() => {
    if (!due()) return
    clearInterval(timer)
    throw new Error('planted')
  }, 5)
  timer.unref()
}

if (THROW_IN === 'matcher' && data?.quick !== undefined) {
  const { add } = Atomics
  // The first thing that is done to a batch after its commit: readers are told to wait.
  Atomics.add = ((array: Int32Array, index: number, value: number) => {
    if (due() && /applyBatch/.test(new Error().stack!)) throw new Error('planted')
    return add(array, index, value)
  }) as typeof Atomics.add
}
