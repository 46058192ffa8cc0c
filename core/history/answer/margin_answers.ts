/** Margin trading of the history: positions, funding, liquidations, and where orders of perpetuals stand. */
import { STRATEGY_KEY_BYTES } from '../../state/margin_rows.ts'
import {
  FUNDING_PAYMENT_RECORD, FUNDING_RATE_RECORD, LIQUIDATION_RECORD, MARGIN_ACCOUNT_RECORD, ORDER_MARGIN_RECORD, POSITION_RECORD,
  RISK_BUCKET_RECORD,
} from '../store/margin_layout.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'
import type {
  FundingPaymentsAsk, FundingRatesAsk, HistoryBucket, HistoryFundingPayment, HistoryFundingRate, HistoryLiquidation, HistoryOrderMargin,
  HistoryPosition, LiquidationsAsk, MarginQueries, Named, PositionsAsk,
} from './margin_queries.ts'
import { boundsOf, descendThrough, start } from './trails.ts'
import { walk, type Trail } from './walk.ts'

const { at: M } = MARGIN_ACCOUNT_RECORD
const { at: B } = RISK_BUCKET_RECORD
const { at: O } = ORDER_MARGIN_RECORD
const { at: P } = POSITION_RECORD
const { at: F } = FUNDING_PAYMENT_RECORD
const { at: R } = FUNDING_RATE_RECORD
const { at: L } = LIQUIDATION_RECORD

export interface MarginReader {
  readonly answers: {
    readonly [Name in keyof MarginQueries]: (ask: MarginQueries[Name]['ask']) => Generator<undefined, MarginQueries[Name]['answer']>
  }
  /** Where an order of `pair` stands; `null`: it is of a spot pair. */
  orderMargin(account: number, pair: number, sequence: number): HistoryOrderMargin | null
  /** `null`: there is no such position of the account. */
  findPosition(account: number, name: Named): HistoryPosition | null
  /** What the two have cost so far, in pages. */
  loads(): number
  readonly readers: readonly PageReader[]
}

export const isNamed = (one: Named, { sequence, row }: Named): boolean => one.sequence === sequence && one.row === row

export function createMarginReader(store: CheckedStore, isPerp: (pair: number) => boolean): MarginReader {
  const margins = createPageReader(store, 'margin_account_page')
  const buckets = createPageReader(store, 'risk_bucket_page')
  const orders = createPageReader(store, 'margin_order_page')
  const positions = createPageReader(store, 'position_page')
  const payments = createPageReader(store, 'funding_payment_page')
  const rates = createPageReader(store, 'funding_rate_page')
  const liquidations = createPageReader(store, 'liquidation_page')

  const bucketOf = (account: number, number: number): HistoryBucket => bucketAt(buckets, margins, account, number)
  return {
    readers: [margins, buckets, orders, positions, payments, rates, liquidations],
    answers: {
      positions: (ask) => walk(positionTrail(positions, bucketOf, ask), ask),
      *position({ account, ...name }) {
        return findPosition(positions, bucketOf, account, name)
      },
      fundingPayments: (ask) => {
        const { position } = ask
        const life = position === undefined ? null : findPosition(positions, bucketOf, ask.account, position)
        return walk(paymentTrail(payments, ask, life), ask)
      },
      fundingRates: (ask) => walk(rateTrail(rates, ask), ask),
      liquidations: (ask) => walk(liquidationTrail(liquidations, bucketOf, ask), ask),
    },
    findPosition: (account, name) => findPosition(positions, bucketOf, account, name),
    loads: () => orders.loads + positions.loads + buckets.loads + margins.loads,
    orderMargin: (account, pair, sequence) => {
      if (!isPerp(pair)) return null
      const { f64, i32 } = orders.views
      const word = (at: number): number => f64[(at + O.sequence) >>> 1]!
      const number = orders.search(account, orders.count(account), (at) => word(at) <= sequence) - 1
      if (number < 0) return null
      const at = orders.locate(account, number)
      return word(at) === sequence ? { leverage: i32[at + O.leverage]!, ...bucketOf(account, i32[at + O.bucket]!) } : null
    },
  }
}

type BucketOf = (account: number, number: number) => HistoryBucket
/** Of a bucket whose margin account no event has named. */
const NOBODY: Named = { sequence: 0, row: -1 }

function bucketAt(buckets: PageReader, margins: PageReader, account: number, number: number): HistoryBucket {
  const at = buckets.locate(account, number)
  const { i32, f64, bytes } = buckets.views
  const key = Buffer.from(bytes.buffer as ArrayBuffer, (at + B.strategyKey) * 4, STRATEGY_KEY_BYTES).toString('latin1').replace(/\0+$/, '')
  const margin = i32[at + B.marginAccount]!
  return {
    marginAccount: margin < 0 ? NOBODY : nameIn(margins, account, margin),
    bucket: { sequence: f64[(at + B.sequence) >>> 1]!, row: i32[at + B.row]! },
    mode: i32[at + B.mode]!,
    strategyKey: key,
  }
}

function nameIn(margins: PageReader, account: number, number: number): Named {
  const at = margins.locate(account, number)
  return { sequence: margins.views.f64[(at + M.sequence) >>> 1]!, row: margins.views.i32[at + M.row]! }
}

function positionAt(reader: PageReader, bucketOf: BucketOf, account: number, at: number, index: number): HistoryPosition {
  const { i32, f64, i64 } = reader.views
  return {
    account,
    index,
    sequence: f64[(at + P.sequence) >>> 1]!,
    row: i32[at + P.row]!,
    pair: i32[at + P.pair]!,
    lots: i32[at + P.lots]!,
    entryLots: i32[at + P.entryLots]!,
    entryCost: i64[(at + P.entryCost) >>> 1]!,
    leverage: i32[at + P.leverage]!,
    realized: i64[(at + P.realized) >>> 1]!,
    funding: i64[(at + P.funding) >>> 1]!,
    fees: i64[(at + P.fees) >>> 1]!,
    allocated: i64[(at + P.allocated) >>> 1]!,
    mark: i32[at + P.mark]!,
    reason: i32[at + P.reason]!,
    version: f64[(at + P.version) >>> 1]!,
    openedAt: f64[(at + P.openedAt) >>> 1]!,
    updatedAt: f64[(at + P.updatedAt) >>> 1]!,
    closedAt: f64[(at + P.closedAt) >>> 1]!,
    ...bucketOf(account, i32[at + P.bucket]!),
  }
}

function findPosition(reader: PageReader, bucketOf: BucketOf, account: number, { sequence, row }: Named): HistoryPosition | null {
  const { f64, i32 } = reader.views
  const count = reader.count(account)
  const word = (at: number): number => f64[(at + P.sequence) >>> 1]!
  for (let number = reader.search(account, count, (at) => word(at) < sequence); number < count; number++) {
    const at = reader.locate(account, number)
    if (word(at) !== sequence) break
    if (i32[at + P.row] === row) return positionAt(reader, bucketOf, account, at, number)
  }
  return null
}

/** Numbers of the records that a walk is at: a row's place in its listing beside its sequence. */
function numbered(reader: PageReader, owner: number, first: number): { next(): number; readonly number: number } {
  const place = { number: first, next: () => (place.number > 0 ? reader.locate(owner, --place.number) : -1) }
  return place
}

function positionTrail(reader: PageReader, bucketOf: BucketOf, ask: PositionsAsk): Trail<HistoryPosition> {
  const { account, open, pair, marginAccount, bucket } = ask
  const { i32, f64 } = reader.views
  const bounds = boundsOf(ask)
  const first = start(reader, account, bounds, P.sequence, P.openedAt)
  const place = numbered(reader, account, first)
  const passes = (at: number): boolean => {
    if (open !== undefined && open !== (i32[at + P.lots] !== 0)) return false
    if (pair !== undefined && i32[at + P.pair] !== pair) return false
    if (marginAccount === undefined && bucket === undefined) return true
    const its = bucketOf(account, i32[at + P.bucket]!)
    if (bucket !== undefined && !isNamed(its.bucket, bucket)) return false
    return marginAccount === undefined || isNamed(its.marginAccount, marginAccount)
  }
  return {
    next: place.next,
    isOver: (at) => f64[(at + P.openedAt) >>> 1]! < bounds.from,
    rows: (at) => (passes(at) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + P.sequence) >>> 1]!, index: place.number }),
    build: (at) => positionAt(reader, bucketOf, account, at, place.number),
    loads: () => reader.loads,
  }
}

/** `life`: the position that is asked about, outside of whose time there is no payment of it; of one that there never was there is none. */
function paymentTrail(reader: PageReader, ask: FundingPaymentsAsk, life: HistoryPosition | null): Trail<HistoryFundingPayment> {
  const { account, position } = ask
  const { i32, f64, i64 } = reader.views
  let bounds = boundsOf(ask)
  if (life !== null) bounds = { ...bounds, from: Math.max(bounds.from, life.openedAt), to: Math.min(bounds.to, life.updatedAt) }
  const isNone = position !== undefined && life === null
  const place = numbered(reader, account, isNone ? 0 : start(reader, account, bounds, F.sequence, F.time))
  const nameAt = (at: number): Named => ({ sequence: f64[(at + F.openedSequence) >>> 1]!, row: i32[at + F.position]! })
  return {
    next: place.next,
    isOver: (at) => f64[(at + F.time) >>> 1]! < bounds.from,
    rows: (at) => (position === undefined || isNamed(nameAt(at), position) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + F.sequence) >>> 1]!, index: place.number }),
    build: (at) => ({
      sequence: f64[(at + F.sequence) >>> 1]!,
      index: place.number,
      time: f64[(at + F.time) >>> 1]!,
      pair: i32[at + F.pair]!,
      position: nameAt(at),
      lots: i32[at + F.lots]!,
      amount: i64[(at + F.amount) >>> 1]!,
      rate: i32[at + F.rate]!,
      mark: i32[at + F.mark]!,
    }),
    loads: () => reader.loads,
  }
}

export function rateAt(reader: PageReader, pair: number, at: number): HistoryFundingRate {
  const { i32, f64 } = reader.views
  return {
    sequence: f64[(at + R.sequence) >>> 1]!,
    index: 0,
    time: f64[(at + R.time) >>> 1]!,
    pair,
    rate: i32[at + R.rate]!,
    samples: i32[at + R.samples]!,
    indexPrice: i32[at + R.index]!,
    mark: i32[at + R.mark]!,
    openLots: f64[(at + R.openLots) >>> 1]!,
  }
}

function rateTrail(reader: PageReader, ask: FundingRatesAsk): Trail<HistoryFundingRate> {
  const { pair } = ask
  const bounds = boundsOf(ask)
  return {
    ...descendThrough(reader, pair, start(reader, pair, bounds, R.sequence, R.time), bounds.from, R.time),
    isOver: () => false,
    rows: () => 1,
    position: (at) => ({ sequence: reader.views.f64[(at + R.sequence) >>> 1]!, index: 0 }),
    build: (at) => rateAt(reader, pair, at),
    loads: () => reader.loads,
  }
}

function liquidationTrail(reader: PageReader, bucketOf: BucketOf, ask: LiquidationsAsk): Trail<HistoryLiquidation> {
  const { account, unresolved } = ask
  const { i32, f64, i64 } = reader.views
  const place = numbered(reader, account, start(reader, account, boundsOf(ask), L.sequence, L.startedAt))
  return {
    next: place.next,
    isOver: () => false,
    rows: (at) => (unresolved === undefined || unresolved === (f64[(at + L.endedAt) >>> 1] === 0) ? 1 : 0),
    position: (at) => ({ sequence: f64[(at + L.sequence) >>> 1]!, index: place.number }),
    build: (at) => ({
      account,
      sequence: f64[(at + L.sequence) >>> 1]!,
      index: place.number,
      status: i32[at + L.status]!,
      startedAt: f64[(at + L.startedAt) >>> 1]!,
      updatedAt: f64[(at + L.updatedAt) >>> 1]!,
      endedAt: f64[(at + L.endedAt) >>> 1]!,
      pair: i32[at + L.pair]!,
      lots: f64[(at + L.lots) >>> 1]!,
      fees: i64[(at + L.fees) >>> 1]!,
      badDebt: i64[(at + L.badDebt) >>> 1]!,
      equity: i64[(at + L.equity) >>> 1]!,
      maintenance: i64[(at + L.maintenance) >>> 1]!,
      ...bucketOf(account, i32[at + L.bucket]!),
    }),
    loads: () => reader.loads,
  }
}
