/**
 * Promise: every bound of the WebSocket holds, says so, and harms nobody else: messages, bytes, subscriptions, connections, sockets that
 * do not read, readers that were lapped. A stop says goodbye.
 */
import t from 'tap'
import { readConfig } from '../../core/config.ts'
import { APPLYING, GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { attachBroadcast, broadcast } from '../../core/ring/broadcast.ts'
import { RECORD_WORDS } from '../../core/layout/table.ts'
import { call, request, startHarness, type Harness, type Session } from '../support/gateway_harness.ts'
import { Listener } from '../support/listener.ts'
import { rawFrame, RawSocket, signerOf, SocketClient } from '../support/sockets.ts'
import { until } from '../support/until.ts'

const harness = await startHarness([
  '--ws-messages-per-second', '1', '--ws-message-burst', '60', '--ws-connections-per-account', '3', '--ws-subscriptions', '4',
  '--ws-subscription-burst', '6', '--ws-buffer-kb', '16', '--event-ring', '1024', '--gateways', '2', '--ws-connections', '40',
])
t.teardown(() => harness.close())
t.setTimeout(120_000)
const { port } = harness
const [pair, other] = harness.genesis.pairs as [Harness['genesis']['pairs'][0], Harness['genesis']['pairs'][0]]
const PING = '{"type":"ping"}'
const BURST = 60

/** Of both threads. */
const total = (name: keyof typeof GATEWAY): number =>
  [1, 2].reduce((sum, thread) => sum + gatewayCounters(harness.shared.counters, thread)[GATEWAY[name]]!, 0)

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  if ((await call(harness, session, 'POST', '/api/v1/faucet/mint', {})).status !== 200) throw new Error('no funds')
  return session
}

t.test('the bounds are those of the specification unless the operator says otherwise', async (t) => {
  t.match(readConfig([], {}), {
    wsSubscriptions: 1024, wsSubscriptionBurst: 1200, wsConnectionsPerAccount: 50, wsMessagesPerSecond: 20, wsMessageBurst: 300,
  })
})

for (const [what, frame] of [['messages', rawFrame(0x81, PING)], ['pings', rawFrame(0x89)]] as const) {
  t.test(`the first of too many ${what} gets MESSAGE_RATE_LIMIT, then 1008`, async (t) => {
    const raw = new RawSocket(port)
    t.ok(await raw.until(() => raw.frames.length === 1))
    // More than the burst and what comes of a machine that stands still for a minute.
    raw.write(...Array.from({ length: BURST + 100 }, () => frame))
    t.ok(await raw.until(() => raw.closed))
    const { frames } = raw
    t.equal(frames.at(-1)!.opcode, 8)
    t.equal(frames.at(-1)!.payload.readUInt16BE(0), 1008)
    t.match(JSON.parse(frames.at(-2)!.payload.toString()), { type: 'error', code: 'MESSAGE_RATE_LIMIT' })
    t.ok(frames.length - 3 >= BURST, 'the burst was served')
  })
}

t.test('pongs and continuations draw nothing', async (t) => {
  const raw = new RawSocket(port)
  t.ok(await raw.until(() => raw.frames.length === 1))
  raw.write(...Array.from({ length: 5 * BURST }, () => rawFrame(0x8a)))
  raw.write(rawFrame(0x01), ...Array.from({ length: 5 * BURST }, () => rawFrame(0x00)), rawFrame(0x80, PING))
  t.ok(await raw.until(() => raw.frames.length === 2))
  t.match(raw.frames[1]!.payload.toString(), /^\{"type":"pong"/)
  raw.destroy()
})

t.test('large messages draw from the byte budget', async (t) => {
  const raw = new RawSocket(port)
  t.ok(await raw.until(() => raw.frames.length === 1))
  raw.write(...Array.from({ length: BURST - 1 }, () => rawFrame(0x81, PING.padEnd(16_384))))
  t.ok(await raw.until(() => raw.closed))
  t.match(JSON.parse(raw.frames.at(-2)!.payload.toString()), { code: 'MESSAGE_RATE_LIMIT' })
})

t.test('subscriptions: a burst for a while, then the newest go; never more than the burst', async (t) => {
  const client = await SocketClient.open(port)
  const wanted = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
  const answers = []
  for (const magnitude of wanted) answers.push(await client.subscribe('orderbook', { tradingPairId: pair.id, magnitude }))
  t.strictSame(answers.map(({ type, code }) => code ?? type), [...Array<string>(6).fill('subscribed'), 'SUBSCRIPTION_LIMIT'])
  t.match(await client.subscribe('orderbook', { tradingPairId: pair.id }), { type: 'subscribed' }, 'one that exists is not one more')
  const ended = (magnitude: number) => client.next(({ type, params }) => type === 'unsubscribed' && params.magnitude === magnitude)
  t.ok(await ended(100_000))
  t.ok(await ended(10_000))
  t.equal(client.frames.filter(({ type }) => type === 'unsubscribed').length, 2)
  t.match(await client.ask({ type: 'unsubscribe', channel: 'orderbook', params: { tradingPairId: pair.id } }), { type: 'unsubscribed' })
  t.match(await client.subscribe('trades', { tradingPairId: pair.id }), { type: 'subscribed' }, 'there is room again')
  client.close()
})

t.test('authenticated connections of an account are counted over all threads', async (t) => {
  const session = await trader()
  const again = await harness.openSession(0, session.address)
  const clients: SocketClient[] = []
  for (let i = 0; i < 3; i++) {
    const client = await SocketClient.open(port)
    t.match(await client.authenticate(signerOf(i === 1 ? again : session)), { type: 'authenticated' })
    clients.push(client)
  }
  const tooMany = await SocketClient.open(port)
  await tooMany.authenticate(signerOf(session))
  t.match(await tooMany.closed, { code: 1008, reason: 'SUBSCRIPTION_LIMIT' })
  const stranger = await SocketClient.open(port)
  t.match(await stranger.authenticate(signerOf(await trader())), { type: 'authenticated' }, 'another account has its own')
  clients[0]!.close()
  t.ok(await until(() => total('ws_authenticated') === 3))
  const next = await SocketClient.open(port)
  t.match(await next.authenticate(signerOf(session)), { type: 'authenticated' }, 'a place that was given back')
  for (const client of [...clients, stranger, next]) client.close()
})

// What happens when it does not answer either: unit/ws_asked_books.test.ts.
t.test('a book that cannot be copied is asked of the matcher', async (t) => {
  const client = await SocketClient.open(port)
  const gate = new Int32Array(harness.shared.gate)
  Atomics.add(gate, APPLYING, 1)
  const from = client.frames.length
  client.send({ type: 'subscribe', channel: 'orderbook', params: { tradingPairId: other.id } })
  t.match(await client.next(({ channel, type }) => channel === 'orderbook' && type === 'snapshot', from), { data: { bids: [] } })
  Atomics.add(gate, APPLYING, 1)
  t.notOk(client.frames.slice(from).some(({ type }) => type === 'error'))
  client.close()
})

t.test('orders and balances that cannot be read are SNAPSHOT_UNAVAILABLE, and come when they can, each once', async (t) => {
  const client = await SocketClient.open(port)
  await client.authenticate(signerOf(await trader()))
  const gate = new Int32Array(harness.shared.gate)
  Atomics.add(gate, APPLYING, 1)
  for (const channel of ['orders', 'balances']) {
    client.send({ type: 'subscribe', channel })
    t.match(await client.next(({ type, channel: of }) => type === 'error' && of === channel), { code: 'SNAPSHOT_UNAVAILABLE' })
  }
  client.send({ type: 'subscribe', channel: 'balances' })
  Atomics.add(gate, APPLYING, 1)
  for (const channel of ['orders', 'balances']) t.ok(await client.next(({ channel: of, type }) => of === channel && type === 'snapshot'))
  t.match(await client.subscribe('orders'), { type: 'subscribed' })
  const snapshots = (): number => client.frames.filter(({ channel, type }) => channel === 'orders' && type === 'snapshot').length
  t.ok(await until(() => snapshots() === 2), 'the late one, and a new one')
  client.close()
})

/** Makes the fan-out of both threads tell something. */
async function change(session: Session, quantity = '0.5'): Promise<void> {
  const order = { tradingPairId: pair.id, orderType: 'LIMIT', side: 'BUY', quantity, price: '100' }
  const { status, json } = await call(harness, session, 'POST', '/api/v1/orders', order)
  if (status !== 200) throw new Error(JSON.stringify(json))
  await call(harness, session, 'DELETE', `/api/v1/orders/${json.orderId}`)
}

t.test('a client that does not read is cut, and the others get everything', async (t) => {
  const roomy = await startHarness(['--ws-message-burst', '1000000', '--ws-buffer-kb', '16'])
  const counters = gatewayCounters(roomy.shared.counters, 1)
  const raw = new RawSocket(roomy.port)
  t.ok(await raw.until(() => raw.frames.length === 1))
  const reader = await SocketClient.open(roomy.port)
  await reader.subscribe('instruments')
  raw.socket.pause()
  // Snapshots fill what the kernel holds for a client that does not read, and then the buffer. Bytes are drawn too: they are few.
  const ask = rawFrame(0x81, '{"type":"subscribe","channel":"instruments"}')
  for (let i = 0; i < 10_000 && counters[GATEWAY.ws_slow] === 0 && counters[GATEWAY.ws_closed_1008] === 0; i++) {
    raw.write(ask)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  t.equal(counters[GATEWAY.ws_slow], 1)
  t.match(await reader.subscribe('instruments'), { type: 'subscribed' })
  t.ok(await until(() => counters[GATEWAY.ws_connections] === 1))
  raw.destroy()
  reader.close()
  await roomy.close()
})

t.test('readers that were lapped close their sockets with 1013; those that listen to nothing stay', async (t) => {
  const session = await trader()
  const [listening, idle] = [await SocketClient.open(port), await SocketClient.open(port)]
  await listening.subscribe('orderbook', { tradingPairId: pair.id })
  // A whole ring and more at once: no reader is that fast, and if this thread is that slow, then the next time.
  const ring = attachBroadcast(harness.shared.events)
  const lapped = total('ws_closed_1013')
  t.ok(await until(() => {
    if (total('ws_closed_1013') > lapped) return true
    broadcast(ring, new Int32Array(5000 * RECORD_WORDS), 5000)
    return false
  }))
  t.match(await listening.closed, { code: 1013 })
  idle.send(PING)
  t.ok(await idle.next(({ type }) => type === 'pong'))
  t.match(await idle.subscribe('orderbook', { tradingPairId: pair.id }), { type: 'subscribed' }, 'who comes afterwards begins anew')
  for (const quantity of ['0.5', '0.7', '0.9']) await change(session, quantity)
  const order = { tradingPairId: pair.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.3', price: '101' }
  t.equal((await call(harness, session, 'POST', '/api/v1/orders', order)).status, 200)
  const book = (await request(port, 'GET', `/api/v1/orderbook/${pair.id}?depth=1000`)).json
  const listener = new Listener(idle)
  t.ok(await until(() => {
    listener.catchUp()
    return listener.books.get(1)!.sequence >= book.sequence
  }))
  const { sequence, checksum, updates } = listener.books.get(1)!
  t.ok(updates > 0)
  t.match({ sequence, checksum }, { sequence: book.sequence, checksum: book.checksum }, 'and has it exactly')
  const levels = (side: { price: string; quantity: string }[]) => side.map(({ price, quantity }) => ({ price, quantity }))
  t.strictSame(listener.books.get(1)!.side('bids'), levels(book.bids))
  t.strictSame(listener.books.get(1)!.side('asks'), levels(book.asks))
  idle.close()
})

t.test('too many connections are 503', async (t) => {
  t.ok(await until(() => total('ws_connections') === 0))
  const sockets = Array.from({ length: 82 }, () => new RawSocket(port))
  for (const socket of sockets) t.ok(await socket.until(() => socket.status !== 0))
  const refused = sockets.filter(({ status }) => status === 503).length
  t.ok(refused >= 2, 'two threads take forty each')
  t.equal(sockets.filter(({ status }) => status === 101).length, 82 - refused)
  for (const socket of sockets) socket.destroy()
  t.ok(await until(() => total('ws_connections') === 0))
})

t.test('a stop says goodbye with 1001', async (t) => {
  const stopping = await startHarness()
  const client = await SocketClient.open(stopping.port)
  await client.subscribe('instruments')
  await stopping.close()
  t.match(await client.closed, { code: 1001 })
})

t.test('nothing went wrong inside', async (t) => {
  t.equal(total('unhandled'), 0)
  t.equal(total('ws_subscriptions'), 0)
})
