/**
 * Promise: wherever an order is named to be cancelled, replaced or read, `client:` and its client order id names it too. The engine finds
 * it when the command's turn comes, so a cancel or replacement that is sent right behind the create, before that is answered, meets it. The
 * answer carries the real id.
 */
import t, { type Test } from 'tap'
import { call, delegate, request, signed, startHarness, type Harness, type Reply, type Session } from '../support/gateway_harness.ts'
import { OrderSocket } from '../support/order_client.ts'
import { signerOf } from '../support/sockets.ts'

const ORDERS = '/api/v1/orders'

async function started(t: Test): Promise<{ harness: Harness; ann: Session }> {
  const harness = await startHarness(['--ws-order-entry', '1'])
  t.teardown(() => harness.close())
  return { harness, ann: await trader(harness) }
}

async function trader(harness: Harness): Promise<Session> {
  const session = await harness.openSession()
  await call(harness, session, 'POST', '/api/v1/faucet/mint')
  return session
}

const bid = (harness: Harness, clientOrderId: string, more: object = {}): object => ({
  tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '90', clientOrderId, ...more,
})
const pathOf = (clientOrderId: string): string => `${ORDERS}/${encodeURIComponent(`client:${clientOrderId}`)}`

t.test('read, replaced and cancelled over REST', async (t) => {
  const { harness, ann } = await started(t)
  const id = 'a/b c%41;é'.replace('é', '~')
  const { orderId } = (await call(harness, ann, 'POST', ORDERS, bid(harness, id))).json
  t.match((await call(harness, ann, 'GET', pathOf(id))).json, { orderId, clientOrderId: id })
  const target = `${ORDERS}/client:${encodeURIComponent(id)}`
  t.equal((await call(harness, ann, 'GET', target)).json.orderId, orderId, 'the colon may stand as it is')
  const replaced = await call(harness, ann, 'PUT', pathOf(id), { price: '91.00' })
  t.match(replaced.json, { originalOrderId: orderId, quantity: '0.5', matchResult: { status: 'SUBMITTED' } })
  const cancelled = await call(harness, ann, 'DELETE', pathOf(id))
  t.match(cancelled.json, { orderId: replaced.json.orderId, status: 'SUCCESS' })
  for (const [method, body] of [['DELETE', undefined], ['PUT', { price: '92' }]] as const) {
    t.match(await call(harness, ann, method, pathOf(id), body), { status: 404, json: { code: 'ORDER_NOT_FOUND' } }, `${method} afterwards`)
  }
  t.match((await call(harness, ann, 'GET', pathOf('never'))).json, { code: 'ORDER_NOT_FOUND' })
  t.equal((await call(harness, ann, 'DELETE', pathOf('never'))).json.details, undefined)
})

t.test('an order that ended is found by its name, and a cancel that came too late says how it ended', async (t) => {
  const { harness, ann } = await started(t)
  const bob = await trader(harness)
  const place = async (session: Session, more: object): Promise<string> =>
    (await call(harness, session, 'POST', ORDERS, bid(harness, 'q', more))).json.orderId as string
  const read = async (): Promise<unknown> => (await call(harness, ann, 'GET', pathOf('q'))).json
  const cancel = async (path: string): Promise<unknown> => (await call(harness, ann, 'DELETE', path)).json
  const first = await place(ann, {})
  await call(harness, bob, 'POST', ORDERS, bid(harness, 'other', { side: 'SELL', quantity: '0.2' }))
  t.match(await read(), { orderId: first, status: 'PARTIALLY_FILLED', filledQuantity: '0.2' })
  await place(bob, { side: 'SELL', quantity: '0.3' })
  t.match(await read(), { orderId: first, clientOrderId: 'q', status: 'FILLED', filledQuantity: '0.5' }, "not bob's of the same name")
  const filled = { code: 'ORDER_NOT_FOUND', details: { status: 'FILLED', filledQuantity: '0.5' } }
  t.match(await cancel(pathOf('q')), filled)
  t.match(await cancel(`${ORDERS}/${first}`), filled, 'by id too')
  const second = await place(ann, { quantity: '0.1' })
  t.match(await read(), { orderId: second, status: 'SUBMITTED' }, 'the one that rests comes first')
  await cancel(pathOf('q'))
  t.match(await read(), { orderId: second, status: 'CANCELLED', filledQuantity: '0' }, 'then the newest')
  t.match(await cancel(pathOf('q')), { code: 'ORDER_NOT_FOUND', details: { status: 'CANCELLED', filledQuantity: '0' } })
})

t.test('in batches', async (t) => {
  const { harness, ann } = await started(t)
  const batch = await call(harness, ann, 'POST', `${ORDERS}/batch-create`, { orders: ['a', 'b'].map((id) => bid(harness, id)) })
  const [a, b] = batch.json.results.map((each: { orderId: string }) => each.orderId)
  const orders = [{ orderId: 'client:a', quantity: '0.2' }, { orderId: 'client:none', quantity: '1' }, { orderId: b, price: '95' }]
  const replaced = (await call(harness, ann, 'POST', `${ORDERS}/batch-replace`, { orders })).json
  t.match(replaced.results, [
    { originalOrderId: a, quantity: '0.2' }, { error: { code: 'ORDER_NOT_FOUND' } }, { originalOrderId: b, quantity: '0.5' },
  ])
  const orderIds = ['client:b', 'client:a', 'client:b', 'client:', 'client:é']
  const cancelled = (await call(harness, ann, 'POST', `${ORDERS}/batch-cancel`, { orderIds })).json
  t.match(cancelled.results, [
    { orderId: replaced.results[2].newOrderId }, { orderId: replaced.results[0].newOrderId }, { error: { code: 'ORDER_NOT_FOUND' } },
    { error: { code: 'VALIDATION_ERROR' } }, { error: { code: 'VALIDATION_ERROR' } },
  ])
})

t.test('right behind the create, before it is answered', async (t) => {
  const { harness, ann } = await started(t)
  const socket = await OrderSocket.inSession(harness.port, signerOf(ann))
  t.teardown(() => socket.close())
  for (let round = 0; round < 20; round++) {
    const id = `quote-${round}`
    const [created, replaced, cancelled] = await Promise.all([
      socket.counted('order.create', bid(harness, id)),
      socket.counted('order.replace', { orderId: `client:${id}`, price: '89.5', quantity: '0.3' }),
      socket.counted('order.cancel', { orderId: `client:${id}` }),
    ])
    t.equal(replaced['data'].originalOrderId, created['data'].orderId)
    t.equal(cancelled['data'].orderId, replaced['data'].orderId)
  }
})

t.test('prices and quantities are those of the pair of whatever order it is', async (t) => {
  const { harness, ann } = await started(t)
  const [, second] = harness.genesis.pairs
  await call(harness, ann, 'POST', ORDERS, bid(harness, 'x', { tradingPairId: second!.id, price: '10', quantity: '1' }))
  const put = async (body: object): Promise<Reply> => call(harness, ann, 'PUT', pathOf('x'), body)
  t.match((await put({ price: '10.0000001' })).json, { code: 'INVALID_TICK', details: { field: 'price' } })
  t.match((await put({ quantity: '0.0000000001' })).json, { code: 'INVALID_LOT', details: { field: 'quantity' } })
  t.match((await put({ price: '0' })).json, { code: 'INVALID_TICK', details: { field: 'price' } })
  t.match((await put({ price: '-1' })).json, { details: { field: 'price' } })
  t.match((await put({ price: '9999999999999999999999999999' })).json, { code: 'INVALID_TICK' })
  t.match((await put({ quantity: 'x' })).json, { code: 'VALIDATION_ERROR', details: { field: 'quantity' } })
  t.match((await put({ quantity: '5000' })).json, { code: 'INSUFFICIENT_BALANCE' })
  const made = await put({ price: '010.500', quantity: '0.90' })
  const { json } = await call(harness, ann, 'GET', `${ORDERS}/${made.json.orderId}`)
  t.match(json, { price: '10.5', quantity: '0.9', symbol: second!.symbol })
})

t.test('a replacement with a key is repeated, also when nothing rests under the name any more', async (t) => {
  const { harness, ann } = await started(t)
  await call(harness, ann, 'POST', ORDERS, bid(harness, 'k'))
  const put = (body: object): Promise<Reply> => call(harness, ann, 'PUT', pathOf('k'), body)
  const first = await put({ price: '91', quantity: '0.4', idempotencyKey: 'key' })
  t.equal(first.status, 200)
  t.same((await put({ price: '91.0', quantity: '0.40', idempotencyKey: 'key' })).json, first.json)
  await call(harness, ann, 'DELETE', pathOf('k'))
  t.same((await put({ price: '91', quantity: '0.4', idempotencyKey: 'key' })).json, first.json)
  const others = [
    { price: '91.1', quantity: '0.4' }, { price: '91', quantity: '0.5' }, { price: '91' },
    { price: '91', quantity: '0.4', clientOrderId: 'k' },
  ]
  for (const other of others) {
    t.equal((await put({ ...other, idempotencyKey: 'key' })).json.code, 'IDEMPOTENCY_KEY_CONFLICT')
  }
  const other = `${ORDERS}/client:else`
  t.equal((await call(harness, ann, 'PUT', other, { price: '91', quantity: '0.4', idempotencyKey: 'key' })).json.code,
    'IDEMPOTENCY_KEY_CONFLICT')
})

t.test('nobody reaches another account by a name, and an agent only what it is granted', async (t) => {
  const { harness, ann } = await started(t)
  const [bob, agent] = [await trader(harness), await delegate(harness, ann, [1])]
  await call(harness, ann, 'POST', ORDERS, bid(harness, 'mine'))
  for (const method of ['GET', 'DELETE'] as const) {
    t.equal((await call(harness, bob, method, pathOf('mine'))).json.code, 'ORDER_NOT_FOUND')
  }
  t.match((await call(harness, agent.session, 'DELETE', pathOf('mine'))).json, { code: 'AGENT_NOT_ALLOWED', details: { grant: 'PAIR' } })
  t.equal((await call(harness, agent.session, 'PUT', pathOf('mine'), { price: '80' })).json.code, 'AGENT_NOT_ALLOWED')
})

t.test('a path that is badly encoded, and a name that is none, are 400', async (t) => {
  const { harness, ann } = await started(t)
  for (const name of ['client:%ff', 'client:%zz', 'client%3A', `client:${'x'.repeat(41)}`, 'klient:a', '%63lient:a']) {
    const target = `${ORDERS}/${name}`
    const reply = await request(harness.port, 'DELETE', target, signed(ann, 'DELETE', target, ''), '')
    t.match([reply.status, reply.json.code], [400, 'VALIDATION_ERROR'], name)
  }
})
