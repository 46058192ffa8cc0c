/** Promise: open orders listed from the columns are what the history would list, for every filter, page and cursor. */
import t from 'tap'
import { outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import { listOpenOrders } from '../../core/view/open_orders.ts'
import { call, startHarness, testGenesis, type Session } from '../support/gateway_harness.ts'
import { answerNaively, createNaiveHistory } from '../support/naive_history.ts'

const SEED = Number(process.env['SEED'] ?? 7)
const random = createPrng(SEED)
t.comment(`SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/wire/open_orders.test.ts`)

const history = createNaiveHistory()
const harness = await startHarness([], testGenesis(), (asked) => answerNaively(history, asked))
t.teardown(() => harness.close())
const [maker, taker] = [await harness.openSession(), await harness.openSession()]
for (const session of [maker, taker]) await call(harness, session, 'POST', '/api/v1/faucet/mint')
const [btc, eth] = harness.genesis.pairs
const ORDERS = '/api/v1/orders'
const place = async (session: Session, orders: object[]): Promise<void> => {
  const { json } = await call(harness, session, 'POST', `${ORDERS}/batch-create`, { orders })
  if (json.totalFailed !== 0) throw new Error(JSON.stringify(json))
}

/** Asks of open orders in the columns, and the same of the history by a status that none of them has. */
async function both(query: string): Promise<[live: any, recorded: any]> {
  const open = `${ORDERS}?status=SUBMITTED&status=PARTIALLY_FILLED${query}`
  return [(await call(harness, maker, 'GET', open)).json, (await call(harness, maker, 'GET', `${open}&status=EXPIRED`)).json]
}

t.test('sixty orders, some of them partly filled', async (t) => {
  for (let batch = 0; batch < 6; batch++) {
    await place(maker, Array.from({ length: 10 }, (_, i) => {
      const label = random.below(3) === 0 ? { clientOrderId: `${batch} ${i}` } : {}
      const side = random.below(2) === 0 ? 'SELL' : 'BUY'
      const [tradingPairId, quantity, high, low] = random.below(2) === 0
        ? [btc!.id, '0.001', '60001', '1000']
        : [eth!.id, '0.02', '3001', '100']
      return { tradingPairId, orderType: 'LIMIT', side, quantity, price: side === 'SELL' ? high : low, ...label }
    }))
  }
  await place(taker, [
    { tradingPairId: btc!.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.0005', price: '60001' },
    { tradingPairId: eth!.id, orderType: 'LIMIT', side: 'SELL', quantity: '0.012', price: '100' },
  ])
  const { account } = readSessionRow(harness.state, maker.row)!
  const every = { account, limit: 1000, skip: 0, after: null, countMost: 1000 }
  const open = listOpenOrders(harness.state, new Int32Array(harness.shared.gate), every)!
  t.equal(open.rows.length, 60)
  history.orders.push(...open.rows.map((order) => ({
    ...order, slippageBps: 0, outcome: outcomeOf(order.remaining < order.lots ? Status.PARTIALLY_FILLED : Status.SUBMITTED, Reason.NONE),
  })))
  t.equal(open.rows.filter((order) => order.remaining < order.lots).length, 2)
})

t.test('filters and pages', async (t) => {
  const times = history.orders.map(({ createdAt }) => createdAt)
  const some = (): number => times[random.below(times.length)]!
  const filters = [
    '', '&side=SELL', '&side=BUY', '&orderType=LIMIT', '&orderType=MARKET', '&tradingMode=SPOT', '&tradingMode=MARGIN',
    `&tradingPairId=${btc!.id}`, `&tradingPairId=${eth!.id}&side=BUY`, '&tradingPairId=7a1c0000-0000-4000-8000-00000000ffff',
    ...history.orders.filter(({ clientOrderId }) => clientOrderId !== '').slice(0, 5)
    .map(({ clientOrderId }) => `&clientOrderId=${encodeURIComponent(clientOrderId)}`),
    '&clientOrderId=none', `&startTime=${some()}`, `&endTime=${some()}`, `&startTime=${Math.min(...times)}&endTime=${some()}`,
  ]
  for (const filter of filters) {
    for (const page of ['', '&page=2', '&page=2&pageSize=7', '&pageSize=100', '&page=10000']) {
      const [live, recorded] = await both(filter + page)
      // Tokens are bound to the statuses asked for, so the two cannot be the same text.
      t.equal(live.nextPageToken === undefined, recorded.nextPageToken === undefined)
      t.same({ ...live, nextPageToken: '' }, { ...recorded, nextPageToken: '' }, `${filter}${page}`)
    }
  }
  for (const status of ['SUBMITTED', 'PARTIALLY_FILLED']) {
    const live = (await call(harness, maker, 'GET', `${ORDERS}?status=${status}&pageSize=100`)).json
    const recorded = (await call(harness, maker, 'GET', `${ORDERS}?status=${status}&status=EXPIRED&pageSize=100`)).json
    t.same({ ...live, nextPageToken: '' }, { ...recorded, nextPageToken: '' }, status)
  }
})

t.test('cursors of every size', async (t) => {
  for (const size of [1, 7, 30, 59, 60, 61, 1000]) {
    let [live, recorded] = await both(`&pageToken=&pageSize=${size}`)
    for (let step = 0; step <= 60; step++) {
      t.same(live.orders, recorded.orders, `${size} at a time, step ${step}`)
      t.equal(live.nextPageToken === '', recorded.nextPageToken === '')
      if (live.nextPageToken === '') break
      const next = (answer: any, extra: string): Promise<any> => call(
        harness, maker, 'GET',
        `${ORDERS}?status=SUBMITTED&status=PARTIALLY_FILLED${extra}&pageSize=${size}&pageToken=${answer.nextPageToken}`,
      ).then(({ json }) => json)
      ;[live, recorded] = [await next(live, ''), await next(recorded, '&status=EXPIRED')]
    }
    t.equal(live.nextPageToken, '')
  }
})
