/**
 * The market from a plain list of trades, slow and obvious: every candle, window and day is a search through all of them.
 *
 * Nothing is shared with the history but the shapes of questions and answers: the calendar is JavaScript's.
 */
import type { Genesis } from '../../core/state/genesis.ts'
import type {
  CandlesAsk, HistoryCandle, HistoryTrade, Interval, MarketDay, MarketStats, MarketWindow, OpenInterest, Screener, ScreenerAsk,
} from '../../core/history/answer/queries.ts'

const MINUTE = 60_000
const DAY = 86_400_000

/** When the candle began that holds `time`. */
export function naiveStart(interval: Interval, time: number): number {
  const date = new Date(time)
  const [count, unit] = [Number(interval.slice(0, -1)), interval.at(-1)]
  date.setUTCSeconds(0, 0)
  if (unit === 'm') date.setUTCMinutes(date.getUTCMinutes() - (date.getUTCMinutes() % count))
  else date.setUTCMinutes(0)
  if (unit === 'h') date.setUTCHours(date.getUTCHours() - (date.getUTCHours() % count))
  if (unit === 'd' || unit === 'w') date.setUTCHours(0)
  // Sunday is day 0.
  if (unit === 'w') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.getTime()
}

/** When the next one begins. */
export function naiveEnd(interval: Interval, start: number): number {
  const count = Number(interval.slice(0, -1))
  const minutes = { m: count, h: count * 60, d: count * 1440, w: count * 10_080 }[interval.at(-1) as 'm' | 'h' | 'd' | 'w']
  return start + minutes * MINUTE
}

const sum = (trades: readonly HistoryTrade[], of: (trade: HistoryTrade) => bigint): bigint =>
  trades.reduce((total, trade) => total + of(trade), 0n)

function candleOf(start: number, trades: readonly HistoryTrade[], close: number): HistoryCandle {
  const prices = trades.length === 0 ? [close] : trades.map(({ price }) => price)
  return {
    start, open: prices[0]!, high: Math.max(...prices), low: Math.min(...prices), close: prices.at(-1)!,
    lots: sum(trades, ({ lots }) => BigInt(lots)), quote: sum(trades, ({ quote }) => quote), trades: trades.length,
  }
}

/** Every candle of a pair. `trades` are in the order they were made. */
export function naiveCandles(trades: readonly HistoryTrade[], { pair, interval }: Pick<CandlesAsk, 'pair' | 'interval'>): HistoryCandle[] {
  const own = trades.filter((trade) => trade.pair === pair)
  if (own.length === 0) return []
  const candles: HistoryCandle[] = []
  let next = 0
  for (let start = naiveStart(interval, own[0]!.time); next < own.length; start = naiveEnd(interval, start)) {
    const begin = next
    while (next < own.length && own[next]!.time < naiveEnd(interval, start)) next++
    candles.push(candleOf(start, own.slice(begin, next), candles.at(-1)?.close ?? 0))
  }
  return candles
}

/** Those of them that are asked for. */
export function candlesAsked(candles: readonly HistoryCandle[], { from, to, limit }: CandlesAsk): HistoryCandle[] {
  const found = candles.filter(({ start }) => start >= (from ?? -Infinity) && start <= (to ?? Infinity))
  return from === undefined ? found.slice(-limit) : found.slice(0, limit)
}

export function naiveStats(trades: readonly HistoryTrade[], pair: number, now: number): MarketStats | null {
  const own = trades.filter((trade) => trade.pair === pair)
  const last = own.at(-1)
  if (last === undefined) return null
  const moment = Math.max(now, last.time)
  const thisMinute = naiveStart('1m', moment)
  const priceBefore = (time: number): number | null => own.findLast((trade) => trade.time < time)?.price ?? null
  const windowOf = (minutes: number): HistoryTrade[] => own.filter(({ time }) => time >= thisMinute - (minutes - 1) * MINUTE)
  const windowStats = (minutes: number): MarketWindow => ({
    lots: sum(windowOf(minutes), ({ lots }) => BigInt(lots)), quote: sum(windowOf(minutes), ({ quote }) => quote),
    before: priceBefore(thisMinute - (minutes - 1) * MINUTE),
  })
  const dayOf = (start: number): MarketDay => {
    const inside = own.filter(({ time }) => time >= start && time < start + DAY)
    return { start, quote: sum(inside, ({ quote }) => quote), before: priceBefore(start), close: priceBefore(start + DAY) }
  }
  const prices = windowOf(1440).map(({ price }) => price)
  return {
    pair, price: last.price, time: last.time,
    windows: { '1h': windowStats(60), '24h': windowStats(1440), '7d': windowStats(7 * 1440) },
    high: prices.length === 0 ? null : Math.max(...prices),
    low: prices.length === 0 ? null : Math.min(...prices),
    days: [6, 5, 4, 3, 2, 1, 0].map((ago) => dayOf(naiveStart('1d', moment) - ago * DAY)),
    quote: sum(own, ({ quote }) => quote), trades: own.length,
  }
}

/** Of a perpetual without a price. */
const NO_INTEREST: OpenInterest = { '1h': null, '24h': null, '7d': null, days: Array<null>(7).fill(null) }

export function naiveScreener(trades: readonly HistoryTrade[], genesis: Genesis, ask: ScreenerAsk): Screener {
  const rows = genesis.pairs
    .filter(({ marketType }) => ask.marketType === undefined || marketType === ask.marketType)
    .map(({ index, perp }): Screener['rows'][number] => (
      { pair: index, stats: naiveStats(trades, index, ask.now), openInterest: perp === null ? null : NO_INTEREST }))
  const volume = ({ pair, stats }: Screener['rows'][number]): bigint =>
    stats === null ? -1n : stats.windows['24h'].quote * 10n ** BigInt(20 - genesis.assets[genesis.pairs[pair]!.quote]!.scale)
  const symbol = ({ pair }: Screener['rows'][number]): string => genesis.pairs[pair]!.symbol
  const sorted = rows.sort((a, b) => (volume(a) !== volume(b) ? (volume(a) < volume(b) ? 1 : -1) : symbol(a) < symbol(b) ? -1 : 1))
  return { rows: sorted.slice(ask.skip, ask.skip + ask.limit), total: rows.length }
}
