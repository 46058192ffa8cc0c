/**
 * Promise: orders over the client's socket are the calls of REST: same answers, same errors, in the order they were made. What was not
 * answered fails as a call without answer does, and is never sent twice.
 */
import t from 'tap'
import { createClient, createSigner, NetworkError, RingbookError, type Client } from '../../gateway/client/index.ts'
import { OrderEntry } from '../../gateway/client/order_connection.ts'
import { urlOf } from '../../gateway/client/streams.ts'
import { ORDER_MESSAGE_MAX } from '../../gateway/ws/order_messages.ts'
import { call, startHarness, type Session } from '../support/gateway_harness.ts'
import { signerOf, type Frame } from '../support/sockets.ts'
import { NOW, StreamServer, TestClock, until, type ServedSocket } from '../support/stream_server.ts'

const harness = await startHarness(['--ws-order-entry', '1'])
t.teardown(() => harness.close())
const tradingPairId = harness.genesis.pairs[0]!.id
const ORDER = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100' } as const
const TIMEOUT_MS = 35_000

async function trader(t: { teardown(handler: () => void): void }, port = harness.port): Promise<{ session: Session; client: Client }> {
  const session = await harness.openSession()
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, signer: signerOf(session) as never, streams: { baseMs: 20 } })
  t.teardown(() => client.orders.close())
  return { session, client }
}

t.test('every operation, with the answers of REST', async (t) => {
  const { client } = await trader(t)
  t.equal(client.orders.status, 'closed')
  await client.Mint()
  const { orders } = client
  const { orderId } = await orders.CreateOrder(ORDER)
  t.equal(orders.status, 'open')
  t.match(await client.GetOrder({ orderId }), { status: 'SUBMITTED', price: '100' })
  const replaced = await orders.ReplaceOrder({ orderId, price: '101' })
  t.equal(replaced.originalOrderId, orderId)
  t.equal((await orders.CancelOrder({ orderId: replaced.orderId })).orderId, replaced.orderId)
  const batch = await orders.BatchCreateOrders({ orders: [ORDER, { ...ORDER, price: '0.001' }, ORDER, ORDER] })
  t.match(batch, { totalSucceeded: 3, totalFailed: 1 })
  const ids = batch.results.flatMap((each) => each.orderId ?? [])
  const moved = await orders.BatchReplaceOrders({ orders: [{ orderId: ids[0]!, price: '99' }] })
  t.match(await orders.BatchCancelOrders({ orderIds: [moved.results[0]!.newOrderId!] }), { totalSucceeded: 1 })
  t.equal((await orders.BatchCancelOrdersByPair({ tradingPairId })).totalCancelled, 2)
  t.equal((await orders.BatchCancelAllOrders()).totalCancelled, 0)
  for (const wrong of [{ ...ORDER, price: '0.001' }, { ...ORDER, quantity: '1000' }]) {
    const [here, there] = await Promise.all([orders.CreateOrder(wrong), client.CreateOrder(wrong)].map((answer) =>
      answer.then(() => null, (error: unknown) => error as RingbookError)))
    t.ok(here instanceof RingbookError)
    t.match(here, { status: there!.status, code: there!.code, message: there!.message, details: there!.details, retry: there!.retry })
  }
})

t.test('many calls at once are done in the order they were made', async (t) => {
  const { client } = await trader(t)
  await client.Mint()
  const labels = Array.from({ length: 600 }, (_, i) => `order ${i}`)
  await Promise.all(labels.map((clientOrderId) => client.orders.CreateOrder({ ...ORDER, clientOrderId })))
  const found: string[] = []
  for (let page = 1; page <= 6; page++) {
    const { orders } = await client.ListOrders({ status: ['SUBMITTED'], page, pageSize: 100 })
    found.push(...orders.map(({ clientOrderId }) => clientOrderId!))
  }
  t.strictSame(found, labels.reverse(), 'newest first')
})

t.test('a session that ended is the error it is over REST', async (t) => {
  const { client, session } = await trader(t)
  await client.Mint()
  await client.orders.CreateOrder(ORDER)
  await call(harness, session, 'POST', '/api/v1/auth/revoke')
  await until('the end of the socket', () => client.orders.status !== 'open')
  await t.rejects(client.orders.CreateOrder(ORDER), { name: 'RingbookError', status: 401, retry: 'reauthenticate' })
  const nobody = createClient({ baseUrl: `http://127.0.0.1:${harness.port}` })
  await t.rejects(nobody.orders.CreateOrder(ORDER), /sign in first/)
})

t.test('clients of one key may open their sessions in the same millisecond', async (t) => {
  const { session } = await trader(t)
  const signer = signerOf(session) as never
  const at = Date.now()
  const url = urlOf(`http://127.0.0.1:${harness.port}`)
  const entries = Array.from({ length: 8 }, () => new OrderEntry(url, {}, { signer: () => signer, now: () => at }, TIMEOUT_MS))
  t.teardown(() => entries.forEach((entry) => entry.close()))
  const answers = await Promise.all(entries.map((entry) => outcome(entry.call('BatchCancelAllOrders'))))
  for (const answer of answers) t.match(answer, { totalCancelled: 0 })
})

t.test('without a WebSocket a call is rejected, and throws nothing beside that', async (t) => {
  const { client } = await trader(t)
  const { WebSocket } = globalThis
  Object.assign(globalThis, { WebSocket: undefined })
  t.teardown(() => Object.assign(globalThis, { WebSocket }))
  await t.rejects(client.orders.CreateOrder(ORDER), /streams.WebSocket/)
})

t.test('where order entry is off, a call says so', async (t) => {
  const plain = await startHarness()
  t.teardown(() => plain.close())
  const { client } = await trader(t, plain.port)
  await t.rejects(client.orders.CreateOrder(ORDER), { name: 'RingbookError', code: 'ORDER_ENTRY_DISABLED', outcome: 'not-applied' })
  t.equal(client.orders.status, 'closed')
})

interface Stage {
  readonly server: StreamServer
  readonly clock: TestClock
  readonly orders: OrderEntry
}

async function stage(t: { teardown(handler: () => void): void }): Promise<Stage> {
  const server = await StreamServer.open(t)
  const clock = new TestClock()
  const signer = createSigner()
  const orders = new OrderEntry(urlOf(server.baseUrl), { clock, pingMs: 600_000 }, { signer: () => signer, now: () => NOW }, TIMEOUT_MS)
  t.teardown(() => orders.close())
  return { server, clock, orders }
}

/** Answers the message that opens the session. */
async function openSession(socket: ServedSocket): Promise<Frame> {
  const [opening] = await socket.said('session.open')
  socket.send({ type: 'result', id: opening!['id'], status: 200, data: { expiresAt: 1 } })
  return opening!
}
const outcome = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error)

t.test('one signature and a counter; a lost socket fails what was not answered, and nothing is sent again', async (t) => {
  const { server, clock, orders } = await stage(t)
  const first = outcome(orders.call('CreateOrder', { n: 1 }))
  const second = outcome(orders.call('CancelOrder', { n: 2 }))
  const socket = await server.socket()
  const opening = await openSession(socket)
  t.strictSame(Object.keys(opening), ['type', 'id', 'body', 'publicKey', 'timestamp', 'signature'])
  const { counter } = JSON.parse(opening['body'] as string) as { counter: number }
  await socket.said('order.cancel')
  t.match(socket.messages.slice(1), [
    { type: 'order.create', counter: counter + 1, body: { n: 1 } }, { type: 'order.cancel', counter: counter + 2, body: { n: 2 } },
  ])
  // Answers come in any order, and those of nobody are nothing.
  socket.send({ type: 'result', id: 999, status: 200, data: 'of nobody' })
  socket.send({ type: 'result', id: socket.messages[2]!['id'], status: 200, data: 'second' })
  t.equal(await second, 'second')
  socket.close(1001)
  t.match(await first, { name: 'NetworkError', outcome: 'unknown', retry: 'ambiguous' }, 'it left and was not answered')
  const third = outcome(orders.call('CreateOrder', { n: 3 }))
  clock.advance(1000)
  const next = await server.socket(1)
  const { body } = await openSession(next)
  const [again] = await next.said('order.create')
  t.match(again, { counter: (JSON.parse(body as string) as { counter: number }).counter + 1, body: { n: 3 } })
  next.send({ type: 'result', id: again!['id'], status: 200, data: 'third' })
  t.equal(await third, 'third')
  t.equal(next.messages.length, 2)
})

t.test('calls have their time, and there are not too many', async (t) => {
  const { server, clock, orders } = await stage(t)
  const calls = Array.from({ length: 4096 }, (_, n) => outcome(orders.call('CreateOrder', { n })))
  await t.rejects(orders.call('CreateOrder', {}), { name: 'RingbookError', code: 'OVERLOADED', retry: 'safe' })
  const socket = await server.socket()
  await openSession(socket)
  await socket.said('order.create', 256)
  socket.send({ type: 'result', id: socket.messages[5]!['id'], status: 200, data: 'done' })
  await socket.said('order.create', 257)
  t.equal(await calls[4], 'done')
  t.equal(socket.messages.length, 258, 'one more for each that was answered')
  clock.advance(TIMEOUT_MS)
  const failed = await Promise.all(calls)
  t.equal(failed.filter((each) => each instanceof NetworkError && each.timedOut).length, 4095)
  const outcomes = failed.map((each) => each instanceof NetworkError && each.outcome)
  t.equal(outcomes.filter((each) => each === 'unknown').length, 256, 'these had left')
  t.equal(outcomes.filter((each) => each === 'not-applied').length, 3839, 'these had not')
  t.equal(orders.status, 'open')
  t.strictSame(clock.waiting, [600_000], 'nothing else is left to wait for')
})

t.test('what would close the socket is not sent, and is in nobodys way', async (t) => {
  const { client } = await trader(t)
  await client.Mint()
  const batch = (order: object, count = 100): Promise<unknown> =>
    outcome(client.orders.BatchCreateOrders({ orders: Array.from({ length: count }, () => ({ ...ORDER, ...order })) }))
  const longest = 64 * 1024 - 256
  t.ok(longest + 256 <= ORDER_MESSAGE_MAX)
  const refused = batch({ idempotencyKey: 'ä'.repeat(128), clientOrderId: 'x'.repeat(40), selfTradePreventionMode: '🙂'.repeat(60) })
  const odd = batch({ price: 1n as never }, 1)
  const other = outcome(client.orders.CreateOrder(ORDER))
  t.match(await refused, { name: 'RingbookError', code: 'BODY_TOO_LARGE', status: 413, outcome: 'not-applied', retry: 'no' })
  t.match(await odd, { name: 'TypeError' })
  t.match(await other, { status: 'SUCCESS' }, 'what is under way goes on')
  const name = 'y'.repeat(longest - Buffer.byteLength(JSON.stringify({ ...ORDER, unknown: '' })))
  t.match(await outcome(client.orders.CreateOrder({ ...ORDER, unknown: name } as never)), { status: 'SUCCESS' }, 'the longest is taken')
  t.match(await outcome(client.orders.CreateOrder({ ...ORDER, unknown: `${name}y` } as never)), { code: 'BODY_TOO_LARGE' })
})

t.test('what never left is not applied, whatever ends the socket; what left is ambiguous', async (t) => {
  const ends: [what: string, end: (socket: ServedSocket, orders: OrderEntry) => void][] = [
    ['the service closes', (socket) => socket.close(1001)],
    ['the client closes', (_, orders) => orders.close()],
    ['another sign-in', (_, orders) => orders.signedIn()],
  ]
  for (const [what, end] of ends) {
    const { server, orders } = await stage(t)
    const before = outcome(orders.call('CreateOrder', {}))
    const first = await server.socket()
    await first.said('session.open')
    end(first, orders)
    t.match(await before, { name: 'NetworkError', outcome: 'not-applied', retry: 'safe' }, `${what}: before the session`)
    const { server: other, orders: busy } = await stage(t)
    const calls = Array.from({ length: 300 }, () => outcome(busy.call('CreateOrder', {})))
    const socket = await other.socket()
    await openSession(socket)
    await socket.said('order.create', 256)
    end(socket, busy)
    const outcomes = (await Promise.all(calls)).map((error) => (error as NetworkError).outcome)
    t.strictSame(outcomes, [...Array(256).fill('unknown'), ...Array(44).fill('not-applied')], what)
  }
})

t.test('a session that is refused has sent nothing', async (t) => {
  const { server, orders } = await stage(t)
  const call = outcome(orders.call('CreateOrder', {}))
  const socket = await server.socket()
  const [opening] = await socket.said('session.open')
  const error = { error: 'UNAVAILABLE', message: 'm', code: 'SERVICE_UNAVAILABLE', statusCode: 503 }
  socket.send({ type: 'result', id: opening!['id'], status: 503, error })
  t.match(await call, { name: 'RingbookError', code: 'SERVICE_UNAVAILABLE', outcome: 'not-applied' })
})
