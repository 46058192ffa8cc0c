/**
 * Promise: what is no amount or price is ccxt's InvalidOrder before an order is sent; a limit beyond the most is cut; a pair that was
 * listed while a program runs does not break its private reads.
 */
import t from 'tap'
import type { Client } from '../../gateway/client/index.ts'
import { InvalidOrder, Ringbook } from '../../gateway/client/ccxt/index.ts'
import { pair } from '../../gateway/operations/example_values.ts'

const AT = '2026-01-01T00:00:00.000Z'
const NEW = '22222222-2222-4222-8222-222222222222'
const TRADE = { id: 't', orderId: 'o', price: '1', quantity: '1', quoteQuantity: '1', side: 'BUY', role: 'taker', fee: '0', executedAt: AT }

function venueOf(): { venue: Ringbook; asked: [string, Record<string, unknown>][]; list(): void } {
  const asked: [string, Record<string, unknown>][] = []
  let pairs = [pair]
  const answers: Record<string, () => object> = {
    ListTradingPairs: () => ({ tradingPairs: pairs, totalPages: 1 }),
    ListAccountTrades: () => ({ trades: [NEW, pair.id].map((tradingPairId) => ({ ...TRADE, tradingPairId })), nextPageToken: '' }),
    ListPositions: () => ({ positions: [], nextPageToken: '' }),
    ListMovements: () => ({
      movements: [{ id: 'm', referenceId: 'p', amount: '1', entryType: 'DEBIT', symbol: 'USDC', token: 'USDC', createdAt: AT }],
      nextPageToken: '',
    }),
    GetPosition: () => ({ tradingPairId: NEW }),
    GetCandles: () => ({ candles: [] }),
    GetOrderbook: () => ({ bids: [], asks: [], timestamp: AT, sequence: 1 }),
  }
  const client = new Proxy({ signer: {} } as Record<string, unknown>, {
    get: (own, name: string) => name in own ? own[name] : async (input: Record<string, unknown>) => {
      asked.push([name, input])
      const answer = answers[name]
      if (answer === undefined) throw new Error(`${name} was sent`)
      return answer()
    },
  })
  return {
    venue: new Ringbook({ client: client as unknown as Client }), asked,
    list: () => (pairs = [pair, { ...pair, id: NEW, symbol: 'NEW/USDC', baseToken: 'NEW' }]),
  }
}

t.test('what is no decimal is an InvalidOrder', async (t) => {
  const { venue, asked } = venueOf()
  await venue.loadMarkets()
  const [symbol] = venue.symbols as [string]
  for (const odd of [NaN, undefined, null, '1,5', Infinity, '', 'x', {}, '1_0', true] as never[]) {
    const words = String(odd)
    await t.rejects(venue.createOrder(symbol, 'limit', 'buy', odd, 1), InvalidOrder, `amount ${words}`)
    await t.rejects(venue.createOrder(symbol, 'limit', 'buy', 1, odd), InvalidOrder, `price ${words}`)
    await t.rejects(venue.createOrder(symbol, odd, 'buy', 1, 1), InvalidOrder, `type ${words}`)
    await t.rejects(venue.createOrder(symbol, 'limit', odd, 1, 1), InvalidOrder, `side ${words}`)
    t.throws(() => venue.amountToPrecision(symbol, odd), InvalidOrder)
    t.throws(() => venue.priceToPrecision(symbol, odd), InvalidOrder)
    if (odd !== undefined) await t.rejects(venue.editOrder('o', symbol, 'limit', 'buy', odd, 1), InvalidOrder, `new amount ${words}`)
    const stopLoss = { triggerPrice: odd }
    if (odd !== undefined) await t.rejects(venue.createOrder(symbol, 'limit', 'buy', 1, 1, { stopLoss }), InvalidOrder, `leg ${words}`)
  }
  t.same(asked.map(([name]) => name), ['ListTradingPairs'], 'nothing was sent')
})

t.test('a limit beyond the most is cut', async (t) => {
  const { venue, asked } = venueOf()
  await venue.loadMarkets()
  const [symbol] = venue.symbols as [string]
  await venue.fetchOHLCV(symbol, '1m', undefined, 5000)
  await venue.fetchOrderBook(symbol, 5000)
  await venue.fetchOrderBook(symbol, 5)
  t.match(asked.slice(1), [['GetCandles', { limit: 500 }], ['GetOrderbook', { depth: 1000 }], ['GetOrderbook', { depth: 5 }]])
})

t.test('a pair that was listed later is known by private reads', async (t) => {
  for (const read of ['fetchMyTrades', 'fetchFundingHistory'] as const) {
    const { venue, asked, list } = venueOf()
    await venue.loadMarkets()
    list()
    t.equal((await venue[read]()).at(-1)!.symbol, 'NEW/USDC', read)
    await venue[read]()
    t.equal(asked.filter(([name]) => name === 'ListTradingPairs').length, 2, 'markets were loaded again once')
    const unlisted = venueOf()
    t.equal((await unlisted.venue[read]()).at(-1)!.symbol, NEW, 'one that no market has keeps its id')
  }
})
