/**
 * An index that jumps: when it moves by more than the least maintenance margin within a window, the perpetual takes only orders that reduce
 * until {@link CONFIRMED_BY} further prices, each {@link APART_MS} or more after the one before, stay within that margin of the one that
 * jumped. One beyond it is another jump. So a price that is wrong for a moment opens nothing at it.
 *
 * Windows are as long as {@link jumpWindow} says and follow one another; the first price of one is measured from the index before it. A
 * price that the operator forces and the first price of a perpetual need no confirmation; a mode that the operator sets ends it.
 * Resting orders stay, and liquidation goes on. A term of 0, of the genesis or of the operator since (PerpSetting.JUMP_WINDOW), and the
 * rules before 5, ask for none.
 *
 * Widest products, in doubles: price × 10^6 < 2^50.
 */
import { SCALAR } from '../state/columns.ts'
import { PERP, PERP_TERMS, TIER } from '../state/margin_rows.ts'
import { add, get, getF64, now, perpRow, perpTermsRow, scalar, set, setF64, tierRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const CONFIRMED_BY = 3
const APART_MS = 1000

/** True while the index has jumped and is not confirmed. */
export const isUnconfirmed = (state: State, pair: number): boolean => get(state, perpRow(state, pair), PERP.JUMP_LEFT) !== 0

/** Nothing has to be confirmed any more. */
export function confirmIndex(state: State, pair: number): void {
  set(state, perpRow(state, pair), PERP.JUMP_LEFT, 0)
}

/** Length of a window, ms; 0: nothing is asked for. */
export function jumpWindow(state: State, pair: number): number {
  const seconds = get(state, perpRow(state, pair), PERP.JUMP_SECONDS)
  return seconds === 0 ? getF64(state, perpTermsRow(state, pair), PERP_TERMS.JUMP_MS) : (seconds - 1) * 1000
}

/** The index becomes `price`; it was `before`, 0: there was none. `forced`: an operator said so. */
export function noteIndex(state: State, pair: number, before: number, price: number, forced: boolean): void {
  const window = jumpWindow(state, pair)
  if (scalar(state, SCALAR.RULES) < 5 || window === 0) return
  const perp = perpRow(state, pair)
  if (forced || before === 0) return measureFrom(state, perp, price, 0)
  const left = get(state, perp, PERP.JUMP_LEFT)
  if (left === 0 && now(state) - getF64(state, perp, PERP.JUMP_AT) >= window) measureFrom(state, perp, before, 0)
  const from = get(state, perp, PERP.JUMP_FROM)
  if (Math.abs(price - from) * 1_000_000 > from * get(state, tierRow(state, pair, 0), TIER.MAINTENANCE_PPM)) {
    return measureFrom(state, perp, price, CONFIRMED_BY)
  }
  if (left === 0 || now(state) - getF64(state, perp, PERP.JUMP_AT) < APART_MS) return
  add(state, perp, PERP.JUMP_LEFT, -1)
  setF64(state, perp, PERP.JUMP_AT, now(state))
}

function measureFrom(state: State, perp: number, from: number, left: number): void {
  set(state, perp, PERP.JUMP_FROM, from)
  set(state, perp, PERP.JUMP_LEFT, left)
  setF64(state, perp, PERP.JUMP_AT, now(state))
}
