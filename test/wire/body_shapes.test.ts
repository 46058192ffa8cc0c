/**
 * Promise: what is built of too much is refused before it is parsed, by name; a signed body is verified before anything of it is looked at,
 * so that nobody else can have it parsed; and a WebSocket goes on after such a message.
 */
import t from 'tap'
import { call, request, signed, startHarness, type Reply } from '../support/gateway_harness.ts'
import { OrderSocket, signedOrder } from '../support/order_client.ts'
import { signerOf, SocketClient } from '../support/sockets.ts'

const harness = await startHarness(['--ws-order-entry', '1'])
t.teardown(() => harness.close())
const { port, genesis } = harness
const session = await harness.openSession()
await call(harness, session, 'POST', '/api/v1/faucet/mint')

const order = { tradingPairId: genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100' }
const beside = (rest: string): string => `${JSON.stringify(order).slice(0, -1)},${rest}}`
const keys = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',')
const DEEP = `"x":${'['.repeat(10_000)}${']'.repeat(10_000)}`
const ATTACKS: Record<string, string> = {
  'deep lists': beside(DEEP),
  'deep objects': beside(`"x":${'{"a":'.repeat(20)}1${'}'.repeat(20)}`),
  'unknown fields': beside(keys(150_000)),
  'a long list': beside(`"x":[${'0,'.repeat(900_000)}0]`), 'nothing but openings': '['.repeat(2 * 1024 * 1024),
}

const post = (target: string, text: string, headers = signed(session, 'POST', target, text)): Promise<Reply> =>
  request(port, 'POST', target, headers, text)

for (const [name, text] of Object.entries(ATTACKS)) {
  t.test(name, async (t) => {
    t.match(await post('/api/v1/orders', text), { status: 400, json: { error: 'VALIDATION_ERROR', code: 'BODY_TOO_COMPLEX' } })
    const other = signed(session, 'POST', '/api/v1/orders', `${text} `)
    const forged = await post('/api/v1/orders', text, other)
    t.match(forged, { status: 401, json: { code: 'INVALID_SIGNATURE' } }, 'who did not sign it learns nothing')
    t.match(await post('/api/v1/auth/challenge', text.slice(0, 4096), {}), { status: 400 }, 'nobody may send as much of it as would matter')
  })
}

t.test('some unknown fields are ignored, and some depth', async (t) => {
  t.equal((await post('/api/v1/orders', beside(keys(20)))).status, 200)
  t.equal((await post('/api/v1/orders', beside('"x":[[[[{"a":[1,2]}]]]]'))).status, 200)
  const texts = beside(`"x":"${'[{,'.repeat(100_000)}"`)
  t.equal((await post('/api/v1/orders', texts)).status, 200, 'a text may be as long as the body')
})

t.test('anybody\'s body of few bytes is looked at too', async (t) => {
  const text = `{"address":"x",${keys(300)}}`
  t.match(await post('/api/v1/auth/challenge', text, {}), { status: 400, json: { code: 'BODY_TOO_COMPLEX' } })
})

t.test('messages of a WebSocket', async (t) => {
  const client = await SocketClient.open(port)
  for (const text of [`{"type":"ping",${DEEP.slice(0, 7_000)}`, `{"type":"ping",${keys(500)}}`, '['.repeat(16_000)]) {
    const from = client.frames.length
    client.send(text)
    t.match(await client.next(({ type }) => type === 'error', from), { code: 'INVALID_SUBSCRIPTION', message: /too many/ })
  }
  const from = client.frames.length
  client.send({ type: 'ping' })
  t.ok(await client.next(({ type }) => type === 'pong', from), 'it goes on')
  client.close()
})

t.test('orders on a WebSocket', async (t) => {
  const signer = signerOf(session)
  const socket = await OrderSocket.open(port, signer)
  const text = beside(keys(4_000))
  t.match(await socket.send(signedOrder(signer, 'order.create', text, 'a')), { status: 400, error: { code: 'BODY_TOO_COMPLEX' } })
  const forged = { ...signedOrder(signer, 'order.create', `${text} `, 'b'), body: text }
  t.match(await socket.send(forged), { status: 401, error: { code: 'INVALID_SIGNATURE' } }, 'the signature comes first')
  const from = socket.client.frames.length
  socket.client.send(`{"type":"order.create","id":"c","counter":1,"body":${beside(keys(500))}}`)
  const unsigned = await socket.client.next(({ type }) => type === 'error', from)
  t.match(unsigned, { message: /too many/ }, 'without a session its fields are too many')
  t.equal((await socket.signed('order.create', order)).status, 200)
  socket.client.close()
  const trusted = await OrderSocket.inSession(port, signer)
  const all = { ...order, clientOrderId: 'x', timeInForce: 'GTC', postOnly: true, selfTradePreventionMode: 'CANCEL_TAKER' }
  const batch = { orders: Array.from({ length: 100 }, (_, i) => ({ ...all, clientOrderId: `shape-${i}`, idempotencyKey: `shape-${i}` })) }
  t.match(await trusted.counted('order.batch', batch), { status: 200, data: { totalSucceeded: 100 } }, 'a full batch fits')
  trusted.client.close()
})
