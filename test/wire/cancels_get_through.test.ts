/**
 * Promise: one account's requests without an answer, orders or mass cancels, leave everybody else room for theirs, and cancels find room
 * when orders do not. A mass cancel takes a bounded part of the answers that may be in flight and still names every order it ended.
 * Alone: it saturates a gateway.
 */
import t from 'tap'
import { CLOCK } from '../../core/state/columns.ts'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { call, startHarness, testGenesis, type Harness, type Reply, type Session } from '../support/gateway_harness.ts'

const CANCEL_ALL = '/api/v1/orders/batch-cancel-all'
const order = (harness: Harness, price = '100') => ({
  tradingPairId: harness.genesis.pairs[0]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.01', price,
})
const place = (harness: Harness, session: Session, price?: string): Promise<Reply> =>
  call(harness, session, 'POST', '/api/v1/orders', order(harness, price))
const countersOf = (harness: Harness): Float64Array => gatewayCounters(harness.shared.counters, 1)

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 20_000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 1))
  if (!condition()) throw new Error('it did not come to that')
}

async function funded(harness: Harness): Promise<Session> {
  const session = await harness.openSession()
  const { status } = await call(harness, session, 'POST', '/api/v1/faucet/mint', {})
  if (status !== 200) throw new Error(`mint: ${status}`)
  return session
}

t.test('mass cancels of one account in flight cost nobody else anything', async (t) => {
  const harness = await startHarness()
  const [greedy, honest] = [await funded(harness), await funded(harness)]
  const { orderId } = (await place(harness, honest)).json as { orderId: string }
  const counters = countersOf(harness)
  harness.hold(true)
  const exits = Array.from({ length: 60 }, () => call(harness, greedy, 'POST', CANCEL_ALL, {}))
  await until(() => counters[GATEWAY.pending]! + counters[GATEWAY.share_full]! + counters[GATEWAY.ring_full]! === 60)
  t.ok(counters[GATEWAY.credits]! < 16_384 / 2, `${counters[GATEWAY.credits]} of 16384 answers are one account's`)
  const before = counters[GATEWAY.pending]!
  const theirs = [
    place(harness, honest), call(harness, honest, 'DELETE', `/api/v1/orders/${orderId}`), call(harness, honest, 'POST', CANCEL_ALL, {}),
  ]
  await until(() => counters[GATEWAY.pending] === before + 3 || counters[GATEWAY.ring_full]! > 0)
  harness.hold(false)
  t.same((await Promise.all(theirs)).map(({ status }) => status), [200, 200, 200])
  const answers = (await Promise.all(exits)).map(({ status }) => status)
  t.same([...new Set(answers)], [200], 'mass cancels are smaller when there are many, and not refused')
  t.equal(counters[GATEWAY.credits], 0)
  await harness.close()
})

t.test('with its share of orders in flight an account is told so, may cancel, and others trade', async (t) => {
  const harness = await startHarness(['--command-ring', '256', '--batch-max', '128'])
  const [greedy, honest] = [await funded(harness), await funded(harness)]
  const { orderId } = (await place(harness, greedy)).json as { orderId: string }
  const counters = countersOf(harness)
  harness.hold(true)
  const orders = Array.from({ length: 120 }, (_, i) => place(harness, greedy, String(100 + i)))
  await until(() => counters[GATEWAY.pending]! + counters[GATEWAY.share_full]! + counters[GATEWAY.ring_full]! === 120)
  t.ok(counters[GATEWAY.share_full]! > 0)
  t.equal(counters[GATEWAY.ring_full], 0)
  const before = counters[GATEWAY.pending]!
  const later = [
    place(harness, honest), call(harness, greedy, 'DELETE', `/api/v1/orders/${orderId}`), call(harness, greedy, 'POST', CANCEL_ALL, {}),
  ]
  await until(() => counters[GATEWAY.pending] === before + 3)
  harness.hold(false)
  t.same((await Promise.all(later)).map(({ status }) => status), [200, 200, 200])
  const refused = (await Promise.all(orders)).filter(({ status }) => status !== 200)
  t.equal(refused.length, counters[GATEWAY.share_full])
  t.ok(refused.every(({ status, json }) => status === 429 && json.code === 'TOO_MANY_IN_FLIGHT'))
  t.ok(refused.every(({ headers }) => headers['retry-after'] === '1'))
  await harness.close()
})

t.test('a mass cancel in parts names every order it ended, once', async (t) => {
  const harness = await startHarness([], testGenesis({ openOrdersPerAccount: 1000 }))
  const session = await funded(harness)
  const placed: string[] = []
  for (let i = 0; i < 5; i++) {
    const orders = Array.from({ length: 100 }, (_, n) => order(harness, String(100 + i * 100 + n)))
    const { json } = await call(harness, session, 'POST', '/api/v1/orders/batch-create', { orders })
    placed.push(...(json.results as { orderId: string }[]).map(({ orderId }) => orderId))
  }
  const { status, json } = await call(harness, session, 'POST', CANCEL_ALL, {})
  t.equal(status, 200)
  t.equal(json.totalCancelled, 500)
  t.same([...(json.orderIds as string[])].sort(), [...placed].sort())
  t.equal((await call(harness, session, 'POST', CANCEL_ALL, {})).json.totalCancelled, 0)
  await harness.close()
})

t.test('a mass cancel of one pair passes by what stays, in parts, and takes no more answers for it', async (t) => {
  const harness = await startHarness([], testGenesis({ openOrdersPerAccount: 1000 }))
  const session = await funded(harness)
  const place100 = async (pair: number): Promise<string[]> => {
    const orders = Array.from({ length: 100 }, () => ({ ...order(harness), tradingPairId: harness.genesis.pairs[pair]!.id }))
    const { json } = await call(harness, session, 'POST', '/api/v1/orders/batch-create', { orders })
    return (json.results as { orderId: string }[]).map(({ orderId }) => orderId)
  }
  const meant = await place100(0)
  for (let batch = 0; batch < 6; batch++) await place100(1)
  const sequence = (): number => harness.state.clock[CLOCK.SEQUENCE]!
  const before = sequence()
  const tradingPairId = harness.genesis.pairs[0]!.id
  const { status, json } = await call(harness, session, 'POST', '/api/v1/orders/batch-cancel-by-pair', { tradingPairId })
  t.equal(status, 200)
  t.same([...(json.orderIds as string[])].sort(), [...meant].sort(), 'the oldest of 700')
  const parts = sequence() - before
  t.ok(parts > 1 && parts < 10, `${parts} commands`)
  t.equal((await call(harness, session, 'POST', CANCEL_ALL, {})).json.totalCancelled, 600)
  await harness.close()
})
