/** Records of margin trading in the pages of the history (layout.ts, which says what the tables are). */
import { defineLayout } from '../../layout/table.ts'

/** A margin account as it is now. */
export const MARGIN_ACCOUNT_RECORD = defineLayout('margin_account_record', {
  /** As its public id has them: of the parent the sequence of the user, row -1. */
  sequence: 'f64',
  /** Atoms, as in state/margin_rows.ts; `realized`: sum over its buckets. */
  deposited: 'i64',
  earmarked: 'i64',
  realized: 'i64',
  row: 'i32',
  asset: 'i32',
})

/** A risk bucket as it is now. */
export const RISK_BUCKET_RECORD = defineLayout('risk_bucket_record', {
  sequence: 'f64',
  /** Atoms that it realised since it was settled with its margin account last. */
  realized: 'i64',
  row: 'i32',
  /** Number of the record of its margin account; -1: not known yet. */
  marginAccount: 'i32',
  /** MarginMode. */
  mode: 'i32',
  reserved: 'i32',
  strategyKey: 'bytes48',
})

/** Where an order of a perpetual stands. */
export const ORDER_MARGIN_RECORD = defineLayout('order_margin_record', {
  sequence: 'f64',
  /** Number of the record of its bucket. */
  bucket: 'i32',
  /** Hundredths; 0: reduce-only. */
  leverage: 'i32',
})

/** A position of any age. */
export const POSITION_RECORD = defineLayout('position_record', {
  /** Of the command that opened it. */
  sequence: 'f64',
  openedAt: 'f64',
  updatedAt: 'f64',
  /** 0: it is open. */
  closedAt: 'f64',
  version: 'f64',
  /** Cost of `entryLots`, atoms. */
  entryCost: 'i64',
  realized: 'i64',
  funding: 'i64',
  fees: 'i64',
  allocated: 'i64',
  row: 'i32',
  pair: 'i32',
  /** Number of the record of its bucket. */
  bucket: 'i32',
  lots: 'i32',
  /** Lots that are open or, of one that is closed, were before it closed. */
  entryLots: 'i32',
  leverage: 'i32',
  reason: 'i32',
  mark: 'i32',
})

export const FUNDING_PAYMENT_RECORD = defineLayout('funding_payment_record', {
  sequence: 'f64',
  time: 'f64',
  openedSequence: 'f64',
  amount: 'i64',
  position: 'i32',
  pair: 'i32',
  lots: 'i32',
  rate: 'i32',
  mark: 'i32',
  reserved: 'i32',
})

/** A liquidation of a bucket. */
export const LIQUIDATION_RECORD = defineLayout('liquidation_record', {
  /** At which it began. */
  sequence: 'f64',
  startedAt: 'f64',
  updatedAt: 'f64',
  /** 0: it is unresolved. */
  endedAt: 'f64',
  /** Lots taken from positions. */
  lots: 'f64',
  fees: 'i64',
  badDebt: 'i64',
  equity: 'i64',
  maintenance: 'i64',
  /** Number of the record of its bucket. */
  bucket: 'i32',
  status: 'i32',
  pair: 'i32',
  reserved: 'i32',
})

/** What an account had in margin trading in an hour: its collateral (`pair` -1), or what it held of one pair over all of its positions. */
export const MARGIN_HOUR = defineLayout('margin_hour', {
  /** Hours since 1970. */
  hour: 'f64',
  /** Signed. */
  lots: 'f64',
  /** Atoms: cost of the lots or, of the collateral, what was deposited and realised. */
  atoms: 'i64',
  pair: 'i32',
  reserved: 'i32',
})

/** Prices of a perpetual at the end of a minute of UTC in which it had any, and the sum of its open interest up to there. */
export const MARK_MINUTE = defineLayout('mark_minute', {
  /** Its beginning, Unix ms. */
  time: 'f64',
  /** Samples of open interest before this minute. */
  samples: 'f64',
  /** Their sum, 128 bits, the lower word first, atoms. */
  sum: 'i64', sumHigh: 'i64',
  openLots: 'f64',
  nextFundingAt: 'f64',
  /** Ticks. */
  index: 'i32',
  mark: 'i32',
  /** 10^-8. */
  predictedRate: 'i32',
  reserved: 'i32',
})

export const FUNDING_RATE_RECORD = defineLayout('funding_rate_record', {
  sequence: 'f64',
  time: 'f64',
  openLots: 'f64',
  rate: 'i32',
  samples: 'i32',
  index: 'i32',
  mark: 'i32',
})

/**
 * A POSTING (layout.ts) of a margin account: the same words and types, by what they are here. Kind POSITION: a position realised profit
 * (`amount`), funding and a fee. Kind COLLATERAL: collateral came or went (`amount`) and was locked or freed (`fee`).
 */
export const MARGIN_POSTING = defineLayout('margin_posting', {
  sequence: 'f64',
  time: 'f64',
  number: 'i32',
  kind: 'i32',
  /** Asset of the collateral. */
  asset: 'i32',
  /** PositionReason or CollateralReason. */
  reason: 'i32',
  /** Of a position: the sequence that opened it, and its row. */
  positionSequence: 'f64',
  position: 'i32',
  /** As public ids name it; sequence 0: it is not known. */
  marginAccount: 'i32',
  marginAccountSequence: 'f64',
  /** Row; -1: of no bucket. */
  bucket: 'i32',
  pair: 'i32',
  unused: 'i32',
  reserved: 'i32',
  /** Atoms; signed for the margin account, but the fee for who gets it. */
  amount: 'i64',
  fee: 'i64',
  funding: 'i64',
  /** Of the margin account, after it. */
  available: 'i64',
  locked: 'i64',
  bucketSequence: 'i64',
  spare: 'i64',
})
