/** Orders that wait, or waited, of the history: conditional orders, TWAP orders and their slices, and whose slice an order is. */
import { ConditionalState, conditionalReasonOf, conditionalStateOf, conditionOf, LegFlag } from '../../layout/conditional.ts'
import { Origin, originOf } from '../../layout/flags.ts'
import { TWAP_LABEL_BYTES, twapReasonOf, twapStateOf } from '../../layout/twap.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'
import { CONDITIONAL_RECORD, SLICE_RECORD, TWAP_RECORD } from '../store/waiting_layout.ts'
import { isNamed, type MarginReader } from './margin_answers.ts'
import { orderAt, type OrderLinks } from './order_answers.ts'
import type { HistoryOrder } from './order_queries.ts'
import type { HistoryPosition, Listing, Named } from './queries.ts'
import { boundsOf, descend, descendThrough, start } from './trails.ts'
import type {
  ConditionalOrdersAsk, HistoryConditionalOrder, HistoryTwapOrder, TwapOrdersAsk, TwapSlicesAsk, WaitingQueries,
} from './waiting_queries.ts'
import { SLICE, walk, type Trail } from './walk.ts'

const { at: C } = CONDITIONAL_RECORD
const { at: T } = TWAP_RECORD
const { at: S } = SLICE_RECORD

export interface WaitingReader {
  readonly answers: {
    readonly [Name in keyof WaitingQueries]: (ask: WaitingQueries[Name]['ask']) => Generator<undefined, WaitingQueries[Name]['answer']>
  }
  /** What there is to say of any order besides its record. */
  readonly links: OrderLinks
  readonly readers: readonly PageReader[]
}

/** `orders`: of order_page; `outcome`: how settled orders are. */
export function createWaitingReader(
  store: CheckedStore, orders: PageReader, margin: MarginReader, outcome: OrderLinks['outcome'],
): WaitingReader {
  const conditionals = createPageReader(store, 'conditional_order_page')
  const twaps = createPageReader(store, 'twap_order_page')
  const slices = createPageReader(store, 'twap_slice_page')
  const links: OrderLinks = {
    margin: margin.orderMargin, parent: createParents(slices), outcome, loads: () => margin.loads() + slices.loads,
  }
  return {
    readers: [conditionals, twaps, slices],
    answers: {
      conditionalOrders: (ask) => walk(conditionalTrail(conditionals, margin, ask), ask),
      *conditionalOrder({ account, sequence, kind }) {
        const at = findConditional(conditionals, account, sequence, kind)
        return at < 0 ? null : conditionalAt(conditionals, placesOf(margin, account), account, at)
      },
      twapOrders: (ask) => walk(twapTrail(twaps, slices, margin, ask), ask),
      *twapOrder({ account, ...name }) {
        const at = findTwap(twaps, account, name)
        return at < 0 ? null : twapAt(twaps, slices, margin, account, at)
      },
      twapSlices: (ask) => listSlices(twaps, slices, orders, links, ask),
    },
    links,
  }
}

/** Whose slice an order is. Whoever lists orders goes from slice to slice, so that next to the last one is looked at before a search. */
function createParents(slices: PageReader): OrderLinks['parent'] {
  const { f64, i32 } = slices.views
  const last = { account: -1, number: 0 }
  const isOf = (account: number, number: number, sequence: number): boolean =>
    number >= 0 && number < slices.count(account) && f64[(slices.locate(account, number) + S.sequence) >>> 1] === sequence
  return (account, flags, sequence) => {
    if (originOf(flags) !== Origin.TWAP) return null
    let { number } = last
    if (last.account === account && isOf(account, number - 1, sequence)) number--
    else number = findSlice(slices, account, sequence)
    if (number < 0) return null
    last.account = account
    last.number = number
    const at = slices.locate(account, number)
    return { sequence: f64[(at + S.twapSequence) >>> 1]!, row: i32[at + S.twap]! }
  }
}

// Conditional orders.

/** What a conditional order watches: its position, or where its entry order stands. */
interface Places {
  position(name: Named): HistoryPosition | null
  entry(pair: number, sequence: number): ReturnType<MarginReader['orderMargin']>
}

/** Those of an account. Conditional orders of one position follow each other, so the last one that was looked up is kept. */
function placesOf(margin: MarginReader, account: number): Places {
  let last: { name: Named; position: HistoryPosition | null } | null = null
  return {
    position: (name) => {
      if (last === null || !isNamed(last.name, name)) last = { name, position: margin.findPosition(account, name) }
      return last.position
    },
    entry: (pair, sequence) => margin.orderMargin(account, pair, sequence),
  }
}

function conditionalAt(reader: PageReader, places: Places, account: number, at: number): HistoryConditionalOrder {
  const { i32, f64 } = reader.views
  const [what, flags, pair] = [i32[at + C.what]!, i32[at + C.flags]!, i32[at + C.pair]!]
  const state = conditionalStateOf(what)
  const entry = { sequence: f64[(at + C.entrySequence) >>> 1]!, slot: i32[at + C.entrySlot]! }
  const entered = { sequence: f64[(at + C.orderSequence) >>> 1]!, slot: i32[at + C.orderSlot]! }
  const name: Named = { sequence: f64[(at + C.openedSequence) >>> 1]!, row: i32[at + C.position]! }
  // A trailing stop that is PENDING may watch its position already, until its activation price is there.
  const order = state === ConditionalState.PENDING && name.sequence === 0 ? entry : entered
  const position = name.sequence === 0 ? null : places.position(name)
  const size = (flags & LegFlag.SELL) !== 0 ? (position?.lots ?? 0) : -(position?.lots ?? 0)
  const waits = state === ConditionalState.PENDING || state === ConditionalState.ARMED
  const place = position ?? (entry.sequence === 0 ? null : places.entry(pair, entry.sequence))
  return {
    account,
    createdSequence: f64[(at + C.sequence) >>> 1]!,
    kind: conditionOf(what),
    state,
    reason: conditionalReasonOf(what),
    pair,
    flags,
    trigger: i32[at + C.trigger]!,
    limit: i32[at + C.limit]!,
    lots: i32[at + C.lots]!,
    slippageBps: i32[at + C.slippageBps]!,
    trailBps: i32[at + C.trailBps]!,
    activation: i32[at + C.activation]!,
    watermark: i32[at + C.watermark]!,
    expiresAt: f64[(at + C.expiresAt) >>> 1]!,
    armedAt: f64[(at + C.armedAt) >>> 1]!,
    createdAt: f64[(at + C.createdAt) >>> 1]!,
    updatedAt: f64[(at + C.updatedAt) >>> 1]!,
    orderSequence: order.sequence,
    orderSlot: order.slot,
    entrySequence: entry.sequence,
    entrySlot: entry.slot,
    openedSequence: name.sequence,
    position: name.row,
    code: i32[at + C.code]!,
    ordered: i32[at + C.ordered]!,
    orders: i32[at + C.orders]!,
    held: waits ? Math.max(0, size) : 0,
    ...(place === null ? {} : {
      place: { marginAccount: place.marginAccount, bucket: place.bucket, mode: place.mode, strategyKey: place.strategyKey },
    }),
  }
}

/** Address of that of `account` which the command `sequence` made as its leg `kind`, or -1. */
function findConditional(reader: PageReader, account: number, sequence: number, kind: number): number {
  const { f64, i32 } = reader.views
  const count = reader.count(account)
  const isBefore = (at: number): boolean => {
    const its = f64[(at + C.sequence) >>> 1]!
    return its < sequence || (its === sequence && conditionOf(i32[at + C.what]!) < kind)
  }
  const number = reader.search(account, count, isBefore)
  if (number >= count) return -1
  const at = reader.locate(account, number)
  return f64[(at + C.sequence) >>> 1] === sequence && conditionOf(i32[at + C.what]!) === kind ? at : -1
}

function conditionalTrail(reader: PageReader, margin: MarginReader, ask: ConditionalOrdersAsk): Trail<HistoryConditionalOrder> {
  const { account, states, pair, kind, position } = ask
  const { i32, f64 } = reader.views
  const bounds = boundsOf(ask)
  const places = placesOf(margin, account)
  const nameAt = (at: number): Named => ({ sequence: f64[(at + C.openedSequence) >>> 1]!, row: i32[at + C.position]! })
  const passes = (at: number): boolean => {
    const what = i32[at + C.what]!
    if (states !== undefined && !states.includes(conditionalStateOf(what))) return false
    if (pair !== undefined && i32[at + C.pair] !== pair) return false
    if (kind !== undefined && conditionOf(what) !== kind) return false
    return position === undefined || isNamed(nameAt(at), position)
  }
  const all = [states, pair, kind, position].every((filter) => filter === undefined)
  const first = start(reader, account, bounds, C.sequence, C.createdAt)
  return {
    ...(all ? descendThrough(reader, account, first, bounds.from, C.createdAt) : descend(reader, account, first)),
    isOver: (at) => f64[(at + C.createdAt) >>> 1]! < bounds.from,
    rows: (at) => (passes(at) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + C.sequence) >>> 1]!, index: conditionOf(i32[at + C.what]!) }),
    build: (at) => conditionalAt(reader, places, account, at),
    loads: () => reader.loads + margin.loads(),
  }
}

// TWAP orders.

function twapAt(reader: PageReader, slices: PageReader, margin: MarginReader, account: number, at: number): HistoryTwapOrder {
  const { i32, u32, f64, i64, bytes } = reader.views
  const what = i32[at + T.what]!
  const length = Math.min(TWAP_LABEL_BYTES, i32[at + T.labelLength]!)
  const pair = i32[at + T.pair]!
  const last = f64[(at + T.last) >>> 1]!
  const slice = last === 0 ? -1 : slices.locate(account, last - 1)
  const place = slice < 0 ? null : margin.orderMargin(account, pair, slices.views.f64[(slice + S.sequence) >>> 1]!)
  return {
    account,
    createdSequence: f64[(at + T.sequence) >>> 1]!,
    twap: i32[at + T.row]!,
    state: twapStateOf(what),
    reason: twapReasonOf(what),
    pair,
    flags: u32[at + T.flags]!,
    options: i32[at + T.options]!,
    lots: i32[at + T.lots]!,
    filled: i32[at + T.filled]!,
    price: i32[at + T.price]!,
    trigger: i32[at + T.trigger]!,
    slippageBps: i32[at + T.slippageBps]!,
    slices: i32[at + T.slices]!,
    reached: i32[at + T.reached]!,
    placed: i32[at + T.placed]!,
    code: i32[at + T.code]!,
    startAt: f64[(at + T.startAt) >>> 1]!,
    endAt: f64[(at + T.endAt) >>> 1]!,
    nextAt: f64[(at + T.nextAt) >>> 1]!,
    conditionalExpiry: f64[(at + T.conditionalExpiry) >>> 1]!,
    durationMs: i32[at + T.durationMs]!,
    leverage: i32[at + T.leverage]!,
    createdAt: f64[(at + T.createdAt) >>> 1]!,
    updatedAt: f64[(at + T.updatedAt) >>> 1]!,
    filledQuote: i64[(at + T.filledQuote) >>> 1]!,
    fee: i64[(at + T.fee) >>> 1]!,
    label: Buffer.from(bytes.buffer as ArrayBuffer, (at + T.label) * 4, length).toString('latin1'),
    namedMarginAccount: i32[at + T.marginAccount]!,
    namedBucket: i32[at + T.bucket]!,
    namedSequence: f64[(at + T.namedSequence) >>> 1]!,
    ...(place === null ? {} : { place: { marginAccount: place.marginAccount, bucket: place.bucket, strategyKey: place.strategyKey } }),
  }
}

/** Address of the one of `account` with this name, or -1. */
function findTwap(reader: PageReader, account: number, { sequence, row }: Named): number {
  const { f64, i32 } = reader.views
  const number = reader.search(account, reader.count(account), (at) => f64[(at + T.sequence) >>> 1]! <= sequence) - 1
  if (number < 0) return -1
  const at = reader.locate(account, number)
  return f64[(at + T.sequence) >>> 1] === sequence && i32[at + T.row] === row ? at : -1
}

function twapTrail(reader: PageReader, slices: PageReader, margin: MarginReader, ask: TwapOrdersAsk): Trail<HistoryTwapOrder> {
  const { account, states, pair } = ask
  const { i32, f64 } = reader.views
  const bounds = boundsOf(ask)
  const passes = (at: number): boolean =>
    (states === undefined || states.includes(twapStateOf(i32[at + T.what]!))) && (pair === undefined || i32[at + T.pair] === pair)
  const all = states === undefined && pair === undefined
  const first = start(reader, account, bounds, T.sequence, T.createdAt)
  return {
    ...(all ? descendThrough(reader, account, first, bounds.from, T.createdAt) : descend(reader, account, first)),
    isOver: (at) => f64[(at + T.createdAt) >>> 1]! < bounds.from,
    rows: (at) => (passes(at) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + T.sequence) >>> 1]!, index: 0 }),
    build: (at) => twapAt(reader, slices, margin, account, at),
    loads: () => reader.loads + slices.loads + margin.loads(),
  }
}

// Slices.

/** Number of the slice of `account` that is the order `sequence`, or -1. */
function findSlice(slices: PageReader, account: number, sequence: number): number {
  const { f64 } = slices.views
  const number = slices.search(account, slices.count(account), (at) => f64[(at + S.sequence) >>> 1]! <= sequence) - 1
  return number >= 0 && f64[(slices.locate(account, number) + S.sequence) >>> 1] === sequence ? number : -1
}

/** Walks the slices of one TWAP order by their links, so that those of others in between cost nothing. */
function* listSlices(
  twaps: PageReader, slices: PageReader, orders: PageReader, all: OrderLinks, ask: TwapSlicesAsk,
): Generator<undefined, Listing<HistoryOrder> | null> {
  const { account, ascending, limit, after } = ask
  const name: Named = { sequence: ask.sequence, row: ask.row }
  const twap = findTwap(twaps, account, name)
  if (twap < 0) return null
  const { f64, i32 } = slices.views
  const links: OrderLinks = { ...all, parent: () => name }
  const onward = ascending ? S.after : S.before
  const listing: Listing<HistoryOrder> = { rows: [], total: 0, more: false }
  let link = twaps.views.f64[(twap + (ascending ? T.first : T.last)) >>> 1]!
  const number = after === null ? -1 : findSlice(slices, account, after.sequence)
  const cursor = number < 0 ? -1 : slices.locate(account, number)
  const isOwn = cursor >= 0 && f64[(cursor + S.twapSequence) >>> 1] === name.sequence && i32[cursor + S.twap] === name.row
  if (isOwn) link = f64[(cursor + onward) >>> 1]!
  const loads = (): number => orders.loads + links.loads()
  let pause = loads() + SLICE
  while (link !== 0) {
    const at = slices.locate(account, link - 1)
    const [sequence, number] = [f64[(at + S.sequence) >>> 1]!, f64[(at + S.number) >>> 1]!]
    link = f64[(at + onward) >>> 1]!
    // A cursor that is none of its slices: those before it are left out.
    if (after !== null && (ascending ? sequence <= after.sequence : sequence >= after.sequence)) continue
    if (listing.rows.length === limit) {
      listing.more = true
      break
    }
    listing.rows.push(orderAt(orders, links, account, orders.locate(account, number)))
    if (loads() < pause) continue
    yield
    pause = loads() + SLICE
  }
  return listing
}
