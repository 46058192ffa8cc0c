/**
 * Placing an order: admission, matching, resting, answer. Replace shares everything from {@link execute} on.
 *
 * Order of refusals: session, idempotency key, maintenance, pair, room, terms, expiration, client order id, post-only, funds,
 * FOK self-trade. A refused order changes nothing; expired orders met at the touch are ended all the same, because their time
 * was over before this command.
 */
import { Flag, FLAG_ORDER_MASK, LABEL_SHIFT, ORDER_COMMAND } from '../layout/command.ts'
import { outcomeOf, Reason, RESULT, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { CLOCK, DETAIL, DETAIL_WORDS, NO_ASK, ORDER, ORDER_WORDS, PAIR, PAIR_WORDS, SCALAR } from '../engine/columns.ts'
import { emitLabel, emitOrderResult, emitResult } from '../engine/emit.ts'
import { findLabel } from '../engine/indexes.ts'
import { REFUSALS } from '../engine/refusals.ts'
import type { State } from '../engine/state.ts'
import { appendToLevel } from '../book/levels.ts'
import { bestOpposite, clearExpiredTouch, match } from '../book/match.ts'
import { balanceRow, lock, R, touchAccount } from '../ledger/balances.ts'
import { holdOfBid } from '../ledger/fees.ts'
import { sessionAccount } from '../programs/sessions.ts'
import { checkFunds, checkPostOnly, checkRoom, checkTerms, fillOrKill, marketLimit, OWN_ORDER } from './admission.ts'
import { touchBook } from './end.ts'
import { enlist, giveSlot, takeSlot, writeLabel, writeOrder } from './pool.ts'
import { admitKey, keepReceipt, REPEATED } from './receipts.ts'

const C = ORDER_COMMAND.at

export function placeOrder(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  let code = account < 0 ? REFUSALS.SESSION_INVALID.number : 0
  const given = command.i32[base + C.flags]!
  if (code === 0 && (given & Flag.KEYED) !== 0) code = admitKey(state, account, command, base)
  if (code === REPEATED) return
  const pair = command.i32[base + C.pair]!
  if (code === 0) code = checkOpen(state, pair)
  if (code !== 0) {
    emitResult(state, command, base, code, account, 0, 0)
    return
  }
  const flags = given & FLAG_ORDER_MASK
  const lots = command.i32[base + C.lots]!
  clearExpiredTouch(state, pair, flags & Flag.SELL)
  const market = (flags & Flag.MARKET) !== 0
  const limit = market ? marketLimit(state, pair, flags, command.i32[base + C.slippageBps]!) : command.i32[base + C.price]!
  state.registers[R.RELEASE] = 0n
  code = checkOrder(state, command, base, account, pair, flags, limit, lots)
  const left = code === 0 ? fillOrKill(state, pair, flags, limit, lots, account) : 0
  if (left === OWN_ORDER && (flags & Flag.CANCEL_BOTH) !== 0) code = REFUSALS.SELF_TRADE_NOT_ALLOWED.number
  if (code !== 0) {
    emitResult(state, command, base, code, account, 0, 0)
    return
  }
  const slot = takeSlot(state)
  writeOrder(state, slot, account, pair, flags, market ? 0 : limit, lots)
  state.detailsF64[(slot * DETAIL_WORDS + DETAIL.EXPIRES_AT) >>> 1] =
    (flags & Flag.EXPIRES) !== 0 ? command.f64[(base + C.expiresAt) >>> 1]! : state.clock[CLOCK.TIME]! + state.genesis.limits.orderLifetimeMs
  if (given >>> LABEL_SHIFT !== 0) writeLabel(state, slot, command, base)
  const result = execute(state, slot, limit, left, command, base)
  if ((given & Flag.KEYED) !== 0) keepReceipt(state, account, command, base, result)
}

/** The service and the pair take orders. */
export function checkOpen(state: State, pair: number): number {
  if (state.scalars[SCALAR.MAINTENANCE] !== 0) return REFUSALS.OPERATIONS_BLOCKED.number
  if (pair < 0 || pair >= state.genesis.pairs.length || state.pairs[pair * PAIR_WORDS + PAIR.ACTIVE] === 0) return REFUSALS.PAIR_NOT_ACTIVE.number
  return 0
}

function checkOrder(state: State, command: Views, base: number, account: number, pair: number, flags: number, limit: number, lots: number): number {
  let code = checkRoom(state, account, flags)
  if (code === 0) code = checkTerms(state, pair, flags, limit, lots)
  if (code === 0 && (flags & Flag.EXPIRES) !== 0 && command.f64[(base + C.expiresAt) >>> 1]! <= state.clock[CLOCK.TIME]!) {
    code = REFUSALS.INVALID_EXPIRATION.number
  }
  const length = command.u32[base + C.flags]! >>> LABEL_SHIFT
  if (code === 0 && length !== 0 && findLabel(state, account, command.i32, base + C.label, length) >= 0) {
    code = REFUSALS.CLIENT_ORDER_ID_CONFLICT.number
  }
  if (code === 0) code = checkPostOnly(state, pair, flags, limit)
  if (code === 0) code = checkFunds(state, account, pair, flags, limit, lots)
  return code
}

/**
 * Matches the written order in `slot`, rests or ends it and emits its RESULT, whose place in the outbox is returned. `left`:
 * what {@link fillOrKill} said; anything but 0 ends the order unfilled.
 */
export function execute(state: State, slot: number, limit: number, left: number, command: Views, base: number): number {
  const { orders } = state
  const row = slot * ORDER_WORDS
  const pair = orders[row + ORDER.PAIR]!
  const flags = orders[row + ORDER.FLAGS]!
  let reason: number = left === 0 ? Reason.NONE : left === OWN_ORDER ? Reason.SELF_TRADE_PREVENTION : Reason.INSUFFICIENT_DEPTH
  if (left === 0) reason = match(state, slot, limit, command, base)
  const remaining = orders[row + ORDER.REMAINING]!
  if (reason === Reason.NONE && remaining > 0) reason = remainderReason(state, pair, flags)
  const traded = state.details[slot * DETAIL_WORDS + DETAIL.TRADES] !== 0
  let status: number = Status.CANCELLED
  if (remaining === 0) status = Status.FILLED
  else if (reason === Reason.NONE) {
    status = traded ? Status.PARTIALLY_FILLED : Status.SUBMITTED
    rest(state, slot)
  }
  if (flags >>> LABEL_SHIFT !== 0) emitLabel(state, slot)
  const result = emitOrderResult(state, command, base, slot, outcomeOf(status, reason))
  touchAccount(state, orders[row + ORDER.ACCOUNT]!)
  const rests = status === Status.SUBMITTED || status === Status.PARTIALLY_FILLED
  if (traded || rests) touchBook(state, pair)
  if (!rests) giveSlot(state, slot)
  return result
}

/** Why what is left of an unblocked order does not rest, or Reason.NONE when it does. */
function remainderReason(state: State, pair: number, flags: number): number {
  if ((flags & Flag.MARKET) !== 0) {
    const best = bestOpposite(state, pair, flags & Flag.SELL)
    return best === 0 || best === NO_ASK ? Reason.INSUFFICIENT_DEPTH : Reason.SLIPPAGE_LIMIT
  }
  return (flags & Flag.IOC) !== 0 ? Reason.IOC_REMAINDER : Reason.NONE
}

/** Locks what the order still needs and puts it on the book. */
export function rest(state: State, slot: number): void {
  lockRemaining(state, slot)
  appendToLevel(state, slot)
  enlist(state, slot)
}

/** Locks what an order needs for the lots that rest. */
export function lockRemaining(state: State, slot: number): void {
  const { orders, ordersI64, registers } = state
  const row = slot * ORDER_WORDS
  const pair = orders[row + ORDER.PAIR]!
  const account = orders[row + ORDER.ACCOUNT]!
  const flags = orders[row + ORDER.FLAGS]!
  const remaining = orders[row + ORDER.REMAINING]!
  if ((flags & Flag.SELL) !== 0) {
    registers[R.HOLD] = BigInt(remaining | 0) * state.lotAtoms[pair]!
    lock(state, balanceRow(state, account, state.pairBase[pair]!))
  } else {
    holdOfBid(state, slot, remaining)
    lock(state, balanceRow(state, account, state.pairQuote[pair]!))
  }
  ordersI64[(row + ORDER.HOLD) >>> 1] = registers[R.HOLD]!
}

/** Marks a RESULT as the answer to a replacement of (sequence, slot). */
export function markReplacement(state: State, result: number, originalSequence: number, originalSlot: number): void {
  state.outbox.f64[(result + RESULT.at.originalSequence) >>> 1] = originalSequence
  state.outbox.i32[result + RESULT.at.detail] = originalSlot
}
