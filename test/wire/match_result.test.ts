/**
 * The match result of an order over the wire, case by case: what filled, at which prices, how it ended, and how far from what was asked.
 * A MARKET order is measured against its first fill, a LIMIT order against its limit, absent when every fill improved on it.
 */
import t from 'tap'
import { call, startHarness, type Session } from '../support/gateway_harness.ts'

const BATCH = '/api/v1/orders/batch-create'

interface Case {
  readonly name: string
  /** What rests before: asks and bids of somebody else, as quantity and price. */
  readonly asks?: [string, string][]
  readonly bids?: [string, string][]
  readonly order: object
  readonly result: object
}

const market = (side: string, quantity: string, more: object = {}): object => ({ orderType: 'MARKET', side, quantity, ...more })
const limit = (side: string, quantity: string, price: string, more: object = {}): object =>
  ({ orderType: 'LIMIT', side, quantity, price, ...more })
const result = (tradesCount: number, totalFilled: string, remainingQuantity: string, status: string, more: object = {}): object =>
  ({ tradesCount, totalFilled, remainingQuantity, status, ...more })
const prices = (
  averageFillPrice: string, bestPrice: string, worstPrice: string, totalFilledQuote: string, totalFee: string,
): object => ({ averageFillPrice, executionPriceRange: { bestPrice, worstPrice }, totalFilledQuote, totalFee })

const CASES: Case[] = [
  {
    name: 'a LIMIT order that rests', order: limit('BUY', '0.1', '99'),
    result: result(0, '0', '0.1', 'SUBMITTED'),
  },
  {
    name: 'a MARKET order over two levels', asks: [['0.1', '100'], ['0.1', '101']], order: market('BUY', '0.2'),
    result: result(2, '0.2', '0', 'FILLED', { ...prices('100.5', '100', '101', '20.1', '0.01005'), actualSlippageBps: 50 }),
  },
  {
    name: 'a MARKET order that sells', bids: [['0.1', '100'], ['0.1', '99']], order: market('SELL', '0.2', { slippageToleranceBps: 100 }),
    result: result(
      2, '0.2', '0', 'FILLED', { ...prices('99.5', '100', '99', '19.9', '0.00995'), actualSlippageBps: 50, maxSlippageBps: 100 },
    ),
  },
  {
    name: 'a MARKET order cut short by its tolerance', asks: [['0.1', '100'], ['0.1', '101.01']],
    order: market('BUY', '0.2', { slippageToleranceBps: 100 }),
    result: result(
      1, '0.1', '0.1', 'CANCELLED', { ...prices('100', '100', '100', '10', '0.005'), actualSlippageBps: 0, maxSlippageBps: 100 },
    ),
  },
  {
    name: 'a MARKET order cut short by the protective band', asks: [['0.1', '100'], ['0.1', '110'], ['0.1', '110.01']],
    order: market('BUY', '0.3'),
    result: result(2, '0.2', '0.1', 'CANCELLED', { ...prices('105', '100', '110', '21', '0.0105'), actualSlippageBps: 500 }),
  },
  {
    name: 'a MARKET order without a book', order: market('SELL', '0.1', { slippageToleranceBps: 7 }),
    result: result(0, '0', '0.1', 'CANCELLED', { maxSlippageBps: 7 }),
  },
  {
    name: 'a LIMIT order that crosses partly and rests', asks: [['0.1', '100']], order: limit('BUY', '0.3', '100'),
    result: result(1, '0.1', '0.2', 'PARTIALLY_FILLED', { ...prices('100', '100', '100', '10', '0.005'), actualSlippageBps: 0 }),
  },
  {
    name: 'a LIMIT order whose every fill improved on its limit', asks: [['0.1', '100'], ['0.1', '101']], order: limit('BUY', '0.2', '105'),
    result: result(2, '0.2', '0', 'FILLED', prices('100.5', '100', '101', '20.1', '0.01005')),
  },
  {
    name: 'an IOC order', bids: [['0.1', '100'], ['0.1', '99']], order: limit('SELL', '0.3', '99', { timeInForce: 'IOC' }),
    result: result(2, '0.2', '0.1', 'CANCELLED', { ...prices('99.5', '100', '99', '19.9', '0.00995'), actualSlippageBps: 0 }),
  },
  {
    name: 'a FOK order that cannot fill', asks: [['0.1', '100']], order: limit('BUY', '0.2', '100', { timeInForce: 'FOK' }),
    result: result(0, '0', '0.2', 'CANCELLED'),
  },
  {
    name: 'a FOK order that fills', asks: [['0.1', '100'], ['0.2', '100.03']], order: limit('BUY', '0.3', '100.03', { timeInForce: 'FOK' }),
    result: result(2, '0.3', '0', 'FILLED', { ...prices('100.02', '100', '100.03', '30.006', '0.015003'), actualSlippageBps: 0 }),
  },
]

t.test('match results', async (t) => {
  const harness = await startHarness()
  t.teardown(() => harness.close())
  const tradingPairId = harness.genesis.pairs[0]!.id
  const trader = async (): Promise<Session> => {
    const session = await harness.openSession()
    await call(harness, session, 'POST', '/api/v1/faucet/mint')
    return session
  }
  for (const { name, asks = [], bids = [], order, result } of CASES) {
    const [maker, taker] = [await trader(), await trader()]
    const resting = [...asks.map((each) => limit('SELL', ...each)), ...bids.map((each) => limit('BUY', ...each))]
    const place = (session: Session, orders: object[]) =>
      call(harness, session, 'POST', BATCH, { orders: orders.map((each) => ({ tradingPairId, ...each })) })
    if (resting.length > 0) t.equal((await place(maker, resting)).json.totalFailed, 0)
    const { json } = await place(taker, [order])
    t.same(json.results[0].matchResult, result, name)
    for (const session of [maker, taker]) await call(harness, session, 'POST', '/api/v1/orders/batch-cancel-all')
  }
})
