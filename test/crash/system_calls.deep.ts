/**
 * Promise: whichever call of the system fails on the journal's files, or is the last one before a kill, nothing that was acknowledged is
 * lost, the exit code is one of the README's list, and the next start serves.
 *
 * strace makes the k-th call of a thread fail while people trade: of the matcher that is one in the middle of a commit. `--seed` chooses k,
 * `--rounds` how often each case is done. Skipped where there is no strace, or no right to trace.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { dataFile, journalPath, lockFile } from '../../core/journal/file.ts'
import { headPath } from '../../core/journal/head_file.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { verify } from '../../core/replay/verify.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, StartFailed, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { reasonToSkip } from '../support/strace.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const SEED = seedOf(5)
t.setTimeout(0)
t.comment(`again: npm run test:deep -- test/crash/system_calls.deep.ts --seed ${SEED}`)
const FLAGS = ['--chain', '0', '--grpc-thread', '0', '--gateways', '1']
const KILLED = 137
/** Calls of a thread before the one that fails, at most; orders after which it must have come. */
const CALLS = 40
const ORDERS = 3_000
const random = createPrng(SEED)

/** What is injected (strace's words), and how the exchange ends; `null`: it goes on. */
const CASES: readonly [call: string, what: string, code: number | null][] = [
  ['fdatasync', 'error=EIO', EXIT.DISK],
  ['fdatasync', 'error=ENOSPC', EXIT.DISK],
  ['pwrite64', 'error=EIO', EXIT.DISK],
  ['pwrite64', 'error=ENOSPC', EXIT.DISK],
  ['writev', 'error=EIO', EXIT.DISK],
  ['writev', 'error=ENOSPC', EXIT.DISK],
  ['writev', 'retval=100', EXIT.DISK],
  ['lseek', 'error=EIO', EXIT.DISK],
  ['pwrite64', 'signal=SIGKILL', KILLED],
  ['writev', 'signal=SIGKILL', KILLED],
  ['fdatasync', 'signal=SIGKILL', KILLED],
  // Of the thread that makes room ahead, which no commit needs.
  ['write', 'error=ENOSPC', null],
]

/** Attaches strace to every thread of the exchange; resolves when it traces. */
async function inject({ pid, dataDir }: Exchange, call: string, what: string, when: number): Promise<ChildProcess> {
  const files = ['-P', dataFile(dataDir), '-P', headPath(dataDir)]
  const child = spawn('strace', ['-f', '-p', String(pid), ...files, '-e', `trace=${call}`, '-e', `inject=${call}:${what}:when=${when}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    child.stderr!.on('data', (text: Buffer) => text.toString().includes('attached') && resolve())
    child.on('exit', (code) => reject(new Error(`strace ended with ${code}`)))
  })
  return child
}

const ordersOf = async (client: Client): Promise<string[]> => {
  const open: string[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const listed = await client.ListOrders({ status: ['SUBMITTED', 'PARTIALLY_FILLED'], page, pageSize: 100 })
    open.push(...listed.orders.map(({ orderId }) => orderId))
    pages = listed.totalPages!
  }
  return open
}

/** Places orders until one fails or there are enough; those that were acknowledged. */
async function trade(client: Client, enough: () => boolean): Promise<string[]> {
  const acknowledged: string[] = []
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  const one = async (): Promise<void> => {
    while (acknowledged.length < ORDERS && !enough()) {
      const timeInForce = acknowledged.length % 8 === 0 ? 'GTC' : 'IOC'
      const { orderId } = await client.CreateOrder({ ...order, timeInForce })
      if (timeInForce === 'GTC') acknowledged.push(orderId)
    }
  }
  await Promise.all(Array.from({ length: 4 }, () => one().catch(() => undefined)))
  return acknowledged
}

/** One case; the exchange that was started afterwards. */
async function suffer(
  t: Test, exchange: Exchange, { signer }: Trader, [call, what, code]: (typeof CASES)[number],
): Promise<Exchange> {
  const when = code === null ? 1 : 1 + random.below(CALLS)
  const client = createClient({ baseUrl: exchange.baseUrl, signer, timeoutMs: 10_000 })
  await client.BatchCancelAllOrders({})
  const strace = await inject(exchange, call, what, when)
  const said = (): boolean => exchange.log.some(({ msg }) => /room is made ahead of the journal again/.test(String(msg)))
  const acknowledged = await trade(client, code === null ? said : () => false)
  if (code === null) {
    strace.kill('SIGINT')
    await once(strace, 'exit')
    const log = exchange.log.slice(-3)
    t.ok(said(), 'room could not be made, and was later', { log })
    t.equal(await exchange.stop(), EXIT.OK, 'it went on', { log })
  } else {
    const ended = await exchange.ended
    // A write that fails damages memory in LMDB's binding (core/README), and the process may end of that before it says why.
    const isAborted = code === EXIT.DISK && exchange.log.some(({ signal }) => signal === 'SIGABRT')
    t.equal(ended, isAborted ? EXIT.JOURNAL : code, `${call} number ${when}: exit code ${code}`)
  }
  const next = await startExchange(exchange.dataDir, FLAGS)
  const open = new Set(await ordersOf(createClient({ baseUrl: next.baseUrl, signer, timeoutMs: 10_000 })))
  t.same(acknowledged.filter((id) => !open.has(id)), [], `none of ${acknowledged.length} acknowledged orders is lost`)
  return next
}

const skip = reasonToSkip()

t.test('calls that fail under load', { skip }, async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  let exchange = await startExchange(dataDir, FLAGS)
  t.teardown(() => exchange.kill())
  const trader = await newTrader(exchange.baseUrl, 5)
  for (const _round of eachRound(t, { short: 1, deep: 3 })) {
    for (const each of CASES) {
      await t.test(`${each[0]}: ${each[1]}`, async (t) => {
        exchange = await suffer(t, exchange, trader, each)
      })
    }
  }
  t.equal(await exchange.stop(), EXIT.OK)
  verify(dataDir, () => undefined)
})

// LMDB sets the length of a file only when it makes its lock file, and where it cannot its binding dies: the supervisor has the words.
for (const error of ['EIO', 'ENOSPC']) {
  t.test(`a first start that cannot make its files: ${error}`, { skip }, async (t) => {
    const dataDir = temporaryDirectory()
    t.teardown(() => removeDirectory(dataDir))
    mkdirSync(journalPath(dataDir))
    const before = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', lockFile(dataDir), '-e', 'trace=ftruncate',
      '-e', `inject=ftruncate:error=${error}`]
    const failed = await startExchange(dataDir, FLAGS, {}, before).then((one) => one.kill(), (thrown: unknown) => thrown as StartFailed)
    t.match(failed, { name: 'StartFailed', code: EXIT.JOURNAL })
    t.match(failed?.log.at(-1), { level: 'fatal', code: EXIT.JOURNAL, msg: /ended by SIGSEGV: native code failed/ })
    const next = await startExchange(dataDir, FLAGS)
    t.equal(await next.stop(), EXIT.OK, 'the next start serves')
  })
}
