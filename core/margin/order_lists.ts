/**
 * Orders of a position: how many there are, the lists of those that rest, and the sums that its requirement depends on (figures.ts).
 *
 * An order counts from when it is accepted until it has ended ({@link countOrder}), so that the row of its position stays while it is
 * matched. With what it has left it is in the sums as long: lots and value at its limit, by side (a MARKET order's: at the mark). So the
 * requirement is right whenever an order ends meanwhile. A reduce-only order is in its own sum only while it rests. Lists have the orders
 * that rest, newest first.
 *
 * Orders are named by the addresses of their rows; links are slots + 1.
 */
import { Flag } from '../layout/command.ts'
import { R } from '../state/balances.ts'
import { ORDER, TERMS } from '../state/columns.ts'
import { ORDER_MARGIN, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { add, addF64, gain, get, getI64, lose, orderMarginRow, positionRow, set, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { markOf } from './figures.ts'
import { bucketOf } from './positions.ts'

/** Reduce-only orders that may rest on one position: so many are looked at when it shrinks. */
export const REDUCE_ORDERS_MAX = 32

const extraOf = (state: State, row: number): number => orderMarginRow(state, get(state, row, ORDER.SLOT))

/** The position of the margin order at `row`. */
export const positionOf = (state: State, row: number): number =>
  positionRow(state, get(state, extraOf(state, row), ORDER_MARGIN.POSITION) - 1)

/** One order of the position more, or less. */
export function countOrder(state: State, position: number, change: number): void {
  add(state, position, POSITION.ORDERS, change)
  add(state, bucketOf(state, position), RISK_BUCKET.ORDERS, change)
}

/** Adds `lots` of the order at `row`, below 0: takes them, to the sums of its position. Scratch: M0. */
export function addLots(state: State, row: number, lots: number): void {
  const { registers } = state
  const position = positionOf(state, row)
  const flags = get(state, row, ORDER.FLAGS)
  if ((flags & Flag.REDUCE_ONLY) !== 0) {
    add(state, position, POSITION.REDUCE_LOTS, lots)
    return
  }
  const pair = get(state, row, ORDER.PAIR)
  const terms = termsRow(state, pair)
  const price = (flags & Flag.MARKET) !== 0 ? markOf(state, pair) : get(state, row, ORDER.PRICE)
  registers[R.M0] = getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  registers[R.M0] = BigInt(price | 0) * BigInt(lots | 0) * registers[R.M0]!
  if ((flags & Flag.SELL) !== 0) {
    addF64(state, position, POSITION.ASK_LOTS, lots)
    gain(state, position, POSITION.ASK_VALUE, R.M0)
  } else {
    addF64(state, position, POSITION.BID_LOTS, lots)
    gain(state, position, POSITION.BID_VALUE, R.M0)
  }
}

const isReduceOnly = (state: State, row: number): boolean => (get(state, row, ORDER.FLAGS) & Flag.REDUCE_ONLY) !== 0

/** The order at `row` is accepted. */
export function beginOrder(state: State, row: number): void {
  countOrder(state, positionOf(state, row), 1)
  if (!isReduceOnly(state, row)) addLots(state, row, get(state, row, ORDER.REMAINING))
}

/** `lots` of the order at `row`, which is being matched and does not rest, are filled. */
export function fillIncoming(state: State, row: number, lots: number): void {
  // Not -lots: of 0 that is -0, which only a double can be, and a double that crosses a call is allocated.
  if (!isReduceOnly(state, row)) addLots(state, row, 0 - lots)
}

/** The order at `row` ends and never rested. It counts still. */
export function dropOrder(state: State, row: number): void {
  const left = get(state, row, ORDER.REMAINING)
  if (left !== 0) fillIncoming(state, row, left)
}

/** Puts the order at `row`, which rests from now on, into the lists. */
export function linkOrder(state: State, row: number): void {
  const position = positionOf(state, row)
  const extra = extraOf(state, row)
  const link = get(state, row, ORDER.SLOT) + 1
  const head = get(state, position, POSITION.ORDERS_HEAD)
  set(state, extra, ORDER_MARGIN.NEXT, head)
  set(state, extra, ORDER_MARGIN.PREV, 0)
  if (head !== 0) set(state, orderMarginRow(state, head - 1), ORDER_MARGIN.PREV, link)
  set(state, position, POSITION.ORDERS_HEAD, link)
  if (!isReduceOnly(state, row)) return
  addLots(state, row, get(state, row, ORDER.REMAINING))
  const reduces = get(state, position, POSITION.REDUCE_HEAD)
  set(state, extra, ORDER_MARGIN.REDUCE_NEXT, reduces)
  set(state, extra, ORDER_MARGIN.REDUCE_PREV, 0)
  if (reduces !== 0) set(state, orderMarginRow(state, reduces - 1), ORDER_MARGIN.REDUCE_PREV, link)
  set(state, position, POSITION.REDUCE_HEAD, link)
  add(state, position, POSITION.REDUCE_ORDERS, 1)
}

/** Takes the resting order at `row` out of lists and sums; REMAINING must still be what they count for it. It counts still. */
export function unlinkOrder(state: State, row: number): void {
  const position = positionOf(state, row)
  const extra = extraOf(state, row)
  addLots(state, row, 0 - get(state, row, ORDER.REMAINING))
  const next = get(state, extra, ORDER_MARGIN.NEXT)
  const prev = get(state, extra, ORDER_MARGIN.PREV)
  if (prev === 0) set(state, position, POSITION.ORDERS_HEAD, next)
  else set(state, orderMarginRow(state, prev - 1), ORDER_MARGIN.NEXT, next)
  if (next !== 0) set(state, orderMarginRow(state, next - 1), ORDER_MARGIN.PREV, prev)
  if (!isReduceOnly(state, row)) return
  const reduceNext = get(state, extra, ORDER_MARGIN.REDUCE_NEXT)
  const reducePrev = get(state, extra, ORDER_MARGIN.REDUCE_PREV)
  if (reducePrev === 0) set(state, position, POSITION.REDUCE_HEAD, reduceNext)
  else set(state, orderMarginRow(state, reducePrev - 1), ORDER_MARGIN.REDUCE_NEXT, reduceNext)
  if (reduceNext !== 0) set(state, orderMarginRow(state, reduceNext - 1), ORDER_MARGIN.REDUCE_PREV, reducePrev)
  add(state, position, POSITION.REDUCE_ORDERS, -1)
}

/**
 * Adds an order of `lots` on a side, worth register COST, to the sums of a position, or takes it from them again: what the position would
 * need with it (orders/margin_admission.ts).
 */
export function supposeOrder(state: State, position: number, sell: number, lots: number): void {
  addF64(state, position, sell === 0 ? POSITION.BID_LOTS : POSITION.ASK_LOTS, lots)
  const value = sell === 0 ? POSITION.BID_VALUE : POSITION.ASK_VALUE
  if (lots < 0) lose(state, position, value, R.COST)
  else gain(state, position, value, R.COST)
}
