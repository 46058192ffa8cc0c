/**
 * Promise: while orders come, an account whose reads take much time waits with them, over REST and gRPC, and is refused with 429 and
 * Retry-After when that is too long; its own orders, everybody's orders and the reads of others are answered meanwhile. A read that
 * waited answers nothing to a session that was revoked meanwhile. Without orders every read is answered.
 */
import t from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { call, startHarness, testGenesis, type Reply, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { until } from '../support/until.ts'

/** What an answer takes of the reader's time, ms; large ones are owed for ten seconds of a family's half of the share. */
let tookMs = 0
const harness = await startHarness(
  ['--read-percent', '40', '--grpc-thread', '1'], testGenesis(),
  ({ id, atLeast }) => ({ id, answer: { rows: [], total: 0, more: false }, sequence: atLeast, tookMs }),
)
const counters = [1, 2].map((thread) => gatewayCounters(harness.shared.counters, thread))
const grpc = connectGrpc(harness.grpcPort)
const trader = await harness.openSession()
let trading = true
let over = false
let orders = 0
const order = { tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.001', price: '1000' }
/** Cancels all the time, which go first as every order does: over REST, and over gRPC in its own thread. */
const loop = (async () => {
  while (!over) {
    if (trading) {
      const { status } = await call(harness, trader, 'POST', '/api/v1/orders/batch-cancel-all')
      if (status !== 200) t.fail(`a cancel was answered ${status}`)
      const { code } = await grpc.call('BatchCancelAllOrders', {}, trader)
      if (code !== 0) t.fail(`a cancel over gRPC was answered ${code}`)
      orders++
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})()
t.teardown(async () => {
  over = true
  await loop
  grpc.close()
  await harness.close()
})

const list = (session: Session): Promise<Reply> => call(harness, session, 'GET', '/api/v1/orders?pageSize=100')
const queued = (thread: number): number => counters[thread]![GATEWAY.reads_queued]!
/** Waits until an order came after this. */
const anOrder = async (): Promise<void> => {
  const before = orders
  if (!await until(() => orders > before + 1)) t.fail('no order comes')
}

t.test('reads of one account wait, orders and reads of others do not', async (t) => {
  const [greedy, honest] = [await harness.openSession(), await harness.openSession()]
  await anOrder()
  tookMs = 2_500
  t.equal((await list(greedy)).status, 200)
  tookMs = 0
  const many = Array.from({ length: 24 }, () => list(greedy))
  t.ok(await until(() => queued(0) === 24), 'all of them wait')
  t.equal((await list(honest)).status, 200, 'another reads')
  const { status, json } = await call(harness, greedy, 'POST', '/api/v1/orders', order)
  t.equal(status, 400, 'its own order is looked at at once')
  t.match(json, { code: 'INSUFFICIENT_BALANCE' })
  t.equal(queued(0), 24, 'while they wait')
  for (const { status, json, headers } of await Promise.all(many)) {
    t.equal(status, 429)
    t.match(json, { error: 'RATE_LIMIT_EXCEEDED', message: /Reads of this account and its family/ })
    t.ok(Number(headers['retry-after']) >= 1)
  }
  trading = false
  t.ok(await until(async () => (await list(greedy)).status === 200), 'without orders it reads')
  trading = true
})

t.test('the same over gRPC', async (t) => {
  const [greedy, honest] = [await harness.openSession(), await harness.openSession()]
  await anOrder()
  tookMs = 2_500
  t.equal((await grpc.call('ListOrders', { page_size: 100 }, greedy)).code, 0)
  tookMs = 0
  const read = grpc.call('ListOrders', { page_size: 100 }, greedy)
  t.ok(await until(() => queued(1) === 1))
  t.equal((await grpc.call('ListOrders', { page_size: 100 }, honest)).code, 0)
  t.match(await read, { code: 8, reason: 'RATE_LIMIT_EXCEEDED' })
})

t.test('a session that ended while its read waited is told nothing', async (t) => {
  const greedy = await harness.openSession()
  const other = await harness.openSession(0, greedy.address)
  await anOrder()
  tookMs = 2_500
  t.equal((await list(greedy)).status, 200)
  tookMs = 0
  const read = list(other)
  t.ok(await until(() => queued(0) === 1))
  t.equal((await call(harness, other, 'POST', '/api/v1/auth/revoke')).status, 200)
  trading = false
  const { status, json } = await read
  // On a machine that stood still for two seconds it was refused before there was time for it.
  t.ok(status === 401 || status === 429, `answered ${status}`)
  if (status === 401) t.match(json, { code: 'SESSION_INVALID' })
})
