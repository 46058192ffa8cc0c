/**
 * Positions over the wire, with numbers checked by hand: what one shows and risks, closing it by MARKET, LIMIT and IOC, whole and in part,
 * also in maintenance, adding and taking isolated margin, and the configuration of its perpetual.
 */
import t from 'tap'
import { CommandType, SET_MAINTENANCE_COMMAND } from '../../core/layout/command.ts'
import { positionId } from '../../core/layout/ids.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { getI64, perpRow, setI64 } from '../../core/state/rows.ts'
import { marginStage, type User } from '../support/margin_stage.ts'

t.setTimeout(300_000)
const stage = await marginStage()
t.teardown(() => stage.harness.close())

/** A long position of 0.1 at 60,000 of the first user; the second one is short. */
async function opened(over: object = {}): Promise<{ long: User; short: User; id: string }> {
  const [long, short] = [await stage.user(), await stage.user()]
  await stage.price(stage.btc, 60_000)
  await short.order('SELL', '0.1', '60000')
  const placed = (await long.order('BUY', '0.1', '60000', over)).json
  if (placed.matchResult?.status !== 'FILLED') throw new Error(JSON.stringify(placed))
  const { positions } = (await long.get('/positions')).json
  return { long, short, id: positions[0].positionId as string }
}

t.test('what a position shows and risks', async (t) => {
  const { long, short, id } = await opened()
  // Margin 600 at leverage 10 and the fee of 6,000 at 5 bps were brought; the fee is paid from the bucket: 600 + 3 - 3.
  const position = (await long.get(`/positions/${id}`)).json
  t.match(position, {
    positionId: id, marginAccountId: long.parent, tradingPairId: stage.btc.id, symbol: 'BTC/USDC-PERP', side: 'LONG', status: 'OPEN',
    size: '0.1', entryPrice: '60000', markPrice: '60000', leverage: '10', marginMode: 'ISOLATED', isolatedMargin: '603',
    initialMarginRequired: '600', maintenanceMarginRequired: '60', realizedPnl: '0', unrealizedPnl: '0', accruedFunding: '0',
  })
  t.notOk('closedAt' in position)
  // Equity 600 + 0.1 × (m - 60,000) falls below 0.001 × m where m < 54,545.4545...: the first tick there.
  t.equal(position.liquidationPrice, '54545.4')
  const risk = (await long.get(`/positions/${id}/risk`)).json
  t.match(risk, { positionId: id, equity: '600', notional: '6000', tierLevel: 1, marginRatio: '0.1', bankruptcyPrice: '54000' })
  t.match((await short.get('/positions')).json, { positions: [{ side: 'SHORT', size: '0.1' }], total: 1 })
  await stage.price(stage.btc, 60_600)
  const later = (await long.get(`/positions/${id}`)).json
  t.equal(later.version, position.version, 'a price changes no position')
  t.match((await long.get('/positions?status=CLOSED')).json, { positions: [], total: 0 })
  t.match((await long.get(`/positions?tradingPairId=${stage.eth.id}`)).json, { positions: [], total: 0 })
  t.match((await long.get(`/positions?marginAccountId=${short.parent}`)).json, { positions: [], total: 0 })
})

t.test('funding of the whole life, and the part of it that is not settled yet', async (t) => {
  const { long, short, id } = await opened()
  const buyer = await stage.user()
  const { state, genesis } = stage.harness
  const perp = perpRow(state, genesis.pairs.findIndex((pair) => pair.id === stage.btc.id))
  /** A lot of 0.0001 pays 0.003 USDC: a position of 0.1 pays 3. */
  const pays = (): void => setI64(state, perp, PERP.CUMULATIVE, getI64(state, perp, PERP.CUMULATIVE) + 3_000n * 1_000_000n)
  const funding = async ({ get }: User): Promise<unknown> => {
    const { accruedFunding, unsettledFunding } = (await get(`/positions?tradingPairId=${stage.btc.id}`)).json.positions[0]
    return [accruedFunding, unsettledFunding]
  }
  pays()
  t.same([await funding(long), await funding(short)], [['-3', '-3'], ['3', '3']])
  await buyer.order('BUY', '0.05', '60000')
  await long.post(`/positions/${id}/close`, { quantity: '0.05' })
  t.same(await funding(long), ['-3', '0'], 'a position settles when it changes')
  pays()
  t.same(await funding(long), ['-4.5', '-1.5'])
  // What was paid here by hand is taken back, so that money adds up.
  setI64(state, perp, PERP.CUMULATIVE, getI64(state, perp, PERP.CUMULATIVE) - 3_000n * 1_000_000n)
})

t.test('closing whole and in part, at the market and at a price', async (t) => {
  const { long, id } = await opened()
  const buyer = await stage.user()
  await buyer.order('BUY', '0.04', '59990')
  const part = (await long.post(`/positions/${id}/close`, { quantity: '0.02', closeType: 'IOC', price: '59990' })).json
  t.match(part, { status: 'SUCCESS', submittedQuantity: '0.02', matchResult: { status: 'FILLED', averageFillPrice: '59990' } })
  t.match((await long.get(`/positions/${id}`)).json, { size: '0.08', entryPrice: '60000', realizedPnl: '-0.2' })
  const rests = (await long.post(`/positions/${id}/close`, { quantity: '0.01', closeType: 'LIMIT', price: '61000' })).json
  t.match(rests, { submittedQuantity: '0.01', matchResult: { status: 'SUBMITTED' } })
  await long.post('/orders/batch-cancel-all')
  const all = (await long.post(`/positions/${id}/close`, { quantity: '5' })).json
  t.match(all, { submittedQuantity: '0.08', matchResult: { status: 'CANCELLED', totalFilled: '0.02', remainingQuantity: '0.06' } })
  await buyer.order('BUY', '0.1', '59980')
  t.match((await long.post(`/positions/${id}/close`)).json, { submittedQuantity: '0.06', matchResult: { status: 'FILLED' } })
  t.match((await long.get('/positions')).json, { positions: [], total: 0 })
  t.match((await long.post(`/positions/${id}/close`)).json, { statusCode: 404, code: 'POSITION_NOT_FOUND' })
  t.match((await long.get(`/positions/${id}`)).json, { statusCode: 404, code: 'POSITION_NOT_FOUND' })
})

t.test('what a close must not be', async (t) => {
  const { long, short, id } = await opened()
  const refused = async (body: object, field: string): Promise<unknown> =>
    t.match((await long.post(`/positions/${id}/close`, body)).json, { statusCode: 400, details: { field } }, JSON.stringify(body))
  await refused({ price: '60000' }, 'price')
  await refused({ closeType: 'LIMIT' }, 'price')
  await refused({ closeType: 'IOC', price: '60000.01' }, 'price')
  await refused({ closeType: 'LIMIT', price: '60000', slippageToleranceBps: 5 }, 'slippageToleranceBps')
  await refused({ quantity: '0.00001' }, 'quantity')
  await refused({ quantity: '0' }, 'quantity')
  await refused({ closeType: 'FOK' }, 'closeType')
  t.match((await short.post(`/positions/${id}/close`)).json, { statusCode: 404, code: 'POSITION_NOT_FOUND' }, "somebody else's")
  t.same(
    (await short.get(`/positions/${positionId(5, 900)}`)).json, (await short.get(`/positions/${id}`)).json, 'is as one that never was',
  )
})

t.test('a position is closed in maintenance, when margin cannot be moved', async (t) => {
  const { long, id } = await opened()
  const buyer = await stage.user()
  await buyer.order('BUY', '0.1', '59990')
  const maintenance = (on: number): Promise<unknown> =>
    stage.harness.operate(CommandType.SET_MAINTENANCE, SET_MAINTENANCE_COMMAND, { session: -1, on })
  await maintenance(1)
  t.match((await long.post(`/positions/${id}/margin/add`, { amount: '1' })).json, { statusCode: 503, code: 'OPERATIONS_BLOCKED' })
  t.match((await long.order('BUY', '0.1', '50000')).json, { code: 'OPERATIONS_BLOCKED' })
  t.match((await long.post(`/positions/${id}/close`)).json, { matchResult: { status: 'FILLED' } })
  await maintenance(0)
})

t.test('isolated margin is added and taken', async (t) => {
  const { long, id } = await opened()
  const added = (await long.post(`/positions/${id}/margin/add`, { amount: '400' })).json
  t.same(added, { positionId: id, marginAccountId: long.parent, newIsolatedMargin: '1003', status: 'SUCCESS' })
  t.match((await long.get(`/positions/${id}`)).json, { isolatedMargin: '1003', liquidationPrice: '50505' })
  t.match((await long.post(`/positions/${id}/margin/reduce`, { amount: '100.5' })).json, { newIsolatedMargin: '902.5' })
  t.match((await long.post(`/positions/${id}/margin/reduce`, { amount: '800' })).json, {
    statusCode: 400, code: 'INSUFFICIENT_COLLATERAL', message: 'insufficient free collateral: requested=800, available=299.5',
  })
  t.match((await long.post(`/positions/${id}/margin/add`, { amount: '100000' })).json, { message: /requested=100000, available=/ })
})

t.test('a cross position has no margin of its own', async (t) => {
  const { long, id } = await opened({ marginMode: 'CROSS' })
  const position = (await long.get(`/positions/${id}`)).json
  t.match(position, { marginMode: 'CROSS' })
  t.notOk('isolatedMargin' in position)
  t.match((await long.post(`/positions/${id}/margin/add`, { amount: '1' })).json, { statusCode: 400, details: { field: 'positionId' } })
  const [bucket] = (await long.get('/margin/risk-buckets')).json.riskBuckets
  t.same(bucket.selectedTradingPairIds, [stage.btc.id], 'its scope comes from trading')
})

t.test('the configuration of a perpetual', async (t) => {
  const user = await stage.user('0')
  const config = (await user.get(`/market/pairs/${stage.btc.id}/perp/config`)).json
  t.match(config, {
    tradingPairId: stage.btc.id, symbol: 'BTC/USDC-PERP', minLeverage: '1', maxLeverage: '50', initialMarginRatio: '0.02',
    maintenanceMarginRatio: '0.01', fundingIntervalSeconds: 3600, liquidationFeeBps: '50', maxPositionSize: '500',
    maxPositionNotional: '500', updatedAt: null,
  })
  t.same(config.riskTiers, [
    {
      tierLevel: 1, lowerBoundNotional: '0', initialMarginRatio: '0.02', maintenanceMarginRatio: '0.01', maxLeverage: '50',
      initialMarginDeduction: '0', maintenanceMarginDeduction: '0', maxPositionNotional: '500', maxPositionSize: '500',
    },
    {
      tierLevel: 2, lowerBoundNotional: '250000', initialMarginRatio: '0.04', maintenanceMarginRatio: '0.02', maxLeverage: '25',
      initialMarginDeduction: '5000', maintenanceMarginDeduction: '2500', maxPositionNotional: '500', maxPositionSize: '500',
    },
    {
      tierLevel: 3, lowerBoundNotional: '1000000', initialMarginRatio: '0.1', maintenanceMarginRatio: '0.05', maxLeverage: '10',
      initialMarginDeduction: '65000', maintenanceMarginDeduction: '32500', maxPositionNotional: '500', maxPositionSize: '500',
    },
  ])
  const spot = stage.harness.genesis.pairs.find(({ perp }) => perp === null)!
  t.match((await user.get(`/market/pairs/${spot.id}/perp/config`)).json, { statusCode: 404, details: { field: 'tradingPairId' } })
  t.match((await user.get(`/market/pairs/${stage.btc.id}/perp/funding-rates`)).json, { fundingRates: [], total: 0 })
})

t.test('nothing is taken out of a bucket while its price is stale', async (t) => {
  const quick = await marginStage(undefined, [], (source) => source.replaceAll('"staleSeconds":30', '"staleSeconds":5'))
  t.teardown(() => quick.harness.close())
  const [long, short] = [await quick.user(), await quick.user()]
  await quick.price(quick.btc, 60_000)
  await short.order('SELL', '0.01', '60000')
  await long.order('BUY', '0.01', '60000')
  const { positionId, riskBucketId } = (await long.get('/positions')).json.positions[0]
  await long.post(`/positions/${positionId}/margin/add`, { amount: '10' })
  const bucket = async (): Promise<Record<string, unknown>> => (await long.get(`/margin/risk-buckets/${riskBucketId}`)).json
  let before = await bucket()
  for (let asked = 0; asked < 3000 && before['withdrawableCollateral'] !== '0'; asked++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    before = await bucket()
  }
  t.equal(before['withdrawableCollateral'], '0')
  t.match((await long.post(`/positions/${positionId}/margin/reduce`, { amount: '1' })).json, { statusCode: 400, code: 'PRICE_STALE' })
  await quick.price(quick.btc, 60_000)
  t.equal((await bucket())['withdrawableCollateral'], '10')
  t.match((await long.post(`/positions/${positionId}/margin/reduce`, { amount: '10' })).json, { status: 'SUCCESS' })
})
