/**
 * Promise: a program that knows ccxt trades on a real exchange through the adapter: every verb gives the structure that ccxt documents,
 * with the numbers of what happened, and every refusal is the error that ccxt has for it.
 */
import t from 'tap'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import * as ccxt from '../../gateway/client/ccxt/index.ts'
import { BALANCE, BOOK, MARKET, misfits, ORDER, POSITION, TICKER, TRADE, type Shape } from '../support/ccxt_shapes.ts'
import { historyReached, operate, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'

t.setTimeout(600_000)
const directory = temporaryDirectory()
const exchange = await startExchange(directory)
const venues: ccxt.Ringbook[] = []
t.teardown(async () => {
  for (const venue of venues) await venue.close()
  await exchange.kill()
  removeDirectory(directory)
})

/** Somebody with money, who has not signed in by hand. */
async function trader(): Promise<ccxt.Ringbook> {
  const { address, signMessage } = privateKeyToAccount(generatePrivateKey())
  const wallet = { address, signMessage: (message: string) => signMessage({ message }) }
  const venue = new ccxt.Ringbook({ baseUrl: exchange.baseUrl, wallet })
  venues.push(venue)
  await venue.fetchBalance()
  await venue.client.Mint()
  return venue
}

const [maker, taker] = [await trader(), await trader()]
const markets = await maker.fetchMarkets()
await Promise.all([maker.loadMarkets(), taker.loadMarkets()])
const market = markets[0]!
const { symbol } = market
interface Asserts {
  strictSame(found: unknown, wanted: unknown, what: string): unknown
}
const fits = (t: Asserts, value: unknown, shape: Shape, what: string): void => void t.strictSame(misfits(value, shape), [], what)

t.test('markets', async (t) => {
  for (const each of markets) fits(t, each, MARKET, each.symbol)
  t.equal(symbol, `${market.base}/${market.quote}`)
  const { tradingPair } = await maker.client.GetTradingPair({ tradingPairId: market.id })
  t.same([market.precision.price, market.precision.amount], [Number(tradingPair.tickSize), Number(tradingPair.lotSize)])
  const eth = (await maker.client.ListBalances()).balances.find((balance) => balance.symbol === 'ETH')!
  t.same(maker.currencies['ETH'], { id: eth.assetId, code: 'ETH', precision: Number(`1e-${eth.amountDecimals}`) })
  t.equal(maker.currencyToPrecision('ETH', '1.0123456789'), '1.012345678')
  t.throws(() => maker.currencyToPrecision('NONE', 1), ccxt.BadSymbol)
  t.same(market.limits.cost.min, Number(tradingPair.minNotional))
  t.equal(maker.market(market.id), maker.market(symbol), 'by id too')
  t.throws(() => maker.market('NO/PE'), ccxt.BadSymbol)
  t.ok(maker.symbols.includes(symbol))
  t.ok(Math.abs((await maker.fetchTime()) - Date.now()) < 60_000)
  t.equal((await maker.fetchStatus()).status, 'ok')
})

const watching = {
  book: taker.watchOrderBook(symbol), trades: taker.watchTrades(symbol), orders: taker.watchOrders(symbol), balance: taker.watchBalance(),
}
const price = 100 * market.precision.price * Math.ceil(1 / market.precision.price)
const amount = Math.max(1, market.limits.amount.min!)
const firstBalance = await watching.balance
const firstBook = await watching.book

t.test('two readers of one watch see 500 orders end', async (t) => {
  const venue = await trader()
  await venue.loadMarkets()
  const read = async (reader: string | undefined): Promise<number> => {
    const seen = new Set<string>()
    while (seen.size < 500) {
      const orders = await venue.watchOrders(symbol, undefined, undefined, { reader }).catch(async (error: unknown) => {
        // Readers without a name that were kept from reading for longer than they wait for each other look.
        if (reader !== undefined || !(error instanceof ccxt.UpdatesLost)) throw error
        await historyReached(exchange)
        return venue.fetchOrders(symbol, undefined, 1000)
      })
      for (const { id, status } of orders) if (status === 'canceled') seen.add(id)
      await venue.fetchTime()
    }
    return seen.size
  }
  const readers = [read('first'), read('second'), read(undefined), read(undefined)]
  // Its subscription is asked for after theirs, on the same socket: an order placed before would only be in the snapshot.
  await venue.watchBalance()
  for (let round = 0; round < 50; round++) {
    const term = { tradingPairId: market.id, orderType: 'LIMIT', side: 'BUY', price: '1', quantity: '20' } as const
    const { results } = await venue.client.BatchCreateOrders({ orders: Array.from({ length: 10 }, () => term) })
    t.equal(results.length, 10)
    await venue.cancelAllOrders(symbol)
  }
  t.same(await Promise.all(readers), [500, 500, 500, 500])
})

t.test('orders, trades and what is watched', async (t) => {
  const sold = await maker.createOrder(symbol, 'limit', 'sell', amount, price, { clientOrderId: 'quote-1', timeInForce: 'PO' })
  fits(t, sold, ORDER, 'placed')
  t.match(sold, { status: 'open', clientOrderId: 'quote-1', side: 'sell', type: 'limit', timeInForce: 'PO', amount, price, filled: 0 })
  const opened = await maker.fetchOpenOrders(symbol)
  for (const order of opened) fits(t, order, ORDER, 'open')
  t.same(opened.map(({ id }) => id), [sold.id])
  const bought = await taker.createOrder(symbol, 'market', 'buy', amount)
  fits(t, bought, ORDER, 'met')
  t.match(bought, { status: 'closed', filled: amount, remaining: 0, average: price, cost: amount * price, price: undefined })
  for (const fill of bought.trades) fits(t, fill, TRADE, 'on arrival')
  t.match(bought.trades, [{ order: bought.id, side: 'buy', takerOrMaker: 'taker', price, amount, fee: bought.fee }])
  t.same([sold.trades, sold.fee], [[], undefined])
  const orders = [...(await watching.orders)]
  for (let look = 0; look < 100 && orders.at(-1)?.status !== 'closed'; look++) orders.push(...(await taker.watchOrders(symbol)))
  for (const order of orders) fits(t, order, ORDER, 'watched')
  t.match(orders.at(-1), { id: bought.id, status: 'closed', filled: amount })
  const [trade] = await watching.trades
  fits(t, trade, TRADE, 'watched')
  t.match(trade, { symbol, side: 'buy', price, amount, cost: price * amount })
  let balance = await taker.watchBalance()
  const before = firstBalance[market.base]!.total
  for (let look = 0; look < 100 && balance[market.base]!.total <= before; look++) balance = await taker.watchBalance()
  fits(t, balance[market.base], BALANCE, 'balance')
  t.ok(balance.total[market.base]! > firstBalance.total[market.base]!, 'what was bought')
  const book = await taker.watchOrderBook(symbol)
  fits(t, book, BOOK, 'watched')
  t.ok(book.nonce > firstBook.nonce)
})

t.test('what the history tells', async (t) => {
  await historyReached(exchange)
  const ticker = await taker.fetchTicker(symbol)
  fits(t, ticker, TICKER, 'ticker')
  t.match(ticker, { symbol, last: price, close: price, high: price, low: price, baseVolume: amount, quoteVolume: price * amount })
  const tickers = await taker.fetchTickers([symbol])
  t.strictSame(Object.keys(tickers), [symbol])
  fits(t, tickers[symbol], TICKER, 'of all')
  t.ok(Object.keys(await taker.fetchTickers()).length >= 1)
  const [candle] = await taker.fetchOHLCV(symbol, '1h', undefined, 1)
  t.same(candle!.slice(1), [price, price, price, price, amount])
  const [trade] = await taker.fetchTrades(symbol, undefined, 5)
  fits(t, trade, TRADE, 'public')
  t.match(trade, { side: 'buy', price, amount })
  const since = trade!.timestamp!
  t.same((await taker.fetchTrades(symbol, since, 1)).map(({ id }) => id), [trade!.id], 'from its own time on')
  t.same(await taker.fetchTrades(symbol, since + 1), [], 'and not before')
  const many = await Promise.all([1, 2, 3].map(() => maker.createOrder(symbol, 'limit', 'buy', amount, price / 2)))
  const [oldest] = await maker.fetchOpenOrders(symbol, since, 1)
  t.same((await maker.fetchOpenOrders(symbol, since)).map(({ id }) => id).sort(), many.map(({ id }) => id).sort())
  t.equal(oldest!.id, (await maker.fetchOpenOrders(symbol))[0]!.id, 'the first of them, not the newest')
  await maker.cancelAllOrders(symbol)
  const [own] = await maker.fetchMyTrades(symbol)
  fits(t, own, TRADE, 'own')
  t.match(own, { side: 'sell', takerOrMaker: 'maker', price, amount, fee: { currency: market.quote } })
  const [closed] = await maker.fetchClosedOrders(symbol)
  fits(t, closed, ORDER, 'closed')
  t.match(closed, { status: 'closed', clientOrderId: 'quote-1', filled: amount })
  t.same(await maker.fetchOpenOrders(), [])
  const all = await taker.fetchBalance()
  for (const currency of Object.keys(all.total)) fits(t, all[currency], BALANCE, currency)
})

t.test('changing and cancelling', async (t) => {
  const low = price / 2
  const order = await maker.createOrder(symbol, 'limit', 'buy', amount, low)
  const edited = await maker.editOrder(order.id, symbol, 'limit', 'buy', amount * 2, low)
  fits(t, edited, ORDER, 'edited')
  t.match(edited, { status: 'open', amount: amount * 2, price: low })
  const book = await maker.fetchOrderBook(symbol, 5)
  fits(t, book, BOOK, 'book')
  t.same(book.bids, [[low, amount * 2]])
  t.match(await maker.cancelOrder(edited.id, symbol), { id: edited.id, status: 'canceled' })
  t.equal((await maker.fetchOrder(edited.id)).status, 'canceled')
  const clientOrderId = 'by name: 1'
  const known = await maker.createOrder(symbol, 'limit', 'buy', amount, low, { clientOrderId })
  t.equal((await maker.fetchOrder('', symbol, { clientOrderId })).id, known.id)
  const moved = await maker.editOrder('', symbol, 'limit', 'buy', undefined, low * 0.9, { clientOrderId })
  t.match(moved, { clientOrderId, status: 'open', price: low * 0.9 })
  t.match(await maker.cancelOrder('', symbol, { clientOrderId }), { id: moved.id, status: 'canceled' })
  await maker.createOrder(symbol, 'limit', 'buy', String(amount), String(low))
  t.equal((await maker.cancelAllOrders(symbol)).length, 1)
  t.same(await maker.cancelAllOrders(), [])
})

t.test('positions of a perpetual', async (t) => {
  const swap = 'BTC/USDC:USDC'
  t.equal((await operate(exchange, '/perps/price', { pair: 'BTC/USDC-PERP', price: '65000' })).status, 200)
  for (const venue of [maker, taker]) {
    const { accounts } = await venue.client.ListMarginAccounts()
    await venue.client.DepositCollateral({ marginAccountId: accounts[0]!.marginAccountId, amount: '1000' })
  }
  const terms = { leverage: 5, marginMode: 'isolated' }
  await maker.createOrder(swap, 'limit', 'sell', 0.02, 65000, terms)
  t.match(await taker.createOrder(swap, 'limit', 'buy', 0.02, 65000, terms), { status: 'closed', symbol: swap, filled: 0.02 })
  const [long] = await taker.fetchPositions()
  fits(t, long, POSITION, 'position')
  t.match(long, {
    symbol: swap, side: 'long', contracts: 0.02, entryPrice: 65000, markPrice: 65000, notional: 1300, leverage: 5, marginMode: 'isolated',
    initialMargin: 260, initialMarginPercentage: 0.2, maintenanceMargin: 13, unrealizedPnl: 0, percentage: 0,
  })
  t.match(await maker.fetchPosition(swap), { side: 'short', collateral: Number, marginRatio: Number, contracts: 0.02 })
  t.same(await taker.fetchPositions([symbol]), [], 'none of a spot market')
  await t.rejects(taker.fetchPosition(symbol), ccxt.BadSymbol)
  await taker.createOrder(swap, 'limit', 'buy', 0.001, 10_000, { ...terms, strategyKey: 'other' })
  t.equal((await taker.fetchPosition(swap))?.id, long!.id, 'an order that rests is no position')
  await t.rejects(taker.createOrder(swap, 'limit', 'sell', 1, 66000, terms), ccxt.InsufficientFunds)
  await maker.createOrder(swap, 'limit', 'buy', 0.02, 64000, terms)
  await t.rejects(taker.closePosition(swap, 'short'), ccxt.BadSymbol)
  await t.rejects(taker.closePosition(swap, 'long', { stopLossPrice: 1 }), ccxt.NotSupported)
  const stop = await taker.createOrder(swap, 'limit', 'sell', 0.02, 59_900, { stopLossPrice: 60_000 })
  fits(t, stop, ORDER, 'that waits')
  const trail = await taker.createOrder(swap, 'market', 'sell', 0.01, undefined, { trailingPercent: 1.5 })
  const waiting = await taker.fetchOpenOrders(swap, undefined, undefined, { trigger: true })
  for (const each of waiting) fits(t, each, ORDER, 'of those that wait')
  t.match(waiting, [
    { id: stop.id, status: 'open', type: 'limit', side: 'sell', price: 59_900, triggerPrice: 60_000, amount: 0.02, reduceOnly: true },
    { id: trail.id, status: 'open', type: 'market', triggerPrice: 65000 * 0.985, amount: 0.01 },
  ])
  t.match(await taker.cancelOrder(trail.id, swap, { trigger: true }), { id: trail.id, status: 'canceled' })
  await t.rejects(taker.cancelOrder(trail.id, swap, { trigger: true }), ccxt.OrderNotFound)
  await t.rejects(taker.createOrder(swap, 'market', 'sell', 0.02, undefined, { stopLossPrice: 70_000 }), ccxt.InvalidOrder)
  const part = await taker.closePosition(swap, 'long', { quantity: 0.005, closeType: 'ioc', price: 64000 })
  fits(t, part, ORDER, 'closing')
  t.match(part, { symbol: swap, side: 'sell', type: 'limit', reduceOnly: true, amount: 0.005, average: 64000, status: 'closed' })
  t.match(await taker.closePosition(swap), { type: 'market', amount: 0.015, filled: 0.015 })
  t.same(await taker.fetchPositions(), [])
  t.equal(await taker.fetchPosition(swap), undefined)
  t.same(await taker.fetchOpenOrders(undefined, undefined, undefined, { trigger: true }), [], 'what waits ends with its position')
  const legs = { stopLoss: { triggerPrice: 9000 }, takeProfit: { type: 'limit', triggerPrice: 70_000, price: 70_000 } }
  t.match(await taker.createOrder(swap, 'limit', 'buy', 0.001, 10_001, { ...terms, ...legs }), { info: { ocoGroupId: String } })
  t.match((await taker.fetchOpenOrders(swap, undefined, undefined, { trigger: true })).map(({ type }) => type).sort(), ['limit', 'market'])
  const rate = await taker.fetchFundingRate(swap)
  t.match(rate, { symbol: swap, indexPrice: 65000, markPrice: Number, fundingRate: Number, previousFundingRate: undefined, interval: '1h' })
  t.equal(rate.fundingTimestamp! % 3_600_000, 0, 'the shipped markets pay on the hour')
  await historyReached(exchange)
  t.same([await taker.fetchFundingRateHistory(swap), await taker.fetchFundingHistory(swap)], [[], []], 'nothing was paid so far')
  await t.rejects(taker.fetchFundingRate(symbol), ccxt.BadSymbol)
  for (const venue of [maker, taker]) await venue.cancelAllOrders()
})

t.test('refusals are what ccxt calls them', async (t) => {
  const nowhere = '00000000-0000-4000-8000-000000000000'
  const cases: [what: string, act: () => Promise<unknown>, Class: new () => Error][] = [
    ['no such symbol', () => maker.createOrder('NO/PE', 'limit', 'buy', 1, 1), ccxt.BadSymbol as never],
    ['no such order', () => maker.cancelOrder(nowhere), ccxt.OrderNotFound as never],
    ['too much', () => maker.createOrder(symbol, 'limit', 'buy', market.limits.amount.max!, price), ccxt.InsufficientFunds as never],
    ['too little', () => maker.createOrder(symbol, 'limit', 'buy', market.precision.amount, price), ccxt.InvalidOrder as never],
    ['no side', () => maker.createOrder(symbol, 'limit', 'long', amount, price), ccxt.InvalidOrder as never],
    ['no type', () => maker.createOrder(symbol, 'stop', 'buy', amount, price), ccxt.InvalidOrder as never],
    ['no time frame', () => maker.fetchOHLCV(symbol, '7m'), ccxt.BadRequest as never],
  ]
  for (const [what, act, Class] of cases) await t.rejects(act(), Class, what)
  await t.rejects(new ccxt.Ringbook({ baseUrl: 'http://127.0.0.1:1' }).fetchMarkets(), ccxt.NetworkError)
  await operate(exchange, '/maintenance', { on: true })
  await t.rejects(maker.createOrder(symbol, 'limit', 'buy', amount, price), ccxt.OnMaintenance, 'maintenance')
})
