/**
 * A chain thread that does nothing but say where it would be, and ends when the test says so: word 0 of `control` counts its starts, word
 * 1 is how it goes on: 0 wait for the next word, 1 end, 2 fail, 3 say that the port is taken.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { FromThread, ToThread } from '../../core/threads.ts'

const words = new Int32Array((workerData as { control: SharedArrayBuffer }).control)
const tell = (message: FromThread): void => parentPort!.postMessage(message)
const starts = Atomics.add(words, 0, 1) + 1
if (Atomics.load(words, 1) === 3) tell({ type: 'fatal', code: 2, message: 'chain port: taken' })
else tell({ type: 'ready', port: 1000 + starts })

const timer = setInterval(() => {
  const next = Atomics.load(words, 1)
  if (next === 1) process.exit(0)
  if (next === 2) throw new Error('broken')
}, 5)

parentPort!.on('message', (message: ToThread) => {
  if (message.type !== 'stop') return
  clearInterval(timer)
  parentPort!.close()
})
