/**
 * First module of a quick thread or a quick process (quick_thread.ts): plain JavaScript, because one that strips types itself is slow.
 *
 * A thread gets its bundle from the thread that started it. A process, `node quick.mjs ENTRY ARGUMENTS`, looks for it itself and is from
 * then on as if it had been started with ENTRY.
 */
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread, workerData } from 'node:worker_threads'
import { bundleOf } from './quick_bundle.mjs'
import { allowInlining } from './quick_inlining.mjs'

/** Runs a bundle as if it were a file beside its entry, where its packages are looked for. */
async function run(entry, source) {
  const url = `${pathToFileURL(entry).href.replace(/\.[^./]*$/, '')}.bundle.mjs`
  process.setSourceMapsEnabled(true)
  registerHooks({
    resolve: (specifier, context, next) => specifier === url ? { url, format: 'module', shortCircuit: true } : next(specifier, context),
    load: (loaded, context, next) => loaded === url ? { format: 'module', source, shortCircuit: true } : next(loaded, context),
  })
  await import(url)
}

if (isMainThread) {
  const entry = resolve(process.argv[2])
  process.argv.splice(1, 2, entry)
  allowInlining()
  await run(entry, bundleOf(entry))
} else await run(workerData.quick.entry, workerData.quick.source)
