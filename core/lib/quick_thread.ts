/**
 * Threads for hot code. Two things make one quick.
 *
 * The compiler may inline more. The engine is many small functions, and the usual budget leaves half the calls of a command standing;
 * that is worth a sixth of its time.
 *
 * It detaches no array buffer. Node strips types with a WebAssembly module whose memory grows, and memory that grows detaches an
 * ArrayBuffer; from then on all compiled code of that thread looks at every access to a typed array whether its buffer was detached
 * (V8's array buffer detaching protector), which is worth a quarter of the engine's time. So a quick thread gets its modules stripped
 * by the thread that starts it.
 *
 * The modules are those that the entry imports, directly or not, by relative path. Others, and imports made at run time, are loaded
 * as usual: that works, and makes the thread a slow one if they are TypeScript. So does transferring an ArrayBuffer.
 */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Bytes of bytecode that may be inlined into one function, instead of 920. It holds for all threads. */
const INLINED = 3000
/** Import and export declarations of TypeScript modules by relative path. */
const IMPORT = /^(?:import|export)\b[^'"]*?['"](\.[^'"]+\.ts)['"]/gm

/** Stripped sources of the module at `url` and everything it imports by relative path, by URL. */
function strippedSources(url: string, sources = new Map<string, string>()): Map<string, string> {
  if (sources.has(url)) return sources
  const text = readFileSync(new URL(url), 'utf8')
  const source = stripTypeScriptTypes(text)
  sources.set(url, source)
  for (const [, path] of source.matchAll(IMPORT)) strippedSources(new URL(path!, url).href, sources)
  return sources
}

/** Starts a worker that runs the TypeScript module at path `entry` as a quick thread. `workerData` must be an object. */
export function startQuickThread(entry: string, options: WorkerOptions = {}): Worker {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED}`)
  const url = pathToFileURL(entry).href
  const quick = { entry: url, sources: [...strippedSources(url)] }
  return new Worker(new URL('./quick_thread.mjs', import.meta.url), { ...options, workerData: { ...options.workerData, quick } })
}
