/**
 * Margin trading as commands: collateral, margin accounts, prices, funding, liquidation. What orders of perpetuals carry is in command.ts.
 *
 * A margin account, a risk bucket and a position are named by row and by the sequence that made them, which is their identity: the row of
 * one that is gone may be another's.
 */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/** What MOVE_COLLATERAL does. */
export const CollateralMove = {
  /** Wallet balance to a margin account, and back. */
  DEPOSIT: 0, WITHDRAW: 1,
  /** Parent to one of its margin sub-accounts, and back. */
  TO_SUB: 2, FROM_SUB: 3,
  /** Margin account to one of its risk buckets, and back. */
  TO_BUCKET: 4, FROM_BUCKET: 5,
} as const
export type CollateralMove = (typeof CollateralMove)[keyof typeof CollateralMove]

/** Key and payload stand as in ORDER_COMMAND. */
export const MOVE_COLLATERAL_COMMAND = defineLayout('move_collateral', {
  ...HEADER,
  /** {@link CollateralMove}. */
  move: 'i32',
  /** Option.KEYED or 0. */
  options: 'u32',
  /** Row of the margin account, -1: the parent of whoever signs, which is made on first use ... */
  marginAccount: 'i32',
  /** ... TO_BUCKET and FROM_BUCKET: row of the bucket, otherwise -1. */
  bucket: 'i32',
  /** Sequence that made the one that is named: of the bucket, or of the margin account; 0: the parent. */
  createdSequence: 'f64',
  /** Atoms, at least 1. */
  amount: 'i64',
}, {
  key: 'bytes16',
  payload: 'bytes16',
  unused: 'bytes40',
  former: 'bytes16',
})

/** A margin sub-account of whoever signs. */
export const OPEN_MARGIN_ACCOUNT_COMMAND = defineLayout('open_margin_account', {
  ...HEADER,
  /** 32 bytes of UTF-8, zero padded; all zero: none. */
  label: 'bytes32',
})

export const CLOSE_MARGIN_ACCOUNT_COMMAND = defineLayout('close_margin_account', {
  ...HEADER,
  marginAccount: 'i32',
  reserved: 'i32',
  createdSequence: 'f64',
})

/** A risk bucket for a strategy key; orders name it by the hash of the key. Done as well when there is one already. */
export const OPEN_RISK_BUCKET_COMMAND = defineLayout('open_risk_bucket', {
  ...HEADER,
  /** As in {@link MOVE_COLLATERAL_COMMAND}. */
  marginAccount: 'i32',
  /** Pair of an isolated bucket; -1: a cross one. */
  pair: 'i32',
  createdSequence: 'f64',
  /** First 8 bytes of SHA-256 over the key. */
  keyLow: 'i32',
  keyHigh: 'i32',
  /** Printable ASCII, zero padded. */
  strategyKey: 'bytes48',
})

/** Where an index price came from. */
export const PriceSource = { OPERATOR: 0, REPLAY: 1, POLLED: 2, EMBEDDED: 3 } as const
export const PRICE_SOURCE_NAMES = ['OPERATOR', 'REPLAY', 'POLLED', 'EMBEDDED'] as const

/** Operator's lane, from the price feeder. */
export const SET_INDEX_PRICE_COMMAND = defineLayout('set_index_price', {
  ...HEADER,
  pair: 'i32',
  /** Ticks, 1 .. priceTicks - 1. */
  price: 'i32',
  /** {@link PriceSource}. */
  source: 'i32',
  /** 1: also outside of the band around the price before (an operator who looked). */
  force: 'i32',
  /** When the source saw it, Unix ms. */
  observedAt: 'f64',
})

/** What a perpetual lets happen besides its PairStatus. */
export const PerpMode = {
  NORMAL: 0,
  /** Only orders that reduce. */
  REDUCE_ONLY: 1,
  /** Positions are closed at the settlement price, some with each step; nothing trades. */
  SETTLING: 2,
  /** All are closed. */
  SETTLED: 3,
} as const
export type PerpMode = (typeof PerpMode)[keyof typeof PerpMode]
export const PERP_MODE_NAMES = ['NORMAL', 'REDUCE_ONLY', 'SETTLING', 'SETTLED'] as const

/** Operator. */
export const SET_PERP_COMMAND = defineLayout('set_perp', {
  ...HEADER,
  pair: 'i32',
  /** {@link PerpSetting}. */
  setting: 'i32',
  /** MODE: {@link PerpMode}; FORCED_MARK: ticks, 0: none; FUND_COVER: share of the insurance fund, ppm; JUMP_WINDOW: seconds. */
  value: 'i32',
  /** MODE SETTLING: settlement price, ticks. */
  price: 'i32',
  /** OPEN_CAP: lots, 0: none. FORCED_MARK: until then, Unix ms. FUND_COVER: allowance of an owner, atoms. */
  number: 'f64',
})
export const PerpSetting = { MODE: 0, OPEN_CAP: 1, FORCED_MARK: 2, FUND_COVER: 3, JUMP_WINDOW: 4 } as const

/** Operator: fee income of the house to the insurance fund. */
export const FUND_INSURANCE_COMMAND = defineLayout('fund_insurance', {
  ...HEADER,
  /** Atoms, at least 1. */
  amount: 'i64',
})

/** Of the sequencer itself: a sample of the premium, or the end of a funding interval, whichever is due. */
export const FUNDING_STEP_COMMAND = defineLayout('funding_step', { ...HEADER, pair: 'i32' })

/** Of the sequencer itself: looks at the health of a bucket, and takes the next step of its liquidation. */
export const LIQUIDATION_STEP_COMMAND = defineLayout('liquidation_step', {
  ...HEADER,
  bucket: 'i32',
  /** Resting orders that it may meet or end: its part of the work of a turn. 0: as many as an order of a user may. */
  looks: 'i32',
  createdSequence: 'f64',
})

/** Of the sequencer itself: the next part of the settlement of a perpetual that is {@link PerpMode}.SETTLING. */
export const SETTLEMENT_STEP_COMMAND = defineLayout('settlement_step', { ...HEADER, pair: 'i32' })
