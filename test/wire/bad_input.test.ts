/**
 * Bad input of every kind: always a 4xx of the register that names the field where
 * there is one, never an effect, never a crash.
 */
import t, { type Test } from 'tap'
import { GATEWAY, gatewayCounters } from '../../core/ring/counters.ts'
import { call, request, sendRaw, signed, startHarness, type Reply } from '../support/gateway_harness.ts'

const harness = await startHarness()
t.teardown(() => harness.close())
const { port, genesis } = harness
const session = await harness.openSession()
await call(harness, session, 'POST', '/api/v1/faucet/mint')

const ORDERS = '/api/v1/orders'
const pair = genesis.pairs[0]!
const good = { tradingPairId: pair.id, orderType: 'LIMIT', side: 'BUY', quantity: '0.1', price: '100' }
const create = (over: Record<string, unknown>): Promise<Reply> => call(harness, session, 'POST', ORDERS, { ...good, ...over })
const raw = (text: string | Buffer, target = ORDERS, method = 'POST'): Promise<Reply> =>
  request(port, method, target, signed(session, method, target, text), text)

/** Runs `body` and checks that the engine saw nothing of it. */
async function untouched(t: Test, body: () => Promise<void>): Promise<void> {
  const before = harness.lastSequence()
  await body()
  t.equal(harness.lastSequence(), before, 'nothing reached the engine')
}

t.test('bodies that are no JSON object', (t) => untouched(t, async () => {
  const cases: [string, string | Buffer][] = [
    ['empty', ''], ['blank', '  '], ['cut', '{"a":'], ['array', '[]'], ['string', '"x"'], ['number', '1'], ['null', 'null'],
    ['BOM', `\ufeff${JSON.stringify(good)}`], ['comment', '{}//'], ['single quotes', "{'a':1}"], ['trailing comma', '{"a":1,}'],
    ['NaN', '{"a":NaN}'],
    ['two values', '{}{}'], ['NUL', '{}\0'], ['bad UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['depth 10,000', '['.repeat(10_000) + ']'.repeat(10_000)], ['2 MiB of [', '['.repeat(2 * 1024 * 1024)],
  ]
  for (const [name, body] of cases) {
    const reply = await raw(body)
    t.equal(reply.status, 400, `${name}: ${reply.text.slice(0, 120)}`)
    t.equal(reply.json?.error, 'VALIDATION_ERROR', name)
  }
}))

t.test('size of the body', async (t) => {
  const max = 2 * 1024 * 1024
  const padded = (size: number): string => JSON.stringify(good).padEnd(size, ' ')
  t.equal((await raw(padded(max))).status, 200, '2 MiB is read')
  await untouched(t, async () => {
    const reply = await raw(padded(max + 1))
    t.equal(reply.status, 413)
    t.match(reply.json, { error: 'VALIDATION_ERROR', code: 'BODY_TOO_LARGE', statusCode: 413 })
    t.equal((await raw(padded(max + 1), '/api/v1/auth/challenge')).status, 413, 'unsigned operations too')
    const endless = `POST ${ORDERS} HTTP/1.1\r\nHost: x\r\nUser-Agent: t\r\nContent-Length: 99999999999\r\n\r\nabc`
    const { replies, closed } = await sendRaw(port, endless, 9)
    t.equal(replies[0]?.status, 413)
    t.ok(closed, 'a body that would never be read to its end closes the connection')
  })
})

const DECIMALS = ['', ' ', '1e3', '+1', '.5', '1.', '-1', '-0', '0', '0.0', '01x', '0x10', '1,000', '1 000', ' 1', '1 ', 'NaN', 'Infinity',
  '1'.repeat(29), `0.${'1'.repeat(19)}`, '١٢', '１２', '1'.repeat(28), '99999999999999999999', '1_000', '1.2.3', 'null', 'true', '1n']

for (const field of ['price', 'quantity']) {
  t.test(`${field} that is no positive decimal string`, (t) => untouched(t, async () => {
    for (const value of [...DECIMALS, 1, 0.1, true, [], {}, ['1']]) {
      const reply = await create({ [field]: value })
      t.equal(reply.status, 400, JSON.stringify(value))
      t.equal(reply.json?.details?.field, field, JSON.stringify(value))
    }
  }))
}

t.test('off the tick, off the lot, out of range', (t) => untouched(t, async () => {
  t.equal((await create({ price: '100.001' })).json.code, 'INVALID_TICK')
  t.equal((await create({ price: '30000000000' })).json.code, 'INVALID_TICK')
  t.equal((await create({ quantity: '0.00011' })).json.code, 'INVALID_LOT')
  t.equal((await create({ quantity: '99999999999' })).json.code, 'INVALID_LOT')
}))

t.test('the same number written differently is the same order', async (t) => {
  const key = { idempotencyKey: 'written differently' }
  const first = await create({ ...key, price: '100.10', quantity: '0.1000' })
  const again = await create({ ...key, price: '0100.1', quantity: '00.10' })
  t.equal(first.status, 200)
  t.equal(again.json.orderId, first.json.orderId)
})

t.test('fields of the wrong type or value are named', (t) => untouched(t, async () => {
  const cases: [string, unknown][] = [
    ['tradingPairId', 'x'], ['tradingPairId', 1], ['tradingPairId', `${pair.id} `], ['orderType', 'limit'], ['orderType', 'STOP'],
    ['side', 'HOLD'], ['side', 0], ['tradingMode', 'FUTURES'],
    ['tradingMode', 'MARGIN'], ['timeInForce', 'GTD'], ['postOnly', 'true'], ['postOnly', 1],
    ['slippageToleranceBps', 10], ['slippageToleranceBps', '10'], ['slippageToleranceBps', 1.5],
    ['useMasterBalance', 'x'],
    ['expirationDate', 'tomorrow'], ['expirationDate', 1], ['expirationDate', '2020-01-01T00:00:00Z'], ['expirationDate', '2099-01-01'],
    ['expirationDate', '2099-13-01T00:00:00Z'], ['expirationDate', '2099-01-01T00:00:00'],
    ['clientOrderId', ''], ['clientOrderId', 'x'.repeat(41)], ['clientOrderId', 'é'], ['clientOrderId', 'a\nb'], ['clientOrderId', 7],
    ['idempotencyKey', ''], ['idempotencyKey', 'x'.repeat(129)], ['idempotencyKey', '\ud800'], ['idempotencyKey', 7],
    ['selfTradePreventionMode', 'CANCEL_MAKER'], ['selfTradePreventionMode', 1],
    ['marginAccountId', 'x'], ['riskBucketId', 'x'], ['leverage', '2'], ['reduceOnly', true], ['trailingStop', {}],
    ['takeProfit', {}], ['stopLoss', {}], ['strategyKey', 'x'], ['marginMode', 'ISOLATED'], ['marginMode', 'BOTH'],
    ['positionSide', 'BOTH'],
  ]
  for (const [field, value] of cases) {
    const reply = await create({ [field]: value })
    t.equal(reply.status, 400, `${field} ${JSON.stringify(value)}: ${reply.text}`)
    t.equal(reply.json?.details?.field, field, `${field} ${JSON.stringify(value)}`)
  }
  t.equal((await create({ selfTradePreventionMode: 'X' })).json.code, 'VALIDATION_ERROR', 'plain on a single order')
  for (const field of ['tradingPairId', 'orderType', 'side', 'quantity', 'price']) {
    for (const nothing of [undefined, null]) t.equal((await create({ [field]: nothing })).json?.details?.field, field, `without ${field}`)
  }
  const market = { orderType: 'MARKET', price: undefined }
  const onMarket: [string, unknown][] = [
    ['price', '1'], ['timeInForce', 'GTC'], ['timeInForce', 'IOC'], ['postOnly', true], ['slippageToleranceBps', 1001],
    ['slippageToleranceBps', -1], ['expirationDate', '2099-01-01T00:00:00Z'],
  ]
  for (const [field, value] of onMarket) t.equal(
    (await create({ ...market, [field]: value })).json?.details?.field, field, `${field} on MARKET`,
  )
  for (const timeInForce of ['IOC', 'FOK']) {
    t.equal((await create({ timeInForce, postOnly: true })).json?.details?.field, 'postOnly')
    const expires = await create({ timeInForce, expirationDate: '2099-01-01T00:00:00Z' })
    t.equal(expires.json?.details?.field, 'expirationDate', 'what never rests does not expire')
  }
  t.equal((await create({ tradingPairId: '00000000-0000-4000-8000-000000000000' })).status, 404)
}))

t.test('null is absent, unknown fields are ignored', async (t) => {
  const reply = await create(
    { clientOrderId: null, expirationDate: null, slippageToleranceBps: null, postOnly: null, positionSide: 'LONG', foo: { bar: 1 } }
  )
  t.equal(reply.status, 200, reply.text)
})

t.test('keys that mean something to JavaScript are data', async (t) => {
  const priceless = JSON.stringify({ ...good, price: undefined }).slice(1)
  const proto = `{"__proto__":{"price":"1","quantity":"1"},"constructor":{"prototype":{"x":1}},"toString":1,${priceless}`
  t.equal((await raw(proto)).json.details.field, 'price', 'a prototype gives no field')
  const doubled = `${JSON.stringify(good).slice(0, -1)},"__proto__":null,"__proto__":{"side":"SELL"},"hasOwnProperty":1}`
  t.equal((await raw(doubled)).status, 200)
  t.equal(({} as Record<string, unknown>)['price'], undefined)
  const replaced = await raw(
    '{"__proto__":{"orderId":"x"},"orderId":"y","price":"101"}', `${ORDERS}/00000000-0005-8001-8000-00001f2a335e`, 'PUT',
  )
  t.equal(replaced.json.code, 'ORDER_NOT_FOUND', 'the path names the order, whatever the body says')
})

t.test('identifiers in paths', (t) => untouched(t, async () => {
  for (const id of ['x', '1', `${pair.id}0`, '%00', '..', 'null', '0005-8001', pair.id.replaceAll('-', '')]) {
    for (const [method, body] of [['GET', ''], ['DELETE', ''], ['PUT', '{}']] as const) {
      const reply = await raw(body, `${ORDERS}/${id}`, method)
      t.equal(reply.status, 400, `${method} ${id}: ${reply.text}`)
      t.equal(reply.json?.details?.field, 'orderId')
    }
  }
  // Well-formed but nobody's: ids carry check bits, so an altered one is unknown.
  for (const id of [pair.id, 'ffffffff-ffff-8001-bfff-ffffffffffff', '00000000-0005-8001-8000-00001f2a335f']) {
    for (const [method, body] of [['GET', ''], ['DELETE', ''], ['PUT', '{"price":"1"}']] as const) {
      t.equal((await raw(body, `${ORDERS}/${id}`, method)).json?.code, 'ORDER_NOT_FOUND', `${method} ${id}`)
    }
  }
  t.equal((await raw('', '/api/v1/accounts/balances/00000000-0000-4000-8000-000000000000', 'GET')).status, 404)
}))

t.test('query strings', (t) => untouched(t, async () => {
  const bad = [
    'page=0', 'page=-1', 'page=10001', 'page=1.5', 'page=1e2', 'page=', 'page=x', 'page=1&page=2', 'pageSize=0', 'pageSize=101',
    'status=OPEN', 'status=FILLED&status=x', 'side=buy', 'orderType=', 'tradingMode=x', 'tradingPairId=1', 'startTime=yesterday',
    'endTime=1.5', 'startTime=1&startTime=2', 'clientOrderId=', 'pageToken=x', 'pageToken=&page=1', 'pageSize=1001&pageToken=',
  ]
  for (const query of bad) {
    const reply = await raw('', `${ORDERS}?${query}`, 'GET')
    t.equal(reply.status, 400, `${query}: ${reply.text}`)
    t.equal(reply.json?.details?.field?.split('.')[0], query.split('=')[0], query)
  }
  for (const query of [
    'unknown=1', 'page=1&unknown=1&unknown=2', '__proto__=1', '&&&', '=', '%', 'status=FILLED&status=SUBMITTED', 'startTime=0',
    'endTime=2099-01-01T00:00:00Z', 'pageSize=1000&pageToken=',
  ]) {
    t.equal((await raw('', `${ORDERS}?${query}`, 'GET')).status, 200, query)
  }
  for (const query of ['depth=0', 'depth=1001', 'magnitude=0', 'magnitude=5', 'magnitude=20', 'denomination=USD', 'depth=1&depth=2']) {
    t.equal((await request(port, 'GET', `/api/v1/orderbook/${pair.id}?${query}`)).status, 400, query)
  }
}))

t.test('batches', async (t) => {
  const batch = (orders: unknown): Promise<Reply> => call(harness, session, 'POST', `${ORDERS}/batch-create`, { orders })
  await untouched(t, async () => {
    for (const orders of [undefined, null, [], {}, 'x', Array.from({ length: 101 }, () => good)]) {
      t.equal((await batch(orders)).json?.details?.field, 'orders')
    }
    const items: unknown[] = [
      null, 1, 'x', [], {}, { ...good, price: 1 }, { ...good, selfTradePreventionMode: 'X' },
      { ...good, tradingPairId: good.tradingPairId.replace('1', '9') },
    ]
    const reply = await batch(items)
    t.equal(reply.status, 200)
    t.match(reply.json, { totalRequested: items.length, totalSucceeded: 0, totalFailed: items.length })
    t.same(reply.json.results.map((result: { error: { code: string } }) => result.error.code), [
      'VALIDATION_ERROR', 'VALIDATION_ERROR', 'VALIDATION_ERROR', 'VALIDATION_ERROR', 'VALIDATION_ERROR', 'VALIDATION_ERROR',
      'INVALID_SELF_TRADE_PREVENTION_MODE', 'NOT_FOUND',
    ])
  })
  const mixed = await batch([good, { ...good, quantity: 'x' }, good])
  t.match(mixed.json, { totalRequested: 3, totalSucceeded: 2, totalFailed: 1 })
  t.match(mixed.json.results, [{ orderId: String }, { error: { code: 'VALIDATION_ERROR' } }, { orderId: String }])
  t.equal((await batch(Array.from({ length: 100 }, () => ({ ...good, timeInForce: 'IOC' })))).json.totalSucceeded, 100)
})

t.test('sign-in', async (t) => {
  const challenge = { address: `0x${'ab'.repeat(20)}`, sessionPublicKey: 'ab'.repeat(32) }
  const verify = { ...challenge, signature: '00'.repeat(65), nonce: 'ab'.repeat(32) }
  const cases: [string, object, string][] = [
    ['challenge', { ...challenge, address: '0x12' }, 'address'], ['challenge', { ...challenge, address: 'ab'.repeat(21) }, 'address'],
    [
      'challenge', { ...challenge, sessionPublicKey: 'AB'.repeat(32) }, 'sessionPublicKey',
    ], ['challenge', { ...challenge, sessionPublicKey: 1 }, 'sessionPublicKey'],
    [
      'challenge', { ...challenge, clientId: 1 }, 'clientId',
    ], ['challenge', { ...challenge, chainId: {} }, 'chainId'], ['challenge', {}, 'address'],
    ['verify', { ...verify, signature: '' }, 'signature'], [
      'verify', { ...verify, signature: 'zz' }, 'signature',
    ], ['verify', { ...verify, signature: '0x' }, 'signature'],
    ['verify', { ...verify, signature: '0'.repeat(16_387) }, 'signature'], ['verify', { ...verify, nonce: 1 }, 'nonce'],
  ]
  for (const [name, body, field] of cases) {
    const reply = await request(port, 'POST', `/api/v1/auth/${name}`, {}, JSON.stringify(body))
    t.equal(reply.status, 400, `${name} ${field}: ${reply.text}`)
    t.equal(reply.json?.details?.field, field)
  }
})

t.test('bodies where there must be none', async (t) => {
  for (const target of ['/api/v1/auth/refresh', '/api/v1/auth/revoke']) {
    for (const body of ['{}', ' ', 'x']) t.equal((await raw(body, target)).status, 400)
  }
  t.equal((await raw('', '/api/v1/auth/refresh')).status, 200)
  for (const body of ['', '{}']) t.equal((await raw(body, '/api/v1/orders/batch-cancel-all')).status, 200)
})

t.test('no thread stumbled', async (t) => {
  t.equal(gatewayCounters(harness.shared.counters, 1)[GATEWAY.unhandled], 0)
  t.same(harness.logs.filter((message) => message.type === 'log' || message.type === 'fatal'), [])
  t.equal((await request(port, 'GET', '/ready')).status, 200)
})
