/**
 * Marks that conditional orders are held against, one after the other.
 *
 * A mark that may fire something is noted behind those that are still to be looked at, with the sequence of its command. Mostly nothing is
 * reached: then watermarks are held against it and it is done with, in the command that brought it. When something fires, the sequencer
 * goes on with it by commands of its own, one order each (sequencer/trigger_timers.ts, orders/trigger_step.ts), and the next mark waits. So
 * a price that crosses ten thousand triggers stalls nobody, whatever crossed fires though the price is back by then, and in one order:
 *
 *   1. those due: they were reached when they were armed
 *   2. those that were armed before the first mark of the list and not put where marks find them yet (LATER)
 *   3. what the first mark reaches: at the trigger or below, then above; at each side the trigger that is met first, of take-profits,
 *      stop-losses and trailing stops together, then the older one
 *   4. watermarks of trailing stops; then the mark is done with
 *
 * There are {@link PENDING_MARKS_MAX} at most; a price beyond is refused (TRIGGERS_BEHIND). A mark counts when it was fresh as it came and
 * the pair took orders; one that takes them again is held against the mark of then.
 *
 * On a spot pair only starts of TWAP orders wait, for its spot price (impact_price.ts), which is looked at when the sequencer comes by.
 */
import { CONDITIONAL, PENDING_MARKS_MAX, PENDING_MARKS_WIDTH } from '../state/conditional_rows.ts'
import { PERP } from '../state/margin_rows.ts'
import { add, conditionalRow, get, getF64, perpRow, sequence, set } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { find, mayFire, takeAway } from './conditionals.ts'
import { perpNumber } from './guard_heap.ts'
import { spotPrice } from './impact_price.ts'
import { isFresh, isPerpetual } from './mark_price.ts'
import { firstTrail, mayMeetTrail, ratchet, trailTrigger } from './trails.ts'
import { firstTrigger, isCrossed, isOlder, metAt } from '../state/trigger_heap.ts'

/** Groups of trailing stops that one step makes parts of others, and conditional orders that it puts where marks find them. */
export const RATCHETS_MAX = 256
export const PLACED_MAX = 64
/** Groups that the command makes parts of others which brings the mark. */
const RATCHETS_ALONG = 8

/** Where the mark at place `at` of the list of `pair` stands in column pendingMarks: its sequence, and behind it its ticks. */
function placeOf(state: State, pair: number, at: number): number {
  const first = get(state, perpRow(state, pair), PERP.MARKS_FIRST)
  return (perpNumber(state, pair) - 1) * PENDING_MARKS_WIDTH + 2 * ((first + at) % PENDING_MARKS_MAX)
}

/** True when no mark more may be noted for `pair`, a perpetual. */
export const isBehind = (state: State, pair: number): boolean => get(state, perpRow(state, pair), PERP.MARKS) >= PENDING_MARKS_MAX

/** The mark of `pair` is another, or may fire now; {@link isBehind} said that there is room. */
export function noteMark(state: State, pair: number): void {
  const perp = perpRow(state, pair)
  const mark = get(state, perp, PERP.MARK)
  if (mark === 0 || !mayFire(state, pair) || !isFresh(state, pair)) return
  const waits = get(state, perp, PERP.MARKS) | get(state, perp, PERP.DUE_FIRST) | get(state, perp, PERP.LATER_FIRST)
  if (waits === 0 && !mayReach(state, pair, mark) && ratchet(state, pair, mark, RATCHETS_ALONG)) return
  const at = placeOf(state, pair, get(state, perp, PERP.MARKS))
  state.pendingMarks[at] = sequence(state)
  state.pendingMarks[at + 1] = mark
  add(state, perp, PERP.MARKS, 1)
}

/** Marks that are still to be looked at are forgotten: the perpetual begins again. */
export function forgetMarks(state: State, perp: number): void {
  set(state, perp, PERP.MARKS_FIRST, 0)
  set(state, perp, PERP.MARKS, 0)
}

/** The price that what waits on `pair` is held against now, ticks; 0: none. */
export function priceOf(state: State, pair: number): number {
  if (!isPerpetual(state, pair)) return spotPrice(state, pair)
  return get(state, perpRow(state, pair), PERP.MARKS) === 0 ? 0 : state.pendingMarks[placeOf(state, pair, 0) + 1]!
}

/** Sequence of the first mark of the list. */
export const sequenceOfMark = (state: State, pair: number): number => state.pendingMarks[placeOf(state, pair, 0)]!

/** True when TRIGGER_STEP has something to do on `pair`. */
export function isTriggered(state: State, pair: number): boolean {
  if (!mayFire(state, pair)) return false
  if (!isPerpetual(state, pair)) {
    const price = priceOf(state, pair)
    return price !== 0 && firstReached(state, pair, price) >= 0
  }
  const perp = perpRow(state, pair)
  return (get(state, perp, PERP.DUE_FIRST) | get(state, perp, PERP.LATER_FIRST) | get(state, perp, PERP.MARKS)) !== 0
}

/** Address of the conditional order that fires next on `pair`, -1: none, and {@link goOn} has something to do. */
export function nextToFire(state: State, pair: number): number {
  if (!isPerpetual(state, pair)) return firstReached(state, pair, priceOf(state, pair))
  const perp = perpRow(state, pair)
  const due = get(state, perp, PERP.DUE_FIRST)
  if (due !== 0) return conditionalRow(state, due - 1)
  return isLaterFirst(state, pair) || get(state, perp, PERP.MARKS) === 0 ? -1 : firstReached(state, pair, priceOf(state, pair))
}

/** True when one that was armed later is to be put where marks find it before the first mark is looked at. */
function isLaterFirst(state: State, pair: number): boolean {
  const perp = perpRow(state, pair)
  const first = get(state, perp, PERP.LATER_FIRST)
  if (first === 0) return false
  const armed = getF64(state, conditionalRow(state, first - 1), CONDITIONAL.ARMED_SEQUENCE)
  return get(state, perp, PERP.MARKS) === 0 || armed < sequenceOfMark(state, pair)
}

/** Nothing fires on `pair`, a perpetual: what was armed later goes where marks find it, or the first mark is done with. */
export function goOn(state: State, pair: number): void {
  let placed = 0
  for (; placed < PLACED_MAX && isLaterFirst(state, pair); placed++) {
    const row = conditionalRow(state, get(state, perpRow(state, pair), PERP.LATER_FIRST) - 1)
    takeAway(state, row)
    find(state, row)
  }
  if (placed === 0 && get(state, perpRow(state, pair), PERP.MARKS) !== 0) finishMark(state, pair, priceOf(state, pair))
}

/** Nothing more fires at the first mark: watermarks, then it is done with; when there are too many watermarks, another command goes on. */
function finishMark(state: State, pair: number, mark: number): void {
  if (!ratchet(state, pair, mark, RATCHETS_MAX)) return
  const perp = perpRow(state, pair)
  set(state, perp, PERP.MARKS_FIRST, (get(state, perp, PERP.MARKS_FIRST) + 1) % PENDING_MARKS_MAX)
  add(state, perp, PERP.MARKS, -1)
}

/** False when the mark fires nothing on `pair`, as far as may be known without a look at every queue of trailing stops. */
function mayReach(state: State, pair: number, mark: number): boolean {
  for (let side = 0; side < 2; side++) {
    const first = firstTrigger(state, pair, side === 1)
    if ((first >= 0 && isCrossed(state, first, mark)) || mayMeetTrail(state, pair, side, mark)) return true
  }
  return false
}

/** Address of what the price `mark` fires first on `pair`; -1: nothing. */
function firstReached(state: State, pair: number, mark: number): number {
  const perpetual = isPerpetual(state, pair)
  for (let side = 0; side < 2; side++) {
    const above = side === 1
    const first = firstTrigger(state, pair, above)
    const trigger = first >= 0 && isCrossed(state, first, mark) ? first : -1
    const trail = perpetual ? firstTrail(state, pair, side, mark) : -1
    if (trigger < 0 && trail < 0) continue
    if (trigger < 0 || trail < 0) return trigger < 0 ? trail : trigger
    const difference = metAt(state, trigger) - trailTrigger(state, trail)
    if (difference === 0) return isOlder(state, trigger, trail) ? trigger : trail
    return (difference > 0) !== above ? trigger : trail
  }
  return -1
}
