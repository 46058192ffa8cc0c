/**
 * Market data: screener, metadata and candles of pairs. Public, the same for everybody, all from the history, the last price included, so
 * that the fields of one answer are of one moment. Without the history they are 503.
 *
 * What is not known is `null`, never zero: everything of a pair that never traded, and a change in percent while the pair had no price
 * before the window or day began. A pair that traded at least once and not in a window has "0" there. Of spot pairs the fields of
 * perpetuals are `null` in the screener and absent in the metadata; of perpetuals so are those that are not known: before the first price,
 * before the first funding. Mark, index, funding and open interest are of now, from the shared columns; the means of the open interest are
 * from the history (core/history/answer/open_interest.ts).
 */
import Type, { type Static } from 'typebox'
import {
  CANDLES_MAX, INTERVALS, type HistoryCandle, type Interval, type MarketStats, type MarketWindow, type OpenInterest,
} from '../../core/history/answer/queries.ts'
import type { Pair } from '../../core/state/genesis.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { readPerp, readPredictedRate } from '../../core/view/margin.ts'
import { askHistory } from '../bridge/history.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText, changePercent, priceText, volumeText } from './amounts.ts'
import { timeRangeOf, TimeRange } from './history_filters.ts'
import { Decimal, Nullable, operation, PageOutput, PageQuery, rfc3339, Timestamp } from './operation.ts'
import { TradingMode } from './order_words.ts'
import * as sample from './example_values.ts'
import { HISTORY } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { pairOf } from './lookup.ts'

/** Unix ms as text. */
const UnixMs = Type.String()
const Maybe = Nullable(Decimal)

/** When a mean is told. */
const COVERED = 'One sample a minute that is over; null while fewer than 95 % of the minutes have one.'

const DaySnapshot = record('ScreenerDay', 'A market on one day of UTC.', Type.Object({
  bucketStart: field(UnixMs, 'Beginning of the day: Unix milliseconds as text.'),
  quoteVolume: field(Maybe, 'Traded on that day, in units of the quote token; null on days before the first trade.'),
  priceChangePercent: field(Maybe, 'From the last price before that day to its own last one, in percent, rounded to 4 digits.'),
  openInterestNotionalAvg: field(
    Maybe, 'Of perpetuals: mean of the open interest of that day, in units of the quote token; null while under 95 % of it are known.',
  ),
}))
type DaySnapshot = Static<typeof DaySnapshot>

const ScreenerItem = record('ScreenerItem', 'A market and what it does. What is not known is null, and so is '
  + 'what only perpetuals have.', Type.Object({
  tradingPairId: fields.tradingPairId,
  symbol: fields.symbol,
  baseIconUrl: field(Nullable(Type.String()), 'Icon, or null.'),
  quoteIconUrl: field(Nullable(Type.String()), 'Icon, or null.'),
  lastPrice: field(Maybe, 'Price of the last trade; null before the first.'),
  lastPriceTimestamp: field(Nullable(UnixMs), 'When the last trade was made: Unix milliseconds as text.'),
  quoteVolume1h: field(Maybe, 'Traded in 1 hour, in units of the quote token.'),
  quoteVolume24h: field(Maybe, 'Traded in 24 hours, in units of the quote token.'),
  quoteVolume7d: field(Maybe, 'Traded in 7 days, in units of the quote token.'),
  priceChangePercent1h: field(Maybe, 'From the price of 1 hour ago to the last one, in percent, rounded to 4 digits.'),
  priceChangePercent24h: field(
    Maybe,
    'From the price of 24 hours ago to the last one, in percent, rounded to 4 digits; null while there was none.',
  ),
  priceChangePercent7d: field(Maybe, 'From the price of 7 days ago to the last one, in percent, rounded to 4 digits.'),
  snapshot7d: field(Type.Array(DaySnapshot), 'The seven days of UTC up to today, oldest first.'),
  category: field(Nullable(Type.String()), 'Group of markets, or null.'),
  totalQuoteVolumeLtd: field(Maybe, 'Traded since the first trade, in units of the quote token.'),
  totalTradeCountLtd: field(Nullable(Type.Integer()), 'Trades since the first.'),
  latestFundingRate: field(Maybe, 'Of perpetuals: rate of the funding interval that ended last, a fraction; positive: longs paid.'),
  lastFundingTime: field(Nullable(UnixMs), 'Of perpetuals: when that was paid, Unix milliseconds as text.'),
  openInterestBase: field(Maybe, 'Of perpetuals: quantity of all long positions, which is that of all short ones.'),
  openInterestNotional: field(Maybe, 'Of perpetuals: the same at the mark price, in units of the quote token.'),
  openInterestNotionalAvg1h: field(Maybe, `Of perpetuals: its mean over 1 hour. ${COVERED}`),
  openInterestNotionalAvg24h: field(Maybe, `Of perpetuals: its mean over 24 hours. ${COVERED}`),
  openInterestNotionalAvg7d: field(Maybe, `Of perpetuals: its mean over 7 days. ${COVERED}`),
}))
export type ScreenerItem = Static<typeof ScreenerItem>

export const Metadata = Type.Object({
  tradingPairId: fields.tradingPairId,
  symbol: fields.symbol,
  lastPrice: field(Maybe, 'Price of the last trade; null before the first.'),
  volume24h: field(Maybe, 'Traded in 24 hours, in units of the base token.'),
  quoteVolume24h: field(Maybe, 'Traded in 24 hours, in units of the quote token.'),
  high24h: field(Maybe, 'Highest price of 24 hours; null without a trade in them.'),
  low24h: field(Maybe, 'Lowest price of 24 hours; null without a trade in them.'),
  priceChangePercent24h: field(
    Maybe,
    'From the price of 24 hours ago to the last one, in percent, rounded to 4 digits; null while there was none.',
  ),
  markPrice: Type.Optional(field(Decimal, 'Of perpetuals: price at which positions are valued; absent before the first.')),
  indexPrice: Type.Optional(field(Decimal, 'Of perpetuals: price of the underlying; absent before the first.')),
  fundingRate: Type.Optional(field(Decimal, 'Of perpetuals: rate of the funding interval that ended last, a fraction; absent before it.')),
  nextFundingTime: Type.Optional(field(Timestamp, 'Of perpetuals: when funding is paid next.')),
  openInterest: Type.Optional(field(Decimal, 'Of perpetuals: quantity of all long positions, which is that of all short ones.')),
  predictedFundingRate: Type.Optional(field(
    Decimal,
    'Of perpetuals: rate that the running interval would have if it ended now, from its samples so far, one a minute; "0" before the '
      + 'first. What is paid may differ. Absent before the first index price.',
  )),
})
export type Metadata = Static<typeof Metadata>

export const Candle = record('Candle', 'Price and volume of one interval.', Type.Object({
  t: field(Type.Integer(), 'Beginning, Unix milliseconds.'),
  T: field(Type.Integer(), 'Last millisecond that belongs to it, Unix milliseconds.'),
  o: field(Decimal, 'First price.'),
  h: field(Decimal, 'Highest price.'),
  l: field(Decimal, 'Lowest price.'),
  c: field(Decimal, 'Last price.'),
  v: field(Decimal, 'Traded, in units of the base token.'),
  q: field(Decimal, 'Traded, in units of the quote token.'),
  n: field(Type.Integer(), 'Trades.'),
}))
export type Candle = Static<typeof Candle>

export const CandleInterval = record('CandleInterval', 'Length of a candle: minutes, hours, a day, a week.', Type.Union([
  Type.Literal('1m'), Type.Literal('5m'), Type.Literal('15m'), Type.Literal('30m'), Type.Literal('1h'), Type.Literal('4h'),
  Type.Literal('1d'), Type.Literal('1w'),
]))

const DAY_MS = INTERVALS['1d']
const DAYS = 7
const INTERVAL = '1m'
/** Candles of an answer that asks for no other number. */
export const CANDLES = 100

/** `null` when either price is not known. */
const changeText = (before: number | null, now: number | null): string | null =>
  before === null || now === null ? null : changePercent(before, now)

/** The seven days up to that of `now`; those before the first trade of the pair are not known. */
function snapshotOf(
  gateway: Gateway, pair: Pair, stats: MarketStats | null, interest: OpenInterest | null, now: number,
): DaySnapshot[] {
  const quote = gateway.genesis.assets[pair.quote]!
  const meanOf = (day: number): string | null => meanText(gateway, pair, interest?.days[day])
  if (stats === null) {
    const today = now - (now % DAY_MS)
    return Array.from({ length: DAYS }, (_, index) => ({
      bucketStart: String(today - (DAYS - 1 - index) * DAY_MS), quoteVolume: null, priceChangePercent: null,
      openInterestNotionalAvg: meanOf(index),
    }))
  }
  return stats.days.map((day, index) => ({
    bucketStart: String(day.start),
    quoteVolume: day.close === null ? null : amountText(quote, day.quote),
    priceChangePercent: changeText(day.before, day.close),
    openInterestNotionalAvg: meanOf(index),
  }))
}

/** A mean of open interest; `null` where there is none. */
const meanText = (gateway: Gateway, pair: Pair, atoms: bigint | null | undefined): string | null =>
  atoms === null || atoms === undefined ? null : amountText(gateway.genesis.assets[pair.quote]!, atoms)

/** A rate of 10^-8. */
const rateText = (rate: number): string => formatDecimal(rate, 8)

type PerpFields = 'latestFundingRate' | 'lastFundingTime' | 'openInterestBase' | 'openInterestNotional'

/** What a perpetual is now; all `null` of a spot pair, and before its first price. */
function perpFields(gateway: Gateway, pair: Pair): Pick<ScreenerItem, PerpFields> {
  const none = { latestFundingRate: null, lastFundingTime: null, openInterestBase: null, openInterestNotional: null }
  if (pair.perp === null) return none
  const { mark, lastRate, lastFundingAt, openLots } = readPerp(gateway.state, pair.index)
  const funded = lastFundingAt > 0
  const priced = mark > 0
  return {
    latestFundingRate: funded ? rateText(lastRate) : null,
    lastFundingTime: funded ? String(lastFundingAt) : null,
    openInterestBase: priced ? volumeText(pair, BigInt(openLots)) : null,
    openInterestNotional: priced
      ? amountText(gateway.genesis.assets[pair.quote]!, BigInt(openLots) * BigInt(mark) * pair.tickLotAtoms) : null,
  }
}

/** A row of the screener at `now`, Unix ms; `stats` and `interest`: what the history knows of the pair. */
export function screenerItem(
  gateway: Gateway, pair: Pair, stats: MarketStats | null, interest: OpenInterest | null, now: number,
): ScreenerItem {
  const base = gateway.genesis.assets[pair.base]!
  const quote = gateway.genesis.assets[pair.quote]!
  const windows = stats?.windows
  const volume = (window: MarketWindow | undefined): string | null => (window === undefined ? null : amountText(quote, window.quote))
  const change = (window: MarketWindow | undefined): string | null => changeText(window?.before ?? null, stats?.price ?? null)
  return {
    tradingPairId: pair.id,
    symbol: pair.symbol,
    baseIconUrl: base.iconUrl,
    quoteIconUrl: quote.iconUrl,
    lastPrice: stats === null ? null : priceText(pair, stats.price),
    lastPriceTimestamp: stats === null ? null : String(stats.time),
    quoteVolume1h: volume(windows?.['1h']),
    quoteVolume24h: volume(windows?.['24h']),
    quoteVolume7d: volume(windows?.['7d']),
    priceChangePercent1h: change(windows?.['1h']),
    priceChangePercent24h: change(windows?.['24h']),
    priceChangePercent7d: change(windows?.['7d']),
    snapshot7d: snapshotOf(gateway, pair, stats, interest, now),
    category: pair.category,
    totalQuoteVolumeLtd: stats === null ? null : amountText(quote, stats.quote),
    totalTradeCountLtd: stats?.trades ?? null,
    ...perpFields(gateway, pair),
    openInterestNotionalAvg1h: meanText(gateway, pair, interest?.['1h']),
    openInterestNotionalAvg24h: meanText(gateway, pair, interest?.['24h']),
    openInterestNotionalAvg7d: meanText(gateway, pair, interest?.['7d']),
  }
}

/** A pair in its last 24 h. */
export function metadataRecord(gateway: Gateway, pair: Pair, stats: MarketStats | null): Metadata {
  const { id, symbol } = pair
  const quote = gateway.genesis.assets[pair.quote]!
  const day = stats?.windows['24h']
  const price = (ticks: number | null | undefined): string | null => (ticks === null || ticks === undefined ? null : priceText(pair, ticks))
  return {
    tradingPairId: id,
    symbol,
    lastPrice: price(stats?.price),
    volume24h: day === undefined ? null : volumeText(pair, day.lots),
    quoteVolume24h: day === undefined ? null : amountText(quote, day.quote),
    high24h: price(stats?.high),
    low24h: price(stats?.low),
    priceChangePercent24h: changeText(day?.before ?? null, stats?.price ?? null),
    ...(pair.perp === null ? {} : marksOf(gateway, pair)),
  }
}

/** Prices, funding and open interest of a perpetual; what is not known is absent. */
function marksOf(gateway: Gateway, pair: Pair): Partial<Metadata> {
  const { mark, index, lastRate, lastFundingAt, nextFundingAt, openLots } = readPerp(gateway.state, pair.index)
  const predicted = readPredictedRate(gateway.state, gateway.gate, pair.index)
  return {
    ...(mark > 0 ? { markPrice: priceText(pair, mark), openInterest: volumeText(pair, BigInt(openLots)) } : {}),
    ...(index > 0 ? { indexPrice: priceText(pair, index) } : {}),
    ...(lastFundingAt > 0 ? { fundingRate: rateText(lastRate) } : {}),
    ...(nextFundingAt > 0 ? { nextFundingTime: rfc3339(nextFundingAt) } : {}),
    ...(nextFundingAt > 0 && predicted !== null ? { predictedFundingRate: rateText(predicted) } : {}),
  }
}

export function candleRecord(gateway: Gateway, pair: Pair, interval: Interval, candle: HistoryCandle): Candle {
  const { start, open, high, low, close, lots, quote, trades } = candle
  return {
    t: start,
    // The last millisecond that belongs to it.
    T: start + INTERVALS[interval] - 1,
    o: priceText(pair, open),
    h: priceText(pair, high),
    l: priceText(pair, low),
    c: priceText(pair, close),
    v: volumeText(pair, lots),
    q: amountText(gateway.genesis.assets[pair.quote]!, quote),
    n: trades,
  }
}

/** What rolling windows and missing figures of markets mean. */
const WINDOWS = 'A window is whole minutes of UTC, the last of them the present one: it never has a trade older than its name says, and '
  + 'loses one up to a minute early.'
const UNKNOWN = 'What is not known is null, never zero: everything of a pair that never traded, and the change in percent while the pair '
  + 'had no price before the window.'
const EXAMPLE_DAY_MS = 86_400_000
const exampleScreenerItem = {
  tradingPairId: sample.PAIR,
  symbol: 'BTC/USDC',
  baseIconUrl: null,
  quoteIconUrl: null,
  lastPrice: '60000',
  lastPriceTimestamp: '1768469402125',
  quoteVolume1h: '75012.5',
  quoteVolume24h: '1287655',
  quoteVolume7d: '8120034.25',
  priceChangePercent1h: '0.0167',
  priceChangePercent24h: '-1.25',
  priceChangePercent7d: null,
  snapshot7d: [6, 5, 4, 3, 2, 1, 0].map((ago) => ({
    bucketStart: String(Date.parse('2026-01-15T00:00:00.000Z') - ago * EXAMPLE_DAY_MS),
    quoteVolume: ago === 6 ? null : '1287655',
    priceChangePercent: ago > 4 ? null : '-0.5',
    openInterestNotionalAvg: null,
  })),
  category: 'major',
  totalQuoteVolumeLtd: '8120034.25',
  totalTradeCountLtd: 90_210,
  latestFundingRate: null,
  lastFundingTime: null,
  openInterestBase: null,
  openInterestNotional: null,
  openInterestNotionalAvg1h: null,
  openInterestNotionalAvg24h: null,
  openInterestNotionalAvg7d: null,
}

export const GetScreener = operation({
  service: 'MarketService', method: 'GET', path: '/api/v1/market/screener',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'What the markets do',
  description: 'Every pair with its last price, what was traded in 1 hour, 24 hours, 7 days and ever, and how the price moved: most '
    + `\`quoteVolume24h\` first, pairs that never traded last. Volumes compare as numbers, whatever they are quoted in. ${WINDOWS} `
    + UNKNOWN,
  answer: 'A page of pairs.',
  refusals: HISTORY,
  query: Type.Object({ ...PageQuery, marketType: Type.Optional(field(TradingMode, 'SPOT or MARGIN.')) }),
  output: Type.Object(
    { items: field(Type.Array(ScreenerItem), 'Most quote volume of 24 hours first; pairs that never traded last.'), ...PageOutput },
  ),
  example: { input: { marketType: 'SPOT', page: 1, pageSize: 20 }, output: { items: [exampleScreenerItem], ...sample.page } },
  run: (gateway, call, { page = 1, pageSize = 20, marketType }) => {
    const now = gateway.time()
    const ask = { limit: pageSize, skip: (page - 1) * pageSize, now, ...(marketType === undefined ? {} : { marketType }) }
    askHistory(gateway.history, 'screener', ask, (answer) => {
      if (answer instanceof Refused) return call.refuse(answer)
      const { rows, total } = answer
      const items = rows.map(({ pair, stats, openInterest }) =>
        screenerItem(gateway, gateway.genesis.pairs[pair]!, stats, openInterest, now))
      call.answer({ items, page, pageSize, total, totalPages: Math.ceil(total / pageSize) })
    })
  },
})

export const GetMarketMetadata = operation({
  service: 'MarketService', method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/metadata',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'What one market does',
  description: `Last price of a pair, and its last 24 hours. ${WINDOWS} ${UNKNOWN} What only perpetuals have is absent.`,
  answer: 'The pair at this moment.',
  refusals: ['NOT_FOUND', ...HISTORY],
  params: Type.Object({ tradingPairId: fields.pairName }),
  output: Metadata,
  example: {
    input: { tradingPairId: sample.PAIR },
    output: sample.metadata,
  },
  run: (gateway, call, { tradingPairId }) => {
    const pair = pairOf(gateway, tradingPairId)
    if (pair instanceof Refused) return call.refuse(pair)
    askHistory(gateway.history, 'market', { pair: pair.index, now: gateway.time() }, (answer) => {
      if (answer instanceof Refused) call.refuse(answer)
      else call.answer(metadataRecord(gateway, pair, answer))
    })
  },
})

export const GetCandles = operation({
  service: 'MarketService', method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/candles',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Candles',
  description: 'Price and volume of a pair by minute, hour, day or week, oldest first. Candles begin at whole multiples of the interval '
    + 'in UTC, weeks on Mondays. The first one is that of the first trade, the last one that of the last trade and may still change; '
    + 'those without trades between them are flat at the close before. With `startTime` the answer has the first `limit` candles that '
    + 'begin at it or later, without it the last ones that begin at `endTime` or earlier; so go on from `T` + 1, or back from `t` - 1.',
  answer: 'The candles.',
  refusals: ['NOT_FOUND', ...HISTORY],
  params: Type.Object({ tradingPairId: fields.pairName }),
  query: Type.Object({
    interval: Type.Optional(field(CandleInterval, 'Length of a candle; default 1m.')), ...TimeRange, limit: Type.Optional(
      field(Type.Integer({ minimum: 1, maximum: CANDLES_MAX }), 'Most candles of the answer, 1 to 500; default 100.'),
    ),
  }),
  output: Type.Object(
    {
      tradingPairId: fields.tradingPairId, interval: field(CandleInterval, 'Length of a candle; default 1m.'),
      candles: field(Type.Array(Candle), 'Oldest first.'),
    },
  ),
  example: {
    input: { tradingPairId: sample.PAIR, interval: '1h', startTime: '1768467600000', limit: 1 },
    output: sample.candles,
  },
  run: (gateway, call, { tradingPairId, interval = INTERVAL, limit = CANDLES, ...times }) => {
    const range = timeRangeOf(times)
    if (range instanceof Refused) return call.refuse(range)
    const pair = pairOf(gateway, tradingPairId)
    if (pair instanceof Refused) return call.refuse(pair)
    askHistory(gateway.history, 'candles', { pair: pair.index, interval, limit, ...range }, (answer) => {
      if (answer instanceof Refused) return call.refuse(answer)
      const candles = answer.map((candle) => candleRecord(gateway, pair, interval, candle))
      call.answer({ tradingPairId: pair.id, interval, candles })
    })
  },
})
