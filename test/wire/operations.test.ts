/**
 * Every operation once through HTTP, rings and engine: each answer is held against the operation's output schema, and the numbers
 * of a small market are checked by hand. Then what happens when the service is full, blocked, short of disk, or stops.
 */
import t, { type Test } from 'tap'
import { CommandType, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { DISK, GATEWAY, gatewayCounters, MATCHER, matcherCounters } from '../../core/ring/counters.ts'
import { compile } from '../../gateway/operations/operation.ts'
import { type OperationName, OPERATIONS } from '../../gateway/operations/index.ts'
import { call, request, signed, startHarness, testGenesis, type Harness, type Reply, type Session } from '../support/gateway_harness.ts'

const outputs = new Map(OPERATIONS.map(({ name, operation }) => [name, compile(operation.output as Parameters<typeof compile>[0])]))

/** The reply is a success and has the shape that operation `name` declares. */
function conforms(t: Test, name: OperationName, reply: Reply): Reply {
  t.equal(reply.status, 200, `${name}: ${reply.text}`)
  t.equal(outputs.get(name)!.check(reply.json), null, `${name} answers what it declares`)
  return reply
}

const ORDERS = '/api/v1/orders'
const limit = (pair: string, side: string, quantity: string, price: string, more: object = {}): object =>
  ({ tradingPairId: pair, orderType: 'LIMIT', side, quantity, price, ...more })

async function trader(harness: Harness): Promise<Session> {
  const session = await harness.openSession()
  await call(harness, session, 'POST', '/api/v1/faucet/mint')
  return session
}

t.test('a small market', async (t) => {
  const harness = await startHarness()
  t.teardown(() => harness.close())
  const { port, genesis } = harness
  const [maker, taker] = [await trader(harness), await trader(harness)]
  const pair = genesis.pairs[0]!.id
  const order = async (session: Session, body: object): Promise<Reply> => conforms(
    t, 'CreateOrder', await call(harness, session, 'POST', ORDERS, body),
  )

  const first = await order(maker, limit(pair, 'SELL', '0.5', '100.10', { clientOrderId: 'first', selfTradePreventionMode: 'CANCEL_BOTH' }))
  t.same(first.json.matchResult, { tradesCount: 0, totalFilled: '0', remainingQuantity: '0.5', status: 'SUBMITTED' })
  const second = await order(maker, limit(pair, 'SELL', '0.2', '100.2', { idempotencyKey: 'second' }))

  const book = conforms(t, 'GetOrderbook', await request(port, 'GET', `/api/v1/orderbook/${pair}?depth=5`)).json
  t.same(book.asks, [{ price: '100.1', quantity: '0.5', orderCount: 1 }, { price: '100.2', quantity: '0.2', orderCount: 1 }])
  t.match(book, { bids: [], bestAsk: '100.1', bestBid: undefined })
  const grouped = await request(port, 'GET', `/api/v1/orderbook/${pair}?magnitude=100&denomination=QUOTE`)
  t.same(grouped.json.asks, [{ price: '101', quantity: '70.7', orderCount: 2 }])

  const bought = await order(taker, { tradingPairId: pair, orderType: 'MARKET', side: 'BUY', quantity: '0.6', slippageToleranceBps: 50 })
  t.same(bought.json.matchResult, {
    tradesCount: 2, totalFilled: '0.6', remainingQuantity: '0', averageFillPrice: '100.1166666667', status: 'FILLED', actualSlippageBps: 2,
    maxSlippageBps: 50, executionPriceRange: { bestPrice: '100.1', worstPrice: '100.2' }, totalFilledQuote: '60.07', totalFee: '0.030035',
  })
  const read = async (session: Session, id: string): Promise<Reply> => conforms(
    t, 'GetOrder', await call(harness, session, 'GET', `${ORDERS}/${id}`),
  )
  t.match((await read(maker, first.json.orderId)).json, {
    status: 'FILLED', clientOrderId: 'first', price: '100.1', filledQuantity: '0.5', averageFillPrice: '100.1', fee: '-0.002502',
    selfTradePreventionMode: 'CANCEL_BOTH', timeInForce: 'GTC',
  })
  t.match((await read(maker, second.json.orderId)).json, { status: 'PARTIALLY_FILLED', remainingQuantity: '0.1', side: 'SELL' })
  t.match(
    (await read(taker, bought.json.orderId)).json,
    { status: 'FILLED', orderType: 'MARKET', slippageToleranceBps: 50, fee: '0.030035', price: undefined },
  )
  t.equal((await call(harness, maker, 'GET', `${ORDERS}/${bought.json.orderId}`)).json.code, 'ORDER_NOT_FOUND', "somebody else's")

  const listed = conforms(t, 'ListOrders', await call(harness, maker, 'GET', `${ORDERS}?status=PARTIALLY_FILLED&side=SELL`)).json
  t.same(listed.orders.map((each: { id: string }) => each.id), [second.json.orderId])
  for (const none of [
    'side=BUY', 'orderType=MARKET', 'tradingMode=MARGIN', 'clientOrderId=x', `tradingPairId=${genesis.pairs[1]!.id}`, 'endTime=0',
  ]) {
    const open = `${ORDERS}?status=SUBMITTED&status=PARTIALLY_FILLED`
    t.equal((await call(harness, maker, 'GET', `${open}&${none}`)).json.total, 0, none)
  }

  const target = `${ORDERS}/${second.json.orderId}`
  const replaced = conforms(t, 'ReplaceOrder', await call(harness, maker, 'PUT', target, { price: '101', idempotencyKey: 'r' }))
  t.equal(replaced.json.originalOrderId, second.json.orderId)
  t.same(
    (await call(harness, maker, 'PUT', target, { price: '101.0', idempotencyKey: 'r' })).json, replaced.json,
    'the same key answers the same',
  )
  t.equal((await call(harness, maker, 'PUT', target, { price: '102', idempotencyKey: 'r' })).json.code, 'IDEMPOTENCY_KEY_CONFLICT')
  t.equal((await call(harness, maker, 'PUT', target, { price: '101' })).json.code, 'ORDER_NOT_FOUND')
  t.equal(
    (await call(harness, taker, 'PUT', `${ORDERS}/${replaced.json.orderId}`, { price: '1.001' })).json.code, 'ORDER_NOT_FOUND',
    "somebody else's",
  )
  t.match((await read(maker, second.json.orderId)).json, { status: 'CANCELLED', terminalReason: 'REPLACED' })
  conforms(t, 'CancelOrder', await call(harness, maker, 'DELETE', `${ORDERS}/${replaced.json.orderId}`))
  t.equal((await call(harness, maker, 'DELETE', `${ORDERS}/${replaced.json.orderId}`)).json.code, 'ORDER_NOT_FOUND')

  const poor = await call(harness, maker, 'POST', ORDERS, limit(pair, 'SELL', '900', '100'))
  t.match(poor.json, { statusCode: 400, code: 'INSUFFICIENT_BALANCE', message: /^Insufficient balance/ })
  const items = [
    limit(pair, 'BUY', '0.5', '90'), limit(pair, 'SELL', '0.1', '90', { timeInForce: 'IOC' }), limit(pair, 'BUY', '9999', '90'),
  ]
  const batch = conforms(t, 'BatchCreateOrders', await call(harness, taker, 'POST', `${ORDERS}/batch-create`, { orders: items })).json
  t.match(batch, { totalRequested: 3, totalSucceeded: 2, totalFailed: 1 })
  t.match(batch.results[1].matchResult, { status: 'CANCELLED', tradesCount: 0 }, 'one after the other: the second meets the first, its own')
  t.match((await read(taker, batch.results[1].orderId)).json, { terminalReason: 'SELF_TRADE_PREVENTION' })
  const all = conforms(t, 'BatchCancelAllOrders', await call(harness, taker, 'POST', `${ORDERS}/batch-cancel-all`)).json
  t.same(all, { totalCancelled: 1, orderIds: [batch.results[0].orderId], totalNotCancelled: 0, notCancelled: [] })

  const balances = conforms(t, 'ListBalances', await call(harness, taker, 'GET', '/api/v1/accounts/balances')).json
  t.match(balances, { total: genesis.assets.length, page: 1, pageSize: 20, totalPages: 1 })
  t.match(
    balances.balances[0],
    { availableBalance: '9939.899965', lockedBalance: '0', totalBalance: '9939.899965', availableBalanceRaw: '9939899965' },
  )
  const eth = conforms(t, 'GetBalance', await call(harness, taker, 'GET', `/api/v1/accounts/balances/${genesis.assets[2]!.id}`)).json
  t.match(eth, { symbol: 'ETH', availableBalance: '10', availableBalanceRaw: '10000000000000000000', decimals: 18, amountDecimals: 9 })
  conforms(t, 'GetProfile', await call(harness, taker, 'GET', '/api/v1/accounts/me'))
  conforms(t, 'ListTradingPairs', await request(port, 'GET', '/api/v1/market/pairs?baseToken=ETH&pageSize=1'))
  conforms(t, 'GetTradingPair', await request(port, 'GET', `/api/v1/market/pairs/${pair}`))
  conforms(t, 'GetServerTime', await request(port, 'GET', '/api/v1/time'))
  conforms(t, 'Check', await request(port, 'GET', '/api/v1/health'))
  conforms(t, 'GetFaucetInfo', await call(harness, taker, 'GET', '/api/v1/faucet/info'))
  conforms(t, 'Refresh', await call(harness, taker, 'POST', '/api/v1/auth/refresh'))
  conforms(t, 'Revoke', await call(harness, taker, 'POST', '/api/v1/auth/revoke'))
})

t.test('the faucet says when to come back', async (t) => {
  const harness = await startHarness()
  t.teardown(() => harness.close())
  const session = await harness.openSession()
  for (let left = 4; left >= 0; left--) {
    const reply = conforms(
      t, 'Mint', await call(harness, session, 'POST', '/api/v1/faucet/mint', { assetId: harness.genesis.assets[1]!.id }),
    )
    t.equal(reply.json.remainingRequests24h, left)
  }
  const refused = await call(harness, session, 'POST', '/api/v1/faucet/mint')
  t.equal(refused.status, 429)
  t.equal(refused.json.code, 'FAUCET_LIMIT')
  const wait = refused.json.details.retryAfter
  t.ok(wait > 86_000 && wait <= 86_400, `${wait} s`)
  t.equal(refused.headers['retry-after'], String(wait))
  const info = (await call(harness, session, 'GET', '/api/v1/faucet/info')).json
  t.match(info, { remainingRequests24h: 0, dailyLimit: 5 })
  t.equal(info.recentRequests.length, 5)
})

t.test('the faucet says what it minted', async (t) => {
  const genesis = JSON.parse(testGenesis()) as { assets: { symbol: string; faucetAmount: string }[] }
  // Three requests of it are all there may ever be.
  genesis.assets.find(({ symbol }) => symbol === 'SEI')!.faucetAmount = '1500000000'
  const harness = await startHarness([], JSON.stringify(genesis))
  t.teardown(() => harness.close())
  const session = await harness.openSession()
  const symbols = ({ minted }: { minted: { symbol: string }[] }): string => minted.map(({ symbol }) => symbol).join()
  const answers: string[] = []
  for (let i = 0; i < 4; i++) {
    answers.push(symbols(conforms(t, 'Mint', await call(harness, session, 'POST', '/api/v1/faucet/mint')).json))
  }
  const all = 'USDC,BTC,ETH,SEI'
  t.same(answers, [all, all, all, 'USDC,BTC,ETH'])
  const info = conforms(t, 'GetFaucetInfo', await call(harness, session, 'GET', '/api/v1/faucet/info')).json
  t.same(info.recentRequests.map(symbols), [...answers].reverse())
  const alone = { assetId: harness.genesis.assets.find(({ symbol }) => symbol === 'SEI')!.id }
  const refused = await call(harness, session, 'POST', '/api/v1/faucet/mint', alone)
  t.same([refused.status, refused.json.code], [503, 'OVERLOADED'])
  t.equal((await call(harness, session, 'GET', '/api/v1/faucet/info')).json.remainingRequests24h, 1, 'and does not count')
})

t.test('more than one mass-cancel record of orders', async (t) => {
  const harness = await startHarness([], testGenesis({ openOrdersPerAccount: 3000 }))
  t.teardown(() => harness.close())
  const session = await trader(harness)
  const pair = harness.genesis.pairs[0]!.id
  const orders = Array.from({ length: 100 }, () => limit(pair, 'BUY', '0.01', '100'))
  for (let i = 0; i < 23; i++) await call(harness, session, 'POST', `${ORDERS}/batch-create`, { orders })
  t.equal((await call(harness, session, 'GET', `${ORDERS}?status=SUBMITTED&pageSize=100&page=23`)).json.orders.length, 100)
  const all = conforms(t, 'BatchCancelAllOrders', await call(harness, session, 'POST', `${ORDERS}/batch-cancel-all`, {})).json
  t.equal(all.totalCancelled, 2300)
  t.equal(new Set(all.orderIds).size, 2300)
  t.equal((await call(harness, session, 'GET', `${ORDERS}?status=SUBMITTED`)).json.total, 0)
})

t.test('a full service says so and applies nothing', async (t) => {
  const harness = await startHarness(['--command-ring', '256', '--batch-max', '256'])
  t.teardown(() => harness.close())
  const session = await trader(harness)
  const one = limit(harness.genesis.pairs[0]!.id, 'BUY', '0.01', '100')
  const body = JSON.stringify(one)
  harness.hold(true)
  const waiting = Array.from({ length: 200 }, () => request(harness.port, 'POST', ORDERS, signed(session, 'POST', ORDERS, body), body))
  const before = harness.lastSequence()
  let refused: Reply
  // The two hundred arrive in their own time; a batch of 100 is refused as soon as 25 of them hold their slots, and waits like them before.
  const counters = gatewayCounters(harness.shared.counters, 1)
  for (let look = 0; look < 2_000 && counters[GATEWAY.pending]! < 25; look++) await new Promise((resolve) => setTimeout(resolve, 5))
  for (let i = 0; ; i++) {
    refused = await call(
      harness, session, 'POST', `${ORDERS}/batch-create`, { orders: Array.from({ length: 100 }, () => ({ ...one, timeInForce: 'IOC' })) },
    ).catch(() => ({ status: 0 }) as Reply)
    if (refused.status === 503 || i > 20) break
  }
  t.match(refused.json, { statusCode: 503, error: 'UNAVAILABLE', code: 'OVERLOADED' })
  harness.hold(false)
  const replies = await Promise.all(waiting)
  t.ok(replies.every((reply) => reply.status === 200 || reply.status === 429))
  // What was answered 200 was applied, and nothing else was: no part of the refused batch, none of those turned away.
  const applied = replies.filter(({ status }) => status === 200).length
  const count = (): number => harness.lastSequence() - before
  for (let look = 0; look < 1_000 && count() < applied; look++) await new Promise((resolve) => setTimeout(resolve, 5))
  t.ok(applied > 0, `${applied} were applied`)
  t.equal(count(), applied, 'each once, and nothing of what was refused')
})

t.test('maintenance and the disk reserve', async (t) => {
  const harness = await startHarness()
  t.teardown(() => harness.close())
  const session = await trader(harness)
  const one = limit(harness.genesis.pairs[0]!.id, 'BUY', '0.01', '100')
  const resting = await call(harness, session, 'POST', ORDERS, one)
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 1 })
  for (const [method, target, body] of [
    ['POST', ORDERS, one], ['POST', '/api/v1/faucet/mint', {}], ['PUT', `${ORDERS}/${resting.json.orderId}`, {}],
  ] as const) {
    t.match(
      (await call(harness, session, method, target, body)).json,
      { statusCode: 503, error: 'OPERATIONS_BLOCKED', code: 'OPERATIONS_BLOCKED' },
    )
  }
  t.equal((await request(harness.port, 'GET', '/api/v1/health')).json.status, 'maintenance')
  t.equal((await call(harness, session, 'DELETE', `${ORDERS}/${resting.json.orderId}`)).status, 200, 'cancels go on')
  await harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 0 })
  const matcher = matcherCounters(harness.shared.counters)
  matcher[MATCHER.disk_level] = DISK.RESERVE
  for (const path of [ORDERS, '/api/v1/faucet/mint']) t.equal((await call(harness, session, 'POST', path, one)).json.code, 'DISK_RESERVE')
  t.equal((await call(harness, session, 'POST', `${ORDERS}/batch-cancel-all`)).status, 200)
  matcher[MATCHER.disk_level] = DISK.FULL
  t.equal((await call(harness, session, 'POST', `${ORDERS}/batch-cancel-all`)).json.code, 'DISK_FULL')
  t.equal((await call(harness, session, 'GET', '/api/v1/accounts/balances')).status, 200, 'reads go on')
})

t.test('several threads share one port and see each session at once', async (t) => {
  const harness = await startHarness(['--gateways', '2'])
  t.teardown(() => harness.close())
  const session = await trader(harness)
  const replies = await Promise.all(Array.from({ length: 40 }, () => call(harness, session, 'GET', '/api/v1/accounts/me')))
  t.ok(replies.every((reply) => reply.status === 200))
  await t.rejects(startHarness(['--port', String(harness.port)]), 'another exchange on the port does not start')
})
