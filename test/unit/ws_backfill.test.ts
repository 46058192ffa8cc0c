/**
 * Promise: what joins the history with the events is exact at its edges and bounded: an answer from before the subscription is asked for
 * again and given up after a while, one that is ahead of the events repeats none, a gap of any length makes a frame of a bounded size, and
 * neither questions nor kept events pile up, however many subscribe or come and go.
 */
import t, { type Test } from 'tap'
import { INTERVALS } from '../../core/history/answer/queries.ts'
import { KEPT_MAX } from '../../gateway/ws/backfill.ts'
import { MarketStage, StageListener } from '../support/market_stage.ts'

const START = Date.UTC(2026, 2, 4, 10)
const PAIR = 0

function newStage(t: Test) {
  const stage = new MarketStage(START)
  t.teardown(() => stage.close())
  const { id: tradingPairId } = stage.genesis.pairs[PAIR]!
  const terms = { ohlcv: { tradingPairId, interval: '1m' }, trades: { tradingPairId }, market_stats: { tradingPairId } }
  const listen = (channel: keyof typeof terms) => {
    const listener = new StageListener()
    return { listener, standing: stage.subscribe(listener, channel, terms[channel]) }
  }
  const trade = (time = START, price = 100) => stage.apply(time, [{ pair: PAIR, price, lots: 5 }])
  return { stage, listen, trade, terms }
}
const types = ({ frames }: StageListener): string[] => frames.map(({ type }) => type)

t.test('an answer that is not far enough is asked for again, and given up after a while', async (t) => {
  for (const channel of ['ohlcv', 'trades'] as const) {
    const { stage, listen, trade } = newStage(t)
    trade()
    const { listener, standing } = listen(channel)
    t.equal(standing, true)
    for (let i = 0; i < 100 && listener.frames.length === 0; i++) {
      stage.answer()
      stage.fanOut.tick()
    }
    t.match(listener.frames, [{ type: 'error', code: 'SNAPSHOT_UNAVAILABLE', channel }])
    t.ok(stage.asked.length >= 10 && stage.asked.length <= 20, `${stage.asked.length} questions`)
    t.equal(listen(channel).standing, false, 'who comes now is told at once')
    stage.fanOut.tick()
    t.equal(stage.questions.length, 0, 'and nothing is asked before the pause is over')
    stage.settle()
    // The events of the trade were not in the ring yet.
    t.strictSame(types(listener), channel === 'trades' ? ['error', 'trades_update', 'snapshot'] : ['error', 'snapshot'])
    t.equal(listener.frames.at(-1)!['sequence'], 1)
  }
})

t.test('an answer ahead of the events, and events it has: each once', async (t) => {
  for (const channel of ['ohlcv', 'trades'] as const) {
    const { stage, listen, trade } = newStage(t)
    trade()
    const { listener } = listen(channel)
    trade(START, 110)
    trade(START, 120)
    stage.record()
    stage.answer()
    stage.fanOut.tick()
    t.match(listener.frames, [{ type: 'snapshot', sequence: 3 }], `${channel} has all three`)
    stage.tell()
    stage.fanOut.tick()
    t.equal(listener.frames.length, 1, 'their events say nothing new')
    trade(START, 130)
    stage.tell()
    stage.fanOut.tick()
    t.match(listener.frames[1], { type: `${channel}_update`, sequence: 4 })
    const { data } = listener.frames[1]!
    if (channel === 'trades') t.equal(data.trades.length, 1)
    else t.match(data.candles, [{ o: '1', c: '1.3', n: 4 }])
  }
})

t.test('after a long silence an update has the newest candles and no more', async (t) => {
  const { stage, listen, trade } = newStage(t)
  trade()
  const { listener } = listen('ohlcv')
  stage.settle()
  trade(START + INTERVALS['1w'], 200)
  stage.tell()
  stage.fanOut.tick()
  const { candles } = listener.frames[1]!['data']
  t.equal(candles.length, 100)
  t.equal(candles.at(-1).t, START + INTERVALS['1w'])
  t.ok(candles.slice(0, -1).every((candle: { o: string; v: string; n: number }) => candle.o === '1' && candle.v === '0' && candle.n === 0))
  t.ok(candles.every(({ t: start }: { t: number }, i: number) => i === 0 || start === candles[i - 1].t + INTERVALS['1m']), 'no gap')
})

t.test('sums beyond 64 bits are exact', async (t) => {
  const { stage, listen } = newStage(t)
  const { listener } = listen('ohlcv')
  stage.settle()
  const most = { pair: PAIR, price: 2 ** 31 - 1, lots: 2 ** 31 - 1 }
  for (let i = 0; i < 50; i++) stage.apply(START, Array.from({ length: 100 }, () => most))
  stage.settle()
  const unit = 2n ** 31n - 1n
  const { tickLotAtoms } = stage.genesis.pairs[PAIR]!
  t.ok(5000n * unit * unit * tickLotAtoms > 2n ** 64n)
  const { q, n } = listener.frames.at(-1)!['data'].candles.at(-1)
  t.equal(n, 5000)
  t.equal(q.replace('.', ''), String(5000n * unit * unit * tickLotAtoms).replace(/0+$/, ''))
})

t.test('more events than are kept end the waiting: trades are told, candles come later', async (t) => {
  const { stage, listen } = newStage(t)
  const [candles, trades] = [listen('ohlcv').listener, listen('trades').listener]
  for (let i = 0; i * 500 <= KEPT_MAX; i++) {
    stage.apply(START, Array.from({ length: 500 }, () => ({ pair: PAIR, price: 100, lots: 1 })))
    stage.tell()
    stage.fanOut.tick()
  }
  t.strictSame(types(candles), ['error'])
  t.equal(types(trades)[0], 'error')
  const told = trades.frames.slice(1).flatMap(({ data }) => data.trades)
  t.equal(told.length, stage.trades.length, 'every trade since it subscribed')
  stage.settle()
  t.equal(types(candles).at(-1), 'snapshot')
  t.match(candles.frames.at(-1)!['data'].candles, [{ n: stage.trades.length }])
  t.match(trades.frames.at(-1), { type: 'snapshot', sequence: stage.commands.length })
})

t.test('one question for many subscribers, and few for many that come and go', async (t) => {
  const { stage, listen, terms, trade } = newStage(t)
  trade()
  for (let i = 0; i < 50; i++) listen('ohlcv')
  t.equal(stage.asked.length, 1)
  stage.settle()
  for (let i = 0; i < 50; i++) t.strictSame(types(listen('ohlcv').listener), ['snapshot'], 'who comes later asks nobody')
  t.equal(stage.asked.length, 1)
  for (const channel of ['trades', 'market_stats'] as const) {
    const before = stage.asked.length
    for (let i = 0; i < 200; i++) {
      const { listener } = listen(channel)
      stage.fanOut.tick()
      stage.unsubscribe(listener, channel, terms[channel])
    }
    t.ok(stage.asked.length - before <= stage.genesis.limits.pairs, `${channel}: ${stage.asked.length - before} questions`)
    stage.settle()
    const { listener } = listen(channel)
    stage.settle()
    t.ok(types(listener).includes('snapshot'), 'and there is room again')
  }
})

t.test('intervals of all pairs wait for their turn', async (t) => {
  const { stage } = newStage(t)
  const listeners = stage.genesis.pairs.flatMap(({ id: tradingPairId }) => Object.keys(INTERVALS).map((interval) => {
    const listener = new StageListener()
    stage.subscribe(listener, 'ohlcv', { tradingPairId, interval })
    return listener
  }))
  t.equal(listeners.length, 24)
  t.equal(stage.questions.length, 16)
  stage.settle()
  for (const listener of listeners) t.strictSame(types(listener), ['snapshot'])
})

t.test('statistics move with the minutes, without a trade', async (t) => {
  const { stage, listen, trade } = newStage(t)
  trade()
  const { listener } = listen('market_stats')
  stage.settle()
  t.match(listener.frames, [{ type: 'snapshot', data: { markets: [{ volume24h: '0.0005' }] } }])
  const asked = stage.asked.length
  stage.now = START + INTERVALS['1d'] - 1
  stage.settle()
  t.match(listener.frames.slice(1), [{ type: 'market_stats_update', data: { volume24h: '0', high24h: null, lastPrice: '1' } }])
  t.ok(stage.asked.length - asked <= 2, 'asked once a minute')
})
