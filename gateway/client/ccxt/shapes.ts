/**
 * Records of the service in the unified structures that ccxt documents. Text becomes numbers, times Unix ms and ISO 8601; what the service
 * does not know is `undefined`; `info` is the record itself, with exact text.
 */
import type { Frame, Input, Output } from '../index.ts'
import type { LocalBook } from '../book.ts'
import { stepOf } from './precision.ts'

type Pair = Output<'GetTradingPair'>['tradingPair']
type OrderRow = Output<'GetOrder'> | Extract<Frame<'orders'>, { type: 'order_update' }>['data']
type PublicTrade = Output<'ListTrades'>['trades'][number]
type OwnTrade = Output<'ListAccountTrades'>['trades'][number]
type BalanceRow = Output<'ListBalances'>['balances'][number]
type Num = number | undefined

export interface MinMax {
  readonly min: Num
  readonly max: Num
}

export interface Market {
  /** Id of the trading pair. */
  readonly id: string
  /** BASE/QUOTE; of a perpetual BASE/QUOTE:QUOTE, as ccxt names swaps. */
  readonly symbol: string
  readonly base: string
  readonly quote: string
  readonly baseId: string
  readonly quoteId: string
  /** Of a perpetual: its collateral. */
  readonly settle: string | undefined
  readonly settleId: string | undefined
  readonly type: 'spot' | 'swap'
  readonly spot: boolean
  readonly margin: false
  readonly swap: boolean
  readonly future: false
  readonly option: false
  readonly contract: boolean
  readonly linear: boolean | undefined
  readonly inverse: boolean | undefined
  /** Amounts are in the base currency. */
  readonly contractSize: number | undefined
  readonly expiry: undefined
  readonly expiryDatetime: undefined
  readonly strike: undefined
  readonly optionType: undefined
  readonly active: boolean
  /** Fees as parts of one: 0.001 is 0.1 %. */
  readonly taker: number
  readonly maker: number
  readonly percentage: true
  readonly tierBased: true
  readonly feeSide: 'quote'
  /** Steps: amounts and prices are whole multiples of these (ccxt's TICK_SIZE). */
  readonly precision: {
    readonly amount: number
    readonly price: number
    /** Steps of amounts of the two currencies, as in transfers. */
    readonly base: number
    readonly quote: number
  }
  readonly limits: { readonly amount: MinMax; readonly price: MinMax; readonly cost: MinMax; readonly leverage: MinMax }
  readonly created: undefined
  readonly info: Pair
}

export interface Currency {
  /** Id of the asset. */
  readonly id: string
  readonly code: string
  /** Step of amounts, which may be coarser than that of the token on its chain. */
  readonly precision: number
}

interface Moment {
  /** Unix ms. */
  readonly timestamp: Num
  /** ISO 8601. */
  readonly datetime: string | undefined
}

export interface Fee {
  /** Negative: a rebate. */
  readonly cost: number
  readonly currency: string
}

export interface Ticker extends Moment {
  readonly symbol: string
  readonly high: Num
  readonly low: Num
  readonly bid: Num
  readonly bidVolume: Num
  readonly ask: Num
  readonly askVolume: Num
  readonly vwap: Num
  readonly open: Num
  readonly close: Num
  readonly last: Num
  readonly previousClose: Num
  readonly change: Num
  readonly percentage: Num
  readonly average: Num
  readonly baseVolume: Num
  readonly quoteVolume: Num
  readonly info: unknown
}

export interface OrderBook extends Moment {
  readonly symbol: string
  /** [price, amount], best first. */
  readonly bids: [price: number, amount: number][]
  readonly asks: [price: number, amount: number][]
  readonly nonce: number
}

export interface Trade extends Moment {
  readonly id: string
  readonly symbol: string
  readonly order: string | undefined
  readonly type: undefined
  readonly side: 'buy' | 'sell'
  readonly takerOrMaker: 'taker' | 'maker' | undefined
  readonly price: number
  readonly amount: number
  readonly cost: number
  readonly fee: Fee | undefined
  readonly fees: Fee[]
  readonly info: unknown
}

export type OrderStatus = 'open' | 'closed' | 'canceled' | 'expired' | 'rejected'

export interface UnifiedOrder extends Moment {
  readonly id: string
  readonly clientOrderId: string | undefined
  readonly lastTradeTimestamp: undefined
  readonly lastUpdateTimestamp: Num
  readonly status: OrderStatus
  readonly symbol: string
  readonly type: 'limit' | 'market'
  readonly timeInForce: string | undefined
  readonly postOnly: boolean
  readonly reduceOnly: boolean
  readonly side: 'buy' | 'sell'
  readonly price: Num
  /** Of an order that waits for a price: the mark price that fires it. */
  readonly triggerPrice: Num
  readonly stopPrice: Num
  readonly stopLossPrice: Num
  readonly takeProfitPrice: Num
  readonly amount: number
  readonly filled: number
  readonly remaining: number
  readonly average: Num
  readonly cost: number
  readonly trades: Trade[]
  readonly fee: Fee | undefined
  readonly fees: Fee[]
  readonly info: unknown
}

export interface Balance {
  readonly free: number
  readonly used: number
  readonly total: number
}

/** By currency; `free`, `used` and `total` have the same the other way round. */
export type Balances = { [currency: string]: Balance } & {
  readonly free: Record<string, number>
  readonly used: Record<string, number>
  readonly total: Record<string, number>
  readonly timestamp: undefined
  readonly datetime: undefined
  readonly info: BalanceRow[]
}

export type OHLCV = [timestamp: number, open: number, high: number, low: number, close: number, volume: number]

/** Status of an order as the service has it. */
export type Status = OrderRow['status']
const STATUS: Readonly<Record<Status, OrderStatus>> = {
  SUBMITTED: 'open', PARTIALLY_FILLED: 'open', FILLED: 'closed', SETTLED: 'closed', SETTLED_ON_CHAIN: 'closed', CANCELLED: 'canceled',
  EXPIRED: 'expired', REJECTED: 'rejected',
}

const numberOf = (text: string | null | undefined): Num => (text === null || text === undefined ? undefined : Number(text))
const lower = <S extends string>(text: S): Lowercase<S> => text.toLowerCase() as Lowercase<S>

/** A time in RFC 3339 or Unix ms. */
function momentOf(time: string | number | undefined): Moment {
  if (time === undefined) return { timestamp: undefined, datetime: undefined }
  const timestamp = typeof time === 'number' ? time : Date.parse(time)
  return { timestamp, datetime: new Date(timestamp).toISOString() }
}

const PERPETUAL = '-PERP'

/** A symbol of the service as ccxt has it: `BTC/USDC-PERP` is `BTC/USDC:USDC`. */
export const unifiedSymbol = (symbol: string): string =>
  symbol.endsWith(PERPETUAL) ? `${symbol.slice(0, -PERPETUAL.length)}:${quoteOf(symbol)}` : symbol

/** The currency that a market is paid in, of a symbol of the service or of ccxt. */
const quoteOf = (symbol: string): string => symbol.split('/')[1]!.replace(PERPETUAL, '').split(':')[0]!

export function marketOf(pair: Pair): Market {
  const { id, baseToken: base, quoteToken: quote } = pair
  const none = undefined
  const swap = pair.marketType === 'MARGIN'
  return {
    id, symbol: unifiedSymbol(pair.symbol), base, quote, baseId: pair.baseAssetId, quoteId: pair.quoteAssetId,
    settle: swap ? quote : none, settleId: swap ? pair.quoteAssetId : none,
    type: swap ? 'swap' : 'spot', spot: !swap, margin: false, swap, future: false, option: false, contract: swap,
    linear: swap ? true : none, inverse: swap ? false : none, contractSize: swap ? 1 : none,
    expiry: none, expiryDatetime: none, strike: none, optionType: none,
    active: pair.isActive, taker: Number(pair.takerFeeBps) / 10_000, maker: Number(pair.makerFeeBps) / 10_000,
    percentage: true, tierBased: true, feeSide: 'quote',
    precision: {
      amount: Number(pair.lotSize), price: Number(pair.tickSize),
      base: Number(stepOf(pair.baseAmountDecimals)), quote: Number(stepOf(pair.quoteAmountDecimals)),
    },
    limits: {
      amount: { min: Number(pair.minOrderSize), max: Number(pair.maxOrderSize) },
      price: { min: Number(pair.tickSize), max: none },
      cost: { min: Number(pair.minNotional), max: none },
      leverage: { min: none, max: none },
    },
    created: none, info: pair,
  }
}

/** The two currencies of a market. */
export const currenciesOf = ({ base, baseId, quote, quoteId, precision }: Market): Currency[] => [
  { id: baseId, code: base, precision: precision.base }, { id: quoteId, code: quote, precision: precision.quote },
]

interface Best {
  readonly bids: readonly { price: string; quantity: string }[]
  readonly asks: readonly { price: string; quantity: string }[]
}

/** 24 hours of a market; `best` and `day` only where they were asked for. */
export function tickerOf(
  symbol: string, time: string | number | undefined, last: Num, percentage: Num, quoteVolume: Num, info: unknown,
  best: Best = { bids: [], asks: [] }, day: { high?: Num; low?: Num; volume?: Num } = {},
): Ticker {
  const open = last === undefined || percentage === undefined || percentage <= -100 ? undefined : last / (1 + percentage / 100)
  const { high, low, volume } = day
  return {
    symbol, ...momentOf(time), high, low,
    bid: numberOf(best.bids[0]?.price), bidVolume: numberOf(best.bids[0]?.quantity),
    ask: numberOf(best.asks[0]?.price), askVolume: numberOf(best.asks[0]?.quantity),
    vwap: quoteVolume === undefined || !volume ? undefined : quoteVolume / volume,
    open, close: last, last, previousClose: undefined,
    change: open === undefined || last === undefined ? undefined : last - open, percentage,
    average: open === undefined || last === undefined ? undefined : (last + open) / 2,
    baseVolume: volume, quoteVolume, info,
  }
}

export const metadataTicker = (metadata: Output<'GetMarketMetadata'>, book: Output<'GetOrderbook'>): Ticker => tickerOf(
  unifiedSymbol(metadata.symbol), book.timestamp, numberOf(metadata.lastPrice), numberOf(metadata.priceChangePercent24h),
  numberOf(metadata.quoteVolume24h), metadata, book,
  { high: numberOf(metadata.high24h), low: numberOf(metadata.low24h), volume: numberOf(metadata.volume24h) },
)

export const screenerTicker = (item: Output<'GetScreener'>['items'][number]): Ticker => tickerOf(
  unifiedSymbol(item.symbol), item.lastPriceTimestamp === null ? undefined : Number(item.lastPriceTimestamp), numberOf(item.lastPrice),
  numberOf(item.priceChangePercent24h), numberOf(item.quoteVolume24h), item,
)

const levelsOf = (levels: Best['bids'], limit?: number): [number, number][] =>
  levels.slice(0, limit).map(({ price, quantity }) => [Number(price), Number(quantity)])

export const bookOf = (symbol: string, book: Output<'GetOrderbook'>): OrderBook =>
  ({ symbol, bids: levelsOf(book.bids), asks: levelsOf(book.asks), ...momentOf(book.timestamp), nonce: book.sequence })

export const localBookOf = (symbol: string, { bids, asks, sequence }: LocalBook, limit?: number): OrderBook =>
  ({ symbol, bids: levelsOf(bids, limit), asks: levelsOf(asks, limit), ...momentOf(undefined), nonce: sequence })

export const candleOf = ({ t, o, h, l, c, v }: Output<'GetCandles'>['candles'][number]): OHLCV =>
  [t, Number(o), Number(h), Number(l), Number(c), Number(v)]

/** A public trade: its side is that of who took. */
export const tradeOf = (trade: PublicTrade, symbol: string): Trade => ({
  id: trade.id, symbol, ...momentOf(trade.executedAt), order: undefined, type: undefined,
  side: trade.makerSide === 'BUY' ? 'sell' : 'buy', takerOrMaker: undefined, price: Number(trade.price), amount: Number(trade.quantity),
  cost: Number(trade.quoteQuantity), fee: undefined, fees: [], info: trade,
})

export function ownTradeOf(trade: OwnTrade, symbol: string): Trade {
  const fee = { cost: Number(trade.fee), currency: trade.feeToken }
  return { ...tradeOf(trade, symbol), order: trade.orderId, side: lower(trade.side), takerOrMaker: trade.role, fee, fees: [fee] }
}

type Terms = Pick<
  Input<'CreateOrder'>, 'clientOrderId' | 'orderType' | 'side' | 'price' | 'quantity' | 'timeInForce' | 'postOnly' | 'reduceOnly'
>

/** What an order has however it is known. */
function termsOf(terms: Terms, filledText: string, averageText: string | undefined) {
  const [filled, average] = [Number(filledText), numberOf(averageText)]
  const postOnly = terms.postOnly === true
  return {
    clientOrderId: terms.clientOrderId, type: lower(terms.orderType), side: lower(terms.side), price: numberOf(terms.price),
    amount: Number(terms.quantity), timeInForce: postOnly ? 'PO' : terms.timeInForce, postOnly, reduceOnly: terms.reduceOnly === true,
    filled, average,
    cost: average === undefined ? 0 : filled * average, triggerPrice: undefined, stopPrice: undefined, stopLossPrice: undefined,
    takeProfitPrice: undefined, lastTradeTimestamp: undefined, trades: [] as Trade[],
  } as const
}

export function orderOf(order: OrderRow): UnifiedOrder {
  const fee = { cost: Number(order.fee), currency: quoteOf(order.symbol) }
  return {
    id: order.orderId, ...termsOf(order, order.filledQuantity, order.averageFillPrice), ...momentOf(order.createdAt),
    lastUpdateTimestamp: Date.parse(order.updatedAt), symbol: unifiedSymbol(order.symbol), status: STATUS[order.status],
    remaining: Number(order.remainingQuantity), fee, fees: [fee], info: order,
  }
}

type ConditionalRow = Output<'GetConditionalOrder'>
const CONDITIONAL_STATUS: Readonly<Record<ConditionalRow['state'], OrderStatus>> = {
  PENDING: 'open', ARMED: 'open', TRIGGERED: 'closed', CANCELLED: 'canceled', EXPIRED: 'expired', FAILED: 'rejected',
}

type Told = 'conditionalOrderId' | 'conditionType' | 'symbol' | 'orderType' | 'side' | 'state' | 'createdAt' | 'updatedAt'

/**
 * An order that waits for a price. It trades nothing itself: what it entered is another order, `info.triggeredOrderId`. Its amount is what
 * it closes if it fires now, 0 while it waits for a position.
 */
export function conditionalOf(
  row: Pick<ConditionalRow, Told> & Partial<ConditionalRow>, info: unknown = row,
): UnifiedOrder {
  const { conditionType, quantity = '0', limitPrice } = row
  const terms = termsOf({
    orderType: row.orderType, side: row.side, quantity, reduceOnly: true, ...(limitPrice === undefined ? {} : { price: limitPrice }),
    ...(row.timeInForce === undefined ? {} : { timeInForce: row.timeInForce }),
  }, '0', undefined)
  const triggerPrice = numberOf(row.triggerPrice)
  const status = CONDITIONAL_STATUS[row.state]
  return {
    ...terms, id: row.conditionalOrderId, ...momentOf(row.createdAt), lastUpdateTimestamp: Date.parse(row.updatedAt),
    symbol: unifiedSymbol(row.symbol), status, remaining: status === 'open' ? terms.amount : 0, triggerPrice, stopPrice: triggerPrice,
    stopLossPrice: conditionType === 'TAKE_PROFIT' ? undefined : triggerPrice,
    takeProfitPrice: conditionType === 'TAKE_PROFIT' ? triggerPrice : undefined, fee: undefined, fees: [], info,
  }
}

export interface Canceled {
  readonly id: string
  readonly symbol: string | undefined
  readonly status: 'canceled'
  readonly info: unknown
}

type Placed = Pick<Output<'CreateOrder'>, 'orderId' | 'engineTime' | 'matchResult'>

/** The fills on arrival that the answer to an order lists. */
export const arrivalTrades = ({ orderId, engineTime, matchResult }: Placed, side: Trade['side'], symbol: string): Trade[] =>
  (matchResult.fills ?? []).map((fill) => {
    const [price, amount] = [Number(fill.price), Number(fill.quantity)]
    const fee = { cost: Number(fill.fee), currency: quoteOf(symbol) }
    return {
      id: fill.tradeId, symbol, ...momentOf(engineTime), order: orderId, type: undefined, side, takerOrMaker: 'taker', price, amount,
      cost: price * amount, fee, fees: [fee], info: fill,
    }
  })

/** An order as it was asked for and met the book. */
export function placedOf(answer: Output<'CreateOrder'>, asked: Input<'CreateOrder'>, symbol: string): UnifiedOrder {
  const { matchResult: { totalFilled, averageFillPrice, status, remainingQuantity, totalFilledQuote, totalFee } } = answer
  const { timestamp, datetime } = momentOf(answer.engineTime)
  // What reduces is cut to what is open and to what one order may have.
  const terms = termsOf({ ...asked, quantity: answer.submittedQuantity ?? asked.quantity }, totalFilled, averageFillPrice)
  const fee = totalFee === undefined ? undefined : { cost: Number(totalFee), currency: quoteOf(symbol) }
  return {
    id: answer.orderId, ...terms, timestamp, datetime, lastUpdateTimestamp: timestamp, symbol, status: STATUS[status],
    remaining: Number(remainingQuantity), cost: numberOf(totalFilledQuote) ?? terms.cost, trades: arrivalTrades(answer, terms.side, symbol),
    fee, fees: fee === undefined ? [] : [fee], info: answer,
  }
}

export function balancesOf(rows: readonly BalanceRow[]): Balances {
  const all: { free: Record<string, number>; used: Record<string, number>; total: Record<string, number> } =
    { free: {}, used: {}, total: {} }
  const found: Record<string, unknown> = { info: [...rows], timestamp: undefined, datetime: undefined, ...all }
  for (const row of rows) {
    const currency = row.symbol ?? row.token
    const balance = { free: Number(row.availableBalance), used: Number(row.lockedBalance), total: Number(row.totalBalance) }
    found[currency] = balance
    for (const kind of ['free', 'used', 'total'] as const) all[kind][currency] = balance[kind]
  }
  return found as Balances
}


