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
import { emitLabel, emitOrderResult, emitResult, emitSelfTrade } from '../events/emit.ts'
import { findLabel } from '../state/indexes.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { State } from '../state/state.ts'
import { appendToLevel } from '../book/levels.ts'
import { bestOpposite, clearExpiredTouch, crosses, match } from '../book/match.ts'
import { PATH_TOO_LONG } from '../book/walk.ts'
import { R } from '../state/balances.ts'
import { holdOfBid } from '../ledger/fees.ts'
import { countHold, payerOf } from '../ledger/spending.ts'
import { keepAccount } from '../programs/blank_accounts.ts'
import { lacksNotional, lacksToPlace } from '../programs/grants.ts'
import { sessionAccount, sessionAgent } from '../programs/sessions.ts'
import { checkFunds, checkPostOnly, checkRoom, checkTerms, fillOrKill, marketLimit } from './admission.ts'
import { enlist, giveSlot, markAgent, takeSlot, writeLabel, writeOrder } from '../book/pool.ts'
import { admitKey, keepReceipt, REPEATED } from '../programs/receipts.ts'

const C = ORDER_COMMAND.at
const [SEQUENCE, TIME] = [CLOCK_AT + CLOCK.SEQUENCE, CLOCK_AT + CLOCK.TIME]
const MAINTENANCE = SCALARS_AT + SCALAR.MAINTENANCE

export function placeOrder(state: State, command: Views, base: number): void {
  base &= ADDRESS_BITS
  const { i32: words } = command
  const account = sessionAccount(state, command, base)
  let code = account < 0 ? REFUSALS.SESSION_INVALID.number : 0
  const given = words[base + C.flags]!
  if ((given & Flag.KEYED) !== 0 && code === 0) code = admitKey(state, account, command, base)
  if (code === REPEATED) return
  const pair = words[base + C.pair]!
  if (code === 0) code = checkOpen(state, pair)
  const agent = code === 0 ? sessionAgent(state, command, base) : -1
  let lacking = agent < 0 ? 0 : lacksToPlace(state, agent, pair, given)
  if (lacking !== 0) code = REFUSALS.AGENT_NOT_ALLOWED.number
  if (code !== 0) {
    emitResult(state, command, base, code, account, lacking, 0)
    return
  }
  const flags = given & FLAG_ORDER_MASK
  const lots = words[base + C.lots]!
  clearExpiredTouch(state, pair, flags & Flag.SELL)
  const market = (flags & Flag.MARKET) !== 0
  const limit = market ? marketLimit(state, pair, flags, words[base + C.slippageBps]!) : words[base + C.price]!
  code = checkOrder(state, command, base, account, pair, flags, limit, lots)
  if (agent >= 0 && code === 0) lacking = lacksNotional(state, agent, pair, flags, limit, lots)
  if (lacking !== 0) code = REFUSALS.AGENT_NOT_ALLOWED.number
  const left = code === 0 ? fillOrKill(state, pair, flags, limit, lots, account) : 0
  if (left === PATH_TOO_LONG) code = REFUSALS.ABOVE_MAX_ORDER_SIZE.number
  else if (left < 0 && (flags & Flag.CANCEL_BOTH) !== 0) code = REFUSALS.SELF_TRADE_NOT_ALLOWED.number
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
  const expires = (flags & Flag.EXPIRES) !== 0
  f64[(row + ORDER.EXPIRES_AT) >>> 1] = expires ? command.f64[(base + C.expiresAt) >>> 1]! : f64[TIME]! + state.orderLifetimeMs
  if (given >>> LABEL_SHIFT !== 0) writeLabel(state, row, command, base)
  const result = execute(state, row, limit, left, command, base)
  if ((given & Flag.KEYED) !== 0) keepReceipt(state, account, command, base, result)
}

/** The service and the pair take orders. */
export function checkOpen(state: State, pair: number): number {
  const { i32 } = state
  if (i32[MAINTENANCE] !== 0) return REFUSALS.OPERATIONS_BLOCKED.number
  if (pair < 0 || pair >= state.pairCount) return REFUSALS.PAIR_NOT_ACTIVE.number
  return i32[(state.pairsAt + pair * PAIR_WORDS + PAIR.STATUS) & ADDRESS_BITS] === PairStatus.ACTIVE ? 0 : REFUSALS.PAIR_NOT_ACTIVE.number
}

function checkOrder(
  state: State, command: Views, base: number, account: number, pair: number, flags: number, limit: number, lots: number,
): number {
  let code = checkRoom(state, account, flags)
  if (code === 0) code = checkTerms(state, pair, flags, limit, lots)
  if (code !== 0) return code
  const ends = (flags & Flag.EXPIRES) !== 0
  if (ends && command.f64[(base + C.expiresAt) >>> 1]! <= state.f64[TIME]!) return REFUSALS.INVALID_EXPIRATION.number
  const length = command.i32[base + C.flags]! >>> LABEL_SHIFT
  const taken = length !== 0 && findLabel(state, account, command.i32, base + C.label, length) >= 0
  if (taken) return REFUSALS.CLIENT_ORDER_ID_CONFLICT.number
  code = checkPostOnly(state, pair, flags, limit)
  if (code !== 0) return code
  state.i64[R.RELEASE] = 0n
  return checkFunds(state, account, pair, flags, limit, lots)
}

/**
 * Matches the written order at `row`, rests or ends it and emits its RESULT, whose place in the outbox is returned. `left`:
 * what {@link fillOrKill} said; anything but 0 ends the order unfilled.
 */
export function execute(state: State, row: number, limit: number, left: number, command: Views, base: number): number {
  row &= ADDRESS_BITS
  const { i32, f64 } = state
  const pair = i32[row + ORDER.PAIR]!
  const flags = i32[row + ORDER.FLAGS]!
  let reason: number = Reason.NONE
  if (left < 0) {
    reason = Reason.SELF_TRADE_PREVENTION
    if ((command.i32[base + C.flags]! & Flag.TELL_SELF_TRADE) !== 0) emitSelfTrade(state, ~left)
  } else if (left > 0) reason = Reason.INSUFFICIENT_DEPTH
  else if (crosses(flags & Flag.SELL, limit, bestOpposite(state, pair, flags & Flag.SELL))) reason = match(state, row, limit, command, base)
  const remaining = i32[row + ORDER.REMAINING]!
  if (reason === Reason.NONE && remaining > 0) reason = remainderReason(state, pair, flags)
  const traded = i32[row + ORDER.TRADES] !== 0
  const rests = remaining > 0 && reason === Reason.NONE
  let status: number = Status.CANCELLED
  if (remaining === 0) status = Status.FILLED
  else if (rests) {
    status = traded ? Status.PARTIALLY_FILLED : Status.SUBMITTED
    lockRemaining(state, row)
    appendToLevel(state, row)
    enlist(state, row)
  }
  if (flags >>> LABEL_SHIFT !== 0) emitLabel(state, row)
  const result = emitOrderResult(state, command, base, row, status | (reason << 8))
  i32[(state.accountsAt + i32[row + ORDER.ACCOUNT]! * ACCOUNT_WORDS + ACCOUNT.VERSION) & ADDRESS_BITS]!++
  if (traded || rests) {
    const book = (state.pairsAt + pair * PAIR_WORDS) & ADDRESS_BITS
    i32[book + PAIR.VERSION]!++
    f64[(book + PAIR.SEQUENCE) >>> 1] = f64[SEQUENCE]!
  }
  if (!rests) giveSlot(state, row)
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

/** Locks what an order needs for the lots that rest, of the account that pays for it. */
export function lockRemaining(state: State, row: number): void {
  row &= ADDRESS_BITS
  const { i32, i64 } = state
  const terms = (state.termsAt + i32[row + ORDER.PAIR]! * TERMS_WORDS) & ADDRESS_BITS
  const remaining = i32[row + ORDER.REMAINING]!
  let asset = i32[terms + TERMS.QUOTE]!
  if ((i32[row + ORDER.FLAGS]! & Flag.SELL) === 0) holdOfBid(state, row, terms, remaining)
  else {
    asset = i32[terms + TERMS.BASE]!
    i64[R.HOLD] = BigInt(remaining | 0) * i64[(terms + TERMS.LOT_ATOMS) >>> 1]!
  }
  const funded = (i32[row + ORDER.FLAGS]! & Flag.MASTER_FUNDED) !== 0
  const payer = funded ? payerOf(state, row) : i32[row + ORDER.ACCOUNT]!
  const balance = (state.balancesAt + Math.imul(payer, state.balanceStride) + asset * BALANCE_WORDS) & ADDRESS_BITS
  i64[balance + BALANCE.AVAILABLE] = i64[balance + BALANCE.AVAILABLE]! - i64[R.HOLD]!
  i64[balance + BALANCE.LOCKED] = i64[balance + BALANCE.LOCKED]! + i64[R.HOLD]!
  i64[balance + BALANCE.VERSION] = i64[balance + BALANCE.VERSION]! + 1n
  i64[(row + ORDER.HOLD) >>> 1] = i64[R.HOLD]!
  if (funded) countHold(state, row)
}

/** Marks a RESULT as the answer to a replacement of the order in `originalSlot`, whose sequence is in register REPLACED. */
export function markReplacement(state: State, result: number, originalSlot: number): void {
  state.outbox.i64[(result + RESULT.at.originalSequence) >>> 1] = state.i64[R.REPLACED]!
  state.outbox.i32[result + RESULT.at.detail] = originalSlot
}
