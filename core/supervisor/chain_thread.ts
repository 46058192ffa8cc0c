/**
 * The thread of the embedded chain as the main thread sees it: started again whenever it ends, with a bound on its memory, because it
 * runs programs of strangers. Nothing of trading depends on it: while it is away contract wallets cannot sign in.
 *
 * A port that is taken at the first start refuses the start of the exchange, as every port does; later it is tried again.
 */
import type { Worker } from 'node:worker_threads'
import { startBundledThread } from '../lib/quick_thread.ts'
import type { ChainData, FromThread, ToThread } from '../threads.ts'
import { Restart } from './restart.ts'

/** Heap of the thread, MiB. */
const HEAP_MB = 1_024

export interface ChainHooks {
  /** Messages of the thread that are for everybody's ears. */
  readonly heard: (message: FromThread) => void
  /** Where it answers; `null`: it does not. */
  readonly moved: (url: string | null) => void
  /** It ended without being asked to. */
  readonly ended: (reason: string) => void
}

export interface ChainThread {
  /** The port on which it listened first. */
  readonly ready: Promise<number>
  /** Whether its port may listen. */
  listen(open: boolean): void
  /** Ends it; it is not started again. */
  finish(): Promise<void>
}

/** Starts the thread of this file. */
export function startChain(path: string, data: ChainData, hooks: ChainHooks): ChainThread {
  const { promise: ready, resolve } = Promise.withResolvers<number>()
  let worker: Worker | null = null
  let listened = false

  function hear(started: Worker, message: FromThread): void {
    if (message.type === 'ready') {
      listened = true
      restart.well()
      resolve(message.port!)
      hooks.moved(`http://127.0.0.1:${message.port}`)
    } else if (message.type === 'fatal' && listened) {
      hooks.ended(message.message)
      void started.terminate()
    } else hooks.heard(message)
  }

  function start(): void {
    const started = startBundledThread(path, { workerData: data, name: 'chain', resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } })
    worker = started
    started.on('message', (message: FromThread) => hear(started, message))
    started.on('error', (error) => hooks.ended(error.message))
    started.on('exit', (code) => {
      worker = null
      hooks.moved(null)
      if (restart.finishing) return
      hooks.ended(`it ended with ${code}`)
      restart.ended()
    })
  }
  const restart = new Restart(start)
  start()
  return {
    ready,
    listen: (open) => worker?.postMessage({ type: 'listen', open } satisfies ToThread),
    finish: () => {
      restart.finish()
      const last = worker
      if (last === null) return Promise.resolve()
      return new Promise((done) => {
        last.once('exit', () => done())
        last.postMessage({ type: 'stop' } satisfies ToThread)
      })
    },
  }
}
