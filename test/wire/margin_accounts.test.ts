/**
 * Margin accounts and risk buckets over the wire: the parent before and after its first use, deposits and withdrawals, margin sub-accounts
 * from their making to their close, buckets and what may be moved between all of them, with the refusals that say how much.
 */
import t from 'tap'
import { riskBucketId, marginAccountId } from '../../core/layout/ids.ts'
import { marginStage, type User } from '../support/margin_stage.ts'

t.setTimeout(300_000)
const stage = await marginStage()
t.teardown(() => stage.harness.close())

const accountOf = async (user: User, id = user.parent): Promise<Record<string, unknown>> =>
  (await user.get(`/margin/accounts/${id}`)).json as Record<string, unknown>

t.test('the parent is there before it was used', async (t) => {
  const user = await stage.user('0')
  const empty = {
    marginAccountId: user.parent, accountKind: 'PARENT', accountState: 'Normal', collateralAsset: 'USDC', depositedCollateral: '0',
    earmarkedCollateral: '0', equity: '0', initialMarginRequired: '0', maintenanceMarginRequired: '0', freeCollateral: '0',
    withdrawableCollateral: '0', totalPositionNotional: '0', unrealizedPnl: '0', realizedPnl: '0',
  }
  const listed = (await user.get('/margin/accounts')).json
  t.match(listed, { accounts: [empty], page: 1, pageSize: 20, total: 1, totalPages: 1 })
  t.notOk('availableOrderCollateral' in listed.accounts[0], 'parents have none')
  t.match((await user.get('/margin/available-collateral')).json, { symbol: 'USDC', walletBalance: '10000', availableCollateral: '0' })
  const path = `/margin/accounts/${user.parent}`
  const moved = await user.post(`${path}/collateral/transfer-in`, { amount: '1500.50' })
  t.match(moved.json, { amount: '1500.5', toMarginAccountId: user.parent, movementId: /-8005-/ })
  t.match(await accountOf(user), { depositedCollateral: '1500.5', equity: '1500.5', withdrawableCollateral: '1500.5' })
  t.match((await user.get('/margin/available-collateral')).json, { walletBalance: '8499.5', availableCollateral: '1500.5' })
  t.match((await user.get('/accounts/balances')).json.balances[0], { symbol: 'USDC', availableBalance: '8499.5' })
  t.match((await user.post(`${path}/collateral/transfer-out`, { amount: '0.5' })).json, { amount: '0.5', fromMarginAccountId: user.parent })
  t.match((await user.post(`${path}/collateral/transfer-out`, { amount: '1500.000001' })).json, {
    statusCode: 400, code: 'INSUFFICIENT_COLLATERAL', message: 'insufficient free collateral: requested=1500.000001, available=1500',
    details: { field: 'amount', requested: '1500.000001', available: '1500', asset: 'USDC' },
  })
  t.match((await user.post(`${path}/collateral/transfer-in`, { amount: '9000' })).json, {
    statusCode: 400, code: 'INSUFFICIENT_BALANCE', message: /^Insufficient balance/,
  })
  for (const amount of ['0', '-1', '0.0000001', 'x']) {
    t.match((await user.post(`${path}/collateral/transfer-in`, { amount })).json, { statusCode: 400, details: { field: 'amount' } }, amount)
  }
})

t.test('a key repeats a deposit, and is a conflict for another', async (t) => {
  const user = await stage.user('0')
  const path = `/margin/accounts/${user.parent}/collateral`
  const first = await user.post(`${path}/transfer-in`, { amount: '10', idempotencyKey: 'k' })
  t.same((await user.post(`${path}/transfer-in`, { amount: '10.0', idempotencyKey: 'k' })).json, first.json)
  t.match(await accountOf(user), { depositedCollateral: '10' })
  t.match((await user.post(`${path}/transfer-in`, { amount: '11', idempotencyKey: 'k' })).json, { code: 'IDEMPOTENCY_KEY_CONFLICT' })
  t.match((await user.post(`${path}/transfer-out`, { amount: '10', idempotencyKey: 'k' })).json, { code: 'IDEMPOTENCY_KEY_CONFLICT' })
})

t.test('a margin sub-account from its making to its close', async (t) => {
  const user = await stage.user('100')
  const made = (await user.post('/margin/sub-accounts', { label: 'Basis' })).json
  t.match(made, { accountKind: 'SUB', accountState: 'Normal', label: 'Basis', depositedCollateral: '0', marginAccountId: /-800c-/ })
  const sub = made.marginAccountId as string
  t.match((await user.get('/margin/accounts')).json, { accounts: [{ marginAccountId: sub }, { marginAccountId: user.parent }], total: 2 })
  const given = (await user.post(`/margin/sub-accounts/${sub}/collateral/transfer-in`, { amount: '60' })).json
  t.match(given, { amount: '60', fromMarginAccountId: user.parent, toMarginAccountId: sub })
  t.match(await accountOf(user, sub), { depositedCollateral: '60' })
  const back = (await user.post(`/margin/sub-accounts/${sub}/collateral/transfer-out`, { amount: '20' })).json
  t.match(back, { amount: '20', fromMarginAccountId: sub, toMarginAccountId: user.parent })
  t.match((await user.post(`/margin/sub-accounts/${sub}/collateral/transfer-in`, { amount: '61' })).json, {
    message: 'insufficient free collateral: requested=61, available=60',
  })
  t.match((await user.post(`/margin/sub-accounts/${user.parent}/collateral/transfer-in`, { amount: '1' })).json, { code: 'NOT_FOUND' })
  const closed = (await user.post(`/margin/sub-accounts/${sub}/close`)).json
  t.same(closed, { marginAccountId: sub, defaultMarginAccountId: user.parent, amount: '40' })
  t.match(await accountOf(user), { depositedCollateral: '100' })
  t.match(await accountOf(user, sub), { statusCode: 404, code: 'NOT_FOUND' })
  t.match((await user.post(`/margin/sub-accounts/${sub}/close`)).json, { statusCode: 404, code: 'NOT_FOUND' })
  t.match((await user.get('/margin/accounts?state=CLOSED')).json, { accounts: [], total: 0 })
  for (const label of ['', 'x'.repeat(33), 'a\u0000']) {
    t.match((await user.post('/margin/sub-accounts', { label })).json, { statusCode: 400, details: { field: 'label' } })
  }
})

t.test('an order makes the bucket of its pair, and collateral goes in and out of it', async (t) => {
  const user = await stage.user('1000')
  const before = (await user.get(`/margin/accounts/${user.parent}?tradingPairId=${stage.btc.id}`)).json
  t.match(before, { tradingPairId: stage.btc.id, marginMode: 'ISOLATED', equity: '0', availableOrderCollateral: '1000' })
  t.notOk('riskBucketId' in before, 'there is none yet')
  t.match((await user.order('BUY', '0.1', '50000')).json, { matchResult: { status: 'SUBMITTED' } })
  const [bucket] = (await user.get('/margin/risk-buckets')).json.riskBuckets
  // 0.1 at 50,000, marked at 60,000: leverage 10 asks for 600, and the fee of 5,000 at the rate of takers is held too.
  t.match(bucket, {
    marginAccountId: user.parent, marginMode: 'ISOLATED', state: 'ACTIVE', accountState: 'Normal', allocatedCollateral: '0',
    equity: '0', initialMarginRequired: '600', maintenanceMarginRequired: '0', openPositions: 0, openOrders: 1,
    tradingPairId: stage.btc.id,
  })
  const pending = Number(bucket.pendingCollateral)
  t.ok(pending >= 600 && pending < 610, bucket.pendingCollateral)
  t.equal(Number(bucket.availableOrderCollateral), 1000 - 600)
  t.same((await user.get(`/margin/accounts/${user.parent}?tradingPairId=BTC%2FUSDC-PERP`)).json.riskBucketId, bucket.riskBucketId)
  t.same((await user.get(`/margin/risk-buckets/${bucket.riskBucketId}`)).json, bucket)
  const path = `/margin/risk-buckets/${bucket.riskBucketId}/collateral`
  t.match((await user.post(`${path}/transfer-in`, { amount: '100' })).json, {
    amount: '100', fromMarginAccountId: user.parent, toRiskBucketId: bucket.riskBucketId,
  })
  t.match((await user.post(`${path}/transfer-out`, { amount: '30' })).json, {
    amount: '30', fromRiskBucketId: bucket.riskBucketId, toMarginAccountId: user.parent,
  })
  t.match((await user.get(`/margin/risk-buckets/${bucket.riskBucketId}`)).json, { allocatedCollateral: '70' })
  t.match((await user.post(`${path}/transfer-in`, { amount: '5000' })).json, { message: /^insufficient free collateral: requested=5000, / })
  t.match((await user.post('/orders/batch-cancel-all')).json, { totalCancelled: 1 })
  const flat = (await user.get(`/margin/risk-buckets/${bucket.riskBucketId}`)).json
  t.match(flat, { pendingCollateral: '0', withdrawableCollateral: flat.allocatedCollateral })
  t.match((await user.post(`${path}/transfer-out`, { amount: flat.allocatedCollateral })).json, { amount: flat.allocatedCollateral })
  t.match((await user.get(`/margin/risk-buckets/${bucket.riskBucketId}`)).json, { state: 'CLOSED', accountState: 'Closed' })
  t.match((await user.get('/margin/risk-buckets?state=ACTIVE')).json, { riskBuckets: [], total: 0 })
  t.match((await user.get('/margin/risk-buckets?state=CLOSED')).json, { riskBuckets: [{ riskBucketId: bucket.riskBucketId }] })
  t.match(await accountOf(user), { depositedCollateral: '1000', earmarkedCollateral: '0' })
})

t.test('lists of buckets go page by page, and by what they are', async (t) => {
  const user = await stage.user('5000')
  await user.order('BUY', '0.01', '50000')
  await user.order('BUY', '0.01', '50000', { strategyKey: 'one' })
  await user.order('BUY', '0.1', '2000', { tradingPairId: stage.eth.id, marginMode: 'CROSS' })
  const first = (await user.get('/margin/risk-buckets?pageToken=&pageSize=2')).json
  const second = (await user.get(`/margin/risk-buckets?pageToken=${first.nextPageToken}&pageSize=2`)).json
  t.equal(first.riskBuckets.length, 2)
  t.match(first.riskBuckets, [{ marginMode: 'CROSS', selectedTradingPairIds: [] }, { strategyKey: 'one' }], 'newest first')
  t.equal(second.riskBuckets.length, 1)
  t.equal(second.nextPageToken, '')
  const count = async (query: string): Promise<number> => (await user.get(`/margin/risk-buckets?${query}`)).json.total as number
  t.equal(await count('marginMode=CROSS'), 1)
  t.equal(await count('strategyKey=one'), 1)
  t.equal(await count(`tradingPairId=${stage.btc.id}`), 2)
  t.equal(await count(`marginAccountId=${user.parent}`), 3)
  t.match((await user.get('/margin/risk-buckets?page=1&pageToken=')).json, { details: { field: 'pageToken' } })
})

t.test('what is not theirs is missing', async (t) => {
  const [owner, other] = [await stage.user('100'), await stage.user('100')]
  await owner.order('BUY', '0.001', '50000')
  const sub = (await owner.post('/margin/sub-accounts')).json.marginAccountId as string
  const bucket = (await owner.get('/margin/risk-buckets')).json.riskBuckets[0].riskBucketId as string
  const told = async (id: string, path: string): Promise<string> => JSON.stringify((await other.get(path)).json).replaceAll(id, '')
  const none = marginAccountId(5, 1000)
  for (const id of [owner.parent, sub]) t.equal(await told(id, `/margin/accounts/${id}`), await told(none, `/margin/accounts/${none}`))
  const noBucket = riskBucketId(5, 1000)
  t.equal(await told(bucket, `/margin/risk-buckets/${bucket}`), await told(noBucket, `/margin/risk-buckets/${noBucket}`))
  t.match((await other.get(`/margin/risk-buckets?marginAccountId=${sub}`)).json, { statusCode: 404 })
})
