/**
 * `trades {tradingPairId}`: the trades of a pair, oldest first, everybody's and without who made them.
 *
 * The snapshot has the newest {@link SNAPSHOT_TRADES} and is complete to its `sequence`: what the history knows, joined with the fills
 * behind it (backfill.ts). Updates go on behind it; a turn of the loop makes one frame of a pair with all its trades, and `sequence`
 * is that of the last. While somebody has a snapshot the newest trades are remembered, so who comes later is not asked for again.
 *
 * Without the history there is no snapshot: the subscriber is told SNAPSHOT_UNAVAILABLE and gets the trades from there on. The snapshot
 * follows when it can be read; like every snapshot it replaces what was told before, and updates go on behind it.
 */
import Type from 'typebox'
import { Flag } from '../../../core/layout/command.ts'
import { EventType, eventTypeOf, FILL } from '../../../core/layout/event.ts'
import type { Views } from '../../../core/layout/table.ts'
import type { Pair } from '../../../core/state/genesis.ts'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { TradeRecord, tradeRecord, type PublicTrade } from '../../operations/trades.ts'
import * as fields from '../../operations/fields.ts'
import { field } from '../../operations/schema.ts'
import { dataFrame, errorFrame, type Frame } from '../frames.ts'
import { Backfill, Joins } from '../backfill.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

/** Trades in a snapshot, at most. */
export const SNAPSHOT_TRADES = 50
/** Trades in one update; more make several. */
const FRAME_TRADES = 500

const Trades = Type.Object({ tradingPairId: fields.tradingPairId, trades: field(Type.Array(TradeRecord), 'Oldest first.') })

export const TRADES = channel({
  name: 'trades',
  access: 'public',
  about: 'The trades of a pair, oldest first, without who made them.',
  params: Type.Object({ tradingPairId: fields.pairName }),
  frames: {
    snapshot: { about: `The newest trades, ${SNAPSHOT_TRADES} at most.`, data: Trades, sequenced: true },
    trades_update: { about: 'Trades since the frame before; `sequence` is that of the last one.', data: Trades, sequenced: true },
  },
  example: {
    params: { tradingPairId: sample.PAIR },
    frames: {
      snapshot: { tradingPairId: sample.PAIR, trades: [sample.trade] },
      trades_update: { tradingPairId: sample.PAIR, trades: [sample.trade] },
    },
  },
  create: createTrades,
})
const NAME = TRADES.name

interface Topic {
  readonly pair: Pair
  /** Those who are told trades as they come. */
  readonly live: Set<Subscriber>
  /** Those who are told nothing before their snapshot. */
  readonly waiting: Set<Subscriber>
  /** Until it has succeeded: before, nobody has a snapshot. */
  join: Backfill<'trades', PublicTrade> | null
  /** Not published yet to those who are live. */
  pending: PublicTrade[]
  /** The newest, all of them published or pending, and what they are complete to; `null`: not known. */
  newest: { trades: PublicTrade[]; sequence: number } | null
}

function createTrades(gateway: Gateway): Channel {
  const joins = new Joins(gateway, gateway.genesis.limits.pairs)
  /** By index of the pair. */
  const topics: (Topic | undefined)[] = []
  const changed = new Set<Topic>()
  const joining = new Set<Topic>()
  const topicOf = (id: unknown): Topic => {
    const pair = gateway.pairs.get((id as string).toLowerCase())!
    return (topics[pair.index] ??= { pair, live: new Set(), waiting: new Set(), join: null, pending: [], newest: null })
  }
  return {
    declaration: TRADES,
    seesToLate: true,
    read: readerOf(gateway, TRADES),
    subscribe: (subscriber, { tradingPairId }) => {
      const topic = topicOf(tradingPairId)
      publishPending(gateway, topic)
      if (topic.newest === null && topic.join === null) {
        const { index: pair } = topic.pair
        topic.join = new Backfill(joins, 'trades', { pair, limit: SNAPSHOT_TRADES, skip: 0, after: null, countMost: 0 })
        joining.add(topic)
      }
      if (topic.join !== null && settle(gateway, topic)) joining.delete(topic)
      const { join, newest } = topic
      if (newest !== null) {
        topic.live.add(subscriber)
        subscriber.push(frameOf(gateway, topic, 'snapshot', newest.trades, newest.sequence))
        return true
      }
      // Only what is kept can be told later.
      const waits = join!.open && !join!.failing
      if (!waits) topic.live.add(subscriber)
      else if (!topic.live.has(subscriber)) topic.waiting.add(subscriber)
      return waits
    },
    unsubscribe: (subscriber, { tradingPairId }) => {
      const topic = topicOf(tradingPairId)
      topic.live.delete(subscriber)
      topic.waiting.delete(subscriber)
      if (topic.live.size > 0 || topic.waiting.size > 0) return
      topic.join?.close()
      topic.join = null
      joining.delete(topic)
      topic.pending = []
      topic.newest = null
    },
    take: (records, base) => {
      if (eventTypeOf(records.u32[base]!) !== EventType.FILL) return
      const topic = topics[records.i32[base + FILL.at.pair]!]
      if (topic === undefined) return
      if (topic.live.size === 0 && topic.waiting.size === 0) return
      const trade = tradeOf(records, base)
      topic.join?.keep(trade)
      if (topic.live.size === 0) return
      topic.pending.push(trade)
      changed.add(topic)
    },
    flush: () => {
      for (const topic of changed) publishPending(gateway, topic)
      changed.clear()
      for (const topic of joining) if (settle(gateway, topic)) joining.delete(topic)
    },
  }
}

function tradeOf({ i32, u32, f64, i64 }: Views, base: number): PublicTrade {
  const { at } = FILL
  return {
    pair: i32[base + at.pair]!,
    sequence: f64[(base + at.sequence) >>> 1]!,
    index: i32[base + at.index]!,
    price: i32[base + at.price]!,
    lots: i32[base + at.lots]!,
    quote: i64[(base + at.quote) >>> 1]!,
    makerSells: (u32[base + at.makerFlags]! & Flag.SELL) !== 0,
    time: f64[(base + at.time) >>> 1]!,
  }
}

function frameOf(
  gateway: Gateway, { pair }: Topic, type: keyof typeof TRADES.frames, trades: readonly PublicTrade[], sequence: number,
): Frame {
  const data = { tradingPairId: pair.id, trades: trades.map((trade) => tradeRecord(gateway, trade)) }
  return dataFrame(NAME, type, gateway.now(), data, sequence)
}

function publish(gateway: Gateway, topic: Topic, to: ReadonlySet<Subscriber>, trades: readonly PublicTrade[]): void {
  for (let from = 0; from < trades.length; from += FRAME_TRADES) {
    const part = trades.slice(from, from + FRAME_TRADES)
    const frame = frameOf(gateway, topic, 'trades_update', part, part.at(-1)!.sequence)
    for (const subscriber of to) subscriber.push(frame)
  }
}

function publishPending(gateway: Gateway, topic: Topic): void {
  const { live, pending, newest } = topic
  if (pending.length === 0) return
  topic.pending = []
  // The history may have been ahead of the events: everybody's snapshot has those then.
  const rest = newest === null ? pending : pending.filter(({ sequence }) => sequence > newest.sequence)
  publish(gateway, topic, live, rest)
  if (newest === null || rest.length === 0) return
  newest.trades = [...newest.trades, ...rest].slice(-SNAPSHOT_TRADES)
  newest.sequence = rest.at(-1)!.sequence
}

/** Sends the snapshot to those who have none; false: it is not known yet. Nothing is pending. */
function settle(gateway: Gateway, topic: Topic): boolean {
  const { waiting, live, pair } = topic
  const outcome = topic.join!.look()
  if (outcome === null) return false
  if (outcome.answer === null) {
    const message = `Earlier trades of ${pair.symbol} cannot be read now; the subscription stands, and they follow`
    for (const subscriber of waiting) subscriber.push(errorFrame('SNAPSHOT_UNAVAILABLE', message, undefined, NAME))
    publish(gateway, topic, waiting, outcome.events)
    for (const subscriber of waiting) live.add(subscriber)
    waiting.clear()
    return false
  }
  const { sequence } = outcome
  const trades = [...outcome.answer.rows.reverse(), ...outcome.events].slice(-SNAPSHOT_TRADES)
  const frame = frameOf(gateway, topic, 'snapshot', trades, sequence)
  for (const subscriber of waiting) live.add(subscriber)
  for (const subscriber of live) subscriber.push(frame)
  waiting.clear()
  topic.join = null
  topic.newest = { trades, sequence }
  return true
}
