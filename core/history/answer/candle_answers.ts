/**
 * Candles of any interval, folded from the records of minutes, hours or days, whichever is the largest that fits; at most 30 records
 * for each. From the first candle of a pair to its last there is one for every interval, so which ones a question is about is known
 * before they are read. The answer is a function of the trades alone: after the last of them no time passes. It is of one moment, however
 * long it takes: only the last record ever changes, and a copy of it is used.
 */
import { NOTHING, turnoverAt, type Turnover } from '../project/candles.ts'
import { viewsOf, type Views } from '../../layout/table.ts'
import { CANDLE, candleOwner, PAGE_TABLES, Resolution, RESOLUTION_MS } from '../store/layout.ts'
import type { PageReader } from '../store/page_reader.ts'
import { candleStart, INTERVALS, type CandlesAsk, type HistoryCandle, type Interval } from './queries.ts'

const { at: C } = CANDLE
/** Words of a record. */
const RECORD = PAGE_TABLES.candle_page
/** Pages read before others get a turn. */
const SLICE = 32

/** The largest candles that are kept of which an interval is made. */
function resolutionOf(interval: Interval): number {
  const length = INTERVALS[interval]
  if (length < RESOLUTION_MS[Resolution.HOUR]) return Resolution.MINUTE
  return length < RESOLUTION_MS[Resolution.DAY] ? Resolution.HOUR : Resolution.DAY
}

/** Beginning of the CANDLE at `at`. */
export const startAt = (reader: PageReader, at: number): number => reader.views.f64[(at + C.time) >>> 1]!

/** Beginnings of the first and last candle of the answer; `null`: there are none. */
function range(ask: CandlesAsk, first: number, last: number): [first: number, last: number] | null {
  const { interval, from, to, limit } = ask
  const length = INTERVALS[interval]
  let begin = candleStart(interval, first)
  let end = candleStart(interval, last)
  if (from !== undefined) begin = Math.max(begin, candleStart(interval, from - 1) + length)
  if (to !== undefined) end = Math.min(end, candleStart(interval, to))
  if (begin > end) return null
  const span = (limit - 1) * length
  return from === undefined ? [Math.max(begin, end - span), end] : [begin, Math.min(end, begin + span)]
}

/** Candles of a pair, oldest first. */
export function* listCandles(reader: PageReader, ask: CandlesAsk): Generator<undefined, HistoryCandle[]> {
  const owner = candleOwner(ask.pair, resolutionOf(ask.interval))
  const count = reader.count(owner)
  if (count === 0) return []
  const newest = copyOf(reader.views, reader.locate(owner, count - 1))
  const bounds = range(ask, startAt(reader, reader.locate(owner, 0)), newest.f64[C.time >>> 1]!)
  if (bounds === null) return []
  const [begin, end] = bounds
  let number = reader.search(owner, count, (at) => startAt(reader, at) < begin)
  let before = number === 0 ? NOTHING : turnoverAt(reader.views, reader.locate(owner, number - 1))
  const candles: HistoryCandle[] = []
  let pause = reader.loads + SLICE
  for (let start = begin; start <= end; start += INTERVALS[ask.interval]) {
    const until = start + INTERVALS[ask.interval]
    let candle: HistoryCandle | null = null
    let after: Turnover = before
    for (; number < count; number++) {
      const isNewest = number === count - 1
      const at = isNewest ? 0 : reader.locate(owner, number)
      const views = isNewest ? newest : reader.views
      if (views.f64[(at + C.time) >>> 1]! >= until) break
      candle = extended(candle, start, views, at)
      after = turnoverAt(views, at)
    }
    candles.push(candle === null ? flat(start, before) : { ...candle, ...between(before, after) })
    before = after
    if (reader.loads < pause) continue
    yield
    pause = reader.loads + SLICE
  }
  return candles
}

/** The CANDLE at `at`, as it is now, at word 0 of its own views. */
function copyOf({ i32 }: Views, at: number): Views {
  const copy = viewsOf(new ArrayBuffer(RECORD * 4))
  copy.i32.set(i32.subarray(at, at + RECORD))
  return copy
}

/** `candle` with the CANDLE at `at`; its sums are those up to its end. */
function extended(candle: HistoryCandle | null, start: number, { i32 }: Views, at: number): HistoryCandle {
  const [open, high, low, close] = [i32[at + C.open]!, i32[at + C.high]!, i32[at + C.low]!, i32[at + C.close]!]
  if (candle === null) return { start, open, high, low, close, lots: 0n, quote: 0n, trades: 0 }
  candle.high = Math.max(candle.high, high)
  candle.low = Math.min(candle.low, low)
  candle.close = close
  return candle
}

const between = (before: Turnover, after: Turnover): Pick<HistoryCandle, 'lots' | 'quote' | 'trades'> =>
  ({ lots: after.lots - before.lots, quote: after.quote - before.quote, trades: after.trades - before.trades })

/** A candle without trades, which is never the first of its pair. */
function flat(start: number, { close }: Turnover): HistoryCandle {
  const price = close!
  return { start, open: price, high: price, low: price, close: price, lots: 0n, quote: 0n, trades: 0 }
}
