/** Movements of margin accounts in the history: what a posting of one says of each of its rows. */
import type { Views } from '../../layout/table.ts'
import { Posting } from '../store/layout.ts'
import { MARGIN_POSTING } from '../store/margin_layout.ts'
import { collateralShape, COLLATERAL_ROW, positionShape, POSITION_ROW } from '../store/margin_shapes.ts'
import { Reference, Transaction, type HistoryMovement } from './queries.ts'

const { at: P } = MARGIN_POSTING

/** Shape of the posting of a margin account at `at`. */
export function marginShapeAt({ i32, i64 }: Views, at: number): number {
  const [asset, reason] = [i32[at + P.asset]!, i32[at + P.reason]!]
  const [amount, fee] = [i64[(at + P.amount) >>> 1]!, i64[(at + P.fee) >>> 1]!]
  if (i32[at + P.kind] === Posting.COLLATERAL) return collateralShape(asset, reason, amount, fee)
  return positionShape(asset, reason, amount, i64[(at + P.funding) >>> 1]!, fee)
}

const size = (atoms: bigint): bigint => (atoms < 0n ? -atoms : atoms)

/**
 * Completes the movement of `row` of the posting at `at`. The posting has what the margin account had after all of its rows; after an
 * earlier one the later ones had not happened.
 */
export function completeMargin(movement: HistoryMovement, { i32, f64, i64 }: Views, at: number, row: number): void {
  const fee = i64[(at + P.fee) >>> 1]!
  const bucket = { sequence: Number(i64[(at + P.bucketSequence) >>> 1]!), row: i32[at + P.bucket]! }
  const account = { sequence: f64[(at + P.marginAccountSequence) >>> 1]!, row: i32[at + P.marginAccount]! }
  movement.margin = { account, bucket: bucket.row < 0 ? null : bucket }
  if (i32[at + P.kind] === Posting.COLLATERAL) {
    if (row === COLLATERAL_ROW.HOLD) movement.amount = size(fee)
    else {
      movement.available += fee
      movement.locked -= fee
    }
    const named = movement.transaction === Transaction.TRANSFER || movement.margin.bucket === null
    Object.assign(movement, named
      ? { reference: Reference.TRANSFER, referenceSequence: movement.sequence, referenceSlot: 0 }
      : { reference: Reference.RISK_BUCKET, referenceSequence: bucket.sequence, referenceSlot: bucket.row })
    return
  }
  const funding = i64[(at + P.funding) >>> 1]!
  if (row === POSITION_ROW.FUNDING) movement.amount = size(funding)
  if (row === POSITION_ROW.FEE) movement.amount = size(fee)
  if (row < POSITION_ROW.FEE) movement.available += fee
  if (row < POSITION_ROW.FUNDING) movement.available -= funding
  Object.assign(movement, {
    reference: Reference.POSITION, referenceSequence: f64[(at + P.positionSequence) >>> 1]!, referenceSlot: i32[at + P.position]!,
  })
}
