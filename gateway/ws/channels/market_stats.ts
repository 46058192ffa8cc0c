/**
 * `market_stats {tradingPairId?}`: a pair in its last 24 h as over REST, or every pair.
 *
 * The snapshot has all of them; an update is one pair whose record changed, encoded once for those who listen to it and to all. It says to
 * which `sequence` the record is complete.
 *
 * The history works the records out, so that listener and REST can never differ at rest. It is asked about all pairs that traded in one
 * question, {@link LOOK_MS} after the answer before, and once a minute about every pair that ever traded, because windows are whole minutes
 * and move without trades too. There is never more than one question under way. A pair whose answer is not as far as its last trade is
 * asked about again; what nobody listens to is forgotten.
 *
 * Mark, index, funding and open interest of a perpetual are read from the shared columns when its record is made, at most once a second,
 * after an event that says they changed.
 *
 * When the history cannot be read who waits for a snapshot is told SNAPSHOT_UNAVAILABLE once, and it follows when it can; others hear
 * nothing until then.
 */
import Type from 'typebox'
import { CLOCK } from '../../../core/state/columns.ts'
import { INTERVALS, type Queries } from '../../../core/history/answer/queries.ts'
import { CommandType } from '../../../core/layout/command.ts'
import { answeredTypeOf, EventType, eventTypeOf, FILL } from '../../../core/layout/event.ts'
import type { Views } from '../../../core/layout/table.ts'
import { askHistory } from '../../bridge/history.ts'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { Refused } from '../../refused.ts'
import { Metadata, metadataRecord } from '../../operations/market_data.ts'
import { PairName, Uuid } from '../../operations/operation.ts'
import { field } from '../../operations/schema.ts'
import { dataFrame, errorFrame, type Frame, type Params } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

export const MARKET_STATS = channel({
  name: 'market_stats',
  access: 'public',
  about: 'What pairs traded in 24 hours, and prices, funding and open interest of perpetuals: one pair or all of them.',
  params: Type.Object({ tradingPairId: Type.Optional(field(PairName, 'Only this pair, by id or symbol; absent: all.')) }),
  frames: {
    snapshot: {
      about: 'The pair, or all pairs.',
      data: Type.Object({
        tradingPairId: Type.Optional(field(Uuid, 'The pair that was asked for; absent: all.')),
        markets: field(Type.Array(Metadata), 'Statistics of pairs.'),
      }),
      sequenced: true,
    },
    market_stats_update: { about: 'A pair that changed; at most one frame of it a second.', data: Metadata, sequenced: true },
  },
  example: {
    params: { tradingPairId: sample.PAIR },
    frames: { snapshot: { tradingPairId: sample.PAIR, markets: [sample.metadata] }, market_stats_update: sample.metadata },
  },
  create: createMarketStats,
})
const NAME = MARKET_STATS.name

/** Between two questions about pairs that traded, ms. */
const LOOK_MS = 1_000
/** Before the history is asked again that could not answer, ms; doubled each time. */
const PAUSE_MS = 250
const PAUSE_MOST_MS = 8_000

/** The record of a pair as told last, its text, and what it is complete to. */
interface Known {
  readonly record: Metadata
  readonly text: string
  readonly sequence: number
}

/** A pair, or all of them. */
interface Topic {
  /** Indexes of its pairs. */
  readonly pairs: readonly number[]
  readonly subscribers: Set<Subscriber>
  /** Those of them who have no snapshot yet. */
  readonly waiting: Set<Subscriber>
  snapshot: Frame | null
}

function createMarketStats(gateway: Gateway): Channel {
  const stats = new MarketStats(gateway)
  const pairOf = ({ tradingPairId }: Params): number | null =>
    tradingPairId === undefined ? null : gateway.pairs.get((tradingPairId as string).toLowerCase())!.index
  return {
    declaration: MARKET_STATS,
    seesToLate: true,
    read: readerOf(gateway, MARKET_STATS),
    subscribe: (subscriber, params) => stats.subscribe(subscriber, pairOf(params)),
    unsubscribe: (subscriber, params) => stats.unsubscribe(subscriber, pairOf(params)),
    take: (records, base) => stats.take(records, base),
    flush: () => stats.flush(),
  }
}

class MarketStats {
  readonly #gateway: Gateway
  /** By index of the pair. */
  readonly #topics: readonly Topic[]
  readonly #all: Topic
  readonly #known: (Known | null)[]
  /** Pairs that are listed, and those of them that were while somebody listened: he is told when they are known. */
  readonly #listed: number[] = []
  readonly #fresh = new Set<number>()
  /** Sequence that a record must have reached to be as good as the events, by index of the pair. */
  readonly #wanted: Float64Array
  /** Pairs to ask about. */
  readonly #stale = new Set<number>()
  #asking = false
  /** When a question was asked, and when one about pairs that are known was answered: ms of the gateway's clock, which may be set back. */
  #askedAt = -Infinity
  #lookedAt = -Infinity
  /** Not 0: the last question had no answer, and the next one waits for this long. */
  #pause = 0
  #minute = 0

  constructor(gateway: Gateway) {
    const topicOf = (pairs: readonly number[]): Topic => ({ pairs, subscribers: new Set(), waiting: new Set(), snapshot: null })
    const indexes = Array.from({ length: gateway.genesis.limits.pairs }, (_, index) => index)
    this.#gateway = gateway
    this.#topics = indexes.map((index) => topicOf([index]))
    this.#all = { ...topicOf([]), pairs: this.#listed }
    this.#known = indexes.map(() => null)
    this.#wanted = new Float64Array(indexes.length)
  }

  subscribe(subscriber: Subscriber, pair: number | null): boolean {
    this.#list()
    const topic = pair === null ? this.#all : this.#topics[pair]!
    for (const index of topic.pairs) if (!this.#listened(index)) this.#wanted[index] = this.#gateway.state.clock[CLOCK.SEQUENCE]!
    topic.subscribers.add(subscriber)
    if (this.#isKnown(topic)) {
      subscriber.push(this.#snapshotOf(topic))
      return true
    }
    for (const index of topic.pairs) if (this.#known[index] === null) this.#stale.add(index)
    this.flush()
    topic.waiting.add(subscriber)
    return this.#pause === 0
  }

  unsubscribe(subscriber: Subscriber, pair: number | null): void {
    const topic = pair === null ? this.#all : this.#topics[pair]!
    topic.subscribers.delete(subscriber)
    topic.waiting.delete(subscriber)
    for (const index of topic.pairs) if (!this.#listened(index)) this.#forget(index)
  }

  take({ u32, i32, f64 }: Views, base: number): void {
    const type = eventTypeOf(u32[base]!)
    if (type === EventType.RESULT && answeredTypeOf(u32[base]!) === CommandType.LIST_PAIR) this.#list()
    // FILL and MARK have pair and sequence in the same words.
    if (type !== EventType.FILL && type !== EventType.MARK) return
    const pair = i32[base + FILL.at.pair]!
    if (!this.#listened(pair)) return
    // What a mark changes is not the history's to say; how far it is does not matter then.
    if (type === EventType.FILL) this.#wanted[pair] = f64[(base + FILL.at.sequence) >>> 1]!
    this.#stale.add(pair)
  }

  /** Asks what is to be asked now. */
  flush(): void {
    const now = this.#gateway.time()
    const minute = Math.floor(now / INTERVALS['1m'])
    if (minute !== this.#minute) {
      this.#minute = minute
      for (const [pair, known] of this.#known.entries()) if (known !== null && known.record.lastPrice !== null) this.#stale.add(pair)
    }
    if (this.#stale.size === 0 || this.#asking || Math.abs(now - this.#askedAt) < this.#pause) return
    const due = Math.abs(now - this.#lookedAt) >= LOOK_MS
    // Who waits for his first answer need not wait for the second to be over.
    const pairs = [...this.#stale].filter((pair) => due || this.#known[pair] === null)
    if (pairs.length === 0) return
    this.#askedAt = now
    this.#asking = true
    askHistory(this.#gateway.history, 'markets', { pairs, now }, (answer, sequence) => {
      this.#asking = false
      if (due) this.#lookedAt = this.#gateway.time()
      if (answer instanceof Refused) this.#refused()
      else this.#answered(pairs, answer, sequence, minute)
    })
  }

  /** Takes in what was listed since. */
  #list(): void {
    const { pairs } = this.#gateway.genesis
    for (let pair = this.#listed.length; pair < pairs.length; pair++) {
      this.#listed.push(pair)
      this.#all.snapshot = null
      if (this.#all.subscribers.size === 0) continue
      this.#wanted[pair] = this.#gateway.state.clock[CLOCK.SEQUENCE]!
      this.#stale.add(pair)
      this.#fresh.add(pair)
    }
  }

  #listened(pair: number): boolean {
    return this.#all.subscribers.size > 0 || this.#topics[pair]!.subscribers.size > 0
  }

  #isKnown({ pairs }: Topic): boolean {
    return pairs.every((pair) => this.#known[pair] !== null)
  }

  #forget(pair: number): void {
    this.#stale.delete(pair)
    this.#fresh.delete(pair)
    this.#set(pair, null)
  }

  #set(pair: number, known: Known | null): void {
    this.#known[pair] = known
    this.#topics[pair]!.snapshot = null
    this.#all.snapshot = null
  }

  #refused(): void {
    const again = this.#pause > 0
    this.#pause = Math.min(PAUSE_MOST_MS, Math.max(PAUSE_MS, 2 * this.#pause))
    if (again) return
    const message = 'Statistics cannot be read now; the subscription stands, and they follow'
    const frame = errorFrame('SNAPSHOT_UNAVAILABLE', message, undefined, NAME)
    for (const { waiting } of [this.#all, ...this.#topics]) for (const subscriber of waiting) subscriber.push(frame)
  }

  #answered(pairs: readonly number[], answer: Queries['markets']['answer'], sequence: number, minute: number): void {
    this.#pause = 0
    const { genesis } = this.#gateway
    pairs.forEach((pair, i) => {
      const before = this.#known[pair]!
      // A history that is made anew is not believed before it is as far as it was.
      if (!this.#listened(pair) || (before !== null && sequence < before.sequence)) return
      // Unless it traded or the minute ended while it was asked about.
      if (sequence >= this.#wanted[pair]! && minute === this.#minute) this.#stale.delete(pair)
      const record = metadataRecord(this.#gateway, genesis.pairs[pair]!, answer[i]!)
      const text = JSON.stringify(record)
      this.#set(pair, { record, text, sequence })
      const isNews = before === null ? this.#fresh.delete(pair) : text !== before.text
      if (isNews) this.#publish(pair, record, sequence)
    })
    for (const topic of [this.#all, ...this.#topics]) if (topic.waiting.size > 0 && this.#isKnown(topic)) this.#begin(topic)
  }

  #publish(pair: number, record: Metadata, sequence: number): void {
    const frame = dataFrame(NAME, 'market_stats_update', this.#gateway.now(), record, sequence)
    const topic = this.#topics[pair]!
    const hears = (subscriber: Subscriber): boolean => topic.subscribers.has(subscriber) && !topic.waiting.has(subscriber)
    for (const subscriber of topic.subscribers) if (hears(subscriber)) subscriber.push(frame)
    // Who listens to the pair and to all hears it once.
    for (const subscriber of this.#all.subscribers) if (!this.#all.waiting.has(subscriber) && !hears(subscriber)) subscriber.push(frame)
  }

  #begin(topic: Topic): void {
    const frame = this.#snapshotOf(topic)
    for (const subscriber of topic.waiting) subscriber.push(frame)
    topic.waiting.clear()
  }

  /** Its `sequence` is the least that any of its records is complete to. */
  #snapshotOf(topic: Topic): Frame {
    if (topic.snapshot !== null) return topic.snapshot
    const known = topic.pairs.map((pair) => this.#known[pair]!)
    const markets = known.map(({ record }) => record)
    const data = topic === this.#all ? { markets } : { tradingPairId: markets[0]!.tradingPairId, markets }
    const sequence = Math.min(...known.map((each) => each.sequence))
    topic.snapshot = dataFrame(NAME, 'snapshot', this.#gateway.now(), data, sequence)
    return topic.snapshot
  }
}
