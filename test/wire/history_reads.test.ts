/**
 * Promise: what the gateway asks of the history, and what it makes of the answers: filters, pages, cursors, records, refusals. The
 * history behind it is a naive one in memory; test/e2e/history_reads.deep.ts has the real one.
 */
import t, { type Test } from 'tap'
import {
  Entry, Reference, Transaction, type HistoryMovement, type HistoryOrder, type HistoryTrade,
} from '../../core/history/answer/queries.ts'
import { Flag } from '../../core/layout/command.ts'
import { outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { movementId, orderId, tradeId } from '../../core/layout/ids.ts'
import { readSessionRow } from '../../core/view/accounts.ts'
import { compile } from '../../gateway/operations/operation.ts'
import { type OperationName, OPERATIONS } from '../../gateway/operations/index.ts'
import { call, request, startHarness, testGenesis, type Harness, type Reply, type Session } from '../support/gateway_harness.ts'
import { answerNaively, createNaiveHistory, type NaiveHistory } from '../support/naive_history.ts'

const history: NaiveHistory = createNaiveHistory()
const harness: Harness = await startHarness([], testGenesis(), (asked) => answerNaively(history, asked))
t.teardown(() => harness.close())
const [btc, eth] = harness.genesis.pairs as [(typeof harness.genesis.pairs)[0], (typeof harness.genesis.pairs)[0]]
const alice = await harness.openSession()
const bob = await harness.openSession()
const accountOf = ({ row }: Session): number => readSessionRow(harness.state, row)!.account
const [A, B] = [accountOf(alice), accountOf(bob)]
const NOW = Date.UTC(2026, 10, 21, 12)

const ORDERS = '/api/v1/orders'
const TRADES = '/api/v1/trades'
const MINE = '/api/v1/accounts/trades'
const MOVEMENTS = '/api/v1/accounts/movements'
const PORTFOLIO = '/api/v1/accounts/portfolio'
const get = (target: string, session: Session | null = alice): Promise<Reply> =>
  session === null ? request(harness.port, 'GET', target) : call(harness, session, 'GET', target)

const outputs = new Map(OPERATIONS.map(({ name, operation }) => [name, compile(operation.output as Parameters<typeof compile>[0])]))

/** The answer of operation `name`, which has the shape it declares. */
async function read(t: Test, name: OperationName, target: string, session: Session | null = alice): Promise<any> {
  const reply = await get(target, session)
  t.equal(reply.status, 200, `${target}: ${reply.text}`)
  t.equal(outputs.get(name)!.check(reply.json), null, `${name} answers what it declares`)
  return reply.json
}

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id)

function order(sequence: number, more: Partial<HistoryOrder> = {}): HistoryOrder {
  return {
    sequence, slot: sequence % 7, account: A, pair: 0, flags: 0, price: 10_000, lots: 50, remaining: 50, filledQuote: 0n, fee: 0n,
    createdAt: NOW + sequence, updatedAt: NOW + sequence, expiresAt: NOW + 90 * 86_400_000, clientOrderId: '', slippageBps: 0,
    outcome: outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED), ...more,
  }
}

function trade(sequence: number, index: number, more: Partial<HistoryTrade> = {}): HistoryTrade {
  return {
    sequence, index, pair: 0, time: NOW + sequence, price: 6_000_050, lots: 20, quote: 120_001_000n, makerSells: true, makerAccount: A,
    takerAccount: B, makerSequence: 3, makerSlot: 9, takerSlot: 4, makerFee: -6_000n, takerFee: 60_001n, ...more,
  }
}

function movement(sequence: number, index: number, more: Partial<HistoryMovement> = {}): HistoryMovement {
  return {
    account: A, sequence, index, time: NOW + sequence, asset: 0, entry: Entry.CREDIT, transaction: Transaction.FAUCET, amount: 1_500_000n,
    available: 2_500_000n, locked: 250_000n, reference: Reference.CREDIT, referenceSequence: sequence, referenceSlot: 0, ...more,
  }
}

/** The whole listing in page mode, in cursor mode from an empty token, and from the token of an answer without either. */
async function everyWalk(
  t: Test, name: OperationName, field: string, target: string, session: Session | null = alice,
): Promise<string[][]> {
  const join = target.includes('?') ? '&' : '?'
  const paged: string[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const answer = await read(t, name, `${target}${join}page=${page}&pageSize=7`, session)
    t.equal(answer.nextPageToken, undefined, 'page mode has no token')
    paged.push(...idsOf(answer[field]))
    pages = answer.totalPages
  }
  const walk = async (first: any, size: number): Promise<string[]> => {
    const ids = idsOf(first[field])
    for (let token = first.nextPageToken ?? ''; token !== ''; ) {
      const answer = await read(t, name, `${target}${join}pageToken=${token}&pageSize=${size}`, session)
      t.match(answer, { pageSize: size, total: undefined, totalPages: undefined, page: undefined, totalCapped: undefined })
      ids.push(...idsOf(answer[field]))
      token = answer.nextPageToken
    }
    return ids
  }
  const cursor = await walk(await read(t, name, `${target}${join}pageToken=&pageSize=5`, session), 5)
  const plain = await walk(await read(t, name, target, session), 3)
  return [paged, cursor, plain]
}

const STATUSES = [Status.FILLED, Status.CANCELLED, Status.EXPIRED, Status.SUBMITTED, Status.PARTIALLY_FILLED]
for (let i = 0; i < 45; i++) {
  history.orders.push(order(1000 + i, {
    pair: i % 2, flags: (i % 3 === 0 ? Flag.SELL : 0) | (i % 4 === 0 ? Flag.MARKET : 0), clientOrderId: i % 5 === 0 ? `label ${i}` : '',
    outcome: outcomeOf(STATUSES[i % 5]!, Reason.NONE),
  }))
  history.orders.push(order(2000 + i, { account: B }))
}
const idOf = ({ sequence, slot }: HistoryOrder): string => orderId(sequence, slot)
const mine = history.orders.filter(({ account }) => account === A).reverse()

t.test('orders: every walk gives every order once, newest first', async (t) => {
  for (const ids of await everyWalk(t, 'ListOrders', 'orders', ORDERS)) t.same(ids, mine.map(idOf))
  const first = await read(t, 'ListOrders', ORDERS)
  t.match(first, { page: 1, pageSize: 20, total: 45, totalPages: 3, totalCapped: false })
  t.match(await read(t, 'ListOrders', `${ORDERS}?page=4&pageSize=20`), { orders: [], page: 4, total: 45, totalPages: 3 })
})

t.test('orders: each filter', async (t) => {
  const status = (each: HistoryOrder): number => each.outcome & 0xff
  const cases: [query: string, keeps: (each: HistoryOrder) => boolean][] = [
    ['status=FILLED', (each) => status(each) === Status.FILLED],
    ['status=FILLED&status=EXPIRED', (each) => [3, 5].includes(status(each))],
    ['status=SUBMITTED&status=CANCELLED', (each) => [1, 4].includes(status(each))],
    ['status=SETTLED', () => false],
    [`tradingPairId=${eth.id}`, (each) => each.pair === 1],
    [`tradingPairId=${eth.id.toUpperCase()}`, (each) => each.pair === 1],
    ['tradingPairId=7a1c0000-0000-4000-8000-00000000ffff', () => false],
    ['side=SELL', (each) => (each.flags & Flag.SELL) !== 0],
    ['side=BUY', (each) => (each.flags & Flag.SELL) === 0],
    ['orderType=MARKET', (each) => (each.flags & Flag.MARKET) !== 0],
    ['orderType=LIMIT&side=SELL', (each) => (each.flags & Flag.MARKET) === 0 && (each.flags & Flag.SELL) !== 0],
    ['tradingMode=SPOT', () => true],
    ['tradingMode=MARGIN', () => false],
    ['clientOrderId=label%2010', (each) => each.clientOrderId === 'label 10'],
    [`startTime=${NOW + 1030}`, (each) => each.sequence >= 1030],
    [`endTime=${NOW + 1030}`, (each) => each.sequence <= 1030],
    [`startTime=${new Date(NOW + 1010).toISOString()}&endTime=${NOW + 1012}`, (each) => each.sequence >= 1010 && each.sequence <= 1012],
  ]
  for (const [query, keeps] of cases) {
    const wanted = mine.filter(keeps).map(idOf)
    const answer = await read(t, 'ListOrders', `${ORDERS}?${query}&pageSize=100`)
    t.same(idsOf(answer.orders), wanted, query)
    t.equal(answer.total, wanted.length, query)
  }
})

t.test('orders: totals end at 10,000 and say so', async (t) => {
  const real = history.orders.splice(0)
  t.teardown(() => history.orders.push(...real))
  for (let i = 0; i < 10_000; i++) history.orders.push(order(i + 1))
  t.match(await read(t, 'ListOrders', `${ORDERS}?pageSize=30`), { total: 10_000, totalPages: 334, totalCapped: false }, 'exactly that many')
  history.orders.push(order(10_001))
  t.match(await read(t, 'ListOrders', `${ORDERS}?pageSize=30`), { total: 10_000, totalPages: 334, totalCapped: true })
  history.orders.push(order(10_002))
  const beyond = await read(t, 'ListOrders', `${ORDERS}?page=101&pageSize=100`)
  t.same(idsOf(beyond.orders), [idOf(order(2)), idOf(order(1))], 'what is beyond can be read nevertheless')
  t.same((await read(t, 'ListOrders', `${ORDERS}?page=10000&pageSize=100`)).orders, [])
  t.equal((await get(`${ORDERS}?page=10001`)).json.details.field, 'page')
})

t.test('page tokens open only the listing they come from', async (t) => {
  const token = (await read(t, 'ListOrders', `${ORDERS}?side=BUY&pageSize=2`)).nextPageToken
  t.equal((await get(`${ORDERS}?side=BUY&pageSize=3&pageToken=${token}`)).status, 200, 'the page size may change')
  const refused: [target: string, session?: Session][] = [
    [`${ORDERS}?side=BUY&pageToken=${token}`, bob], [`${ORDERS}?pageToken=${token}`], [`${ORDERS}?side=SELL&pageToken=${token}`],
    [`${ORDERS}?side=BUY&status=FILLED&pageToken=${token}`], [`${MINE}?side=BUY&pageToken=${token}`], [`${MOVEMENTS}?pageToken=${token}`],
    [`${ORDERS}?side=BUY&pageToken=${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`], [`${ORDERS}?side=BUY&pageToken=x`],
  ]
  for (const [target, session] of refused) {
    const reply = await get(target, session)
    t.match(reply.json, { statusCode: 400, code: 'VALIDATION_ERROR', details: { field: 'pageToken' } }, target)
  }
})

t.test('trades: public and of the account, by hand', async (t) => {
  history.trades.push(
    trade(100, 0), trade(100, 1, { pair: 1, price: 200_000, lots: 5, quote: 10_000_000n, makerSells: false, makerSequence: 5 }),
    trade(101, 0, { makerAccount: B, takerAccount: A, makerFee: 77n }), trade(102, 0, { makerAccount: B, takerAccount: B + 1 }),
  )
  const plain = {
    id: tradeId(100, 0), tradingPairId: btc.id, price: '60000.5', quantity: '0.002', quoteQuantity: '120.001', makerSide: 'SELL',
    executedAt: '2026-11-21T12:00:00.100Z', settlementStatus: 'PENDING',
  }
  t.strictSame(await read(t, 'GetTrade', `${TRADES}/${plain.id}`, null), plain, 'nothing tells who traded')
  const all = await read(t, 'ListTrades', TRADES, null)
  t.same(idsOf(all.trades), [tradeId(102, 0), tradeId(101, 0), tradeId(100, 1), plain.id])
  t.strictSame(all.trades[3], plain)
  t.match(all, { page: 1, total: 4, totalPages: 1 })
  const [taken, , made] = (await read(t, 'ListAccountTrades', MINE)).trades
  t.strictSame(made, {
    ...plain, orderId: orderId(3, 9), side: 'SELL', role: 'maker', fee: '-0.006', feeRaw: '-6000', feeToken: 'USDC',
    applicationFee: '0',
  })
  t.match(taken, { orderId: orderId(101, 4), side: 'BUY', role: 'taker', fee: '0.060001', feeRaw: '60001' })
  const his = (await read(t, 'ListAccountTrades', MINE, bob)).trades
  t.same(his.map(({ side }: { side: string }) => side), ['SELL', 'SELL', 'SELL', 'BUY'])
})

t.test('trades: each filter, every walk', async (t) => {
  for (let i = 0; i < 30; i++) history.trades.push(trade(300 + (i >> 1), i & 1, i % 3 === 0 ? { pair: 1, takerAccount: B + 1 } : {}))
  const newest = [...history.trades].sort((a, b) => b.sequence - a.sequence || b.index - a.index)
  const ids = (keeps: (each: HistoryTrade) => boolean): string[] => newest.filter(keeps).map((each) => tradeId(each.sequence, each.index))
  for (const walk of await everyWalk(t, 'ListTrades', 'trades', TRADES, null)) t.same(walk, ids(() => true))
  const ofPair = `${TRADES}?tradingPairId=${eth.id}`
  for (const walk of await everyWalk(t, 'ListTrades', 'trades', ofPair, null)) t.same(walk, ids(({ pair }) => pair === 1))
  const his = ({ makerAccount, takerAccount }: HistoryTrade): boolean => makerAccount === B || takerAccount === B
  for (const walk of await everyWalk(t, 'ListAccountTrades', 'trades', MINE, bob)) t.same(walk, ids(his))
  const filtered = async (query: string): Promise<string[]> =>
    idsOf((await read(t, 'ListAccountTrades', `${MINE}?pageSize=100&${query}`)).trades)
  const hers = (each: HistoryTrade): boolean => each.makerAccount === A || each.takerAccount === A
  t.same(await filtered('side=BUY'), ids((each) => hers(each) && each.makerSells !== (each.makerAccount === A)))
  t.same(await filtered(`tradingPairId=${btc.id}`), ids((each) => hers(each) && each.pair === 0))
  t.same(await filtered(`orderId=${orderId(5, 9)}`), ids((each) => hers(each) && each.makerSequence === 5))
  t.same(await filtered(`orderId=${orderId(101, 4)}`), [tradeId(101, 0)])
  t.same(await filtered(`orderId=${tradeId(100, 0)}`), [], 'no order has the id of a trade')
  const between = ids((each) => hers(each) && each.sequence >= 101 && each.sequence <= 301)
  t.same(await filtered(`startTime=${NOW + 101}&endTime=${NOW + 301}`), between)
  t.match(await read(t, 'ListTrades', `${TRADES}?tradingPairId=7a1c0000-0000-4000-8000-00000000ffff`, null), { trades: [], total: 0 })
  for (const query of ['startTime=x', 'endTime=1.5', 'startTime=1768467600', 'endTime=1768467600', 'tradingPairId=x']) {
    t.equal((await get(`${TRADES}?${query}`, null)).status, 400, query)
  }
  for (const missing of [tradeId(9, 9), orderId(100, 0), '00000000-0000-4000-8000-000000000000']) {
    t.match((await get(`${TRADES}/${missing}`, null)).json, { statusCode: 404, code: 'NOT_FOUND' }, missing)
  }
  await read(t, 'ListTrades', `${TRADES}?page=2&pageSize=50`, null)
  t.match(history.asked.at(-1)!.ask, { skip: 50, limit: 50, countMost: 500_001 }, 'totals saturate at 10,000 pages')
})

t.test('movements: by hand, each filter, every walk', async (t) => {
  history.movements.push(
    movement(50, 0), movement(51, 0, {
      entry: Entry.LOCK, transaction: Transaction.TRADE, reference: Reference.ORDER, referenceSequence: 51, referenceSlot: 2,
    }),
    movement(52, 0, {
      asset: 1, entry: Entry.DEBIT, transaction: Transaction.FEE, amount: 1n,
      reference: Reference.TRADE, referenceSequence: 52, referenceSlot: 1,
    }),
    movement(52, 1, { account: B }),
  )
  const { movements } = await read(t, 'ListMovements', MOVEMENTS)
  t.strictSame(movements[2], {
    id: movementId(50, 0), assetId: harness.genesis.assets[0]!.id, token: harness.genesis.assets[0]!.token, symbol: 'USDC',
    entryType: 'CREDIT', transactionType: 'FAUCET', amount: '1.5', balanceAfter: '2.5', lockedAfter: '0.25', referenceId: null,
    createdAt: '2026-11-21T12:00:00.050Z',
  })
  t.match(movements[1], { entryType: 'LOCK', transactionType: 'TRADE', referenceId: orderId(51, 2) })
  t.match(movements[0], { entryType: 'DEBIT', transactionType: 'FEE', symbol: 'BTC', amount: '0.00000001', referenceId: tradeId(52, 1) })
  for (let i = 0; i < 25; i++) history.movements.push(movement(60 + (i >> 2), i & 3))
  const ids = history.movements.filter(({ account }) => account === A).map(({ sequence, index }) => movementId(sequence, index)).reverse()
  for (const walk of await everyWalk(t, 'ListMovements', 'movements', MOVEMENTS)) t.same(walk, ids)
  const filtered = async (query: string): Promise<string[]> =>
    idsOf((await read(t, 'ListMovements', `${MOVEMENTS}?pageSize=100&${query}`)).movements)
  t.same(await filtered('entryType=LOCK'), [movementId(51, 0)])
  t.same(await filtered('transactionType=FEE'), [movementId(52, 0)])
  t.same(await filtered('transactionType=DEPOSIT'), [])
  t.same(await filtered(`assetId=${harness.genesis.assets[1]!.id}`), [movementId(52, 0)])
  t.same(await filtered('assetId=5a1c0000-0000-4000-8000-00000000ffff'), [])
  t.same(await filtered(`endTime=${NOW + 51}`), [movementId(51, 0), movementId(50, 0)])
  for (const query of ['entryType=credit', 'transactionType=x', 'assetId=1', 'page=0']) {
    t.equal((await get(`${MOVEMENTS}?${query}`)).status, 400, query)
  }
})

t.test('lists of a history that is behind say what they are complete to', async (t) => {
  const lists: [name: OperationName, target: string][] = [
    ['ListOrders', ORDERS], ['ListTrades', TRADES], ['ListAccountTrades', MINE], ['ListMovements', MOVEMENTS],
  ]
  for (const [name, target] of lists) {
    for (const mode of ['', '?page=1', '?pageToken=']) {
      history.behind = NOW
      t.equal((await read(t, name, target + mode)).asOf, '2026-11-21T12:00:00.000Z', `${name} ${mode}`)
      history.behind = null
      t.equal((await read(t, name, target + mode)).asOf, undefined, 'nothing is missing')
    }
  }
  history.behind = NOW
  t.equal((await read(t, 'ListOrders', `${ORDERS}?status=SUBMITTED`)).asOf, undefined, 'open orders are of the engine')
  history.behind = null
})

t.test('portfolio', async (t) => {
  history.portfolio = {
    asset: 0, points: [{ time: NOW, equity: null }, { time: NOW + 1000, equity: -1_500_000n }],
    realizedPnl: -250_000n, volume: 10n ** 13n, fees: -7n,
  }
  const answer = await read(t, 'GetPortfolio', PORTFOLIO)
  const { asOf } = answer
  t.ok(Math.abs(Date.parse(asOf) - Date.now()) < 60_000, 'nothing is missing: it is as of now')
  t.strictSame(answer, {
    asOf, sequence: harness.lastSequence(), period: '24h', assetId: harness.genesis.assets[0]!.id, symbol: 'USDC',
    points: [{ timestamp: '2026-11-21T12:00:00.000Z', equity: null }, { timestamp: '2026-11-21T12:00:01.000Z', equity: '-1.5' }],
    realizedPnl: '-0.25', volume: '10000000', fees: '-0.000007',
  })
  for (const period of ['24h', '7d', '30d', 'all']) {
    t.equal((await read(t, 'GetPortfolio', `${PORTFOLIO}?period=${period}`)).period, period)
    t.match(history.asked.at(-1)!.ask, { account: A, period })
  }
  history.behind = NOW + 500
  t.match(await read(t, 'GetPortfolio', PORTFOLIO), {
    asOf: '2026-11-21T12:00:00.500Z', sequence: harness.lastSequence() - 1,
    points: [{ timestamp: '2026-11-21T12:00:00.000Z' }, { timestamp: '2026-11-21T12:00:00.500Z', equity: '-1.5' }],
  }, 'a history that is behind does not say that it is now')
  history.portfolio.points.splice(1, 0, { time: NOW + 900, equity: 0n })
  t.equal((await read(t, 'GetPortfolio', PORTFOLIO)).points.length, 2, 'and has no points after that')
  history.behind = null
  t.equal((await get(`${PORTFOLIO}?period=1y`)).json.details.field, 'period')
})
