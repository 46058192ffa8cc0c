/**
 * The insurance fund closes what it took over: while its bucket is healthy, the position that needs most and that the book can take is
 * reduced by a fifth, at the mark moved by the liquidation fee at worst: it gives away no more than it gets for a liquidation. Otherwise
 * whoever has a thin book for himself would be liquidated with one account, for his maintenance margin, and buy from the fund with
 * another at the end of the mark's band. The sequencer asks for it once a second, and only where the book has somebody at such a price.
 * When no position is left, what they made or lost is settled with what the fund has deposited.
 */
import { CollateralReason } from '../layout/margin_events.ts'
import { R } from '../state/balances.ts'
import { MARGIN_ACCOUNT, PERP_TERMS, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { gain, get, getI64, isZero, perpTermsRow, positionRow, setI64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { isFlat, marginAccountOf } from '../margin/buckets.ts'
import { markOf } from '../margin/figures.ts'
import { addToFund } from '../margin/fund.ts'
import { maintenanceMargin, notionalOf } from '../margin/tiers.ts'
import { trades } from './frozen.ts'
import { meetsBook, movedMark, reduce } from './reduce.ts'

/** True when {@link unwind} would do something. */
export const canUnwind = (state: State, fund: number): boolean =>
  isFlat(state, fund) ? !isZero(state, fund, RISK_BUCKET.REALIZED) : sellable(state, fund) >= 0

const limitOf = (state: State, position: number): number => {
  const pair = get(state, position, POSITION.PAIR)
  const fee = get(state, perpTermsRow(state, pair), PERP_TERMS.LIQUIDATION_FEE_PPM)
  return movedMark(state, pair, get(state, position, POSITION.LOTS) > 0, fee)
}

/** The position with the largest maintenance margin of those that the book can take some of, or -1. */
function sellable(state: State, fund: number): number {
  const { registers } = state
  registers[R.LARGEST] = -1n
  let largest = -1
  let next = get(state, fund, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    next = get(state, position, POSITION.NEXT)
    const pair = get(state, position, POSITION.PAIR)
    if (get(state, position, POSITION.LOTS) === 0 || !trades(state, pair) || !meetsBook(state, position, limitOf(state, position))) continue
    notionalOf(state, pair, get(state, position, POSITION.LOTS), markOf(state, pair))
    maintenanceMargin(state, pair)
    if (registers[R.MAINTENANCE]! <= registers[R.LARGEST]!) continue
    registers[R.LARGEST] = registers[R.MAINTENANCE]!
    largest = position
  }
  return largest
}

/** Closes some lots of the fund, which is healthy. */
export function unwind(state: State, fund: number): void {
  const position = sellable(state, fund)
  if (position >= 0) reduce(state, position, Math.ceil(Math.abs(get(state, position, POSITION.LOTS)) / 5), limitOf(state, position))
  if (!isFlat(state, fund) || isZero(state, fund, RISK_BUCKET.REALIZED)) return
  const { registers } = state
  registers[R.AMOUNT] = getI64(state, fund, RISK_BUCKET.REALIZED)
  gain(state, marginAccountOf(state, fund), MARGIN_ACCOUNT.SETTLED, R.AMOUNT)
  setI64(state, fund, RISK_BUCKET.REALIZED, 0n)
  addToFund(state, fund, CollateralReason.SETTLED)
}
