/**
 * OrdersService.StreamOrders: actions with a signature each, actions of a session, what ends a stream, many in flight, answers together.
 */
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { CommandType, SESSION_COMMAND, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { IN_FLIGHT_MAX } from '../../gateway/stream/signed_stream.ts'
import { startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, detailsOf, encodeMessage, schema } from '../support/grpc.ts'
import { encodeAction, encodeRequest, signAction, StreamClient } from '../support/grpc_stream.ts'
import { until } from '../support/until.ts'

const harness = await startHarness(['--grpc-thread', '1'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const counters = gatewayCounters(harness.shared.counters, 2)
const pair = harness.genesis.pairs[0]!.id
const ORDER = { tradingPairId: pair, orderType: 'ORDER_TYPE_LIMIT', side: 'SIDE_BUY', quantity: '0.5', price: '100' }
/** Refused by the engine, so that thousands of them need no funds. */
const TINY = { ...ORDER, quantity: '0.001' }

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  await client.call('Mint', {}, session)
  return session
}

async function openOrders(session: Session): Promise<number> {
  return (await client.call('ListOrders', { status: ['ORDER_STATUS_SUBMITTED'] }, session)).response.total
}

/** Reason and details of an answer that is an error. */
function refusalOf(answer: any): { code: number; reason: string | undefined; details: Record<string, string> } {
  const type = schema.lookupType('google.rpc.Status')
  const { reason, details } = detailsOf(type.encode(type.fromObject(answer.error)).finish())
  return { code: answer.error.code, reason, details }
}

t.test('every kind of action, each with its own signature', async (t) => {
  const session = await trader()
  const stream = new StreamClient(client)
  const ask = (requestId: string, action: object): Promise<any> => stream.ask({ requestId, ...action }, session)
  const placed = await ask('1', { createOrder: ORDER })
  t.match(placed.createOrder, { status: 'OPERATION_STATUS_SUCCESS', matchResult: { status: 'ORDER_STATUS_SUBMITTED' } })
  t.match(placed.budget, { limitSecond: 100, remainingSecond: Number }, 'with the budget')
  const { orderId } = placed.createOrder
  const replaced = await ask('2', { replaceOrder: { orderId, price: '101' } })
  t.equal(replaced.replaceOrder.originalOrderId, orderId)
  t.equal((await ask('3', { cancelOrder: { orderId: replaced.replaceOrder.orderId } })).cancelOrder.status, 'OPERATION_STATUS_SUCCESS')
  const batch = (await ask('4', { batchCreateOrders: { orders: [ORDER, { ...ORDER, price: '0.001' }, ORDER, ORDER] } })).batchCreateOrders
  t.match(batch, { totalRequested: 4, totalSucceeded: 3, totalFailed: 1 })
  t.equal(batch.results[1].error.code, 'INVALID_TICK')
  const ids = batch.results.flatMap((each: { orderId?: string }) => each.orderId ?? [])
  const moved = (await ask('5', { batchReplaceOrders: { orders: [{ orderId: ids[0], price: '99' }] } })).batchReplaceOrders
  t.equal(moved.results[0].originalOrderId, ids[0])
  const cancelled = await ask('6', { batchCancelOrders: { orderIds: [moved.results[0].newOrderId, ids[0]] } })
  t.match(cancelled.batchCancelOrders, { totalSucceeded: 1, totalFailed: 1 })
  t.equal((await ask('7', { batchCancelOrdersByPair: { tradingPairId: pair } })).batchCancelOrdersByPair.totalCancelled, 2)
  t.equal((await ask('8', { batchCancelAllOrders: {} })).batchCancelAllOrders.totalCancelled, 0)
  stream.call.end()
  t.equal((await stream.ended).code, status.OK, 'the stream ends when the client has sent everything')
})

t.test('a refused action is its own answer', async (t) => {
  const session = await trader()
  const stream = new StreamClient(client)
  const refusal = async (requestId: string, action: object): Promise<object> =>
    refusalOf(await stream.ask({ requestId, ...action }, session))
  t.match(await refusal('tick', { createOrder: { ...ORDER, price: '100.001' } }), {
    code: status.INVALID_ARGUMENT, reason: 'INVALID_TICK', details: { field: 'price' },
  })
  t.match(await refusal('side', { createOrder: { ...ORDER, side: 0 } }), { reason: 'VALIDATION_ERROR', details: { field: 'side' } })
  t.match(await refusal('leg', { createOrder: { ...ORDER, stopLoss: {} } }), { reason: 'VALIDATION_ERROR', details: { field: 'stopLoss' } })
  // Field 2047, text "a".
  const unknown = Buffer.concat([encodeAction({ requestId: 'unknown', createOrder: ORDER }), Buffer.from('fa7f0161', 'hex')])
  stream.call.write(encodeMessage('StreamOrdersRequest', { action: unknown, ...signAction(session, unknown) }))
  await stream.count(1, (id) => id === 'unknown')
  t.match(refusalOf(stream.answers.get('unknown')), { reason: 'VALIDATION_ERROR', details: { field: '2047' } }, 'no term is lost')
  t.match(await refusal('nothing', {}), { reason: 'VALIDATION_ERROR', details: { field: 'action' } })
  t.match(await refusal('x'.repeat(64), { cancelOrder: { orderId: '00000000-0005-8001-8000-00001f2a335e' } }), { code: status.NOT_FOUND })
  stream.send({ requestId: '', createOrder: ORDER }, session)
  stream.send({ requestId: 'y'.repeat(65), createOrder: ORDER }, session)
  await stream.count(2, (id) => id === '' || id.startsWith('y'))
  for (const id of ['', 'y'.repeat(64)]) t.match(refusalOf(stream.answers.get(id)), { details: { field: 'requestId' } })
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 1 })
  t.match(await refusal('blocked', { createOrder: ORDER }), { code: status.UNAVAILABLE, reason: 'OPERATIONS_BLOCKED' })
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 0 })
  t.ok((await stream.ask({ requestId: 'last', createOrder: ORDER } as { requestId: string }, session)).createOrder, 'the stream goes on')
  stream.call.cancel()
})

t.test('a wrong signature is refused for its action alone, and does nothing', async (t) => {
  const [session, other, revoked] = [await trader(), await trader(), await trader()]
  await harness.operate(CommandType.REVOKE_SESSION, SESSION_COMMAND, { session: revoked.row, sessionGeneration: revoked.generation })
  const stream = new StreamClient(client)
  const before = harness.lastSequence()
  const action = (requestId: string): Buffer => encodeAction({ requestId, createOrder: ORDER })
  const now = Date.now()
  const wrong: [name: string, fields: (bytes: Buffer) => object, reason: string][] = [
    ['another key', (bytes) => ({ ...signAction(session, bytes), publicKey: other.publicKey }), 'INVALID_SIGNATURE'],
    ['other bytes', () => signAction(session, action('else')), 'INVALID_SIGNATURE'],
    ['the unary path', (bytes) => signAction(session, bytes, now, '/svc.v1.OrdersService/CreateOrder'), 'INVALID_SIGNATURE'],
    ['stale', (bytes) => signAction(session, bytes, now - 31_000), 'CLOCK_SKEW'],
    ['ahead', (bytes) => signAction(session, bytes, now + 60_000), 'CLOCK_SKEW'],
    ['another time', (bytes) => ({ ...signAction(session, bytes), timestamp: now - 7 }), 'INVALID_SIGNATURE'],
    ['negative time', (bytes) => ({ ...signAction(session, bytes), timestamp: -now }), 'CLOCK_SKEW'],
    ['short', (bytes) => ({ ...signAction(session, bytes), signature: 'ab' }), 'INVALID_SIGNATURE'],
    ['empty key', (bytes) => ({ ...signAction(session, bytes), publicKey: '' }), 'UNAUTHENTICATED'],
    ['no key', (bytes) => ({ ...signAction(session, bytes), publicKey: undefined }), 'UNAUTHENTICATED'],
    ['no time', (bytes) => ({ ...signAction(session, bytes), timestamp: undefined }), 'UNAUTHENTICATED'],
    ['no signature', (bytes) => ({ ...signAction(session, bytes), signature: undefined }), 'UNAUTHENTICATED'],
    ['revoked', (bytes) => signAction(revoked, bytes), 'SESSION_INVALID'],
  ]
  for (const [name, fields, reason] of wrong) {
    const bytes = action(name)
    const given = Object.fromEntries(Object.entries(fields(bytes)).filter(([, value]) => value !== undefined))
    stream.call.write(encodeMessage('StreamOrdersRequest', { action: bytes, ...given }))
    await stream.count(1, (id) => id === name)
    t.match(refusalOf(stream.answers.get(name)), { code: status.UNAUTHENTICATED, reason }, name)
  }
  t.equal(harness.lastSequence(), before, 'nothing reached the engine')
  t.ok((await stream.ask({ requestId: 'good', createOrder: ORDER } as { requestId: string }, session)).createOrder)
  stream.call.cancel()
})

let opened = 0

/** A stream with an open session whose counter is at 10. */
async function withSession(session: Session): Promise<StreamClient> {
  const stream = new StreamClient(client)
  // Signatures are deterministic, and each opens one stream: two of the same millisecond must differ.
  const action = { requestId: `open ${opened++}`, counter: 10, openSession: {} }
  const { openSession } = await stream.ask(action, session)
  if (!(openSession.expiresAt > Date.now() / 1000)) throw new Error('the session is not open')
  return stream
}

t.test('in a session actions need no signature, only a counter that grows', async (t) => {
  const [session, other] = [await trader(), await trader()]
  const stream = await withSession(session)
  const ask = (requestId: string, counter: number, by: Session | null = null): Promise<any> =>
    stream.ask({ requestId, counter, createOrder: ORDER } as { requestId: string }, by)
  t.ok((await ask('a', 11)).createOrder)
  t.ok((await ask('b', 100)).createOrder, 'gaps are allowed')
  t.ok((await ask('c', 5, other)).createOrder, 'an action with a signature of its own is of who signed it')
  t.ok((await ask('d', 101)).createOrder, 'and leaves the session alone')
  t.same([await openOrders(session), await openOrders(other)], [3, 1])
  t.ok((await stream.ask({ requestId: 'again', counter: 1, openSession: {} } as { requestId: string }, other)).openSession)
  t.ok((await ask('e', 2)).createOrder, 'another session may follow')
  t.same([await openOrders(session), await openOrders(other)], [3, 2])
  stream.call.end()
  t.equal((await stream.ended).code, status.OK)
})

t.test('what breaks the rules of a stream ends it, and nothing more is done', async (t) => {
  const session = await trader()
  const ends = async (
    t: Test, name: string, send: (stream: StreamClient) => void, reason: string, code = status.UNAUTHENTICATED,
  ): Promise<void> => {
    const stream = await withSession(session)
    t.ok((await stream.ask({ requestId: 'first', counter: 11, cancelOrder: { orderId: 'x' } } as { requestId: string })).error, 'served')
    const before = harness.lastSequence()
    send(stream)
    stream.send({ requestId: 'later', counter: 1000, createOrder: ORDER })
    t.match(await stream.ended, { code, reason }, name)
    t.notOk(stream.answers.has('later'), `${name}: what came after it is not answered`)
    t.equal(harness.lastSequence(), before, `${name}: nothing reached the engine`)
  }
  const counted = (counter: number | string) => (stream: StreamClient): void => stream.send({ requestId: 'x', counter, createOrder: ORDER })
  await ends(t, 'the same counter', counted(11), 'UNAUTHENTICATED')
  await ends(t, 'a smaller counter', counted(9), 'UNAUTHENTICATED')
  await ends(t, 'no counter', counted(0), 'UNAUTHENTICATED')
  await ends(t, 'a counter beyond 2^53', counted('18446744073709551615'), 'UNAUTHENTICATED')
  const bytes = (hex: string) => (stream: StreamClient): void => void stream.call.write(Buffer.from(hex, 'hex'))
  await ends(t, 'no StreamOrdersRequest', bytes('0affff'), 'MALFORMED_REQUEST', status.INVALID_ARGUMENT)
  await ends(t, 'no StreamOrdersAction', bytes('0a020aff'), 'MALFORMED_REQUEST', status.INVALID_ARGUMENT)

  const unopened = new StreamClient(client)
  unopened.send({ requestId: 'x', counter: 1, createOrder: ORDER })
  t.match(await unopened.ended, { code: status.UNAUTHENTICATED, reason: 'UNAUTHENTICATED' }, 'without a session')
  const refused = new StreamClient(client)
  const opening: { requestId: string } = Object.assign({ requestId: 'open' }, { counter: 1, openSession: {} })
  t.ok((await refused.ask(opening, { ...session, publicKey: 'ab'.repeat(32) })).error)
  refused.send({ requestId: 'x', counter: 2, createOrder: ORDER })
  t.match(await refused.ended, { code: status.UNAUTHENTICATED }, 'after an open_session that was refused')
})

t.test('a session that ends cuts its streams at the next action', async (t) => {
  const [revoked, expired, unsigned] = [await trader(), await trader(), await trader()]
  const streams = [await withSession(revoked), await withSession(expired)]
  await client.call('Revoke', {}, revoked)
  harness.state.sessionsF64[(expired.row * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = Date.now() - 1
  const before = harness.lastSequence()
  for (const stream of streams) {
    stream.send({ requestId: 'late', counter: 11, createOrder: ORDER })
    t.match(await stream.ended, { code: status.UNAUTHENTICATED, reason: 'SESSION_INVALID' })
    t.notOk(stream.answers.has('late'))
  }
  t.equal(harness.lastSequence(), before)
  const own = await withSession(unsigned)
  own.send({ requestId: 'reopen', counter: 11, openSession: {} })
  await own.count(1, (id) => id === 'reopen')
  t.match(refusalOf(own.answers.get('reopen')), { reason: 'UNAUTHENTICATED' }, 'a session does not open a session')
  own.call.cancel()
})

t.test('a signature opens one stream: who overhears it cannot open another', async (t) => {
  const session = await trader()
  const bytes = encodeRequest({ requestId: 'open', counter: 1, openSession: {} }, session)
  const [first, second] = [new StreamClient(client), new StreamClient(client)]
  first.call.write(bytes)
  await first.count(1)
  t.ok(first.answers.get('open').openSession)
  second.call.write(bytes)
  await second.count(1)
  t.match(refusalOf(second.answers.get('open')), { code: status.UNAUTHENTICATED, reason: 'UNAUTHENTICATED' })
  second.send({ requestId: 'x', counter: 2, createOrder: ORDER })
  t.equal((await second.ended).code, status.UNAUTHENTICATED)
  const beyond = { requestId: 'beyond', counter: '9007199254740993', openSession: {} }
  t.match(refusalOf(await first.ask(beyond, session)), { details: { field: 'counter' } })
  t.ok((await first.ask(Object.assign({ requestId: 'a' }, { counter: 2, createOrder: ORDER }))).createOrder, 'the first goes on')
  first.call.cancel()
})

t.test('at most so many actions are in flight; the rest waits unread, and none is lost', async (t) => {
  const session = await trader()
  const stream = await withSession(session)
  harness.hold(true)
  const before = counters[GATEWAY.requests]!
  const count = 2000
  for (let i = 0; i < count; i++) stream.send({ requestId: `${i}`, counter: 11 + i, createOrder: TINY })
  t.ok(await until(() => counters[GATEWAY.pending] === IN_FLIGHT_MAX))
  t.equal(counters[GATEWAY.requests]! - before, IN_FLIGHT_MAX, 'no more than that was read')
  t.equal((await client.call('Check')).code, status.OK, 'other calls of the connection are served meanwhile')
  harness.hold(false)
  await stream.count(count + 1)
  t.same(new Set(stream.order).size, count + 1, 'each was answered once')
  t.same(stream.order.slice(1), Array.from({ length: count }, (_, i) => `${i}`), 'in the order the engine did them')
  t.ok(stream.batches.length < count / 2, `answers came together: ${count} in ${stream.batches.length} messages`)
  stream.call.end()
  t.equal((await stream.ended).code, status.OK)
})

t.test('answers leave in the order actions are done, which need not be the order they came', async (t) => {
  const session = await trader()
  const stream = await withSession(session)
  harness.hold(true)
  stream.send({ requestId: 'slow', counter: 11, createOrder: ORDER })
  stream.send({ requestId: 'quick', counter: 12, createOrder: { ...ORDER, price: '100.001' } })
  await stream.count(1, (id) => id === 'quick')
  t.notOk(stream.answers.has('slow'), 'it waits for the engine')
  harness.hold(false)
  await stream.count(1, (id) => id === 'slow')
  t.ok(stream.answers.get('slow').createOrder)
  stream.call.cancel()
})

t.test('a client that takes no answers stops being read', async (t) => {
  const session = await trader()
  const stream = await withSession(session)
  stream.call.pause()
  const before = counters[GATEWAY.requests]!
  // Answers of some 20 kB: the windows of the connection fill, and what waits behind them stays below the bound on answers not taken.
  const orders = Array.from({ length: 60 }, () => TINY)
  const count = 2000
  for (let i = 0; i < count; i++) stream.send({ requestId: `${i}`, counter: 11 + i, batchCreateOrders: { orders } })
  let seen = -1
  for (let same = 0; same < 20; ) {
    await new Promise((resolve) => setTimeout(resolve, 25))
    same = seen === counters[GATEWAY.requests]! ? same + 1 : 0
    seen = counters[GATEWAY.requests]!
  }
  t.ok(seen - before < count, `${seen - before} of ${count} were read`)
  t.equal((await client.call('Check')).code, status.OK)
  stream.call.resume()
  await stream.count(count + 1)
  t.equal(counters[GATEWAY.requests]! - before, count + 1, 'then all of them were')
  stream.call.cancel()
})

t.test('a stream that is cancelled leaves its actions to the engine', async (t) => {
  const session = await trader()
  const stream = await withSession(session)
  harness.hold(true)
  const aborted = counters[GATEWAY.aborted]!
  for (let i = 0; i < 3; i++) stream.send({ requestId: `${i}`, counter: 11 + i, createOrder: ORDER })
  t.ok(await until(() => counters[GATEWAY.pending] === 3))
  stream.call.cancel()
  t.equal((await stream.ended).code, status.CANCELLED)
  // On the same connection behind the cancellation: when it is answered, the server knows of that.
  for (let i = 0; i < 3; i++) t.equal((await client.call('Check')).code, status.OK)
  harness.hold(false)
  t.ok(await until(() => counters[GATEWAY.aborted] === aborted + 3))
  t.equal(await openOrders(session), 3)
  t.equal(counters[GATEWAY.unhandled], 0)
})

t.test('a stop answers what is in flight and ends the stream', async (t) => {
  const own = await startHarness(['--grpc-thread', '1'])
  const connection = connectGrpc(own.grpcPort)
  const session = await own.openSession()
  const stream = new StreamClient(connection)
  own.hold(true)
  stream.call.write(encodeRequest({ requestId: 'under way', createOrder: ORDER }, session))
  const block = gatewayCounters(own.shared.counters, 2)
  t.ok(await until(() => block[GATEWAY.pending] === 1))
  const closing = own.close()
  let stopping = await connection.call('Check')
  for (let i = 0; i < 100 && stopping.code === status.OK; i++) stopping = await connection.call('Check')
  own.hold(false)
  t.match(await stream.ended, { code: status.UNAVAILABLE, reason: 'ENGINE_UNAVAILABLE' })
  t.ok(stream.answers.has('under way'), 'answered before')
  await closing
  connection.close()
})
