/**
 * Promise: a history that is down, slow or behind costs answers about the past and nothing else: trading and reading open orders go on,
 * what it cannot say is 503, and no order is ever called open or missing that is not.
 */
import t from 'tap'
import type { HistoryOrder } from '../../core/history/answer/queries.ts'
import { CommandType, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { IdKind, orderId, parseId, tradeId } from '../../core/layout/ids.ts'
import { GATEWAY, gatewayCounters, HISTORY, historyCounters } from '../../core/ring/counters.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import { call, request, startHarness, testGenesis, type Historian, type Reply, type Session } from '../support/gateway_harness.ts'
import { answerNaively, createNaiveHistory } from '../support/naive_history.ts'

const history = createNaiveHistory()
let failing = false
const historian: Historian = (asked) => (failing ? { id: asked.id, failed: 'disk' } : answerNaively(history, asked))
const harness = await startHarness([], testGenesis(), historian)
t.teardown(() => harness.close())
const up = historyCounters(harness.shared.counters)
const session = await harness.openSession()
const other = await harness.openSession()
const account = readSessionRow(harness.state, session.row)!.account
const pair = harness.genesis.pairs[0]!
await call(harness, session, 'POST', '/api/v1/faucet/mint')

const ORDERS = '/api/v1/orders'
const get = (target: string, who: Session = session): Promise<Reply> => call(harness, who, 'GET', target)
const place = async (more: object = {}): Promise<string> => {
  const body = { tradingPairId: pair.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.01', price: '100', ...more }
  const reply = await call(harness, session, 'POST', ORDERS, body)
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.json.orderId
}
const cancel = (id: string): Promise<Reply> => call(harness, session, 'DELETE', `${ORDERS}/${id}`)

/** What the history says of the order with this id. */
function recorded(id: string, outcome: number, more: Partial<HistoryOrder> = {}): HistoryOrder {
  const { sequence, slot } = parseId(IdKind.ORDER, id)!
  return {
    sequence, slot, account, outcome, pair: 0, flags: 0, price: 10_000, lots: 100, remaining: 100, filledQuote: 0n, fee: 0n,
    createdAt: 1_700_000_000_000, updatedAt: 1_700_000_000_001, expiresAt: 1_700_000_100_000, clientOrderId: 'kept',
    slippageBps: 0, ...more,
  }
}
const CANCELLED = outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED)
const SUBMITTED = outcomeOf(Status.SUBMITTED, Reason.NONE)

const PAST = [
  ORDERS, `${ORDERS}?status=FILLED`, `${ORDERS}?status=SUBMITTED&status=CANCELLED`, `${ORDERS}/${orderId(9_999_999, 1)}`,
  '/api/v1/accounts/trades', '/api/v1/accounts/movements', '/api/v1/accounts/portfolio',
]
const MARKET = '/api/v1/market'
const PUBLIC = [
  '/api/v1/trades', `/api/v1/trades/${tradeId(1, 0)}`, `${MARKET}/screener`, `${MARKET}/pairs/${pair.id}/metadata`,
  `${MARKET}/pairs/${pair.id}/candles`,
]

t.test('down or failing: the past is 503, trading and open orders go on', async (t) => {
  for (const state of ['down', 'failing'] as const) {
    if (state === 'down') up[HISTORY.up] = 0
    failing = state === 'failing'
    const open = await place({ clientOrderId: state })
    t.same((await get(`${ORDERS}?status=SUBMITTED`)).json.orders.map(({ id }: { id: string }) => id), [open], state)
    t.match((await get(`${ORDERS}/${open}`)).json, { status: 'SUBMITTED', clientOrderId: state })
    t.equal((await cancel(open)).status, 200)
    const ended = { status: 'CANCELLED', terminalReason: 'USER_CANCELLED' }
    t.match((await get(`${ORDERS}/${open}`)).json, ended, 'what ended lately is remembered')
    for (const target of PAST) {
      t.match(
        (await get(target)).json, { statusCode: 503, error: 'UNAVAILABLE', code: 'HISTORY_UNAVAILABLE', message: /history/ },
        `${state} ${target}`,
      )
    }
    for (const target of PUBLIC) {
      t.equal((await request(harness.port, 'GET', target)).json.code, 'HISTORY_UNAVAILABLE', `${state} ${target}`)
    }
    t.equal((await request(harness.port, 'GET', `/api/v1/orderbook/${pair.id}`)).status, 200)
    up[HISTORY.up] = 1
    failing = false
  }
  for (const target of PAST.filter((target) => !target.startsWith(`${ORDERS}/`))) t.equal((await get(target)).status, 200, 'and back again')
  t.equal(gatewayCounters(harness.shared.counters, 1)[GATEWAY.unhandled], 0)
})

const maintenance = (on: number): Promise<unknown> =>
  harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on })

t.test('health names a history that is down, silent or late, and the service stays ready', async (t) => {
  const health = async (path: string): Promise<{ status: number; said: unknown; degraded: unknown }> => {
    const { status, json } = await request(harness.port, 'GET', path)
    return { status, said: json.status, degraded: json.degraded }
  }
  const troubles: Record<string, [counter: number, bad: number, good: number]> = {
    down: [HISTORY.up, 0, 1], silent: [HISTORY.silence_seconds, 11, 0], late: [HISTORY.lag_seconds, 5.1, 4.9],
  }
  for (const [name, [counter, bad, good]] of Object.entries(troubles)) {
    up[counter] = bad
    for (const path of ['/health', '/ready', '/api/v1/health']) {
      t.strictSame(await health(path), { status: 200, said: 'degraded', degraded: ['history'] }, `${name} ${path}`)
    }
    up[counter] = good
    t.strictSame(await health('/health'), { status: 200, said: 'ok', degraded: [] }, `no longer ${name}`)
  }
  await maintenance(1)
  up[HISTORY.up] = 0
  t.strictSame(await health('/health'), { status: 200, said: 'maintenance', degraded: ['history'] }, 'both are said')
  up[HISTORY.up] = 1
  await maintenance(0)
})

t.test('one order: the live columns, then what ended, then the history', async (t) => {
  const open = await place()
  history.orders.push(recorded(open, CANCELLED))
  t.equal((await get(`${ORDERS}/${open}`)).json.status, 'SUBMITTED', 'a resting order is what the columns say')
  await cancel(open)
  t.match(
    (await get(`${ORDERS}/${open}`)).json, { status: 'CANCELLED', clientOrderId: 'kept', expirationDate: '2023-11-14T22:15:00.000Z' },
    'the history knows the whole of it',
  )
  const old = orderId(700_000, 3)
  history.orders.push(recorded(old, outcomeOf(Status.EXPIRED, Reason.EXPIRED)))
  t.match((await get(`${ORDERS}/${old}`)).json, { orderId: old, status: 'EXPIRED', terminalReason: 'EXPIRED' }, 'of any age')
  t.equal((await get(`${ORDERS}/${old}`, other)).json.code, 'ORDER_NOT_FOUND', "somebody else's")
  t.equal((await get(`${ORDERS}/${orderId(700_000, 4)}`)).json.code, 'ORDER_NOT_FOUND', 'the same sequence, another slot')
  t.equal((await get(`${ORDERS}/${orderId(700_001, 3)}`)).json.code, 'ORDER_NOT_FOUND')
  t.equal((await get(`${ORDERS}/${tradeId(700_000, 3)}`)).json.code, 'ORDER_NOT_FOUND', 'no id of an order')
})

t.test('a history that is behind is never believed against the columns', async (t) => {
  const ended = await place()
  await cancel(ended)
  t.equal((await get(`${ORDERS}/${ended}`)).json.status, 'CANCELLED', 'not in the history yet')
  history.orders.push(recorded(ended, SUBMITTED))
  t.equal((await get(`${ORDERS}/${ended}`)).json.status, 'CANCELLED', 'still open there')
  const forgotten = orderId(800_000, 3)
  history.orders.push(recorded(forgotten, SUBMITTED))
  t.match((await get(`${ORDERS}/${forgotten}`)).json, { statusCode: 503, code: 'HISTORY_UNAVAILABLE' }, 'no verdict')
})

t.test('a question names the newest command its asker can know of', async (t) => {
  for (let i = 0; i < 20; i++) {
    const id = await place({ timeInForce: 'IOC' })
    await get(ORDERS)
    t.ok(history.asked.at(-1)!.atLeast >= parseId(IdKind.ORDER, id)!.sequence)
  }
})

t.test('open orders by cursor: the same walk, and a new order does not disturb it', async (t) => {
  const placed: string[] = []
  for (let i = 0; i < 12; i++) placed.push(await place({ price: String(100 + i) }))
  placed.reverse()
  const open = `${ORDERS}?status=SUBMITTED&status=PARTIALLY_FILLED&pageSize=5`
  const first = (await get(`${open}&pageToken=`)).json
  placed.unshift(await place())
  const second = (await get(`${open}&pageToken=${first.nextPageToken}`)).json
  await cancel(placed[9]!)
  const third = (await get(`${open}&pageToken=${second.nextPageToken}`)).json
  const walked = [first, second, third].flatMap(({ orders }) => orders.map(({ id }: { id: string }) => id))
  t.same(walked, placed.slice(1), 'what was open throughout, once each, newest first')
  t.equal(third.nextPageToken, '')
  t.match((await get(`${open}&page=3`)).json, { total: 12, totalPages: 3, totalCapped: false, page: 3, orders: { length: 2 } })
  t.equal((await get(`${ORDERS}?status=SUBMITTED&pageSize=5&pageToken=${first.nextPageToken}`)).status, 400, 'another listing')
})
