/**
 * What may be asked of margin trading's past and what it answers; part of queries.ts, whose rules hold here too. Margin accounts, risk
 * buckets and positions are named by row and by the sequence that made them, which is what their public ids are made of (layout/ids.ts).
 */
import type { Listing, Walk } from '../../view/listing.ts'

/** A thing of the engine: the sequence that made it, and its row. */
export interface Named {
  sequence: number
  row: number
}

/** A risk bucket, as orders and positions name it. */
export interface HistoryBucket {
  /** Of the parent: the sequence of its user, row -1. */
  marginAccount: Named
  bucket: Named
  /** MarginMode. */
  mode: number
  /** '': none. */
  strategyKey: string
}

/** Where an order of a perpetual stands. */
export interface HistoryOrderMargin extends HistoryBucket {
  /** Hundredths; 0: it was reduce-only. */
  leverage: number
}

/** A position of any age. */
export interface HistoryPosition extends HistoryBucket {
  account: number
  /** With `row` its identity: the sequence that opened it. */
  sequence: number
  row: number
  /** Its number among all positions of the account: its place in the listing, beside `sequence`. */
  index: number
  pair: number
  /** Signed; 0: it is closed. */
  lots: number
  /** Signed lots and their cost in atoms: those open, or of a closed one those that were closed last. Cost / lots is the entry price. */
  entryLots: number
  entryCost: bigint
  /** Hundredths. */
  leverage: number
  /** Atoms, since it was opened: profit of closed lots without fees; funding that it got; fees. */
  realized: bigint
  funding: bigint
  fees: bigint
  /** Collateral of its bucket that backed positions, atoms. */
  allocated: bigint
  /** Of its last change: mark in ticks, and PositionReason. */
  mark: number
  reason: number
  version: number
  /** Unix ms; `closedAt` 0: it is open. */
  openedAt: number
  updatedAt: number
  closedAt: number
}

/** Positions of an account by when they were opened. */
export interface PositionsAsk extends Walk {
  account: number
  open?: boolean
  pair?: number
  /** Rows and sequences as their ids have them. */
  marginAccount?: Named
  bucket?: Named
  /** Opened between these, Unix ms, both inclusive. */
  from?: number
  to?: number
}

/** Funding that a position got, or paid below 0, for all intervals since the payment before. */
export interface HistoryFundingPayment {
  /** The command, and the number of the payment among those of the account. */
  sequence: number
  index: number
  /** Unix ms. */
  time: number
  pair: number
  position: Named
  /** Signed lots that it was for. */
  lots: number
  amount: bigint
  /** 10^-8: rate of the interval that was paid last; mark in ticks. */
  rate: number
  mark: number
}

export interface FundingPaymentsAsk extends Walk {
  account: number
  /** Of this position; absent: of all. */
  position?: Named
  from?: number
  to?: number
}

/** Funding of one interval of a perpetual. */
export interface HistoryFundingRate {
  sequence: number
  /** Always 0. */
  index: number
  /** Unix ms: when it was paid. */
  time: number
  pair: number
  /** 10^-8 of the notional; positive: longs paid. */
  rate: number
  /** Premium samples that it is the mean of. */
  samples: number
  /** Ticks. */
  indexPrice: number
  mark: number
  /** Lots of all longs. */
  openLots: number
}

export interface FundingRatesAsk extends Walk {
  pair: number
  from?: number
  to?: number
}

/** A liquidation of a bucket, from its beginning to its end. */
export interface HistoryLiquidation extends HistoryBucket {
  account: number
  /** The sequence at which it began: with the bucket its identity. */
  sequence: number
  /** Its number among those of the account. */
  index: number
  /** LiquidationStatus of what happened last. */
  status: number
  /** Unix ms; `endedAt` 0: it is unresolved. */
  startedAt: number
  updatedAt: number
  endedAt: number
  /** Pair of the position that was reduced last; -1: none was. */
  pair: number
  /** Lots that were taken from its positions, of any pair. */
  lots: number
  /** Atoms: liquidation fees; loss that nobody bore. */
  fees: bigint
  badDebt: bigint
  /** Of the bucket when it was looked at last, atoms. */
  equity: bigint
  maintenance: bigint
}

export interface LiquidationsAsk extends Walk {
  account: number
  unresolved?: boolean
}

/**
 * Gross notional of a perpetual's open positions, lots of all longs x mark, in the mean: of one sample a minute of UTC that is over, in
 * atoms, rounded toward zero; `null`: fewer than 95 % of the minutes have one.
 */
export interface OpenInterest extends Record<'1h' | '24h' | '7d', bigint | null> {
  /** Of the seven days of UTC up to today, oldest first. */
  days: (bigint | null)[]
}

export interface MarginQueries {
  positions: { ask: PositionsAsk; answer: Listing<HistoryPosition> }
  /** `null`: there is no such position of the account. */
  position: { ask: { account: number } & Named; answer: HistoryPosition | null }
  fundingPayments: { ask: FundingPaymentsAsk; answer: Listing<HistoryFundingPayment> }
  fundingRates: { ask: FundingRatesAsk; answer: Listing<HistoryFundingRate> }
  liquidations: { ask: LiquidationsAsk; answer: Listing<HistoryLiquidation> }
}
