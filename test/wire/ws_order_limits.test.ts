/**
 * Promise: every bound of order entry holds, says so, and harms nobody else: messages in flight, bytes, sizes, messages of nobody knows
 * whom, rate classes, clients that do not read. What ends a connection waits for the answers of what the engine has been asked, a while.
 */
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { ANSWERS_MS, IN_FLIGHT_MAX } from '../../gateway/stream/signed_stream.ts'
import { ORDER_MESSAGE_MAX } from '../../gateway/ws/order_messages.ts'
import { call, startHarness, type Harness, type Session } from '../support/gateway_harness.ts'
import { OrderSocket, signedOrder } from '../support/order_client.ts'
import { rawFrame, RawSocket, signerOf, type Frame } from '../support/sockets.ts'
import { until } from '../support/until.ts'

const MESSAGES = 20
const FLAGS = ['--ws-order-entry', '1', '--ws-messages-per-second', '1', '--ws-message-burst', String(MESSAGES)]
const harness = await startHarness(FLAGS)
const narrow = await startHarness([
  ...FLAGS, '--ws-order-bytes-per-second', '1024', '--ws-order-bytes-burst', '65536', '--enforce-rate-limits', '1',
  '--rate-create-per-second', '3',
])
t.teardown(() => Promise.all([harness.close(), narrow.close()]))
const BODY = { tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '100' }
const MISSING = { orderId: '00000000-0005-8001-8000-00001f2a335e' }

const countersOf = ({ shared }: Harness): Float64Array => gatewayCounters(shared.counters, 1)
const counters = countersOf(harness)

async function trader(of = harness): Promise<Session> {
  const session = await of.openSession()
  if ((await call(of, session, 'POST', '/api/v1/faucet/mint', {})).status !== 200) throw new Error('no funds')
  return session
}
const results = ({ client }: OrderSocket): Frame[] => client.frames.filter(({ type }) => type === 'result')
/** Sends without waiting. */
const cancel = (socket: OrderSocket, id: number): void =>
  socket.client.send({ type: 'order.cancel', id, counter: ++socket.counter, body: MISSING })

t.test('orders do not draw from the budget of messages, and everything else still does', async (t) => {
  const socket = await OrderSocket.inSession(harness.port, signerOf(await trader()))
  for (let i = 0; i < 5 * MESSAGES; i++) cancel(socket, i)
  const over = `order ${5 * MESSAGES}`
  t.match(await socket.send({ type: 'order.cancel', id: over, counter: 1_000_000, body: MISSING }), { status: 404 })
  for (let i = 0; i < 2 * MESSAGES; i++) socket.client.send({ type: 'ping' })
  t.match(await socket.client.closed, { code: 1008, reason: 'MESSAGE_RATE_LIMIT' })
  t.equal(results(socket).length, 5 * MESSAGES + 2)
})

t.test('messages of nobody knows whom draw from the budget of messages', async (t) => {
  const signer = signerOf(await trader())
  const good = signedOrder(signer, 'order.cancel_all', undefined)
  const kinds: Record<string, Frame> = {
    'a wrong signature': { ...good, signature: '0'.repeat(128) }, 'another type': { ...good, type: 'order.create' },
    'an old time': { ...good, timestamp: '1700000000000' }, 'no id': { ...good, id: undefined },
    'an unsigned opening': { type: 'session.open', id: 1 }, 'a signed body that is no text': { ...good, body: {} },
  }
  for (const [kind, message] of Object.entries(kinds)) {
    const socket = await OrderSocket.open(harness.port, signer)
    for (let i = 0; i < 2 * MESSAGES + 100; i++) socket.client.send(message)
    t.match(await socket.client.closed, { code: 1008, reason: 'MESSAGE_RATE_LIMIT' }, kind)
    t.ok(results(socket).length >= MESSAGES, `${kind}: the burst was answered`)
    t.ok(results(socket).every(({ status }) => status === 400 || status === 401), kind)
  }
  const replayed = await OrderSocket.open(harness.port, signer)
  const opening = signedOrder(signer, 'session.open', '{"counter":7}')
  for (let i = 0; i < 2 * MESSAGES + 100; i++) replayed.client.send(opening)
  t.match(await replayed.client.closed, { code: 1008, reason: 'MESSAGE_RATE_LIMIT' })
  t.equal(results(replayed).filter(({ status }) => status === 200).length, 1, 'it opened once')
})

t.test('order messages have a byte budget of their own', async (t) => {
  t.match(readConfig([], {}), { wsOrderEntry: 0, wsOrderBytesPerSecond: 8_388_608, wsOrderBytesBurst: 8_388_608 })
  const socket = await OrderSocket.inSession(narrow.port, signerOf(await trader(narrow)))
  // Twice the burst, whatever comes of a machine that stands still for half a minute.
  for (let i = 0; i < 100; i++) {
    socket.client.send({ type: 'order.cancel', id: i, counter: ++socket.counter, body: { ...MISSING, more: 'x'.repeat(1000) } })
  }
  t.match(await socket.client.closed, { code: 1008, reason: 'MESSAGE_RATE_LIMIT' })
  t.ok(results(socket).length > 50, 'the burst was answered, before the end')
  const { code, message } = socket.client.frames.at(-1)!
  t.match([code, message], ['MESSAGE_RATE_LIMIT', /^Too many bytes of order messages: the most are [0-9]+ a second$/])
})

/** An order with every field that an order can have here. */
const FULL = {
  ...BODY, quantity: '1000000000.123456', price: '1000000000.1234', timeInForce: 'GTC', postOnly: true, useMasterBalance: false,
  reduceOnly: false, tradingMode: 'SPOT', clientOrderId: 'x'.repeat(40), idempotencyKey: 'y'.repeat(128),
  selfTradePreventionMode: 'CANCEL_TAKER', expirationDate: '2090-01-01T00:00:00.000Z',
}

t.test('a batch of a hundred orders fits, signed or not; what is longer ends the connection with 1009', async (t) => {
  const signer = signerOf(await trader())
  const full = JSON.stringify({ orders: Array.from({ length: 100 }, () => FULL) })
  const message = signedOrder(signer, 'order.batch', full, 'x'.repeat(64))
  t.ok(JSON.stringify(message).length <= ORDER_MESSAGE_MAX, `${JSON.stringify(message).length} bytes`)
  const socket = await OrderSocket.open(harness.port, signer)
  t.match(await socket.send(message), { status: 200, data: { totalRequested: 100 } })
  const whole = (length: number): string => {
    const base = JSON.stringify({ ...signedOrder(signer, 'order.cancel_all', undefined, 'long'), more: '' })
    return base.replace('"more":""', `"more":"${'z'.repeat(length - base.length)}"`)
  }
  socket.client.send(whole(ORDER_MESSAGE_MAX))
  t.match(await socket.client.next(({ id }) => id === 'long'), { status: 200 })
  socket.client.send(whole(ORDER_MESSAGE_MAX + 1))
  t.match(await socket.client.closed, { code: 1009 })
  const other = await OrderSocket.open(harness.port, signer)
  other.client.send({ type: 'ping', more: 'z'.repeat(16 * 1024) })
  t.match(await other.client.closed, { code: 1009 }, 'other messages are bounded as they were')
})

t.test('orders draw from the rate classes, over all transports', async (t) => {
  const session = await trader(narrow)
  const socket = await OrderSocket.inSession(narrow.port, signerOf(session))
  const orders = Array.from({ length: 4 }, () => BODY)
  const over = await socket.counted('order.batch', { orders })
  const rest = await call(narrow, session, 'POST', '/api/v1/orders/batch-create', { orders })
  t.match(over, { status: 429, error: { code: 'RATE_LIMIT_EXCEEDED', details: { retryAfter: Number } } })
  t.strictSame({ ...over['error'], details: 0 }, { ...rest.json, details: 0 })
  t.match(over['error'].message, /4 items are more than the 3 that one window holds/)
  // A minute may end between the two, and a second holds three orders; then again.
  let [left, next] = [0, 0]
  for (let attempt = 0; attempt < 50 && next !== left - 1; attempt++) {
    if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, 100))
    const answer = await socket.counted('order.create', BODY)
    if (answer['status'] !== 200) continue
    left = answer['budget'].remainingMinute
    next = Number((await call(narrow, session, 'POST', '/api/v1/orders', BODY)).headers['x-ratelimit-remaining-minute'])
  }
  t.equal(next, left - 1, 'one budget')
  t.match(await socket.counted('order.cancel_all', {}), { status: 200 }, 'ways out are never limited')
  socket.close()
})

t.test('so many messages are in flight; more are refused, and none is lost', async (t) => {
  const socket = await OrderSocket.inSession(harness.port, signerOf(await trader()))
  harness.hold(true)
  const from = socket.client.frames.length
  const refused = counters[GATEWAY.ws_orders_refused]!
  for (let i = 0; i < IN_FLIGHT_MAX; i++) cancel(socket, i)
  t.ok(await until(() => counters[GATEWAY.pending] === IN_FLIGHT_MAX))
  const bytes = counters[GATEWAY.body_bytes]!
  for (let i = IN_FLIGHT_MAX; i < IN_FLIGHT_MAX + 10; i++) cancel(socket, i)
  t.ok(await until(() => results(socket).length === 11))
  t.ok(socket.client.frames.slice(from).every(({ error }) => error.code === 'OVERLOADED'))
  t.strictSame(socket.client.frames.slice(from).map(({ id }) => id), Array.from({ length: 10 }, (_, i) => IN_FLIGHT_MAX + i))
  t.equal(counters[GATEWAY.ws_orders_refused]! - refused, 10)
  t.ok(counters[GATEWAY.body_bytes]! - bytes < 10 * 200, 'counted by what was sent, not by what it draws')
  harness.hold(false)
  t.ok(await until(() => results(socket).length === IN_FLIGHT_MAX + 11))
  t.equal(new Set(results(socket).map(({ id }) => id)).size, IN_FLIGHT_MAX + 11, 'each was answered once')
  cancel(socket, 9999)
  t.ok(await socket.client.next(({ id }) => id === 9999), 'and there is room again')
  socket.close()
})

t.test('a client that leaves loses its answers, and nothing else is kept', async (t) => {
  t.ok(await until(() => counters[GATEWAY.ws_connections] === 0), 'the others are gone')
  const session = await trader()
  const socket = await OrderSocket.inSession(harness.port, signerOf(session))
  harness.hold(true)
  socket.client.send({ type: 'order.create', id: 1, counter: ++socket.counter, body: BODY })
  for (let i = 2; i < 20; i++) cancel(socket, i)
  t.ok(await until(() => counters[GATEWAY.pending] === 19))
  socket.close()
  t.ok(await until(() => counters[GATEWAY.ws_connections] === 0))
  const aborted = counters[GATEWAY.aborted]!
  harness.hold(false)
  t.ok(await until(() => counters[GATEWAY.pending] === 0))
  t.ok(await until(() => counters[GATEWAY.aborted]! - aborted >= 19))
  t.equal(counters[GATEWAY.aborted]! - aborted, 19)
  const { json } = await call(harness, session, 'GET', '/api/v1/orders?status=SUBMITTED')
  t.equal(json.total, 1, 'what was sent was done')
})

t.test('a client that does not read its answers is cut', async (t) => {
  const roomy = await startHarness(['--ws-order-entry', '1', '--ws-buffer-kb', '16'])
  const slow = countersOf(roomy)
  const raw = new RawSocket(roomy.port)
  t.ok(await raw.until(() => raw.frames.length === 1))
  raw.write(rawFrame(0x81, JSON.stringify(signedOrder(signerOf(await roomy.openSession()), 'session.open', undefined, 1))))
  t.ok(await raw.until(() => raw.frames.length === 2))
  raw.socket.pause()
  // A hundred refusals in each answer: what the kernel holds for the client fills up, then the buffer. Bytes are few.
  const orders = `{"orders":[${Array.from({ length: 100 }, () => '1').join()}]}`
  for (let i = 1; i < 10_000 && slow[GATEWAY.ws_slow] === 0; i++) {
    raw.write(rawFrame(0x81, `{"type":"order.batch","id":${i},"counter":${i},"body":${orders}}`))
    if (i % 16 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  t.equal(slow[GATEWAY.ws_slow], 1)
  t.ok(await until(() => slow[GATEWAY.ws_connections] === 0))
  t.equal(slow[GATEWAY.unhandled], 0)
  raw.destroy()
  await roomy.close()
})

t.test('what was asked before the session ended is answered before the end', async (t) => {
  const session = await trader()
  const socket = await OrderSocket.inSession(harness.port, signerOf(session))
  await socket.client.subscribe('orders')
  harness.hold(true)
  socket.client.send({ type: 'order.create', id: 'before', counter: 1, body: BODY })
  t.ok(await until(() => counters[GATEWAY.pending] === 1))
  const revoked = call(harness, session, 'POST', '/api/v1/auth/revoke')
  t.ok(await until(() => counters[GATEWAY.pending] === 2))
  socket.client.send({ type: 'order.create', id: 'after', counter: 2, body: BODY })
  t.ok(await until(() => counters[GATEWAY.pending] === 3))
  harness.hold(false)
  t.equal((await revoked).status, 200)
  t.match(await socket.client.closed, { code: 1008, reason: 'SESSION_INVALID' })
  const of = (name: string): Frame => results(socket).find(({ id }) => id === name)!
  t.match(of('before'), { status: 200 }, 'sequenced before the revocation')
  t.match(of('after'), { status: 401, error: { code: 'SESSION_INVALID' } }, 'sequenced after it')
  t.match(socket.client.frames.at(-1), { type: 'error', code: 'SESSION_INVALID' })
})

t.test('an engine that does not answer does not keep the connection of a dead session open', async (t) => {
  const session = await trader()
  const socket = await OrderSocket.inSession(harness.port, signerOf(session))
  harness.hold(true)
  cancel(socket, 1)
  t.ok(await until(() => counters[GATEWAY.pending] === 1))
  harness.state.sessionsF64[(session.row * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = Date.now() - 1
  socket.client.send({ type: 'order.cancel_all', id: 2, counter: 2 })
  t.match(await socket.client.closed, { code: 1008, reason: 'SESSION_INVALID' })
  t.equal(results(socket).length, 1, 'neither of them is answered')
  harness.hold(false)
  t.ok(await until(() => counters[GATEWAY.pending] === 0))
})

t.test('a stop gives the answers that are under way, refuses what comes, and says goodbye', async (t) => {
  // A machine that stands still for longer than the stop waits gives no answer; then the next time.
  for (let attempt = 0; attempt < 5; attempt++) {
    const stopping = await startHarness(FLAGS)
    const session = await trader(stopping)
    const socket = await OrderSocket.inSession(stopping.port, signerOf(session))
    const idle = await OrderSocket.open(stopping.port, signerOf(session))
    stopping.hold(true)
    socket.client.send({ type: 'order.create', id: 'under way', counter: 1, body: BODY })
    t.ok(await until(() => countersOf(stopping)[GATEWAY.pending] === 1))
    const began = performance.now()
    const closed = stopping.close()
    t.match(await idle.client.closed, { code: 1001 }, 'who waits for nothing is told at once')
    const late = await Promise.race([
      socket.send({ type: 'order.create', id: 'late', counter: 2, body: BODY }), socket.client.closed.then(() => null),
    ])
    stopping.hold(false)
    t.match(await socket.client.closed, { code: 1001 })
    await closed
    if (performance.now() - began > ANSWERS_MS / 2 && (late === null || results(socket).length < 3)) continue
    t.match(late, { status: 503, error: { code: 'ENGINE_UNAVAILABLE' } })
    t.match(results(socket).at(-1), { id: 'under way', status: 200 })
    return
  }
  t.fail('the machine never stopped in time')
})

t.test('nothing went wrong inside', async (t) => {
  for (const each of [counters, countersOf(narrow)]) {
    t.ok(await until(() => each[GATEWAY.ws_connections] === 0))
    t.strictSame([each[GATEWAY.unhandled], each[GATEWAY.ws_authenticated], each[GATEWAY.pending]], [0, 0, 0])
  }
})
