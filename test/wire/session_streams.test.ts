/**
 * Promise: a stream ends when its session does, whichever way that ends and whatever its client is doing, with UNAUTHENTICATED /
 * SESSION_INVALID; what was decided before is answered before. Streams of other sessions go on.
 */
import { status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { CommandType, OPEN_SESSION_COMMAND, SESSION_COMMAND } from '../../core/layout/command.ts'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import { call, delegate, startHarness, testGenesis, type Delegate, type Session } from '../support/gateway_harness.ts'
import { connectGrpc, detailsOf, schema } from '../support/grpc.ts'
import { StreamClient } from '../support/grpc_stream.ts'
import { until } from '../support/until.ts'

const SESSIONS_PER_ACCOUNT = 3
const harness = await startHarness(['--grpc-thread', '1'], testGenesis({ sessionsPerAccount: SESSIONS_PER_ACCOUNT }))
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const counters = gatewayCounters(harness.shared.counters, 2)
const ORDER = {
  tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'ORDER_TYPE_LIMIT', side: 'SIDE_BUY', quantity: '0.5', price: '100',
}
const OVER = { code: status.UNAUTHENTICATED, reason: 'SESSION_INVALID' }

let opened = 0
async function streamOf(session: Session): Promise<StreamClient> {
  const stream = new StreamClient(client)
  // Signatures are deterministic, and each opens one stream: two of the same millisecond must differ.
  const { openSession } = await stream.ask(counted(`open ${opened++}`, 10, { openSession: {} }), session)
  if (!(openSession.expiresAt > Date.now() / 1000)) throw new Error('the session is not open')
  return stream
}

const counted = (requestId: string, counter: number, action: object = { createOrder: ORDER }): { requestId: string } =>
  Object.assign({ requestId }, { counter }, action)
const named = ({ row, generation }: Session): object => ({ session: row, sessionGeneration: generation })
const expire = ({ row }: Session, at: number): void => {
  harness.state.sessionsF64[(row * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = at
}
async function trader(): Promise<Session> {
  const session = await harness.openSession()
  await client.call('Mint', {}, session)
  return session
}

/** Every way a session ends. */
const WAYS: Record<string, (session: Session) => Promise<unknown>> = {
  'its own revocation over gRPC': (session) => client.call('Revoke', {}, session),
  'its own revocation over HTTP': (session) => call(harness, session, 'POST', '/api/v1/auth/revoke'),
  'a revocation by the operator': (session) => harness.operate(CommandType.REVOKE_SESSION, SESSION_COMMAND, named(session) as never),
  'another sign-in with the same key': ({ address, publicKey }) =>
    harness.operate(CommandType.OPEN_SESSION, OPEN_SESSION_COMMAND, { session: -1, application: 0, address: address.slice(2), publicKey }),
  expiry: async (session) => expire(session, Date.now() + 500),
}

for (const [way, finish] of Object.entries(WAYS)) {
  t.test(`${way} cuts the streams of the session, and no other`, async (t) => {
    const [mine, bystander] = [await trader(), await trader()]
    const same = await harness.openSession(0, mine.address)
    const streams = [await streamOf(mine), await streamOf(mine)]
    const others = [await streamOf(bystander), await streamOf(same)]
    await finish(mine)
    // Nothing is sent on the streams: they end by themselves.
    for (const stream of streams) t.match(await stream.ended, OVER)
    for (const [i, stream] of others.entries()) {
      t.ok((await stream.ask(counted(`on ${i}`, 11))).createOrder, 'a stream of another session goes on')
      stream.call.cancel()
    }
  })
}

t.test('a newer session in place of the oldest cuts the streams of that one alone', async (t) => {
  const mine = await trader()
  const next = await harness.openSession(0, mine.address)
  const streams = [await streamOf(mine), await streamOf(next)] as const
  for (let i = 0; i < SESSIONS_PER_ACCOUNT - 1; i++) await harness.openSession(0, mine.address)
  t.match(await streams[0].ended, OVER)
  t.ok((await streams[1].ask(counted('on', 11))).createOrder)
  streams[1].call.cancel()
})

/** Lets the grant end at the next whole second but one, which is returned. A time that is over when it arrives is refused; then again. */
async function expireSoon(agent: Delegate): Promise<number> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const over = Math.ceil((Date.now() + 1000) / 1000) * 1000
    if (await agent.grant(over).then(() => true, () => false)) return over
  }
  throw new Error('the grant never arrived in time')
}

t.test('the end of an agent cuts its streams, and not those of its owner or of another agent', async (t) => {
  for (const end of ['revoked', 'expired'] as const) {
    const owner = await trader()
    const [agent, colleague] = [await delegate(harness, owner), await delegate(harness, owner)]
    const streams = [await streamOf(agent.session), await streamOf(owner), await streamOf(colleague.session)] as const
    t.ok((await streams[0].ask(counted('by the agent', 11))).createOrder, 'for its owner, while it may')
    const over = end === 'revoked' ? await agent.revoke().then(() => 0) : await expireSoon(agent)
    t.match(await streams[0].ended, OVER, end)
    // Sequenced time only follows the wall clock, and both are read in whole ms.
    t.ok(Date.now() >= over - 2, 'not before its time')
    for (const stream of streams.slice(1)) {
      t.ok((await stream.ask(counted('on', 11))).createOrder)
      stream.call.cancel()
    }
  }
})

t.test('an action behind the end of the session does nothing, however soon it comes', async (t) => {
  const session = await trader()
  for (let i = 0; i < 20; i++) {
    const again = i === 0 ? session : await harness.openSession(0, session.address)
    const stream = await streamOf(again)
    expire(again, 0)
    stream.send(counted('late', 11))
    t.match(await stream.ended, OVER)
    t.notOk(stream.answers.has('late'))
  }
  const looker = await harness.openSession(0, session.address)
  t.equal((await client.call('ListOrders', { status: ['ORDER_STATUS_SUBMITTED'] }, looker)).response.total, 0)
})

t.test('what was asked before is answered before the cut, as the engine decided it', async (t) => {
  const session = await trader()
  const stream = await streamOf(session)
  harness.hold(true)
  stream.send(counted('before', 11))
  t.ok(await until(() => counters[GATEWAY.pending] === 1))
  const revoked = client.call('Revoke', {}, session)
  t.ok(await until(() => counters[GATEWAY.pending] === 2))
  stream.send(counted('after', 12))
  t.ok(await until(() => counters[GATEWAY.pending] === 3))
  harness.hold(false)
  t.equal((await revoked).response.revoked, true)
  t.match(await stream.ended, OVER)
  t.ok(stream.answers.get('before')?.createOrder, 'sequenced before the revocation')
  const { error } = stream.answers.get('after')
  const type = schema.lookupType('google.rpc.Status')
  t.equal(detailsOf(type.encode(type.fromObject(error)).finish()).reason, 'SESSION_INVALID', 'sequenced after it')
})

t.test('an engine that does not answer does not keep the stream of a dead session open', async (t) => {
  const session = await trader()
  const stream = await streamOf(session)
  harness.hold(true)
  stream.send(counted('never', 11))
  t.ok(await until(() => counters[GATEWAY.pending] === 1))
  expire(session, 0)
  t.match(await stream.ended, OVER)
  t.notOk(stream.answers.has('never'))
  harness.hold(false)
  t.ok(await until(() => counters[GATEWAY.pending] === 0))
})

t.test('a refresh keeps the stream', async (t) => {
  // A machine that stands still for seconds may let the session end first; then the next one is tried.
  for (let attempt = 0; attempt < 20; attempt++) {
    const session = await trader()
    const stream = await streamOf(session)
    const near = Math.ceil((Date.now() + 1000) / 1000) * 1000
    expire(session, near)
    const refreshed = await client.call('Refresh', {}, session)
    if (Date.now() >= near) continue
    t.equal(refreshed.code, status.OK)
    t.ok(await until(() => Date.now() > near + 200), 'the time it had is over')
    t.ok((await stream.ask(counted('on', 11))).createOrder)
    t.ok(readSessionRow(harness.state, session.row)!.expiresAt >= near)
    stream.call.cancel()
    return
  }
  t.fail('the machine never refreshed in time')
})

t.test('a stream belongs to the session that opened it last', async (t) => {
  const [first, second] = [await trader(), await trader()]
  const stream = await streamOf(first)
  t.ok((await stream.ask(counted('switch', 1, { openSession: {} }), second)).openSession)
  await client.call('Revoke', {}, first)
  t.ok((await stream.ask(counted('on', 2))).createOrder, 'the first is no longer its own')
  await client.call('Revoke', {}, second)
  t.match(await stream.ended, OVER)
})

t.test('streams whose actions are signed each have no session to lose', async (t) => {
  const [mine, other] = [await trader(), await trader()]
  const stream = new StreamClient(client)
  t.ok((await stream.ask(counted('one', 0), mine)).createOrder)
  await client.call('Revoke', {}, mine)
  t.ok((await stream.ask(counted('two', 0), mine)).error, 'its actions are refused')
  t.ok((await stream.ask(counted('three', 0), other)).createOrder, 'those of others are served')
  stream.call.cancel()
  await unwatched(t)
})

/** Streams that are gone are forgotten: a later end of their sessions meets nothing. */
async function unwatched(t: Test): Promise<void> {
  const session = await trader()
  const streams = [await streamOf(session), await streamOf(session)]
  streams[0]!.call.end()
  t.equal((await streams[0]!.ended).code, status.OK)
  streams[1]!.call.cancel()
  await streams[1]!.ended
  await client.call('Revoke', {}, session)
  t.equal((await client.call('Check')).code, status.OK)
  t.equal(counters[GATEWAY.unhandled], 0)
}
