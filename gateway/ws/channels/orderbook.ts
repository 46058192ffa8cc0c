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
 *
 * A book that cannot be copied is asked of the matcher (bridge/books.ts). What happens until it answers is kept, at most {@link KEPT_MAX}
 * changes, and what of it is behind the answer's sequence continues it. The snapshot then comes some milliseconds behind `subscribed`.
 */
import Type, { type Static } from 'typebox'
import type { Pair } from '../../../core/state/genesis.ts'
import type { Views } from '../../../core/layout/table.ts'
import { readDepth, type Depth } from '../../../core/view/book.ts'
import { noChange, pairOfEvent, readBookChange, type BookChange } from '../../bridge/book_events.ts'
import type { Gateway } from '../../context.ts'
import { priceText, quantityText } from '../../operations/amounts.ts'
import * as sample from '../../operations/example_values.ts'
import {
  checksumOf as checksumOfBest, CHECKSUM_LEVELS, isPowerOfTen, Magnitude, PricedLevel,
} from '../../operations/orderbook.ts'
import { Refused } from '../../refused.ts'
import * as fields from '../../operations/fields.ts'
import { field } from '../../operations/schema.ts'
import { BookSide, type Level } from '../book_side.ts'
import { dataFrame, errorFrame, type Frame } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

const GROUPED = field(Magnitude,
  'Group prices by this many ticks, a power of ten; default 1. Bids are grouped downwards, asks upwards.')
const BOOK = { tradingPairId: fields.tradingPairId, magnitude: GROUPED }
const Level = Type.Object({
  price: field(PricedLevel.properties.price, 'Units of the quote token for one of the base token.'),
  quantity: field(
    PricedLevel.properties.quantity,
    'Everything at this price, in units of the base token; "0" in an update: nothing any more.',
  ),
})
const LEVELS = {
  bids: field(Type.Array(Level), 'Buyers, best price first. In an update: those that changed.'),
  asks: field(Type.Array(Level), 'Sellers, best price first. In an update: those that changed.'),
  checksum: field(
    Type.Integer(), 'CRC-32 of the ten best levels of each side after this frame: `price:quantity` joined by commas, bids first.',
  ),
}
const previousSequence = field(
  Type.Integer(), '`sequence` of the frame before. Another one than you have: frames are missing, subscribe again.',
)
const exampleTerms = { tradingPairId: sample.PAIR, magnitude: 1 }
const exampleBids = [{ price: '60000', quantity: '0.03' }]
const exampleAsks = [{ price: '60010.5', quantity: '1.2' }]

export const ORDERBOOK = channel({
  name: 'orderbook',
  access: 'public',
  about: 'The best levels of both sides of a book, grouped by `magnitude` ticks.',
  params: Type.Object({ tradingPairId: fields.pairName, magnitude: Type.Optional(GROUPED) }),
  frames: {
    snapshot: { about: 'The best levels of each side.', data: Type.Object({ ...BOOK, ...LEVELS }), sequenced: true },
    orderbook_update: {
      about: 'The levels that changed since the frame that had `previousSequence`; quantity 0 removes one.',
      data: Type.Object({ ...BOOK, previousSequence, ...LEVELS }), sequenced: true,
    },
  },
  example: {
    params: exampleTerms,
    frames: {
      snapshot: { ...exampleTerms, bids: exampleBids, asks: exampleAsks, checksum: checksumOfBest(exampleBids, exampleAsks) },
      orderbook_update: {
        ...exampleTerms, previousSequence: 42, bids: [{ price: '59999.5', quantity: '0' }], asks: [],
        checksum: checksumOfBest(exampleBids, exampleAsks),
      },
    },
  },
  create: createOrderbook,
})
const NAME = ORDERBOOK.name
/** Levels of a side that are mirrored at most; more than view/book.ts walks. */
const LEVELS_MAX = 100_000
/** Between two looks at a book that could not be read, ms. */
const RETRY_MS = 250
/** The same for a book with more levels than are walked, ms. */
const RETRY_LONG_MS = 10_000
/** Changes that a topic keeps while its book is asked. */
const KEPT_MAX = 100_000
/** Who asks the matcher, of all that this thread knows: all streams together. */
const CLIENT = 'streams'

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
  /** Changes since the book was asked, and what the answer was; `null`: it was not. */
  asked: { readonly kept: BookChange[]; answer: Depth | Refused | null } | null
  /** Who waits was told that there is no snapshot now. */
  refusalSent: boolean
}

type Terms = Required<Static<typeof ORDERBOOK.params>>

function createOrderbook(gateway: Gateway): Channel {
  /** By index of the pair. */
  const topics: Topic[][] = Array.from({ length: gateway.genesis.limits.pairs }, () => [])
  const find = ({ tradingPairId, magnitude }: Terms): Topic | undefined =>
    topics[gateway.pairs.get(tradingPairId.toLowerCase())!.index]!.find((topic) => topic.magnitude === magnitude)
  const open = ({ tradingPairId, magnitude }: Terms): Topic => {
    const pair = gateway.pairs.get(tradingPairId.toLowerCase())!
    const topic: Topic = { pair, magnitude, subscribers: new Set(), mirror: null, retryAt: 0, asked: null, refusalSent: false }
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
      if (topic.mirror !== null) publishChanges(gateway, topic, topic.mirror)
      topic.subscribers.add(subscriber)
      if (topic.mirror === null) return topic.asked !== null || begin(gateway, topic)
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
    take: (records, base) => hear(topics, records, base),
    flush: (most) => {
      const changed: { topic: Topic; mirror: Mirror }[] = []
      for (const ofPair of topics) {
        for (const topic of ofPair) {
          const { mirror } = topic
          if (topic.asked !== null) take(gateway, topic, topic.asked)
          else if (mirror === null && gateway.time() >= topic.retryAt) begin(gateway, topic)
          else if (mirror !== null && mirror.sequence !== mirror.sent) changed.push({ topic, mirror })
        }
      }
      changed.sort((a, b) => a.mirror.since - b.mirror.since)
      let pushed = 0
      for (const { topic, mirror } of changed) {
        if (pushed >= most) return mirror.since
        publishChanges(gateway, topic, mirror)
        pushed += topic.subscribers.size
      }
    },
  }
}

/** Copies the book and sends it to everybody who waits for it, or asks for it. False: it cannot be read now, and is tried again. */
function begin(gateway: Gateway, topic: Topic): boolean {
  const { pair, magnitude } = topic
  const book = readDepth(gateway.state, gateway.gate, pair.index, LEVELS_MAX, magnitude)
  if (book !== null) return mirror(gateway, topic, book)
  const asked: NonNullable<Topic['asked']> = { kept: [], answer: null }
  topic.asked = asked
  gateway.books.ask(pair.index, Infinity, magnitude, CLIENT, (answer) => (asked.answer = answer))
  return true
}

/** The mirror begins with this book. */
function mirror(gateway: Gateway, topic: Topic, book: Depth): boolean {
  const { magnitude } = topic
  topic.retryAt = gateway.time() + (book.cut ? RETRY_LONG_MS : RETRY_MS)
  // What is mirrored is known to its end: a change behind it could not be told from a contradiction.
  if (book.cut) return false
  topic.refusalSent = false
  const { sequence } = book
  topic.mirror = {
    bids: new BookSide(true, magnitude, book.bids), asks: new BookSide(false, magnitude, book.asks), sequence, sent: sequence, since: 0,
    snapshot: null,
  }
  const frame = snapshotOf(gateway, topic, topic.mirror)
  for (const subscriber of topic.subscribers) subscriber.push(frame)
  return true
}

/** Between two commands: begins the mirror with what was answered, and goes on with what was kept. */
function take(gateway: Gateway, topic: Topic, asked: NonNullable<Topic['asked']>): void {
  const { answer, kept } = asked
  const full = kept.length > KEPT_MAX
  if (answer === null && !full) return
  topic.asked = null
  topic.retryAt = gateway.time() + RETRY_MS
  if (full || answer === null || answer instanceof Refused || !mirror(gateway, topic, answer)) {
    if (topic.refusalSent) return
    topic.refusalSent = true
    const frame = errorFrame('SNAPSHOT_UNAVAILABLE', 'The snapshot cannot be read now; the subscription stands', undefined, NAME)
    for (const subscriber of topic.subscribers) subscriber.push(frame)
    return
  }
  for (const each of kept) change(topic.mirror!, each)
}

const heard = noChange()

/** Whether a change is to be kept for an answer: what an answer that came has is not. */
const isBehind = ({ sequence }: BookChange, answer: Depth | Refused | null): boolean =>
  answer === null || answer instanceof Refused || sequence > answer.sequence

function hear(topics: readonly Topic[][], records: Views, base: number): void {
  const ofPair = topics[pairOfEvent(records, base)]
  if (ofPair === undefined || ofPair.length === 0 || !readBookChange(records, base, heard)) return
  for (const { mirror, asked } of ofPair) {
    if (mirror !== null) change(mirror, heard)
    else if (asked !== null && isBehind(heard, asked.answer) && asked.kept.length <= KEPT_MAX) asked.kept.push({ ...heard })
  }
}

function change(mirror: Mirror, { sequence, sell, tick, lots, time }: BookChange): void {
  // What stands in the copy already is not taken in again: a copy has all events of a command or none, and so has a frame.
  if (sequence <= mirror.sent) return
  ;(sell ? mirror.asks : mirror.bids).add(tick, lots)
  if (mirror.sequence === mirror.sent) mirror.since = time
  mirror.sequence = sequence
}

function publishChanges(gateway: Gateway, topic: Topic, mirror: Mirror): void {
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
