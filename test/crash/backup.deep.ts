/**
 * Promise: a backup made while people trade is whole: restored, it comes to the very state that the journal had at its sequence, holds
 * everything that was acknowledged before it was begun, starts, and is traded on. One that was killed passes for nothing. A plain copy of
 * a running directory is refused or whole, never short.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClient } from '../../gateway/client/index.ts'
import { openJournal } from '../../core/journal/file.ts'
import { catchUp, fromGenesis } from '../../core/recovery/recover.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { historyReached, removeDirectory, startExchange, StartFailed, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const BACKUPS = 2
const COPIES = 2
t.setTimeout(900_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm run test:deep -- test/crash/backup.deep.ts`)
const random = createPrng(SEED)
const root = temporaryDirectory()
const directory = join(root, 'data')
mkdirSync(directory)
const FLAGS = ['--gateways', '1', '--snapshot-every', '300', '--vault', '1']
const operator = join(import.meta.dirname, '..', '..', 'gateway', 'operator', 'main.ts')
const program = join(import.meta.dirname, '..', '..', 'core', 'backup', 'main.ts')

let exchange: Exchange = await startExchange(directory, FLAGS)
let trading = true
t.teardown(async () => {
  trading = false
  await exchange.kill()
  removeDirectory(root)
})
const traders = [await newTrader(exchange.baseUrl, 3), await newTrader(exchange.baseUrl, 3)]
const tradingPairId = await pairOf(traders[0]!.client, 'SEI/USDC')

/** Acknowledged placements, in order. */
const acknowledged: string[] = []
async function trade(trader: Trader, times = Infinity): Promise<void> {
  const client = createClient({ baseUrl: exchange.baseUrl, signer: trader.signer, timeoutMs: 20_000 })
  for (let order = 0; trading && order < times; order++) {
    const side = random.below(2) === 0 ? 'BUY' : 'SELL'
    const price = (0.3 + (side === 'BUY' ? -1 : 1) * (random.below(6) - 2) * 0.0005).toFixed(4)
    try {
      acknowledged.push((await client.CreateOrder({ tradingPairId, orderType: 'LIMIT', side, quantity: '10', price })).orderId)
    } catch (error) {
      if ((error as { status?: number }).status === undefined) return
    }
  }
}
const sequenceOf = async (one: Exchange): Promise<number> =>
  ((await (await fetch(`${one.baseUrl}/api/v1/health`)).json()) as { sequence: number }).sequence

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}
function operate(...words: string[]): Promise<Ran> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', operator, ...words])
  let [out, err] = ['', '']
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  child.stderr.on('data', (text: Buffer) => (err += text.toString()))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })))
}
const backup = (to: string, ...more: string[]): Promise<Ran> => operate('backup', to, '--data-dir', directory, '--json', ...more)

/** Digest of the state that a journal has after `sequence`. */
async function digestAt(dataDir: string, sequence: number): Promise<string> {
  const journal = openJournal(dataDir, true)
  const { replayer } = fromGenesis(journal)
  catchUp(journal, replayer, sequence, () => 0, () => undefined)
  await journal.close()
  return stateDigest(replayer.state)
}

t.test('backups under load', async (t) => {
  const loads = traders.map((trader) => trade(trader))
  while (acknowledged.length < 200) await new Promise((resolve) => setTimeout(resolve, 20))
  for (let number = 0; number < BACKUPS; number++) {
    const to = join(root, `backup${number}`)
    const before = acknowledged.length
    const floor = await sequenceOf(exchange)
    const { code, out, err } = await backup(to, ...(number === 1 ? ['--without-history', '--full'] : []))
    t.equal(code, 0, `backup ${number}: ${err.slice(-300)}`)
    const made = JSON.parse(out) as { sequence: number; history: number | null }
    t.ok(acknowledged.length > before, `traded meanwhile: ${acknowledged.length - before} orders`)
    t.ok(made.sequence >= floor, `it has what was acknowledged when it was begun: ${made.sequence}, ${floor}`)
    t.equal(made.history === null, number === 1, `history: ${made.history}`)
    t.equal(statSync(to).mode & 0o777, 0o700, 'for its owner only')
    const open = readdirSync(to, { recursive: true }).filter((name) => (statSync(join(to, String(name))).mode & 0o077) !== 0)
    t.strictSame(open, [], 'and every file in it')
  }
  trading = false
  await Promise.all(loads)
})

for (let number = 0; number < BACKUPS; number++) {
  t.test(`backup ${number} restored`, (t) => restored(t, join(root, `backup${number}`), join(root, `restored${number}`)))
}

async function restored(t: Test, from: string, to: string): Promise<void> {
  const { code, out, err } = await operate('restore', from, to, '--json')
  t.equal(code, 0, err.slice(-300))
  const { sequence, digest } = JSON.parse(out) as { sequence: number; digest: string }
  t.equal(digest, await digestAt(directory, sequence), `the state of the journal at ${sequence}`)
  t.match(await operate('restore', from, to), { code: 1, err: /not empty/ }, 'not twice into one directory')
  const running = exchange
  exchange = await startExchange(to, FLAGS)
  try {
    t.ok((await sequenceOf(exchange)) >= sequence, 'it starts where the backup ended')
    trading = true
    await trade(traders[0]!, 20)
    trading = false
    await historyReached(exchange)
    const client = createClient({ baseUrl: exchange.baseUrl, signer: traders[0]!.signer, timeoutMs: 20_000 })
    t.equal((await client.GetOrder({ orderId: acknowledged.at(-1)! })).id, acknowledged.at(-1), 'traded on, and recorded')
    t.equal(await exchange.stop(), 0)
  } finally {
    await exchange.kill()
    exchange = running
  }
}

t.test('a backup that is killed passes for nothing', async (t) => {
  const flags = ['--disable-warning=ExperimentalWarning', program, 'backup', directory]
  for (const [number, word] of ['snapshot', 'every batch'].entries()) {
    const to = join(root, `killed${number}`)
    const child: ChildProcess = spawn(process.execPath, [...flags, to, '--rate', '1000'])
    await new Promise<void>((resolve) => {
      child.stderr!.on('data', (text: Buffer) => {
        if (text.toString().includes(word)) child.kill('SIGKILL')
      })
      child.on('close', () => resolve())
    })
    t.notOk(existsSync(to), `killed at "${word}": it has no name`)
    t.match(await operate('restore', `${to}.unfinished`, join(root, 'never')), { code: 1, err: /not finished/ }, 'and is not restored')
    const started = await startExchange(`${to}.unfinished`, FLAGS).then((one) => one.kill(), (error: StartFailed) => error)
    t.match(started, { code: 2 }, 'nor run on')
    t.equal((await backup(to)).code, 0, 'the next one is made all the same')
  }
  const started = await startExchange(join(root, 'killed0'), FLAGS).then((one) => one.kill(), (error: StartFailed) => error)
  t.match(started, { code: 2 }, 'a whole backup is not run on')
})

t.test('what cannot be backed up or restored is said', async (t) => {
  const whole = join(root, 'killed0')
  t.match(await backup(whole), { code: 1, err: /not empty/ }, 'over another backup')
  t.match(await backup(join(directory, 'inside')), { code: 1, err: /does not go into its data directory/ })
  t.match(await operate('backup', join(root, 'none'), '--data-dir', root), { code: 1, err: /no data directory/ })
  t.match(await operate('restore', root, join(root, 'never')), { code: 1, err: /no backup/ })
  t.match(await backup(join(root, 'fast'), '--rate', 'x'), { code: 2, err: /--rate/ })
  const spoiled = join(root, 'spoiled')
  for (const name of ['history.sqlite', 'operator.token', 'vault.key', 'vault.json', 'chain.sqlite', join('journal', 'data.mdb')]) {
    rmSync(spoiled, { recursive: true, force: true })
    cpSync(whole, spoiled, { recursive: true })
    const bytes = readFileSync(join(spoiled, name))
    bytes[random.below(bytes.length)]! ^= 1
    writeFileSync(join(spoiled, name), bytes)
    const to = join(root, `from-spoiled-${name.replace(/\W/g, '-')}`)
    t.match(await operate('restore', spoiled, to), { code: 1, err: /not what was written/ }, `one bit of ${name}`)
    const started = await startExchange(to, FLAGS).then((one) => one.kill(), (error: StartFailed) => error)
    t.match(started, { code: 2 }, 'what was restored in part is not run on')
  }
})

t.test('a plain copy of a running directory is refused or whole', async (t) => {
  trading = true
  const loads = traders.map((trader) => trade(trader))
  for (let number = 0; number < COPIES; number++) {
    const goal = acknowledged.length + 20
    while (acknowledged.length < goal) await new Promise((resolve) => setTimeout(resolve, 10))
    const floor = await sequenceOf(exchange)
    const copy = join(root, `copy${number}`)
    spawnSync('cp', ['-r', directory, copy])
    try {
      const one = await startExchange(copy, FLAGS)
      const reached = await sequenceOf(one)
      await one.kill()
      t.ok(reached >= floor, `copy ${number} is whole: ${reached}, ${floor} when it was begun`)
    } catch (error) {
      t.match(error, { name: 'StartFailed', code: 3 }, `copy ${number} is refused: ${(error as Error).message.slice(0, 300)}`)
    }
  }
  await torn(t)
  trading = false
  await Promise.all(loads)
})

/** What such a copy is when people trade between one file and the next, or between two parts of one: as cp reads, in order. */
async function torn(t: Test): Promise<void> {
  const more = async (): Promise<void> => {
    const goal = acknowledged.length + 20
    while (acknowledged.length < goal) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const data = join('journal', 'data.mdb')
  const copies: [name: string, spoil: (copy: string) => void, words: RegExp][] = [
    ['data.mdb before its head', (copy) => {
      cpSync(join(directory, 'journal', 'head'), join(copy, 'journal', 'head'))
    }, /older than journal\/head/],
    ['the end of data.mdb before its header', (copy) => {
      const [was, now] = [readFileSync(join(copy, data)), readFileSync(join(directory, data))]
      writeFileSync(join(copy, data), Buffer.concat([now.subarray(0, 8192), was.subarray(8192, 5 * 4096)]))
    }, /the journal file is truncated/],
  ]
  for (const [name, spoil, words] of copies) {
    const copy = join(root, name.replaceAll(/\W/g, '_'))
    spawnSync('cp', ['-r', directory, copy])
    await more()
    spoil(copy)
    const error = await startExchange(copy, FLAGS).then((one) => one.kill(), (thrown: StartFailed) => thrown)
    t.match(error, { name: 'StartFailed', code: 3 }, `${name}: refused`)
    const said = String((error as StartFailed).log.at(-1)?.['msg'])
    t.match(said, words)
    t.match(said, /if this is a plain copy of a running directory, make one with "npm run operator -- backup"/, 'and what to do instead')
  }
}

t.test('the exchange tells of its last backup', async (t) => {
  const last = JSON.parse(readFileSync(join(directory, 'last_backup.json'), 'utf8')) as { time: string; sequence: number }
  const metric = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\S+)`, 'm').exec(await (await fetch(`http://127.0.0.1:${exchange.operatorPort}/metrics`)).text())![1])
  while ((await metric('exchange_last_backup_sequence')) !== last.sequence) await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(Math.round((await metric('exchange_last_backup_timestamp_seconds')) * 1000), Date.parse(last.time))
})
