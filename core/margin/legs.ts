/**
 * Legs of an entry order that rests: conditional orders that wait for it to fill (orders/legs.ts makes them). They are a list from its row
 * on, and Flag.LEGS in its flags says that there is one.
 *
 * With the first fill that leaves a position in the order's direction all of them watch that position. When the order is gone before
 * that, they end. Orders are named by the addresses of their rows.
 */
import { ConditionalReason, ConditionalState } from '../layout/conditional.ts'
import { Flag } from '../layout/flags.ts'
import { ORDER } from '../state/columns.ts'
import { CONDITIONAL } from '../state/conditional_rows.ts'
import { ORDER_MARGIN, POSITION } from '../state/margin_rows.ts'
import { conditionalRow, get, orderMarginRow, set } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { endConditional, tellConditional, watch } from './conditionals.ts'
import { positionOf } from './order_lists.ts'

/** True when the position of the order at `row` stands in the order's direction. */
export function isEntered(state: State, row: number): boolean {
  const lots = get(state, positionOf(state, row), POSITION.LOTS)
  return (get(state, row, ORDER.FLAGS) & Flag.SELL) !== 0 ? lots < 0 : lots > 0
}

/** Takes the legs from the order at `row`: the first of them, row + 1. */
export function takeLegs(state: State, row: number): number {
  const extra = orderMarginRow(state, get(state, row, ORDER.SLOT))
  const first = get(state, extra, ORDER_MARGIN.LEGS)
  set(state, extra, ORDER_MARGIN.LEGS, 0)
  set(state, row, ORDER.FLAGS, get(state, row, ORDER.FLAGS) & ~Flag.LEGS)
  return first
}

/** Gives the order at `row` legs, `first` and those behind it, row + 1. */
export function giveLegs(state: State, row: number, first: number): void {
  if (first === 0) return
  set(state, orderMarginRow(state, get(state, row, ORDER.SLOT)), ORDER_MARGIN.LEGS, first)
  set(state, row, ORDER.FLAGS, get(state, row, ORDER.FLAGS) | Flag.LEGS)
}

/** Takes the leg at `leg` from the front of its list; the one behind it, row + 1. */
export function cutLeg(state: State, leg: number): number {
  const next = get(state, leg, CONDITIONAL.LEG_NEXT)
  set(state, leg, CONDITIONAL.LEG_NEXT, 0)
  return next
}

/** The order at `row` was filled, in part or in full: its legs watch the position, if that stands in its direction by now. */
export function armLegs(state: State, row: number): void {
  if (!isEntered(state, row)) return
  for (let next = takeLegs(state, row); next !== 0; ) {
    const leg = conditionalRow(state, next - 1)
    next = cutLeg(state, leg)
    const armed = watch(state, leg)
    tellConditional(state, leg, armed ? ConditionalReason.ARMED : ConditionalReason.CREATED, 0, 0)
  }
}

/** The order at `row` is gone, and its legs with it. */
export function endLegs(state: State, row: number): void {
  for (let next = takeLegs(state, row); next !== 0; ) {
    const leg = conditionalRow(state, next - 1)
    next = cutLeg(state, leg)
    endConditional(state, leg, ConditionalState.CANCELLED, ConditionalReason.ENTRY_ENDED)
  }
}

/** The conditional order at `leg`, which waits for an entry order, waits no more: it is about to end for another reason. */
export function leaveEntry(state: State, leg: number, order: number): void {
  const extra = orderMarginRow(state, get(state, order, ORDER.SLOT))
  const following = cutLeg(state, leg)
  const own = get(state, extra, ORDER_MARGIN.LEGS)
  if (conditionalRow(state, own - 1) === leg) {
    set(state, extra, ORDER_MARGIN.LEGS, following)
    if (following === 0) set(state, order, ORDER.FLAGS, get(state, order, ORDER.FLAGS) & ~Flag.LEGS)
    return
  }
  let before = conditionalRow(state, own - 1)
  while (conditionalRow(state, get(state, before, CONDITIONAL.LEG_NEXT) - 1) !== leg) {
    before = conditionalRow(state, get(state, before, CONDITIONAL.LEG_NEXT) - 1)
  }
  set(state, before, CONDITIONAL.LEG_NEXT, following)
}
