/**
 * Promise: a thread that throws what nobody catches ends the exchange in order. A gateway: exit code 6; the matcher: exit code 5. The last
 * line of the log is fatal and names the thread and the error; nothing that was acknowledged is lost, what the matcher committed and did
 * not answer is there once, and the next start serves.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { EXIT } from '../../core/threads.ts'
import { createClient, type RingbookError } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf, type Trader } from '../support/traders.ts'

t.setTimeout(600_000)
const PRELOADED = pathToFileURL(join(import.meta.dirname, '..', 'support', 'throwing_thread.ts')).href
const FLAGS = ['--gateways', '2', '--chain', '0', '--grpc-thread', '0']
const directory = temporaryDirectory()
let trader: Trader
let pair = ''
let acknowledged: string[] = []

/** An exchange one of whose threads throws when the file is written. */
function startThrowing(thread: string, file: string): Promise<Exchange> {
  const NODE_OPTIONS = `--disable-warning=ExperimentalWarning --import=${PRELOADED}`
  return startExchange(directory, FLAGS, { NODE_OPTIONS, THROW_IN: thread, THROW_FILE: file })
}

const place = ({ baseUrl }: Exchange): Promise<string> =>
  createClient({ baseUrl, signer: trader.signer, timeoutMs: 20_000 })
    .CreateOrder({ tradingPairId: pair, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' })
    .then(({ orderId }) => orderId)

async function openOrders({ baseUrl }: Exchange): Promise<string[]> {
  const { orders } = await createClient({ baseUrl, signer: trader.signer }).ListOrders({ status: ['SUBMITTED'], pageSize: 100 })
  return orders.map(({ orderId }) => orderId)
}

/** The fatal line is the last that the exchange wrote, and the only one. */
function fatal(t: Test, { log }: Exchange, code: number, message: RegExp): void {
  const fatals = log.filter(({ level }) => level === 'fatal')
  t.match(fatals, [{ code, msg: message }], 'one line says what ended it')
  t.equal(log.at(-1), fatals[0], 'and it is the last')
}

t.teardown(() => removeDirectory(directory))

t.test('a gateway throws', async (t) => {
  const file = join(directory, 'throw_gateway')
  const exchange = await startThrowing('gateway', file)
  t.teardown(() => exchange.kill())
  trader = await newTrader(exchange.baseUrl, 5)
  pair = await pairOf(trader.client, 'SEI/USDC')
  for (let order = 0; order < 5; order++) acknowledged = [...acknowledged, await place(exchange)]
  writeFileSync(file, '')
  t.equal(await exchange.ended, EXIT.THREAD)
  fatal(t, exchange, EXIT.THREAD, /^gateway 1: .*Error: planted/)
})

t.test('the matcher throws', async (t) => {
  const file = join(directory, 'throw_matcher')
  const exchange = await startThrowing('matcher', file)
  t.teardown(() => exchange.kill())
  t.strictSame((await openOrders(exchange)).sort(), [...acknowledged].sort(), 'nothing was lost with the gateway')
  acknowledged = [...acknowledged, await place(exchange)]
  writeFileSync(file, '')
  const error = await place(exchange).then(() => null, (thrown: RingbookError) => thrown)
  t.ok(error !== null && (error.status === undefined || error.status >= 500), `not acknowledged: ${String(error)}`)
  t.equal(await exchange.ended, EXIT.INVARIANT)
  fatal(t, exchange, EXIT.INVARIANT, /^matcher: Error: planted/)
})

t.test('the next start serves', async (t) => {
  const exchange = await startExchange(directory, FLAGS)
  t.teardown(() => exchange.kill())
  const open = await openOrders(exchange)
  t.strictSame(acknowledged.filter((id) => !open.includes(id)), [], 'nothing was lost with the matcher')
  t.equal(open.length, acknowledged.length + 1, 'what it had committed is there, once')
  t.ok(await place(exchange))
  t.equal(await exchange.stop(), EXIT.OK)
})
