/** Trades of the history: one, those of a pair, of all pairs, and of an account. */
import { Flag } from '../../layout/command.ts'
import { FILL } from '../../layout/event.ts'
import { buys, isTrade, POSTING, takes } from '../store/layout.ts'
import type { PageReader } from '../store/page_reader.ts'
import { findOrder, type OrderLinks } from './order_answers.ts'
import type { HistoryTrade, Listing, TradesAsk } from './queries.ts'
import { boundsOf, descend, descendThrough, start } from './trails.ts'
import { walk, type Trail } from './walk.ts'

const { at: P } = POSTING
const { at: F } = FILL

/** How far trades are settled (settlement_answers.ts). */
export interface Settlements {
  /** SettlementStatus of the trades of a command; `undefined`: they wait for the next batch. */
  statusOf(sequence: number): number | undefined
}

/** `trades` by pair. */
export function createTradeReader(trades: readonly PageReader[], postings: PageReader, orders: PageReader, settlements: Settlements) {
  return {
    *trade({ sequence, index }: { sequence: number; index: number }): Generator<undefined, HistoryTrade | null> {
      return firstTrade(trades, settlements, sequence, index)
    },
    trades: (ask: TradesAsk): Generator<undefined, Listing<HistoryTrade>> => {
      if (ask.account !== undefined) return walk(ownTradeTrail(postings, orders, settlements, ask, ask.account), ask)
      const { pair } = ask
      if (pair === undefined) return walk(publicTradeTrail(trades, settlements, ask), ask)
      // Every reader reads the same table; a pair that does not exist has no pages in it.
      return walk(pairTradeTrail(trades[pair] ?? trades[0]!, settlements, pair, ask), ask)
    },
  }
}

/** The trade with this identity, whatever its pair. */
function firstTrade(trades: readonly PageReader[], settlements: Settlements, sequence: number, index: number): HistoryTrade | null {
  for (const [pair, reader] of trades.entries()) {
    const found = findTrade(reader, pair, sequence, index)
    if (found >= 0) return tradeAt(reader, settlements, found)
  }
  return null
}

const NO_LINKS: OrderLinks = { margin: () => null, parent: () => null, outcome: (outcome) => outcome, loads: () => 0 }
const settledAt = (settlements: Settlements, sequence: number): { settlement?: number } => {
  const settlement = settlements.statusOf(sequence)
  return settlement === undefined ? {} : { settlement }
}

/** The trade in the FILL at `at`. */
function tradeAt(reader: PageReader, settlements: Settlements, at: number): HistoryTrade {
  const { i32, f64, i64 } = reader.views
  const sequence = f64[(at + F.sequence) >>> 1]!
  return {
    sequence,
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
    ...settledAt(settlements, sequence),
  }
}

/** Address of a trade of `pair`; -1: it is none of its own. */
export function findTrade(reader: PageReader, pair: number, sequence: number, index: number): number {
  const { i32, f64 } = reader.views
  const isAtMost = (at: number): boolean => {
    const other = f64[(at + F.sequence) >>> 1]!
    return other < sequence || (other === sequence && i32[at + F.index]! <= index)
  }
  const number = reader.search(pair, reader.count(pair), isAtMost) - 1
  if (number < 0) return -1
  const at = reader.locate(pair, number)
  return f64[(at + F.sequence) >>> 1] === sequence && i32[at + F.index] === index ? at : -1
}

/** Trades of one pair. */
function pairTradeTrail(reader: PageReader, settlements: Settlements, pair: number, ask: TradesAsk): Trail<HistoryTrade> {
  const bounds = boundsOf(ask)
  return {
    ...descendThrough(reader, pair, start(reader, pair, bounds, F.sequence, F.time), bounds.from, F.time),
    isOver: () => false,
    rows: () => 1,
    position: (at) => ({ sequence: reader.views.f64[(at + F.sequence) >>> 1]!, index: reader.views.i32[at + F.index]! }),
    build: (at) => tradeAt(reader, settlements, at),
    loads: () => reader.loads,
  }
}

/** Trades of every pair, newest first over all of them. */
function publicTradeTrail(readers: readonly PageReader[], settlements: Settlements, ask: TradesAsk): Trail<HistoryTrade> {
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
    build: (at) => tradeAt(reader, settlements, at),
    loads: () => readers.reduce((sum, each) => sum + each.loads, 0),
    count: () => cursors.reduce((sum, cursor) => sum + cursor.left - older(cursor), 0),
  }
}

/** The trade in a fill's posting of `account`. */
function ownTradeAt(reader: PageReader, settlements: Settlements, account: number, at: number): HistoryTrade {
  const { i32, f64, i64 } = reader.views
  const sequence = f64[(at + P.sequence) >>> 1]!
  const kind = i32[at + P.kind]!
  const taker = takes(kind)
  const other = i32[at + P.otherAccount]!
  const [own, others] = [i32[at + P.slot]!, i32[at + P.otherSlot]!]
  const charged = i32[at + P.charged]! !== 0
  const last = i64[(at + P.otherFee) >>> 1]!
  const [fee, otherFee] = [i64[(at + P.fee) >>> 1]!, charged ? 0n : last]
  return {
    sequence,
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
    ...settledAt(settlements, sequence),
  }
}

function ownTradeTrail(
  reader: PageReader, orders: PageReader, settlements: Settlements, ask: TradesAsk, account: number,
): Trail<HistoryTrade> {
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
    build: (at) => ownTradeAt(reader, settlements, account, at),
    loads: () => reader.loads,
  }
}
