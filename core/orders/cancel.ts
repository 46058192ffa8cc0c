/**
 * Cancelling: one order, or orders of an account, so many at a time (sweep.ts). Open during maintenance (specification, Orders, rule 5)
 * and on a pair that is CANCEL_ONLY, not on one that is HALTED.
 */
import { CANCEL_ALL_COMMAND } from '../layout/command.ts'
import { outcomeOf, Reason, RESULT, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { ADDRESS_BITS, ORDER } from '../state/columns.ts'
import * as emit from '../events/emit.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { State } from '../state/state.ts'
import * as matching from '../book/match.ts'
import { R } from '../state/balances.ts'
import * as agentGrants from '../programs/grants.ts'
import * as sessions from '../programs/sessions.ts'
import * as end from '../book/end.ts'
import * as pool from '../book/pool.ts'
import { sweepOrders } from './sweep.ts'

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const { ACCOUNT: OWNER, CREATED_AT } = ORDER
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
const { lacksToCancel, lacksToCancelAny } = agentGrants
const { withdraw } = end
const { giveSlot, isHalted, restingTarget } = pool

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
  if (isHalted(state, row)) {
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
 * Cancels the caller's orders of one pair or all, up to `limit`, newest first. Orders on halted pairs, and of pairs that a delegated
 * agent is not granted, stay: another call would not end them either.
 */
export function cancelAll(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  if (account < 0) {
    emitResult(state, command, base, SESSION_INVALID, account, 0, 0)
    return
  }
  const agent = sessionAgent(state, command, base)
  const lacking = agent < 0 ? 0 : lacksToCancelAny(state, agent)
  if (lacking !== 0) {
    emitResult(state, command, base, AGENT_NOT_ALLOWED, account, lacking, 0)
    return
  }
  const { at } = CANCEL_ALL_COMMAND
  sweepOrders(state, command, base, {
    account, agent, byOperator: false, pair: command.i32[base + at.pair]!, limit: command.i32[base + at.limit]!,
    fromSlot: command.i32[base + at.fromSlot]!, fromSequence: command.f64[(base + at.fromSequence) >>> 1]!,
  })
}
