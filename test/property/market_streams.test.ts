/**
 * Promise: whoever listens to candles, trades or statistics has what REST answers, at every frame what the trades up to its sequence say,
 * and nothing twice or never, whenever he came: however far the history is behind the events or ahead of them, while it fails, is away
 * and comes back, over minutes and weeks.
 *
 * One run again: SEED=7 npm test -- test/property/market_streams.test.ts
 */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { INTERVALS, type HistoryTrade, type Interval } from '../../core/history/answer/queries.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { candleRecord, GetCandles, GetMarketMetadata, type Metadata } from '../../gateway/operations/market_data.ts'
import { ListTrades, tradeRecord } from '../../gateway/operations/trades.ts'
import { MarketStage, StageListener } from '../support/market_stage.ts'
import { candlesAsked, naiveCandles } from '../support/naive_market.ts'
import type { Frame } from '../support/sockets.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const STEPS = 3_200
const RESTS = 8
const LISTENERS = 40
const NAMES = Object.keys(INTERVALS) as Interval[]
const CANDLES = 100
const SNAPSHOT_TRADES = 50
t.setTimeout(300_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/property/market_streams.test.ts`)

const random = createPrng(SEED)
const pick = <T>(list: readonly T[]): T => list[random.below(list.length)]!
const stage = new MarketStage(Date.UTC(2026, 1, 26, 23, 58, 30))
t.teardown(() => stage.close())
const { genesis, gateway } = stage
const upTo = (sequence: number): HistoryTrade[] => stage.trades.filter((trade) => trade.sequence <= sequence)
const counted: Record<string, number> = {}
const count = (what: string): void => void (counted[what] = (counted[what] ?? 0) + 1)
const wrong: string[] = []
/** The first difference is enough. */
const expect = (is: boolean, what: string, frame?: unknown): void => {
  if (!is && wrong.length === 0) wrong.push(`${what}: ${JSON.stringify(frame)?.slice(0, 2000)}`)
}

interface Party {
  readonly listener: StageListener
  readonly channel: string
  readonly params: Record<string, string>
  /** Compares what it has with REST. */
  readonly rest: () => void
}

/** One that keeps the newest candles. */
function candles(pair: number, interval: Interval): Party {
  const listener = new StageListener()
  const { id } = genesis.pairs[pair]!
  let has: Frame[] | null = null
  let sequence = -1
  listener.hear = (frame) => {
    count(`ohlcv ${frame['type']}`)
    if (frame['type'] === 'error') return expect(frame['code'] === 'SNAPSHOT_UNAVAILABLE' && has === null, 'an error', frame)
    const told = frame['data'].candles as Frame[]
    if (frame['type'] === 'snapshot') has = told
    else {
      expect(has !== null && frame['sequence'] > sequence, `an update behind ${sequence}`, frame)
      expect(told.length > 0 && told.length <= CANDLES, 'as many candles as there may be', frame)
      const byTime = new Map([...(has ?? []), ...told].map((candle) => [candle['t'], candle]))
      has = [...byTime.values()].slice(-CANDLES)
    }
    expect(frame['sequence'] >= sequence, 'back in time', frame)
    sequence = frame['sequence']
    if (random.below(4) > 0) return
    const naive = candlesAsked(naiveCandles(upTo(sequence), { pair, interval }), { pair, interval, limit: CANDLES })
    const wanted = naive.map((candle) => candleRecord(gateway, genesis.pairs[pair]!, interval, candle))
    expect(isDeepStrictEqual(has, wanted), `${interval} at ${sequence}, as of ${JSON.stringify(wanted.slice(-2))}`, has!.slice(-2))
  }
  const rest = (): void => {
    const { candles } = stage.rest(GetCandles, { tradingPairId: id, interval })
    expect(isDeepStrictEqual(has, candles), `${interval} at rest, as of ${JSON.stringify(candles.slice(-2))}`, has?.slice(-2))
  }
  return { listener, channel: 'ohlcv', params: { tradingPairId: id, interval }, rest }
}

/** One that keeps every trade. */
function trades(pair: number): Party {
  const listener = new StageListener()
  const { id } = genesis.pairs[pair]!
  let has: string[] = []
  /** It had a snapshot: so it begins with the newest of its moment. */
  let whole = false
  const ids = (some: readonly HistoryTrade[]): string[] =>
    some.filter((trade) => trade.pair === pair).map((trade) => tradeRecord(gateway, trade).id)
  listener.hear = (frame) => {
    count(`trades ${frame['type']}`)
    if (frame['type'] === 'error') {
      expect(frame['code'] === 'SNAPSHOT_UNAVAILABLE' && !whole, 'an error behind the snapshot', frame)
      return
    }
    const told = frame['data'].trades.map((trade: Frame) => trade['id']) as string[]
    if (frame['type'] === 'snapshot') {
      expect(isDeepStrictEqual(told, ids(upTo(frame['sequence'])).slice(-SNAPSHOT_TRADES)), `a snapshot at ${frame['sequence']}`, told)
      has = told
      whole = true
      return
    }
    has = [...has, ...told]
    expect(told.length > 0 && isDeepStrictEqual(has, ids(upTo(frame['sequence'])).slice(-has.length)), 'a gap or a repetition', told)
  }
  const rest = (): void => {
    const answer = stage.rest(ListTrades, { tradingPairId: id, pageToken: '', pageSize: 1000 })
    const all = answer.trades.map((trade) => trade.id).reverse()
    const most = Math.min(has.length, 1000)
    expect(isDeepStrictEqual(has.slice(-most), most === 0 ? [] : all.slice(-most)), 'trades at rest', has.slice(-3))
    expect(whole && has.length >= Math.min(SNAPSHOT_TRADES, all.length), 'trades before the snapshot', has.length)
  }
  return { listener, channel: 'trades', params: { tradingPairId: id }, rest }
}

/** One that keeps the record of a pair, or of all. */
function stats(pair: number | null): Party {
  const listener = new StageListener()
  const has = new Map<string, Metadata>()
  const toldAt = new Map<string, number>()
  listener.hear = (frame) => {
    count(`market_stats ${pair === null ? 'of all ' : ''}${frame['type']}`)
    if (frame['type'] === 'error') return expect(has.size === 0, 'an error behind the snapshot', frame)
    const { tradingPairId } = frame['data']
    if (frame['type'] === 'snapshot') {
      for (const record of frame['data'].markets) has.set(record.tradingPairId, record)
      return expect(has.size === (pair === null ? genesis.pairs.length : 1), 'every pair', frame)
    }
    expect(has.has(tradingPairId), 'a pair nobody asked for, or before its snapshot', frame)
    expect(!isDeepStrictEqual(has.get(tradingPairId), frame['data']), 'no change', frame)
    expect(stage.now - (toldAt.get(tradingPairId) ?? -Infinity) >= 1_000, 'too soon', frame)
    toldAt.set(tradingPairId, stage.now)
    has.set(tradingPairId, frame['data'])
  }
  const rest = (): void => {
    for (const { id, index } of genesis.pairs) {
      if (pair !== null && index !== pair) continue
      const record = stage.rest(GetMarketMetadata, { tradingPairId: id })
      expect(isDeepStrictEqual(has.get(id), record), `statistics at rest, as of ${JSON.stringify(record)}`, has.get(id))
    }
  }
  return { listener, channel: 'market_stats', params: pair === null ? {} : { tradingPairId: genesis.pairs[pair]!.id }, rest }
}

/** The next sequenced time: often the same, often at the border of some interval, sometimes weeks away. */
function nextTime(dice: Prng, time: number): number {
  const kind = dice.below(100)
  if (kind < 50) return time + dice.below(20_000)
  if (kind < 94) return Math.ceil((time + 1) / INTERVALS['1m']) * INTERVALS['1m'] + [-1, 0, 0, 1][dice.below(4)]!
  if (kind < 98) return time + dice.below(10 * INTERVALS['1h'])
  return time + dice.below(12 * INTERVALS['1d'])
}

let time = stage.now
function act(): void {
  const dice = random.below(100)
  if (dice < 35) {
    if (random.below(3) === 0) time = Math.max(time, nextTime(random, time))
    const pair = pick([0, 0, 0, 2])
    const fill = () => ({ pair, price: 1 + random.below(60_000), lots: 1 + random.below(2 ** 30) })
    stage.apply(time, Array.from({ length: random.below(4) }, fill))
  } else if (dice < 50) stage.tell(1 + random.below(4))
  else if (dice < 62) stage.record(1 + random.below(4))
  else if (dice < 70) stage.answer(random.below(Math.max(1, stage.questions.length)), random.below(12) === 0)
  else if (dice < 85) stage.fanOut.tick()
  // A gateway's clock is near that of the sequencer, or behind it.
  else if (dice < 93) stage.now = Math.max(stage.now + random.below(2_000), time - random.below(120_000))
  else if (dice < 95) stage.up = random.below(4) > 0
  else subscribe()
}

let parties: Party[] = []
function subscribe(): void {
  const dice = random.below(10)
  if (parties.length > LISTENERS || (dice < 3 && parties.length > 0)) {
    const party = pick(parties)
    stage.unsubscribe(party.listener, party.channel, party.params)
    parties = parties.filter((each) => each !== party)
  } else if (dice < 5 && parties.length > 0) {
    // To what it is subscribed to already: a new snapshot.
    const party = pick(parties)
    const before = party.listener.frames.length
    const standing = stage.subscribe(party.listener, party.channel, party.params, true)
    if (standing === false) party.listener.hear({ type: 'error', code: 'SNAPSHOT_UNAVAILABLE' })
    count(party.listener.frames.length > before ? 'again at once' : 'again later')
  } else {
    const pair = random.below(3)
    const party = pick([() => candles(pair, pick(NAMES)), () => trades(pair), () => stats(pair), () => stats(null)])()
    parties.push(party)
    if (stage.subscribe(party.listener, party.channel, party.params) === false) {
      count('not at once')
      party.listener.hear({ type: 'error', code: 'SNAPSHOT_UNAVAILABLE' })
    }
  }
}

t.test('random trading, history and listeners', async (t) => {
  for (let step = 1; step <= STEPS && wrong.length === 0; step++) {
    act()
    if (step % (STEPS / RESTS) > 0) continue
    stage.settle()
    for (const { rest } of parties) rest()
    t.strictSame(wrong, [], `at rest after ${step} steps and ${stage.trades.length} trades: ${parties.length} listeners`)
  }
  t.strictSame(wrong, [])
  t.strictSame(stage.errors, [])
  t.equal(stage.resyncs, 0)
  t.comment(Object.entries(counted).map(([what, times]) => `${what} ${times}`).join(', '))
  for (const what of ['ohlcv snapshot', 'ohlcv ohlcv_update', 'trades snapshot', 'trades trades_update', 'market_stats snapshot',
    'market_stats market_stats_update', 'market_stats of all snapshot', 'market_stats of all market_stats_update']) {
    t.ok(counted[what]! > 0, what)
  }
})
