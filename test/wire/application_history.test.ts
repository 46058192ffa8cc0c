/**
 * Promise: what an application's backend reads of the past is its own users' and nobody else's: filters, pages, totals, records and
 * refusals of orders, movements and statistics. The history behind it is a naive one in memory; the properties of the real one are
 * in test/property/history_applications.test.ts.
 */
import t, { type Test } from 'tap'
import {
  Entry, Reference, Transaction, type HistoryMovement, type HistoryOrder, type HistoryTrade,
} from '../../core/history/answer/queries.ts'
import { Flag } from '../../core/layout/command.ts'
import { outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { movementId, orderId, userId } from '../../core/layout/ids.ts'
import { readAccount, readSessionRow } from '../../core/view/accounts.ts'
import { compile } from '../../gateway/operations/operation.ts'
import { type OperationName, OPERATIONS } from '../../gateway/operations/index.ts'
import { call, request, startHarness, testGenesis, type Harness, type Reply, type Session } from '../support/gateway_harness.ts'
import { answerNaively, createNaiveHistory, type NaiveHistory } from '../support/naive_history.ts'
import { giveServerKey, newServerKey } from '../support/server_keys.ts'

const history: NaiveHistory = createNaiveHistory()
let isUp = true
const harness: Harness = await startHarness([], testGenesis(), (asked) =>
  isUp ? answerNaively(history, asked) : { id: asked.id, failed: 'it cannot be read' },
)
t.teardown(() => harness.close())

const [ours, theirs] = [await giveServerKey(harness, 0), await giveServerKey(harness, 1)]
const [alice, bob, carol] = [await harness.openSession(0), await harness.openSession(0), await harness.openSession(1)]
const accountOf = ({ row }: Session): number => readSessionRow(harness.state, row)!.account
const [A, B, C] = [accountOf(alice), accountOf(bob), accountOf(carol)]
const idOf = (account: number): string => userId(readAccount(harness.state, account).createdSequence, account)
const [btc, eth] = harness.genesis.pairs as [(typeof harness.genesis.pairs)[0], (typeof harness.genesis.pairs)[0]]
const NOW = Date.UTC(2026, 10, 21, 12)

const ROOT = '/api/v1/applications'
const get = (target: string, key: string | null = ours): Promise<Reply> =>
  request(harness.port, 'GET', `${ROOT}${target}`, key === null ? {} : { 'x-server-key': key })
const outputs = new Map(OPERATIONS.map(({ name, operation }) => [name, compile(operation.output as Parameters<typeof compile>[0])]))

/** The answer of operation `name`, which has the shape it declares. */
async function read(t: Test, name: OperationName, target: string, key = ours): Promise<any> {
  const reply = await get(target, key)
  t.equal(reply.status, 200, `${target}: ${reply.text}`)
  t.equal(outputs.get(name)!.check(reply.json), null, `${name} answers what it declares`)
  return reply.json
}

function order(sequence: number, more: Partial<HistoryOrder> = {}): HistoryOrder {
  return {
    sequence, slot: sequence % 7, account: A, pair: 0, flags: 0, price: 10_000, lots: 50, remaining: 50, filledQuote: 0n, fee: 0n,
    createdAt: NOW + sequence, updatedAt: NOW + sequence, expiresAt: NOW + 90 * 86_400_000, clientOrderId: '', slippageBps: 0,
    outcome: outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED), ...more,
  }
}

function movement(sequence: number, index: number, more: Partial<HistoryMovement> = {}): HistoryMovement {
  return {
    sequence, index, account: A, time: NOW + sequence, asset: 0, entry: Entry.CREDIT, transaction: Transaction.FAUCET, amount: 1_500_000n,
    available: 1_500_000n, locked: 0n, reference: Reference.CREDIT, referenceSequence: sequence, referenceSlot: 0, ...more,
  }
}

function trade(sequence: number, more: Partial<HistoryTrade> = {}): HistoryTrade {
  return {
    sequence, index: 0, pair: 0, time: NOW + sequence, price: 6_000_050, lots: 20, quote: 120_000_000n, makerSells: true, makerAccount: A,
    takerAccount: C, makerSequence: 3, makerSlot: 9, takerSlot: 4, makerFee: -6_000n, takerFee: 60_000n, ...more,
  }
}

for (const [account, application] of [[A, 0], [B, 0], [C, 1]] as const) history.applications.set(account, application)
history.orders.push(
  order(11), order(12, { account: B, pair: 1, flags: Flag.SELL }), order(13, { account: C }),
  order(14, { account: B, flags: Flag.MARKET, price: 0, remaining: 0, outcome: outcomeOf(Status.FILLED, Reason.NONE) }),
)
history.movements.push(
  movement(21, 0), movement(22, 0, { account: C }),
  movement(23, 0, {
    entry: Entry.DEBIT, transaction: Transaction.TRANSFER, reference: Reference.TRANSFER, amount: 500_000n, available: 1_000_000n,
  }),
  movement(23, 1, { account: B, transaction: Transaction.TRANSFER, reference: Reference.TRANSFER, amount: 500_000n, asset: 1 }),
)
history.trades.push(trade(31), trade(32, { makerAccount: C, takerAccount: B }), trade(33, { makerAccount: A, takerAccount: B }))

const sequences = (rows: { id: string }[]): string[] => rows.map(({ id }) => id)
const ids = (...numbers: number[]): string[] => numbers.map((sequence) => orderId(sequence, sequence % 7))

t.test('orders of the application, newest first, by every filter', async (t) => {
  const list = async (query: string, key = ours): Promise<string[]> =>
    sequences((await read(t, 'ListApplicationOrders', `/orders${query}`, key)).orders)
  t.strictSame(await list(''), ids(14, 12, 11))
  t.strictSame(await list('', theirs), ids(13))
  t.strictSame(await list('?status=FILLED'), ids(14))
  t.strictSame(await list('?status=CANCELLED&status=FILLED'), ids(14, 12, 11))
  t.strictSame(await list(`?tradingPairId=${eth.id}`), ids(12))
  t.strictSame(await list(`?tradingPairId=${btc.id.toUpperCase()}`), ids(14, 11))
  t.strictSame(await list('?side=SELL'), ids(12))
  t.strictSame(await list('?orderType=MARKET'), ids(14))
  t.strictSame(await list(`?userId=${idOf(B)}`), ids(14, 12))
  t.strictSame(await list(`?userId=${idOf(B)}&side=BUY`), ids(14))
  const { orders, ...page } = await read(t, 'ListApplicationOrders', '/orders?page=2&pageSize=2')
  t.match(orders, [{ orderId: ids(11)[0], userId: idOf(A), status: 'CANCELLED', symbol: btc.symbol }])
  t.strictSame(page, { page: 2, pageSize: 2, total: 3, totalPages: 2 })
})

t.test('movements of the application, newest first, by every filter, with whose they are', async (t) => {
  const list = async (query: string, key = ours): Promise<string[]> =>
    sequences((await read(t, 'ListApplicationMovements', `/movements${query}`, key)).movements)
  const moved = (...places: [number, number][]): string[] => places.map(([sequence, index]) => movementId(sequence, index))
  t.strictSame(await list(''), moved([23, 1], [23, 0], [21, 0]))
  t.strictSame(await list('', theirs), moved([22, 0]))
  t.strictSame(await list('?entryType=DEBIT'), moved([23, 0]))
  t.strictSame(await list('?transactionType=TRANSFER'), moved([23, 1], [23, 0]))
  t.strictSame(await list(`?token=${harness.genesis.assets[1]!.token.toUpperCase().replace('0X', '0x')}`), moved([23, 1]))
  t.strictSame(await list('?token=0x00'), [])
  t.strictSame(await list(`?userId=${idOf(B)}`), moved([23, 1]))
  const { movements } = await read(t, 'ListApplicationMovements', '/movements?transactionType=TRANSFER')
  t.match(movements, [{ userId: idOf(B), entryType: 'CREDIT' }, { userId: idOf(A), entryType: 'DEBIT' }])
  t.strictSame(movements.map((row: any) => row.referenceId), [movementId(23, 0), movementId(23, 0)], 'both name the transfer')
})

t.test('lists of a history that is behind say what they are complete to', async (t) => {
  const lists = [['ListApplicationOrders', '/orders'], ['ListApplicationMovements', '/movements']] as const
  for (const [name, target] of lists) {
    t.equal((await read(t, name, target)).asOf, undefined, name)
    history.behind = NOW
    t.equal((await read(t, name, target)).asOf, new Date(NOW).toISOString())
    history.behind = null
  }
})

t.test('a user of another application and one that does not exist are the same empty page', async (t) => {
  const empty = { page: 1, pageSize: 20, total: 0, totalPages: 0 }
  for (const id of [idOf(C), userId(5, 1000), userId(1, A), orderId(11, 4)]) {
    t.strictSame(await read(t, 'ListApplicationOrders', `/orders?userId=${id}`), { orders: [], ...empty })
    t.strictSame(await read(t, 'ListApplicationMovements', `/movements?userId=${id}`), { movements: [], ...empty })
  }
  t.strictSame(await read(t, 'ListApplicationOrders', `/orders?userId=${idOf(A)}`, theirs), { orders: [], ...empty })
})

t.test('statistics of all time and since a moment', async (t) => {
  const whole = (query: string, key = ours): Promise<{ asOf: string; sequence: number }> =>
    read(t, 'GetApplicationStats', `/stats${query}`, key)
  const stats = async (query: string, key = ours): Promise<object> => {
    const { asOf, sequence, ...rest } = await whole(query, key)
    t.equal(sequence, harness.lastSequence())
    t.ok(Math.abs(Date.parse(asOf) - Date.now()) < 60_000)
    return rest
  }
  const { id: assetId, symbol } = harness.genesis.assets[harness.genesis.feeTiers.asset]!
  const sums = { assetId, symbol, volume: '240', makerFee: '-0.012', takerFee: '0.12', applicationFee: '0' }
  const all = { ...sums, totalUsers: 2, activeUsers: 2, totalTrades: 3 }
  t.strictSame(await stats(''), { ...all, since: null })
  const since = new Date(NOW + 32).toISOString()
  const late = { ...all, makerFee: '-0.006', totalTrades: 2, since }
  t.strictSame(await stats(`?since=${since}`), late, 'only trades at or after it')
  t.strictSame(await stats(`?since=${NOW + 32}`), late, 'also as Unix ms')
  const none = { volume: '0', makerFee: '0', takerFee: '0', activeUsers: 0, totalTrades: 0 }
  t.match(await stats(`?since=${new Date(NOW + 34).toISOString()}`), { ...none, totalUsers: 2 })
  history.behind = NOW
  const behind = { asOf: new Date(NOW).toISOString(), sequence: harness.lastSequence() - 1 }
  t.match(await whole(''), behind, 'a history that is behind says so')
  history.behind = null
  t.match(await stats('', theirs), { volume: '120', makerFee: '-0.006', takerFee: '0.06', totalUsers: 1, activeUsers: 1, totalTrades: 2 })
})

t.test('totals end at 10,000 pages of the page size, and so do pages', async (t) => {
  for (const name of ['orders', 'movements']) {
    await get(`/${name}?page=10000&pageSize=7`)
    t.match(history.asked.at(-1)!.ask, { limit: 7, skip: 9999 * 7, countMost: 70_000, application: 0 })
    await get(`/${name}?userId=${idOf(A)}&pageSize=100`)
    t.match(history.asked.at(-1)!.ask, { limit: 100, skip: 0, countMost: 1_000_000, account: A })
    for (const field of ['page=10001', 'page=0', 'page=x', 'pageSize=101', 'pageSize=0', 'userId=me']) {
      const { json } = await get(`/${name}?${field}`)
      t.match(json, { code: 'VALIDATION_ERROR', details: { field: field.split('=')[0]! } }, `${name} ${field}`)
    }
  }
  for (const field of ['status=OPEN', 'side=sell', 'orderType=STOP', 'tradingPairId=1']) {
    t.match((await get(`/orders?${field}`)).json, { code: 'VALIDATION_ERROR', details: { field: field.split('=')[0]! } }, field)
  }
  for (const since of ['yesterday', '2026-13-01T00:00:00Z', '-1', '', '1768467600']) {
    t.match((await get(`/stats?since=${since}`)).json, { code: 'VALIDATION_ERROR', details: { field: 'since' } }, `since ${since}`)
  }
})

t.test('only a server key opens them, and a history that is down is 503', async (t) => {
  for (const target of ['/orders', '/movements', '/stats']) {
    t.match(await get(target, null), { status: 401, json: { code: 'UNAUTHENTICATED' } }, `${target} without a key`)
    t.match(await get(target, newServerKey()), { status: 401 }, `${target} with another key`)
    t.match(await call(harness, alice, 'GET', `${ROOT}${target}`), { status: 401 }, `${target} signed by a session`)
    isUp = false
    t.match(await get(target), { status: 503, json: { code: 'HISTORY_UNAVAILABLE' } }, `${target} without a history`)
    t.match((await get(`${target}?userId=${idOf(C)}`)).status, 503, 'whomever it names')
    isUp = true
  }
})
