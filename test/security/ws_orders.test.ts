/**
 * Promise: an order on a WebSocket is of whom its signature says, and what it says: nothing that was signed for another type, path,
 * transport, body, time or key is good for one, and what opened a session opens no other, on whatever thread it comes.
 */
import t, { type Test } from 'tap'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { ORDER_ACTIONS } from '../../gateway/ws/order_messages.ts'
import { openDeadSessions, request, signed as signedHeaders, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, encodeMessage } from '../support/grpc.ts'
import { encodeAction, StreamClient } from '../support/grpc_stream.ts'
import { bytesOf, hostileSignatures, movedKeys, NON_CANONICAL, OFF_CURVE, SMALL_ORDER, wrongLengths } from '../support/hostile_vectors.ts'
import { OrderSocket, signedOrder } from '../support/order_client.ts'
import { authMessage, signerOf, SocketClient, type Frame } from '../support/sockets.ts'

const started = Date.now()
// Messages of nobody knows whom are many here.
const harness = await startHarness(['--ws-order-entry', '1', '--gateways', '2', '--grpc-thread', '1', '--ws-message-burst', '1000000'])
const grpc = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  grpc.close()
  await harness.close()
})
const { port } = harness
const BODY = { tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '100' }
const TYPES = [...Object.keys(ORDER_ACTIONS), 'session.open']

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  const target = '/api/v1/faucet/mint'
  const minted = await request(port, 'POST', target, signedHeaders(session, 'POST', target, '{}'), '{}')
  if (minted.status !== 200) throw new Error(`no funds: ${minted.text}`)
  return session
}

/** Sends messages that must do nothing, and names the refusal of each. */
async function refused(t: Test, messages: readonly (readonly [name: string, message: Frame])[], code: string | RegExp): Promise<void> {
  let socket = await SocketClient.open(port)
  const before = harness.lastSequence()
  for (const [i, [name, message]] of messages.entries()) {
    // The bytes of messages of nobody are bounded: a connection for a few of them.
    if (i % 50 === 49) {
      socket.close()
      socket = await SocketClient.open(port)
    }
    const from = socket.frames.length
    socket.send({ ...message, id: i })
    const answer = await socket.next(({ id }) => id === i, from)
    t.match(answer, { type: 'result', status: 401, error: { code } }, name)
  }
  t.ok(messages.length > 0)
  t.equal(harness.lastSequence(), before, 'nothing reached the engine')
  socket.close()
}

t.test('a signature is of one type', async (t) => {
  const signer = signerOf(await trader())
  const body = JSON.stringify({ ...BODY, orderId: '00000000-0005-8001-8000-00001f2a335e', orders: [BODY], orderIds: [], counter: 1 })
  const messages = TYPES.flatMap((type) => TYPES.filter((other) => other !== type)
    .map((other): [string, Frame] => [`${type} as ${other}`, { ...signedOrder(signer, type, body), type: other }]))
  await refused(t, messages, 'INVALID_SIGNATURE')
})

t.test('a signature is of one transport', async (t) => {
  const session = await trader()
  const signer = signerOf(session)
  const text = JSON.stringify(BODY)
  const timestamp = String(Date.now())
  const lifted = (method: string, target: string, body: string): Frame => {
    const headers = signedHeaders(session, method, target, body, timestamp)
    return { type: 'order.create', body, publicKey: session.publicKey, timestamp, signature: headers['X-Svc-Signature'] }
  }
  const opening = { ...authMessage(signer), type: 'session.open' }
  await refused(t, [
    ['REST', lifted('POST', '/api/v1/orders', text)], ['the type as a path', lifted('POST', 'order.create', text)],
    ['a method in lower case', lifted('ws', 'order.create', text)], ['a path', lifted('WS', '/order.create', text)],
    ['gRPC', lifted('POST', '/svc.v1.OrdersService/CreateOrder', text)], ['auth', { ...opening }],
    ['auth of another path', { ...authMessage(signer, timestamp, 'session.open'), type: 'session.open' }],
  ], 'INVALID_SIGNATURE')
  for (const type of TYPES) {
    const { publicKey, signature } = signedOrder(signer, type, text, 'x', timestamp)
    const headers = { 'X-Svc-PublicKey': publicKey, 'X-Svc-Timestamp': timestamp, 'X-Svc-Signature': signature }
    for (const target of ['/api/v1/orders', '/api/v1/orders/batch-create', '/api/v1/orders/batch-cancel-all']) {
      t.equal((await request(port, 'POST', target, headers, text)).json.code, 'INVALID_SIGNATURE', `${type} for ${target}`)
    }
  }
  const target = await request(port, 'WS', 'order.create', signedHeaders(session, 'WS', 'order.create', text), text)
  t.not(target.status, 200, 'there is no such method over HTTP')
  const listening = await SocketClient.open(port)
  listening.send({ ...signedOrder(signer, 'session.open', undefined), type: 'auth' })
  t.match(await listening.closed, { code: 1008, reason: 'AUTH_FAILED' }, 'an opening is no auth')
})

t.test('what was signed over gRPC opens no session here, nor the other way round', async (t) => {
  const session = await trader()
  const action = encodeAction({ requestId: 'open', counter: 1, openSession: {} })
  const stream = new StreamClient(grpc)
  const { publicKey, timestamp, signature } = signedOrder(signerOf(session), 'session.open', undefined)
  stream.call.write(encodeMessage('StreamOrdersRequest', { action, publicKey, timestamp: Number(timestamp), signature }))
  await stream.count(1)
  t.ok(stream.answers.get('open').error)
  stream.call.cancel()
  const now = String(Date.now())
  const headers = signedHeaders(session, 'POST', '/svc.v1.OrdersService/StreamOrders', action, now)
  await refused(t, [['an action of gRPC', {
    type: 'session.open', publicKey: session.publicKey, timestamp: now, signature: headers['X-Svc-Signature'],
  }]], 'INVALID_SIGNATURE')
})

t.test('every character of a signed body counts, and its writing in JSON does not', async (t) => {
  const signer = signerOf(await trader())
  const text = JSON.stringify({ ...BODY, surprise: 'é\ufffd' })
  const good = signedOrder(signer, 'order.create', text)
  const changes = [
    `${text} `, ` ${text}`, text.replace('"0.5"', '"0.50"'), text.replace('"0.5"', '"5.0"'), text.replace('BUY', 'SELL'),
    text.replace('é', 'e\u0301'), text.replace('é', 'è'), text.replace('{', '{"price":"1",'), '', '{}', text.slice(0, -1), `\ufeff${text}`,
  ]
  await refused(t, changes.map((body, i) => [`change ${i}`, { ...good, body }]), 'INVALID_SIGNATURE')
  await refused(t, [['no body', { ...good, body: undefined }], ['null', { ...good, body: null }]], 'INVALID_SIGNATURE')
  const socket = await OrderSocket.open(port, signer)
  for (const half of ['\ud800', '\udfff']) {
    const answer = await socket.send({ ...good, id: half, body: text.replace('\ufffd', half) })
    t.match(answer, { status: 400, error: { code: 'MALFORMED_REQUEST' } }, 'what UTF-8 cannot say is not taken for what it says instead')
  }
  const escaped = JSON.stringify({ ...good, id: 'escaped' }).replaceAll('\\"', '\\u0022').replace('é', '\\u00e9')
  socket.client.send(escaped)
  t.match(await socket.client.next(({ id }) => id === 'escaped'), { status: 200 })
  socket.close()
})

t.test('a time that is not now is CLOCK_SKEW', async (t) => {
  const signer = signerOf(await trader())
  const now = Date.now()
  const times = [
    now - 40_000, now + 40_000, Math.floor(now / 1000), now * 1000, -now, `+${now}`, ` ${now}`, `${now}.0`, '1e12', 'now', `${now}n`,
  ].map(String)
  await refused(t, times.map((time) => [time, signedOrder(signer, 'order.create', JSON.stringify(BODY), 'x', time)]), 'CLOCK_SKEW')
  const wrong = signedOrder(signer, 'order.create', JSON.stringify(BODY), 'x', String(now))
  await refused(t, [['another time than was signed', { ...wrong, timestamp: String(now - 1) }]], 'INVALID_SIGNATURE')
})

t.test('credentials are whole, and of whom they say', async (t) => {
  const [mine, theirs] = [await trader(), await trader()]
  const good = signedOrder(signerOf(mine), 'order.create', JSON.stringify(BODY))
  const { publicKey, signature, timestamp } = good
  const without = (name: string): Frame => ({ ...good, [name]: undefined })
  await refused(t, [
    ...['publicKey', 'timestamp', 'signature'].flatMap((name): [string, Frame][] =>
      [[`no ${name}`, without(name)], [`${name} null`, { ...good, [name]: null }], [`${name} a list`, { ...good, [name]: [good[name]] }]]),
    ['an unknown key', { ...good, publicKey: 'ab'.repeat(32) }], ['a key in capitals', { ...good, publicKey: publicKey.toUpperCase() }],
    ['a key with 0x', { ...good, publicKey: `0x${publicKey}` }], ['31 bytes', { ...good, publicKey: publicKey.slice(2) }],
  ], 'UNAUTHENTICATED')
  await refused(t, [
    ['the key of somebody else', { ...good, publicKey: theirs.publicKey }],
    ['a signature in capitals', { ...good, signature: signature.toUpperCase() }], ['with 0x', { ...good, signature: `0x${signature}` }],
    ['with more behind', { ...good, signature: `${signature}00` }], ['in base64', { ...good, signature: bytesOf(signature).toString() }],
  ], 'INVALID_SIGNATURE')
  t.ok(Number(timestamp) > 0)
})

t.test('signatures and keys that other verifiers take', async (t) => {
  const session = await trader()
  const good = signedOrder(signerOf(session), 'order.create', JSON.stringify(BODY))
  const bytes = bytesOf(good['signature'] as string)
  const hex = (signature: Uint8Array): string => Buffer.from(signature).toString('hex')
  const made = [...hostileSignatures(bytes), ...wrongLengths(bytes).filter(([, { length }]) => length > 0)]
  await refused(t, made.map(([name, signature]) => [name, { ...good, signature: hex(signature) }]), 'INVALID_SIGNATURE')
  const keys = [...movedKeys(session.publicKey), ...SMALL_ORDER, ...NON_CANONICAL, OFF_CURVE]
  await refused(t, keys.map((publicKey) => [publicKey, { ...good, publicKey }]), 'UNAUTHENTICATED')
})

t.test('sessions that are over enter and open nothing', async (t) => {
  const dead = await openDeadSessions(harness)
  const body = JSON.stringify(BODY)
  for (const [name, session] of Object.entries(dead)) {
    const signer = signerOf(session)
    const socket = await OrderSocket.open(port, signer)
    const target = '/api/v1/orders'
    const { code } = (await request(port, 'POST', target, signedHeaders(session, 'POST', target, body), body)).json
    t.match(await socket.send(signedOrder(signer, 'order.create', body, 'order')), { status: 401, error: { code } }, name)
    t.match(await socket.send(signedOrder(signer, 'session.open', undefined, 'open')), { status: 401, error: { code } }, name)
    socket.close()
  }
  const session = await trader()
  const socket = await OrderSocket.inSession(port, signerOf(session))
  const before = harness.lastSequence()
  harness.state.sessionsF64[(session.row * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = 0
  for (let i = 1; i <= 20; i++) socket.client.send({ type: 'order.create', id: i, counter: i, body: BODY })
  t.match(await socket.client.closed, { code: 1008, reason: 'SESSION_INVALID' })
  t.notOk(socket.client.frames.some(({ id }) => Number.isInteger(id)), 'nothing behind the end is answered')
  t.equal(harness.lastSequence(), before, 'nor done')
})

t.test('nobody cancels or replaces for somebody else', async (t) => {
  const [mine, theirs] = [await trader(), await trader()]
  const [socket, other] = [await OrderSocket.inSession(port, signerOf(mine)), await OrderSocket.inSession(port, signerOf(theirs))]
  const { orderId } = (await other.counted('order.create', BODY))['data']
  const missing = await socket.counted('order.cancel', { orderId: '00000000-0005-8001-8000-00001f2a335e' })
  t.strictSame((await socket.counted('order.cancel', { orderId }))['error'], missing['error'])
  t.match(await socket.counted('order.replace', { orderId, price: '99' }), { status: 404, error: { code: 'ORDER_NOT_FOUND' } })
  t.match((await socket.counted('order.batch_cancel', { orderIds: [orderId] }))['data'], { totalSucceeded: 0 })
  t.match((await socket.counted('order.cancel_all', {}))['data'], { totalCancelled: 0 })
  t.match(await other.counted('order.cancel', { orderId }), { status: 200 }, 'it is still there')
  socket.close()
  other.close()
})

t.test('an opening that is sent to every thread at once opens one session', async (t) => {
  const connections = (thread: number): number => gatewayCounters(harness.shared.counters, thread)[GATEWAY.ws_connections]!
  const sockets: SocketClient[] = []
  while (sockets.length < 8 || (sockets.length < 64 && Math.min(connections(1), connections(2)) < 2)) {
    sockets.push(await SocketClient.open(port))
  }
  t.ok(connections(1) > 0 && connections(2) > 0, 'both threads are asked')
  const signer = signerOf(await trader())
  for (let round = 0; round < 20; round++) {
    const opening = signedOrder(signer, 'session.open', JSON.stringify({ counter: round }), `round ${round}`)
    const answers = await Promise.all(sockets.map((socket) => {
      socket.send(opening)
      return socket.next(({ id }) => id === opening['id'])
    }))
    t.equal(answers.filter(({ status }) => status === 200).length, 1, `round ${round}`)
    t.equal(answers.filter(({ status, error }) => status === 401 && error.code === 'UNAUTHENTICATED').length, sockets.length - 1)
  }
  for (const socket of sockets) socket.close()
})

t.test('what was signed before the start opens nothing', async (t) => {
  const socket = await OrderSocket.open(port, signerOf(await trader()))
  const early = signedOrder(socket.signer, 'session.open', undefined, 'early', String(started - 1))
  t.match(await socket.send(early), { status: 401 })
  socket.close()
})

t.test('an auth that is sent again never lets anybody enter orders', async (t) => {
  const signer = signerOf(await trader())
  const message = authMessage(signer)
  const overheard = await SocketClient.open(port)
  overheard.send(message)
  t.ok(await overheard.next(({ type }) => type === 'authenticated'))
  const before = harness.lastSequence()
  overheard.send({ type: 'order.create', id: 1, counter: 1, body: BODY })
  t.match(await overheard.closed, { code: 1008, reason: 'AUTH_FAILED' })
  t.equal(harness.lastSequence(), before)
})

t.test('nothing went wrong inside', async (t) => {
  for (const thread of [1, 2, 3]) t.equal(gatewayCounters(harness.shared.counters, thread)[GATEWAY.unhandled], 0)
})
