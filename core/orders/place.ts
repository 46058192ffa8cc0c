/**
 * Placing an order: admission, matching, resting, answer. Replace shares everything from {@link execute} on, and orders that nobody asked
 * for over the wire (own_orders.ts) everything from {@link enterOrder} on.
 *
 * Order of refusals: session, idempotency key, maintenance, pair, a maker's lease, what an agent is granted, trading mode, room, terms,
 * expiration, client order id, post-only, funds or margin, legs, the value an agent is granted, FOK self-trade. A refused order changes
 * nothing; orders met at the touch are ended all the same, because their time was over before this command.
 *
 * An order of a perpetual has Flag.MARGIN and goes the same way; where a spot order is about balances it is about positions and collateral
 * (margin_admission.ts, margin/).
 */
import { ORDER_ANSWER } from '../layout/answers.ts'
import {
  AgentGrant, Flag, FLAG_ORDER_MASK, CLIENT_ORDER_ID_SHIFT, Option, ORDER_COMMAND, Origin, originOf, PairStatus,
} from '../layout/command.ts'
import { Reason, Status } from '../layout/event.ts'
import { read, readF64 } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { lockRemaining } from '../ledger/holds.ts'
import { NO_ASK, ORDER, PAIR, SCALAR, TERMS } from '../state/columns.ts'
import { emitChildOrder, emitClientOrderId, emitOrderResult, emitResult, emitSelfTrade } from '../events/emit.ts'
import { noteExpiry } from '../state/due.ts'
import { findClientOrderId } from '../state/indexes.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { get, noted, now, pairCount, pairRow, scalar, setF64, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { appendToLevel, touchBook } from '../book/levels.ts'
import { bestOpposite, clearExpiredTouch, crosses, match } from '../book/match.ts'
import { PATH_TOO_LONG } from '../book/walk.ts'
import { N, R, touchAccount } from '../state/balances.ts'
import { keepAccount } from '../state/blank_list.ts'
import { hasMarginAccounts, lacksMargin, lacksMarginAccount, lacksNotional, lacksToPlace } from '../programs/grants.ts'
import { hasLaunch, isFenced } from '../programs/launches.ts'
import { sessionAccount, sessionAgent } from '../programs/sessions.ts'
import { checkFunds, checkPostOnly, checkRoom, checkTerms, fillOrKill, marketLimit } from './admission.ts'
import { enlist, giveSlot, markAgent, takeSlot, writeClientOrderId, writeOrder } from '../book/pool.ts'
import { checkEntryLegs, lacksForEntryValues, lacksForForms, makeEntryLegs, ORDER_LEGS } from './legs.ts'
import { endLegs } from '../margin/legs.ts'
import { beginMargin, checkMargin, endAdmission, mayRest, meantMarginAccount, UNKNOWN } from './margin_admission.ts'
import { admitKey, keepReceipt, REPEATED } from '../programs/receipts.ts'
import { refuseOrder } from './refuse.ts'

const C = ORDER_COMMAND.at

export function placeOrder(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  let code = account < 0 ? REFUSALS.SESSION_INVALID.number : 0
  const given = read(command, base, C.flags)
  const keyed = (read(command, base, C.options) & Option.KEYED) !== 0
  if (keyed && code === 0) code = admitKey(state, account, command, base)
  if (code === REPEATED) return
  const pair = read(command, base, C.pair)
  if (code === 0) code = checkOpen(state, pair, given)
  if (code === 0 && hasLaunch(state, pair) && isFenced(state, command, base, account, pair, given)) code = REFUSALS.LEASE_LOST.number
  const agent = code === 0 ? sessionAgent(state, command, base) : -1
  let lacking = agent < 0 ? 0 : lacksToPlace(state, agent, pair, given)
  const margin = (given & Flag.MARGIN) !== 0
  if (agent >= 0 && lacking === 0 && margin) lacking = lacksForMargin(state, command, base, account, agent, pair, given)
  const brings = (read(command, base, C.options) & Option.LEGS) !== 0
  if (agent >= 0 && lacking === 0 && brings) lacking = lacksForForms(state, command, base, ORDER_LEGS, agent, pair)
  if (lacking !== 0) code = NOT_ALLOWED
  if (code !== 0) {
    emitResult(state, command, base, code, account, lacking, 0)
    return
  }
  const result = enterOrder(state, command, base, account, agent, given & FLAG_ORDER_MASK)
  if (result < 0) refuseOrder(state, command, base, -result, account, -result === NOT_ALLOWED ? AgentGrant.NOTIONAL : 0, pair, given)
  else if (keyed) keepReceipt(state, account, command, base, result)
}

/** What an agent lacks for the leverage and the margin account of an order of a perpetual. */
function lacksForMargin(
  state: State, command: Views, base: number, account: number, agent: number, pair: number, flags: number,
): number {
  const lacking = lacksMargin(state, agent, flags, read(command, base, C.leverage))
  if (lacking !== 0 || !hasMarginAccounts(state, agent) || !isOfPair(state, pair, flags)) return lacking
  const meant = meantMarginAccount(state, command, base, account, pair, flags)
  return meant === UNKNOWN ? 0 : lacksMarginAccount(state, agent, meant)
}

const NOT_ALLOWED = REFUSALS.AGENT_NOT_ALLOWED.number

/**
 * The one entry of every order, whoever asked for it: of `account` and, if it signed, of its `agent` (-1: none), on a pair that takes
 * orders. Terms and what is carried are those of the command; `flags` are what the order is, with its origin. The place of its RESULT,
 * or a refusal, negated, and nothing was done.
 */
export function enterOrder(state: State, command: Views, base: number, account: number, agent: number, flags: number): number {
  const pair = read(command, base, C.pair)
  const lots = read(command, base, C.lots)
  const market = (flags & Flag.MARKET) !== 0
  const margin = (flags & Flag.MARGIN) !== 0
  if (!isOfPair(state, pair, flags)) return -REFUSALS.WRONG_TRADING_MODE.number
  const met = market ? anyPrice(flags) : read(command, base, C.price)
  if (!clearExpiredTouch(state, pair, flags & Flag.SELL, met)) return -REFUSALS.OVERLOADED.number
  const limit = market ? worstPrice(state, command, base, pair, flags) : read(command, base, C.price)
  let code = checkOrder(state, command, base, account, pair, flags, limit, lots)
  const brings = (read(command, base, C.options) & Option.LEGS) !== 0
  if (brings && code === 0) code = checkEntryLegs(state, command, base, account, pair, flags, limit)
  const size = margin && code === 0 ? noted(state, N.LOTS) : lots
  // What is cut is not asked for.
  const asked = scalar(state, SCALAR.RULES) < 5 ? lots : size
  if (agent >= 0 && code === 0 && lacksNotional(state, agent, pair, flags, limit, asked) !== 0) code = NOT_ALLOWED
  if (agent >= 0 && brings && code === 0 && lacksForEntryValues(state, command, base, agent, pair, flags, size) !== 0) code = NOT_ALLOWED
  const left = code === 0 ? fillOrKill(state, pair, flags, limit, size, account) : 0
  if (left === PATH_TOO_LONG) code = REFUSALS.ABOVE_MAX_ORDER_SIZE.number
  else if (left < 0 && (flags & Flag.CANCEL_BOTH) !== 0) code = REFUSALS.SELF_TRADE_NOT_ALLOWED.number
  if (code !== 0) return -code
  // Any other order was paid for, so its account is kept already.
  if (market) keepAccount(state, account)
  const row = takeSlot(state)
  writeOrder(state, row, account, pair, flags, market ? 0 : limit, size)
  if (agent >= 0) markAgent(state, row, agent)
  if (margin) beginMargin(state, row)
  const expires = (flags & Flag.EXPIRES) !== 0
  setF64(state, row, ORDER.EXPIRES_AT, expires ? readF64(command, base, C.expiresAt) : now(state) + state.orderLifetimeMs)
  if (read(command, base, C.flags) >>> CLIENT_ORDER_ID_SHIFT !== 0) writeClientOrderId(state, row, command, base)
  if (originOf(flags) === Origin.TWAP) state.orderParents[get(state, row, ORDER.SLOT)] = noted(state, N.PARENT)
  return execute(state, row, limit, left, command, base, agent, brings)
}

/** The worst tick of a MARKET order: that of its band; of a slice of a TWAP order and of a copy that of its limit too, in `price`. */
function worstPrice(state: State, command: Views, base: number, pair: number, flags: number): number {
  const band = marketLimit(state, pair, flags, read(command, base, C.slippageBps))
  const origin = originOf(flags)
  const most = origin === Origin.TWAP || origin === Origin.COPY ? read(command, base, C.price) : 0
  if (most === 0 || band === 0) return band
  return (flags & Flag.SELL) !== 0 ? Math.max(band, most) : Math.min(band, most)
}

/** A limit that crosses whatever the other side has. */
const anyPrice = (flags: number): number => ((flags & Flag.SELL) !== 0 ? 0 : NO_ASK)

/** Flags that only orders of perpetuals have; those have MARGIN always. */
const MARGIN_FLAGS = Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CROSS | Flag.CLOSE

/** True when an order with these flags is of the kind that the pair trades. */
export const isOfPair = (state: State, pair: number, flags: number): boolean =>
  get(state, termsRow(state, pair), TERMS.PERP) === 0 ? (flags & MARGIN_FLAGS) === 0 : (flags & Flag.MARGIN) !== 0

/** The service and the pair take orders with these flags. Positions are closed during maintenance too. */
export function checkOpen(state: State, pair: number, flags: number): number {
  if (scalar(state, SCALAR.MAINTENANCE) !== 0 && (flags & Flag.CLOSE) === 0) return REFUSALS.OPERATIONS_BLOCKED.number
  if (pair < 0 || pair >= pairCount(state)) return REFUSALS.PAIR_NOT_ACTIVE.number
  return get(state, pairRow(state, pair), PAIR.STATUS) === PairStatus.ACTIVE ? 0 : REFUSALS.PAIR_NOT_ACTIVE.number
}

function checkOrder(
  state: State, command: Views, base: number, account: number, pair: number, flags: number, limit: number, lots: number,
): number {
  let code = checkRoom(state, account, flags)
  state.registers[R.RELEASE] = 0n
  if (code === 0) code = checkTerms(state, account, pair, flags, limit, lots)
  if (code !== 0) return code
  const ends = (flags & Flag.EXPIRES) !== 0
  if (ends && readF64(command, base, C.expiresAt) <= now(state)) return REFUSALS.INVALID_EXPIRATION.number
  const length = read(command, base, C.flags) >>> CLIENT_ORDER_ID_SHIFT
  const taken = length !== 0 && findClientOrderId(state, account, command.i32, base + C.label, length) >= 0
  if (taken) return REFUSALS.CLIENT_ORDER_ID_CONFLICT.number
  code = checkPostOnly(state, pair, flags, limit)
  if (code !== 0) return code
  if ((flags & Flag.MARGIN) !== 0) return checkMargin(state, command, base, account, pair, flags, limit, lots)
  return checkFunds(state, account, pair, flags, limit, lots)
}

/**
 * Matches the written order at `row`, rests or ends it and emits its RESULT, whose place in the outbox is returned. `left`:
 * what {@link fillOrKill} said; anything but 0 ends the order unfilled. `brings`: the command has legs, which `agent` (-1: the owner) asked
 * for.
 */
export function execute(
  state: State, row: number, limit: number, left: number, command: Views, base: number, agent: number, brings: boolean,
): number {
  const pair = get(state, row, ORDER.PAIR)
  const flags = get(state, row, ORDER.FLAGS)
  let reason: number = Reason.NONE
  if (left < 0) {
    reason = Reason.SELF_TRADE_PREVENTION
    if ((read(command, base, C.options) & Option.TELL_SELF_TRADE) !== 0) emitSelfTrade(state, ~left)
  } else if (left > 0) reason = Reason.INSUFFICIENT_DEPTH
  else if (crosses(flags & Flag.SELL, limit, bestOpposite(state, pair, flags & Flag.SELL))) reason = match(state, row, limit, command, base)
  const margin = (flags & Flag.MARGIN) !== 0
  const remaining = get(state, row, ORDER.REMAINING)
  if (reason === Reason.NONE && remaining > 0) reason = remainderReason(state, pair, flags)
  if (margin && reason === Reason.NONE && remaining > 0 && !mayRest(state, row)) reason = Reason.REDUCE_ONLY
  const traded = get(state, row, ORDER.TRADES) !== 0
  const rests = remaining > 0 && reason === Reason.NONE
  let status: number = Status.CANCELLED
  if (remaining === 0) status = Status.FILLED
  else if (rests) {
    status = traded ? Status.PARTIALLY_FILLED : Status.SUBMITTED
    if (!margin) lockRemaining(state, row)
    appendToLevel(state, row)
    enlist(state, row)
    if ((flags & Flag.EXPIRES) !== 0) noteExpiry(state, get(state, row, ORDER.SLOT))
  }
  if (flags >>> CLIENT_ORDER_ID_SHIFT !== 0) emitClientOrderId(state, row)
  if (brings) makeEntryLegs(state, row, command, base, agent, rests)
  if (!rests && (get(state, row, ORDER.FLAGS) & Flag.LEGS) !== 0) endLegs(state, row)
  if (margin) endAdmission(state, row, rests)
  if (originOf(flags) === Origin.TWAP) tellParent(state, row)
  const result = emitOrderResult(state, command, base, row, status | (reason << 8))
  touchAccount(state, get(state, row, ORDER.ACCOUNT))
  if (traded || rests) touchBook(state, pair)
  if (!rests) giveSlot(state, row)
  return result
}

/** CHILD_ORDER of a slice. */
function tellParent(state: State, row: number): void {
  const parent = state.orderParents[get(state, row, ORDER.SLOT)]!
  if (parent !== 0) emitChildOrder(state, row, parent - 1)
}

/** Why what is left of an unblocked order does not rest, or Reason.NONE when it does. */
function remainderReason(state: State, pair: number, flags: number): number {
  if ((flags & Flag.MARKET) !== 0) {
    const best = bestOpposite(state, pair, flags & Flag.SELL)
    return best === 0 || best === NO_ASK ? Reason.INSUFFICIENT_DEPTH : Reason.SLIPPAGE_LIMIT
  }
  return (flags & Flag.IOC) !== 0 ? Reason.IOC_REMAINDER : Reason.NONE
}

/** Marks a RESULT as the answer to a replacement of the order in `originalSlot`, whose sequence is in register REPLACED. */
export function markReplacement(state: State, result: number, originalSlot: number): void {
  state.outbox.i64[(result + ORDER_ANSWER.at.replacedSequence) >>> 1] = state.registers[R.REPLACED]!
  state.outbox.i32[result + ORDER_ANSWER.at.replacedSlot] = originalSlot
}
