/**
 * What pairs traded lately: rolling windows, days and totals, as differences of the sums that stand beside the candles, so that a window
 * costs a binary search whatever happened in it.
 *
 * A window is whole minutes, the last of which is the one that is now; days are those of UTC. What was worked out for a pair holds until
 * it trades again or the minute is over, and is kept until then.
 */
import type { Genesis, Pair } from '../../state/genesis.ts'
import { FILL } from '../../layout/event.ts'
import { startAt } from './candle_answers.ts'
import { NOTHING, turnoverAt, type Turnover } from '../project/candles.ts'
import { CANDLE, candleOwner, Resolution, RESOLUTION_MS } from '../store/layout.ts'
import type { PageReader } from '../store/page_reader.ts'
import { openInterestOf } from './open_interest.ts'
import {
  WINDOWS, type MarketDay, type MarketStats, type MarketWindow, type OpenInterest, type Screener, type ScreenerAsk,
} from './queries.ts'

const { at: C } = CANDLE
const { at: F } = FILL
const [MINUTE_MS, HOUR_MS, DAY_MS] = RESOLUTION_MS
const DAYS = 7
/** Pages read before others get a turn. */
const SLICE = 32

export interface MarketReader {
  /** A pair at `now`, Unix ms; `null`: it never traded, or there is no such pair. */
  statsOf(pair: number, now: number): MarketStats | null
  /** The same of each of these. */
  statsOfEach(pairs: readonly number[], now: number): Generator<undefined, (MarketStats | null)[]>
  screener(ask: ScreenerAsk): Generator<undefined, Screener>
}

interface Known {
  readonly minute: number
  readonly stats: MarketStats
}

/** `candles` reads the candles of all pairs, `trades` the trades of each, `marks` the minutes of all perpetuals. */
export function createMarketReader(
  genesis: Genesis, candles: PageReader, trades: readonly PageReader[], marks: PageReader,
): MarketReader {
  const known = new Map<number, Known>()

  const statsOf = (pair: number, now: number): MarketStats | null => {
    const minutes = candleOwner(pair, Resolution.MINUTE)
    const count = candles.count(minutes)
    if (count === 0) return null
    const at = candles.locate(minutes, count - 1)
    const all = turnoverAt(candles.views, at)
    const minute = Math.max(startAt(candles, at), now - (now % MINUTE_MS))
    const before = known.get(pair)
    if (before?.minute === minute && before.stats.trades === all.trades) return before.stats
    const stats = workOut(candles, trades[pair]!, pair, minute, count, all)
    known.set(pair, { minute, stats })
    return stats
  }

  function* statsOfEach(indexes: readonly number[], now: number): Generator<undefined, (MarketStats | null)[]> {
    const all: (MarketStats | null)[] = []
    let pause = candles.loads + SLICE
    for (const index of indexes) {
      all.push(statsOf(index, now))
      if (candles.loads < pause) continue
      yield
      pause = candles.loads + SLICE
    }
    return all
  }

  function* screener({ marketType, limit, skip, now }: ScreenerAsk): Generator<undefined, Screener> {
    const { pairs } = genesis
    const asked = pairs.filter(({ marketType: type }) => marketType === undefined || type === marketType).map(({ index }) => index)
    const stats = yield* statsOfEach(asked, now)
    const interest = (pair: number): OpenInterest | null => (pairs[pair]!.perp === null ? null : openInterestOf(marks, genesis, pair, now))
    const rows: Screener['rows'] = asked.map((pair, i) => ({ pair, stats: stats[i]!, openInterest: interest(pair) }))
    const volumes = new Map(rows.map(({ pair, stats }) => [pair, volumeOf(genesis, pairs[pair]!, stats)]))
    rows.sort((a, b) => compare(volumes.get(b.pair)!, volumes.get(a.pair)!) || compare(pairs[a.pair]!.symbol, pairs[b.pair]!.symbol))
    return { rows: rows.slice(skip, skip + limit), total: rows.length }
  }
  return { statsOf, statsOfEach, screener }
}

const compare = <T extends bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

/** What assets of every scale are compared in. */
const SCALE = 18
/** Traded in 24 h, in 10^-18 of the quote asset's unit; less than nothing without a trade ever. */
const volumeOf = (genesis: Genesis, { quote }: Pair, stats: MarketStats | null): bigint =>
  stats === null ? -1n : stats.windows['24h'].quote * 10n ** BigInt(SCALE - genesis.assets[quote]!.scale)

/** A pair with `count` candles of a minute, which come to `all`, as it is in the minute that begins at `minute`. */
function workOut(candles: PageReader, trades: PageReader, pair: number, minute: number, count: number, all: Turnover): MarketStats {
  const minutes = candleOwner(pair, Resolution.MINUTE)
  /** Candles before a window of `length` minutes: it has one for each minute at most. */
  const beforeWindow = (length: number): number =>
    candles.search(minutes, count, (at) => startAt(candles, at) <= minute - length * MINUTE_MS, Math.max(0, count - length))
  const windowFrom = (number: number): MarketWindow => {
    const before = turnoverBefore(candles, minutes, number)
    return { lots: all.lots - before.lots, quote: all.quote - before.quote, before: before.close }
  }
  const day = beforeWindow(WINDOWS['24h'])
  const windows = { '1h': windowFrom(beforeWindow(WINDOWS['1h'])), '24h': windowFrom(day), '7d': windowFrom(beforeWindow(WINDOWS['7d'])) }
  const last = trades.locate(pair, trades.count(pair) - 1)
  return {
    pair, windows,
    price: trades.views.i32[last + F.price]!,
    time: trades.views.f64[(last + F.time) >>> 1]!,
    ...extremes(candles, pair, day, count, minute),
    days: daysOf(candles, pair, minute),
    quote: all.quote,
    trades: all.trades,
  }
}

/** Everything before record `number`. */
const turnoverBefore = (candles: PageReader, owner: number, number: number): Turnover =>
  number === 0 ? NOTHING : turnoverAt(candles.views, candles.locate(owner, number - 1))

/** Highest and lowest price of 24 h: of minutes, from candle `from` to the end of its hour, and of the hours after that. */
function extremes(candles: PageReader, pair: number, from: number, count: number, minute: number): Pick<MarketStats, 'high' | 'low'> {
  let high: number | null = null
  let low: number | null = null
  const take = (at: number): void => {
    const { i32 } = candles.views
    high = Math.max(high ?? 0, i32[at + C.high]!)
    low = Math.min(low ?? Infinity, i32[at + C.low]!)
  }
  const begin = minute - (WINDOWS['24h'] - 1) * MINUTE_MS
  const firstHour = Math.ceil(begin / HOUR_MS) * HOUR_MS
  const minutes = candleOwner(pair, Resolution.MINUTE)
  for (let number = from; number < count; number++) {
    const at = candles.locate(minutes, number)
    if (startAt(candles, at) >= firstHour) break
    take(at)
  }
  const hours = candleOwner(pair, Resolution.HOUR)
  for (let number = candles.count(hours) - 1; number >= 0; number--) {
    const at = candles.locate(hours, number)
    if (startAt(candles, at) < firstHour) break
    take(at)
  }
  return { high, low }
}

/** The days up to the one of `minute`. */
function daysOf(candles: PageReader, pair: number, minute: number): MarketDay[] {
  const owner = candleOwner(pair, Resolution.DAY)
  const count = candles.count(owner)
  const first = minute - (minute % DAY_MS) - (DAYS - 1) * DAY_MS
  let number = candles.search(owner, count, (at) => startAt(candles, at) < first, Math.max(0, count - DAYS))
  let before = turnoverBefore(candles, owner, number)
  return Array.from({ length: DAYS }, (_, index) => {
    const start = first + index * DAY_MS
    let after = before
    const at = number < count ? candles.locate(owner, number) : -1
    if (at >= 0 && startAt(candles, at) === start) {
      after = turnoverAt(candles.views, at)
      number++
    }
    const day = { start, quote: after.quote - before.quote, before: before.close, close: after.close }
    before = after
    return day
  })
}
