/**
 * Promise: a position that is larger than one order may be is closed by one request, with the orders that it takes, and
 * the answer says what was submitted: ClosePosition at the market and at a price, a reduce-only order, also repeated for
 * its key, and its preview.
 */
import t from 'tap'
import { marginStage, type User } from '../support/margin_stage.ts'

t.setTimeout(300_000)
/** One order of BTC/USDC-PERP may have 0.05. */
const stage = await marginStage(undefined, [], (source) => {
  const genesis = JSON.parse(source) as { pairs: { symbol: string; maxOrderSize: string }[] }
  genesis.pairs.find(({ symbol }) => symbol === 'BTC/USDC-PERP')!.maxOrderSize = '0.05'
  return JSON.stringify(genesis)
})
t.teardown(() => stage.harness.close())

const times = async (count: number, act: () => Promise<unknown>): Promise<void> => {
  for (let index = 0; index < count; index++) await act()
}

/** A long position of 0.15 at 60,000, and somebody who may buy it. */
async function opened(): Promise<{ long: User; buyer: User; id: string }> {
  const [long, short, buyer] = [await stage.user(), await stage.user(), await stage.user()]
  await stage.price(stage.btc, 60_000)
  await times(3, () => short.order('SELL', '0.05', '60000'))
  await times(3, () => long.order('BUY', '0.05', '60000'))
  const { positions } = (await long.get('/positions')).json
  t.match(positions, [{ size: '0.15' }])
  return { long, buyer, id: positions[0].positionId as string }
}

t.test('at the market, until one order is not filled in full', async (t) => {
  const { long, buyer, id } = await opened()
  t.match((await long.order('SELL', '0.15', '59990')).json, { code: 'ABOVE_MAX_ORDER_SIZE' }, 'an order that may turn it')
  await times(2, () => buyer.order('BUY', '0.05', '59990'))
  await buyer.order('BUY', '0.02', '59980')
  const answer = (await long.post(`/positions/${id}/close`)).json
  t.match(answer, {
    status: 'SUCCESS', submittedQuantity: '0.15',
    matchResult: {
      status: 'CANCELLED', totalFilled: '0.12', remainingQuantity: '0.03', tradesCount: 3, totalFilledQuote: '7198.6',
      executionPriceRange: { bestPrice: '59990', worstPrice: '59980' },
    },
  })
  t.equal(answer.closeOrderIds.length, 3)
  t.equal(answer.closeOrderId, answer.closeOrderIds[0])
  t.equal(new Set(answer.closeOrderIds).size, 3)
  t.match((await long.get('/positions')).json.positions, [{ size: '0.03' }])
  await buyer.order('BUY', '0.03', '59990')
  const rest = (await long.post(`/positions/${id}/close`)).json
  t.match(rest, { submittedQuantity: '0.03', matchResult: { status: 'FILLED', tradesCount: 1 } })
  t.match((await long.get('/positions')).json, { positions: [], total: 0 })
})

t.test('a part that is more than one order, and no more than that', async (t) => {
  const { long, buyer, id } = await opened()
  await times(3, () => buyer.order('BUY', '0.05', '59990'))
  const body = { quantity: '0.07', closeType: 'IOC', price: '59990' }
  t.match((await long.post(`/positions/${id}/close`, body)).json, { submittedQuantity: '0.07', matchResult: { status: 'FILLED' } })
  t.match((await long.get('/positions')).json.positions, [{ size: '0.08' }])
  t.match((await long.post(`/positions/${id}/close`)).json, { submittedQuantity: '0.08', matchResult: { totalFilled: '0.08' } })
})

t.test('at a price, where all of it rests', async (t) => {
  const { long, id } = await opened()
  const body = { closeType: 'LIMIT', price: '61000' }
  const answer = (await long.post(`/positions/${id}/close`, body)).json
  t.match(answer, { submittedQuantity: '0.15', matchResult: { status: 'SUBMITTED', totalFilled: '0', remainingQuantity: '0.15' } })
  const { orders } = (await long.get('/orders?status=SUBMITTED')).json
  t.strictSame(orders.map(({ orderId }: { orderId: string }) => orderId).sort(), [...answer.closeOrderIds].sort())
  t.match(orders, [{ quantity: '0.05' }, { quantity: '0.05' }, { quantity: '0.05' }])
})

t.test('a reduce-only order, its preview, and its key', async (t) => {
  const { long, buyer } = await opened()
  await times(3, () => buyer.order('BUY', '0.05', '59990'))
  const terms = { tradingPairId: stage.btc.id, side: 'SELL', orderType: 'MARKET', quantity: '0.15', reduceOnly: true }
  const preview = (await long.post('/margin/parent/simulate-order-risk', terms)).json
  t.match(preview, { accepted: true, expectedMatchResult: { status: 'FILLED', totalFilled: '0.05' } })
  const keyed = { ...terms, tradingMode: 'MARGIN', idempotencyKey: 'all of it' }
  const placed = await long.post('/orders', keyed)
  t.match(placed.json, { status: 'SUCCESS', submittedQuantity: '0.05', matchResult: { status: 'FILLED', totalFilled: '0.05' } })
  t.strictSame((await long.post('/orders', keyed)).json, placed.json, 'repeated')
  t.notOk('submittedQuantity' in (await long.order('BUY', '0.01', '59000')).json)
  const { results } = (await long.post('/orders/batch-create', { orders: [{ ...terms, tradingMode: 'MARGIN' }] })).json
  t.match(results, [{ submittedQuantity: '0.05', matchResult: { totalFilled: '0.05' } }])
  t.match((await long.get('/positions')).json.positions, [{ size: '0.05' }])
})
