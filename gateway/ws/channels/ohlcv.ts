/**
 * `ohlcv {tradingPairId, interval}`: the candles of a pair as over REST.
 *
 * The snapshot has the newest {@link CANDLES} and is complete to its `sequence`. An update has the candles that changed since the frame
 * before: the open one, and when a new one begins those without a trade between the two, flat as over REST, {@link CANDLES} at most. A
 * candle replaces the one with the same `t`; who keeps the newest {@link CANDLES} has what REST answers. After the last trade no time
 * passes: candles are made by trades at their sequenced times and by nothing else.
 *
 * A topic with subscribers has a mirror of its newest candles, which begins as what the history knows joined with the fills behind it
 * (backfill.ts), and takes in every fill after. Who subscribes later gets the mirror, after what changed was told to the others. When
 * the history cannot be read the subscribers are told SNAPSHOT_UNAVAILABLE once; the snapshot follows when it can.
 */
import Type, { type Static } from 'typebox'
import type { Pair } from '../../../core/state/genesis.ts'
import { candleStart, INTERVALS, type HistoryCandle } from '../../../core/history/answer/queries.ts'
import { EventType, eventTypeOf, FILL } from '../../../core/layout/event.ts'
import type { Views } from '../../../core/layout/table.ts'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { Candle, CandleInterval, candleRecord, CANDLES } from '../../operations/market_data.ts'
import * as fields from '../../operations/fields.ts'
import { field } from '../../operations/schema.ts'
import { dataFrame, errorFrame, type Frame } from '../frames.ts'
import { Backfill, Joins } from '../backfill.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

const PARAMS = { tradingPairId: fields.tradingPairId, interval: field(CandleInterval, 'Length of a candle; default 1m.') }
const Candles = Type.Object({ ...PARAMS, candles: field(Type.Array(Candle), 'Oldest first.') })

export const OHLCV = channel({
  name: 'ohlcv',
  access: 'public',
  about: 'The candles of a pair.',
  params: Type.Object({ ...PARAMS, tradingPairId: fields.pairName }),
  frames: {
    snapshot: { about: `The newest candles, ${CANDLES} at most, oldest first.`, data: Candles, sequenced: true },
    ohlcv_update: {
      about: 'The candles that changed, oldest first: each replaces the one with the same `t`, or is a new one.', data: Candles,
      sequenced: true,
    },
  },
  example: {
    params: { tradingPairId: sample.PAIR, interval: sample.candles.interval },
    frames: { snapshot: sample.candles, ohlcv_update: sample.candles },
  },
  create: createOhlcv,
})
const NAME = OHLCV.name
/** Topics that ask the history at once. */
const JOINS_MAX = 16
type Terms = Static<typeof OHLCV.params>

/** What a candle takes of a fill. */
interface Trade {
  readonly sequence: number
  /** Unix ms. */
  readonly time: number
  /** Ticks, lots, quote atoms. */
  readonly price: number
  readonly lots: bigint
  readonly quote: bigint
}

interface Topic {
  readonly pair: Pair
  readonly interval: Static<typeof CandleInterval>
  readonly subscribers: Set<Subscriber>
  /** Until it has succeeded. */
  join: Backfill<'candles', Trade> | null
  /** The newest, oldest first. */
  candles: HistoryCandle[]
  sequence: number
  /** Where it began: trades up to here are in it, though their events may still come. */
  since: number
  /** Beginning of the first candle that changed since the last frame; Infinity: none. */
  changed: number
  /** Once somebody asked for it, until something changes. */
  snapshot: Frame | null
}

function createOhlcv(gateway: Gateway): Channel {
  const joins = new Joins(gateway, JOINS_MAX)
  /** By index of the pair. */
  const topics: Topic[][] = Array.from({ length: gateway.genesis.limits.pairs }, () => [])
  const joining = new Set<Topic>()
  const changed = new Set<Topic>()
  const find = ({ tradingPairId, interval }: Terms): Topic | undefined =>
    topics[gateway.pairs.get(tradingPairId.toLowerCase())!.index]!.find((topic) => topic.interval === interval)
  const open = ({ tradingPairId, interval }: Terms): Topic => {
    const pair = gateway.pairs.get(tradingPairId.toLowerCase())!
    const join = new Backfill<'candles', Trade>(joins, 'candles', { pair: pair.index, interval, limit: CANDLES })
    const topic: Topic = {
      pair, interval, subscribers: new Set(), join, candles: [], sequence: 0, since: 0, changed: Infinity, snapshot: null,
    }
    topics[pair.index]!.push(topic)
    joining.add(topic)
    return topic
  }
  return {
    declaration: OHLCV,
    seesToLate: true,
    read: readerOf(gateway, OHLCV),
    subscribe: (subscriber, params) => {
      const topic = find(params as Terms) ?? open(params as Terms)
      // Who is there already is told first; what comes of it is in the snapshot for who comes.
      if (topic.join === null) publishChanges(gateway, topic)
      else if (begin(gateway, topic)) joining.delete(topic)
      topic.subscribers.add(subscriber)
      if (topic.join !== null) return !topic.join.failing
      subscriber.push(snapshotOf(gateway, topic))
      return true
    },
    unsubscribe: (subscriber, params) => {
      const topic = find(params as Terms)
      if (topic === undefined) return
      topic.subscribers.delete(subscriber)
      if (topic.subscribers.size > 0) return
      topic.join?.close()
      joining.delete(topic)
      changed.delete(topic)
      const ofPair = topics[topic.pair.index]!
      ofPair.splice(ofPair.indexOf(topic), 1)
    },
    take: (records, base) => {
      if (eventTypeOf(records.u32[base]!) !== EventType.FILL) return
      const ofPair = topics[records.i32[base + FILL.at.pair]!]!
      if (ofPair.length === 0) return
      const trade = tradeOf(records, base)
      for (const topic of ofPair) {
        if (topic.join !== null) topic.join.keep(trade)
        else if (trade.sequence > topic.since) {
          extend(topic, trade)
          changed.add(topic)
        }
      }
    },
    flush: () => {
      for (const topic of changed) publishChanges(gateway, topic)
      changed.clear()
      for (const topic of joining) if (begin(gateway, topic)) joining.delete(topic)
    },
  }
}

function tradeOf({ i32, f64, i64 }: Views, base: number): Trade {
  const { at } = FILL
  return {
    sequence: f64[(base + at.sequence) >>> 1]!, time: f64[(base + at.time) >>> 1]!, price: i32[base + at.price]!,
    lots: BigInt(i32[base + at.lots]!), quote: i64[(base + at.quote) >>> 1]!,
  }
}

/** Makes the mirror when it can be made, and sends it to everybody. */
function begin(gateway: Gateway, topic: Topic): boolean {
  const { join, pair, interval, subscribers } = topic
  const known = join!.failing
  const outcome = join!.look()
  if (outcome === null) return false
  if (outcome.answer === null) {
    const message = `The candles of ${pair.symbol}, ${interval}, cannot be read now; the subscription stands, and they follow`
    if (!known) for (const subscriber of subscribers) subscriber.push(errorFrame('SNAPSHOT_UNAVAILABLE', message, undefined, NAME))
    return false
  }
  topic.join = null
  topic.candles = [...outcome.answer]
  topic.sequence = outcome.sequence
  topic.since = outcome.sequence
  for (const trade of outcome.events) extend(topic, trade)
  topic.changed = Infinity
  const frame = snapshotOf(gateway, topic)
  for (const subscriber of subscribers) subscriber.push(frame)
  return true
}

/** Takes in a trade that is behind everything so far. */
function extend(topic: Topic, { sequence, time, price, lots, quote }: Trade): void {
  const { candles, interval } = topic
  const start = candleStart(interval, time)
  const last = candles.at(-1)
  const first = last === undefined || last.start === start ? start : last.start + INTERVALS[interval]
  if (last?.start === start) {
    last.high = Math.max(last.high, price)
    last.low = Math.min(last.low, price)
    last.close = price
    last.lots += lots
    last.quote += quote
    last.trades++
  } else {
    if (last !== undefined) addFlat(topic, last, start)
    candles.push({ start, open: price, high: price, low: price, close: price, lots, quote, trades: 1 })
    candles.splice(0, Math.max(0, candles.length - CANDLES))
  }
  topic.sequence = sequence
  topic.changed = Math.min(topic.changed, first)
  topic.snapshot = null
}

/** Adds the candles between `last` and the one that begins at `until`, as many of them as are still among the newest. */
function addFlat({ candles, interval }: Topic, { start, close }: HistoryCandle, until: number): void {
  const length = INTERVALS[interval]
  for (let at = Math.max(start + length, until - (CANDLES - 1) * length); at < until; at += length) {
    candles.push({ start: at, open: close, high: close, low: close, close, lots: 0n, quote: 0n, trades: 0 })
  }
}

const dataOf = (gateway: Gateway, { pair, interval }: Topic, candles: readonly HistoryCandle[]): Static<typeof Candles> =>
  ({ tradingPairId: pair.id, interval, candles: candles.map((candle) => candleRecord(gateway, pair, interval, candle)) })

function publishChanges(gateway: Gateway, topic: Topic): void {
  if (topic.changed === Infinity) return
  const candles = topic.candles.filter(({ start }) => start >= topic.changed)
  topic.changed = Infinity
  const frame = dataFrame(NAME, 'ohlcv_update', gateway.now(), dataOf(gateway, topic, candles), topic.sequence)
  for (const subscriber of topic.subscribers) subscriber.push(frame)
}

/** Everything told so far is in it: only when nothing is waiting to be told. */
function snapshotOf(gateway: Gateway, topic: Topic): Frame {
  topic.snapshot ??= dataFrame(NAME, 'snapshot', gateway.now(), dataOf(gateway, topic, topic.candles), topic.sequence)
  return topic.snapshot
}
