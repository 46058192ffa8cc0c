/**
 * Cancelling: one order, or the newest `limit` orders of an account. Open during maintenance (specification, Orders, rule 5) and
 * on a pair that is CANCEL_ONLY, not on one that is HALTED.
 */
import { CANCEL_ALL_COMMAND, CANCEL_ALL_MAX, ORDER_COMMAND, PairStatus } from '../layout/command.ts'
import { outcomeOf, Reason, RESULT, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, ORDER, ORDER_WORDS, PAIR, PAIR_WORDS } from '../engine/columns.ts'
import * as emit from '../engine/emit.ts'
import { REFUSALS } from '../engine/refusals.ts'
import type { State } from '../engine/state.ts'
import * as matching from '../book/match.ts'
import { R } from '../ledger/balances.ts'
import * as agentGrants from '../programs/grants.ts'
import * as sessions from '../programs/sessions.ts'
import * as end from './end.ts'
import * as pool from './pool.ts'

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const C = ORDER_COMMAND.at
const { ACCOUNT: OWNER, CREATED_AT, PAIR: OF_PAIR } = ORDER
const PAIR_ROW = PAIR_WORDS
const PAIR_STATUS = PAIR.STATUS
const { HALTED } = PairStatus
const USER_CANCELLED = outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED)
const { hold: RESULT_HOLD, originalSequence: RESULT_MADE_AT } = RESULT.at
const { RELEASE } = R
const SESSION_INVALID = REFUSALS.SESSION_INVALID.number
const ORDER_NOT_FOUND = REFUSALS.ORDER_NOT_FOUND.number
const AGENT_NOT_ALLOWED = REFUSALS.AGENT_NOT_ALLOWED.number
const PAIR_NOT_ACTIVE = REFUSALS.PAIR_NOT_ACTIVE.number
const { emitOrderResult, emitResult } = emit
const { isExpired } = matching
const { sessionAccount, sessionAgent } = sessions
const { lacksToCancel, lacksToCancelAny, mayTrade } = agentGrants
const { endOrder, withdraw } = end
const { giveSlot, restingTarget } = pool
const standsStill = isHalted

/** True when not even cancels may touch the pair of the order at `row`. */
function isHalted(state: State, row: number): boolean {
  const { i32 } = state
  return i32[(state.pairsAt + i32[row + OF_PAIR]! * PAIR_ROW + PAIR_STATUS) & ADDRESS] === HALTED
}

/** Ends one order. Its RESULT says everything, the atoms released as `hold` and when it was made too; there is no ORDER_ENDED. */
export function cancelOrder(state: State, command: Views, base: number): void {
  base &= ADDRESS
  const account = sessionAccount(state, command, base)
  const row = restingTarget(state, command, base)
  const found = row >= 0 && state.i32[row + OWNER] === account && !isExpired(state, row)
  if (!found) {
    emitResult(state, command, base, account < 0 ? SESSION_INVALID : ORDER_NOT_FOUND, account, 0, 0)
    return
  }
  const agent = sessionAgent(state, command, base)
  const lacking = agent < 0 ? 0 : lacksToCancel(state, agent, row)
  if (lacking !== 0) {
    emitResult(state, command, base, AGENT_NOT_ALLOWED, account, lacking, 0)
    return
  }
  if (standsStill(state, row)) {
    emitResult(state, command, base, PAIR_NOT_ACTIVE, account, 0, 0)
    return
  }
  withdraw(state, row)
  const result = emitOrderResult(state, command, base, row, USER_CANCELLED)
  state.outbox.i64[(result + RESULT_HOLD) >>> 1] = state.i64[RELEASE]!
  state.outbox.i64[(result + RESULT_MADE_AT) >>> 1] = state.i64[(row + CREATED_AT) >>> 1]!
  giveSlot(state, row)
}

/**
 * Cancels the caller's orders of one pair or all, newest first, up to `limit`; the RESULT says how many ended and how many are left.
 * Orders on halted pairs, and of pairs that a delegated agent is not granted, stay and are not counted: another call would not end
 * them either.
 */
export function cancelAll(state: State, command: Views, base: number): void {
  const { i32 } = state
  const account = sessionAccount(state, command, base)
  if (account < 0) {
    emitResult(state, command, base, REFUSALS.SESSION_INVALID.number, account, 0, 0)
    return
  }
  const agent = sessionAgent(state, command, base)
  const lacking = agent < 0 ? 0 : lacksToCancelAny(state, agent)
  if (lacking !== 0) {
    emitResult(state, command, base, AGENT_NOT_ALLOWED, account, lacking, 0)
    return
  }
  const pair = command.i32[base + CANCEL_ALL_COMMAND.at.pair]!
  const limit = Math.min(CANCEL_ALL_MAX, command.i32[base + CANCEL_ALL_COMMAND.at.limit]!)
  let ended = 0
  let left = 0
  let slot = state.accounts[account * ACCOUNT_WORDS + ACCOUNT.ORDERS_HEAD]!
  while (slot >= 0) {
    const row = (state.ordersAt + slot * ORDER_WORDS) & ADDRESS
    const next = i32[row + ORDER.ACCOUNT_NEXT]!
    const meant = (pair < 0 || i32[row + ORDER.PAIR] === pair) && (agent < 0 || mayTrade(state, agent, i32[row + ORDER.PAIR]!))
    if (meant && !isHalted(state, row)) {
      if (ended < limit) {
        endOrder(state, row, Status.CANCELLED, Reason.USER_CANCELLED, command.u32[base + C.correlation]!, false)
        ended++
      } else left++
    }
    slot = next
  }
  emitResult(state, command, base, 0, account, ended, left)
}
