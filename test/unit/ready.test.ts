/**
 * Promise: `npm start` on a fresh clone installs the production packages alone, tests add the others, and what is
 * whole is used as it is: nothing is run, written or asked of a network. What was interrupted, changed or half removed
 * is installed again.
 *
 * core/ready.mjs runs on a small tree, with an npm that notes what it is called with and installs as the real one does.
 */
import { execFile, spawn } from 'node:child_process'
import {
  chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'

const LOCKED = {
  '': {},
  'node_modules/node': { version: '1.0.0', integrity: 'n' },
  'node_modules/pino': { version: '1.0.0', integrity: 'p' },
  'node_modules/binding-elsewhere': { version: '1.0.0', integrity: 'e', optional: true },
  'node_modules/tap': { version: '1.0.0', integrity: 't', dev: true },
}
/** A file `hang` makes it hang behind the first package, where it writes `hanging`; a file `fail` makes it fail after half of the work. */
const NPM = `#!${process.execPath}
const fs = require('node:fs')
const args = process.argv.slice(2).filter((word) => !/^--(no-audit|no-fund|loglevel)/.test(word))
fs.appendFileSync('calls', args.join(' ') + '\\n')
if (args[0] === 'ci') {
  for (const name of fs.readdirSync('.').includes('node_modules') ? fs.readdirSync('node_modules') : []) {
    fs.rmSync('node_modules/' + name, { recursive: true })
    if (fs.existsSync('fail')) process.exit(7)
  }
}
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
const omits = args.includes('--omit=dev')
const wanted = Object.entries(packages).filter(([path, { dev, optional }]) => path && !optional && !(dev && omits))
for (const [path] of wanted) {
  fs.mkdirSync(path, { recursive: true })
  fs.writeFileSync(path + '/package.json', '{}')
  if (fs.existsSync('hang')) {
    fs.writeFileSync('hanging', '')
    return void setTimeout(() => undefined, 60_000)
  }
}
fs.mkdirSync('node_modules/.bin', { recursive: true })
if (!fs.existsSync('no-scripts')) fs.writeFileSync('node_modules/.bin/node', '')
fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(wanted) }))
`

/** A clone in which nothing is installed. */
function clone(t: Test) {
  const root = temporaryDirectory()
  t.teardown(() => removeDirectory(root))
  const at = (name: string): string => join(root, name)
  mkdirSync(at('core'))
  mkdirSync(at('bin'))
  copyFileSync(join(import.meta.dirname, '..', '..', 'core', 'ready.mjs'), at('core/ready.mjs'))
  writeFileSync(at('bin/npm'), NPM)
  chmodSync(at('bin/npm'), 0o755)
  const lock = (packages: object): void => writeFileSync(at('package-lock.json'), JSON.stringify({ packages }))
  writeFileSync(at('package.json'), '{}')
  lock(LOCKED)
  const environment = { PATH: `${at('bin')}${delimiter}${process.env['PATH']}` }
  const command = [at('core/ready.mjs')]
  const calls = (): string[] => {
    const said = existsSync(at('calls')) ? readFileSync(at('calls'), 'utf8').trimEnd().split('\n') : []
    rmSync(at('calls'), { force: true })
    return said
  }
  /** Runs it, and tells what npm was called with. */
  const ready = (...flags: string[]): Promise<{ code: number; calls: string[]; said: string }> =>
    new Promise((resolve) => {
      execFile(process.execPath, [...command, ...flags], { env: environment }, (error, _, said) => {
        resolve({ code: error === null ? 0 : Number(error.code), calls: calls(), said })
      })
    })
  const begin = (...flags: string[]) =>
    spawn(process.execPath, [...command, ...flags], { env: environment, stdio: 'ignore' })
  return { at, lock, ready, begin, calls }
}

const INSTALLED = ['node', 'pino']
const packagesIn = (path: string): string[] => readdirSync(path).filter((name) => !name.startsWith('.')).sort()

t.test('a start needs the production packages, tests add the others, and then nothing is missing', async (t) => {
  const { at, ready } = clone(t)
  t.match(await ready(), { code: 0, calls: ['ci --omit=dev'], said: /installing packages for running it/ })
  t.strictSame(packagesIn(at('node_modules')), INSTALLED)
  const before = statSync(at('node_modules')).mtimeMs
  t.strictSame(await ready(), { code: 0, calls: [], said: '' }, 'once')
  t.equal(statSync(at('node_modules')).mtimeMs, before, 'nothing is written')
  t.match(await ready('--all'), { code: 0, calls: ['install --no-save --include=dev'] }, 'beside what may be running')
  t.strictSame(packagesIn(at('node_modules')), [...INSTALLED, 'tap'])
  for (const flags of [[], ['--all']]) t.strictSame(await ready(...flags), { code: 0, calls: [], said: '' })
  t.notOk(existsSync(at('.installing')))
})

t.test('what npm ci --omit=dev installed in a container is used, whatever the times of its files are', async (t) => {
  const { at, ready } = clone(t)
  await ready()
  utimesSync(at('node_modules/.package-lock.json'), 1, 1)
  chmodSync(at('.'), 0o500)
  t.teardown(() => chmodSync(at('.'), 0o700))
  t.strictSame(await ready(), { code: 0, calls: [], said: '' })
})

t.test('a lock that changed', async (t) => {
  const { at, lock, ready } = clone(t)
  await ready()
  lock({ ...LOCKED, 'node_modules/pino': { version: '1.0.1', integrity: 'q' } })
  t.match(await ready(), { code: 0, calls: ['ci --omit=dev'] }, 'another version')
  lock({ ...LOCKED, 'node_modules/tap': { version: '2.0.0', integrity: 'u', dev: true } })
  t.match(await ready(), { calls: ['ci --omit=dev'] }, 'back again')
  t.match(await ready(), { calls: [] }, 'of a development package that is not there nothing is missing')
  await ready('--all')
  lock({ ...LOCKED, 'node_modules/viem': { version: '1.0.0', integrity: 'v' } })
  t.match(await ready(), { code: 0, calls: ['ci --include=dev'] }, 'a developer keeps the development packages')
  rmSync(at('node_modules/viem'), { recursive: true })
  t.match(await ready(), { code: 0, calls: ['ci --include=dev'] }, 'a folder that is gone')
})

t.test('an install that fails is said, and the next begins anew', async (t) => {
  const { at, ready } = clone(t)
  await ready()
  writeFileSync(at('fail'), '')
  rmSync(at('node_modules/pino'), { recursive: true })
  t.match(await ready(), { code: 1, calls: ['ci --omit=dev'], said: /installing failed: npm failed/ })
  t.notOk(existsSync(at('node_modules/.package-lock.json')), 'what is half removed does not pass for whole')
  rmSync(at('fail'))
  const anew = await ready('--all')
  t.match(anew, { code: 0, calls: ['ci --include=dev'] })
  t.notMatch(anew.said, /another process/)
  rmSync(at('node_modules'), { recursive: true })
  writeFileSync(at('no-scripts'), '')
  t.match(await ready(), { code: 1, said: /everything but node_modules\/\.bin\/node; .*ignore scripts/ })
})

t.test('a development install that was interrupted: a start goes on with what it has, tests install anew', async (t) => {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const { at, ready, begin, calls } = clone(t)
    await ready()
    writeFileSync(at('hang'), '')
    const installing = begin('--all')
    const ended = new Promise((resolve) => installing.on('exit', resolve))
    for (let look = 0; look < 4000 && !existsSync(at('hanging')); look++) await new Promise((resolve) => setTimeout(resolve, 5))
    const start = await ready()
    t.strictSame(start, { code: 0, calls: ['install --no-save --include=dev'], said: '' }, 'a start does not wait')
    installing.kill(signal)
    await ended
    calls()
    rmSync(at('hang'))
    t.strictSame(await ready(), { code: 0, calls: [], said: '' })
    // As it is some seconds after a kill.
    if (signal === 'SIGKILL') utimesSync(at('.installing'), 1, 1)
    const anew = await ready('--all')
    t.match(anew, { code: 0, calls: ['ci --include=dev'] }, 'nothing half unpacked is trusted')
    t.notMatch(anew.said, /another process/, 'who is gone is not waited for')
  }
})

t.test('two at once: one installs, the other waits for it', async (t) => {
  const { ready } = clone(t)
  const both = await Promise.all([ready(), ready()])
  t.strictSame(both.map(({ code }) => code), [0, 0])
  t.strictSame(both.flatMap(({ calls }) => calls), ['ci --omit=dev'])
})

t.test('what runs the exchange imports no development package', async (t) => {
  const root = join(import.meta.dirname, '..', '..')
  const text = readFileSync(join(root, 'package.json'), 'utf8')
  const { dependencies, scripts } = JSON.parse(text) as { dependencies: object; scripts: Record<string, string> }
  // Folders of what only developers run.
  const tools = Object.values(scripts).filter((script) => script.includes('ready:all'))
    .flatMap((script) => [...script.matchAll(/\S+(?=main\.ts)/g)].map(([folder]) => folder))
  const filesOf = (room: string): string[] => {
    const all = readdirSync(join(root, room), { recursive: true }) as string[]
    return all.filter((name) => /\.m?[tj]s$/.test(name)).map((name) => join(room, name))
  }
  // What the page imports is served by the exchange itself, from the kept packages.
  const page = 'gateway/docs/page/'
  const isTool = (path: string): boolean => [...tools, page].some((folder) => path.startsWith(folder))
  const sources = ['core', 'gateway'].flatMap(filesOf).filter((path) => !isTool(path))
  const strange = sources.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const imports = /^(?:import|export) (?!type )[^'`]*?from '([^'.][^']*)'|import\('([^'.][^']*)'\)/gm
    const found = [...text.matchAll(imports)].map(([, first, second]) => first ?? second!)
    const names = found.filter((name) => !name.startsWith('node:'))
    const packages = names.map((name) => name.split('/').slice(0, name.startsWith('@') ? 2 : 1).join('/'))
    return packages.filter((name) => !Object.hasOwn(dependencies, name)).map((name) => `${path}: ${name}`)
  })
  t.ok(sources.length > 300)
  t.strictSame(strange, [])
})
