/**
 * Promise: each limit of the specification's table that a request can meet holds exactly at its edge: the last value inside is served, the
 * first one outside is refused with the field's name. What a request meets elsewhere is tested there: the body's size in bad_input, the
 * signature's freshness in security/authentication, retention and expiry in scenario/, the faucet in operations.
 */
import t, { type Test } from 'tap'
import { OPERATIONS } from '../../gateway/operations/index.ts'
import { call, request, type Reply } from '../support/gateway_harness.ts'
import { marginStage } from '../support/margin_stage.ts'
import { giveServerKey } from '../support/server_keys.ts'

const { harness, btc, user } = await marginStage()
t.teardown(() => harness.close())
const [trader, partner] = [await user(), await user()]
await partner.order('SELL', '0.01', '60000')
await trader.order('BUY', '0.01', '60000')
const positionId = (await trader.get('/positions')).json.positions[0].positionId as string
const { session } = trader
const serverKey = await giveServerKey(harness)
for (let mints = 1; mints < 5; mints++) await call(harness, session, 'POST', '/api/v1/faucet/mint')

const ORDERS = '/api/v1/orders'
const pair = harness.genesis.pairs[0]!.id
const ORDER_ID = '00000000-0005-8001-8000-00001f2a335e'
const order = { tradingPairId: pair, orderType: 'LIMIT', side: 'BUY', quantity: '0.001', price: '1000' }
const post = (target: string, body: unknown): Promise<Reply> => call(harness, session, 'POST', target, body)

t.test('wallet signature: 16,386 characters', async (t) => {
  const { operation } = OPERATIONS.find(({ name }) => name === 'Verify')!
  const verify = (characters: number): unknown => operation.body!.check({
    address: `0x${'a'.repeat(40)}`, nonce: 'n', sessionPublicKey: 'b'.repeat(64), signature: `0x${'1'.repeat(characters - 2)}`,
  })
  t.equal(verify(16_386), null)
  t.match(verify(16_387), { code: 'VALIDATION_ERROR', details: { field: 'signature' } })
})

t.test('slippageToleranceBps of a MARKET order: 0 to 1000', async (t) => {
  const market = { tradingPairId: pair, orderType: 'MARKET', side: 'BUY', quantity: '0.001' }
  for (const slippageToleranceBps of [0, 1000]) t.equal((await post(ORDERS, { ...market, slippageToleranceBps })).status, 200)
  for (const slippageToleranceBps of [-1, 1001]) {
    const reply = await post(ORDERS, { ...market, slippageToleranceBps })
    t.match(reply.json, { statusCode: 400, details: { field: 'slippageToleranceBps' } })
  }
})

t.test('batches: 1 to 100 items', async (t) => {
  const batches: [path: string, field: string, item: unknown][] = [
    ['batch-create', 'orders', order], ['batch-replace', 'orders', { orderId: ORDER_ID, price: '1001' }],
    ['batch-cancel', 'orderIds', ORDER_ID],
  ]
  for (const [path, field, item] of batches) {
    const send = (items: number): Promise<Reply> => post(`${ORDERS}/${path}`, { [field]: Array.from({ length: items }, () => item) })
    for (const items of [1, 100]) {
      const reply = await send(items)
      t.equal(reply.status, 200, `${path}: ${items}`)
      t.equal(reply.json.totalRequested, items)
      t.equal(reply.json.results.length, items)
    }
    for (const items of [0, 101]) t.match((await send(items)).json, { statusCode: 400, details: { field } }, `${path}: ${items}`)
  }
})

/** Every listing there is, by what its query declares. */
const listings = OPERATIONS.filter(({ operation }) => 'page' in (operation.query?.schema.properties ?? {}))

t.test('the listings were found', async (t) => {
  t.same(listings.map(({ name }) => name).sort(), [
    'GetScreener', 'ListAccountTrades', 'ListApplicationBalances', 'ListApplicationMovements', 'ListApplicationOrders',
    'ListApplicationUsers', 'ListBalances', 'ListConditionalOrders', 'ListFundingPayments', 'ListFundingRates', 'ListLeaders',
    'ListMarginAccounts', 'ListMovements', 'ListOrders', 'ListPendingWithdrawals', 'ListPositions', 'ListRiskBuckets', 'ListTrades',
    'ListTradingPairs', 'ListTwapOrders',
  ])
})
/** Those that are walks unless a page is asked for. */
const WALKS = ['ListConditionalOrders', 'ListTwapOrders']

for (const { name, row, operation } of listings) {
  const walks = WALKS.includes(name)
  const get = (query: string): Promise<Reply> => {
    const target = `${row.path.replace('{tradingPairId}', btc.id).replace('{positionId}', positionId)}?${query}`
    if (row.access === 'session') return call(harness, session, 'GET', target)
    return request(harness.port, 'GET', target, row.access === 'public' ? {} : { 'x-server-key': serverKey })
  }
  const refuses = async (t: Test, query: string, field: string): Promise<void> => {
    t.match((await get(query)).json, { statusCode: 400, code: 'VALIDATION_ERROR', details: { field } }, query)
  }

  t.test(`${name}: pages of 1 to 100, up to page 10,000`, async (t) => {
    t.match((await get('')).json, { page: walks ? 0 : 1, pageSize: 20 }, 'defaults')
    for (const query of ['pageSize=1&page=1', 'pageSize=100&page=1', 'page=10000&pageSize=100']) {
      const { status, json } = await get(query)
      t.equal(status, 200, query)
      t.equal(json.pageSize, Number(/pageSize=(\d+)/.exec(query)![1]))
      t.equal(json.page, Number(/page=(\d+)/.exec(query)![1]))
      t.equal(json.totalPages, Math.ceil(json.total / json.pageSize))
    }
    for (const query of ['pageSize=0', walks ? 'pageSize=1001' : 'pageSize=101', 'pageSize=101&page=1']) await refuses(t, query, 'pageSize')
    for (const query of ['page=0', 'page=10001', 'page=10001&pageSize=1']) await refuses(t, query, 'page')
  })

  if (!('pageToken' in operation.query!.schema.properties)) continue

  t.test(`${name}: by cursor 1 to 1000`, async (t) => {
    for (const pageSize of [1, 1000]) {
      const { status, json } = await get(`pageToken=&pageSize=${pageSize}`)
      t.equal(status, 200)
      t.equal(json.pageSize, pageSize)
      t.type(json.nextPageToken, 'string')
      if (walks) t.match(json, { page: 0, total: 0 }, 'both are 0 in a walk')
      else t.notOk('total' in json || 'page' in json, 'no totals')
      t.notOk('totalPages' in json)
    }
    await refuses(t, 'pageToken=&pageSize=1001', 'pageSize')
    await refuses(t, 'pageToken=&pageSize=0', 'pageSize')
    await refuses(t, 'pageToken=&page=1', 'pageToken')
    await refuses(t, 'pageToken=AAAA', 'pageToken')
    await refuses(t, `pageToken=${'A'.repeat(10_000)}`, 'pageToken')
  })
}
