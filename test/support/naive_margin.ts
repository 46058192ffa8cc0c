/**
 * Margin trading as the specification's text says it, with decimal.js: plain objects, nothing kept that can be counted. See naive.ts.
 *
 * What a margin account has earmarked, what a position may become, what an order would need: each is a sum over all buckets, orders or
 * positions whenever it is asked for. Ratios are fractions and requirements are computed exactly and rounded once. There are
 * no guards: whoever wants to know which buckets are unhealthy looks at all of them.
 *
 * This file has the objects and what follows from them; it changes nothing. Collateral is moved in naive_margin_moves.ts, orders are in
 * naive_margin_orders.ts, prices and funding in naive_margin_prices.ts, liquidation in naive_margin_liquidation.ts.
 */
import { Decimal } from 'decimal.js'
import type { Genesis } from '../../core/state/genesis.ts'
import type { RiskTier } from '../../core/state/perp_terms.ts'
import { Flag } from '../../core/layout/command.ts'
import type { Ranking } from './naive_margin_liquidation.ts'
import type { Ex, Order } from './naive_terms.ts'
import type { Met } from './naive_met.ts'

/** Digits enough for every product of this file to be exact. */
export const Exact = Decimal.clone({ precision: 100 })
export const exact = (value: bigint | number): Decimal => new Exact(value.toString())
/** Whole atoms: never less than the value, never more than it, towards zero. */
export const roundedUp = (value: Decimal): bigint => BigInt(value.toFixed(0, Decimal.ROUND_CEIL))
export const roundedDown = (value: Decimal): bigint => BigInt(value.toFixed(0, Decimal.ROUND_FLOOR))
export const truncated = (value: Decimal): bigint => BigInt(value.toFixed(0, Decimal.ROUND_DOWN))

export interface MarginAccount {
  row: number
  account: number
  parent: boolean
  createdSequence: number
  deposited: bigint
  label: string
  /** It is that of a follow. */
  follow?: object
}

export type BucketStatus = 'ACTIVE' | 'LIQUIDATING' | 'BAD_DEBT' | 'CLOSED'

export interface Bucket {
  row: number
  margin: MarginAccount
  cross: boolean
  /** Of an isolated one; -1 of a cross one. */
  pair: number
  status: BucketStatus
  keyLow: number
  keyHigh: number
  createdSequence: number
  /** Committed; what its orders brought is not in it, but pending. */
  allocated: bigint
  pending: bigint
  /** Profit, fees and funding since it was settled with its margin account. */
  realized: bigint
  strategyKey: string
  /** Sequence at which its liquidation began; 0: it is in none. */
  began: number
  /** What its liquidation did last. */
  step: number
  /** When it was closed; a number that grows with each bucket that is made. */
  createdAt: number
  closedAt: number
  made: number
}

export interface Position {
  row: number
  bucket: Bucket
  pair: number
  /** Signed. */
  lots: number
  /** What the lots were bought for, signed as they are. */
  cost: bigint
  /** Hundredths. */
  leverage: number
  realized: bigint
  funding: bigint
  fees: bigint
  fundedTo: bigint
  openedSequence: number
  /** Grows with each position that is made. */
  made: number
  /** Whom it was opened against (naive_met.ts). */
  met: (Met | null)[]
}

/** What an order has that rests on a perpetual. */
export interface OrderMargin {
  position: Position
  /** Of the collateral that it brought, what no fill has committed yet; the bucket may have less pending (naive_margin_fills.ts). */
  hold: bigint
  /** Hundredths; 0: reduce-only. */
  leverage: number
  brought: bigint
  /** Grows with each order that comes to rest; 0: it does not. */
  rested: number
}

/** One tier of a ladder: ratios are fractions, bounds and deductions atoms. */
export interface Tier {
  bound: Decimal
  initial: Decimal
  maintenance: Decimal
  initialDeduction: Decimal
  maintenanceDeduction: Decimal
  /** Hundredths. */
  maxLeverage: number
}

export interface Perp {
  index: number
  mark: number
  mode: number
  source: number
  indexAt: number
  observedAt: number
  /** 10^-6 ticks. */
  basis: bigint
  basisAt: number
  premiumSum: bigint
  samples: number
  lastRate: number
  lastFundingAt: number
  nextFundingAt: number
  nextSampleAt: number
  /** 10^-6 atoms that one long lot has paid ever. */
  cumulative: bigint
  openCap: number
  settlement: number
  forcedMark: number
  forcedUntil: number
  cursor: number
  /** Prices far from a stale index, one like the other, and when each came. */
  suspects: { price: number; at: number }[]
  /** Price of the last trade, ticks; 0: none. */
  last: number
  /** What the operator set of the fund's cover, if it did: ppm, and atoms of an owner. */
  cover: { share: number; allowance: number } | null
  /** A jump of the index: measured from which price since when, and how many prices still have to confirm it; the window set, ms. */
  jump: { from: number; at: number; left: number }
  jumpWindow: number | null
  /** What the fund covered here, by day. */
  covered: Map<number, bigint>
}

const noPrice = (openCap: number): Perp => ({
  index: 0, mark: 0, mode: 0, source: 0, indexAt: 0, observedAt: 0, basis: 0n, basisAt: 0, premiumSum: 0n, samples: 0, lastRate: 0,
  lastFundingAt: 0, nextFundingAt: 0, nextSampleAt: 0, cumulative: 0n, openCap, settlement: 0, forcedMark: 0, forcedUntil: 0, cursor: 0,
  suspects: [], last: 0, cover: null, covered: new Map(), jump: { from: 0, at: 0, left: 0 }, jumpWindow: null,
})

/** Everything of margin trading that an exchange has. */
export class Margins {
  /** Of each pair; null: spot. */
  readonly perps: (Perp | null)[]
  readonly ladders: Tier[][]
  /** Those that are there; rows that were given up are taken again, the last one first. */
  accounts: MarginAccount[] = []
  buckets: Bucket[] = []
  positions: Position[] = []
  readonly rows = { accounts: new Rows(), buckets: new Rows(), positions: new Rows() }
  /** Of position rows, whoever has them. */
  readonly versions = new Map<number, number>()
  /** Orders that are accepted and being matched: they count as those at rest do. */
  matching: Order[] = []
  /** Orders that have ended, whose collateral is not given back yet, or whose position must stay for a successor. */
  leaving: Order[] = []
  rests = 0
  /** During a step of liquidation: orders that it may still meet or end. */
  looks: { left: number } | null = null
  /** Counterparties of auto-deleveraging, by pair and side. */
  readonly rankings = new Map<string, Ranking>()
  made = 0
  fundingPool = 0n
  /** What the fund covered, by owner and day. */
  readonly covered = new Map<string, bigint>()
  badDebt = 0n
  /** Account of the insurance fund; -1: there is none yet. */
  fund = -1

  constructor(genesis: Genesis) {
    this.perps = genesis.pairs.map(({ perp }) => (perp === null ? null : noPrice(perp.openCapLots)))
    this.ladders = genesis.pairs.map(({ perp }) => (perp === null ? [] : ladderOf(perp.tiers)))
  }
}

/** Numbers of rows: one that was given up, the last one first, or the next. */
export class Rows {
  private readonly free: number[] = []
  private used = 0
  take(): number {
    return this.free.pop() ?? this.used++
  }

  give(row: number): void {
    this.free.push(row)
  }
}

/**
 * A ladder from its bounds and ratios alone: a deduction is what makes the requirement continuous, so it grows at each bound by the
 * bound times the step of the ratio there (specification, Perpetual market config).
 */
export function ladderOf(tiers: readonly Pick<RiskTier, 'lowerBound' | 'initialPpm' | 'maintenancePpm' | 'maxLeverage'>[]): Tier[] {
  const ladder: Tier[] = []
  for (const { lowerBound, initialPpm, maintenancePpm, maxLeverage } of tiers) {
    const below = ladder.at(-1)
    const [bound, initial, maintenance] = [exact(lowerBound), exact(initialPpm).div(1e6), exact(maintenancePpm).div(1e6)]
    ladder.push({
      bound, initial, maintenance, maxLeverage,
      initialDeduction: below === undefined ? exact(0) : below.initialDeduction.plus(bound.times(initial.minus(below.initial))),
      maintenanceDeduction:
        below === undefined ? exact(0) : below.maintenanceDeduction.plus(bound.times(maintenance.minus(below.maintenance))),
    })
  }
  return ladder
}

/** The last tier whose lower bound is at or below the notional. */
export const tierOf = (ladder: readonly Tier[], notional: Decimal): Tier => ladder.findLast(({ bound }) => bound.lte(notional))!

export const maintenanceOf = (ladder: readonly Tier[], notional: Decimal): bigint => {
  const { maintenance, maintenanceDeduction } = tierOf(ladder, notional)
  return roundedUp(notional.times(maintenance).minus(maintenanceDeduction))
}

/** The greater of the tier's floor and what the selected leverage (hundredths) asks for. */
export const initialOf = (ladder: readonly Tier[], notional: Decimal, leverage: number): bigint => {
  const { initial, initialDeduction } = tierOf(ladder, notional)
  const floor = notional.times(initial).minus(initialDeduction)
  const selected = leverage === 0 ? exact(0) : notional.times(100).div(leverage)
  return roundedUp(Decimal.max(floor, selected))
}

export const perpOf = (ex: Ex, pair: number): Perp => ex.margins.perps[pair]!
export const unit = (ex: Ex, pair: number): Decimal => exact(ex.genesis.pairs[pair]!.tickLotAtoms)
export const isPerp = (ex: Ex, pair: number): boolean => (ex.margins.perps[pair] ?? null) !== null

/** No index price, or one older than the pair lets it be, in sequenced time. */
export const isStale = (ex: Ex, pair: number): boolean => {
  const { indexAt, mode } = perpOf(ex, pair)
  // What settles has its last price.
  if (mode >= 2) return false
  return indexAt === 0 || ex.now - indexAt > ex.genesis.pairs[pair]!.perp!.staleMs
}

/** Value of so many lots at the mark, or at `mark`. */
export const notionalOf = (ex: Ex, pair: number, lots: number, mark = perpOf(ex, pair).mark): Decimal =>
  unit(ex, pair).times(Math.abs(lots)).times(mark)

export const ordersOf = (ex: Ex, position: Position): Order[] =>
  (ex.books[position.pair] ?? []).filter((order) => order.margin?.position === position)
export const positionsOf = (ex: Ex, bucket: Bucket): Position[] => ex.margins.positions.filter((each) => each.bucket === bucket)
export const bucketsOf = (ex: Ex, margin: MarginAccount): Bucket[] => ex.margins.buckets.filter((each) => each.margin === margin)

export const earmarkedOf = (ex: Ex, margin: MarginAccount): bigint =>
  bucketsOf(ex, margin).reduce((sum, bucket) => sum + bucket.allocated + bucket.pending, 0n)
export const freeOf = (ex: Ex, margin: MarginAccount): bigint => margin.deposited - earmarkedOf(ex, margin)

export const unrealizedOf = (ex: Ex, { pair, lots, cost }: Position, mark = perpOf(ex, pair).mark): bigint =>
  BigInt(lots) * BigInt(mark) * ex.genesis.pairs[pair]!.tickLotAtoms - cost

/** Funding that a position has not settled yet: what it gets rounded down, what it pays up. */
export const fundingOf = (ex: Ex, { pair, lots, fundedTo }: Position): bigint =>
  roundedDown(exact(-lots).times(exact(perpOf(ex, pair).cumulative - fundedTo)).div(1e6))

export const equityOf = (ex: Ex, bucket: Bucket): bigint =>
  positionsOf(ex, bucket).reduce((sum, each) => sum + unrealizedOf(ex, each) + fundingOf(ex, each), bucket.allocated + bucket.realized)

export const maintenanceNeeded = (ex: Ex, bucket: Bucket): bigint => positionsOf(ex, bucket).reduce(
  (sum, { pair, lots }) => sum + (lots === 0 ? 0n : maintenanceOf(ex.margins.ladders[pair]!, notionalOf(ex, pair, lots))), 0n)

/** Lots that may yet be filled, and their value at the limits: of one side of a position's orders. */
export interface Side { lots: number; value: bigint }
export interface Exposure { lots: number; bids: Side; asks: Side }

export function exposureOf(ex: Ex, position: Position, without: Order | null = null): Exposure {
  const matched = ex.margins.matching.filter(({ margin }) => margin!.position === position)
  const opening = [...ordersOf(ex, position), ...matched].filter((order) => order !== without && (order.flags & Flag.REDUCE_ONLY) === 0)
  // A MARKET order that is being matched has no limit: it counts at the mark.
  const valueOf = ({ price, remaining }: Order): bigint =>
    BigInt(price || perpOf(ex, position.pair).mark) * BigInt(remaining) * ex.genesis.pairs[position.pair]!.tickLotAtoms
  const side = (sell: boolean): Side => opening.filter((order) => order.sell === sell).reduce((sum, order) => ({
    lots: sum.lots + order.remaining, value: sum.value + valueOf(order),
  }), { lots: 0, value: 0n })
  return { lots: position.lots, bids: side(false), asks: side(true) }
}

/** Largest lots on either side when every resting order of it is filled. */
export const mostLong = ({ lots, bids }: Exposure): number => Math.max(0, lots + bids.lots)
export const mostShort = ({ lots, asks }: Exposure): number => Math.max(0, asks.lots - lots)

/** Initial margin of the worse side, with what its orders would lose at the mark at once. */
export function requirementOf(ex: Ex, pair: number, exposure: Exposure, leverage: number): bigint {
  const worth = (lots: number): bigint => BigInt(notionalOf(ex, pair, lots).toFixed(0))
  const positive = (value: bigint): bigint => (value > 0n ? value : 0n)
  const initial = (lots: number): bigint =>
    initialOf(ex.margins.ladders[pair]!, notionalOf(ex, pair, lots), leverage)
  const long = initial(mostLong(exposure)) + positive(exposure.bids.value - worth(exposure.bids.lots))
  const short = initial(mostShort(exposure)) + positive(worth(exposure.asks.lots) - exposure.asks.value)
  return long > short ? long : short
}

export const bucketRequirement = (ex: Ex, bucket: Bucket): bigint => positionsOf(ex, bucket).reduce(
  (sum, position) => sum + requirementOf(ex, position.pair, exposureOf(ex, position), position.leverage), 0n)

/** Initial margin of the positions alone. */
export const positionsInitial = (ex: Ex, bucket: Bucket): bigint => positionsOf(ex, bucket).filter(({ lots }) => lots !== 0).reduce(
  (sum, { pair, lots, leverage }) => sum + initialOf(ex.margins.ladders[pair]!, notionalOf(ex, pair, lots), leverage), 0n)
