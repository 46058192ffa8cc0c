/**
 * Promise: candles and windows at their edges, by hand: exact minutes, Mondays, gaps, one trade, none, and the moment at which a trade
 * leaves a window.
 */
import t from 'tap'
import {
  candleStart, INTERVALS, type CandlesAsk, type HistoryCandle, type Interval, type MarketStats,
} from '../../core/history/answer/queries.ts'
import { ask } from '../support/history.ts'
import { MarketStore } from '../support/market_store.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A Sunday, just before midnight. */
const SUNDAY = Date.UTC(2026, 2, 1, 23, 59)
const PAIR = 0

const candlesOf = (store: MarketStore, interval: Interval, more: Partial<CandlesAsk> = {}): HistoryCandle[] =>
  ask(store.answers, 'candles', { pair: PAIR, interval, limit: 500, ...more })
const starts = (candles: readonly HistoryCandle[]): number[] => candles.map(({ start }) => start)
const statsOf = (store: MarketStore, now: number): MarketStats => ask(store.answers, 'market', { pair: PAIR, now })!
/** Quote atoms of one lot at one tick. */
const unit = (store: MarketStore): bigint => store.genesis.pairs[PAIR]!.tickLotAtoms

t.test('without a trade there is nothing, before it was written neither', async (t) => {
  const store = new MarketStore()
  t.equal(ask(store.answers, 'market', { pair: PAIR, now: SUNDAY }), null)
  t.strictSame(candlesOf(store, '1m'), [])
  store.trade(PAIR, SUNDAY, 100, 1)
  t.strictSame(candlesOf(store, '1m'), [], 'in no transaction yet')
  store.flush()
  t.equal(candlesOf(store, '1m').length, 1)
  t.equal(ask(store.answers, 'market', { pair: PAIR + 1, now: SUNDAY }), null, 'another pair')
})

t.test('one trade is one candle of every length', async (t) => {
  const store = new MarketStore()
  store.trade(PAIR, SUNDAY + 30_000, 100, 7)
  store.flush()
  const flat = { open: 100, high: 100, low: 100, close: 100, lots: 7n, quote: 700n * unit(store), trades: 1 }
  for (const interval of Object.keys(INTERVALS) as Interval[]) {
    t.strictSame(candlesOf(store, interval), [{ start: candleStart(interval, SUNDAY), ...flat }], interval)
  }
  t.equal(candleStart('1w', SUNDAY), Date.UTC(2026, 1, 23), 'the week of a Sunday began on Monday before')
  t.equal(candleStart('4h', SUNDAY), Date.UTC(2026, 2, 1, 20))
})

t.test('the last millisecond of a minute, an hour, a day and a week belongs to it, the next one does not', async (t) => {
  const store = new MarketStore()
  store.trade(PAIR, SUNDAY + MINUTE - 1, 100, 1)
  store.trade(PAIR, SUNDAY + MINUTE, 110, 1)
  store.flush()
  for (const interval of Object.keys(INTERVALS) as Interval[]) {
    const monday = SUNDAY + MINUTE
    t.strictSame(starts(candlesOf(store, interval)), [monday - INTERVALS[interval], monday], interval)
    t.match(candlesOf(store, interval), [{ close: 100, trades: 1 }, { open: 110, trades: 1 }])
  }
})

t.test('gaps are flat, and longer candles have their trades only', async (t) => {
  const store = new MarketStore()
  const start = Date.UTC(2026, 2, 4, 10)
  store.trade(PAIR, start, 100, 1)
  store.trade(PAIR, start + 1, 130, 2)
  store.trade(PAIR, start + 2, 90, 3)
  store.trade(PAIR, start + 4 * HOUR + 31 * MINUTE, 120, 4)
  store.flush()
  const minutes = candlesOf(store, '1m')
  t.equal(minutes.length, 272)
  t.match(minutes[0], { open: 100, high: 130, low: 90, close: 90, lots: 6n, trades: 3 })
  t.ok(minutes.slice(1, -1).every(({ open, high, low, close, lots, quote, trades }) =>
    open === 90 && high === 90 && low === 90 && close === 90 && lots === 0n && quote === 0n && trades === 0), 'flat at the last price')
  t.match(minutes.at(-1), { open: 120, high: 120, low: 120, close: 120, lots: 4n })
  t.match(candlesOf(store, '4h'), [{ start: start - 2 * HOUR, trades: 3 }, { start: start + 2 * HOUR, open: 120, trades: 1 }])
  t.match(candlesOf(store, '1d'), [{ open: 100, high: 130, low: 90, close: 120, lots: 10n, trades: 4 }])
})

t.test('the most candles of an answer, and walking on', async (t) => {
  const store = new MarketStore()
  store.trade(PAIR, SUNDAY, 100, 1)
  store.trade(PAIR, SUNDAY + 1200 * MINUTE, 101, 1)
  store.flush()
  const all = candlesOf(store, '1m', { limit: 10_000 })
  t.equal(all.length, 1201)
  t.strictSame(candlesOf(store, '1m'), all.slice(-500))
  t.strictSame(candlesOf(store, '1m', { limit: 1 }), all.slice(-1))
  const walked: HistoryCandle[] = []
  for (let from = 0, page = [all[0]!]; page.length > 0 && walked.length < 2000; from = walked.at(-1)!.start + 1) {
    page = candlesOf(store, '1m', { from, limit: 500 })
    walked.push(...page)
  }
  t.strictSame(walked, all, 'forward')
  const back: HistoryCandle[] = []
  for (let to = SUNDAY * 2, page = [all[0]!]; page.length > 0 && back.length < 2000; to = back[0]!.start - 1) {
    page = candlesOf(store, '1m', { to, limit: 500 })
    back.unshift(...page)
  }
  t.strictSame(back, all, 'and back')
})

t.test('an answer that takes several turns is of the moment it was begun', async (t) => {
  const store = new MarketStore()
  const start = Date.UTC(2026, 2, 4)
  for (let minute = 0; minute < 15_000; minute++) store.trade(PAIR, start + minute * MINUTE, 100 + (minute % 7), 1)
  store.flush()
  const question: CandlesAsk = { pair: PAIR, interval: '30m', limit: 500 }
  const before = ask(store.answers, 'candles', question)
  const work = store.answers.candles(question)
  let turns = 0
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) {
      t.strictSame(step.value, before)
      break
    }
    // In the last candle, which its record has already, and behind it.
    if (turns++ === 0) for (const more of [0, MINUTE]) store.trade(PAIR, start + 14_999 * MINUTE + more, 200, 5)
    store.flush()
    store.answers.forget()
  }
  t.ok(turns > 1, `${turns} turns`)
  t.notSame(ask(store.answers, 'candles', question), before)
})

t.test('several pairs in one question', async (t) => {
  const store = new MarketStore()
  store.trade(PAIR, SUNDAY, 100, 1)
  store.trade(2, SUNDAY, 200, 1)
  store.flush()
  const pairs = [2, 1, PAIR]
  const alone = pairs.map((pair) => ask(store.answers, 'market', { pair, now: SUNDAY }))
  t.strictSame(ask(store.answers, 'markets', { pairs, now: SUNDAY }), alone)
  t.strictSame(ask(store.answers, 'markets', { pairs: [], now: SUNDAY }), [])
})

t.test('when a trade leaves a window, and what a price is compared with', async (t) => {
  const store = new MarketStore()
  const first = Date.UTC(2026, 2, 4, 10, 0, 59, 999)
  store.trade(PAIR, first, 100, 1)
  store.flush()
  const minute = first - (first % MINUTE)
  const quote = 100n * unit(store)
  for (const [name, length] of [['1h', HOUR], ['24h', DAY], ['7d', 7 * DAY]] as const) {
    const last = statsOf(store, minute + length - 1)
    t.strictSame(last.windows[name], { lots: 1n, quote, before: null }, `${name}: still there, and nothing to compare with`)
    const gone = statsOf(store, minute + length)
    t.strictSame(gone.windows[name], { lots: 0n, quote: 0n, before: 100 }, `${name}: gone with its minute`)
  }
  const [inside, outside] = [statsOf(store, minute + DAY - 1), statsOf(store, minute + DAY)]
  t.match(inside, { high: 100, low: 100, price: 100, time: first, quote, trades: 1 })
  t.match(outside, { high: null, low: null, price: 100, time: first, quote, trades: 1 }, 'totals stay')
  const early = statsOf(store, first - DAY)
  t.match(early.windows['1h'], { lots: 1n }, 'a clock that is behind has no window before the last trade')
})

t.test('seven days of UTC', async (t) => {
  const store = new MarketStore()
  const monday = SUNDAY + MINUTE
  store.trade(PAIR, monday - 1, 100, 1)
  store.trade(PAIR, monday, 120, 1)
  store.flush()
  const days = (now: number): unknown[] => statsOf(store, now).days.map(({ start, quote, before, close }) => [start, quote, before, close])
  const none = (day: number): unknown[] => [monday + day * DAY, 0n, null, null]
  const sunday = [monday - DAY, 100n * unit(store), null, 100]
  t.strictSame(days(monday), [none(-6), none(-5), none(-4), none(-3), none(-2), sunday, [monday, 120n * unit(store), 100, 120]])
  const later = days(monday + 6 * DAY + 5)
  t.strictSame(later[0], [monday, 120n * unit(store), 100, 120])
  t.strictSame(later.slice(1), [1, 2, 3, 4, 5, 6].map((day) => [monday + day * DAY, 0n, 120, 120]), 'quiet days')
})
