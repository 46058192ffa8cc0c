/**
 * `orderbook {tradingPairId, magnitude?}`: the book of a pair, grouped by `magnitude` ticks, a power of ten (default 1).
 *
 * Snapshot and updates have the best levels of both sides (book_side.ts). An update has every level that changed since the frame before,
 * quantity "0" removes; `previousSequence` is the `sequence` of the frame before, and `checksum` is of the ten best levels of each side
 * after it, as over REST. A turn of the loop makes at most one update of a topic, whatever happened in it.
 *
 * How changes are known: a topic with subscribers has a mirror, which begins as a consistent copy of the shared book at a sequence and
 * takes in the events behind it: a fill, an order that ended, and the RESULT of one that rests or was cancelled say price, lots and side.
 * Who subscribes later gets the mirror, after what changed was told to the others, so all of them go on with the same frame.
 */
import Type, { type Static } from 'typebox'
import type { Pair } from '../../../core/state/genesis.ts'
import { Flag } from '../../../core/layout/command.ts'
import { EventType, eventTypeOf, FILL, ORDER_ENDED, RESULT } from '../../../core/layout/event.ts'
import type { Views } from '../../../core/layout/table.ts'
import { readDepth } from '../../../core/view/book.ts'
import type { Gateway } from '../../context.ts'
import { priceText, quantityText } from '../../operations/amounts.ts'
import { Uuid } from '../../operations/operation.ts'
import {
  checksumOf as checksumOfBest, CHECKSUM_LEVELS, isPowerOfTen, Magnitude, PricedLevel,
} from '../../operations/orderbook.ts'
import { BookSide, type Level } from '../book_side.ts'
import { dataFrame, type Frame } from '../frames.ts'
import type { Channel, Declaration, Subscriber } from './channel.ts'
import { OrderChange, orderChangeOf, rests } from './events.ts'
import { readerOf } from './parameters.ts'

const BOOK = { tradingPairId: Uuid, magnitude: Magnitude }
const LEVELS = { bids: Type.Array(PricedLevel), asks: Type.Array(PricedLevel), checksum: Type.Integer() }

export const ORDERBOOK = {
  name: 'orderbook',
  access: 'public',
  about: 'The best levels of both sides of a book, grouped by `magnitude` ticks.',
  params: Type.Object({ tradingPairId: Uuid, magnitude: Type.Optional(Magnitude) }),
  frames: {
    snapshot: { about: 'The best levels of each side.', data: Type.Object({ ...BOOK, ...LEVELS }), sequenced: true },
    orderbook_update: {
      about: 'The levels that changed since the frame that had `previousSequence`; quantity 0 removes one.',
      data: Type.Object({ ...BOOK, previousSequence: Type.Integer(), ...LEVELS }), sequenced: true,
    },
  },
} as const satisfies Declaration
const NAME = ORDERBOOK.name
/** Levels of a side that are mirrored at most; more than view/book.ts walks. */
const LEVELS_MAX = 100_000
/** Between two looks at a book that could not be read, ms. */
const RETRY_MS = 250
/** The same for a book with more levels than are walked, ms. */
const RETRY_LONG_MS = 10_000

interface Mirror {
  readonly bids: BookSide
  readonly asks: BookSide
  /** Of the last command that is in it, and of the last frame that was sent. */
  sequence: number
  sent: number
  /** Sequenced time of the first change that is not sent, Unix ms. */
  since: number
  /** As of `sent`, once somebody asked for it. */
  snapshot: Frame | null
}

interface Topic {
  readonly pair: Pair
  readonly magnitude: number
  readonly subscribers: Set<Subscriber>
  /** `null`: the book could not be read yet. */
  mirror: Mirror | null
  retryAt: number
}

type Terms = Required<Static<typeof ORDERBOOK.params>>

export function createOrderbook(gateway: Gateway): Channel {
  /** By index of the pair. */
  const topics: Topic[][] = gateway.genesis.pairs.map(() => [])
  const find = ({ tradingPairId, magnitude }: Terms): Topic | undefined =>
    topics[gateway.pairs.get(tradingPairId.toLowerCase())!.index]!.find((topic) => topic.magnitude === magnitude)
  const open = ({ tradingPairId, magnitude }: Terms): Topic => {
    const pair = gateway.pairs.get(tradingPairId.toLowerCase())!
    const topic: Topic = { pair, magnitude, subscribers: new Set(), mirror: null, retryAt: 0 }
    topics[pair.index]!.push(topic)
    return topic
  }
  const readTerms = readerOf(gateway, ORDERBOOK)
  return {
    declaration: ORDERBOOK,
    seesToLate: true,
    read: (params) => {
      const terms = readTerms(params)
      if (typeof terms === 'string') return terms
      const { tradingPairId, magnitude = 1 } = terms
      return isPowerOfTen(magnitude) ? { tradingPairId, magnitude } : 'magnitude must be a power of ten'
    },
    subscribe: (subscriber, params) => {
      const terms = params as Terms
      const topic = find(terms) ?? open(terms)
      // Who is there already is told first; the snapshot has it for who comes.
      if (topic.mirror !== null) tellChanges(gateway, topic, topic.mirror)
      topic.subscribers.add(subscriber)
      if (topic.mirror === null) return begin(gateway, topic)
      subscriber.push(snapshotOf(gateway, topic, topic.mirror))
      return true
    },
    unsubscribe: (subscriber, params) => {
      const topic = find(params as Terms)
      if (topic === undefined) return
      topic.subscribers.delete(subscriber)
      const ofPair = topics[topic.pair.index]!
      if (topic.subscribers.size === 0) ofPair.splice(ofPair.indexOf(topic), 1)
    },
    take: (records, base) => take(topics, records, base),
    flush: (most) => {
      const changed: { topic: Topic; mirror: Mirror }[] = []
      for (const ofPair of topics) {
        for (const topic of ofPair) {
          const { mirror } = topic
          if (mirror === null && gateway.time() >= topic.retryAt) begin(gateway, topic)
          else if (mirror !== null && mirror.sequence !== mirror.sent) changed.push({ topic, mirror })
        }
      }
      changed.sort((a, b) => a.mirror.since - b.mirror.since)
      let pushed = 0
      for (const { topic, mirror } of changed) {
        if (pushed >= most) return mirror.since
        tellChanges(gateway, topic, mirror)
        pushed += topic.subscribers.size
      }
    },
  }
}

/** Copies the book and sends it to everybody who waits for it. False: it cannot be read now, and is tried again. */
function begin(gateway: Gateway, topic: Topic): boolean {
  const { pair, magnitude } = topic
  const book = readDepth(gateway.state, gateway.gate, pair.index, LEVELS_MAX, magnitude)
  topic.retryAt = gateway.time() + (book?.cut === true ? RETRY_LONG_MS : RETRY_MS)
  // What is mirrored is known to its end: a change behind it could not be told from a contradiction.
  if (book === null || book.cut) return false
  const { sequence } = book
  topic.mirror = {
    bids: new BookSide(true, magnitude, book.bids), asks: new BookSide(false, magnitude, book.asks), sequence, sent: sequence, since: 0,
    snapshot: null,
  }
  const frame = snapshotOf(gateway, topic, topic.mirror)
  for (const subscriber of topic.subscribers) subscriber.push(frame)
  return true
}

function take(topics: readonly Topic[][], records: Views, base: number): void {
  const { i32, u32, f64 } = records
  switch (eventTypeOf(u32[base]!)) {
    case EventType.FILL: {
      const { at } = FILL
      const ofPair = topics[i32[base + at.pair]!]!
      if (ofPair.length === 0) return
      const [sequence, time] = [f64[(base + at.sequence) >>> 1]!, f64[(base + at.time) >>> 1]!]
      return change(ofPair, sequence, time, u32[base + at.makerFlags]!, i32[base + at.price]!, -i32[base + at.lots]!)
    }
    case EventType.ORDER_ENDED: {
      const { at } = ORDER_ENDED
      const ofPair = topics[i32[base + at.pair]!]!
      if (ofPair.length === 0) return
      const [sequence, time] = [f64[(base + at.sequence) >>> 1]!, f64[(base + at.time) >>> 1]!]
      return change(ofPair, sequence, time, u32[base + at.flags]!, i32[base + at.price]!, -i32[base + at.remaining]!)
    }
    case EventType.RESULT: {
      const { at } = RESULT
      const ofPair = topics[i32[base + at.pair]!]
      if (ofPair === undefined || ofPair.length === 0) return
      const what = orderChangeOf(records, base)
      if (what === OrderChange.NONE || (what === OrderChange.PLACED && !rests(records, base))) return
      const lots = i32[base + at.remaining]!
      const added = what === OrderChange.PLACED ? lots : -lots
      const [sequence, time] = [f64[(base + at.sequence) >>> 1]!, f64[(base + at.time) >>> 1]!]
      return change(ofPair, sequence, time, u32[base + at.flags]!, i32[base + at.price]!, added)
    }
  }
}

function change(topics: readonly Topic[], sequence: number, time: number, flags: number, tick: number, lots: number): void {
  for (const { mirror } of topics) {
    // What stands in the copy already is not taken in again: a copy has all events of a command or none, and so has a frame.
    if (mirror === null || sequence <= mirror.sent) continue
    ;((flags & Flag.SELL) !== 0 ? mirror.asks : mirror.bids).add(tick, lots)
    if (mirror.sequence === mirror.sent) mirror.since = time
    mirror.sequence = sequence
  }
}

function tellChanges(gateway: Gateway, topic: Topic, mirror: Mirror): void {
  if (mirror.sequence === mirror.sent) return
  const { pair, magnitude } = topic
  const data = {
    tradingPairId: pair.id, magnitude, previousSequence: mirror.sent, bids: levelsText(pair, mirror.bids.takeChanges()),
    asks: levelsText(pair, mirror.asks.takeChanges()), checksum: checksumOf(pair, mirror),
  }
  mirror.sent = mirror.sequence
  mirror.snapshot = null
  const frame = dataFrame(NAME, 'orderbook_update', gateway.now(), data, mirror.sequence)
  for (const subscriber of topic.subscribers) subscriber.push(frame)
}

/** Everything told so far is in it: only when nothing is waiting to be told. */
function snapshotOf(gateway: Gateway, { pair, magnitude }: Topic, mirror: Mirror): Frame {
  if (mirror.snapshot !== null) return mirror.snapshot
  const data = {
    tradingPairId: pair.id, magnitude, bids: levelsText(pair, mirror.bids.best(Infinity)),
    asks: levelsText(pair, mirror.asks.best(Infinity)), checksum: checksumOf(pair, mirror),
  }
  mirror.snapshot = dataFrame(NAME, 'snapshot', gateway.now(), data, mirror.sequence)
  return mirror.snapshot
}

const levelsText = (pair: Pair, levels: readonly Level[]): PricedLevel[] =>
  levels.map(({ price, lots }) => ({ price: priceText(pair, price), quantity: quantityText(pair, lots) }))

const checksumOf = (pair: Pair, { bids, asks }: Mirror): number =>
  checksumOfBest(levelsText(pair, bids.best(CHECKSUM_LEVELS)), levelsText(pair, asks.best(CHECKSUM_LEVELS)))
