/**
 * Promise: what is done to the journal's file under a running exchange is noticed. Removed: nothing more is recorded, so nothing is
 * acknowledged that is gone at the end, and the file can still be saved as the log says. Cut: a read of a page that is missing ends the
 * process by a real SIGBUS inside LMDB, which is a log line and exit code 3, for the scrub an alarm; what was acknowledged is in what was
 * on the disk. No zeros take the place of missing pages.
 */
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startFollower } from '../../core/supervisor/follower.ts'
import { dataFile, journalPath, openJournal } from '../../core/journal/file.ts'
import { makeRoom } from '../../core/journal/room.ts'
import { startScrub } from '../../core/journal/scrub_process.ts'
import { createWriter } from '../../core/journal/writer.ts'
import { verify } from '../../core/replay/verify.ts'
import { countersBytes, SCRUB, scrubCounters } from '../../core/ring/counters.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, type Client, type RingbookError } from '../../gateway/client/index.ts'
import { logged, removeDirectory, startExchange, StartFailed, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'

t.setTimeout(900_000)
const FLAGS = ['--chain', '0', '--grpc-thread', '0', '--gateways', '1']
/** The meta pages stay: everything else of the journal is cut away. */
const METAS = 8192
const root = join(import.meta.dirname, '..', '..')

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 3_000; look++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`not so: ${what}`)
}

const order = { orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
const place = async (client: Client): Promise<string> =>
  (await client.CreateOrder({ ...order, tradingPairId: await pairOf(client, 'SEI/USDC') })).orderId
const codeOf = (call: Promise<unknown>): Promise<unknown> => call.then(() => 'done', (error: RingbookError) => error.code)

t.test('under a running exchange', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const first = await startExchange(directory, FLAGS)
  t.teardown(() => first.kill())
  const trader = await newTrader(first.baseUrl, 1)
  const acknowledged = [await place(trader.client)]
  const second = await removed(t, first, trader, acknowledged)
  await cut(t, second, trader, acknowledged)
})

/** Removes the file and saves it as the log says; an exchange that was started on what was saved. */
async function removed(t: Test, exchange: Exchange, trader: Trader, acknowledged: string[]): Promise<Exchange> {
  const { dataDir, operatorPort, log } = exchange
  const gone = /data\.mdb was removed or replaced/
  const ready = async (): Promise<string[]> =>
    ((await (await fetch(`http://127.0.0.1:${operatorPort}/ready`)).json()) as { degraded: string[] }).degraded
  rmSync(dataFile(dataDir))
  await until('it is noticed', async () => (await ready()).includes('JOURNAL_GONE'))
  t.equal(await codeOf(place(trader.client)), 'DISK_RESERVE', 'no new orders')
  t.equal(await codeOf(trader.client.CancelOrder({ orderId: acknowledged[0]! })), 'DISK_FULL', 'nothing that would be lost')
  t.equal(await codeOf(trader.client.ListBalances({})), 'done', 'reads go on')
  t.notOk(existsSync(dataFile(dataDir)), 'no other file takes its place')
  await logged(exchange, gone)
  const said = log.filter(({ msg }) => gone.test(String(msg)))
  t.equal(said.length, 1, 'said once')
  const [, from] = /"cp (\/proc\/\d+\/fd\/\d+) /.exec(String(said[0]!['msg']))!
  copyFileSync(from!, dataFile(dataDir))
  t.ok((await ready()).includes('JOURNAL_GONE'), 'a copy is not the file that is written')
  t.equal(await exchange.stop(), EXIT.JOURNAL, 'a stop says it once more')
  const next = await startExchange(dataDir, FLAGS)
  t.teardown(() => next.kill())
  const again = createClient({ baseUrl: next.baseUrl, signer: trader.signer })
  t.equal((await again.GetOrder({ orderId: acknowledged[0]! })).orderId, acknowledged[0], 'nothing was lost')
  return next
}

/** Cuts the file while people trade. */
async function cut(t: Test, exchange: Exchange, { signer }: Trader, acknowledged: string[]): Promise<void> {
  const { dataDir, baseUrl } = exchange
  const client = createClient({ baseUrl, signer, timeoutMs: 10_000 })
  acknowledged.push(await place(client))
  const whole = join(dataDir, 'whole.mdb')
  copyFileSync(dataFile(dataDir), whole)
  truncateSync(dataFile(dataDir), METAS)
  await Promise.all(Array.from({ length: 8 }, () => place(client).then((id) => acknowledged.push(id), () => undefined)))
  t.equal(await exchange.ended, EXIT.JOURNAL)
  t.match(exchange.log.filter(({ level }) => level === 'fatal').map(({ msg }) => String(msg)).join(),
    /SIGBUS: a page of a mapped file could not be read.*journal -- scrub|was cut while the exchange ran/, 'it says why')
  t.comment(exchange.log.map(({ signal }) => signal).filter((signal) => signal !== undefined).join())
  const refused = await startExchange(dataDir, FLAGS).then((next) => next.kill(), (error: StartFailed) => error)
  t.match(refused, { code: EXIT.JOURNAL }, 'it is not started on')
  copyFileSync(whole, dataFile(dataDir))
  const next = await startExchange(dataDir, FLAGS)
  t.teardown(() => next.kill())
  const again = createClient({ baseUrl: next.baseUrl, signer })
  for (const orderId of acknowledged) t.equal((await again.GetOrder({ orderId })).orderId, orderId, 'what was acknowledged was on the disk')
  t.equal(await next.stop(), EXIT.OK)
  verify(dataDir, () => undefined)
}

/** A journal of 10 MB that nobody can replay: the scrub applies nothing. */
async function largeJournal(t: Test): Promise<string> {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  mkdirSync(journalPath(directory))
  const database = openJournal(directory, false, 1)
  const writer = createWriter(database, 2048)
  for (let batch = 0; batch < 40; batch++) writer.commit(1 + batch * 2048, 1, 2048, 2048, 0)
  writer.close()
  await database.close()
  return directory
}

t.test('SIGBUS of the scrub while the exchange runs is an alarm', async (t) => {
  const dataDir = await largeJournal(t)
  const counters = scrubCounters(new SharedArrayBuffer(countersBytes(1)))
  const damaged: unknown[] = []
  const words: string[] = []
  const ignore = (): void => undefined
  const hooks = {
    started: ignore, killed: ignore,
    ended: ignore,
    heard: (message: { type: string; message?: string }) => void words.push(message.message ?? ''),
    damaged: (signal: string, position: number) => void damaged.push([signal, position]),
  }
  const scrub = startScrub({ dataDir, scrubMbPerSecond: 1, followerSilenceSeconds: 30 }, counters, hooks, 0)
  await until('it reads', () => counters[SCRUB.position]! > 0)
  truncateSync(dataFile(dataDir), METAS)
  await until('it is an alarm', () => damaged.length > 0)
  t.match(damaged, [['SIGBUS', Number]])
  t.ok(counters[SCRUB.damaged]! >= 1, 'a place that is damaged')
  await until('the next one is refused the file', () => words.some((each) => each.includes('truncated')))
  await scrub.finish()
})

t.test('SIGBUS of npm run journal -- scrub is a verdict', async (t) => {
  const dataDir = await largeJournal(t)
  const main = join(root, 'core', 'journal', 'main.ts')
  // Held by the kernel while the file is cut, so that it reads behind the cut for certain.
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'scrub', '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_OPTIONS: `--import ${CUT_WHEN_OPEN}`, CUT: dataFile(dataDir) },
  })
  let out = ''
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  const code = await new Promise((resolve) => child.on('close', resolve))
  t.equal(code, EXIT.JOURNAL)
  t.match(JSON.parse(out), { verdict: 'DAMAGED', damaged: 1, faults: [/reading ended by SIGBUS behind sequence \d+: a page/] })
})

/** Loaded into the child that reads: cuts the file between two slices. */
const CUT_WHEN_OPEN = `data:text/javascript,${encodeURIComponent(`
  import { truncateSync } from 'node:fs'
  const { send } = process
  if (process.argv[2] === '--reads') process.send = (...words) => (truncateSync(process.env.CUT, ${METAS}), send.apply(process, words))
`)}`

t.test('SIGBUS of a follower: it is said, and the next one is refused the file', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const { database } = makeJournal(dataDir, { seed: 2 })
  await database.close()
  mkdirSync(join(dataDir, 'snapshots'), { recursive: true })
  const ends: unknown[] = []
  const said: { type: string; message?: string }[] = []
  const follower = startFollower(join(root, 'core', 'snapshot', 'follower.ts'), [dataDir, '1000', '3'], 30, {
    heard: (message) => said.push(message as { type: string }),
    started: () => undefined, killed: () => undefined, silence: () => undefined,
    ended: (code, signal) => void ends.push(signal ?? code),
  })
  await until('it follows', () => said.some(({ type }) => type === 'beat'))
  truncateSync(dataFile(dataDir), METAS)
  await until('it ended, twice', () => ends.length > 1)
  t.same(ends.slice(0, 2), ['SIGBUS', 1])
  t.match(said.map(({ message }) => message).join(), /truncated/)
  await follower.finish()
})

t.test('no room is made in a file that was cut or removed', async (t) => {
  const dataDir = await largeJournal(t)
  truncateSync(dataFile(dataDir), 100 * 4096)
  await t.rejects(makeRoom(dataDir), /the journal file was cut/)
  t.equal(statSync(dataFile(dataDir)).size, 100 * 4096)
  rmSync(dataFile(dataDir))
  await t.rejects(makeRoom(dataDir), /ENOENT/)
  t.notOk(existsSync(dataFile(dataDir)))
})
