/** Events of margin trading (event.ts). Each says all that a reader needs, so no earlier event is asked for. */
import { defineLayout } from './table.ts'

/** Where an accepted order of a perpetual stands; before the RESULT of its command, as LABEL is. */
export const MARGIN_ORDER = defineLayout('margin_order', {
  kind: 'u32',
  account: 'i32',
  orderSequence: 'f64',
  slot: 'i32',
  pair: 'i32',
  /** Rows, and the sequences that made them: with these they are named in public. Of the parent: sequence of the user, row -1. */
  marginAccount: 'i32',
  bucket: 'i32',
  marginAccountSequence: 'f64',
  bucketSequence: 'f64',
  /** Hundredths; 0: reduce-only. */
  leverage: 'i32',
  /** Flags of the order. */
  flags: 'u32',
  /** Atoms that it brought into the bucket. */
  collateral: 'i64',
  /** Of its bucket: printable ASCII, zero padded; all zero: none. */
  strategyKey: 'bytes48',
})

/** A resting reduce-only order that was made smaller, because its position is; it keeps its place in the book. */
export const ORDER_RESIZED = defineLayout('order_resized', {
  kind: 'u32',
  pair: 'i32',
  sequence: 'f64',
  time: 'f64',
  account: 'i32',
  slot: 'i32',
  orderSequence: 'f64',
  flags: 'u32',
  price: 'i32',
  /** As it is now: what it was filled for and what is left; what is left; by how much it was made smaller. */
  lots: 'i32',
  remaining: 'i32',
  less: 'i32',
  reserved: 'i32',
  filledQuote: 'i64',
  fee: 'i64',
  createdAt: 'f64',
})

/** Why a position changed. */
export const PositionReason = {
  TRADE: 0, LIQUIDATION: 1, TAKE_OVER: 2, DELEVERAGE: 3, FUNDING: 4, MARGIN: 5, SETTLEMENT: 6, LEVERAGE: 7,
} as const
export const POSITION_REASON_NAMES = [
  'TRADE', 'LIQUIDATION', 'TAKE_OVER', 'DELEVERAGE', 'FUNDING', 'MARGIN', 'SETTLEMENT', 'LEVERAGE',
] as const

/**
 * A position after a change, with the fee and the funding that came with it. One that was closed has 0 lots and keeps its other figures.
 */
export const POSITION_CHANGED = defineLayout('position', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  pair: 'i32',
  position: 'i32',
  bucket: 'i32',
  /** Row; -1: the parent. */
  marginAccount: 'i32',
  /** Signed. */
  lots: 'i32',
  /** Hundredths. */
  leverage: 'i32',
  /** As in state/margin_rows.ts, POSITION. */
  cost: 'i64',
  realized: 'i64',
  funding: 'i64',
  fees: 'i64',
  /** Collateral of the bucket that backs positions. */
  allocated: 'i64',
  openedSequence: 'f64',
  version: 'f64',
  /** {@link PositionReason}. */
  reason: 'i32',
  /** Ticks. */
  mark: 'i32',
  /** Profit that this change realised, atoms, without fees. */
  profit: 'i64',
  bucketSequence: 'f64',
})

/** Why collateral moved. */
export const CollateralReason = {
  DEPOSIT: 0, WITHDRAW: 1, SUB_ACCOUNT: 2, BUCKET: 3, ORDER: 4, SETTLED: 5, CLOSED: 6, LIQUIDATION_FEE: 7, INSURANCE: 8, BAD_DEBT: 9,
  /** What the application of an order charges for a fill (ledger/add_ons.ts). */
  APPLICATION_FEE: 10,
} as const
export const COLLATERAL_REASON_NAMES = [
  'DEPOSIT', 'WITHDRAW', 'SUB_ACCOUNT', 'BUCKET', 'ORDER', 'SETTLED', 'CLOSED', 'LIQUIDATION_FEE', 'INSURANCE', 'BAD_DEBT',
  'APPLICATION_FEE',
] as const

/** A margin account, and with `bucket` one of its buckets, after collateral moved. */
export const COLLATERAL = defineLayout('collateral', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  /** Row; of the parent too. */
  marginAccount: 'i32',
  /** -1: none. */
  bucket: 'i32',
  /** {@link CollateralReason}. */
  reason: 'i32',
  /** BucketState; 0 without a bucket. */
  state: 'i32',
  /** Signed: into the bucket, or without one into the margin account. */
  amount: 'i64',
  deposited: 'i64',
  earmarked: 'i64',
  allocated: 'i64',
  pending: 'i64',
  realized: 'i64',
  /** Of the parent: the user's sequence. */
  marginAccountSequence: 'f64',
  bucketSequence: 'f64',
  /** MarginAccountKind. */
  accountKind: 'i32',
  asset: 'i32',
})

/** Prices of a perpetual after an index price, a sample or a setting. */
export const MARK = defineLayout('mark', {
  kind: 'u32',
  pair: 'i32',
  sequence: 'f64',
  time: 'f64',
  index: 'i32',
  mark: 'i32',
  /** PriceSource. */
  source: 'i32',
  /** PerpMode. */
  mode: 'i32',
  observedAt: 'f64',
  openLots: 'f64',
  /** 10^-8: what would be paid if the interval ended now. */
  predictedRate: 'i32',
  lastRate: 'i32',
  nextFundingAt: 'f64',
})

/** Funding of one interval of a perpetual. */
export const FUNDING_RATE = defineLayout('funding_rate', {
  kind: 'u32',
  pair: 'i32',
  sequence: 'f64',
  time: 'f64',
  /** 10^-8 of the notional; positive: longs pay. */
  rate: 'i32',
  samples: 'i32',
  index: 'i32',
  mark: 'i32',
  /** 10^-6 atoms a long lot has paid ever. */
  cumulative: 'i64',
  openLots: 'f64',
})

/** Funding that a position got (or paid: below 0) for all intervals since it was settled last. */
export const FUNDING_PAYMENT = defineLayout('funding_payment', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  pair: 'i32',
  position: 'i32',
  bucket: 'i32',
  lots: 'i32',
  amount: 'i64',
  /** PERP.CUMULATIVE before and now. */
  from: 'i64',
  to: 'i64',
  openedSequence: 'f64',
  /** Of the interval that was paid last. */
  rate: 'i32',
  mark: 'i32',
})

/** What happened to a bucket in liquidation. */
export const LiquidationStatus = {
  STARTED: 0, ORDERS_CANCELLED: 1, REDUCED: 2, TAKEN_OVER: 3, DELEVERAGED: 4, BAD_DEBT: 5, COMPLETED: 6,
} as const
export const LIQUIDATION_STATUS_NAMES = [
  'STARTED', 'ORDERS_CANCELLED', 'REDUCED', 'TAKEN_OVER', 'DELEVERAGED', 'BAD_DEBT', 'COMPLETED',
] as const
export const LIQUIDATION = defineLayout('liquidation', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  bucket: 'i32',
  /** -1: the parent. */
  marginAccount: 'i32',
  /** -1: of the whole bucket. */
  pair: 'i32',
  /** {@link LiquidationStatus}. */
  status: 'i32',
  /** Lots that were taken from the position, and at which price in ticks. */
  lots: 'i32',
  price: 'i32',
  /** Atoms: liquidation fee; BAD_DEBT: the loss. */
  amount: 'i64',
  equity: 'i64',
  maintenance: 'i64',
  bucketSequence: 'f64',
  /** Sequence at which this liquidation began: with the bucket it is its id. */
  began: 'f64',
  /** 0: of no position. */
  openedSequence: 'f64',
  marginAccountSequence: 'f64',
})
