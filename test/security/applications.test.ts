/**
 * Promise: one wallet in two applications is two users (specification, Identity). What one owns is unknown to the other, and names that
 * both chose do not meet.
 */
import t from 'tap'
import { call, startHarness, type Reply, type Session } from '../support/gateway_harness.ts'

const harness = await startHarness()
t.teardown(() => harness.close())
const tradingPairId = harness.genesis.pairs[0]!.id
const first = await harness.openSession(0)
const second = await harness.openSession(1, first.address)

const ORDERS = '/api/v1/orders'
const order = {
  tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100', clientOrderId: 'mine', idempotencyKey: 'key',
}
const as = (session: Session, method: string, target: string, body?: unknown): Promise<Reply> =>
  call(harness, session, method, target, body)

t.test('one wallet, two users', async (t) => {
  const [one, two] = [await as(first, 'GET', '/api/v1/accounts/me'), await as(second, 'GET', '/api/v1/accounts/me')]
  t.equal(one.json.address, two.json.address)
  t.not(one.json.id, two.json.id)
})

t.test('funds are not shared', async (t) => {
  await as(first, 'POST', '/api/v1/faucet/mint')
  const [one, two] = [await as(first, 'GET', '/api/v1/accounts/balances'), await as(second, 'GET', '/api/v1/accounts/balances')]
  t.not(one.json.balances[0].totalBalance, '0')
  t.equal(two.json.balances[0].totalBalance, '0')
  t.equal((await as(second, 'POST', ORDERS, order)).json.code, 'INSUFFICIENT_BALANCE')
  t.equal((await as(second, 'GET', '/api/v1/faucet/info')).json.remainingRequests24h, 5, 'nor is the quota of the faucet')
})

t.test('an order of one is unknown to the other', async (t) => {
  const { orderId } = (await as(first, 'POST', ORDERS, order)).json
  t.ok(orderId)
  const target = `${ORDERS}/${orderId}`
  const missing = `${ORDERS}/00000000-0000-4000-8000-000000000000`
  for (const [method, body] of [['GET', undefined], ['DELETE', undefined], ['PUT', { price: '101' }]] as const) {
    const [theirs, none] = [await as(second, method, target, body), await as(second, method, missing, body)]
    t.equal(theirs.json.code, 'ORDER_NOT_FOUND', method)
    t.equal(theirs.text, none.text, `${method}: as if it did not exist`)
  }
  const batch = await as(second, 'POST', `${ORDERS}/batch-cancel`, { orderIds: [orderId] })
  t.equal(batch.json.results[0].error.code, 'ORDER_NOT_FOUND')
  t.equal((await as(second, 'POST', `${ORDERS}/batch-cancel-all`, {})).json.totalCancelled, 0)
  t.equal((await as(second, 'GET', `${ORDERS}?status=SUBMITTED`)).json.total, 0)
  t.equal((await as(first, 'GET', target)).json.status, 'SUBMITTED', 'and it is still there')
})

t.test('the same key and client order id of both are two orders', async (t) => {
  await as(second, 'POST', '/api/v1/faucet/mint')
  const mine = await as(first, 'POST', ORDERS, order)
  const theirs = await as(second, 'POST', ORDERS, order)
  t.equal(theirs.status, 200, theirs.text)
  t.not(theirs.json.orderId, mine.json.orderId)
})
