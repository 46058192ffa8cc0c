/**
 * Promise: hot code runs as a bundle that is made once and kept, whose errors name the sources, and whose cache can neither break a start
 * nor bring in what somebody else wrote.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { bundleOf, cacheDirectories, KEPT } from '../../core/lib/quick_bundle.mjs'
import { QUICK, startBundledThread, startQuickThread } from '../../core/lib/quick_thread.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const lib = (name: string): string => JSON.stringify(join(ROOT, 'core', 'lib', name))

/** A directory with an entry of two modules, and nothing else. */
function sources(text = 'import { word } from "./word.ts"\nconsole.log(word, import.meta.filename, ...process.argv.slice(1))\n'): string {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-bundle-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'word.ts'), "export const word: string = 'said'\n")
  writeFileSync(join(directory, 'entry.ts'), text)
  return directory
}

const files = (directory: string): string[] => readdirSync(directory)

t.test('an error thrown in a bundled thread names source and line', async (t) => {
  const entry = join(import.meta.dirname, '..', 'support', 'ending_bundle.ts')
  const worker = startQuickThread(entry, { workerData: {} })
  const [stack] = (await once(worker, 'message')) as [string]
  const apply = readFileSync(join(ROOT, 'core', 'engine', 'apply.ts'), 'utf8').split('\n')
  const line = apply.findIndex((text) => text.includes("'sequenced time goes back'")) + 1
  t.ok(line > 0, 'the place is found')
  t.match(stack, /InvariantBroken: sequenced time goes back|Error: sequenced time goes back/)
  t.ok(stack.includes(join('core', 'engine', `apply.ts:${line}:`)), 'the engine', { stack })
  t.ok(stack.includes(join('test', 'support', 'ending_bundle.ts:')), 'and who called it', { stack })
})

t.test('a process runs a bundle as if it had been started with the entry', async (t) => {
  const entry = join(sources(), 'entry.ts')
  const { stdout, stderr } = spawnSync(process.execPath, [QUICK, entry, 'a', 'b'], { encoding: 'utf8', env: {} })
  t.equal(stdout, `said ${entry} ${entry} a b\n`, stderr)
})

t.test('the bundle of a thread has its packages and sources as they are, and is kept apart from the hot one', async (t) => {
  const packages = 'import { Type } from "typebox"\nimport tap from "tap"\n'
  const directory = sources(`${packages}import { word } from "./word.ts"\nconsole.log(Type, tap, word)\n`)
  const [cache, entry] = [join(directory, 'cache'), join(directory, 'entry.ts')]
  const link = join(directory, 'node_modules')
  symlinkSync(join(ROOT, 'node_modules'), link)
  const [hot, thread] = [bundleOf(entry, [cache]), bundleOf(entry, [cache], 'thread')]
  t.match(hot, /from ['"]typebox['"]/, 'packages of hot code stay imports')
  t.notMatch(thread, /from ['"]typebox['"]/, 'one of many modules comes with the thread')
  t.match(thread, /from ['"]tap['"]/, 'others stay imports')
  t.equal(files(cache).length, 2)
  t.equal(bundleOf(entry, [cache], 'thread'), thread)
  t.equal(files(cache).length, 2, 'both are kept')
})

t.test('what is imported in the middle of a file is part of the key', async (t) => {
  const directory = sources('const { word } = await import("./word.ts")\nconsole.log(word)\n')
  const [cache, entry] = [join(directory, 'cache'), join(directory, 'entry.ts')]
  t.match(bundleOf(entry, [cache], 'thread'), /said/)
  writeFileSync(join(directory, 'word.ts'), "export const word: string = 'else'\n")
  t.match(bundleOf(entry, [cache], 'thread'), /else/)
})

t.test('a service keeps bundles in its cache directory when the checkout is read-only', (t) => {
  const before = process.env['CACHE_DIRECTORY']
  t.teardown(() => (before === undefined ? delete process.env['CACHE_DIRECTORY'] : (process.env['CACHE_DIRECTORY'] = before)))
  delete process.env['CACHE_DIRECTORY']
  const [checkout, temporary, ...none] = cacheDirectories()
  t.strictSame(none, [])
  process.env['CACHE_DIRECTORY'] = '/var/cache/ringbook:/var/cache/other'
  t.strictSame(cacheDirectories(), [checkout, '/var/cache/ringbook/bundles', temporary])
  t.end()
})

t.test('a thread that is started again runs what the first one ran', async (t) => {
  const port = 'import { parentPort } from "node:worker_threads"\n'
  const entry = join(sources(`${port}import { word } from "./word.ts"\nparentPort!.postMessage(word)\n`), 'entry.ts')
  const said = async (): Promise<unknown> => (await once(startBundledThread(entry), 'message'))[0]
  t.equal(await said(), 'said')
  writeFileSync(join(dirname(entry), 'word.ts'), "export const word: string = 'else'\n")
  t.equal(await said(), 'said')
})

t.test('a bundle is kept by content', async (t) => {
  const directory = sources()
  const [cache, entry] = [join(directory, 'cache'), join(directory, 'entry.ts')]
  const first = bundleOf(entry, [cache])
  const [name] = files(cache)
  t.equal(statSync(cache).mode & 0o777, 0o700, 'its directory is the owner\'s')
  t.equal(statSync(join(cache, name!)).mode & 0o777, 0o600, 'and so is the file')
  // Another code with its own checksum: whoever reads the cache gets it.
  const other = '// kept\n'
  writeFileSync(join(cache, name!), `//${createHash('sha256').update(other).digest('hex')}\n${other}`)
  t.equal(bundleOf(entry, [cache]), other, 'the kept one is taken')
  writeFileSync(join(directory, 'word.ts'), "export const word: string = 'else'\n")
  t.match(bundleOf(entry, [cache]), /else/, 'another source is another bundle')
  writeFileSync(join(directory, 'word.ts'), "export const word: string = 'said'\n")
  for (const torn of ['', `//${'0'.repeat(64)}\n${first}`, first.slice(0, 100)]) {
    writeFileSync(join(cache, name!), torn)
    t.equal(bundleOf(entry, [cache]), first, 'a torn one is made anew')
  }
  t.ok(readFileSync(join(cache, name!), 'utf8').endsWith(first), 'and kept again')
})

t.test('what others may write is not run', { skip: process.getuid === undefined }, async (t) => {
  const directory = sources()
  const [cache, second, entry] = [join(directory, 'cache'), join(directory, 'second'), join(directory, 'entry.ts')]
  const good = bundleOf(entry, [cache])
  const path = join(cache, files(cache)[0]!)
  const planted = '// planted\n'
  writeFileSync(path, `//${createHash('sha256').update(planted).digest('hex')}\n${planted}`)
  chmodSync(path, 0o622)
  t.equal(bundleOf(entry, [cache]), good, 'a file that others may write')
  writeFileSync(path, `//${createHash('sha256').update(planted).digest('hex')}\n${planted}`)
  chmodSync(cache, 0o777)
  t.equal(bundleOf(entry, [cache, second]), good, 'a directory that others may write')
  t.equal(files(second).length, 1, 'the next directory keeps it')
})

t.test('without a place to keep it a bundle is made all the same', async (t) => {
  const entry = join(sources(), 'entry.ts')
  t.match(bundleOf(entry, []), /said/)
  t.match(bundleOf(entry, ['/proc/no-such/place', join(entry, 'below a file')]), /said/)
})

t.test('several processes make one bundle at once, and so many are kept', async (t) => {
  const directory = sources()
  const [cache, entry] = [join(directory, 'cache'), join(directory, 'entry.ts')]
  mkdirSync(cache, { mode: 0o700 })
  for (let i = 0; i < KEPT + 4; i++) writeFileSync(join(cache, `old${i}.mjs`), '', { mode: 0o600 })
  writeFileSync(join(cache, 'abandoned.mjs.0011'), '')
  for (const name of files(cache)) utimesSync(join(cache, name), 1e9, 1e9)
  const program = `import { bundleOf } from ${lib('quick_bundle.mjs')}
` +
    `process.stdout.write(bundleOf(${JSON.stringify(entry)}, [${JSON.stringify(cache)}]))`
  const children = Array.from({ length: 3 }, () => spawn(process.execPath, ['--input-type=module', '-e', program], { env: {} }))
  const said = await Promise.all(children.map(async (child) => {
    let text = ''
    child.stdout.on('data', (part: Buffer) => (text += part.toString()))
    await once(child, 'close')
    return text
  }))
  t.match(said[0], /said/)
  t.strictSame(said, [said[0], said[0], said[0]], 'each has the whole of it')
  const left = files(cache)
  t.equal(left.length, KEPT, 'the oldest are gone, and what a dead process left')
  t.equal(left.filter((name) => !name.startsWith('old')).length, 1, 'one file for the three of them')
})

t.test('what cannot be bundled is said', async (t) => {
  const directory = sources('import { word } from "./missing.ts"\nconsole.log(word)\n')
  t.throws(() => bundleOf(join(directory, 'entry.ts'), []), /missing\.ts/)
  const wrong = join(sources('const = 1\n'), 'entry.ts')
  t.throws(() => bundleOf(wrong, []), new RegExp(`${wrong} cannot be bundled: [^]*entry.ts`))
  const { status, stderr } = spawnSync(process.execPath, [QUICK, wrong], { encoding: 'utf8', env: {} })
  t.equal(status, 1)
  t.match(stderr, /cannot be bundled/, pathToFileURL(wrong).href)
})
