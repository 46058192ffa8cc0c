/**
 * Promise: what snapshots of orders are made of counts among the bytes that wait for WebSockets from the moment it is copied, so that no
 * number of sockets and subscriptions holds more of it than `wsBuffersMb`.
 */
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { call, startHarness, type Session } from '../support/gateway_harness.ts'
import { signerOf, SocketClient } from '../support/sockets.ts'
import { until } from '../support/until.ts'

const harness = await startHarness(['--ws-buffers-mb', '1'])
t.teardown(() => harness.close())
const counters = gatewayCounters(harness.shared.counters, 1)
const BATCH = 100

/** An account with so many open orders. */
async function maker(count: number): Promise<Session> {
  const session = await harness.openSession()
  await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
  const order = { tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '3' }
  for (let placed = 0; placed < count; placed += BATCH) {
    const orders = Array.from({ length: BATCH }, () => order)
    const { json } = await call(harness, session, 'POST', '/api/v1/orders/batch-create', { orders })
    if (json.totalSucceeded !== BATCH) throw new Error(JSON.stringify(json).slice(0, 300))
  }
  return session
}

/** The thread counts behind what the client sees. */
const isEmpty = (): Promise<boolean> => until(() => counters[GATEWAY.ws_waiting_bytes] === 0)

t.test('a snapshot that does not fit is cut, one that does comes whole, and leaves nothing behind', async (t) => {
  const small = await SocketClient.open(harness.port)
  await small.authenticate(signerOf(await maker(1_000)))
  await small.subscribe('orders')
  await small.next(({ channel, type, data }) => channel === 'orders' && type === 'snapshot' && data.more === false)
  t.equal(small.of('orders').reduce((count, { data }) => count + data.orders.length, 0), 1_000)
  await small.ask({ type: 'unsubscribe', channel: 'orders' })
  t.ok(await isEmpty())
  t.equal(counters[GATEWAY.ws_crowded], 0)
  const large = await SocketClient.open(harness.port)
  await large.authenticate(signerOf(await maker(2_600)))
  let closed = 0
  void large.closed.then(({ code }) => (closed = code))
  large.send({ type: 'subscribe', channel: 'orders' })
  t.ok(await until(() => closed === 1006))
  t.equal(counters[GATEWAY.ws_crowded], 1)
  t.ok(await isEmpty())
  t.equal((await small.ask({ type: 'subscribe', channel: 'instruments' }))['type'], 'subscribed', 'and nobody else')
  small.close()
  large.close()
})
