/**
 * Threads for hot code. Node strips types with a WebAssembly module whose memory grows, and a memory that grows detaches an
 * ArrayBuffer; from then on every access to a typed array in that thread's compiled code looks whether its buffer was detached, which
 * costs the engine a third of its speed (V8's array buffer detaching protector; bench/README.md has the figures). So a quick thread
 * gets its modules stripped by the thread that starts it and detaches nothing.
 *
 * The modules are those that the entry imports, directly or not, by relative path. Others, and imports made at run time, are loaded
 * as usual: that works, and makes the thread a slow one if they are TypeScript.
 */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'

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
  const url = pathToFileURL(entry).href
  const quick = { entry: url, sources: [...strippedSources(url)] }
  return new Worker(new URL('./quick_thread.mjs', import.meta.url), { ...options, workerData: { ...options.workerData, quick } })
}
