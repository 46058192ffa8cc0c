/**
 * Which movements a posting is, from its shape alone (layout.ts): row 0 is the quote leg of a fill or the only movement of anything
 * else, row 1 the base leg, row 2 the fee or rebate. Those of margin accounts are in margin_shapes.ts.
 */
import type { Genesis } from '../../state/genesis.ts'
import { buys, Flow, isFill, moves, Posting } from './layout.ts'
import { isOfMargin, marginEntry, marginRows, marginTransaction } from './margin_shapes.ts'
import { Entry, Transaction } from './movement_kinds.ts'

export const QUOTE_LEG = 0
export const BASE_LEG = 1
/** Most movements of a posting. */
const ROWS = 3

const kindOf = (shape: number): number => shape & 0xff
const flowOf = (shape: number): number => (shape >>> 8) & 0xff
/** Pair of a fill, asset of anything else. */
const subjectOf = (shape: number): number => shape >>> 16

/** Movements of a posting: bit n is row n. */
export function rowsOf(shape: number): number {
  if (!moves(kindOf(shape))) return 0
  if (isOfMargin(kindOf(shape))) return marginRows(kindOf(shape), flowOf(shape))
  return !isFill(kindOf(shape)) ? 1 : flowOf(shape) === Flow.NONE ? 3 : 7
}

const COUNTS = [0, 1, 1, 2, 1, 2, 2, 3]
export const countRows = (shape: number): number => COUNTS[rowsOf(shape)]!
/** How many movements of the posting come before this row. */
export const placeOf = (shape: number, row: number): number => COUNTS[rowsOf(shape) & ((1 << row) - 1)]!

export function assetOf(shape: number, row: number, { pairs }: Genesis): number {
  if (!isFill(kindOf(shape))) return subjectOf(shape)
  const pair = pairs[subjectOf(shape)]!
  return row === BASE_LEG ? pair.base : pair.quote
}

/** What a withdrawal does, by {@link Flow}. */
const WITHDRAWN = [Entry.LOCK, Entry.DEBIT, Entry.UNLOCK] as const

/** {@link Entry} of a movement. */
export function entryOf(shape: number, row: number): number {
  const kind = kindOf(shape)
  if (isOfMargin(kind)) return marginEntry(kind, flowOf(shape), row)
  if (kind === Posting.LOCK) return Entry.LOCK
  if (kind === Posting.UNLOCK) return Entry.UNLOCK
  if (kind === Posting.WITHDRAWAL) return WITHDRAWN[flowOf(shape)]!
  if (!isFill(kind) || row > BASE_LEG) return flowOf(shape) === Flow.OUT ? Entry.DEBIT : Entry.CREDIT
  return buys(kind) === (row === BASE_LEG) ? Entry.CREDIT : Entry.DEBIT
}

/** {@link Transaction} of a movement. */
export function transactionOf(shape: number, row: number): number {
  const kind = kindOf(shape)
  if (isOfMargin(kind)) return marginTransaction(kind, flowOf(shape), row)
  if (kind === Posting.CREDIT) return Transaction.FAUCET
  if (kind === Posting.TRANSFER) return Transaction.TRANSFER
  if (kind === Posting.APPLICATION_FEE) return Transaction.APPLICATION_FEE
  if (kind === Posting.REVENUE_SHARE) return Transaction.REVENUE_SHARE
  if (kind === Posting.REFERRAL_REWARD) return Transaction.REFERRAL_REWARD
  if (kind === Posting.DEPOSIT) return Transaction.DEPOSIT
  if (kind === Posting.WITHDRAWAL) return Transaction.WITHDRAWAL
  if (!isFill(kind) || row <= BASE_LEG) return Transaction.TRADE
  return flowOf(shape) === Flow.OUT ? Transaction.FEE : Transaction.REBATE
}

/** Every transaction this exchange makes: a filter by another, or by an unknown asset, finds nothing, without looking. */
const MADE: readonly number[] = [
  Transaction.TRADE, Transaction.FEE, Transaction.REBATE, Transaction.FAUCET, Transaction.TRANSFER, Transaction.FUNDING,
  Transaction.LIQUIDATION, Transaction.ADL, Transaction.SETTLEMENT, Transaction.ADJUSTMENT, Transaction.APPLICATION_FEE,
  Transaction.REVENUE_SHARE, Transaction.REFERRAL_REWARD, Transaction.DEPOSIT, Transaction.WITHDRAWAL,
]

export interface MovementFilters {
  readonly asset?: number | undefined
  readonly entry?: number | undefined
  readonly transaction?: number | undefined
}

export const isFiltered = ({ asset, entry, transaction }: MovementFilters): boolean =>
  asset !== undefined || entry !== undefined || transaction !== undefined
export const findsNothing = ({ asset, transaction }: MovementFilters): boolean =>
  (asset !== undefined && asset < 0) || (transaction !== undefined && !MADE.includes(transaction))

/** Movements of a posting that pass: bit n is row n. */
export function passingRows(shape: number, genesis: Genesis, { asset, entry, transaction }: MovementFilters): number {
  let passing = rowsOf(shape)
  for (let row = 0; row < ROWS; row++) {
    const passes =
      (asset === undefined || assetOf(shape, row, genesis) === asset) && (entry === undefined || entryOf(shape, row) === entry) &&
      (transaction === undefined || transactionOf(shape, row) === transaction)
    if (!passes) passing &= ~(1 << row)
  }
  return passing
}
