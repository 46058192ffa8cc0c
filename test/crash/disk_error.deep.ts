/**
 * Promise: a commit that fails ends the process with its own code, and nothing of its batch was answered.
 *
 * The real process runs under a file size limit (the write fails with EFBIG once the journal reaches it, as a full disk would make it
 * fail). Clients trade until their connections break; every order they got an answer for must be in the journal afterwards, and a start
 * without the limit must go on from there.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { EXIT } from '../../core/threads.ts'
import { verify } from '../../core/replay/verify.ts'
import { createClient } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)
const root = join(import.meta.dirname, '..', '..')
/** Blocks of 512 or 1024 bytes, as the shell counts; either way the journal outgrows it within a few thousand orders. */
const LIMIT_BLOCKS = 600

/**
 * The exchange under a file size limit. SIGXFSZ is ignored, so that the write returns an error instead of a signal; NODE_OPTIONS is
 * taken away, because through it tap loads code into child processes that dies of that signal all the same.
 */
function startLimited(directory: string): {
  child: ReturnType<typeof spawn>
  ready: Promise<number>
  ended: Promise<number | null>
  log: string[]
} {
  const command = `trap '' XFSZ; unset NODE_OPTIONS; ulimit -f ${LIMIT_BLOCKS}; exec "$0" "$@"`
  const flags = ['--data-dir', directory, '--port', '0', '--operator-port', '0', '--chain', '0', '--snapshot-every', '1000000000']
  const main = ['--disable-warning=ExperimentalWarning', join(root, 'core', 'supervisor', 'main.ts'), ...flags]
  const child = spawn('bash', ['-c', command, process.execPath, ...main], { stdio: ['ignore', 'pipe', 'pipe'] })
  const log: string[] = []
  child.stderr!.on('data', (text: Buffer) => log.push(text.toString()))
  // Behind its last line.
  const ended = new Promise<number | null>((resolve) =>
    child.on('close', (code, signal) => resolve(code ?? (log.push(String(signal)), null))),
  )
  const ready = new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      log.push(line)
      if (line.includes('"msg":"ready"')) resolve((JSON.parse(line) as { port: number }).port)
    })
    void ended.then((code) => reject(new Error(`ended with ${code}: ${log.slice(-5).join('\n')}`)))
  })
  return { child, ready, ended, log }
}

t.test('a failed commit stops the process before any answer', async (t) => {
  const directory = temporaryDirectory()
  const limited = startLimited(directory)
  t.teardown(() => {
    limited.child.kill('SIGKILL')
    removeDirectory(directory)
  })
  const baseUrl = `http://127.0.0.1:${await limited.ready}`
  const trader = await newTrader(baseUrl, 5)
  const pair = await pairOf(trader.client, 'SEI/USDC')
  const acknowledged: string[] = []
  const client = createClient({ baseUrl, signer: trader.signer, timeoutMs: 10_000 })
  const trade = async (): Promise<void> => {
    for (let i = 0; i < 5000; i++) {
      const order = {
        tradingPairId: pair,
        orderType: 'LIMIT',
        side: 'BUY',
        quantity: '10',
        price: '0.1000',
        timeInForce: i % 3 === 0 ? 'GTC' : 'IOC',
      } as const
      const { orderId } = await client.CreateOrder(order)
      if (order.timeInForce === 'GTC') acknowledged.push(orderId)
    }
  }
  await Promise.all(Array.from({ length: 4 }, () => trade().catch(() => undefined)))
  t.equal(await limited.ended, EXIT.DISK, 'its own exit code')
  t.match(limited.log.join('\n'), /CommitFailed/)
  t.strictSame(limited.log.filter((line) => !line.startsWith('{')), [], 'what native code printed is in the log')
  t.ok(limited.log.every((line) => JSON.parse(line) !== null), 'which is JSON')
  t.ok(acknowledged.length > 10, `${acknowledged.length} acknowledged orders`)
  verify(directory, () => undefined)
  const exchange = await startExchange(directory)
  t.teardown(() => exchange.kill())
  const again = createClient({ baseUrl: exchange.baseUrl, signer: trader.signer })
  const open = new Set<string>()
  for (let page = 1, pages = 1; page <= pages; page++) {
    const listed = await again.ListOrders({ status: ['SUBMITTED', 'PARTIALLY_FILLED'], page, pageSize: 100 })
    for (const order of listed.orders) open.add(order.orderId)
    pages = listed.totalPages!
  }
  t.strictSame(
    acknowledged.filter((id) => !open.has(id)),
    [],
    'every acknowledged order is open after the restart',
  )
  t.equal(await exchange.stop(), EXIT.OK)
})
