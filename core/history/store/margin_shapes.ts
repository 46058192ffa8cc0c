/**
 * Which movements a posting of a margin account is, from its shape (layout.ts) alone, whose bits 8 to 15 are here
 *
 *   POSITION     row 0 profit (bits 0-1), row 1 funding (2-3), row 2 fee (4-5): a Flow each; bits 6-7: what caused the profit
 *   COLLATERAL   row 0 came or went (bits 0-1), row 1 locked or freed (2-3): a Flow each; bits 4-7: why
 */
import { CollateralReason, PositionReason } from '../../layout/margin_events.ts'
import { Flow, Posting, shapeOf } from './layout.ts'
import { Entry, Transaction } from './movement_kinds.ts'

/** Rows of a posting of kind POSITION, and of one of kind COLLATERAL. */
export const POSITION_ROW = { PROFIT: 0, FUNDING: 1, FEE: 2 } as const
export const COLLATERAL_ROW = { CHANGE: 0, HOLD: 1 } as const

/** What makes a profit, by the number in a shape. */
const CAUSES = [Transaction.TRADE, Transaction.LIQUIDATION, Transaction.ADL, Transaction.SETTLEMENT] as const
const CAUSE_OF: Readonly<Record<number, number>> = {
  [PositionReason.LIQUIDATION]: 1, [PositionReason.TAKE_OVER]: 1, [PositionReason.DELEVERAGE]: 2, [PositionReason.SETTLEMENT]: 3,
}
/** Why collateral moves, by the number in a shape. */
const MOVES = [
  Transaction.TRANSFER, Transaction.TRADE, Transaction.LIQUIDATION, Transaction.ADJUSTMENT, Transaction.APPLICATION_FEE,
] as const
const MOVE_OF: Readonly<Record<number, number>> = {
  [CollateralReason.ORDER]: 1, [CollateralReason.LIQUIDATION_FEE]: 2, [CollateralReason.INSURANCE]: 2, [CollateralReason.BAD_DEBT]: 3,
  [CollateralReason.APPLICATION_FEE]: 4,
}

/** `atoms` of the account: above 0 it gets them. */
const flowOf = (atoms: bigint): number => (atoms === 0n ? Flow.NONE : atoms < 0n ? Flow.OUT : Flow.IN)

export const positionShape = (asset: number, reason: number, profit: bigint, funding: bigint, fee: bigint): number =>
  shapeOf(Posting.POSITION, flowOf(profit) | (flowOf(funding) << 2) | (flowOf(-fee) << 4) | ((CAUSE_OF[reason] ?? 0) << 6), asset)

/** `hold`: above 0 they are locked. */
export const collateralShape = (asset: number, reason: number, change: bigint, hold: bigint): number =>
  shapeOf(Posting.COLLATERAL, flowOf(change) | (flowOf(hold) << 2) | ((MOVE_OF[reason] ?? 0) << 4), asset)

export const isOfMargin = (kind: number): boolean => kind === Posting.POSITION || kind === Posting.COLLATERAL

const rowFlow = (flow: number, row: number): number => (flow >>> (2 * row)) & 3
/** Rows of `kind` with these flow bits: bit n is row n. */
export function marginRows(kind: number, flow: number): number {
  const all = Object.values(kind === Posting.POSITION ? POSITION_ROW : COLLATERAL_ROW)
  return all.reduce((rows: number, row) => (rowFlow(flow, row) === Flow.NONE ? rows : rows | (1 << row)), 0)
}

/** {@link Entry}. */
export function marginEntry(kind: number, flow: number, row: number): number {
  const goes = rowFlow(flow, row) === Flow.OUT
  if (kind === Posting.COLLATERAL && row === COLLATERAL_ROW.HOLD) return goes ? Entry.UNLOCK : Entry.LOCK
  return goes ? Entry.DEBIT : Entry.CREDIT
}

/** {@link Transaction}. */
export function marginTransaction(kind: number, flow: number, row: number): number {
  if (kind === Posting.COLLATERAL) return MOVES[flow >>> 4]!
  if (row === POSITION_ROW.FUNDING) return Transaction.FUNDING
  if (row === POSITION_ROW.FEE) return rowFlow(flow, row) === Flow.OUT ? Transaction.FEE : Transaction.REBATE
  return CAUSES[flow >>> 6]!
}
