/**
 * Promise: the exchange runs under a supervisor. However one of the two ends, nothing is left running and the directory is free; a death by
 * signal is one JSON line that says what to do, with an exit code of its own; every stop that is asked for is an orderly one, also in the
 * first moments.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createPrng } from '../../core/lib/prng.ts'
import { EXIT } from '../../core/threads.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm run test:deep -- test/crash/supervisor.deep.ts`)
t.setTimeout(900_000)
const root = join(import.meta.dirname, '..', '..')
const FLAGS = ['--gateways', '1', '--grpc-thread', '0', '--chain', '0']
const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))

/** Looks often; the test's own time limit ends it. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 2))
}

const isDead = (pid: number): boolean => {
  if (!existsSync(`/proc/${pid}`)) return true
  return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
/** The processes that the exchange process started. */
const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim()
    return children === '' ? [] : children.split(' ').map(Number)
  })

/** Every line of the log is a JSON object of one level. */
const onlyJson = (t: Test, { log }: Pick<Exchange, 'log'>): void =>
  void t.strictSame(log.filter(({ level }) => typeof level !== 'string'), [], 'nothing but log lines')

const kibibytes = (pid: number): number => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])

/** Ends a running exchange with `end` and expects nothing of it to be left. */
async function ended(t: Test, end: (exchange: Exchange) => void, flags: string[] = FLAGS): Promise<Exchange & { code: number | null }> {
  const exchange = await startExchange(directory, flags)
  t.teardown(() => exchange.kill())
  const pids = [exchange.pid, exchange.supervisor.pid!, ...childrenOf(exchange.pid)]
  t.ok(pids.length >= 4, 'supervisor, exchange, two followers; the reader of the journal may be late')
  const [whole, own] = pids.map(kibibytes) as [number, number]
  t.ok(own < whole / 2, `${Math.round(own / 1024)} MiB resident beside ${Math.round(whole / 1024)} MiB of the exchange process`)
  end(exchange)
  const code = await exchange.ended
  await until(() => pids.every(isDead))
  t.pass('nothing is left running')
  onlyJson(t, exchange)
  return { ...exchange, code }
}

const DEATHS: [signal: NodeJS.Signals, code: number, words: RegExp][] = [
  ['SIGBUS', EXIT.JOURNAL, /ended by SIGBUS: a page of a mapped file .* replay -- verify/],
  ['SIGKILL', 137, /ended by SIGKILL: .*memory ran out.*Starting again recovers/],
]
for (const [signal, code, words] of DEATHS) {
  t.test(`${signal} of the exchange process: exit code ${code}`, async (t) => {
    const exchange = await ended(t, ({ pid }) => process.kill(pid, signal))
    t.equal(exchange.code, code)
    t.match(exchange.log.at(-1), { level: 'fatal', service: 'ringbook', signal, code, msg: words })
  })
}

t.test('kill -9 of the supervisor: the exchange process ends too, and the next start serves', async (t) => {
  const exchange = await ended(t, ({ supervisor }) => void supervisor.kill('SIGKILL'))
  t.equal(exchange.code, null)
})

const STOPS: [signal: NodeJS.Signals, to: (keyof Pick<Exchange, 'pid' | 'supervisor'>)[]][] = [
  ['SIGTERM', ['supervisor']],
  ['SIGTERM', ['pid']],
  // As a terminal does.
  ['SIGINT', ['pid', 'supervisor']],
]
for (const [signal, to] of STOPS) {
  t.test(`${signal} to ${to.join(' and ')} is an orderly stop`, async (t) => {
    const exchange = await ended(t, ({ supervisor, pid }) => {
      if (to.includes('pid')) process.kill(pid, signal)
      if (to.includes('supervisor')) supervisor.kill(signal)
    })
    t.equal(exchange.code, EXIT.OK)
    t.ok(exchange.log.some(({ msg, cause }) => msg === 'stopping' && cause === signal), 'it says what asked for it')
    t.equal(exchange.log.at(-1)!['msg'], 'stopped')
  })
}

interface Starting {
  readonly child: ChildProcess
  readonly output: () => string
  readonly ended: Promise<[code: number | null, signal: NodeJS.Signals | null]>
}

/** NODE_OPTIONS is taken away, because through it tap loads code into the process that takes signals before anything else. */
function start(flags: readonly string[] = []): Starting {
  const all = ['--data-dir', directory, ...['--port', '--operator-port', '--chain-port'].flatMap((name) => [name, '0']), ...FLAGS, ...flags]
  const main = ['--disable-warning=ExperimentalWarning', join(root, 'core', 'supervisor', 'main.ts'), ...all]
  const command = 'unset NODE_OPTIONS; exec "$0" "$@"'
  const child = spawn('bash', ['-c', command, process.execPath, ...main], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()))
  child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()))
  return { child, output: () => output, ended: new Promise((resolve) => child.on('close', (code, signal) => resolve([code, signal]))) }
}

/** Whether the process handles stops: Node itself catches the others of them, but not SIGHUP, bit 0 of the mask of signals it catches. */
function catches(pid: number): boolean {
  const mask = /^SigCgt:\s+([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return (BigInt(`0x${mask?.[1] ?? '0'}`) & 1n) !== 0n
}

const MOMENTS: [name: string, reached: (starting: Starting) => boolean][] = [
  ['as soon as the supervisor listens', ({ child }) => catches(child.pid!)],
  ['when the exchange process has just been started', ({ child }) => childrenOf(child.pid!).length > 0],
  ['when it loads', ({ child }) => childrenOf(child.pid!).some((pid) => !isDead(pid) && catches(pid))],
  ['when it recovers', ({ output }) => output().includes('"starting"')],
  ['when it has recovered', ({ output }) => output().includes('"recovered"')],
]
for (const [name, reached] of MOMENTS) {
  t.test(`SIGTERM ${name}: exit code 0, and nothing is left`, async (t) => {
    const starting = start()
    t.teardown(() => starting.child.kill('SIGKILL'))
    await until(() => reached(starting))
    const pids = childrenOf(starting.child.pid!)
    starting.child.kill('SIGTERM')
    t.strictSame(await starting.ended, [EXIT.OK, null])
    await until(() => pids.every(isDead))
    t.match(starting.output().trimEnd().split('\n').at(-1), /"(asked to stop before anything was started|stopped)"/)
  })
}

t.test('SIGTERM to all of them at random moments of the start, as systemd may send it', async (t) => {
  const random = createPrng(SEED)
  for (let round = 0; round < 8; round++) {
    const starting = start()
    t.teardown(() => starting.child.kill('SIGKILL'))
    await until(() => catches(starting.child.pid!))
    const turns = random.below(150)
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setTimeout(resolve, 2))
    const pids = [starting.child.pid!, ...childrenOf(starting.child.pid!)]
    for (const pid of pids) if (!isDead(pid)) process.kill(pid, 'SIGTERM')
    t.strictSame(await starting.ended, [EXIT.OK, null], `after ${turns} turns`)
    await until(() => pids.every(isDead))
  }
  const next = await startExchange(directory, FLAGS)
  t.teardown(() => next.kill())
  t.equal(await next.stop(), EXIT.OK, 'the directory is as good as before')
})

t.test('help and a bad configuration start nothing', async (t) => {
  const help = start(['--help'])
  t.strictSame(await help.ended, [EXIT.OK, null])
  t.match(help.output(), /^Ringbook: .*Usage: npm start/s)
  const bad = start(['--gateways', 'many'])
  t.strictSame(await bad.ended, [EXIT.CONFIG, null])
  t.match(JSON.parse(bad.output()), { level: 'fatal', code: EXIT.CONFIG, msg: /--gateways: must be a whole number/ })
})
