/**
 * Promise: a deadline of an account counts whatever happens to the exchange: one that passes while it is dead counts at
 * its start. An orderly stop ends connections, and so does a kill: what was to be cancelled at their end is cancelled,
 * unless the account returns within its grace. The journal says the same to a replay.
 */
import t from 'tap'
import { verify } from '../../core/replay/verify.ts'
import { EXIT } from '../../core/threads.ts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

t.setTimeout(600_000)
const FLAGS = ['--chain', '0', '--ws-order-entry', '1']
const AFTER_MS = 2000

const openOrders = async (client: Client): Promise<string[]> =>
  (await client.ListOrders({ status: ['SUBMITTED'], pageSize: 100 })).orders.map(({ orderId }) => orderId).sort()

/** Looks until so many orders of the client rest, or too long. */
async function rests(client: Client, count: number): Promise<string[]> {
  for (let look = 0; look < 500 && (await openOrders(client)).length !== count; look++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return openOrders(client)
}

t.test('over a kill and an orderly stop', async (t) => {
  const dataDir = temporaryDirectory()
  let exchange: Exchange = await startExchange(dataDir, FLAGS)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(dataDir)
  })
  const { client, signer } = await newTrader(exchange.baseUrl, 1)
  const other = await newTrader(exchange.baseUrl, 1)
  const tradingPairId = await pairOf(client, 'SEI/USDC')
  const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '10', price: '0.1000' } as const
  for (let each = 0; each < 3; each++) await client.CreateOrder(order)
  const kept = (await other.client.CreateOrder(order)).orderId
  const { cancelAt } = await client.BatchCancelAllOrders({ afterMs: AFTER_MS })
  await exchange.kill()
  while (Date.now() < Date.parse(cancelAt!)) await new Promise((resolve) => setTimeout(resolve, 20))

  exchange = await startExchange(dataDir, FLAGS)
  const streams = { cancelOnDisconnect: true }
  const again = createClient({ baseUrl: exchange.baseUrl, signer, streams })
  t.same(await rests(again, 0), [], 'the deadline passed while nobody was there')
  const others = createClient({ baseUrl: exchange.baseUrl, signer: other.signer })
  t.same(await openOrders(others), [kept], 'it was of one account')
  await again.CreateOrder(order)
  await again.orders.CreateOrder(order)
  t.equal((await openOrders(again)).length, 2)
  t.equal(await exchange.stop(), EXIT.OK)
  again.orders.close()

  exchange = await startExchange(dataDir, FLAGS)
  const last = createClient({ baseUrl: exchange.baseUrl, signer })
  t.same(await rests(last, 0), [], 'the stop ended the connection')
  const returns = newTrader(exchange.baseUrl, 1)
  const lines = ([[signer, 0], [other.signer, 60_000]] as const).map(([signer, restartGraceMs]) =>
    createClient({ baseUrl: exchange.baseUrl, signer, streams: { cancelOnDisconnect: true, restartGraceMs } }))
  for (const line of lines) await line.orders.CreateOrder(order)
  const stays = await openOrders(lines[1]!)
  await (await returns).client.CreateOrder(order)
  await exchange.kill()
  for (const line of lines) line.orders.close()

  exchange = await startExchange(dataDir, FLAGS)
  t.same(await rests(createClient({ baseUrl: exchange.baseUrl, signer }), 0), [], 'the kill ended the connection')
  t.same(await openOrders(createClient({ baseUrl: exchange.baseUrl, signer: other.signer })), stays, 'it may return for a minute')
  t.same((await openOrders(createClient({ baseUrl: exchange.baseUrl, signer: (await returns).signer }))).length, 1, 'without the wish')
  t.equal(await exchange.stop(), EXIT.OK)
  t.ok(verify(dataDir, () => undefined).commands > 1)
})
