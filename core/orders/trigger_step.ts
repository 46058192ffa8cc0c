/**
 * TRIGGER_STEP: the sequencer's command for the next thing that a price leads to on a pair (margin/pending_marks.ts). One conditional order
 * fires with each command, so that each order it enters has a sequence of its own; or nothing fires, and the mark is done with.
 *
 *   take-profit, stop-loss, armed trailing stop   an order that closes the position, or as much of it as it says
 *   trailing stop that waits for its activation   it is armed, with this mark as its watermark
 *   start of a TWAP order                         that begins
 *
 * **The order** is one of the account itself, of origin TRIGGER (own_orders.ts): Flag.CLOSE, so it is taken in maintenance too. A MARKET
 * order trades within {@link TRIGGERED_BAND_BPS} of the touch, or less if the leg says so; what is left of it is cancelled like that of
 * any MARKET order. A position that is larger than one order may be is closed by several, one with each command, until one of them is not
 * filled in full. The other one of a pair ends when the first of them is entered. What is refused is FAILED, and says why.
 */
import { ORDER_ANSWER } from '../layout/answers.ts'
import { Flag, ORDER_COMMAND, Origin } from '../layout/command.ts'
import { ConditionalReason, ConditionalState, ConditionType, LegFlag, TRIGGER_STEP_COMMAND } from '../layout/conditional.ts'
import { Reason } from '../layout/event.ts'
import { read, write } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import {
  appendTo, armAt, endConditional, freeConditional, linkToPosition, prependLater, takeAway, tellConditional, unlinkFromPosition,
} from '../margin/conditionals.ts'
import { goOn, isTriggered, nextToFire, priceOf, sequenceOfMark } from '../margin/pending_marks.ts'
import { expire } from '../programs/conditionals.ts'
import { laneRefusal } from '../programs/policy.ts'
import { N } from '../state/balances.ts'
import { CONDITIONAL, Standing } from '../state/conditional_rows.ts'
import { POSITION } from '../state/margin_rows.ts'
import { conditionalRow, get, getF64, note, now, pairCount, positionRow, sequence, set, setF64, twapRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { marketLimit } from './admission.ts'
import { mostLots } from './most_lots.ts'
import { closingFlags, namePosition, ownRecord, writeOwnOrder } from './own_record.ts'
import { checkOpen, enterOrder } from './place.ts'
import { startTwap } from './twap.ts'

const C = ORDER_COMMAND.at

/** NOT_FOUND: nothing is to be done on this pair. */
export function triggerStep(state: State, command: Views, base: number): void {
  const pair = read(command, base, TRIGGER_STEP_COMMAND.at.pair)
  let code = laneRefusal(command, base)
  if (code === 0 && !(pair >= 0 && pair < pairCount(state) && isTriggered(state, pair))) code = REFUSALS.NOT_FOUND.number
  if (code === 0) {
    const row = nextToFire(state, pair)
    if (row < 0) goOn(state, pair)
    else fire(state, row)
  }
  emitResult(state, command, base, code, -1, 0, 0)
}

function fire(state: State, row: number): void {
  const kind = get(state, row, CONDITIONAL.KIND)
  const over = getF64(state, row, CONDITIONAL.EXPIRES_AT)
  // Its time was over before this command; the sequencer had not come by yet.
  if (over !== 0 && over <= now(state)) expire(state, row)
  else if (kind === ConditionType.TWAP_START) startTwap(state, twapRow(state, get(state, row, CONDITIONAL.OF)))
  else if (get(state, row, CONDITIONAL.STATE) === ConditionalState.PENDING) activate(state, row)
  else close(state, row)
}

/** A trailing stop whose activation price the first mark reached is armed as of that mark, behind which it sees all others. */
function activate(state: State, row: number): void {
  const pair = get(state, row, CONDITIONAL.PAIR)
  takeAway(state, row)
  armAt(state, row, priceOf(state, pair), sequenceOfMark(state, pair))
  prependLater(state, row)
  tellConditional(state, row, ConditionalReason.ARMED, 0, 0)
}

/** Enters the order, or the next one, of a conditional order whose position is open. */
function close(state: State, row: number): void {
  const position = positionRow(state, get(state, row, CONDITIONAL.OF))
  const first = get(state, row, CONDITIONAL.STATE) !== ConditionalState.TRIGGERED
  const size = Math.abs(get(state, position, POSITION.LOTS))
  takeAway(state, row)
  if (first) begin(state, row, size)
  const left = get(state, row, CONDITIONAL.LEFT)
  const lots = writeOrder(state, row, position, left < size ? left : size)
  // The order may close the position, and its row may be another's then: the conditional order does not hang on it meanwhile.
  unlinkFromPosition(state, row)
  note(state, N.FIRING, row)
  const flags = read(ownRecord, 0, C.flags)
  const refused = checkOpen(state, get(state, row, CONDITIONAL.PAIR), flags)
  const result = refused === 0 ? enterOrder(state, ownRecord, 0, get(state, row, CONDITIONAL.ACCOUNT), -1, flags) : -refused
  if (result < 0) fail(state, row, -result, first)
  else if (goesOn(state, row, position, result, lots)) note(state, N.FIRING, 0)
  else endFired(state, row, first, lots)
  note(state, N.FIRING, 0)
}

/** It fires: lots that it closes are those of now, and the other one of its pair ends. */
function begin(state: State, row: number, size: number): void {
  const most = get(state, row, CONDITIONAL.LOTS)
  set(state, row, CONDITIONAL.STATE, ConditionalState.TRIGGERED)
  set(state, row, CONDITIONAL.LEFT, most === 0 || most > size ? size : most)
  const sibling = get(state, row, CONDITIONAL.SIBLING)
  if (sibling !== 0) endConditional(state, conditionalRow(state, sibling - 1), ConditionalState.CANCELLED, ConditionalReason.OCO)
}

/** Writes the order that closes `lots` at most; how many it is for. */
function writeOrder(state: State, row: number, position: number, lots: number): number {
  const given = get(state, row, CONDITIONAL.FLAGS)
  const pair = get(state, row, CONDITIONAL.PAIR)
  const time = (given & LegFlag.IOC) !== 0 ? Flag.IOC : (given & LegFlag.FOK) !== 0 ? Flag.FOK : 0
  const kind = (given & LegFlag.LIMIT) === 0 ? Flag.MARKET : time
  const slippage = (given & LegFlag.SLIPPAGE) !== 0 ? Flag.SLIPPAGE : 0
  const flags = closingFlags(state, position, (given & LegFlag.SELL) !== 0 ? Flag.SELL : 0, Origin.TRIGGER) | kind | slippage
  const bps = get(state, row, CONDITIONAL.SLIPPAGE_BPS)
  const price = kind === Flag.MARKET ? 0 : get(state, row, CONDITIONAL.LIMIT)
  const worst = price === 0 ? marketLimit(state, pair, flags, bps) : price
  const most = worst === 0 ? lots : mostLots(state, pair, (flags & Flag.SELL) !== 0, worst)
  const size = lots < most ? lots : most
  writeOwnOrder(pair, flags, price, size)
  write(ownRecord, 0, C.slippageBps, bps)
  namePosition(state, position)
  return size
}

function fail(state: State, row: number, code: number, first: boolean): void {
  // One that has entered an order before is told as what it is: it fired.
  if (first) set(state, row, CONDITIONAL.STATE, ConditionalState.FAILED)
  tellConditional(state, row, ConditionalReason.FAILED, code, 0)
  freeConditional(state, row)
}

/** The order at `result` was entered for `lots`: when more are left and it was taken in full, the next one is due. */
function goesOn(state: State, row: number, position: number, result: number, lots: number): boolean {
  const { outbox } = state
  if (getF64(state, row, CONDITIONAL.ORDER_SEQUENCE) === 0) {
    setF64(state, row, CONDITIONAL.ORDER_SEQUENCE, sequence(state))
    set(state, row, CONDITIONAL.ORDER_SLOT, outbox.i32[result + ORDER_ANSWER.at.slot]!)
  }
  const left = get(state, row, CONDITIONAL.LEFT) - lots
  const outcome = outbox.i32[result + ORDER_ANSWER.at.outcome]!
  set(state, row, CONDITIONAL.LEFT, left)
  const open = getF64(state, position, POSITION.OPENED_SEQUENCE) === getF64(state, row, CONDITIONAL.OPENED)
  if (left === 0 || outcome >>> 8 !== Reason.NONE || !open) return false
  const first = getF64(state, row, CONDITIONAL.ORDER_SEQUENCE) === sequence(state)
  linkToPosition(state, row, position)
  appendTo(state, row, Standing.DUE)
  tellConditional(state, row, first ? ConditionalReason.TRIGGERED : ConditionalReason.CONTINUED, 0, lots)
  return true
}

function endFired(state: State, row: number, first: boolean, lots: number): void {
  tellConditional(state, row, first ? ConditionalReason.TRIGGERED : ConditionalReason.CONTINUED, 0, lots)
  freeConditional(state, row)
}
