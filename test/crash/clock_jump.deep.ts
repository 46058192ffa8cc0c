/**
 * Promise: a wall clock that is set a year forward for a moment ends no order and no session and leaves sequenced time where it was. A
 * start with such a clock trades without timers and says so, until the operator accepts the clock; only then does what is due end.
 *
 * The real process under Debian's libfaketime, which reads the wall clock's distance from a file; the monotonic clock stays real.
 */
import { existsSync, globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verify } from '../../core/replay/verify.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { lacks } from '../suite/packages.ts'
import { operate, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)
const library = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1').find((path) => existsSync(path))
/** Longer than an order lives. */
const FAR = '+400d'

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < 1_000; look++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`not so: ${what}`)
}

async function metric({ operatorPort }: Exchange, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
}
/** Requests that were refused as the client's fault. */
async function refusals({ operatorPort }: Exchange): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).text()
  return [...text.matchAll(/^exchange_responses_total\{.*class="4xx".*\} (\S+)/gm)].reduce((sum, [, each]) => sum + Number(each), 0)
}
const asked = async ({ operatorPort }: Exchange, path: string): Promise<unknown> =>
  (await fetch(`http://127.0.0.1:${operatorPort}${path}`)).json()
const codeOf = (call: Promise<unknown>): Promise<unknown> => call.then(() => 'done', (error: { code?: string }) => error.code)
const openOrders = async (client: Client): Promise<string[]> =>
  (await client.ListOrders({ status: ['SUBMITTED'], pageSize: 100 })).orders.map(({ orderId }) => orderId).sort()

t.test('a year forward', { skip: library === undefined ? lacks(['libfaketime'], 'its library is not here') : false }, async (t) => {
  const dataDir = temporaryDirectory()
  const file = join(dataDir, 'wall')
  const wall = (distance: string): void => writeFileSync(file, `${distance}\n`)
  const environment = {
    LD_PRELOAD: library!, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1',
  }
  wall('+0d')
  let exchange = await startExchange(dataDir, ['--chain', '0'], environment)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(dataDir)
  })
  const { client, signer } = await newTrader(exchange.baseUrl, 1)
  const pair = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId: pair, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  const resting: string[] = []
  for (let i = 0; i < 3; i++) resting.push((await client.CreateOrder(order)).orderId)

  wall(FAR)
  await until('the jump is counted', async () => (await metric(exchange, 'exchange_clock_jumps_total')) >= 1)
  const before = await refusals(exchange)
  t.equal(await codeOf(client.GetProfile({})), 'done', 'the client measures the clock and signs anew')
  t.ok(await refusals(exchange) > before, 'because freshness is judged by the wall clock')
  wall('+0d')
  await until('the way back too', async () => (await metric(exchange, 'exchange_clock_jumps_total')) >= 2)
  resting.push((await client.CreateOrder(order)).orderId)
  t.same(await openOrders(client), [...resting].sort(), 'no order ended, the session is good')
  const ahead = (await metric(exchange, 'exchange_sequenced_timestamp_seconds')) - Date.now() / 1000
  t.ok(Math.abs(ahead) < 600, 'sequenced time is where it was')
  t.equal(exchange.log.filter(({ msg }) => /wall clock jumped/.test(String(msg))).length, 1)
  t.match(await asked(exchange, '/ready'), { ready: true, degraded: [] })
  t.equal(await exchange.stop(), EXIT.OK)

  wall(FAR)
  exchange = await startExchange(dataDir, ['--chain', '0'], environment)
  t.equal(exchange.log.filter(({ msg }) => /timers rest/.test(String(msg))).length, 1)
  t.match(await asked(exchange, '/ready'), { ready: true, degraded: ['CLOCK_WAITS'] })
  const again = createClient({ baseUrl: exchange.baseUrl, signer })
  await again.syncClock()
  resting.push((await again.CreateOrder(order)).orderId)
  t.equal(await codeOf(again.CancelOrder({ orderId: resting.shift()! })), 'done')
  t.same(await openOrders(again), [...resting].sort(), 'it trades, and nothing ended')
  t.equal(await metric(exchange, 'exchange_timers_total'), 0)
  const accepted = await operate(exchange, '/clock/accept', {})
  t.equal(accepted.status, 200)
  t.match(accepted.json, { waits: false, behindMs: Number })
  await until('what is due ends', async () => (await metric(exchange, 'exchange_live_orders')) === 0)
  t.equal(await codeOf(again.GetProfile({})), 'SESSION_INVALID')
  t.match(await asked(exchange, '/ready'), { degraded: [] })
  t.equal(await exchange.stop(), EXIT.OK)
  verify(dataDir, () => undefined)
})
