/**
 * Placing an order: admission, matching, resting, answer. Replace shares everything from {@link execute} on.
 *
 * Order of refusals: session, idempotency key, maintenance, pair, what an agent is granted, room, terms, expiration, client order id,
 * post-only, funds, the value an agent is granted, FOK self-trade. A refused order changes nothing; expired orders met at the touch
 * are ended all the same, because their time was over before this command.
 */
import { Flag, FLAG_ORDER_MASK, LABEL_SHIFT, ORDER_COMMAND, PairStatus } from '../layout/command.ts'
import { Reason, RESULT, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, BALANCE, BALANCE_WORDS, CLOCK, CLOCK_AT, NO_ASK, ORDER, PAIR, PAIR_WORDS, SCALAR, SCALARS_AT, TERMS,
  TERMS_WORDS,
} from '../state/columns.ts'
import * as emit from '../events/emit.ts'
import { findLabel } from '../state/indexes.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { State } from '../state/state.ts'
import * as levels from '../book/levels.ts'
import * as matching from '../book/match.ts'
import { PATH_TOO_LONG } from '../book/walk.ts'
import { R } from '../state/balances.ts'
import * as fees from '../ledger/fees.ts'
import * as spending from '../ledger/spending.ts'
import * as blankAccounts from '../programs/blank_accounts.ts'
import * as agentGrants from '../programs/grants.ts'
import * as sessions from '../programs/sessions.ts'
import * as admission from './admission.ts'
import * as pool from '../book/pool.ts'
import { admitKey, keepReceipt, REPEATED } from '../programs/receipts.ts'

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const C = ORDER_COMMAND.at
const { SELL, MARKET, KEYED, EXPIRES, IOC, MASTER_FUNDED, TELL_SELF_TRADE } = Flag
const ORDER_FLAGS = FLAG_ORDER_MASK
const LABEL_AT = LABEL_SHIFT
const { ACCOUNT: OWNER, PAIR: OF_PAIR, FLAGS, REMAINING, TRADES, HOLD, EXPIRES_AT } = ORDER
const { AVAILABLE, LOCKED, VERSION } = BALANCE
const { STATUS: PAIR_STATUS, VERSION: PAIR_VERSION, SEQUENCE: PAIR_SEQUENCE } = PAIR
const { ACTIVE } = PairStatus
const ACCOUNT_VERSION = ACCOUNT.VERSION
const { BASE, QUOTE, LOT_ATOMS } = TERMS
const { HOLD: R_HOLD, RELEASE } = R
const [ACCOUNT_ROW, BALANCE_ROW, PAIR_ROW, TERMS_ROW] = [ACCOUNT_WORDS, BALANCE_WORDS, PAIR_WORDS, TERMS_WORDS]
const [SEQUENCE, TIME] = [CLOCK_AT + CLOCK.SEQUENCE, CLOCK_AT + CLOCK.TIME]
const MAINTENANCE = SCALARS_AT + SCALAR.MAINTENANCE
const { NONE, SELF_TRADE_PREVENTION, INSUFFICIENT_DEPTH, SLIPPAGE_LIMIT, IOC_REMAINDER } = Reason
const { SUBMITTED, PARTIALLY_FILLED, FILLED, CANCELLED } = Status
const REPEATED_KEY = REPEATED
const SESSION_INVALID = REFUSALS.SESSION_INVALID.number
const OPERATIONS_BLOCKED = REFUSALS.OPERATIONS_BLOCKED.number
const PAIR_NOT_ACTIVE = REFUSALS.PAIR_NOT_ACTIVE.number
const INVALID_EXPIRATION = REFUSALS.INVALID_EXPIRATION.number
const CLIENT_ORDER_ID_CONFLICT = REFUSALS.CLIENT_ORDER_ID_CONFLICT.number
const AGENT_NOT_ALLOWED = REFUSALS.AGENT_NOT_ALLOWED.number
const ABOVE_MAX_ORDER_SIZE = REFUSALS.ABOVE_MAX_ORDER_SIZE.number
const SELF_TRADE_NOT_ALLOWED = REFUSALS.SELF_TRADE_NOT_ALLOWED.number
const { emitLabel, emitOrderResult, emitResult, emitSelfTrade } = emit
const { appendToLevel } = levels
const { bestOpposite, clearExpiredTouch, crosses, match } = matching
const { holdOfBid } = fees
const { countHold, payerOf } = spending
const { sessionAccount, sessionAgent } = sessions
const { lacksNotional, lacksToPlace } = agentGrants
const { checkFunds, checkPostOnly, checkRoom, checkTerms, fillOrKill, marketLimit } = admission
const { enlist, giveSlot, markAgent, takeSlot, writeLabel, writeOrder } = pool
const { keepAccount } = blankAccounts
const closedRefusal = checkOpen
const executeNew = execute
const lockRest = lockRemaining

export function placeOrder(state: State, command: Views, base: number): void {
  base &= ADDRESS
  const { i32: words } = command
  const account = sessionAccount(state, command, base)
  let code = account < 0 ? SESSION_INVALID : 0
  const given = words[base + C.flags]!
  if ((given & KEYED) !== 0 && code === 0) code = admitKey(state, account, command, base)
  if (code === REPEATED_KEY) return
  const pair = words[base + C.pair]!
  if (code === 0) code = closedRefusal(state, pair)
  const agent = code === 0 ? sessionAgent(state, command, base) : -1
  let lacking = agent < 0 ? 0 : lacksToPlace(state, agent, pair, given)
  if (lacking !== 0) code = AGENT_NOT_ALLOWED
  if (code !== 0) {
    emitResult(state, command, base, code, account, lacking, 0)
    return
  }
  const flags = given & ORDER_FLAGS
  const lots = words[base + C.lots]!
  clearExpiredTouch(state, pair, flags & SELL)
  const market = (flags & MARKET) !== 0
  const limit = market ? marketLimit(state, pair, flags, words[base + C.slippageBps]!) : words[base + C.price]!
  code = checkOrder(state, command, base, account, pair, flags, limit, lots)
  if (agent >= 0 && code === 0) lacking = lacksNotional(state, agent, pair, flags, limit, lots)
  if (lacking !== 0) code = AGENT_NOT_ALLOWED
  const left = code === 0 ? fillOrKill(state, pair, flags, limit, lots, account) : 0
  if (left === PATH_TOO_LONG) code = ABOVE_MAX_ORDER_SIZE
  else if (left < 0 && (flags & Flag.CANCEL_BOTH) !== 0) code = SELF_TRADE_NOT_ALLOWED
  if (code !== 0) {
    emitResult(state, command, base, code, account, lacking, 0)
    return
  }
  // Any other order was paid for, so its account is kept already.
  if (market) keepAccount(state, account)
  const row = takeSlot(state)
  writeOrder(state, row, account, pair, flags, market ? 0 : limit, lots)
  if (agent >= 0) markAgent(state, row, agent)
  const { f64 } = state
  f64[(row + EXPIRES_AT) >>> 1] = (flags & EXPIRES) !== 0 ? command.f64[(base + C.expiresAt) >>> 1]! : f64[TIME]! + state.orderLifetimeMs
  if (given >>> LABEL_AT !== 0) writeLabel(state, row, command, base)
  const result = executeNew(state, row, limit, left, command, base)
  if ((given & KEYED) !== 0) keepReceipt(state, account, command, base, result)
}

/** The service and the pair take orders. */
export function checkOpen(state: State, pair: number): number {
  const { i32 } = state
  if (i32[MAINTENANCE] !== 0) return OPERATIONS_BLOCKED
  if (pair < 0 || pair >= state.pairCount) return PAIR_NOT_ACTIVE
  return i32[(state.pairsAt + pair * PAIR_ROW + PAIR_STATUS) & ADDRESS] === ACTIVE ? 0 : PAIR_NOT_ACTIVE
}

function checkOrder(
  state: State, command: Views, base: number, account: number, pair: number, flags: number, limit: number, lots: number,
): number {
  let code = checkRoom(state, account, flags)
  if (code === 0) code = checkTerms(state, pair, flags, limit, lots)
  if ((flags & EXPIRES) !== 0 && code === 0 && command.f64[(base + C.expiresAt) >>> 1]! <= state.f64[TIME]!) code = INVALID_EXPIRATION
  const length = command.i32[base + C.flags]! >>> LABEL_AT
  if (length !== 0 && code === 0 && findLabel(state, account, command.i32, base + C.label, length) >= 0) code = CLIENT_ORDER_ID_CONFLICT
  if (code === 0) code = checkPostOnly(state, pair, flags, limit)
  if (code !== 0) return code
  state.i64[RELEASE] = 0n
  return checkFunds(state, account, pair, flags, limit, lots)
}

/**
 * Matches the written order at `row`, rests or ends it and emits its RESULT, whose place in the outbox is returned. `left`:
 * what {@link fillOrKill} said; anything but 0 ends the order unfilled.
 */
export function execute(state: State, row: number, limit: number, left: number, command: Views, base: number): number {
  row &= ADDRESS
  const { i32, f64 } = state
  const pair = i32[row + OF_PAIR]!
  const flags = i32[row + FLAGS]!
  let reason: number = NONE
  if (left < 0) {
    reason = SELF_TRADE_PREVENTION
    if ((command.i32[base + C.flags]! & TELL_SELF_TRADE) !== 0) emitSelfTrade(state, ~left)
  } else if (left > 0) reason = INSUFFICIENT_DEPTH
  else if (crosses(flags & SELL, limit, bestOpposite(state, pair, flags & SELL))) reason = match(state, row, limit, command, base)
  const remaining = i32[row + REMAINING]!
  if (reason === NONE && remaining > 0) reason = remainderReason(state, pair, flags)
  const traded = i32[row + TRADES] !== 0
  const rests = remaining > 0 && reason === NONE
  let status: number = CANCELLED
  if (remaining === 0) status = FILLED
  else if (rests) {
    status = traded ? PARTIALLY_FILLED : SUBMITTED
    lockRest(state, row)
    appendToLevel(state, row)
    enlist(state, row)
  }
  if (flags >>> LABEL_AT !== 0) emitLabel(state, row)
  const result = emitOrderResult(state, command, base, row, status | (reason << 8))
  i32[(state.accountsAt + i32[row + OWNER]! * ACCOUNT_ROW + ACCOUNT_VERSION) & ADDRESS]!++
  if (traded || rests) {
    const book = (state.pairsAt + pair * PAIR_ROW) & ADDRESS
    i32[book + PAIR_VERSION]!++
    f64[(book + PAIR_SEQUENCE) >>> 1] = f64[SEQUENCE]!
  }
  if (!rests) giveSlot(state, row)
  return result
}

/** Why what is left of an unblocked order does not rest, or Reason.NONE when it does. */
function remainderReason(state: State, pair: number, flags: number): number {
  if ((flags & MARKET) !== 0) {
    const best = bestOpposite(state, pair, flags & SELL)
    return best === 0 || best === NO_ASK ? INSUFFICIENT_DEPTH : SLIPPAGE_LIMIT
  }
  return (flags & IOC) !== 0 ? IOC_REMAINDER : NONE
}

/** Locks what an order needs for the lots that rest, of the account that pays for it. */
export function lockRemaining(state: State, row: number): void {
  row &= ADDRESS
  const { i32, i64 } = state
  const terms = (state.termsAt + i32[row + OF_PAIR]! * TERMS_ROW) & ADDRESS
  const remaining = i32[row + REMAINING]!
  let asset = i32[terms + QUOTE]!
  if ((i32[row + FLAGS]! & SELL) === 0) holdOfBid(state, row, terms, remaining)
  else {
    asset = i32[terms + BASE]!
    i64[R_HOLD] = BigInt(remaining | 0) * i64[(terms + LOT_ATOMS) >>> 1]!
  }
  const funded = (i32[row + FLAGS]! & MASTER_FUNDED) !== 0
  const payer = funded ? payerOf(state, row) : i32[row + OWNER]!
  const balance = (state.balancesAt + Math.imul(payer, state.balanceStride) + asset * BALANCE_ROW) & ADDRESS
  i64[balance + AVAILABLE] = i64[balance + AVAILABLE]! - i64[R_HOLD]!
  i64[balance + LOCKED] = i64[balance + LOCKED]! + i64[R_HOLD]!
  i64[balance + VERSION] = i64[balance + VERSION]! + 1n
  i64[(row + HOLD) >>> 1] = i64[R_HOLD]!
  if (funded) countHold(state, row)
}

/** Marks a RESULT as the answer to a replacement of the order in `originalSlot`, whose sequence is in register REPLACED. */
export function markReplacement(state: State, result: number, originalSlot: number): void {
  state.outbox.i64[(result + RESULT.at.originalSequence) >>> 1] = state.i64[R.REPLACED]!
  state.outbox.i32[result + RESULT.at.detail] = originalSlot
}
