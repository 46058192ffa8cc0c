/**
 * Order-risk simulation over the wire: a preview is what placing the order then gives, for MARKET and LIMIT orders that fill, rest, are cut
 * short, reduce, turn or meet the caller's own; it changes nothing, and what is refused says no more than is known.
 */
import t, { type Test } from 'tap'
import { CommandType, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { marginStage, type User } from '../support/margin_stage.ts'

t.setTimeout(300_000)
const stage = await marginStage()
t.teardown(() => stage.harness.close())

const preview = async (user: User, body: object, where = `accounts/${user.parent}`): Promise<Record<string, any>> =>
  (await user.post(`/margin/${where}/simulate-order-risk`, { tradingPairId: stage.btc.id, ...body })).json as Record<string, any>

/** Someone with orders on both sides: 0.3 at 60,010 and 60,020, 0.3 at 59,990 and 59,980. */
async function maker(): Promise<User> {
  const user = await stage.user('9000')
  for (const [side, price] of [['SELL', '60010'], ['SELL', '60020'], ['BUY', '59990'], ['BUY', '59980']] as const) {
    await user.order(side, '0.3', price, { leverage: '20' })
  }
  return user
}

interface Case {
  readonly side: 'BUY' | 'SELL'
  readonly orderType: 'MARKET' | 'LIMIT'
  readonly quantity: string
  readonly price?: string
  readonly leverage?: string
  readonly reduceOnly?: boolean
  readonly marginMode?: 'CROSS'
  readonly slippageToleranceBps?: number
  readonly timeInForce?: 'IOC'
}

/** Previews the order, places it, and holds match result, fee and figures of the bucket against each other. */
async function both(t: Test, user: User, order: Case): Promise<void> {
  const name = JSON.stringify(order)
  const digest = stateDigest(stage.harness.state)
  const said = await preview(user, order)
  t.equal(stateDigest(stage.harness.state), digest, 'a preview changes nothing')
  t.equal(said['accepted'], true, `${name} ${JSON.stringify(said)}`)
  const placed = (await user.post('/orders', { tradingPairId: stage.btc.id, tradingMode: 'MARGIN', ...order })).json
  const { totalFilledQuote: _, totalFee = '0', ...result } = placed.matchResult
  t.same(said['expectedMatchResult'], result, name)
  if (result.status !== 'SUBMITTED' && result.status !== 'PARTIALLY_FILLED') t.equal(said['estimatedFee'], totalFee, name)
  t.equal('referencePrice' in said, order.orderType === 'MARKET')
  const buckets = (await user.get('/margin/risk-buckets?state=ACTIVE')).json.riskBuckets as Record<string, any>[]
  const bucket = buckets.find(({ marginMode }) => marginMode === (order.marginMode ?? 'ISOLATED'))!
  t.match({
    equity: said['equityAfter'], initialMarginRequired: said['initialMarginRequiredAfter'],
    maintenanceMarginRequired: said['maintenanceMarginRequiredAfter'], freeCollateral: said['freeCollateralAfter'],
  }, {
    equity: bucket['equity'], initialMarginRequired: bucket['initialMarginRequired'],
    maintenanceMarginRequired: bucket['maintenanceMarginRequired'], freeCollateral: bucket['freeCollateral'],
  }, name)
  const { positions } = (await user.get(`/positions?riskBucketId=${bucket['riskBucketId']}`)).json
  t.equal(said['estimatedLiquidationPrice'], positions[0]?.liquidationPrice, name)
  if (order.marginMode === 'CROSS') t.same(said['selectedTradingPairIds'], bucket['selectedTradingPairIds'] ?? [])
  else t.notOk('selectedTradingPairIds' in said)
}

t.test('a preview is what happens', async (t) => {
  await stage.price(stage.btc, 60_000)
  await maker()
  const user = await stage.user('9500')
  const buy = { side: 'BUY', leverage: '10' } as const
  await both(t, user, { ...buy, orderType: 'MARKET', quantity: '0.1' })
  await both(t, user, { ...buy, orderType: 'LIMIT', quantity: '0.1', price: '59000' })
  await both(t, user, { ...buy, orderType: 'LIMIT', quantity: '0.25', price: '60010' })
  await both(t, user, { side: 'SELL', orderType: 'LIMIT', quantity: '0.05', price: '59990', reduceOnly: true })
  await both(t, user, { side: 'SELL', orderType: 'LIMIT', quantity: '9', price: '61000', reduceOnly: true })
  await user.post('/orders/batch-cancel-all')
  await both(t, user, { side: 'SELL', leverage: '5', orderType: 'MARKET', quantity: '0.5', slippageToleranceBps: 1 })
  await both(t, user, { ...buy, orderType: 'LIMIT', quantity: '0.7', price: '60020', timeInForce: 'IOC', marginMode: 'CROSS' })
  await both(t, user, { ...buy, orderType: 'LIMIT', quantity: '0.01', price: '58000', marginMode: 'CROSS' })
})

t.test('an order that meets the caller\'s own is cancelled', async (t) => {
  await stage.price(stage.btc, 60_000)
  const user = await stage.user('9000')
  await user.order('SELL', '0.1', '60005')
  await both(t, user, { side: 'BUY', orderType: 'LIMIT', quantity: '0.2', price: '60005', leverage: '10' })
})

t.test('what is refused has a reason, a fee where there is a price, and nothing else', async (t) => {
  await stage.price(stage.btc, 60_000)
  const user = await stage.user('100')
  const order = { side: 'BUY', orderType: 'LIMIT', quantity: '1', price: '50000', leverage: '10' }
  const said = await preview(user, order)
  // 1 at 50,000, marked at 60,000: 6,000 of margin and 5 bps of 50,000.
  t.match(said, {
    accepted: false, rejectCode: 'INSUFFICIENT_MARGIN', rejectReason: 'insufficient initial margin: required=6025, available=100',
    estimatedFee: '5', marginAccountId: user.parent, marginMode: 'ISOLATED',
  })
  const placed = (await user.post('/orders', { tradingPairId: stage.btc.id, tradingMode: 'MARGIN', ...order })).json
  t.equal(placed.message, said['rejectReason'], 'in the words of the order itself')
  for (const field of ['equityAfter', 'expectedMatchResult', 'referencePrice', 'riskBucketId']) t.notOk(field in said, field)
  t.match(await preview(user, { ...order, quantity: '0.001', leverage: '51' }), { accepted: false, rejectCode: 'LEVERAGE_TOO_HIGH' })
  t.match(await preview(user, { ...order, reduceOnly: true }), { accepted: false, rejectCode: 'REDUCE_ONLY_REJECTED', estimatedFee: '5' })
  const empty = await preview(user, { tradingPairId: stage.eth.id, side: 'BUY', orderType: 'MARKET', quantity: '1', leverage: '10' })
  t.notOk('estimatedFee' in empty, 'nobody to take it from')
  t.match(await preview(user, { ...order, quantity: '0.001', strategyKey: 'new' }), { accepted: true }, 'its bucket would be made')
})

t.test('what a preview must not be', async (t) => {
  const user = await stage.user('100')
  const order = { side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: '50000', leverage: '10' }
  const refused = async (over: object, field: string): Promise<unknown> =>
    t.match(await preview(user, { ...order, ...over }), { statusCode: 400, details: { field } }, JSON.stringify(over))
  await refused({ slippageToleranceBps: 10 }, 'slippageToleranceBps')
  await refused({ selectedTradingPairIds: [stage.btc.id] }, 'selectedTradingPairIds')
  await refused({ leverage: undefined }, 'leverage')
  await refused({ leverage: '1.001' }, 'leverage')
  await refused({ orderType: 'MARKET' }, 'price')
  await refused({ timeInForce: 'FOK' }, 'timeInForce')
  await refused({ tradingPairId: stage.harness.genesis.pairs[0]!.id }, 'tradingPairId')
  t.match(await preview(user, { ...order, marginMode: 'CROSS', selectedTradingPairIds: [stage.btc.id] }), { accepted: true })
  t.match(await preview(user, { ...order, positionSide: 'SHORT' }), { accepted: true }, 'positionSide is ignored')
})

t.test('for the parent, a sub-account and a bucket, and in maintenance', async (t) => {
  await stage.price(stage.btc, 60_000)
  const user = await stage.user('1000')
  const order = { side: 'BUY', orderType: 'LIMIT', quantity: '0.01', price: '50000', leverage: '10' }
  t.match(await preview(user, order, 'parent'), { accepted: true, marginAccountId: user.parent })
  const sub = (await user.post('/margin/sub-accounts')).json.marginAccountId as string
  t.match(await preview(user, order, `accounts/${sub}`), { accepted: false, marginAccountId: sub, rejectReason: /available=0$/ })
  await user.order('BUY', '0.01', '50000')
  const [bucket] = (await user.get('/margin/risk-buckets')).json.riskBuckets
  const inBucket = `risk-buckets/${bucket.riskBucketId}`
  t.match(await preview(user, order, inBucket), { accepted: true, riskBucketId: bucket.riskBucketId })
  t.match(await preview(user, { ...order, tradingPairId: stage.eth.id, price: '2000' }, inBucket), { rejectCode: 'RISK_BUCKET_MISMATCH' })
  await stage.harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 1 })
  t.match(await preview(user, order), { accepted: true })
  await stage.harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on: 0 })
})
