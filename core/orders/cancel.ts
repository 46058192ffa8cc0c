/**
 * Cancelling: one order, or orders of an account, so many at a time (sweep.ts). Open during maintenance (specification, Orders, rule 5)
 * and on a pair that is CANCEL_ONLY, not on one that is HALTED.
 */
import { CANCEL_ANSWER } from '../layout/answers.ts'
import { CANCEL_ALL_COMMAND } from '../layout/command.ts'
import { outcomeOf, Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { ORDER, SweptBy } from '../state/columns.ts'
import { emitOrderResult, emitResult } from '../events/emit.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { copyOf, get } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { isExpired } from '../book/match.ts'
import { R } from '../state/balances.ts'
import { lacksToCancel, lacksToCancelAny } from '../programs/grants.ts'
import { sessionAccount, sessionAgent } from '../programs/sessions.ts'
import { withdraw } from '../book/end.ts'
import { giveSlot, isHalted } from '../book/pool.ts'
import { isOpening, noteConnection } from './cancel_on_disconnect.ts'
import { cancelAtEnd, isAboutDeadline, isAtEnd, setDeadline } from './dead_man.ts'
import { marginAccountOfOrder } from './margin_account_of.ts'
import { targetRow } from './named_target.ts'
import { sweepOrders } from './sweep.ts'

const USER_CANCELLED = outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED)

/** Ends one order. Its RESULT says everything, the atoms released and when it was made too; there is no ORDER_ENDED. */
export function cancelOrder(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  const row = targetRow(state, account, command, base)
  const found = row >= 0 && get(state, row, ORDER.ACCOUNT) === account && !isExpired(state, row)
  if (!found) {
    emitResult(state, command, base, account < 0 ? REFUSALS.SESSION_INVALID.number : REFUSALS.ORDER_NOT_FOUND.number, account, 0, 0)
    return
  }
  const agent = sessionAgent(state, command, base)
  const lacking = agent < 0 ? 0 : lacksToCancel(state, agent, get(state, row, ORDER.PAIR), marginAccountOfOrder(state, row))
  if (lacking !== 0) {
    emitResult(state, command, base, REFUSALS.AGENT_NOT_ALLOWED.number, account, lacking, 0)
    return
  }
  if (isHalted(state, row)) {
    emitResult(state, command, base, REFUSALS.PAIR_NOT_ACTIVE.number, account, 0, 0)
    return
  }
  withdraw(state, row)
  const result = emitOrderResult(state, command, base, row, USER_CANCELLED)
  state.outbox.i64[(result + CANCEL_ANSWER.at.released) >>> 1] = state.registers[R.RELEASE]!
  state.outbox.i64[(result + CANCEL_ANSWER.at.createdAt) >>> 1] = copyOf(state, row, ORDER.CREATED_AT)
  giveSlot(state, row)
}

/**
 * Cancels the caller's orders of one pair or all, up to `limit`, newest first. Orders on halted pairs, and of pairs and
 * margin accounts that a delegated agent is not granted, stay: another call would not end them either. With `afterMs` it
 * cancels nothing now (dead_man.ts).
 */
export function cancelAll(state: State, command: Views, base: number): void {
  if (isAtEnd(state, command, base)) return cancelAtEnd(state, command, base)
  const account = sessionAccount(state, command, base)
  if (account < 0) {
    emitResult(state, command, base, REFUSALS.SESSION_INVALID.number, account, 0, 0)
    return
  }
  const agent = sessionAgent(state, command, base)
  const lacking = agent < 0 ? 0 : lacksToCancelAny(state, agent)
  if (lacking !== 0) {
    emitResult(state, command, base, REFUSALS.AGENT_NOT_ALLOWED.number, account, lacking, 0)
    return
  }
  if (isOpening(state, command, base)) return noteConnection(state, command, base, account, agent)
  if (isAboutDeadline(state, command, base)) return setDeadline(state, command, base, account, agent)
  const { at } = CANCEL_ALL_COMMAND
  sweepOrders(state, command, base, {
    account, agent, by: SweptBy.OWNER, pair: command.i32[base + at.pair]!, limit: command.i32[base + at.limit]!,
    fromSlot: command.i32[base + at.fromSlot]!, fromSequence: command.f64[(base + at.fromSequence) >>> 1]!, heard: true,
  })
}
