/**
 * Threads and processes for hot code. Three things make one quick.
 *
 * Its modules are one bundle (bundle.mjs): an imported constant or function is read from a cell at each use, one of the same module is
 * folded or inlined. Unbundled the engine takes twice the time.
 *
 * The compiler may inline more (quick_inlining.mjs). That is worth a sixth of the engine's time.
 *
 * It detaches no array buffer. Node strips types with a WebAssembly module whose memory grows, and memory that grows detaches an
 * ArrayBuffer; from then on all compiled code of that thread looks at every access to a typed array whether its buffer was detached
 * (V8's array buffer detaching protector), which is worth a quarter of the engine's time. A bundle is JavaScript already. Imports of
 * TypeScript at run time would be loaded as usual and make the thread a slow one; so does transferring an ArrayBuffer.
 */
import { fork, type ChildProcess, type ForkOptions } from 'node:child_process'
import { join } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { bundleOf, cacheDirectories } from './quick_bundle.mjs'
import { allowInlining } from './quick_inlining.mjs'

/** `node QUICK ENTRY ARGUMENTS` runs the TypeScript module at path ENTRY as hot code. */
export const QUICK = join(import.meta.dirname, 'quick.mjs')

/** Starts a worker that runs the TypeScript module at path `entry` as a quick thread. `workerData` must be an object. */
export function startQuickThread(entry: string, options: WorkerOptions = {}): Worker {
  allowInlining()
  const quick = { entry, source: bundleOf(entry) }
  return new Worker(QUICK, { ...options, workerData: { ...options.workerData, quick } })
}

/** Bundles of this process: a thread that is started again runs what the first one ran, whatever became of the files. */
const sources = new Map<string, string>()

/**
 * Starts a worker that runs the TypeScript module at path `entry`, with the packages that are hundreds of modules, as one bundle: it is
 * ready in a third of the time. The code is that of the sources. `workerData` must be an object.
 */
export function startBundledThread(entry: string, options: WorkerOptions = {}): Worker {
  const source = sources.get(entry) ?? bundleOf(entry, cacheDirectories(), 'thread')
  sources.set(entry, source)
  return new Worker(QUICK, { ...options, workerData: { ...options.workerData, quick: { entry, source } } })
}

/** Starts a process that runs the TypeScript module at path `entry` as hot code, with a channel to this one. */
export const forkQuick = (entry: string, args: readonly string[] = [], options: ForkOptions = {}): ChildProcess =>
  fork(QUICK, [entry, ...args], options)
