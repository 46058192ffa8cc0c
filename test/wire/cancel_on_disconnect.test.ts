/**
 * Promise: a connection that was opened with cancelOnDisconnect has every open order of its account cancelled when it
 * ends, however it ends, on each transport; also what it sent last and never saw answered, and what came another way.
 * Without the option nothing is, and a delegated agent that may not cancel everything is refused it.
 */
import t, { type Test } from 'tap'
import { OPEN_SESSION_COMMAND, CommandType } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { DISK, MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { createClient } from '../../gateway/client/index.ts'
import { call, delegate, startHarness, type Harness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { StreamClient } from '../support/grpc_stream.ts'
import { OrderSocket, signedOrder } from '../support/order_client.ts'
import { signerOf } from '../support/sockets.ts'

const start = (): Promise<Harness> =>
  startHarness(['--ws-order-entry', '1', '--grpc-thread', '1'], undefined, undefined, undefined, true)

/** An open connection of order entry. */
interface Line {
  /** What the opening was answered. */
  readonly opened: object
  /** Sends a create and waits for nothing. */
  post(price: string): void
  create(price: string): Promise<unknown>
  /** Ways to end. */
  readonly ends: Readonly<Record<string, () => void>>
}

type Open = (harness: Harness, session: Session, cancels: boolean) => Promise<Line>

const bid = ({ genesis }: Harness, price: string) =>
  ({ tradingPairId: genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price })
/** The same as the protos have it. */
const grpcBid = (harness: Harness, price: string) => ({ ...bid(harness, price), orderType: 'ORDER_TYPE_LIMIT', side: 'SIDE_BUY' })

const TRANSPORTS: Readonly<Record<string, Open>> = {
  async WebSocket(harness, session, cancels) {
    const socket = await OrderSocket.open(harness.port, signerOf(session))
    const body = JSON.stringify(cancels ? { counter: 0, cancelOnDisconnect: true } : { counter: 0 })
    const opened = await socket.send(signedOrder(socket.signer, 'session.open', body, 'open'))
    return {
      opened,
      post: (price) => void socket.counted('order.create', bid(harness, price)).catch(() => undefined),
      create: (price) => socket.counted('order.create', bid(harness, price)),
      ends: {
        close: () => socket.close(),
        'a broken rule': () => socket.client.send({ type: 'order.create', id: 'old', counter: 0, body: bid(harness, '1') }),
      },
    }
  },
  async gRPC(harness, session, cancels) {
    const client = connectGrpc(harness.grpcPort)
    const stream = new StreamClient(client)
    let counter = 0
    const opened = await stream.ask({ requestId: 'open', openSession: { cancelOnDisconnect: cancels } } as { requestId: string }, session)
    const action = (price: string) => ({ requestId: `c${++counter}`, counter, createOrder: grpcBid(harness, price) })
    stream.call.on('error', () => undefined)
    return {
      opened,
      post: (price) => stream.send(action(price)),
      create: (price) => stream.ask(action(price)),
      ends: {
        close: () => void stream.call.end(),
        cut: () => stream.call.cancel(),
        'a broken rule': () => stream.send({ requestId: 'old', counter: 0, createOrder: grpcBid(harness, '1') }),
      },
    }
  },
}

async function trader(harness: Harness): Promise<Session> {
  const session = await harness.openSession()
  await call(harness, session, 'POST', '/api/v1/faucet/mint')
  return session
}

const live = ({ state }: Harness): number => state.scalars[SCALAR.ORDERS_LIVE]!

/** Waits until so many orders rest, or too long. */
async function rests(t: Test, harness: Harness, count: number): Promise<void> {
  for (let look = 0; look < 1000 && live(harness) !== count; look++) await new Promise((resolve) => setTimeout(resolve, 10))
  t.equal(live(harness), count)
}

const shared = await start()
t.teardown(() => shared.close())

/** The same key is registered once more: the row goes on with another generation. */
async function signInAgain({ publicKey, address }: Session): Promise<void> {
  const values = { session: -1, application: 0, address: address.slice(2), publicKey }
  const record = await shared.operate(CommandType.OPEN_SESSION, OPEN_SESSION_COMMAND, values)
  if (record[RESULT.at.code] !== 0) throw new Error(`open session: ${record[RESULT.at.code]}`)
}

for (const [name, open] of Object.entries(TRANSPORTS)) {
  for (const way of ['close', 'cut', 'a broken rule', 'session over', 'signed in again']) {
    void t.test(`${name}, ${way}`, async (t) => {
      const session = await trader(shared)
      const line = await open(shared, session, true)
      const ends: Record<string, () => void> = {
        ...line.ends,
        'session over': () => void call(shared, session, 'POST', '/api/v1/auth/revoke'),
        'signed in again': () => void signInAgain(session),
      }
      const end = ends[way]
      if (end === undefined) return
      const before = live(shared)
      await line.create('90')
      await call(shared, session, 'POST', '/api/v1/orders', bid(shared, '91'))
      t.equal(live(shared), before + 2)
      for (let order = 0; order < 40; order++) line.post('92')
      end()
      await rests(t, shared, before)
    })
  }
  void t.test(`${name}, without it, and of an agent`, async (t) => {
    const line = await open(shared, await trader(shared), false)
    await line.create('90')
    const agent = await delegate(shared, await trader(shared), [0])
    t.match(JSON.stringify((await open(shared, agent.session, true)).opened), /AGENT_NOT_ALLOWED|every pair/)
    const kept = await open(shared, await trader(shared), true)
    const before = live(shared)
    await kept.create('90')
    line.ends['close']!()
    // The one that cancels ends behind the one that does not.
    kept.ends['close']!()
    await rests(t, shared, before)
  })
}

void t.test('with the option of the client', async (t) => {
  const session = await trader(shared)
  const streams = { cancelOnDisconnect: true }
  const client = createClient({ baseUrl: `http://127.0.0.1:${shared.port}`, signer: signerOf(session) as never, streams })
  const before = live(shared)
  const { quantity, price, tradingPairId } = bid(shared, '90')
  await client.orders.CreateOrder({ tradingPairId, quantity, price, orderType: 'LIMIT', side: 'BUY' })
  t.equal(live(shared), before + 1)
  client.orders.close()
  await rests(t, shared, before)
})

void t.test('a stop of the gateways, also while the engine or the disk takes nothing for a moment', async (t) => {
  const harness = await start()
  t.teardown(() => harness.close())
  for (const open of Object.values(TRANSPORTS)) {
    const line = await open(harness, await trader(harness), true)
    for (let order = 0; order < 3; order++) await line.create('90')
  }
  t.equal(live(harness), 6)
  const counters = matcherCounters(harness.shared.counters)
  counters[MATCHER.disk_level] = DISK.FULL
  const stopped = harness.stopGateways()
  setTimeout(() => (counters[MATCHER.disk_level] = DISK.OPEN), 300)
  await stopped
  await rests(t, harness, 0)
})
