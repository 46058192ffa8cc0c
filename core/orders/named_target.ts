/**
 * The order that a CANCEL_ORDER or REPLACE_ORDER names: by its place and sequence, or by its client order id.
 *
 * A client order id is resolved when the command is applied: it is the account's own order that rests under it then. So a cancel that was
 * sent right behind its create finds it. Who names an order so need not know its pair; the price and quantity of such a replacement are
 * decimals, and become ticks and lots of the order's pair here.
 */
import { Option, ORDER_COMMAND } from '../layout/command.ts'
import { read, readF64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { F64Field, Views } from '../layout/table.ts'
import { restingTarget } from '../book/pool.ts'
import { ORDER } from '../state/columns.ts'
import { findClientOrderId } from '../state/indexes.ts'
import { get, orderRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const C = ORDER_COMMAND.at
/** Digits after the point that prices and quantities have at most. */
const SCALE_MAX = 18
const STEPS_MAX = 2 ** 31 - 1

/** The row of the resting order that the command of `account` names, or -1. One that is named by place may be anybody's. */
export function targetRow(state: State, account: number, command: Views, base: number): number {
  const length = read(command, base, C.targetLength)
  if (length === 0) return restingTarget(state, command, base)
  const slot = account < 0 ? -1 : findClientOrderId(state, account, command.i32, base + C.target, length)
  return slot < 0 ? -1 : orderRow(state, slot)
}

/**
 * The price in ticks that a replacement of the order at `row` asks for; the order's own when it asks for none. INVALID_TICK, negated: the
 * decimal is no tick of the pair.
 */
export function askedPrice(state: State, row: number, command: Views, base: number): number {
  if ((read(command, base, C.options) & Option.NEW_PRICE) === 0) return get(state, row, ORDER.PRICE)
  if (read(command, base, C.targetLength) === 0) return read(command, base, C.price)
  const { priceScale, tickUnits } = state.genesis.pairs[get(state, row, ORDER.PAIR)]!
  return stepsOf(command, base, C.priceUnits, C.priceScale, priceScale, tickUnits) || -REFUSALS.INVALID_TICK.number
}

/** The same of the quantity, in lots; without one, what is still open. INVALID_LOT, negated. */
export function askedLots(state: State, row: number, command: Views, base: number): number {
  if ((read(command, base, C.options) & Option.NEW_LOTS) === 0) return get(state, row, ORDER.REMAINING)
  if (read(command, base, C.targetLength) === 0) return read(command, base, C.lots)
  const { lotScale, lotUnits } = state.genesis.pairs[get(state, row, ORDER.PAIR)]!
  return stepsOf(command, base, C.lotsUnits, C.lotsScale, lotScale, lotUnits) || -REFUSALS.INVALID_LOT.number
}

/**
 * A decimal, `units` × 10^-scale of the command, in steps of `step` × 10^-`stepScale`; 0: it is no whole number of them from 1 on, or out
 * of range. Everything is exact: what is beyond 2^53 - 1 is out of range.
 */
function stepsOf(command: Views, base: number, units: F64Field, scale: number, stepScale: number, step: number): number {
  let value = readF64(command, base, units)
  const digits = read(command, base, scale)
  if (!Number.isSafeInteger(value) || value <= 0 || digits < 0 || digits > SCALE_MAX) return 0
  for (let left = digits - stepScale; left > 0; left--) {
    if (value % 10 !== 0) return 0
    value /= 10
  }
  for (let left = stepScale - digits; left > 0; left--) value *= 10
  if (value > Number.MAX_SAFE_INTEGER || value % step !== 0) return 0
  return value / step <= STEPS_MAX ? value / step : 0
}
