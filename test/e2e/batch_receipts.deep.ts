/**
 * Promise: a batch repeated with its keys after a kill gets, item by item, the answers it had, and nothing runs twice; so do single
 * orders and replacements.
 */
import t from 'tap'
import { createClient } from '../../gateway/client/index.ts'
import { removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { newTrader, pairOf } from '../support/traders.ts'

const directory = temporaryDirectory()
let exchange: Exchange = await startExchange(directory)
t.teardown(async () => {
  await exchange.stop()
  removeDirectory(directory)
})

t.test('receipts of batches outlive the process', async (t) => {
  const before = await newTrader(exchange.baseUrl)
  const maker = await newTrader(exchange.baseUrl)
  const pair = await pairOf(before.client, 'BTC/USDC')
  const order = (side: 'BUY' | 'SELL', quantity: string, price: string, key?: string) =>
    ({ tradingPairId: pair, orderType: 'LIMIT' as const, side, quantity, price, ...(key === undefined ? {} : { idempotencyKey: key }) })
  await maker.client.BatchCreateOrders({ orders: [order('SELL', '0.02', '100'), order('SELL', '0.01', '101')] })
  const orders = [
    order('BUY', '0.025', '102', 'takes'), order('BUY', '0.02', '90', 'rests'), order('BUY', '900', '90', 'too much'),
    order('BUY', '0.02', '91', 'is replaced'),
  ]
  const made = await before.client.BatchCreateOrders({ orders })
  t.match(made, { totalSucceeded: 3, results: [{ matchResult: { tradesCount: 2, status: 'FILLED', averageFillPrice: '100.2' } }] })
  const replacement = { orders: [{ orderId: made.results[3]!.orderId!, price: '92', idempotencyKey: 'replacement' }] }
  const replaced = await before.client.BatchReplaceOrders(replacement)
  const cancelled = await before.client.BatchCancelOrders({ orderIds: [made.results[1]!.orderId!] })
  t.match(cancelled, { totalSucceeded: 1, results: [{ orderId: made.results[1]!.orderId! }] })

  await exchange.kill()
  exchange = await startExchange(directory)
  const client = createClient({ baseUrl: exchange.baseUrl, signer: before.signer })
  const balances = await client.ListBalances()
  // The refused item runs again, and its message says what is available now.
  const { error } = made.results[2]!
  const again = await client.BatchCreateOrders({ orders })
  t.equal(again.results[2]!.error?.code, error!.code)
  again.results[2] = made.results[2]!
  t.same(again, made, 'the whole batch, although one of its orders was cancelled since')
  t.same(await client.BatchReplaceOrders(replacement), replaced)
  const { orderId, matchResult, sequence, engineTime } = await client.CreateOrder(orders[0]!)
  t.same({ orderId, matchResult, sequence, engineTime }, made.results[0], 'an item of a batch and a single order share their keys')
  const asked = await client.CreateOrder({ ...orders[0]!, returnFills: true })
  t.same(asked.matchResult, matchResult, 'the event ring of before is gone: totals as ever, and no fills')
  t.match(matchResult, { totalFilledQuote: '2.505', totalFee: '0.001253' })
  await t.rejects(client.CreateOrder({ ...orders[0]!, quantity: '0.03' }), { code: 'IDEMPOTENCY_KEY_CONFLICT', status: 409 })
  t.same(await client.ListBalances(), balances, 'nothing ran again')
  t.same((await client.BatchCancelOrdersByPair({ tradingPairId: pair })).orderIds, [replaced.results[0]!.newOrderId])
})
