/**
 * Batches over HTTP against the real engine: one after the other, each item for itself, all sent or none; receipts item by item; what a
 * full service and an expired deadline answer.
 */
import t, { type Test } from 'tap'
import { SCALAR } from '../../core/state/columns.ts'
import { CommandType, PairStatus, SET_PAIR_STATUS_COMMAND } from '../../core/layout/command.ts'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { compile } from '../../gateway/operations/operation.ts'
import { OPERATIONS } from '../../gateway/operations/index.ts'
import { call, request, signed, startHarness, testGenesis, type Harness, type Reply, type Session } from '../support/gateway_harness.ts'

const ORDERS = '/api/v1/orders'
const [CREATE, REPLACE, CANCEL] = [`${ORDERS}/batch-create`, `${ORDERS}/batch-replace`, `${ORDERS}/batch-cancel`]
const outputs = new Map(OPERATIONS.map(({ row, operation }) => [row.path, compile(operation.output as Parameters<typeof compile>[0])]))

interface Market {
  readonly harness: Harness
  readonly pair: string
  /** A new wallet with faucet funds. */
  trader(): Promise<Session>
  /** A limit order that rests unless it says otherwise. */
  order(side: string, quantity: string, price: string, more?: object): object
  /** The result of a batch, whose shape is checked. */
  batch(session: Session, path: string, body: object): Promise<any>
}

async function market(t: Test, flags: readonly string[] = [], limits: Record<string, number> = {}): Promise<Market> {
  const harness = await startHarness(flags, testGenesis(limits))
  t.teardown(() => harness.close())
  const pair = harness.genesis.pairs[0]!.id
  return {
    harness,
    pair,
    trader: async () => {
      const session = await harness.openSession()
      await call(harness, session, 'POST', '/api/v1/faucet/mint')
      return session
    },
    order: (side, quantity, price, more = {}) => ({ tradingPairId: pair, orderType: 'LIMIT', side, quantity, price, ...more }),
    batch: async (session, path, body) => {
      const reply = await call(harness, session, 'POST', path, body)
      t.equal(reply.status, 200, reply.text)
      t.equal(outputs.get(path)!.check(reply.json), null, 'has the declared shape')
      return reply.json
    },
  }
}

const codes = (batch: any): (string | undefined)[] => batch.results.map((result: any) => result.error?.code)
/** Orders that rest, of everybody. */
const openOrders = (harness: Harness): number => harness.state.scalars[SCALAR.ORDERS_LIVE]!
const ids = (batch: any): string[] => batch.results.map((result: any) => result.orderId)

t.test('every code of a single order and of an item', async (t) => {
  const { harness, pair, trader, order, batch } = await market(t)
  const [ann, bob] = [await trader(), await trader()]
  await batch(bob, CREATE, { orders: [order('SELL', '0.1', '100', { clientOrderId: 'mine' }), order('BUY', '0.1', '90')] })
  await batch(ann, CREATE, { orders: [order('SELL', '0.1', '101', { idempotencyKey: 'k', clientOrderId: 'x' })] })
  const cases: [body: object, code: string, message: RegExp, single?: string][] = [
    [order('BUY', '0.1', '100', { postOnly: true }), 'POST_ONLY_WOULD_CROSS', /post-only/],
    [order('SELL', '0.1', '102', { clientOrderId: 'x' }), 'CLIENT_ORDER_ID_CONFLICT', /clientOrderId/],
    [order('SELL', '0.2', '101', { idempotencyKey: 'k' }), 'IDEMPOTENCY_KEY_CONFLICT', /key/],
    [order('BUY', '900', '99'), 'INSUFFICIENT_BALANCE', /^Insufficient balance: 89100 USDC required, [0-9.]+ USDC available$/],
    [order('SELL', '900', '130'), 'INSUFFICIENT_BALANCE', /^Insufficient balance: 900 BTC required, [0-9.]+ BTC available$/],
    [order('BUY', '0.2', '101', { timeInForce: 'FOK', selfTradePreventionMode: 'CANCEL_BOTH' }), 'SELF_TRADE_NOT_ALLOWED', /FOK/],
    [order('BUY', '0.1', '99', { selfTradePreventionMode: 'X' }), 'INVALID_SELF_TRADE_PREVENTION_MODE', /must be/, 'VALIDATION_ERROR'],
    [{ tradingPairId: pair, orderType: 'MARKET', side: 'BUY', quantity: '0.1', timeInForce: 'IOC' }, 'VALIDATION_ERROR', /timeInForce/],
    [order('BUY', '0.1', '99', { slippageToleranceBps: 10 }), 'VALIDATION_ERROR', /slippageToleranceBps/],
    [order('BUY', '0.1', '99', { slippageToleranceBps: 10, timeInForce: 'IOC' }), 'VALIDATION_ERROR', /slippageToleranceBps/],
    [order('BUY', '0.1', '99.001'), 'INVALID_TICK', /price/],
    [order('BUY', '0.00001', '99'), 'INVALID_LOT', /quantity/],
    [order('BUY', '0.1', '99', { tradingPairId: '7a1c0000-0000-4000-8000-00000000dead' }), 'NOT_FOUND', /pair/],
    [order('BUY', '0.1', '99', { side: 'HOLD' }), 'VALIDATION_ERROR', /^side /],
  ]
  const result = await batch(ann, CREATE, { orders: cases.map(([body]) => body) })
  t.match(result, { totalRequested: cases.length, totalSucceeded: 0, totalFailed: cases.length })
  for (const [index, [body, code, message, plain = code]] of cases.entries()) {
    t.match(result.results[index].error, { code, message }, `item: ${code}`)
    const single = await call(harness, ann, 'POST', ORDERS, body)
    t.match(single.json, { code: plain, message, statusCode: single.status }, `single: ${plain}`)
  }
  t.equal((await call(harness, ann, 'POST', ORDERS, cases[2]![0])).status, 409)
  const odd = await batch(ann, CREATE, { orders: [null, 7, 'x', [], {}, order('BUY', '0.1', '80', { side: null })] })
  t.same(codes(odd), Array(6).fill('VALIDATION_ERROR'), 'an element that is no order is its own error')
})

t.test('sizes', async (t) => {
  const { harness, trader, order } = await market(t)
  const ann = await trader()
  const one = order('BUY', '0.02', '90')
  for (const [path, body] of [
    [CREATE, { orders: [] }], [CREATE, { orders: Array(101).fill(one) }], [CREATE, { orders: one }], [CREATE, {}],
    [REPLACE, { orders: [] }],
    [REPLACE, { orders: Array(101).fill({}) }], [CANCEL, { orderIds: [] }], [CANCEL, { orderIds: Array(101).fill('x') }], [CANCEL, {}],
  ] as const) {
    const reply = await call(harness, ann, 'POST', path, body)
    t.match(reply.json, { statusCode: 400, code: 'VALIDATION_ERROR', details: { field: path === CANCEL ? 'orderIds' : 'orders' } })
  }
  t.equal(openOrders(harness), 0)
  t.equal((await call(harness, ann, 'POST', CREATE, { orders: Array(100).fill(one) })).json.totalSucceeded, 100)
})

t.test('replacing many', async (t) => {
  const { harness, trader, order, batch } = await market(t)
  const [ann, bob] = [await trader(), await trader()]
  const made = await batch(ann, CREATE, { orders: ['100', '101', '102', '103'].map((price) => order('SELL', '0.1', price)) })
  const [a, b, c, d] = ids(made) as [string, string, string, string]
  const [theirs] = ids(await batch(bob, CREATE, { orders: [order('BUY', '0.05', '90')] })) as [string]
  const result = await batch(ann, REPLACE, {
    orders: [
      { orderId: a, price: '105' }, { orderId: a, price: '106' }, { orderId: theirs, price: '91' },
      { orderId: b.toUpperCase(), price: '90' },
      { orderId: c, quantity: '5000', price: null }, { orderId: 'nonsense', price: '1' }, { price: '1' },
      { orderId: d, selfTradePreventionMode: 'X' }, { orderId: d, slippageToleranceBps: 5 }, null, { orderId: d },
    ],
  })
  t.same(codes(result), [
    undefined, 'ORDER_NOT_FOUND', 'ORDER_NOT_FOUND', undefined, 'ABOVE_MAX_ORDER_SIZE', 'VALIDATION_ERROR', 'VALIDATION_ERROR',
    'INVALID_SELF_TRADE_PREVENTION_MODE', 'VALIDATION_ERROR', 'VALIDATION_ERROR', undefined,
  ])
  t.match(result, { totalRequested: 11, totalSucceeded: 3, totalFailed: 8 })
  t.match(result.results[0], { originalOrderId: a, newOrderId: /^[0-9a-f-]{36}$/, matchResult: { status: 'SUBMITTED' } })
  t.equal(result.results[1].originalOrderId, a)
  t.equal(result.results[5].originalOrderId, undefined, 'a malformed id is not repeated')
  t.match(result.results[3], {
    originalOrderId: b, matchResult: { status: 'PARTIALLY_FILLED', totalFilled: '0.05', executionPriceRange: { bestPrice: '90' } },
  }, 'crosses now')
  t.match((await call(harness, ann, 'GET', `${ORDERS}/${c}`)).json, { status: 'SUBMITTED', quantity: '0.1' }, 'refused: as it was')
  t.match((await batch(ann, REPLACE, { orders: [{ orderId: c, quantity: '900' }] })).results[0].error, {
    code: 'INSUFFICIENT_BALANCE', message: /^Insufficient balance: 900 BTC required, [0-9.]+ BTC available$/,
  })
})

t.test('cancelling many, and all of one pair', async (t) => {
  const { harness, trader, order, batch } = await market(t)
  const [ann, bob] = [await trader(), await trader()]
  const other = harness.genesis.pairs[1]!.id
  const prices = ['90', '91', '92', '93']
  const mine = ids(await batch(ann, CREATE, { orders: prices.map((price) => order('BUY', '0.1', price)) }))
  const elsewhere = ids(await batch(ann, CREATE, { orders: [order('BUY', '0.1', '50', { tradingPairId: other })] }))
  const [theirs] = ids(await batch(bob, CREATE, { orders: [order('BUY', '0.1', '50')] }))
  const result = await batch(ann, CANCEL, { orderIds: [mine[0], mine[0], theirs, 'nonsense', 7, null, mine[1]!.toUpperCase()] })
  t.same(codes(result), [
    undefined, 'ORDER_NOT_FOUND', 'ORDER_NOT_FOUND', 'VALIDATION_ERROR', 'VALIDATION_ERROR', 'VALIDATION_ERROR', undefined,
  ])
  t.match(result, { totalRequested: 7, totalSucceeded: 2, totalFailed: 5 })
  t.same(ids(result), [mine[0], mine[0], theirs, undefined, undefined, undefined, mine[1]])
  await harness.operate(CommandType.SET_PAIR_STATUS, SET_PAIR_STATUS_COMMAND, { session: -1, pair: 0, status: PairStatus.CANCEL_ONLY })
  const byPair = `${ORDERS}/batch-cancel-by-pair`
  t.same(codes(await batch(ann, CREATE, { orders: [order('BUY', '0.1', '90')] })), ['PAIR_NOT_ACTIVE'])
  const swept = await batch(ann, byPair, { tradingPairId: harness.genesis.pairs[0]!.id.toUpperCase() })
  t.equal(swept.totalCancelled, 2)
  t.same([...swept.orderIds].sort(), mine.slice(2).sort(), 'open while the pair takes no orders, and only that pair')
  t.same(await batch(ann, byPair, { tradingPairId: harness.genesis.pairs[0]!.id }), {
    totalCancelled: 0, orderIds: [], totalNotCancelled: 0, notCancelled: [],
  })
  t.match((await call(harness, ann, 'POST', byPair, { tradingPairId: theirs })).json, { statusCode: 404, code: 'NOT_FOUND' })
  t.match((await call(harness, ann, 'POST', byPair, {})).json, { statusCode: 400, details: { field: 'tradingPairId' } })
  t.same(ids(await batch(ann, CANCEL, { orderIds: elsewhere })), elsewhere)
  t.equal((await call(harness, bob, 'DELETE', `${ORDERS}/${theirs}`)).status, 200, "nobody else's was touched")
})

t.test('a batch repeated with its keys answers the same, item by item', async (t) => {
  const { harness, trader, order, batch } = await market(t)
  const ann = await trader()
  const orders = [
    order('SELL', '0.1', '100', { idempotencyKey: 'a', expirationDate: new Date(Date.now() + 5_000).toISOString() }),
    order('SELL', '900', '100', { idempotencyKey: 'b' }), order('BUY', '0.1', '90', { idempotencyKey: 'c' }),
  ]
  const first = await batch(ann, CREATE, { orders })
  t.same(codes(first), [undefined, 'INSUFFICIENT_BALANCE', undefined])
  t.same(await batch(ann, CREATE, { orders }), first)
  const replace = { orders: [{ orderId: ids(first)[2], price: '91', idempotencyKey: 'r' }] }
  const replaced = await batch(ann, REPLACE, replace)
  t.same(await batch(ann, REPLACE, replace), replaced)
  // The successor ends and its slot goes to an order of another pair with other ticks: the receipt still knows the first pair.
  await batch(ann, CANCEL, { orderIds: [replaced.results[0].newOrderId] })
  await batch(ann, CREATE, { orders: [order('BUY', '1', '0.01', { tradingPairId: harness.genesis.pairs[3]!.id })] })
  t.same(await batch(ann, REPLACE, replace), replaced, 'of a replacement whose orders are long gone')
  t.equal((await call(harness, ann, 'PUT', `${ORDERS}/${ids(first)[2]}`, { price: '92', idempotencyKey: 'r' })).json.code,
    'IDEMPOTENCY_KEY_CONFLICT')
  t.equal((await call(harness, ann, 'PUT', `${ORDERS}/${ids(first)[2]}`, { price: '92', idempotencyKey: 'other' })).json.code,
    'ORDER_NOT_FOUND')
  const past = Date.parse((orders[0] as { expirationDate: string }).expirationDate)
  for (let i = 0; i < 20_000 && Date.now() <= past + 5; i++) await new Promise((resolve) => setTimeout(resolve, 1))
  const before = harness.lastSequence()
  t.same(ids(await batch(ann, CREATE, { orders: orders.slice(0, 1) })), ids(first).slice(0, 1), 'also when its expiration has passed')
  t.equal(harness.lastSequence(), before + 1)
  t.match((await call(harness, ann, 'POST', ORDERS, { ...orders[0], idempotencyKey: 'new' })).json, { code: 'INVALID_EXPIRATION' })
})

t.test('one key used two hundred times at once on two threads is one order', async (t) => {
  const { harness, trader, order } = await market(t, ['--gateways', '2'])
  const ann = await trader()
  const one = order('BUY', '0.02', '90', { idempotencyKey: 'once' })
  const send = (path: string, body: object): Promise<Reply> => {
    const text = JSON.stringify(body)
    return request(harness.port, 'POST', path, signed(ann, 'POST', path, text), text)
  }
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, i) => (i % 4 === 0 ? send(CREATE, { orders: [one, one] }) : send(ORDERS, one))),
  )
  const answered = replies.flatMap(({ json }) => (json.results === undefined ? [json.orderId] : ids(json)))
  t.equal(answered.length, 250)
  t.equal(new Set(answered).size, 1, 'every answer names the same order')
  t.equal(openOrders(harness), 1)
  const served = [1, 2].map((number) => gatewayCounters(harness.shared.counters, number)[GATEWAY.requests]!)
  t.ok(served.every((requests) => requests > 0), `both threads served: ${served.join(' and ')}`)
})

/** Sends single orders while the matcher holds back, until the account has its share of the command ring in flight. */
async function fill({ harness, order }: Market, session: Session): Promise<{ refused: Reply; waiting: Promise<Reply>[] }> {
  const text = JSON.stringify(order('BUY', '0.02', '90'))
  const waiting: Promise<Reply>[] = []
  const counters = gatewayCounters(harness.shared.counters, 1)
  harness.hold(true)
  for (let i = 0; i < SHARE; i++) waiting.push(request(harness.port, 'POST', ORDERS, signed(session, 'POST', ORDERS, text), text))
  for (let i = 0; i < 5000 && counters[GATEWAY.pending]! < SHARE; i++) await new Promise((resolve) => setTimeout(resolve, 1))
  return { refused: await call(harness, session, 'POST', ORDERS, JSON.parse(text)), waiting }
}
/** What one account may have in flight on a ring of 256: half of what is free; these orders take one slot each, of four reckoned. */
const SHARE = 99

t.test('no room: nothing of a batch is sent, and a keyed order says that one may exist', async (t) => {
  const scene = await market(t, ['--command-ring', '256', '--batch-max', '256'])
  const { harness, trader, order } = scene
  const [ann, bob] = [await trader(), await trader()]
  const { refused, waiting } = await fill(scene, ann)
  t.match(refused.json, { statusCode: 429, code: 'TOO_MANY_IN_FLIGHT', details: { retryAfter: 1 } })
  const keyed = order('BUY', '0.02', '90', { idempotencyKey: 'k' })
  t.match((await call(harness, ann, 'POST', ORDERS, keyed)).json, { statusCode: 503, code: 'ORDER_SUBMISSION_UNAVAILABLE' })
  t.match((await call(harness, ann, 'POST', CREATE, { orders: [keyed] })).json, { statusCode: 429, code: 'TOO_MANY_IN_FLIGHT' })
  const hundred = { orders: Array.from({ length: 100 }, () => keyed) }
  t.match((await call(harness, bob, 'POST', CREATE, hundred)).json, { statusCode: 503, code: 'OVERLOADED' })
  t.equal((await call(harness, ann, 'POST', CREATE, { orders: [{}] })).json.totalFailed, 1, 'a batch that sends nothing needs no room')
  t.equal(openOrders(harness), 0)
  harness.hold(false)
  t.same([...new Set((await Promise.all(waiting)).map((reply) => reply.status))], [200])
  t.equal(openOrders(harness), SHARE)
})

t.test('deadlines', async (t) => {
  const { harness, trader, order, batch } = await market(t, ['--deadline-ms', '50', '--batch-deadline-ms', '60'])
  const ann = await trader()
  const resting = ids(await batch(ann, CREATE, { orders: [order('BUY', '0.02', '90')] }))
  harness.hold(true)
  const keyed = order('BUY', '0.02', '90', { idempotencyKey: 'k' })
  const [plain, single, made, cancelled, swept] = await Promise.all([
    call(harness, ann, 'POST', ORDERS, order('BUY', '0.02', '91')),
    call(harness, ann, 'POST', ORDERS, keyed),
    call(harness, ann, 'POST', CREATE, { orders: [keyed, {}, order('BUY', '0.02', '92')] }),
    call(harness, ann, 'POST', CANCEL, { orderIds: resting }),
    call(harness, ann, 'POST', `${ORDERS}/batch-cancel-all`),
  ])
  t.match(plain.json, { statusCode: 503, code: 'SERVICE_UNAVAILABLE' })
  t.match(single.json, { statusCode: 503, code: 'ORDER_SUBMISSION_UNAVAILABLE' })
  t.equal(made.status, 200)
  t.same(codes(made.json), ['SERVICE_UNAVAILABLE', 'VALIDATION_ERROR', 'SERVICE_UNAVAILABLE'])
  t.match(cancelled.json, { totalFailed: 1, results: [{ orderId: resting[0], error: { code: 'SERVICE_UNAVAILABLE' } }] })
  t.match(swept.json, { statusCode: 503, code: 'SERVICE_UNAVAILABLE' })
  harness.hold(false)
  const again = await call(harness, ann, 'POST', ORDERS, keyed)
  t.equal(again.status, 200, 'the same key finds out what became of the order')
  t.equal((await call(harness, ann, 'POST', CREATE, { orders: [keyed] })).json.results[0].orderId, again.json.orderId)
  t.same(harness.logs.filter((log) => log.type === 'log' && log.level === 'error'), [])
})

t.test('receipts at capacity refuse new keys only', async (t) => {
  // Of these one family may hold two (core/state/shares.ts).
  const { trader, order, batch } = await market(t, [], { receipts: 24 })
  const ann = await trader()
  const keyed = (idempotencyKey: string): object => order('BUY', '0.02', '90', { idempotencyKey })
  const first = await batch(ann, CREATE, { orders: [keyed('a'), keyed('b'), keyed('c'), order('BUY', '0.02', '90'), keyed('a')] })
  t.same(codes(first), [undefined, undefined, 'ORDER_SUBMISSION_CAPACITY_EXCEEDED', undefined, undefined])
  t.equal(ids(first)[4], ids(first)[0])
})
