/**
 * Promise: whatever keeps the exchange from starting ends it with an exit code of the README's list and one JSON line that names the place
 * and says what to do; what it can do without is one such line too, and it serves.
 *
 * Six of the causes in `npm test`, others each time; all of them in `npm run test:deep`.
 *
 * As a user for whom mode bits count. Deaths by signal: supervisor.deep.ts; a directory in use: directory_lock.deep.ts; damaged journals:
 * refused_starts.deep.ts and journal_damage.test.ts.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { BackupError } from '../../core/backup/manifest.ts'
import { ConfigError } from '../../core/config.ts'
import { DirectoryLocked } from '../../core/data_dir.ts'
import { systemFault } from '../../core/lib/system_fault.ts'
import { startCode } from '../../core/start_code.ts'
import { EXIT } from '../../core/threads.ts'
import { AS_NOBODY, removeDirectory, startExchange, StartFailed, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { shuffled } from '../suite/files.ts'
import { DEEP, eachRound, seedOf } from '../suite/rounds.ts'

t.setTimeout(600_000)
const FLAGS = ['--gateways', '1', '--grpc-thread', '0', '--chain', '0']
const GENESIS = join(import.meta.dirname, '..', '..', 'data', 'genesis', 'genesis.json')
const NOBODY = 65_534
const root = temporaryDirectory()
t.teardown(() => removeDirectory(root))
/** A directory in which an exchange has run, to be copied. */
const made = join(root, 'made')

/** Gives everything under `path` to the user as whom the exchange runs here. */
function give(path: string): void {
  if (AS_NOBODY.length === 0) return
  chownSync(path, NOBODY, NOBODY)
  for (const name of readdirSync(path, { recursive: true }) as string[]) chownSync(join(path, name), NOBODY, NOBODY)
}

const begin = (directory: string, flags: readonly string[] = [], before = AS_NOBODY): Promise<Exchange> =>
  startExchange(directory, [...FLAGS, ...flags], {}, before)

interface Case {
  readonly cause: string
  /** What is wrong with `directory`, a copy of one that was used; returns flags. */
  readonly spoil: (directory: string) => readonly string[] | void
  readonly code: number
  readonly words: RegExp
  /** What runs the exchange. */
  readonly before?: readonly string[]
}

const mode = (bits: number, place: (directory: string) => string) => (directory: string): void => chmodSync(place(directory), bits)
const named = (name: string) => (directory: string): string => join(directory, name)

const CASES: readonly Case[] = [
  { cause: 'an unknown flag', spoil: () => ['--prot', '1'], code: EXIT.CONFIG, words: /configuration: .*--prot.*Try --help/ },
  { cause: 'a data directory that is a file', spoil: (directory) => {
    removeDirectory(directory)
    writeFileSync(directory, '')
  }, code: EXIT.CONFIG, words: /data directory .* cannot be used \(ENOTDIR.*name another --data-dir/ },
  { cause: 'a data directory that may not be written', spoil: (directory) => {
    rmSync(join(directory, 'lock.sqlite'))
    chmodSync(directory, 0o500)
  }, code: EXIT.CONFIG, words: /lock\.sqlite cannot be used \(EACCES.*give it, and the directory it is in, to the user/ },
  { cause: 'a page token key that may not be read', spoil: mode(0, named('page_token.key')), code: EXIT.CONFIG,
    words: /page_token\.key cannot be used \(EACCES.*give it.* to the user/ },
  { cause: 'an operator token file that is missing', spoil: () => ['--operator-token-file', '/nowhere'], code: EXIT.CONFIG,
    words: /\/nowhere cannot be used \(ENOENT.*there is no such file: name another/ },
  { cause: 'a genesis that is named and missing, beside a directory that has one', spoil: () => ['--genesis', '/nowhere.json'],
    code: EXIT.CONFIG, words: /--genesis \/nowhere\.json cannot be used \(ENOENT.*name another/ },
  { cause: 'a genesis that is named and missing, for a new directory', spoil: (directory) => {
    removeDirectory(join(directory, 'journal'))
    removeDirectory(join(directory, 'snapshots'))
    rmSync(join(directory, 'history.sqlite'))
    return ['--genesis', '/nowhere.json']
  }, code: EXIT.CONFIG, words: /--genesis \/nowhere\.json cannot be used \(ENOENT/ },
  { cause: 'a genesis that may not be read', spoil: (directory) => {
    const path = join(directory, 'genesis.json')
    copyFileSync(GENESIS, path)
    chmodSync(path, 0)
    return ['--genesis', path]
  }, code: EXIT.CONFIG, words: /--genesis .*genesis\.json cannot be used \(EACCES/ },
  { cause: 'a file of contract logins that is missing', spoil: () => ['--contract-login-file', '/nowhere.json'], code: EXIT.CONFIG,
    words: /--contract-login-file \/nowhere\.json cannot be used: ENOENT/ },
  { cause: 'a file of contract logins that says something else', spoil: (directory) => {
    const path = `${directory}.json`
    writeFileSync(path, '{"contractLogin":"some"}')
    return ['--contract-login-file', path]
  }, code: EXIT.CONFIG, words: /\.json cannot be used: contractLogin must be "all", "none" or a list/ },
  { cause: 'a genesis that is a directory', spoil: () => ['--genesis', '/tmp'], code: EXIT.CONFIG, words: /--genesis \/tmp .*\(EISDIR/ },
]

/** Cases of the journal: name of the file in it, what is done to it, words. */
const OF_JOURNAL: readonly [name: string, what: string, spoil: (path: string) => void, words: RegExp][] = [
  ['data.mdb', 'may not be written', (path) => chmodSync(path, 0o400), /data\.mdb cannot be used \(EACCES.*give it.* to the user/],
  ['data.mdb', 'may not be read', (path) => chmodSync(path, 0), /data\.mdb cannot be used \(EACCES.*give it.* to the user/],
  ['lock.mdb', 'may not be written', (path) => chmodSync(path, 0o400), /lock\.mdb cannot be used \(EACCES.*give it.* to the user/],
  ['lock.mdb', 'cannot be made', (path) => {
    rmSync(path)
    chmodSync(join(path, '..'), 0o500)
  }, /journal cannot be used \(EACCES.*give it.* to the user/],
  ['data.mdb', 'is a directory', (path) => {
    rmSync(path)
    mkdirSync(path)
    give(path)
  }, /cannot be used \(EISDIR.*move it away/],
  ['data.mdb', 'is of something else', (path) => writeFileSync(path, Buffer.alloc(100_000, 'x')), /JournalError: .*no LMDB file/],
  ['data.mdb', 'is of another version of LMDB', (path) => {
    const bytes = readFileSync(path)
    for (const page of [0, 4096]) bytes[page + 28]! ^= 0x55
    writeFileSync(path, bytes)
  }, /JournalError: .*version/],
]
const JOURNAL_CASES = OF_JOURNAL.map(([name, what, spoil, words]): Case => ({
  cause: `${name} ${what}`, spoil: (directory) => spoil(join(directory, 'journal', name)), code: EXIT.JOURNAL, words,
}))

/** Starts on a spoilt copy and expects to be refused. */
async function refused(t: Test, { cause, spoil, code, words, before }: Case): Promise<void> {
  const directory = join(root, cause.replaceAll(/\W/g, '_'))
  cpSync(made, directory, { recursive: true })
  give(directory)
  const flags = spoil(directory) ?? []
  const failed = await begin(directory, flags, before).then(
    (exchange) => exchange.kill().then(() => null),
    (error: unknown) => error as StartFailed,
  )
  t.ok(failed instanceof StartFailed, 'the start was refused')
  t.equal(failed?.code, code)
  // A warning may stand beside it, of few files that may be opened here.
  const said = failed?.log.filter(({ level }) => level !== 'info' && level !== 'warn') ?? []
  t.match(said, [{ level: 'fatal', service: 'ringbook', code, msg: words }], 'one line says what to do')
  t.equal(said.length, 1, JSON.stringify(said))
}

t.before(async () => {
  chmodSync(root, 0o755)
  mkdirSync(made)
  give(made)
  await (await begin(made)).stop()
})

t.test('what keeps it from starting', async (t) => {
  const seed = seedOf()
  t.comment(`seed ${seed}; again: SEED=${seed} npm test -- test/crash/exit_codes.test.ts`)
  const cases = shuffled([...CASES, ...JOURNAL_CASES], seed)
  for (const round of eachRound(t, { short: 3, deep: cases.length })) {
    const one = cases[round]
    if (one === undefined) break
    await t.test(`${one.cause}: ${one.code}`, (t) => refused(t, one))
  }
})

/** A port of 127.0.0.1 that somebody listens on until the test ends. */
async function takenPort(t: Test): Promise<string> {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  return String((taken.address() as AddressInfo).port)
}

t.test('a port that is taken is found before the journal is opened', async (t) => {
  const port = await takenPort(t)
  const holder = `process ${process.pid} \\(.+\\)`
  const words = new RegExp(`port ${port} of 127.0.0.1 \\(--port, RINGBOOK_PORT\\) is in use by ${holder}: .*another port`)
  // Opening such a journal would be refused with another code.
  const spoil = (directory: string): readonly string[] => {
    writeFileSync(join(directory, 'journal', 'data.mdb'), Buffer.alloc(100_000, 'x'))
    return ['--port', port]
  }
  await refused(t, { cause: 'port', spoil, code: EXIT.CONFIG, words, before: [] })
})

if (DEEP) t.test('a port that is taken after that look', async (t) => {
  const knobs: [flag: string, words: RegExp, flags?: string[]][] = [
    ['--port', /gateway 1: cannot listen on .*--port/], ['--operator-port', /operator port: .*EADDRINUSE.*--operator-port/],
    ['--grpc-port', /gRPC: .*EADDRINUSE/, ['--grpc-thread', '1']], ['--chain-port', /chain port: .*EADDRINUSE/, ['--chain', '1']],
  ]
  for (const [flag, words, flags = []] of knobs) {
    const directory = join(root, flag)
    mkdirSync(directory)
    const port = await freePort()
    let thief: Server | null = null
    t.teardown(() => thief?.close())
    // The look is over when it says `starting`, and threads are started long after that.
    const starting = (line: string): void => {
      if (line.includes('"starting"')) thief ??= createServer().listen(port, '127.0.0.1')
    }
    const failed = await startExchange(directory, [...FLAGS, ...flags, flag, String(port)], {}, [], starting).then(
      (exchange) => exchange.kill().then(() => null),
      (error: unknown) => error as StartFailed,
    )
    t.equal(failed?.code, EXIT.CONFIG, flag)
    t.match(failed?.log.filter(({ level }) => level === 'fatal'), [{ code: EXIT.CONFIG, msg: words }])
  }
})

/** A port that nobody listens on now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Whether a process may mount something that only it sees. */
function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'mount', '--bind', '-o', 'ro', root, root], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
t.test('a file system that is mounted read-only', { skip: mayMount() ? false : 'it needs root, for mounts of its own' }, async (t) => {
  const mount = `mount --bind -o ro ${root} ${root} && exec "$@"`
  const before = ['unshare', '-m', 'bash', '-c', mount, 'bash', ...AS_NOBODY]
  const words = /lock\.sqlite cannot be used \(EROFS.*mounted read-only: mount it for writing/
  await refused(t, { cause: 'read-only', spoil: () => undefined, code: EXIT.CONFIG, words, before })
})

const FOLLOWERS: [cause: string, spoil: (directory: string) => void, words: RegExp][] = [
  ['snapshots that may not be written', (directory) => {
    for (const name of readdirSync(join(directory, 'snapshots'))) rmSync(join(directory, 'snapshots', name))
    chmodSync(join(directory, 'snapshots'), 0o500)
  }, /snapshots.* cannot be used \(.*give it/],
  ['a history that may not be read', mode(0, named('history.sqlite')), /history\.sqlite cannot be used \(.*give it/],
]
for (const [cause, spoil, words] of DEEP ? FOLLOWERS : FOLLOWERS.slice(0, 1)) {
  t.test(`${cause}: it serves, and a line says what to do`, async (t) => {
    const directory = join(root, cause.replaceAll(/\W/g, '_'))
    cpSync(made, directory, { recursive: true })
    give(directory)
    spoil(directory)
    const exchange = await begin(directory, ['--snapshot-every', '1'])
    t.teardown(() => exchange.kill())
    const health = await fetch(`${exchange.baseUrl}/api/v1/health`, { headers: { 'User-Agent': 'test' } })
    t.equal(health.status, 200)
    t.equal(await exchange.stop(), EXIT.OK)
    t.ok(exchange.log.some(({ level, msg }) => level === 'error' && words.test(String(msg))), 'a line says it')
    t.notOk(exchange.log.some(({ text }) => text !== undefined), 'no stack on standard error')
  })
}

/** Loaded into the exchange process: its main thread throws when it is told to. */
const THROWS = `data:text/javascript,${encodeURIComponent(`
  import { isMainThread } from 'node:worker_threads'
  if (isMainThread && process.argv[1].endsWith('core/main.ts')) process.on('SIGUSR2', () => { throw new TypeError('planted') })
`)}`

t.test('an error that nobody caught in the main thread', async (t) => {
  const directory = join(root, 'uncaught')
  mkdirSync(directory)
  const exchange = await startExchange(directory, FLAGS, { NODE_OPTIONS: `--import ${THROWS}` })
  t.teardown(() => exchange.kill())
  process.kill(exchange.pid, 'SIGUSR2')
  t.equal(await exchange.ended, EXIT.THREAD)
  const said = exchange.log.filter(({ level }) => level === 'fatal')
  t.match(said, [{ code: EXIT.THREAD, msg: /main thread: TypeError: planted\n +at / }], 'one line says where')
  t.equal(said.length, 1)
  t.notOk(exchange.log.some(({ text }) => text !== undefined), 'no stack on standard error')
})

t.test('an error of the start that nobody foresaw is a fault of the program, not of the configuration', async (t) => {
  const code = (error: unknown): number => startCode(systemFault(error, 'a place'))
  for (const error of [new TypeError('x is not a function'), new Error('anything'), new RangeError('Invalid array length')]) {
    t.equal(code(error), EXIT.THREAD, error.message)
  }
  const ofSystem = { EACCES: EXIT.CONFIG, ENAMETOOLONG: EXIT.CONFIG, ENOSPC: EXIT.DISK, EIO: EXIT.DISK }
  for (const [name, expected] of Object.entries(ofSystem)) t.equal(code(Object.assign(new Error(name), { code: name })), expected, name)
  for (const kind of [ConfigError, BackupError]) t.equal(code(new kind('wrong')), EXIT.CONFIG, kind.name)
  t.equal(code(new DirectoryLocked('another')), EXIT.LOCKED)
})
