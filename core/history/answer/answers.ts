/**
 * The answers to the questions of queries.ts, from the pages of the store. Each is a generator that yields between slices of its work; the
 * store may move on meanwhile, but records never move, so a walk from the newest to the oldest stays whole.
 */
import type { Genesis } from '../../state/genesis.ts'
import { Flag } from '../../layout/command.ts'
import { FILL } from '../../layout/event.ts'
import { createApplicationStats } from './application_stats.ts'
import { listCandles } from './candle_answers.ts'
import { createCopyReader } from './copy_answers.ts'
import { buys, isTrade, POSTING, takes } from '../store/layout.ts'
import { createMarginReader } from './margin_answers.ts'
import { createMarginValueReader } from './margin_value.ts'
import { createMarketReader } from './market_answers.ts'
import { applicationMovementTrail, movementTrail } from './movement_answers.ts'
import { applicationOrderTrail, findOrder, orderTrail, type OrderLinks } from './order_answers.ts'
import { CheckedStore, createPageReader, type PageReader } from '../store/page_reader.ts'
import { createHourReader } from './hour_reader.ts'
import { createPortfolioReader } from './portfolio_reader.ts'
import type { HistoryTrade, Queries, QueryName, TradesAsk } from './queries.ts'
import type { HistoryDatabase } from '../store/store.ts'
import { boundsOf, descend, descendThrough, start } from './trails.ts'
import { createRewardReader } from './reward_answers.ts'
import { createWaitingReader } from './waiting_answers.ts'
import { walk, type Trail } from './walk.ts'

const { at: P } = POSTING
const { at: F } = FILL

type Work<Name extends QueryName> = Generator<undefined, Queries[Name]['answer']>
export type Answers = { [Name in QueryName]: (ask: Queries[Name]['ask']) => Work<Name> } & {
  /** The store may have changed. */
  forget(): void
  /** What the store has reached. Throws when its position is not what was written. */
  readonly sequence: number
  /** When its newest command was, Unix ms. */
  readonly time: number
}

export function createAnswers(database: HistoryDatabase, genesis: Genesis): Answers {
  const store = new CheckedStore(database)
  const orders = createPageReader(store, 'order_page')
  const postings = createPageReader(store, 'posting_page')
  const trades = Array.from({ length: genesis.limits.pairs }, () => createPageReader(store, 'trade_page'))
  const orderReferences = createPageReader(store, 'order_reference_page')
  const postingReferences = createPageReader(store, 'posting_reference_page')
  const applications = createApplicationStats(genesis, store)
  const candles = createPageReader(store, 'candle_page')
  const hours = createHourReader(store, genesis)
  const prices = createPageReader(store, 'price_hour_page')
  const marks = createPageReader(store, 'mark_page')
  const marginValues = createMarginValueReader(store, genesis, marks)
  const portfolio = createPortfolioReader(hours, prices, marginValues, genesis)
  const market = createMarketReader(genesis, candles, trades, marks)
  const isPerp = (pair: number): boolean => genesis.pairs[pair]!.perp !== null
  const margin = createMarginReader(store, isPerp)
  const waiting = createWaitingReader(store, orders, margin)
  const rewards = createRewardReader(store)
  const copies = createCopyReader(store, marginValues, () => store.position.time_ms)
  const readers = [
    orders, postings, orderReferences, postingReferences, candles, hours, prices, ...trades, marks, marginValues,
    ...applications.readers, ...margin.readers, ...waiting.readers, ...rewards.readers, ...copies.readers,
  ]
  return {
    *order(ask) {
      return findOrder(orders, waiting.links, ask.account, ask.sequence)
    },
    orders: (ask) => walk(orderTrail(orders, waiting.links, isPerp, ask), ask),
    *trade({ sequence, index }) {
      return firstTrade(trades, sequence, index)
    },
    trades: (ask) => {
      if (ask.account !== undefined) return walk(ownTradeTrail(postings, orders, ask, ask.account), ask)
      const { pair } = ask
      if (pair === undefined) return walk(publicTradeTrail(trades, ask), ask)
      // Every reader reads the same table; a pair that does not exist has no pages in it.
      return walk(pairTradeTrail(trades[pair] ?? trades[0]!, pair, ask), ask)
    },
    movements: (ask) => walk(movementTrail(postings, genesis, ask), ask),
    portfolio: (ask) => portfolio(ask.account, ask.period, ask.now),
    applicationOrders: (ask) => walk(applicationOrderTrail(orderReferences, orders, waiting.links, ask), ask),
    applicationMovements: (ask) => walk(applicationMovementTrail(postingReferences, postings, genesis, ask), ask),
    *applicationStats(ask) {
      return yield* applications.stats(ask.application, ask.since)
    },
    screener: (ask) => market.screener(ask),
    *market(ask) {
      return market.statsOf(ask.pair, ask.now)
    },
    markets: (ask) => market.statsOfEach(ask.pairs, ask.now),
    candles: (ask) => listCandles(candles, ask),
    ...margin.answers,
    ...waiting.answers,
    ...rewards.answers,
    ...copies.answers,
    forget: () => {
      store.forget()
      for (const reader of readers) reader.forget()
    },
    get sequence() {
      return store.position.sequence
    },
    get time() {
      return store.position.time_ms
    },
  }
}

/** The trade with this identity, whatever its pair. */
function firstTrade(trades: readonly PageReader[], sequence: number, index: number): HistoryTrade | null {
  for (const [pair, reader] of trades.entries()) {
    const found = findTrade(reader, pair, sequence, index)
    if (found !== null) return found
  }
  return null
}

const NO_LINKS: OrderLinks = { margin: () => null, parent: () => null, loads: () => 0 }

/** The trade in the FILL at `at`. */
function tradeAt(reader: PageReader, at: number): HistoryTrade {
  const { i32, f64, i64 } = reader.views
  return {
    sequence: f64[(at + F.sequence) >>> 1]!,
    index: i32[at + F.index]!,
    pair: i32[at + F.pair]!,
    time: f64[(at + F.time) >>> 1]!,
    price: i32[at + F.price]!,
    lots: i32[at + F.lots]!,
    quote: i64[(at + F.quote) >>> 1]!,
    makerSells: (i32[at + F.makerFlags]! & Flag.SELL) !== 0,
    makerAccount: i32[at + F.makerAccount]!,
    takerAccount: i32[at + F.takerAccount]!,
    makerSequence: f64[(at + F.makerSequence) >>> 1]!,
    makerSlot: i32[at + F.makerSlot]!,
    takerSlot: i32[at + F.takerSlot]!,
    makerFee: i64[(at + F.makerFee) >>> 1]!,
    takerFee: i64[(at + F.takerFee) >>> 1]!,
  }
}

function findTrade(reader: PageReader, pair: number, sequence: number, index: number): HistoryTrade | null {
  const { i32, f64 } = reader.views
  const isAtMost = (at: number): boolean => {
    const other = f64[(at + F.sequence) >>> 1]!
    return other < sequence || (other === sequence && i32[at + F.index]! <= index)
  }
  const number = reader.search(pair, reader.count(pair), isAtMost) - 1
  if (number < 0) return null
  const at = reader.locate(pair, number)
  return f64[(at + F.sequence) >>> 1] === sequence && i32[at + F.index] === index ? tradeAt(reader, at) : null
}

/** Trades of one pair. */
function pairTradeTrail(reader: PageReader, pair: number, ask: TradesAsk): Trail<HistoryTrade> {
  const bounds = boundsOf(ask)
  return {
    ...descendThrough(reader, pair, start(reader, pair, bounds, F.sequence, F.time), bounds.from, F.time),
    isOver: () => false,
    rows: () => 1,
    position: (at) => ({ sequence: reader.views.f64[(at + F.sequence) >>> 1]!, index: reader.views.i32[at + F.index]! }),
    build: (at) => tradeAt(reader, at),
    loads: () => reader.loads,
  }
}

/** Trades of every pair, newest first over all of them. */
function publicTradeTrail(readers: readonly PageReader[], ask: TradesAsk): Trail<HistoryTrade> {
  const bounds = boundsOf(ask)
  // Cursors keep numbers, not addresses: between two slices other questions use the same readers.
  const cursors = readers.map((reader, pair) => ({ reader, pair, left: start(reader, pair, bounds, F.sequence, F.time) }))
  const older = ({ reader, pair, left }: (typeof cursors)[number]): number =>
    bounds.from === 0 ? 0 : reader.search(pair, left, (at) => reader.views.f64[(at + F.time) >>> 1]! < bounds.from)
  let reader = readers[0]!
  return {
    next: () => {
      let newest: (typeof cursors)[number] | null = null
      let sequence = -1
      for (const cursor of cursors) {
        const at = cursor.left > 0 ? cursor.reader.locate(cursor.pair, cursor.left - 1) : -1
        const its = at < 0 ? -1 : cursor.reader.views.f64[(at + F.sequence) >>> 1]!
        if (its > sequence) [newest, sequence] = [cursor, its]
      }
      if (newest === null) return -1
      newest.left--
      reader = newest.reader
      return reader.locate(newest.pair, newest.left)
    },
    isOver: (at) => reader.views.f64[(at + F.time) >>> 1]! < bounds.from,
    rows: () => 1,
    position: (at) => ({ sequence: reader.views.f64[(at + F.sequence) >>> 1]!, index: reader.views.i32[at + F.index]! }),
    build: (at) => tradeAt(reader, at),
    loads: () => readers.reduce((sum, each) => sum + each.loads, 0),
    count: () => cursors.reduce((sum, cursor) => sum + cursor.left - older(cursor), 0),
  }
}

/** The trade in a fill's posting of `account`. */
function ownTradeAt(reader: PageReader, account: number, at: number): HistoryTrade {
  const { i32, f64, i64 } = reader.views
  const kind = i32[at + P.kind]!
  const taker = takes(kind)
  const other = i32[at + P.otherAccount]!
  const [own, others] = [i32[at + P.slot]!, i32[at + P.otherSlot]!]
  const charged = i32[at + P.charged]! !== 0
  const last = i64[(at + P.otherFee) >>> 1]!
  const [fee, otherFee] = [i64[(at + P.fee) >>> 1]!, charged ? 0n : last]
  return {
    sequence: f64[(at + P.sequence) >>> 1]!,
    index: i32[at + P.index]!,
    pair: i32[at + P.subject]!,
    time: f64[(at + P.time) >>> 1]!,
    price: i32[at + P.price]!,
    lots: i32[at + P.lots]!,
    quote: i64[(at + P.amount) >>> 1]!,
    makerSells: taker === buys(kind),
    makerAccount: taker ? other : account,
    takerAccount: taker ? account : other,
    makerSequence: f64[(at + (taker ? P.otherSequence : P.orderSequence)) >>> 1]!,
    makerSlot: taker ? others : own,
    takerSlot: taker ? own : others,
    makerFee: taker ? otherFee : fee,
    takerFee: taker ? fee : otherFee,
    ...(charged ? { applicationFee: last } : {}),
  }
}

function ownTradeTrail(reader: PageReader, orders: PageReader, ask: TradesAsk, account: number): Trail<HistoryTrade> {
  const { i32, f64 } = reader.views
  const { pair, sell, orderSequence } = ask
  let bounds = boundsOf(ask)
  if (orderSequence !== undefined) {
    // An order traded between its placement and its last change.
    const order = findOrder(orders, NO_LINKS, account, orderSequence)
    const life = order === null ? { from: Infinity, to: 0 } : { from: order.createdAt, to: order.updatedAt }
    bounds = { ...bounds, from: Math.max(bounds.from, life.from), to: Math.min(bounds.to, life.to) }
  }
  const passes = (at: number): boolean => {
    const kind = i32[at + P.kind]!
    if (!isTrade(kind) || (pair !== undefined && i32[at + P.subject] !== pair)) return false
    if (sell !== undefined && sell === buys(kind)) return false
    return orderSequence === undefined || f64[(at + P.orderSequence) >>> 1] === orderSequence
  }
  return {
    ...descend(reader, account, start(reader, account, bounds, P.sequence, P.time)),
    isOver: (at) => f64[(at + P.time) >>> 1]! < bounds.from,
    rows: (at) => (passes(at) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + P.sequence) >>> 1]!, index: i32[at + P.index]! }),
    build: (at) => ownTradeAt(reader, account, at),
    loads: () => reader.loads,
  }
}
