/**
 * Promise: the transports differ in how messages are written and in nothing else. Whatever throws, wherever, ends the request with 500
 * INTERNAL and the name of an incident that the log has with the stack, and the thread goes on. Every answer carries X-Request-Id. A
 * signature in vain costs the same on a WebSocket and on StreamOrders.
 */
import { status } from '@grpc/grpc-js'
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import type { FromThread } from '../../core/threads.ts'
import { call, startHarness, testGenesis, type Session } from '../support/gateway_harness.ts'
import { FAULTS, type Fault } from '../support/faults.ts'
import { connectGrpc, credentialsFor, encodeMessage, pathOf, schema, detailsOf } from '../support/grpc.ts'
import { StreamClient } from '../support/grpc_stream.ts'
import { OrderSocket, signedOrder } from '../support/order_client.ts'
import { signerOf } from '../support/sockets.ts'
import { until } from '../support/until.ts'

const fault = new SharedArrayBuffer(4)
const BURST = 30
const harness = await startHarness(
  ['--grpc-thread', '1', '--ws-order-entry', '1', '--ws-messages-per-second', '1', '--ws-message-burst', String(BURST)],
  testGenesis(), undefined, fault,
)
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const counters = [gatewayCounters(harness.shared.counters, 1), gatewayCounters(harness.shared.counters, 2)]
const unhandled = (): number => counters[0]![GATEWAY.unhandled]! + counters[1]![GATEWAY.unhandled]!
const fail = (name: Fault | null): void => void Atomics.store(new Int32Array(fault), 0, name === null ? 0 : FAULTS.indexOf(name) + 1)

/** An answer of whatever transport: the code of the refusal, '' when there is none, and its incident. */
interface Outcome {
  readonly code: string
  readonly incident: string
}

const session = await harness.openSession()
const ORDER = { tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '100' }
if ((await call(harness, session, 'POST', '/api/v1/faucet/mint', {})).status !== 200) throw new Error('no funds')
const socket = await OrderSocket.inSession(harness.port, signerOf(session))
const stream = new StreamClient(client)
let asked = 0
const NOTHING = { code: '', incident: '' }

const TRANSPORTS: Record<string, () => Promise<Outcome>> = {
  REST: async () => {
    const { json } = await call(harness, session, 'POST', '/api/v1/orders/batch-cancel-all', {})
    return json.code === undefined ? NOTHING : { code: json.code, incident: json.details?.incident }
  },
  WebSocket: async () => {
    const { error } = await socket.counted('order.cancel_all', {})
    return error === undefined ? NOTHING : { code: error.code, incident: error.details?.incident }
  },
  gRPC: async () => {
    const { code, reason, details } = await client.call('BatchCancelAllOrders', {}, session)
    return code === status.OK ? NOTHING : { code: reason ?? '', incident: details['incident'] ?? '' }
  },
  StreamOrders: async () => {
    const { error } = await stream.ask({ requestId: `${asked++}`, batchCancelAllOrders: {} } as { requestId: string }, session)
    if (error === undefined) return NOTHING
    const type = schema.lookupType('google.rpc.Status')
    const { reason, details } = detailsOf(type.encode(type.fromObject(error)).finish())
    return { code: reason ?? '', incident: details['incident'] ?? '' }
  },
}

type LogLine = Extract<FromThread, { type: 'log' }>
const logged = (incident: string): LogLine | undefined =>
  harness.logs.find((line): line is LogLine => line.type === 'log' && line.fields?.['incident'] === incident)

for (const kind of FAULTS) {
  t.test(`a fault in ${kind} ends the request, and nothing else, on every transport`, async (t) => {
    if (kind === 'onRecord') for (let i = 0; i < 8; i++) await call(harness, session, 'POST', '/api/v1/orders', ORDER)
    const before = unhandled()
    const names = Object.keys(TRANSPORTS)
    fail(kind)
    if (kind === 'onDeadline') harness.hold(true)
    const outcomes = await Promise.all(names.map((name) => TRANSPORTS[name]!()))
    fail(null)
    harness.hold(false)
    for (const [i, { code, incident }] of outcomes.entries()) {
      t.equal(code, 'INTERNAL', names[i]!)
      t.match(incident, /^[0-9a-f]{10}$/, names[i]!)
      t.ok(await until(() => logged(incident) !== undefined), `${names[i]}: it is logged`)
      const fields = logged(incident)!.fields!
      t.match(fields['stack'], kind === 'output' ? /BigInt/ : new RegExp(`fault in ${kind} of \\[...\\]`), 'with the stack, without keys')
      t.match(fields['request'], /^[A-Za-z0-9._-]{1,64}$/, 'and the request')
    }
    t.equal(unhandled() - before, names.length, 'each is counted')
    for (const name of names) t.strictSame(await TRANSPORTS[name]!(), NOTHING, `${name} goes on`)
  })
}

t.test('a fault in what anybody may ask', async (t) => {
  fail('handler')
  const { code, reason, details } = await client.call('Check')
  fail(null)
  t.same([code, reason], [status.INTERNAL, 'INTERNAL'])
  t.ok(await until(() => logged(details['incident']!) !== undefined))
  t.equal((await client.call('Check')).code, status.OK)
})

t.test('X-Request-Id: the client\'s own, or one that is made, on every answer', async (t) => {
  const seen = new Set<string>()
  const get = (path: string, id?: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${harness.port}${path}`, {
      headers: { 'User-Agent': 'test', ...(id === undefined ? {} : { 'X-Request-Id': id }) },
    })
  for (const path of ['/health', '/api/v1/orders', '/nowhere', '/docs', '/api/v1/openapi.json']) {
    const made = (await get(path)).headers.get('x-request-id')!
    t.match(made, /^[a-z0-9]+-1-[a-z0-9]+$/, path)
    seen.add(made)
    t.equal((await get(path, 'My.own_id-7')).headers.get('x-request-id'), 'My.own_id-7', path)
    for (const bad of ['no spaces', 'x'.repeat(65), 'a/b', '"q"']) {
      t.match((await get(path, bad)).headers.get('x-request-id'), /^[a-z0-9]+-1-[a-z0-9]+$/, `${path}: ${bad}`)
    }
  }
  t.equal(seen.size, 5, 'each has its own')
  const bytes = encodeMessage('CheckRequest', {})
  const own = { ...credentialsFor(session, pathOf('Check'), bytes), 'x-request-id': 'mine' }
  t.equal((await client.send(pathOf('Check'), bytes, own, 'CheckResponse')).metadata['x-request-id'], 'mine')
  t.match((await client.call('Check')).metadata['x-request-id'], /^[a-z0-9]+-2-[a-z0-9]+$/)
  t.equal((await client.send(pathOf('GetOrder'), bytes, { 'x-request-id': 'mine' })).metadata['x-request-id'], 'mine', 'a refusal too')
  fail('handler')
  const answer = await client.send(pathOf('Check'), bytes, { 'x-request-id': 'find.me' }, 'CheckResponse')
  fail(null)
  t.ok(await until(() => logged(answer.details['incident']!)?.fields?.['request'] === 'find.me'), 'the log line of an incident has it')
})

/** Bad signatures that are answered until the connection ends. */
const IN_VAIN: Record<string, (by: Session) => Promise<{ answers: number; end: unknown }>> = {
  WebSocket: async (by) => {
    const own = await OrderSocket.open(harness.port, signerOf(by))
    const wrong = { ...signedOrder(signerOf(by), 'order.cancel_all', '{}'), signature: '0'.repeat(128) }
    for (let id = 0; id < 20 * BURST; id++) own.client.send({ ...wrong, id })
    const { reason } = await own.client.closed
    return { answers: own.client.frames.filter(({ status }) => status === 401).length, end: reason }
  },
  StreamOrders: async (by) => {
    const own = new StreamClient(client)
    own.call.on('error', () => undefined)
    const wrong = { ...by, publicKey: session.publicKey }
    for (let id = 0; id < 20 * BURST; id++) own.send({ requestId: `${id}`, batchCancelAllOrders: {} }, wrong)
    const { code, reason } = await own.ended
    return { answers: own.order.length, end: `${status[code]} ${reason}` }
  },
}

t.test('a signature in vain costs the same on a WebSocket and on StreamOrders', async (t) => {
  const stranger = await harness.openSession()
  const webSocket = await IN_VAIN['WebSocket']!(stranger)
  const grpc = await IN_VAIN['StreamOrders']!(stranger)
  t.equal(webSocket.end, 'MESSAGE_RATE_LIMIT')
  t.equal(grpc.end, 'RESOURCE_EXHAUSTED RATE_LIMIT_EXCEEDED')
  // One comes back a second while it goes on.
  for (const { answers } of [webSocket, grpc]) t.ok(answers >= BURST && answers < 10 * BURST, `${answers} were answered`)
})
