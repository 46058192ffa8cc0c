/**
 * Replacing a resting order: one atomic step that ends the original as REPLACED and places its successor.
 *
 * Omitted terms stay: price as it is, quantity as what is still open, post-only, self-trade mode, expiration, client order id and who
 * pays as they were. The successor has a new id. A lower quantity at the same price keeps its place in the queue; anything else goes to
 * the back. Everything that can refuse is checked before the original is touched, so a refused replace leaves it as it was; a
 * retry after success finds no such order (specification, Orders, rule 3).
 *
 * The successor is the order of whoever replaces: of a delegated agent when its session signed, otherwise of the owner; its origin is
 * CLIENT, whatever the original's was. The original may be named by its client order id (named_target.ts).
 */
import { Flag, CLIENT_ORDER_ID_SHIFT, Option, ORDER_COMMAND } from '../layout/command.ts'
import { ConditionalReason } from '../layout/conditional.ts'
import { outcomeOf, Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { assert } from '../lib/assert.ts'
import { lockRemaining } from '../ledger/holds.ts'
import { LEVEL, ORDER, SCALAR } from '../state/columns.ts'
import { POSITION } from '../state/margin_rows.ts'
import { emitClientOrderId, emitOrderEnded, emitOrderResult, emitResult } from '../events/emit.ts'
import { findClientOrderId } from '../state/indexes.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { addF64, copyOf, get, getI64, levelRow, noted, scalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { clearExpiredTouch, isExpired } from '../book/match.ts'
import { N, R } from '../state/balances.ts'
import { lacksMargin, lacksMarginAccount, lacksNotional, lacksToReplace } from '../programs/grants.ts'
import { hasLaunch, isFenced } from '../programs/launches.ts'
import { sessionAccount, sessionAgent } from '../programs/sessions.ts'
import { checkFunds, checkPostOnly, checkTerms } from './admission.ts'
import { endOrder, release } from '../book/end.ts'
import { delist, enlist, markAgent, takeSlot, writeClientOrderId, writeOrder } from '../book/pool.ts'
import { checkSuccessorMargin, endAdmission, holdPosition, readmit } from './margin_admission.ts'
import { marginAccountOf } from '../margin/buckets.ts'
import { takeLegs } from '../margin/legs.ts'
import { positionOf } from '../margin/order_lists.ts'
import { bucketOf } from '../margin/positions.ts'
import { waitForOrder } from './legs.ts'
import { askedLots, askedPrice, targetRow } from './named_target.ts'
import { checkOpen, execute, markReplacement } from './place.ts'
import { admitKey, keepReceipt, REPEATED } from '../programs/receipts.ts'
import { refuseOrder } from './refuse.ts'

const C = ORDER_COMMAND.at

export function replaceOrder(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  const given = command.i32[base + C.flags]!
  const options = command.i32[base + C.options]!
  let code = account < 0 ? REFUSALS.SESSION_INVALID.number : 0
  if (code === 0 && (options & Option.KEYED) !== 0) code = admitKey(state, account, command, base)
  if (code === REPEATED) return
  const row = code === 0 ? targetRow(state, account, command, base) : -1
  const found = row >= 0 && get(state, row, ORDER.ACCOUNT) === account && !isExpired(state, row)
  if (code === 0 && !found) code = REFUSALS.ORDER_NOT_FOUND.number
  if (code === 0 && isTakenOver(state, command, base, row)) code = REFUSALS.LEASE_LOST.number
  const agent = code === 0 ? sessionAgent(state, command, base) : -1
  let lacking = agent < 0 ? 0 : lacksToReplace(state, agent, row)
  if (agent >= 0 && lacking === 0 && isMargin(state, row)) {
    const position = positionOf(state, row)
    lacking = lacksMargin(state, agent, get(state, row, ORDER.FLAGS), get(state, position, POSITION.LEVERAGE))
    if (lacking === 0) lacking = lacksMarginAccount(state, agent, marginAccountOf(state, bucketOf(state, position)))
  }
  if (lacking !== 0) code = REFUSALS.AGENT_NOT_ALLOWED.number
  if (code !== 0) {
    emitResult(state, command, base, code, account, lacking, 0)
    return
  }
  const flags = successorFlags(get(state, row, ORDER.FLAGS), given, options)
  const price = askedPrice(state, row, command, base)
  let lots = askedLots(state, row, command, base)
  if (command.i32[base + C.targetLength] !== 0 && (price < 0 || lots < 0)) code = price < 0 ? -price : -lots
  if (code === 0 && !clearExpiredTouch(state, get(state, row, ORDER.PAIR), flags & Flag.SELL, price)) code = REFUSALS.OVERLOADED.number
  if (code === 0) code = checkSuccessor(state, command, base, row, flags, price, lots)
  // What is cut is not asked for.
  if (code === 0 && isMargin(state, row) && scalar(state, SCALAR.RULES) >= 5) lots = noted(state, N.LOTS)
  if (agent >= 0 && code === 0) lacking = lacksNotional(state, agent, get(state, row, ORDER.PAIR), flags, price, lots)
  if (lacking !== 0) code = REFUSALS.AGENT_NOT_ALLOWED.number
  if (code !== 0) {
    refuseOrder(state, command, base, code, account, lacking, get(state, row, ORDER.PAIR), flags)
    return
  }
  if (isMargin(state, row)) lots = noted(state, N.LOTS)
  const keepsPlace = price === get(state, row, ORDER.PRICE) && lots < get(state, row, ORDER.REMAINING)
  const result = keepsPlace
    ? shrink(state, row, agent, flags, lots, command, base)
    : reissue(state, row, agent, flags, price, lots, command, base)
  if ((options & Option.KEYED) !== 0) keepReceipt(state, account, command, base, result)
}

/** The order is a maker's, whose lease another session has. */
const isTakenOver = (state: State, command: Views, base: number, row: number): boolean => {
  const pair = get(state, row, ORDER.PAIR)
  return hasLaunch(state, pair) && isFenced(state, command, base, get(state, row, ORDER.ACCOUNT), pair, get(state, row, ORDER.FLAGS))
}
const isMargin = (state: State, row: number): boolean => (get(state, row, ORDER.FLAGS) & Flag.MARGIN) !== 0
/** What the successor of an order is as it was. */
const KEPT = Flag.SELL | Flag.POST_ONLY | Flag.CANCEL_BOTH | Flag.STP_GIVEN | Flag.EXPIRES | Flag.MASTER_FUNDED | Flag.MARGIN |
  Flag.REDUCE_ONLY | Flag.CROSS | Flag.CLOSE

function successorFlags(old: number, given: number, options: number): number {
  let flags = old & KEPT
  if ((options & Option.NEW_STP) !== 0) flags = (flags & ~Flag.CANCEL_BOTH) | (given & Flag.CANCEL_BOTH) | Flag.STP_GIVEN
  if ((options & Option.NEW_POST_ONLY) !== 0) flags = (flags & ~Flag.POST_ONLY) | (given & Flag.POST_ONLY)
  if ((options & Option.NEW_FUNDING) !== 0) flags = (flags & ~Flag.MASTER_FUNDED) | (given & Flag.MASTER_FUNDED)
  const label = given >>> CLIENT_ORDER_ID_SHIFT === 0 ? old >>> CLIENT_ORDER_ID_SHIFT : given >>> CLIENT_ORDER_ID_SHIFT
  return flags | (label << CLIENT_ORDER_ID_SHIFT)
}

/** Everything that can refuse the successor of the order at `row`. */
function checkSuccessor(state: State, command: Views, base: number, row: number, flags: number, price: number, lots: number): number {
  const account = get(state, row, ORDER.ACCOUNT)
  const pair = get(state, row, ORDER.PAIR)
  const samePayer = ((flags ^ get(state, row, ORDER.FLAGS)) & Flag.MASTER_FUNDED) === 0
  // Two stores: a choice between two BigInts would be allocated.
  if (samePayer) state.registers[R.RELEASE] = getI64(state, row, ORDER.HOLD)
  else state.registers[R.RELEASE] = 0n
  let code = checkOpen(state, pair, 0)
  if (code === 0) code = checkTerms(state, account, pair, flags, price, lots)
  const length = command.u32[base + C.flags]! >>> CLIENT_ORDER_ID_SHIFT
  if (code === 0 && length !== 0) {
    const holder = findClientOrderId(state, account, command.i32, base + C.label, length)
    if (holder >= 0 && holder !== get(state, row, ORDER.SLOT)) code = REFUSALS.CLIENT_ORDER_ID_CONFLICT.number
  }
  if (code === 0) code = checkPostOnly(state, pair, flags, price)
  if ((flags & Flag.MARGIN) !== 0) return code === 0 ? checkSuccessorMargin(state, row, flags, price, lots) : code
  if (code === 0) code = checkFunds(state, account, pair, flags, price, lots)
  return code
}

/** Ends the original and places the successor at the back of its level, in the same slot. */
function reissue(
  state: State, row: number, agent: number, flags: number, price: number, lots: number, command: Views, base: number,
): number {
  const account = get(state, row, ORDER.ACCOUNT)
  const pair = get(state, row, ORDER.PAIR)
  state.registers[R.REPLACED] = copyOf(state, row, ORDER.SEQUENCE)
  const position = (flags & Flag.MARGIN) === 0 ? -1 : holdPosition(state, row)
  const legs = (get(state, row, ORDER.FLAGS) & Flag.LEGS) === 0 ? 0 : takeLegs(state, row)
  endOrder(state, row, Status.CANCELLED, Reason.REPLACED, command.u32[base + C.correlation]!, true)
  assert(takeSlot(state) === row, 'a replaced order leaves its slot to its successor')
  // EXPIRES_AT stays as it is.
  writeOrder(state, row, account, pair, flags, price, lots)
  if (agent >= 0) markAgent(state, row, agent)
  if (position >= 0) readmit(state, row, position)
  if (command.u32[base + C.flags]! >>> CLIENT_ORDER_ID_SHIFT !== 0) writeClientOrderId(state, row, command, base)
  waitForOrder(state, row, legs, ConditionalReason.ENTRY_REPLACED)
  const result = execute(state, row, price, 0, command, base, -1, false)
  markReplacement(state, result, get(state, row, ORDER.SLOT))
  return result
}

/** Gives the successor the original's place in the queue: same row, new sequence, fewer lots. */
function shrink(state: State, row: number, agent: number, flags: number, lots: number, command: Views, base: number): number {
  const account = get(state, row, ORDER.ACCOUNT)
  const pair = get(state, row, ORDER.PAIR)
  state.registers[R.REPLACED] = copyOf(state, row, ORDER.SEQUENCE)
  addF64(state, levelRow(state, get(state, row, ORDER.LEVEL)), LEVEL.LOTS, lots - get(state, row, ORDER.REMAINING))
  delist(state, row)
  const position = (flags & Flag.MARGIN) === 0 ? -1 : holdPosition(state, row)
  const legs = (get(state, row, ORDER.FLAGS) & Flag.LEGS) === 0 ? 0 : takeLegs(state, row)
  release(state, row)
  emitOrderEnded(state, row, Status.CANCELLED, Reason.REPLACED, command.u32[base + C.correlation]!, true)
  writeOrder(state, row, account, pair, flags, get(state, row, ORDER.PRICE), lots)
  if (agent >= 0) markAgent(state, row, agent)
  if (command.u32[base + C.flags]! >>> CLIENT_ORDER_ID_SHIFT !== 0) writeClientOrderId(state, row, command, base)
  if (position >= 0) readmit(state, row, position)
  else lockRemaining(state, row)
  waitForOrder(state, row, legs, ConditionalReason.ENTRY_REPLACED)
  enlist(state, row)
  if (flags >>> CLIENT_ORDER_ID_SHIFT !== 0) emitClientOrderId(state, row)
  if (position >= 0) endAdmission(state, row, true)
  const result = emitOrderResult(state, command, base, row, outcomeOf(Status.SUBMITTED, Reason.NONE))
  markReplacement(state, result, get(state, row, ORDER.SLOT))
  return result
}
