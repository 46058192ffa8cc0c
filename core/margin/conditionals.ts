/**
 * Conditional orders as rows (state/conditional_rows.ts): making, arming and ending them. What fires them is in pending_marks.ts, what they
 * enter in orders/trigger_step.ts.
 *
 *                 entry order fills,
 *   PENDING ------ activation price ------> ARMED ------ mark ------> TRIGGERED, or FAILED: its order was refused
 *      |                                      |
 *      +--------------------------------------+--> CANCELLED (owner, position closed, entry ended, the other of its pair), EXPIRED
 *
 * - Each hangs on the row of a position: one that is open, or the one that its entry order will fill. An armed one is of the position that
 *   is open; when that is closed or turned it ends.
 * - One that is armed while the mark is there already is due at once. One that is armed while earlier marks still have to be looked at
 *   waits behind them (LATER), because they are none of its business.
 * - One event tells of each change (layout/conditional.ts); a row that ended is free.
 * - Rows are shared out among families (state/shares.ts), and bounded for an account and for a position.
 *
 * They are named by the addresses of their rows. No register is used here: fills come here with theirs.
 */
import { ConditionalReason, ConditionalState, ConditionType } from '../layout/conditional.ts'
import { PerpMode } from '../layout/margin.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { emitConditional } from '../events/waiting.ts'
import { N, touchAccount } from '../state/balances.ts'
import { ACCOUNT, SCALAR } from '../state/columns.ts'
import { CONDITIONAL, CONDITIONAL_WORDS, CONDITIONALS_PER_POSITION, Standing, WAITING } from '../state/conditional_rows.ts'
import { noteConditional } from '../state/due.ts'
import { PERP, POSITION } from '../state/margin_rows.ts'
import {
  accountRow, add, addScalar, clearWords, conditionalAt, conditionalRow, get, getF64, note, noted, now, perpRow, positionRow, scalar,
  sequence, set, setF64, setScalar, waitingRow,
} from '../state/rows.ts'
import { mayTake } from '../state/shares.ts'
import type { State } from '../state/state.ts'
import { isFresh, takesOrders } from './mark_price.ts'
import { enterTrail, leaveTrail, trailTrigger, watermarkOf } from './trails.ts'
import { enterHeap, isCrossed, leaveHeap } from '../state/trigger_heap.ts'

/**
 * Why `account` may not have `count` conditional orders more, of the position at address `position` (-1: of none yet): number of a refusal;
 * 0: it may.
 */
export function mayMakeConditionals(state: State, account: number, position: number, count: number): number {
  const { conditionalOrders, conditionalOrdersPerAccount } = state.genesis.limits
  const held = position < 0 ? 0 : get(state, position, POSITION.CONDITIONALS)
  const family = get(state, familyOf(state, account), WAITING.FAMILY_CONDITIONALS)
  const free = conditionalOrders - scalar(state, SCALAR.CONDITIONALS_LIVE)
  const fits = held + count <= CONDITIONALS_PER_POSITION &&
    get(state, waitingRow(state, account), WAITING.CONDITIONALS) + count <= conditionalOrdersPerAccount &&
    mayTake(family + count - 1, conditionalOrders, free - count + 1)
  return fits ? 0 : REFUSALS.TOO_MANY_CONDITIONAL_ORDERS.number
}

/** What waits for the family of `account`. */
export const familyOf = (state: State, account: number): number =>
  waitingRow(state, get(state, accountRow(state, account), ACCOUNT.FAMILY))

/** A PENDING row of `kind` for `account`, in its list; {@link mayMakeConditionals} said that there may be one. */
export function makeConditional(state: State, account: number, kind: number, pair: number, of: number): number {
  const free = scalar(state, SCALAR.CONDITIONALS_FREE)
  const number = free === 0 ? scalar(state, SCALAR.CONDITIONALS_USED) : free - 1
  const row = conditionalRow(state, number)
  if (free === 0) addScalar(state, SCALAR.CONDITIONALS_USED, 1)
  else setScalar(state, SCALAR.CONDITIONALS_FREE, get(state, row, CONDITIONAL.ACCOUNT_NEXT))
  addScalar(state, SCALAR.CONDITIONALS_LIVE, 1)
  clearWords(state, row, 0, CONDITIONAL_WORDS)
  set(state, row, CONDITIONAL.ACCOUNT, account)
  set(state, row, CONDITIONAL.KIND, kind)
  set(state, row, CONDITIONAL.STATE, ConditionalState.PENDING)
  set(state, row, CONDITIONAL.PAIR, pair)
  set(state, row, CONDITIONAL.OF, of)
  setF64(state, row, CONDITIONAL.CREATED_SEQUENCE, sequence(state))
  setF64(state, row, CONDITIONAL.CREATED_AT, now(state))
  const waiting = waitingRow(state, account)
  const head = get(state, waiting, WAITING.FIRST_CONDITIONAL)
  set(state, row, CONDITIONAL.ACCOUNT_NEXT, head)
  if (head !== 0) set(state, conditionalRow(state, head - 1), CONDITIONAL.ACCOUNT_PREV, number + 1)
  set(state, waiting, WAITING.FIRST_CONDITIONAL, number + 1)
  add(state, waiting, WAITING.CONDITIONALS, 1)
  add(state, familyOf(state, account), WAITING.FAMILY_CONDITIONALS, 1)
  if (kind !== ConditionType.TWAP_START) linkToPosition(state, row, positionRow(state, of))
  return row
}

/** Puts it into the list of its position. */
export function linkToPosition(state: State, row: number, position: number): void {
  const link = conditionalAt(state, row) + 1
  const head = get(state, position, POSITION.FIRST_CONDITIONAL)
  set(state, row, CONDITIONAL.POSITION_NEXT, head)
  set(state, row, CONDITIONAL.POSITION_PREV, 0)
  if (head !== 0) set(state, conditionalRow(state, head - 1), CONDITIONAL.POSITION_PREV, link)
  set(state, position, POSITION.FIRST_CONDITIONAL, link)
  add(state, position, POSITION.CONDITIONALS, 1)
  if (get(state, row, CONDITIONAL.KIND) === ConditionType.TRAILING_STOP) set(state, position, POSITION.TRAILING, link)
}

/** Takes it out of that list; it stays in all others. */
export function unlinkFromPosition(state: State, row: number): void {
  const position = positionRow(state, get(state, row, CONDITIONAL.OF))
  const [next, prev] = [get(state, row, CONDITIONAL.POSITION_NEXT), get(state, row, CONDITIONAL.POSITION_PREV)]
  if (prev === 0) set(state, position, POSITION.FIRST_CONDITIONAL, next)
  else set(state, conditionalRow(state, prev - 1), CONDITIONAL.POSITION_NEXT, next)
  if (next !== 0) set(state, conditionalRow(state, next - 1), CONDITIONAL.POSITION_PREV, prev)
  set(state, row, CONDITIONAL.POSITION_NEXT, 0)
  set(state, row, CONDITIONAL.POSITION_PREV, 0)
  add(state, position, POSITION.CONDITIONALS, -1)
  if (get(state, position, POSITION.TRAILING) === conditionalAt(state, row) + 1) set(state, position, POSITION.TRAILING, 0)
}

/** Sets until when it may wait, Unix ms; 0: for ever. */
export function setExpiry(state: State, row: number, expiresAt: number): void {
  setF64(state, row, CONDITIONAL.EXPIRES_AT, expiresAt)
  noteConditional(state, conditionalAt(state, row))
}

/** CONDITIONAL of it as it stands. */
export function tellConditional(state: State, row: number, reason: number, code: number, ordered: number): void {
  setF64(state, row, CONDITIONAL.UPDATED_AT, now(state))
  touchAccount(state, get(state, row, CONDITIONAL.ACCOUNT))
  const trails = get(state, row, CONDITIONAL.KIND) === ConditionType.TRAILING_STOP
  const trigger = trails ? trailTrigger(state, row) : get(state, row, CONDITIONAL.TRIGGER)
  emitConditional(state, row, reason, trigger, trails ? watermarkOf(state, row) : 0, code, ordered)
}

/**
 * It watches its position, which is open, from now on: armed, or, a trailing stop whose activation price was not reached, until that is.
 * A mark that does not count arms no trailing stop either, because those that are armed have not seen it: the next one that does, does.
 * True: it is armed.
 */
export function watch(state: State, row: number): boolean {
  const position = positionRow(state, get(state, row, CONDITIONAL.OF))
  set(state, row, CONDITIONAL.ENTRY, 0)
  setF64(state, row, CONDITIONAL.ORDER_SEQUENCE, 0)
  set(state, row, CONDITIONAL.ORDER_SLOT, 0)
  setF64(state, row, CONDITIONAL.OPENED, getF64(state, position, POSITION.OPENED_SEQUENCE))
  const pair = get(state, row, CONDITIONAL.PAIR)
  const mark = get(state, perpRow(state, pair), PERP.MARK)
  const there = mayFire(state, pair) && isFresh(state, pair) && isCrossed(state, row, mark)
  const trails = get(state, row, CONDITIONAL.KIND) === ConditionType.TRAILING_STOP
  if (trails && !there) {
    place(state, row, sequence(state))
    return false
  }
  armAt(state, row, mark, sequence(state))
  if (there && !trails) appendTo(state, row, Standing.DUE)
  else place(state, row, sequence(state))
  return true
}

/** The start of a TWAP order at address `row` waits for its price from now on. */
export function watchPrice(state: State, row: number): void {
  armAt(state, row, 0, sequence(state))
  place(state, row, sequence(state))
}

/** It is ARMED, by the command of sequence `armed`; a trailing stop begins with this mark as its watermark. */
export function armAt(state: State, row: number, mark: number, armed: number): void {
  set(state, row, CONDITIONAL.STATE, ConditionalState.ARMED)
  setF64(state, row, CONDITIONAL.ARMED_SEQUENCE, armed)
  setF64(state, row, CONDITIONAL.ARMED_AT, now(state))
  if (get(state, row, CONDITIONAL.KIND) === ConditionType.TRAILING_STOP) set(state, row, CONDITIONAL.WATERMARK, mark)
}

/** True while what fires on `pair` may enter orders. */
export const mayFire = (state: State, pair: number): boolean =>
  takesOrders(state, pair) && get(state, perpRow(state, pair), PERP.MODE) < PerpMode.SETTLING

/** Puts one that watches where marks find it: at once, or behind the marks that are still to be looked at, and those behind them. */
function place(state: State, row: number, armed: number): void {
  const perp = perpRow(state, get(state, row, CONDITIONAL.PAIR))
  if ((get(state, perp, PERP.MARKS) | get(state, perp, PERP.LATER_FIRST)) === 0) {
    find(state, row)
    return
  }
  // Of one that is not armed the place in this list is its sequence too.
  setF64(state, row, CONDITIONAL.ARMED_SEQUENCE, armed)
  appendTo(state, row, Standing.LATER)
}

/** Puts one where the next mark finds it. */
export function find(state: State, row: number): void {
  const isArmed = get(state, row, CONDITIONAL.STATE) === ConditionalState.ARMED
  const trails = isArmed && get(state, row, CONDITIONAL.KIND) === ConditionType.TRAILING_STOP
  set(state, row, CONDITIONAL.STANDING, trails ? Standing.TRAIL : Standing.HEAP)
  if (trails) enterTrail(state, row)
  else enterHeap(state, row)
}

/** Puts it at the end of the list of those that are due, or that were armed later. */
export function appendTo(state: State, row: number, standing: number): void {
  const perp = perpRow(state, get(state, row, CONDITIONAL.PAIR))
  const [first, last] = standing === Standing.DUE ? [PERP.DUE_FIRST, PERP.DUE_LAST] : [PERP.LATER_FIRST, PERP.LATER_LAST]
  const link = conditionalAt(state, row) + 1
  const before = get(state, perp, last)
  set(state, row, CONDITIONAL.STANDING, standing)
  set(state, row, CONDITIONAL.PREV, before)
  set(state, row, CONDITIONAL.NEXT, 0)
  if (before === 0) set(state, perp, first, link)
  else set(state, conditionalRow(state, before - 1), CONDITIONAL.NEXT, link)
  set(state, perp, last, link)
}

/** Puts it in front of those that were armed later: a mark that is looked at now armed it, and none of them was armed before that. */
export function prependLater(state: State, row: number): void {
  const perp = perpRow(state, get(state, row, CONDITIONAL.PAIR))
  const link = conditionalAt(state, row) + 1
  const behind = get(state, perp, PERP.LATER_FIRST)
  set(state, row, CONDITIONAL.STANDING, Standing.LATER)
  set(state, row, CONDITIONAL.PREV, 0)
  set(state, row, CONDITIONAL.NEXT, behind)
  if (behind === 0) set(state, perp, PERP.LATER_LAST, link)
  else set(state, conditionalRow(state, behind - 1), CONDITIONAL.PREV, link)
  set(state, perp, PERP.LATER_FIRST, link)
}

/** Takes it from where it stands. */
export function takeAway(state: State, row: number): void {
  const standing = get(state, row, CONDITIONAL.STANDING)
  set(state, row, CONDITIONAL.STANDING, Standing.NOWHERE)
  if (standing === Standing.HEAP) leaveHeap(state, row)
  else if (standing === Standing.TRAIL) leaveTrail(state, row)
  else if (standing !== Standing.NOWHERE) leaveList(state, row, standing)
}

function leaveList(state: State, row: number, standing: number): void {
  const perp = perpRow(state, get(state, row, CONDITIONAL.PAIR))
  const [first, last] = standing === Standing.DUE ? [PERP.DUE_FIRST, PERP.DUE_LAST] : [PERP.LATER_FIRST, PERP.LATER_LAST]
  const [next, prev] = [get(state, row, CONDITIONAL.NEXT), get(state, row, CONDITIONAL.PREV)]
  if (prev === 0) set(state, perp, first, next)
  else set(state, conditionalRow(state, prev - 1), CONDITIONAL.NEXT, next)
  if (next === 0) set(state, perp, last, prev)
  else set(state, conditionalRow(state, next - 1), CONDITIONAL.PREV, prev)
  set(state, row, CONDITIONAL.NEXT, 0)
  set(state, row, CONDITIONAL.PREV, 0)
}

/** It ends in this state, which is told, and its row is free. */
export function endConditional(state: State, row: number, ended: number, reason: number): void {
  takeAway(state, row)
  set(state, row, CONDITIONAL.STATE, ended)
  tellConditional(state, row, reason, 0, 0)
  freeConditional(state, row)
}

/** Its row is free; it stands nowhere, and what is to be told was told. */
export function freeConditional(state: State, row: number): void {
  const kind = get(state, row, CONDITIONAL.KIND)
  const hangs = kind !== ConditionType.TWAP_START && noted(state, N.FIRING) !== row
  if (hangs) unlinkFromPosition(state, row)
  const sibling = get(state, row, CONDITIONAL.SIBLING)
  if (sibling !== 0) set(state, conditionalRow(state, sibling - 1), CONDITIONAL.SIBLING, 0)
  const account = get(state, row, CONDITIONAL.ACCOUNT)
  const waiting = waitingRow(state, account)
  const [next, prev] = [get(state, row, CONDITIONAL.ACCOUNT_NEXT), get(state, row, CONDITIONAL.ACCOUNT_PREV)]
  if (prev === 0) set(state, waiting, WAITING.FIRST_CONDITIONAL, next)
  else set(state, conditionalRow(state, prev - 1), CONDITIONAL.ACCOUNT_NEXT, next)
  if (next !== 0) set(state, conditionalRow(state, next - 1), CONDITIONAL.ACCOUNT_PREV, prev)
  add(state, waiting, WAITING.CONDITIONALS, -1)
  add(state, familyOf(state, account), WAITING.FAMILY_CONDITIONALS, -1)
  setExpiry(state, row, 0)
  clearWords(state, row, 0, CONDITIONAL_WORDS)
  set(state, row, CONDITIONAL.ACCOUNT_NEXT, scalar(state, SCALAR.CONDITIONALS_FREE))
  setScalar(state, SCALAR.CONDITIONALS_FREE, conditionalAt(state, row) + 1)
  addScalar(state, SCALAR.CONDITIONALS_LIVE, -1)
}

/** Ends those that watch the position at `position`, which is closed now; note ENDED counts them. Others wait for an entry order still. */
export function endWithPosition(state: State, position: number): void {
  let next = get(state, position, POSITION.FIRST_CONDITIONAL)
  while (next !== 0) {
    const row = conditionalRow(state, next - 1)
    next = get(state, row, CONDITIONAL.POSITION_NEXT)
    if (getF64(state, row, CONDITIONAL.OPENED) === 0) continue
    const fired = get(state, row, CONDITIONAL.STATE) === ConditionalState.TRIGGERED
    endConditional(state, row, fired ? ConditionalState.TRIGGERED : ConditionalState.CANCELLED, ConditionalReason.POSITION_CLOSED)
    note(state, N.ENDED, noted(state, N.ENDED) + 1)
  }
}
