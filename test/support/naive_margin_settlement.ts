/** Settlement of a perpetual that the operator delists, in the naive exchange (naive_margin.ts). */
import { Reason, Status } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE } from './naive.ts'
import { isPerp, perpOf } from './naive_margin.ts'
import { changeLots, giveUpPosition, PositionReason } from './naive_margin_changes.ts'
import { tellMark } from './naive_margin_prices.ts'
import { end } from './naive_orders.ts'
import { otherSide, type Ex } from './naive_terms.ts'

/** Orders, and positions, that one step ends. */
const STEP_MOST = 64

/** SETTLEMENT_STEP: orders end, bids before asks and the best first; then positions are closed at the settlement price, row after row. */
export function settlementStep(ex: Ex, command: Decoded): void {
  const pair = Number(command['pair'])
  if (Number(command['kind']) >>> 16 !== 0) return ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  if (!isPerp(ex, pair) || perpOf(ex, pair).mode !== 2) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const orders = [...otherSide(ex, pair, true), ...otherSide(ex, pair, false)].slice(0, STEP_MOST)
  for (const order of orders) end(ex, order, Status.CANCELLED, Reason.PAIR_HALTED, 0, false)
  if (orders.length < STEP_MOST) closePositions(ex, pair)
  ex.result(command, { account: -1 })
}

function closePositions(ex: Ex, pair: number): void {
  const perp = perpOf(ex, pair)
  const open = ex.margins.positions.filter((each) => each.pair === pair && each.lots !== 0).sort((a, b) => a.row - b.row)
  for (const position of open.slice(0, STEP_MOST)) {
    changeLots(ex, position, -position.lots, perp.settlement, PositionReason.SETTLEMENT)
    giveUpPosition(ex, position)
  }
  if (open.length >= STEP_MOST) return
  perp.mode = 3
  tellMark(ex, pair)
}
