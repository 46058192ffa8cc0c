/**
 * Promise: a socket is whose session signed for it. Private channels want a session; a bad signature ends the socket with AUTH_FAILED; the
 * end of the session, whichever way it comes, ends it with SESSION_INVALID and 1008, and nothing private is told behind it.
 */
import t from 'tap'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { CommandType, SESSION_COMMAND } from '../../core/layout/command.ts'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { call, delegate, startHarness, testGenesis, type Session } from '../support/gateway_harness.ts'
import { authMessage, signerOf, SocketClient, type Frame } from '../support/sockets.ts'

const harness = await startHarness([], testGenesis({ sessionsPerAccount: 3 }))
t.teardown(() => harness.close())
const { port } = harness
const pair = harness.genesis.pairs[0]!
const BODY = { tradingPairId: pair.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '100' }
const PRIVATE = ['orders', 'balances']

async function trader(): Promise<Session> {
  const session = await harness.openSession()
  const minted = await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
  if (minted.status !== 200) throw new Error(`no funds: ${minted.text}`)
  return session
}

async function socketOf(session: Session): Promise<SocketClient> {
  const client = await SocketClient.open(port)
  const answer = await client.authenticate(signerOf(session))
  if (answer['type'] !== 'authenticated') throw new Error(JSON.stringify(answer))
  return client
}

t.test('private channels want a session, public ones do not', async (t) => {
  const client = await SocketClient.open(port)
  for (const channel of PRIVATE) {
    t.match(await client.subscribe(channel), { type: 'error', code: 'AUTH_REQUIRED', channel, message: String })
  }
  t.match(await client.subscribe('instruments'), { type: 'subscribed' })
  t.match(await client.authenticate(signerOf(await trader())), { type: 'authenticated', expiresAt: Number })
  for (const channel of PRIVATE) t.match(await client.subscribe(channel), { type: 'subscribed', channel, params: {} })
  client.close()
})

t.test('what is not signed as it must be is AUTH_FAILED, then 1008', async (t) => {
  const session = await trader()
  const [signer, other] = [signerOf(session), signerOf(await trader())]
  const good = authMessage(signer)
  const wrong: Record<string, Frame> = {
    'another signature': { ...good, signature: authMessage(other)['signature'] },
    'no signature': { type: 'auth', publicKey: good['publicKey'], timestamp: good['timestamp'] },
    'a signature in capitals': { ...good, signature: (good['signature'] as string).toUpperCase() },
    'a signature that is a number': { ...good, signature: 1 },
    'another target': authMessage(signer, undefined, '/ws?'),
    'the target of a request': authMessage(signer, undefined, '/api/v1/balances'),
    'an old time': authMessage(signer, String(Date.now() - 40_000)),
    'a time to come': authMessage(signer, String(Date.now() + 40_000)),
    'a time in seconds': authMessage(signer, String(Math.floor(Date.now() / 1000))),
    'a time that was not signed': { ...good, timestamp: String(Number(good['timestamp']) + 1) },
    'an unknown key': { ...good, publicKey: 'ab'.repeat(32) },
    'no key': { ...good, publicKey: null },
  }
  for (const [what, message] of Object.entries(wrong)) {
    const client = await SocketClient.open(port)
    client.send(message)
    t.match(await client.closed, { code: 1008, reason: 'AUTH_FAILED' }, what)
    t.match(client.frames.at(-1), { type: 'error', code: 'AUTH_FAILED' }, what)
  }
})

t.test('the time may be a number, and a session may sign again', async (t) => {
  const signer = signerOf(await trader())
  const client = await SocketClient.open(port)
  const message = authMessage(signer)
  for (let i = 1; i <= 2; i++) {
    client.send({ ...message, timestamp: Number(message['timestamp']) })
    t.ok(await client.next(() => client.frames.filter(({ type }) => type === 'authenticated').length === i))
  }
  client.close()
})

t.test('a socket does not change its account', async (t) => {
  const client = await socketOf(await trader())
  await client.authenticate(signerOf(await trader()))
  t.match(await client.closed, { code: 1008, reason: 'AUTH_FAILED' })
})

t.test('another session of the account takes the place of the first', async (t) => {
  const first = await trader()
  const second = await harness.openSession(0, first.address)
  const client = await socketOf(first)
  t.match(await client.authenticate(signerOf(second)), { type: 'authenticated' })
  await call(harness, first, 'POST', '/api/v1/auth/revoke')
  t.match(await client.subscribe('balances'), { type: 'subscribed' })
  await call(harness, second, 'POST', '/api/v1/auth/revoke')
  t.match(await client.closed, { code: 1008, reason: 'SESSION_INVALID' })
})

const named = ({ row, generation }: Session): object => ({ session: row, sessionGeneration: generation })
/** Every way a session ends. */
const WAYS: Record<string, (session: Session) => unknown> = {
  'its own revocation': (session) => call(harness, session, 'POST', '/api/v1/auth/revoke'),
  'a revocation by the operator': (session) => harness.operate(CommandType.REVOKE_SESSION, SESSION_COMMAND, named(session) as never),
  'newer sessions': async ({ address }) => {
    for (let i = 0; i < 3; i++) await harness.openSession(0, address)
  },
  expiry: ({ row }) => {
    harness.state.sessionsF64[(row * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = Date.now() + 300
  },
}
for (const [way, end] of Object.entries(WAYS)) {
  t.test(`${way} ends the sockets of the session with SESSION_INVALID, and no other`, async (t) => {
    const [mine, other] = [await trader(), await trader()]
    const [client, second, bystander] = [await socketOf(mine), await socketOf(mine), await socketOf(other)]
    for (const each of [client, second, bystander]) await each.subscribe('orders')
    await end(mine)
    for (const each of [client, second]) {
      t.match(await each.closed, { code: 1008, reason: 'SESSION_INVALID' })
      t.match(each.frames.at(-1), { type: 'error', code: 'SESSION_INVALID' })
    }
    t.equal((await call(harness, other, 'POST', '/api/v1/orders', BODY)).status, 200)
    t.ok(await bystander.next(({ data }) => data?.eventType === 'OrderSubmitted'), 'the bystander still listens')
    bystander.close()
  })
}

t.test('a key whose session is over authenticates nothing', async (t) => {
  const session = await trader()
  await call(harness, session, 'POST', '/api/v1/auth/revoke')
  const client = await SocketClient.open(port)
  await client.authenticate(signerOf(session))
  t.match(await client.closed, { code: 1008, reason: 'SESSION_INVALID' })
})

t.test('a delegated agent listens to its owner until it is revoked', async (t) => {
  const owner = await trader()
  const agent = await delegate(harness, owner)
  const client = await socketOf(agent.session)
  t.match(await client.subscribe('orders'), { type: 'subscribed' })
  t.equal((await call(harness, owner, 'POST', '/api/v1/orders', BODY)).status, 200)
  t.ok(await client.next(({ data }) => data?.eventType === 'OrderSubmitted'))
  await agent.revoke()
  t.match(await client.closed, { code: 1008, reason: 'SESSION_INVALID' })
})

t.test('nobody hears of another account', async (t) => {
  const [mine, other] = [await trader(), await trader()]
  const [listening, overhearing] = [await socketOf(mine), await socketOf(other)]
  for (const channel of PRIVATE) {
    await listening.subscribe(channel)
    await overhearing.subscribe(channel)
  }
  t.equal((await call(harness, mine, 'POST', '/api/v1/orders', BODY)).status, 200)
  t.ok(await listening.next(({ channel, type }) => channel === 'balances' && type === 'balance_update'))
  t.ok(await listening.next(({ data }) => data?.eventType === 'OrderSubmitted'))
  t.equal((await call(harness, other, 'POST', '/api/v1/orders', BODY)).status, 200)
  t.ok(await overhearing.next(({ data }) => data?.eventType === 'OrderSubmitted'))
  t.equal(overhearing.of('orders').filter(({ type }) => type === 'order_update').length, 1)
  listening.close()
  overhearing.close()
})

t.test('what is given back is given back: no account keeps a count', async (t) => {
  const counters = gatewayCounters(harness.shared.counters, 1)
  for (let i = 0; i < 1000 && counters[GATEWAY.ws_connections]! > 0; i++) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(counters[GATEWAY.ws_authenticated], 0)
  t.equal(counters[GATEWAY.ws_subscriptions], 0)
  t.equal(counters[GATEWAY.unhandled], 0)
})
