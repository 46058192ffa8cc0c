/**
 * Promise: a mass cancel says what it did not cancel. Orders on a halted pair stay, and the answer names each with the code that cancelling
 * it alone would have had; for a delegated agent also those of pairs that it is not granted. What is placed behind it is not named.
 */
import t, { type Test } from 'tap'
import { CommandType, PairStatus, SET_PAIR_STATUS_COMMAND } from '../../core/layout/command.ts'
import { ORDER } from '../../core/state/columns.ts'
import { get, getF64, orderRow } from '../../core/state/rows.ts'
import { readLeftOrders } from '../../core/view/left_orders.ts'
import { call, delegate, startHarness, type Harness, type Session } from '../support/gateway_harness.ts'

const ORDERS = '/api/v1/orders'
/** Nothing stays. */
const NONE = { totalNotCancelled: 0, notCancelled: [] }
const ALL = `${ORDERS}/batch-cancel-all`
const BY_PAIR = `${ORDERS}/batch-cancel-by-pair`

async function trader(harness: Harness): Promise<Session> {
  const session = await harness.openSession()
  await call(harness, session, 'POST', '/api/v1/faucet/mint')
  return session
}

/** Places a bid and returns its id. */
async function bid(harness: Harness, session: Session, pair: number, price: string): Promise<string> {
  const body = { tradingPairId: harness.genesis.pairs[pair]!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price }
  return (await call(harness, session, 'POST', ORDERS, body)).json.orderId as string
}

const halt = (harness: Harness, pair: number, status: number = PairStatus.HALTED): Promise<unknown> =>
  harness.operate(CommandType.SET_PAIR_STATUS, SET_PAIR_STATUS_COMMAND, { session: -1, pair, status })

async function started(t: Test, flags: readonly string[] = []): Promise<Harness> {
  const harness = await startHarness(flags)
  t.teardown(() => harness.close())
  return harness
}

t.test('orders on a halted pair are named with their reason, newest first', async (t) => {
  const harness = await started(t)
  const [first, second] = harness.genesis.pairs.map(({ id }) => id)
  const session = await trader(harness)
  const stays = [await bid(harness, session, 0, '90'), await bid(harness, session, 0, '91')]
  const goes = await bid(harness, session, 1, '10')
  await halt(harness, 0)
  const left = { totalNotCancelled: 2, notCancelled: stays.reverse().map((orderId) =>
    ({ orderId, tradingPairId: first, reason: 'PAIR_NOT_ACTIVE' })) }
  t.same((await call(harness, session, 'POST', ALL, {})).json, { totalCancelled: 1, orderIds: [goes], ...left })
  t.same((await call(harness, session, 'POST', BY_PAIR, { tradingPairId: first })).json, { totalCancelled: 0, orderIds: [], ...left })
  t.same((await call(harness, session, 'POST', BY_PAIR, { tradingPairId: second })).json, { totalCancelled: 0, orderIds: [], ...NONE })
  t.equal((await call(harness, session, 'DELETE', `${ORDERS}/${stays[0]}`)).json.code, 'PAIR_NOT_ACTIVE', 'as alone')

  await halt(harness, 0, PairStatus.CANCEL_ONLY)
  const { json } = await call(harness, session, 'POST', ALL, {})
  t.same(json, { totalCancelled: 2, orderIds: stays, ...NONE }, 'and nothing when nothing stays')
})

t.test('what is placed behind it is not named, and a bounded number of what stays is', async (t) => {
  const harness = await started(t)
  const session = await trader(harness)
  for (const price of ['90', '91', '92']) await bid(harness, session, 0, price)
  const { state, shared } = harness
  const gate = new Int32Array(shared.gate)
  const account = get(state, orderRow(state, 0), ORDER.ACCOUNT)
  const newest = getF64(state, orderRow(state, 2), ORDER.SEQUENCE)
  const slots = (pair: number, before: number, most: number): unknown => {
    const { orders, total } = readLeftOrders(state, gate, account, pair, before, most)!
    return [orders.map(({ slot }) => slot), total]
  }
  t.same(slots(-1, newest, 9), [[1, 0], 2])
  t.same(slots(-1, newest + 1, 2), [[2, 1], 3])
  t.same(slots(1, newest + 1, 9), [[], 0])
})

t.test('a delegated agent is told which orders it may not cancel', async (t) => {
  const harness = await started(t)
  const owner = await trader(harness)
  const agent = await delegate(harness, owner, [0])
  const stays = await bid(harness, owner, 1, '10')
  const goes = await bid(harness, owner, 0, '90')
  const { json } = await call(harness, agent.session, 'POST', ALL, {})
  t.same(json, {
    totalCancelled: 1, orderIds: [goes], totalNotCancelled: 1,
    notCancelled: [{ orderId: stays, tradingPairId: harness.genesis.pairs[1]!.id, reason: 'AGENT_NOT_ALLOWED' }],
  })
})
