/**
 * Promise: orders that wait for a price mean with ccxt's words what they mean with the service's: legs of an order, closing orders of one
 * position that was named or is the only one, and nothing that ccxt has and the service does not. Against a client in this file; the real
 * exchange is in e2e/ccxt_adapter.deep.ts.
 */
import t from 'tap'
import { ArgumentsRequired, BadSymbol, InvalidOrder, NotSupported, Ringbook } from '../../gateway/client/ccxt/index.ts'
import type { Client } from '../../gateway/client/index.ts'
import { misfits, ORDER } from '../support/ccxt_shapes.ts'

const PAIR = {
  id: 'btc', symbol: 'BTC/USDC-PERP', marketType: 'MARGIN', baseToken: 'BTC', quoteToken: 'USDC', baseAssetId: 'b', quoteAssetId: 'q',
  isActive: true, takerFeeBps: '5', makerFeeBps: '1', lotSize: '0.001', tickSize: '0.5', minOrderSize: '0.001', maxOrderSize: '10',
  minNotional: '1', baseAmountDecimals: 8, quoteAmountDecimals: 6,
}
const SPOT = { ...PAIR, id: 'spot', symbol: 'BTC/USDC', marketType: 'SPOT' }
const TIME = '2026-01-01T00:00:00.000Z'
const LATER = '2026-01-01T00:00:09.000Z'
const SWAP = 'BTC/USDC:USDC'
type Json = Record<string, unknown>

const WAITING = {
  conditionalOrderId: 'c1', id: 'c1', conditionType: 'STOP_LOSS', state: 'ARMED', tradingPairId: 'btc', symbol: 'BTC/USDC-PERP',
  side: 'SELL', positionId: 'p1', triggerPrice: '90.5', orderType: 'LIMIT', limitPrice: '90', timeInForce: 'IOC',
  quantity: '0.02', closePosition: false, createdAt: TIME, updatedAt: LATER,
}
const ATTACHED = { stopLossOrderId: 's', takeProfitOrderId: 't', trailingStopOrderId: 'r', sequence: 7, engineTime: LATER }
const PLACED = { orderId: 'o', engineTime: LATER, matchResult: { totalFilled: '0', remainingQuantity: '1', status: 'SUBMITTED' } }

/** An account with these open positions, LONG or SHORT; what was called is kept. */
function venueOf(...sides: string[]): { venue: Ringbook; called: (name: string) => Json[] } {
  const asked: [string, Json][] = []
  const answers: Readonly<Record<string, object>> = {
    ListTradingPairs: { tradingPairs: [PAIR, SPOT], totalPages: 1 },
    ListPositions: { positions: sides.map((side, at) => ({ positionId: `p${at + 1}`, side, tradingPairId: 'btc' })), nextPageToken: '' },
    AttachTpSl: ATTACHED, CreateOrder: PLACED, GetConditionalOrder: { ...WAITING, state: 'FAILED' },
    CancelConditionalOrder: { status: 'CANCELLED' }, ListConditionalOrders: { conditionalOrders: [WAITING], nextPageToken: '' },
  }
  const entries = Object.entries(answers).map(([name, answer]) => [name, async (input: Json = {}) => {
    asked.push([name, input])
    return answer
  }])
  const client = { signer: {}, ...Object.fromEntries(entries) } as Client
  return { venue: new Ringbook({ client }), called: (name) => asked.filter(([each]) => each === name).map(([, input]) => input) }
}

t.test('legs of an order, in the words of ccxt and of the service', async (t) => {
  const { venue, called } = venueOf()
  await venue.createOrder(SWAP, 'limit', 'buy', 1, 100, {
    stopLoss: { type: 'limit', triggerPrice: 90.4, price: 89.9, amount: 0.5 }, takeProfit: { triggerPrice: '120' },
  })
  await venue.createOrder(SWAP, 'market', 'buy', 1, undefined, {
    stopLoss: { orderType: 'LIMIT', triggerPrice: '90', limitPrice: '89', timeInForce: 'FOK', expiresAt: LATER },
    takeProfit: { type: 'market', triggerPrice: 120, price: 130, slippageToleranceBps: 9, quantity: '0.25' },
    trailingStop: { trailBps: 50 },
  })
  t.match(called('CreateOrder').map(({ stopLoss, takeProfit, trailingStop }) => [stopLoss, takeProfit, trailingStop]), [
    [
      { orderType: 'LIMIT', triggerPrice: '90.5', limitPrice: '90', quantity: '0.5' },
      { orderType: 'MARKET', triggerPrice: '120' }, undefined,
    ], [
      { orderType: 'LIMIT', triggerPrice: '90', limitPrice: '89', timeInForce: 'FOK', expiresAt: LATER },
      { orderType: 'MARKET', triggerPrice: '120', limitPrice: undefined, slippageToleranceBps: 9, quantity: '0.25' }, { trailBps: 50 },
    ],
  ])
  const strange = { stopLoss: { triggerPrice: 90, triggerBy: 'last' } }
  await t.rejects(venue.createOrder(SWAP, 'market', 'buy', 1, undefined, strange), NotSupported)
  t.equal(called('CreateOrder').length, 2)
})

t.test('orders that close the open position', async (t) => {
  const { venue, called } = venueOf('LONG')
  const stop = await venue.createOrder(SWAP, 'limit', 'sell', 0.0209, 89.9, { stopLossPrice: 90.4, timeInForce: 'IOC', reduceOnly: true })
  const profit = await venue.createOrder(SWAP, 'market', 'sell', 0.02, 130, { takeProfitPrice: 120, slippageToleranceBps: 5 })
  const trail = await venue.createOrder(SWAP, 'market', 'sell', 0.02, undefined, { trailingPercent: 1.1, trailingTriggerPrice: 110 })
  t.strictSame(called('AttachTpSl'), [
    { positionId: 'p1', stopLoss: { triggerPrice: '90.5', orderType: 'LIMIT', timeInForce: 'IOC', limitPrice: '90', quantity: '0.02' } },
    { positionId: 'p1', takeProfit: { triggerPrice: '120', orderType: 'MARKET', slippageToleranceBps: 5, quantity: '0.02' } },
    { positionId: 'p1', trailingStop: { trailBps: 110, activationPrice: '110', quantity: '0.02' } },
  ])
  const terms = { symbol: SWAP, side: 'sell', status: 'open', reduceOnly: true, amount: 0.02, remaining: 0.02, filled: 0, datetime: LATER }
  t.match(stop, { ...terms, id: 's', type: 'limit', price: 90, triggerPrice: 90.5, stopLossPrice: 90.5, timeInForce: 'IOC' })
  t.match(profit, { ...terms, id: 't', type: 'market', price: undefined, takeProfitPrice: 120, stopLossPrice: undefined })
  t.match(trail, { ...terms, id: 'r', type: 'market', triggerPrice: undefined, info: ATTACHED })
  for (const order of [stop, profit, trail]) t.strictSame(misfits(order, ORDER), [])
  t.same(called('CreateOrder'), [])
})

t.test('a closing order that is none is not attached', async (t) => {
  const { venue, called } = venueOf('LONG')
  const attach = (params: Json, side = 'sell', type = 'market'): Promise<unknown> =>
    venue.createOrder(SWAP, type, side, 0.02, type === 'limit' ? 100 : undefined, params)
  await t.rejects(attach({ stopLossPrice: 90 }, 'buy'), InvalidOrder, 'it would open')
  await t.rejects(attach({ stopLossPrice: 90, takeProfitPrice: 120 }), InvalidOrder)
  await t.rejects(attach({ stopLossPrice: 90, reduceOnly: false }), InvalidOrder)
  await t.rejects(attach({ stopLossPrice: 90, trailingTriggerPrice: 120 }), InvalidOrder)
  await t.rejects(attach({ trailingPercent: 1 }, 'sell', 'limit'), InvalidOrder)
  await t.rejects(attach({ trailingPercent: 0.105 }), InvalidOrder, 'half a basis point')
  await t.rejects(attach({ trailingPercent: 'x' }), InvalidOrder)
  for (const name of ['triggerPrice', 'leverage', 'clientOrderId', 'stopLoss', 'toString']) {
    await t.rejects(attach({ stopLossPrice: 90, [name]: 9 }), NotSupported, name)
  }
  await t.rejects(venue.createOrder('BTC/USDC', 'market', 'sell', 1, undefined, { stopLossPrice: 90 }), BadSymbol)
  await t.rejects(venueOf().venue.createOrder(SWAP, 'market', 'sell', 1, undefined, { stopLossPrice: 90 }), InvalidOrder, 'none is open')
  t.same(called('AttachTpSl'), [])
  const two = venueOf('LONG', 'SHORT')
  await t.rejects(two.venue.createOrder(SWAP, 'market', 'sell', 1, undefined, { stopLossPrice: 90 }), ArgumentsRequired)
  await two.venue.createOrder(SWAP, 'market', 'buy', 1, undefined, { stopLossPrice: 120, positionId: 'p2' })
  t.match(two.called('AttachTpSl'), [{ positionId: 'p2', stopLoss: { triggerPrice: '120' } }])
})

t.test('what waits is listed, looked up and cancelled with params.trigger', async (t) => {
  const { venue, called } = venueOf()
  const [order] = await venue.fetchOpenOrders(SWAP, undefined, 5, { trigger: true })
  t.strictSame(misfits(order, ORDER), [])
  t.match(order, {
    id: 'c1', symbol: SWAP, status: 'open', side: 'sell', type: 'limit', price: 90, triggerPrice: 90.5, stopPrice: 90.5,
    stopLossPrice: 90.5, amount: 0.02, remaining: 0.02, reduceOnly: true, timeInForce: 'IOC', datetime: TIME,
    lastUpdateTimestamp: Date.parse(LATER), info: WAITING,
  })
  await venue.fetchOpenOrders(undefined, undefined, undefined, { trigger: true })
  t.strictSame(called('ListConditionalOrders'), [
    { pageToken: '', pageSize: 5, tradingPairId: 'btc', state: ['PENDING', 'ARMED'] },
    { pageToken: '', pageSize: 1000, state: ['PENDING', 'ARMED'] },
  ])
  t.match(await venue.fetchOrder('c1', SWAP, { trigger: true }), { id: 'c1', status: 'rejected', remaining: 0 })
  t.match(await venue.cancelOrder('c1', SWAP, { trigger: true }), { id: 'c1', symbol: SWAP, status: 'canceled' })
  t.strictSame(called('CancelConditionalOrder'), [{ conditionalOrderId: 'c1' }])
})
