/**
 * Bundles of threads and processes (bundle.mjs), made when they are first asked for and kept by content.
 *
 * A bundle's key covers every source that goes into it, their places, the bundler, how it is asked, and of packages that go into it what
 * npm says is installed. Bundles are kept in
 * `node_modules/.cache` of the checkout, or, when that cannot be written, in the cache directory that systemd gives to a service
 * (CACHE_DIRECTORY), or in a directory of the user's own beside other temporary files.
 * A directory or file that others own or may write is not trusted, because what is in it is run. A kept bundle begins with the checksum
 * of the rest: a torn one is made anew. It gets its name when it is whole, so several processes may make the same one at once. The
 * {@link KEPT} used last are kept.
 *
 * The cache only saves time: without one every start bundles, some four seconds of a core. Plain JavaScript, because quick processes run it before
 * anything else, and types are not to be stripped there (quick_thread.ts).
 */
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync, utimesSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const BUNDLER = join(import.meta.dirname, 'bundle.mjs')
/** Bundles of one directory, at most: a version has fifteen, of one to three megabytes. */
export const KEPT = 48
/** Names of unfinished bundles older than this, ms, are of a process that died. */
const UNFINISHED_MS = 3_600_000
const BUNDLE_MS = 120_000
const BUNDLE_BYTES = 2 ** 26
/** Imports and export declarations by relative path. */
const IMPORT = /(?:^(?:import|export)\b[^'"]*?|\bimport\()['"](\.[^'"]+\.m?[jt]s)['"]/gm
/** npm's list of what is installed, with versions and checksums. */
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json')

/** Where bundles may be kept, best first. */
export const cacheDirectories = () => [
  join(ROOT, 'node_modules', '.cache', 'ringbook'),
  ...(process.env['CACHE_DIRECTORY'] ? [join(process.env['CACHE_DIRECTORY'].split(':')[0], 'bundles')] : []),
  join(tmpdir(), `ringbook-bundles-${process.getuid?.() ?? 'user'}`),
]

const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/** The key of the bundle of this kind of the module at path `entry`. */
function keyOf(entry, kind) {
  const hash = createHash('sha256')
  const add = (path, text) => hash.update(`${path}\n${text.length}\n`).update(text)
  const seen = new Set()
  const visit = (path) => {
    if (seen.has(path)) return
    seen.add(path)
    const text = readFileSync(path, 'utf8')
    add(path, text)
    for (const [, relative] of text.matchAll(IMPORT)) visit(resolve(dirname(path), relative))
  }
  visit(BUNDLER)
  // A hot bundle has none of its packages in it.
  const packages = kind === 'hot' ? join(ROOT, 'node_modules', 'rolldown', 'package.json') : INSTALLED
  add(kind, readFileSync(packages, 'utf8'))
  visit(resolve(entry))
  return hash.digest('hex')
}

/** True when nobody else owns it or may change it. Systems without owners have nothing to compare. */
function isOurs(path) {
  const { uid, mode } = lstatSync(path)
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0)
}

/** Another process may have made it a moment ago. */
function makeDirectory(path) {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

/** The first of the directories that is ours and can be written, made when it is not there; null: none is. */
function openCache(directories) {
  for (const directory of directories) {
    try {
      for (const path of [dirname(directory), directory]) if (!existsSync(path)) makeDirectory(path)
      if (isOurs(directory) && lstatSync(directory).isDirectory()) return directory
    } catch {
      // Read-only, full, or no directory: the next one.
    }
  }
  return null
}

/** The bundle in the file, or null when there is none that is whole and ours. */
function readKept(path) {
  try {
    if (!isOurs(path)) return null
    const text = readFileSync(path, 'utf8')
    const end = text.indexOf('\n')
    const code = text.slice(end + 1)
    if (text.slice(0, end) !== `//${sha256(code)}`) return null
    const now = new Date()
    utimesSync(path, now, now)
    return code
  } catch {
    return null
  }
}

/** Keeps a bundle. What goes wrong here costs the next start its time and nothing else. */
function keep(directory, path, code) {
  try {
    const unfinished = `${path}.${randomBytes(8).toString('hex')}`
    writeFileSync(unfinished, `//${sha256(code)}\n${code}`, { flag: 'wx', mode: 0o600 })
    renameSync(unfinished, path)
    const files = readdirSync(directory).map((name) => ({ at: join(directory, name), ms: statSync(join(directory, name)).mtimeMs }))
    const whole = files.filter(({ at }) => at.endsWith('.mjs')).sort((a, b) => b.ms - a.ms)
    const left = files.filter(({ at, ms }) => !at.endsWith('.mjs') && ms < Date.now() - UNFINISHED_MS)
    for (const { at } of [...whole.slice(KEPT), ...left]) unlinkSync(at)
  } catch {
    // Another process cleans up too, or the disk is full.
  }
}

function make(entry, kind) {
  // Without what others preload into every Node: it is no part of the bundler.
  const { NODE_OPTIONS: _, ...env } = process.env
  const options = { encoding: 'utf8', env, timeout: BUNDLE_MS, maxBuffer: BUNDLE_BYTES, stdio: ['ignore', 'pipe', 'pipe'] }
  const { status, signal, error, stdout, stderr } = spawnSync(process.execPath, [BUNDLER, entry, kind], options)
  if (status === 0) return stdout
  const why = error?.message ?? (stderr.trim() || `the bundler ended with ${signal ?? `code ${status}`}`)
  throw new Error(`${entry} cannot be bundled: ${why}`)
}

/** Source of the bundle of the module at path `entry`, with an inline source map. Throws when it cannot be made. */
export function bundleOf(entry, directories = cacheDirectories(), kind = 'hot') {
  const name = `${keyOf(entry, kind)}.mjs`
  const directory = openCache(directories)
  const path = directory === null ? null : join(directory, name)
  const kept = path === null ? null : readKept(path)
  if (kept !== null) return kept
  const code = make(entry, kind)
  if (path !== null) keep(directory, path, code)
  return code
}
