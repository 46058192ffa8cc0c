/**
 * The answers to the questions of queries.ts, from the pages of the store. Each is a generator that yields between slices of its work; the
 * store may move on meanwhile, but records never move, so a walk from the newest to the oldest stays whole.
 */
import type { Genesis } from '../engine/genesis.ts'
import { Flag, LABEL_SHIFT } from '../layout/command.ts'
import { FILL } from '../layout/event.ts'
import { buys, isFill, ORDER_RECORD, POSTING, Posting, takes } from './layout.ts'
import { createPageReader, type PageReader } from './page_reader.ts'
import { createPortfolioReader } from './portfolio_reader.ts'
import {
  Entry, Reference, Transaction,
  type HistoryMovement, type HistoryOrder, type HistoryTrade, type MovementsAsk, type OrdersAsk, type Position, type Queries,
  type QueryName, type TradesAsk,
} from './queries.ts'
import type { HistoryDatabase } from './store.ts'
import { walk, type Trail } from './walk.ts'

const { at: O } = ORDER_RECORD
const { at: P } = POSTING
const { at: F } = FILL
/** Rows of a fill's posting as movements. */
const QUOTE_LEG = 0
const BASE_LEG = 1

type Work<Name extends QueryName> = Generator<undefined, Queries[Name]['answer']>
export type Answers = { [Name in QueryName]: (ask: Queries[Name]['ask']) => Work<Name> } & {
  /** The store may have changed. */
  forget(): void
}

/** Numbers of the newest record and of the first after it that a walk needs: `from`..`to` in ms and a cursor narrow it. */
interface Bounds {
  readonly from: number
  readonly to: number
  readonly after: Position | null
}
/** Counting needs every row, so only a walk without it may begin at its cursor. */
const boundsOf = (ask: { from?: number; to?: number; after: Position | null; countMost: number }): Bounds => ({
  from: ask.from ?? 0, to: ask.to ?? Infinity, after: ask.countMost > 0 ? null : ask.after,
})

/** Records of `owner` to walk: those up to the bounds, given the words of sequence and time. */
function start(reader: PageReader, owner: number, { to, after }: Bounds, sequence: number, time: number): number {
  const { f64 } = reader.views
  let count = reader.count(owner)
  if (to !== Infinity) count = reader.search(owner, count, (at) => f64[(at + time) >>> 1]! <= to)
  if (after !== null) count = reader.search(owner, count, (at) => f64[(at + sequence) >>> 1]! <= after.sequence)
  return count
}

/** Goes down from record `count` of `owner`. */
function descend(reader: PageReader, owner: number, count: number): Pick<Trail<never>, 'next'> {
  let number = count
  return { next: () => (number > 0 ? reader.locate(owner, --number) : -1) }
}

/** The same where every record is a row that passes, from the first whose time is at least `from`. */
function descendThrough(
  reader: PageReader, owner: number, count: number, from: number, time: number,
): Required<Pick<Trail<never>, 'next' | 'count' | 'drop'>> {
  const { f64 } = reader.views
  const first = from === 0 ? 0 : reader.search(owner, count, (at) => f64[(at + time) >>> 1]! < from)
  let number = count
  return {
    next: () => (number > first ? reader.locate(owner, --number) : -1),
    count: () => number - first,
    drop: (rows) => {
      number = Math.max(first, number - rows)
    },
  }
}

export function createAnswers(database: HistoryDatabase, genesis: Genesis): Answers {
  const orders = createPageReader(database, 'order_page')
  const postings = createPageReader(database, 'posting_page')
  const trades = genesis.pairs.map(() => createPageReader(database, 'trade_page'))
  const portfolio = createPortfolioReader(database, genesis)
  return {
    *order(ask) {
      return findOrder(orders, ask.account, ask.sequence)
    },
    orders: (ask) => walk(orderTrail(orders, ask), ask),
    *trade(ask) {
      for (const [pair, reader] of trades.entries()) {
        const found = findTrade(reader, pair, ask.sequence, ask.index)
        if (found !== null) return found
      }
      return null
    },
    trades: (ask) => {
      if (ask.account !== undefined) return walk(ownTradeTrail(postings, orders, ask, ask.account), ask)
      const { pair } = ask
      if (pair === undefined) return walk(publicTradeTrail(trades, ask), ask)
      // Every reader reads the same table; a pair that does not exist has no pages in it.
      return walk(pairTradeTrail(trades[pair] ?? trades[0]!, pair, ask), ask)
    },
    movements: (ask) => walk(movementTrail(postings, genesis, ask), ask),
    *portfolio(ask) {
      return yield* portfolio(ask.account, ask.period, ask.now)
    },
    forget: () => {
      for (const reader of [orders, postings, ...trades]) reader.forget()
    },
  }
}

/** Text of a client order id in record bytes. */
function labelOf(reader: PageReader, at: number): string {
  const length = Math.min(40, reader.views.u32[at + O.flags]! >>> LABEL_SHIFT)
  return length === 0 ? '' : Buffer.from(reader.views.bytes.buffer as ArrayBuffer, (at + O.label) * 4, length).toString('latin1')
}

function orderAt(reader: PageReader, account: number, at: number): HistoryOrder {
  const { i32, u32, f64, i64 } = reader.views
  return {
    account,
    sequence: f64[(at + O.sequence) >>> 1]!,
    slot: i32[at + O.slot]!,
    pair: i32[at + O.pair]!,
    flags: u32[at + O.flags]!,
    price: i32[at + O.price]!,
    lots: i32[at + O.lots]!,
    remaining: i32[at + O.remaining]!,
    filledQuote: i64[(at + O.filledQuote) >>> 1]!,
    fee: i64[(at + O.fee) >>> 1]!,
    createdAt: f64[(at + O.createdAt) >>> 1]!,
    updatedAt: f64[(at + O.updatedAt) >>> 1]!,
    expiresAt: f64[(at + O.expiresAt) >>> 1]!,
    outcome: i32[at + O.outcome]!,
    slippageBps: i32[at + O.slippageBps]!,
    label: labelOf(reader, at),
  }
}

function findOrder(reader: PageReader, account: number, sequence: number): HistoryOrder | null {
  const { f64 } = reader.views
  const word = (at: number): number => f64[(at + O.sequence) >>> 1]!
  const number = reader.search(account, reader.count(account), (at) => word(at) <= sequence) - 1
  if (number < 0) return null
  const at = reader.locate(account, number)
  return word(at) === sequence ? orderAt(reader, account, at) : null
}

function orderTrail(reader: PageReader, ask: OrdersAsk): Trail<HistoryOrder> {
  const { account, statuses, pair, sell, market, label } = ask
  const { i32, u32, f64 } = reader.views
  const bounds = boundsOf(ask)
  const passes = (at: number): boolean => {
    const flags = u32[at + O.flags]!
    if (statuses !== undefined && !statuses.includes(i32[at + O.outcome]! & 0xff)) return false
    if (pair !== undefined && i32[at + O.pair] !== pair) return false
    if (sell !== undefined && sell !== ((flags & Flag.SELL) !== 0)) return false
    if (market !== undefined && market !== ((flags & Flag.MARKET) !== 0)) return false
    return label === undefined || (flags >>> LABEL_SHIFT === label.length && labelOf(reader, at) === label)
  }
  const all = [statuses, pair, sell, market, label].every((filter) => filter === undefined)
  const first = start(reader, account, bounds, O.sequence, O.createdAt)
  return {
    ...(all ? descendThrough(reader, account, first, bounds.from, O.createdAt) : descend(reader, account, first)),
    isOver: (at) => f64[(at + O.createdAt) >>> 1]! < bounds.from,
    rows: (at) => (passes(at) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + O.sequence) >>> 1]!, index: 0 }),
    build: (at) => orderAt(reader, account, at),
    loads: () => reader.loads,
  }
}

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
  const [fee, otherFee] = [i64[(at + P.fee) >>> 1]!, i64[(at + P.otherFee) >>> 1]!]
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
  }
}

function ownTradeTrail(reader: PageReader, orders: PageReader, ask: TradesAsk, account: number): Trail<HistoryTrade> {
  const { i32, f64 } = reader.views
  const { pair, sell, orderSequence } = ask
  let bounds = boundsOf(ask)
  if (orderSequence !== undefined) {
    // An order traded between its placement and its last change.
    const order = findOrder(orders, account, orderSequence)
    const life = order === null ? { from: Infinity, to: 0 } : { from: order.createdAt, to: order.updatedAt }
    bounds = { ...bounds, from: Math.max(bounds.from, life.from), to: Math.min(bounds.to, life.to) }
  }
  const passes = (at: number): boolean => {
    const kind = i32[at + P.kind]!
    if (!isFill(kind) || (pair !== undefined && i32[at + P.subject] !== pair)) return false
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

/** The movements of a posting: which they are and what they say. */
function movementTrail(reader: PageReader, genesis: Genesis, ask: MovementsAsk): Trail<HistoryMovement> {
  const { i32, f64 } = reader.views
  const { account, asset, entry, transaction } = ask
  const bounds = boundsOf(ask)
  const build = (at: number, row: number): HistoryMovement =>
    isFill(i32[at + P.kind]!) ? fillMovement(reader, genesis, account, at, row) : plainMovement(reader, account, at)
  const passes = (at: number, row: number): boolean => {
    const movement = build(at, row)
    if (asset !== undefined && movement.asset !== asset) return false
    if (entry !== undefined && movement.entry !== entry) return false
    return transaction === undefined || movement.transaction === transaction
  }
  // Kinds of movements that this exchange does not make: nothing to look through.
  const impossible = transaction !== undefined && !MADE.includes(transaction)
  const isFiltered = asset !== undefined || entry !== undefined || transaction !== undefined
  return {
    ...descend(reader, account, impossible ? 0 : start(reader, account, bounds, P.sequence, P.time)),
    isOver: (at) => f64[(at + P.time) >>> 1]! < bounds.from,
    rows: (at) => {
      const hasFee = (i32[at + P.fee]! | i32[at + P.fee + 1]!) !== 0
      const all = !isFill(i32[at + P.kind]!) ? 1 : hasFee ? 7 : 3
      if (!isFiltered) return all
      let passing = 0
      for (let row = 0; row < 3; row++) if ((all & (1 << row)) !== 0 && passes(at, row)) passing |= 1 << row
      return passing
    },
    position: (at, row) => ({ sequence: f64[(at + P.sequence) >>> 1]!, index: i32[at + P.number]! + row }),
    build,
    loads: () => reader.loads,
  }
}

const MADE: readonly number[] = [Transaction.TRADE, Transaction.FEE, Transaction.REBATE, Transaction.FAUCET]
const ENTRIES: Record<number, Pick<HistoryMovement, 'entry' | 'transaction' | 'reference'>> = {
  [Posting.LOCK]: { entry: Entry.LOCK, transaction: Transaction.TRADE, reference: Reference.ORDER },
  [Posting.UNLOCK]: { entry: Entry.UNLOCK, transaction: Transaction.TRADE, reference: Reference.ORDER },
  [Posting.CREDIT]: { entry: Entry.CREDIT, transaction: Transaction.FAUCET, reference: Reference.CREDIT },
}

/** A LOCK, an UNLOCK or a credit. */
function plainMovement(reader: PageReader, account: number, at: number): HistoryMovement {
  const { i32, f64, i64 } = reader.views
  const kind = i32[at + P.kind]!
  const credit = kind === Posting.CREDIT
  const sequence = f64[(at + P.sequence) >>> 1]!
  return {
    account, sequence,
    index: i32[at + P.number]!,
    time: f64[(at + P.time) >>> 1]!,
    asset: i32[at + P.subject]!,
    ...ENTRIES[kind]!,
    amount: i64[(at + P.amount) >>> 1]!,
    available: i64[(at + P.available) >>> 1]!,
    locked: i64[(at + P.locked) >>> 1]!,
    referenceSequence: credit ? sequence : f64[(at + P.orderSequence) >>> 1]!,
    referenceSlot: i32[at + P.slot]!,
  }
}

/** One of the movements of a fill. The posting has the balances after all of them: those after the quote leg lack the fee. */
function fillMovement(reader: PageReader, genesis: Genesis, account: number, at: number, row: number): HistoryMovement {
  const { i32, f64, i64 } = reader.views
  const kind = i32[at + P.kind]!
  const { base, quote, lotAtoms } = genesis.pairs[i32[at + P.subject]!]!
  const fee = i64[(at + P.fee) >>> 1]!
  const leg = row === BASE_LEG ? P.baseAvailable : P.available
  const movement: HistoryMovement = {
    account,
    sequence: f64[(at + P.sequence) >>> 1]!,
    index: i32[at + P.number]! + row,
    time: f64[(at + P.time) >>> 1]!,
    asset: row === BASE_LEG ? base : quote,
    entry: buys(kind) === (row === BASE_LEG) ? Entry.CREDIT : Entry.DEBIT,
    transaction: Transaction.TRADE,
    amount: row === BASE_LEG ? BigInt(i32[at + P.lots]!) * lotAtoms : i64[(at + P.amount) >>> 1]!,
    available: i64[(at + leg) >>> 1]!,
    locked: i64[(at + leg + 2) >>> 1]!,
    reference: Reference.TRADE,
    referenceSequence: f64[(at + P.sequence) >>> 1]!,
    referenceSlot: i32[at + P.index]!,
  }
  if (row === QUOTE_LEG) {
    // A resting BUY pays a positive fee out of what it locked.
    if (kind === Posting.MAKER_BUYS && fee > 0n) movement.locked += fee
    else movement.available += fee
  } else if (row !== BASE_LEG) {
    movement.entry = fee > 0n ? Entry.DEBIT : Entry.CREDIT
    movement.transaction = fee > 0n ? Transaction.FEE : Transaction.REBATE
    movement.amount = fee > 0n ? fee : -fee
  }
  return movement
}
