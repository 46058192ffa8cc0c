/**
 * Promise: a pair may be named by its symbol wherever it may be named by its id, in any case, over every transport; answers and frames have
 * the id. What has neither form is refused for its form, what names nothing is NOT_FOUND with the field.
 */
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { call, startHarness } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { OrderSocket } from '../support/order_client.ts'
import { signerOf, type Frame } from '../support/sockets.ts'

const harness = await startHarness(['--grpc-thread', '1', '--ws-order-entry', '1'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const { id, symbol } = harness.genesis.pairs[0]!
const session = await harness.openSession()
await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
const NAMES = [id, id.toUpperCase(), symbol, symbol.toLowerCase()]
const ORDER = { orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '100' }

t.test('in paths, queries and bodies over REST', async (t) => {
  for (const name of NAMES) {
    const segment = encodeURIComponent(name)
    const book = await call(harness, session, 'GET', `/api/v1/orderbook/${segment}`)
    t.match(book, { status: 200, json: { tradingPairId: id } }, name)
    t.match((await call(harness, session, 'GET', `/api/v1/market/pairs/${segment}`)).json, { tradingPair: { id, symbol } })
    const placed = await call(harness, session, 'POST', '/api/v1/orders', { ...ORDER, tradingPairId: name })
    t.equal(placed.status, 200, name)
    const listed = await call(harness, session, 'GET', `/api/v1/orders?status=SUBMITTED&tradingPairId=${segment}`)
    t.match(listed.json, { total: 1, orders: [{ tradingPairId: id, symbol }] }, name)
    const gone = await call(harness, session, 'POST', '/api/v1/orders/batch-cancel-by-pair', { tradingPairId: name })
    t.equal(gone.json.totalCancelled, 1, name)
  }
  t.equal((await call(harness, session, 'GET', `/api/v1/orderbook/${symbol}`)).status, 404, 'a bare slash is a path of its own')
})

t.test('the same key with the id and with the symbol is the same request', async (t) => {
  const terms = { ...ORDER, idempotencyKey: 'named twice' }
  const [first, second] = [
    await call(harness, session, 'POST', '/api/v1/orders', { ...terms, tradingPairId: id }),
    await call(harness, session, 'POST', '/api/v1/orders', { ...terms, tradingPairId: symbol }),
  ]
  t.equal(first.status, 200)
  t.equal(second.json.orderId, first.json.orderId)
})

t.test('over gRPC and over sockets', async (t) => {
  const request = { ...ORDER, orderType: 'ORDER_TYPE_LIMIT', side: 'SIDE_BUY', tradingPairId: symbol }
  t.equal((await client.call('CreateOrder', request, session)).code, status.OK)
  t.equal((await client.call('GetOrderbook', { tradingPairId: symbol })).response.tradingPairId, id)
  const socket = await OrderSocket.inSession(harness.port, signerOf(session))
  t.match(await socket.counted('order.create', { ...ORDER, tradingPairId: symbol.toLowerCase() }), { status: 200 })
  for (const channel of ['orderbook', 'trades', 'orders', 'market_stats']) {
    const subscribed: Frame = await socket.client.ask({ type: 'subscribe', channel, params: { tradingPairId: symbol } })
    t.match(subscribed, { type: 'subscribed', params: { tradingPairId: id } }, channel)
    const other = await socket.client.ask({ type: 'unsubscribe', channel, params: { tradingPairId: id.toUpperCase() } })
    t.match(other, { type: 'unsubscribed' }, `${channel}: by either name it is one subscription`)
  }
  socket.close()
})

t.test('what names nothing', async (t) => {
  for (const name of ['NO/SUCH', '00000000-0000-4000-8000-000000000000']) {
    const placed = await call(harness, session, 'POST', '/api/v1/orders', { ...ORDER, tradingPairId: name })
    t.match(placed, { status: 404, json: { code: 'NOT_FOUND', details: { field: 'tradingPairId' } } }, name)
    const read = await call(harness, session, 'GET', `/api/v1/market/pairs/${encodeURIComponent(name)}`)
    t.match(read, { status: 404, json: { code: 'NOT_FOUND' } }, name)
  }
  for (const name of ['BTC', 'BTC/USDC/X', '/', 'BTC /USDC', '']) {
    const placed = await call(harness, session, 'POST', '/api/v1/orders', { ...ORDER, tradingPairId: name })
    t.match(placed, { status: 400, json: { code: 'VALIDATION_ERROR', details: { field: 'tradingPairId' } } }, name)
  }
})
