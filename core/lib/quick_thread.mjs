/**
 * First module of a quick thread (quick_thread.ts): plain JavaScript, because a thread that strips types itself is a slow one. Module
 * sources come stripped from the thread that started this one.
 */
import { registerHooks } from 'node:module'
import { workerData } from 'node:worker_threads'

const { quick } = workerData
const sources = new Map(quick.sources)
registerHooks({
  load: (url, context, next) =>
    sources.has(url) ? { format: 'module', source: sources.get(url), shortCircuit: true } : next(url, context),
})
await import(quick.entry)
