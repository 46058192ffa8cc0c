/**
 * Promise: an order entered on a WebSocket is the order it would be over REST: every type, signed by itself or in a session, with the same
 * answers, the same refusals and the same receipts; and what happens to it is told on the same socket.
 */
import t, { type Test } from 'tap'
import { CommandType, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { ORDER_ACTIONS, type OrderType } from '../../gateway/ws/order_messages.ts'
import { TABLE } from '../../gateway/operations/index.ts'
import { delegate, request, signed as signedHeaders, startHarness, type Reply, type Session } from '../support/gateway_harness.ts'
import { OrderSocket, signedOrder } from '../support/order_client.ts'
import { signerOf, SocketClient, type Frame } from '../support/sockets.ts'

const harness = await startHarness(['--ws-order-entry', '1'])
t.teardown(() => harness.close())
const { port } = harness
const pair = harness.genesis.pairs[0]!
const BODY = { tradingPairId: pair.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '100' }
const MISSING = '00000000-0005-8001-8000-00001f2a335e'

/** The operation of a type over REST, with this text as its body. */
function rest(session: Session, type: OrderType, text: string): Promise<Reply> {
  const { method, path } = TABLE[ORDER_ACTIONS[type]]
  const target = path.includes('{orderId}') ? path.replace('{orderId}', (JSON.parse(text) as { orderId: string }).orderId) : path
  return request(port, method, target, signedHeaders(session, method, target, text), text)
}

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  const target = '/api/v1/faucet/mint'
  const minted = await request(port, 'POST', target, signedHeaders(session, 'POST', target, '{}'), '{}')
  if (minted.status !== 200) throw new Error(`no funds: ${minted.text}`)
  return session
}

const NOTHING = { totalCancelled: 0, orderIds: [], totalNotCancelled: 0, notCancelled: [] }

for (const mode of ['signed', 'counted'] as const) {
  t.test(`every type, ${mode}`, async (t) => {
    const signer = signerOf(await trader())
    const socket = mode === 'signed' ? await OrderSocket.open(port, signer) : await OrderSocket.inSession(port, signer)
    const ask = (type: OrderType, body?: object) => (mode === 'signed' ? socket.signed(type, body) : socket.counted(type, body))
    const created = await ask('order.create', BODY)
    t.match(created, {
      type: 'result', status: 200, data: { status: 'SUCCESS', matchResult: { status: 'SUBMITTED' } },
      budget: { limitSecond: 100, limitMinute: 3000, remainingSecond: Number, remainingMinute: Number },
    })
    const { orderId } = created['data']
    const replaced = await ask('order.replace', { orderId, price: '101' })
    t.equal(replaced['data'].originalOrderId, orderId)
    const cancelled = { orderId: replaced['data'].orderId, status: 'SUCCESS', message: 'Order cancelled' }
    const done = { ...cancelled, sequence: Number, engineTime: String }
    t.match((await ask('order.cancel', { orderId: cancelled.orderId }))['data'], done)
    const { data: batch } = await ask('order.batch', { orders: [BODY, { ...BODY, price: '0.001' }, BODY, BODY] })
    t.match(batch, { totalRequested: 4, totalSucceeded: 3, totalFailed: 1 })
    t.equal(batch.results[1].error.code, 'INVALID_TICK')
    const ids = batch.results.flatMap((each: { orderId?: string }) => each.orderId ?? [])
    const { data: moved } = await ask('order.batch_replace', { orders: [{ orderId: ids[0], price: '99' }] })
    t.equal(moved.results[0].originalOrderId, ids[0])
    t.match((await ask('order.batch_cancel', { orderIds: [moved.results[0].newOrderId, ids[0]] }))['data'], {
      totalSucceeded: 1, totalFailed: 1,
    })
    t.equal((await ask('order.cancel_by_pair', { tradingPairId: pair.id }))['data'].totalCancelled, 2)
    t.strictSame((await ask('order.cancel_all'))['data'], NOTHING)
    socket.close()
  })
}

/** Bodies that are refused, or batches of which every item is; by type, as text. */
function refusedBodies(theirs: string): [type: OrderType, text: string][] {
  const wrong = (change: object): [OrderType, string] => ['order.create', JSON.stringify({ ...BODY, ...change })]
  return [
    ...['', '[]', 'null', '7', '"x"', '{', '{"price":1}', '{}'].map((text): [OrderType, string] => ['order.create', text]),
    wrong({ price: '100.001' }), wrong({ price: null }), wrong({ quantity: '0.0001' }), wrong({ quantity: '0.001' }),
    wrong({ quantity: 1 }),
    wrong({ price: '1e3' }), wrong({ tradingPairId: MISSING }), wrong({ tradingPairId: 'x' }), wrong({ side: 'buy' }),
    wrong({ orderType: 'MARKET' }), wrong({ tradingMode: 'MARGIN' }), wrong({ leverage: '2' }), wrong({ reduceOnly: true }),
    wrong({ selfTradePreventionMode: 'NONE' }), wrong({ clientOrderId: '' }), wrong({ clientOrderId: 'é' }), wrong({ idempotencyKey: '' }),
    wrong({ expirationDate: '2020-01-01T00:00:00Z' }), wrong({ expirationDate: 'soon' }), wrong({ slippageToleranceBps: 1 }),
    wrong({ postOnly: true, timeInForce: 'IOC' }), wrong({ quantity: '900000' }), wrong({ useMasterBalance: true }),
    wrong({ __proto__: null, toString: 1, price: '0' }), ['order.create', `{"__proto__":{"price":"100"},"side":"BUY"}`],
    ...[MISSING, theirs, 'x', '../batch-cancel-all', MISSING.toUpperCase()].flatMap((orderId): [OrderType, string][] => [
      ['order.cancel', JSON.stringify({ orderId })], ['order.replace', JSON.stringify({ orderId, price: '99' })],
    ]),
    ['order.replace', JSON.stringify({ orderId: theirs })], ['order.replace', JSON.stringify({ orderId: theirs, price: 99 })],
    ['order.batch', '{}'], ['order.batch', '{"orders":[]}'], ['order.batch', '{"orders":{}}'],
    ['order.batch', JSON.stringify({ orders: Array.from({ length: 101 }, () => 1) })],
    ['order.batch', JSON.stringify({ orders: [1, null, {}, [], { ...BODY, price: '0.001' }, { ...BODY, selfTradePreventionMode: 'x' }] })],
    ['order.batch_replace', JSON.stringify({ orders: [{ orderId: theirs, price: '99' }, { orderId: MISSING }, 'x'] })],
    ['order.batch_cancel', JSON.stringify({ orderIds: [theirs, MISSING, 'x', 1] })], ['order.batch_cancel', '{"orderIds":"x"}'],
    ['order.cancel_by_pair', '{}'], ['order.cancel_by_pair', JSON.stringify({ tradingPairId: MISSING })], ['order.cancel_all', '[]'],
  ]
}

t.test('what REST refuses is refused in the same words, in both modes', async (t) => {
  const [mine, other] = [await trader(), await trader()]
  const theirs = (await rest(other, 'order.create', JSON.stringify(BODY))).json.orderId as string
  const one = await OrderSocket.open(port, signerOf(mine))
  const session = await OrderSocket.inSession(port, signerOf(mine))
  let compared = 0
  for (const [type, text] of refusedBodies(theirs)) {
    // A path that is none is not the operation's over REST.
    if (text.includes('../')) continue
    const { status, json } = await rest(mine, type, text)
    t.ok(status >= 400 || json.totalSucceeded === 0, `${type} ${text.slice(0, 100)}`)
    const answers = [await one.send(signedOrder(one.signer, type, text, compared)), await session.counted(type, text)]
    for (const answer of answers) {
      t.equal(answer['status'], status, `${type} ${text.slice(0, 100)}`)
      // REST reads no body where all is in the path.
      t.strictSame(answer[status === 200 ? 'data' : 'error'], json, `${type} ${text.slice(0, 100)}`)
    }
    compared++
  }
  t.ok(compared > 50)
  one.close()
  session.close()
})

t.test('a body in a session may be an object as well as its text', async (t) => {
  const socket = await OrderSocket.inSession(port, signerOf(await trader()))
  for (const body of [BODY, JSON.stringify(BODY), { ...BODY, timeInForce: null, surprise: 1 }]) {
    t.match(await socket.counted('order.create', body), { status: 200 })
  }
  for (const body of [7, true, [BODY], [], undefined, null, '']) {
    t.match(await socket.counted('order.create', body), { status: 400, error: { statusCode: 400 } }, JSON.stringify(body))
  }
  for (const body of [undefined, null, '', {}, '{}']) t.match(await socket.counted('order.cancel_all', body), { status: 200 })
  socket.close()
})

t.test('receipts are shared with REST, both ways', async (t) => {
  const session = await trader()
  const socket = await OrderSocket.inSession(port, signerOf(session))
  const keyed = (idempotencyKey: string): string => JSON.stringify({ ...BODY, idempotencyKey })
  const first = await rest(session, 'order.create', keyed('rest first'))
  t.equal(first.status, 200)
  t.strictSame((await socket.counted('order.create', keyed('rest first')))['data'], first.json)
  t.strictSame((await socket.signed('order.create', { ...BODY, idempotencyKey: 'rest first' }))['data'], first.json)
  const { data } = await socket.counted('order.create', keyed('socket first'))
  t.strictSame((await rest(session, 'order.create', keyed('socket first'))).json, data)
  const conflict = await socket.counted('order.create', { ...BODY, price: '99', idempotencyKey: 'rest first' })
  t.match(conflict, { status: 409, error: { code: 'IDEMPOTENCY_KEY_CONFLICT' } })
  t.equal((await socket.counted('order.cancel_all', {}))['data'].totalCancelled, 2, 'there are two orders')
  socket.close()
})

t.test('answers carry the id of their message; what is no id is refused', async (t) => {
  const signer = signerOf(await trader())
  const client = await SocketClient.open(port)
  for (const id of ['x', 'x'.repeat(64), '"\\\u0007é\ud800', 0, -1, Number.MAX_SAFE_INTEGER]) {
    const from = client.frames.length
    client.send(signedOrder(signer, 'order.cancel_all', undefined, id))
    const answer = await client.next(({ type }) => type === 'result', from)
    t.strictSame(answer['id'], id)
    t.equal(answer['status'], 200)
  }
  for (const id of ['', 'x'.repeat(65), 1.5, 2 ** 53, true, null, {}, [1], undefined]) {
    const from = client.frames.length
    client.send({ ...signedOrder(signer, 'order.cancel_all', undefined), id })
    const answer = await client.next(({ type }) => type === 'result', from)
    t.match(answer, { status: 400, error: { code: 'VALIDATION_ERROR', details: { field: 'id' } } })
    t.notOk(Object.hasOwn(answer, 'id'))
  }
  client.close()
})

const openOrders = async (session: Session): Promise<number> => {
  const target = '/api/v1/orders?status=SUBMITTED'
  return (await request(port, 'GET', target, signedHeaders(session, 'GET', target))).json.total as number
}

t.test('counters grow, with gaps; the session says where they begin', async (t) => {
  const session = await trader()
  const socket = await OrderSocket.inSession(port, signerOf(session), 1000)
  const at = (counter: unknown): Promise<Frame> => socket.send({ type: 'order.create', id: String(counter), counter, body: BODY })
  t.match(await at(1001), { status: 200 })
  t.match(await at(5000), { status: 200 })
  t.match(await at(Number.MAX_SAFE_INTEGER), { status: 200 })
  t.match(await socket.openSession(3), { status: 200, data: { expiresAt: Number } }, 'a second one takes the place of the first')
  t.match(await at(4), { status: 200 })
  t.match(await socket.signed('order.create', BODY), { status: 200 }, 'a message with its own signature leaves the counter alone')
  t.match(await at(5), { status: 200 })
  t.equal(await openOrders(session), 6)
  socket.close()
  const bare = await OrderSocket.open(port, signerOf(session))
  t.match(await bare.send(signedOrder(bare.signer, 'session.open', undefined, 'without a body')), { status: 200 })
  t.match(await bare.send({ type: 'order.cancel_all', id: 'from 1 on', counter: 1 }), { status: 200 })
  bare.close()
})

/** Sends one message and another good one; the connection ends at the first. */
async function ends(t: Test, name: string, session: Session, socket: OrderSocket, message: Frame): Promise<void> {
  const before = await openOrders(session)
  socket.client.send(message)
  socket.client.send({ type: 'order.create', id: 'later', counter: 1_000_000, body: BODY })
  t.match(await socket.client.closed, { code: 1008, reason: 'AUTH_FAILED' }, name)
  t.match(socket.client.frames.at(-1), { type: 'error', code: 'AUTH_FAILED' }, name)
  t.notOk(socket.client.frames.some(({ id }) => id === 'x' || id === 'later'), `${name}: nothing is answered behind it`)
  t.equal(await openOrders(session), before, `${name}: nothing was done`)
}

t.test('a counter that does not grow ends the connection, and so does a message without a session', async (t) => {
  const session = await trader()
  for (const counter of [0, 6, 7, -1, 7.5, '8', null, undefined, 2 ** 53, 1e300, true]) {
    const socket = await OrderSocket.inSession(port, signerOf(session))
    t.match(await socket.send({ type: 'order.cancel', id: 'first', counter: 7, body: { orderId: MISSING } }), { status: 404 })
    await ends(t, String(counter), session, socket, { type: 'order.create', id: 'x', counter, body: BODY })
  }
  const unopened = await OrderSocket.open(port, signerOf(session))
  await ends(t, 'no session', session, unopened, { type: 'order.create', id: 'x', counter: 1, body: BODY })
  const refused = await OrderSocket.open(port, signerOf(session))
  const opening = { ...signedOrder(refused.signer, 'session.open', undefined, 'open'), timestamp: '1' }
  t.match(await refused.send(opening), { status: 401 })
  await ends(t, 'an opening that was refused', session, refused, { type: 'order.create', id: 'x', counter: 1, body: BODY })
  const authenticated = await OrderSocket.open(port, signerOf(session))
  await authenticated.client.authenticate(authenticated.signer)
  await ends(t, 'only authenticated', session, authenticated, { type: 'order.create', id: 'x', counter: 1, body: BODY })
})

t.test('an opening that is none is refused', async (t) => {
  const signer = signerOf(await trader())
  const socket = await OrderSocket.open(port, signer)
  for (const body of ['{"counter":-1}', '{"counter":1.5}', '{"counter":"1"}', `{"counter":${2 ** 53}}`, '[]', '{', '7']) {
    t.match(await socket.send(signedOrder(signer, 'session.open', body, body)), { status: 400 }, body)
  }
  t.match(await socket.send({ type: 'session.open', id: 'bare', counter: 1 }), { status: 401, error: { code: 'UNAUTHENTICATED' } })
  const text = { ...signedOrder(signer, 'session.open', '{}', 'object'), body: {} }
  t.match(await socket.send(text), { status: 400, error: { details: { field: 'body' } } }, 'a signed body is text')
  socket.close()
})

t.test('what happens to an order is told on the same socket, without another authentication', async (t) => {
  const session = await trader()
  const socket = await OrderSocket.inSession(port, signerOf(session))
  t.match(await socket.client.subscribe('orders'), { type: 'subscribed' })
  const { data } = await socket.counted('order.create', BODY)
  const told = await socket.client.next(({ channel, type }) => channel === 'orders' && type === 'order_update')
  t.match(told['data'], { eventType: 'OrderSubmitted', orderId: data.orderId })
  await socket.client.authenticate(socket.signer)
  t.match(await socket.counted('order.cancel', { orderId: data.orderId }), { status: 200 }, 'an auth later leaves the session open')
  t.ok(await socket.client.next((frame) => frame['data']?.eventType === 'OrderCancelled'))
  socket.close()
})

t.test('a socket with a session is one of its account, and does not change it', async (t) => {
  const [mine, other] = [await trader(), await trader()]
  const socket = await OrderSocket.inSession(port, signerOf(mine))
  t.match(await socket.signed('order.create', BODY, signerOf(other)), { status: 200 }, 'who signs a message by himself sends his own order')
  t.strictSame([await openOrders(mine), await openOrders(other)], [0, 1])
  socket.client.send(signedOrder(signerOf(other), 'session.open', '{"counter":9}', 'theirs'))
  t.match(await socket.client.closed, { code: 1008, reason: 'AUTH_FAILED' })
  t.notOk(socket.client.frames.some(({ id }) => id === 'theirs'))
})

t.test('maintenance refuses orders, and lets cancel', async (t) => {
  const session = await trader()
  const socket = await OrderSocket.inSession(port, signerOf(session))
  const { data } = await socket.counted('order.create', BODY)
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 1 })
  for (const [type, body] of [
    ['order.create', BODY], ['order.replace', { orderId: data.orderId, price: '99' }], ['order.batch', { orders: [BODY] }],
  ] as const) {
    t.match(await socket.counted(type, body), { status: 503, error: { code: 'OPERATIONS_BLOCKED' } }, type)
  }
  t.match(await socket.counted('order.cancel', { orderId: data.orderId }), { status: 200 })
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 0 })
  t.match(await socket.counted('order.create', BODY), { status: 200 })
  socket.close()
})

t.test('a delegated agent enters orders of its owner, until it is revoked', async (t) => {
  const owner = await trader()
  const agent = await delegate(harness, owner)
  const socket = await OrderSocket.inSession(port, signerOf(agent.session))
  t.match(await socket.counted('order.create', BODY), { status: 200 })
  t.match(await socket.signed('order.create', BODY), { status: 200 })
  t.equal(await openOrders(owner), 2)
  await agent.revoke()
  t.match(await socket.client.closed, { code: 1008, reason: 'SESSION_INVALID' })
  t.equal(await openOrders(owner), 0, 'its orders ended with it')
})

t.test('off by default: an error frame says so, and nothing else happens', async (t) => {
  const plain = await startHarness()
  const client = await SocketClient.open(plain.port)
  for (const type of [...Object.keys(ORDER_ACTIONS), 'session.open']) {
    const answer = await client.ask({ type, body: '{}', counter: 1 })
    t.match(answer, { type: 'error', code: 'ORDER_ENTRY_DISABLED', message: /--ws-order-entry 1/ })
  }
  client.close()
  await plain.close()
})

t.test('nothing went wrong inside', async (t) => {
  const counters = gatewayCounters(harness.shared.counters, 1)
  for (let i = 0; i < 1000 && counters[GATEWAY.ws_connections]! > 0; i++) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(counters[GATEWAY.unhandled], 0)
  t.equal(counters[GATEWAY.ws_authenticated], 0)
  t.equal(counters[GATEWAY.pending], 0)
})
