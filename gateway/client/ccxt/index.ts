/**
 * The verbs of ccxt for the markets of an exchange, perpetuals (`BTC/USDC:USDC`) among them, so that programs written for ccxt need little
 * more than another object. Nothing of ccxt itself is needed.
 *
 *   const exchange = new Ringbook({ baseUrl, wallet })
 *   const order = await exchange.createOrder('ETH/USDC', 'limit', 'buy', 0.5, 2500)
 *   const book = await exchange.watchOrderBook('ETH/USDC')
 *
 * Arguments and structures are those that ccxt documents (shapes.ts), errors have its class names (errors.ts). Numbers are floats as in
 * ccxt, decimal text is taken too; what is sent is text in whole steps: amounts are cut to the lot size, prices rounded to the tick size.
 * `params` are fields of the operation: `clientOrderId`, `idempotencyKey`, `selfTradePreventionMode`...; others are NotSupported
 * (params.ts). Orders that wait for a price are in triggers.ts. Where an order is looked up, `params.clientOrderId` names it in place of
 * the id, which may be empty then.
 *
 * Private verbs sign in by themselves, and again when the session is over (session.ts). `watch` verbs are in
 * watch_verbs.ts; {@link Ringbook.close} ends what they subscribed to. A creation is never sent twice by itself;
 * what may have been applied is a RequestTimeout.
 */
import { createClient, type Client, type ClientOptions, type Input, type Output } from '../index.ts'
import { BadSymbol, InvalidOrder, unified } from './errors.ts'
import { rowsOf } from './listing.ts'
import { MONEY_VERBS } from './money.ts'
import { checkParams, marginOf } from './params.ts'
import { PERPETUAL_VERBS } from './perpetuals.ts'
import { inSteps } from './precision.ts'
import { AdapterSession } from './session.ts'
import {
  arrivalTrades, balancesOf, bookOf, candleOf, currenciesOf, marketOf, metadataTicker, orderOf, ownTradeOf, placedOf,
  screenerTicker, tradeOf, type Balances, type Canceled, type Currency, type Market, type OHLCV, type OrderBook, type Status, type Ticker,
  type Trade, type UnifiedOrder,
} from './shapes.ts'
import { waitsForPrice } from './triggers.ts'
import { WATCH_VERBS, WatchVerbs } from './watch_verbs.ts'
import { Watching } from './watching.ts'

export * from './errors.ts'
export type { DepositAddress, Transaction } from './money.ts'
export type { FundingPayment, FundingRate, FundingRateEntry, Position } from './perpetuals.ts'
export type {
  Balance, Balances, Canceled, Currency, Fee, Market, MinMax, OHLCV, OrderBook, OrderStatus, Ticker, Trade, UnifiedOrder,
} from './shapes.ts'

/** A number as ccxt has it, or decimal text, which is exact. */
export type Num = number | string
export type Params = Readonly<Record<string, unknown>>
type Interval = NonNullable<Input<'GetCandles'>['interval']>
type BalanceRow = Output<'ListBalances'>['balances'][number]

const PAGE = 100
/** Most levels of a side of a book, and most candles of an answer: a larger limit is cut. */
const DEPTH_MAX = 1000
const CANDLES_MAX = 500
const OPEN: Status[] = ['SUBMITTED', 'PARTIALLY_FILLED']
const CLOSED: Status[] = ['FILLED', 'SETTLED', 'SETTLED_ON_CHAIN']
const INTERVALS: readonly Interval[] = ['1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w']
const VERBS = [
  'loadMarkets', 'fetchMarkets', 'fetchTicker', 'fetchTickers', 'fetchOrderBook', 'fetchTrades', 'fetchOHLCV', 'fetchBalance',
  'createOrder', 'cancelOrder', 'cancelAllOrders', 'editOrder', 'fetchOrder', 'fetchOrders', 'fetchOpenOrders', 'fetchClosedOrders',
  'fetchMyTrades', 'fetchTime', 'fetchStatus', ...WATCH_VERBS,
  ...PERPETUAL_VERBS, ...MONEY_VERBS,
] as const

export class Ringbook extends WatchVerbs {
  readonly id = 'ringbook'
  readonly name = 'Ringbook'
  /** ccxt's TICK_SIZE: `precision` is a step. */
  readonly precisionMode = 4
  readonly has: Readonly<Record<string, boolean>> = Object.fromEntries(VERBS.map((verb) => [verb, true]))
  readonly timeframes: Readonly<Record<string, string>> = Object.fromEntries(INTERVALS.map((interval) => [interval, interval]))
  /** The client underneath, for everything that ccxt has no verb for. */
  readonly client: Client
  /** By symbol, once they were loaded. */
  markets: Record<string, Market> = {}
  /** By code, of the markets that were loaded. */
  currencies: Record<string, Currency> = {}
  #byId = new Map<string, Market>()
  #loading: Promise<Record<string, Market>> | null = null
  readonly #session: AdapterSession
  protected readonly watching: Watching

  constructor(options: ClientOptions | { readonly client: Client }) {
    super()
    this.client = 'client' in options ? options.client : createClient(options)
    this.#session = new AdapterSession(this.client, !('client' in options))
    this.watching = new Watching(this.#session)
  }

  get symbols(): string[] {
    return Object.keys(this.markets).sort()
  }

  /** The market of a symbol or pair id; markets must have been loaded. */
  market(symbol: string): Market {
    const found = Object.hasOwn(this.markets, symbol) ? this.markets[symbol] : this.#byId.get(symbol)
    if (found === undefined) throw new BadSymbol(this.#byId.size === 0 ? 'loadMarkets() first' : `no market has the symbol ${symbol}`)
    return found
  }

  /** Cut to the lot size, as it is sent. */
  amountToPrecision(symbol: string, amount: Num): string {
    return inSteps(amount, this.market(symbol).info.lotSize, 'cut')
  }

  /** Rounded to the tick size, as it is sent. */
  priceToPrecision(symbol: string, price: Num): string {
    return inSteps(price, this.market(symbol).info.tickSize, 'round')
  }

  /** Cut to the digits that amounts of a currency have, as in transfers. */
  currencyToPrecision(code: string, amount: Num): string {
    const currency = Object.hasOwn(this.currencies, code) ? this.currencies[code] : undefined
    if (currency === undefined) {
      throw new BadSymbol(this.#byId.size === 0 ? 'loadMarkets() first' : `no market has the currency ${code}`)
    }
    return inSteps(amount, String(currency.precision), 'cut')
  }

  /** Markets by symbol; they are kept, unless `reload`. */
  async loadMarkets(reload = false): Promise<Record<string, Market>> {
    if (this.#byId.size > 0 && !reload) return this.markets
    this.#loading ??= this.fetchMarkets().then((markets) => {
      this.markets = Object.fromEntries(markets.map((market) => [market.symbol, market]))
      this.#byId = new Map(markets.map((market) => [market.id, market]))
      this.currencies = Object.fromEntries(markets.flatMap(currenciesOf).map((currency) => [currency.code, currency]))
      return this.markets
    }).finally(() => (this.#loading = null))
    return this.#loading
  }

  fetchMarkets(): Promise<Market[]> {
    return this.#run(async () => {
      const markets: Market[] = []
      for (let page = 1, pages = 1; page <= pages; page++) {
        const { tradingPairs, totalPages } = await this.client.ListTradingPairs({ page, pageSize: PAGE })
        markets.push(...tradingPairs.map(marketOf))
        pages = totalPages ?? 1
      }
      return markets
    })
  }

  fetchTime(): Promise<number> {
    return this.#run(async () => (await this.client.GetServerTime()).unixMs)
  }

  fetchStatus(): Promise<{ status: 'ok' | 'maintenance' | 'error'; updated: number; eta: undefined; url: undefined; info: unknown }> {
    return this.#run(async () => {
      const info = await this.client.Check()
      const status = info.status === 'ok' || info.status === 'maintenance' ? info.status : 'error'
      return { status, updated: Date.parse(info.timestamp), eta: undefined, url: undefined, info }
    })
  }

  fetchTicker(symbol: string): Promise<Ticker> {
    return this.onMarket(symbol, async ({ id: tradingPairId }) => {
      const [metadata, book] = await Promise.all(
        [this.client.GetMarketMetadata({ tradingPairId }), this.client.GetOrderbook({ tradingPairId, depth: 1 })])
      return metadataTicker(metadata, book)
    })
  }

  /** All markets, or these, in one call; without best prices, highs and lows, which {@link fetchTicker} has. */
  fetchTickers(symbols?: readonly string[]): Promise<Record<string, Ticker>> {
    return this.#run(async () => {
      await this.loadMarkets()
      const wanted = symbols === undefined ? null : new Set(symbols.map((symbol) => this.market(symbol).symbol))
      const found: Ticker[] = []
      for (let page = 1, pages = 1; page <= pages; page++) {
        const { items, totalPages } = await this.client.GetScreener({ page, pageSize: PAGE })
        found.push(...items.map(screenerTicker))
        pages = totalPages ?? 1
      }
      return Object.fromEntries(found.filter(({ symbol }) => wanted?.has(symbol) ?? true).map((ticker) => [ticker.symbol, ticker]))
    })
  }

  fetchOrderBook(symbol: string, limit?: number): Promise<OrderBook> {
    const bound = limit === undefined ? {} : { depth: Math.min(limit, DEPTH_MAX) }
    return this.onMarket(symbol, async ({ id: tradingPairId, symbol: name }) =>
      bookOf(name, await this.client.GetOrderbook({ tradingPairId, ...bound })))
  }

  /** Trades from `since` on, or the newest; oldest first. */
  fetchTrades(symbol: string, since?: number, limit?: number): Promise<Trade[]> {
    return this.onMarket(symbol, async ({ id: tradingPairId, symbol: name }) => {
      const rows = await rowsOf({
        ask: async (page) => {
          const { trades, nextPageToken } = await this.client.ListTrades({ ...page, tradingPairId })
          return { rows: trades, nextPageToken }
        },
        timeOf: ({ executedAt }) => executedAt,
      }, since, limit)
      return rows.map((trade) => tradeOf(trade, name))
    })
  }

  fetchOHLCV(symbol: string, timeframe = '1m', since?: number, limit?: number): Promise<OHLCV[]> {
    return this.onMarket(symbol, async ({ id: tradingPairId }) => {
      const interval = timeframe as Interval
      const bound = limit === undefined ? {} : { limit: Math.min(limit, CANDLES_MAX) }
      return (await this.client.GetCandles({ tradingPairId, interval, ...sinceOf(since), ...bound })).candles.map(candleOf)
    })
  }

  fetchBalance(): Promise<Balances> {
    return this.privately(async () => {
      const rows: BalanceRow[] = []
      for (let page = 1, pages = 1; page <= pages; page++) {
        const { balances, totalPages } = await this.client.ListBalances({ page, pageSize: PAGE })
        rows.push(...balances)
        pages = totalPages ?? 1
      }
      return balancesOf(rows)
    })
  }

  /** `trades` are the fills on arrival; `params.returnFills` false leaves them out. */
  createOrder(symbol: string, type: string, side: string, amount: Num, price?: Num, params: Params = {}): Promise<UnifiedOrder> {
    return this.privately(async () => {
      if (!waitsForPrice(params)) checkParams('CreateOrder', params)
      await this.loadMarkets()
      const market = this.market(symbol)
      const [orderType, way] = [oneOf(type, ['LIMIT', 'MARKET'] as const), oneOf(side, ['BUY', 'SELL'] as const)]
      if (waitsForPrice(params)) return this.attach({ symbol, orderType, side: way, amount, price }, params)
      const { timeInForce, ...rest } = params
      const postOnly = timeInForce === 'PO' ? { postOnly: true } : timeInForce === undefined ? {} : { timeInForce }
      if (orderType === 'LIMIT' && (price === undefined || price === null)) throw new InvalidOrder('a limit order needs a price')
      const terms = {
        tradingPairId: market.id, orderType, side: way, quantity: this.amountToPrecision(symbol, amount),
        // In ccxt a market order may be given a price, which does not count.
        ...(price === undefined || orderType === 'MARKET' ? {} : { price: this.priceToPrecision(symbol, price) }), ...postOnly,
        returnFills: true, ...(market.swap ? { tradingMode: 'MARGIN' } : {}), ...rest, ...marginOf(rest),
        ...this.legsIn(symbol, rest),
      } as Input<'CreateOrder'>
      return placedOf(await this.client.CreateOrder(terms), terms, market.symbol)
    })
  }

  /**
   * Replaces an order; the new one has another id. `type` and `side` stay what they are. With an empty id `params.clientOrderId` names the
   * order, otherwise it is the new one's.
   */
  editOrder(
    id: string, symbol: string, _type?: string, _side?: string, amount?: Num, price?: Num, params: Params = {},
  ): Promise<UnifiedOrder> {
    const replace = async (): Promise<Output<'ReplaceOrder'>> => {
      checkParams('ReplaceOrder', params)
      await this.loadMarkets()
      return this.client.ReplaceOrder({
        orderId: id === '' ? nameOf(id, params) : id, returnFills: true,
        ...(amount === undefined ? {} : { quantity: this.amountToPrecision(symbol, amount) }),
        ...(price === undefined ? {} : { price: this.priceToPrecision(symbol, price) }), ...params,
      })
    }
    // One after the other: what is done again after a sign-in is one of them.
    return this.privately(replace).then(async (placed) => {
      const order = await this.fetchOrder(placed.orderId)
      return { ...order, trades: arrivalTrades(placed, order.side, order.symbol) }
    })
  }

  /** `symbol` is not needed. */
  cancelOrder(id: string, symbol?: string, params: Params = {}): Promise<Canceled> {
    return this.privately(async () => {
      const { clientOrderId: _, trigger, ...rest } = params
      if (trigger === true) return this.cancelTrigger(id, symbol)
      const info = await this.client.CancelOrder({ orderId: nameOf(id, params), ...rest })
      return { id: info.orderId, symbol, status: 'canceled', info }
    })
  }

  cancelAllOrders(symbol?: string): Promise<Canceled[]> {
    return this.privately(async () => {
      await this.loadMarkets()
      const info = symbol === undefined
        ? await this.client.BatchCancelAllOrders()
        : await this.client.BatchCancelOrdersByPair({ tradingPairId: this.market(symbol).id })
      return info.orderIds.map((id) => ({ id, symbol, status: 'canceled', info }))
    })
  }

  fetchOrder(id: string, _symbol?: string, params: Params = {}): Promise<UnifiedOrder> {
    return this.privately(async () =>
      params['trigger'] === true ? this.trigger(id) : orderOf(await this.client.GetOrder({ orderId: nameOf(id, params) })))
  }

  /** Orders from `since` on, or the newest; oldest first. */
  fetchOrders(symbol?: string, since?: number, limit?: number): Promise<UnifiedOrder[]> {
    return this.#orders([], symbol, since, limit)
  }

  /** All orders that rest, or `limit`; with `params.trigger` those that wait for a price. */
  fetchOpenOrders(symbol?: string, since?: number, limit?: number, { trigger }: Params = {}): Promise<UnifiedOrder[]> {
    if (trigger !== true) return this.#orders(OPEN, symbol, since, limit ?? Infinity)
    return this.privately(async () => this.openTriggers(await this.pairOf(symbol), since, limit))
  }

  /** Those that were filled; `fetchOrders` has the cancelled ones too. */
  fetchClosedOrders(symbol?: string, since?: number, limit?: number): Promise<UnifiedOrder[]> {
    return this.#orders(CLOSED, symbol, since, limit)
  }

  /** Own trades from `since` on, or the newest; oldest first. */
  fetchMyTrades(symbol?: string, since?: number, limit?: number): Promise<Trade[]> {
    return this.privately(async () => {
      const pair = await this.pairOf(symbol)
      const rows = await rowsOf({
        ask: async (page) => {
          const { trades, nextPageToken } = await this.client.ListAccountTrades({ ...page, ...pair })
          return { rows: trades, nextPageToken }
        },
        timeOf: ({ executedAt }) => executedAt,
      }, since, limit)
      await this.know(rows.map(({ tradingPairId }) => tradingPairId))
      return rows.map((trade) => ownTradeOf(trade, this.symbolOf(trade.tradingPairId)))
    })
  }

  /** Ends all that is watched; calls that wait fail. */
  async close(): Promise<void> {
    this.watching.close()
    this.client.closeStreams()
    this.client.orders.close()
  }

  #orders(status: Status[], symbol?: string, since?: number, limit?: number): Promise<UnifiedOrder[]> {
    return this.privately(async () => {
      const filters = { ...(await this.pairOf(symbol)), ...(status.length === 0 ? {} : { status }) }
      const rows = await rowsOf({
        ask: async (page) => {
          const { orders, nextPageToken } = await this.client.ListOrders({ ...page, ...filters })
          return { rows: orders, nextPageToken }
        },
        timeOf: ({ createdAt }) => createdAt,
      }, since, limit)
      return rows.map(orderOf)
    })
  }

  protected async pairOf(symbol: string | undefined): Promise<{ tradingPairId?: string }> {
    await this.loadMarkets()
    return symbol === undefined ? {} : { tradingPairId: this.market(symbol).id }
  }

  protected async know(pairs: readonly string[]): Promise<void> {
    await this.loadMarkets()
    if (pairs.some((pair) => !this.#byId.has(pair))) await this.loadMarkets(true)
  }

  protected symbolOf(pair: string): string {
    return this.#byId.get(pair)?.symbol ?? pair
  }

  protected onMarket<Result>(symbol: string, act: (market: Market) => Promise<Result>): Promise<Result> {
    return this.#run(async () => {
      await this.loadMarkets()
      return act(this.market(symbol))
    })
  }

  protected privately<Result>(act: () => Promise<Result>): Promise<Result> {
    return this.#run(() => this.#session.run(act))
  }

  async #run<Result>(act: () => Promise<Result>): Promise<Result> {
    try {
      return await act()
    } catch (error) {
      throw unified(error)
    }
  }
}

/** How the service knows the order: its id, or the client order id of one that rests. */
const nameOf = (id: string, { clientOrderId }: Params): string =>
  typeof clientOrderId === 'string' && clientOrderId !== '' ? `client:${clientOrderId}` : id
const sinceOf = (since: number | undefined): { startTime?: string } => (since === undefined ? {} : { startTime: String(since) })

function oneOf<Word extends string>(word: string, words: readonly Word[]): Word {
  const found = words.find((each) => each === String(word).toUpperCase())
  if (found === undefined) throw new InvalidOrder(`${word} is none of ${words.join(', ').toLowerCase()}`)
  return found
}
