/** Cancelling: one order, or the newest `limit` orders of an account. Open during maintenance (specification, Orders, rule 5). */
import { CANCEL_ALL_COMMAND, CANCEL_ALL_MAX, ORDER_COMMAND } from '../layout/command.ts'
import { outcomeOf, Reason, RESULT, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, ACCOUNT_WORDS, ORDER, ORDER_WORDS } from '../engine/columns.ts'
import { emitOrderResult, emitResult } from '../engine/emit.ts'
import { REFUSALS } from '../engine/refusals.ts'
import type { State } from '../engine/state.ts'
import { sessionAccount } from '../programs/sessions.ts'
import { endOrder } from './end.ts'
import { checkTarget } from './replace.ts'

const C = ORDER_COMMAND.at

export function cancelOrder(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  const slot = command.i32[base + C.targetSlot]!
  const sequence = command.f64[(base + C.targetSequence) >>> 1]!
  const code = account < 0 ? REFUSALS.SESSION_INVALID.number : checkTarget(state, account, slot, sequence)
  if (code !== 0) {
    emitResult(state, command, base, code, account, 0, 0)
    return
  }
  endOrder(state, slot, Status.CANCELLED, Reason.USER_CANCELLED, command.u32[base + C.correlation]!, false)
  // The freed row keeps its values until its slot is taken again; only the identity was cleared.
  const result = emitOrderResult(state, command, base, slot, outcomeOf(Status.CANCELLED, Reason.USER_CANCELLED))
  state.outbox.f64[(result + RESULT.at.orderSequence) >>> 1] = sequence
}

/** Cancels the caller's orders of one pair or all, newest first, up to `limit`; the RESULT says how many ended and how many are left. */
export function cancelAll(state: State, command: Views, base: number): void {
  const { accounts, orders } = state
  const account = sessionAccount(state, command, base)
  if (account < 0) {
    emitResult(state, command, base, REFUSALS.SESSION_INVALID.number, account, 0, 0)
    return
  }
  const pair = command.i32[base + CANCEL_ALL_COMMAND.at.pair]!
  const limit = Math.min(CANCEL_ALL_MAX, command.i32[base + CANCEL_ALL_COMMAND.at.limit]!)
  let ended = 0
  let left = 0
  let slot = accounts[account * ACCOUNT_WORDS + ACCOUNT.ORDERS_HEAD]!
  while (slot >= 0) {
    const row = slot * ORDER_WORDS
    const next = orders[row + ORDER.ACCOUNT_NEXT]!
    if (pair < 0 || orders[row + ORDER.PAIR] === pair) {
      if (ended < limit) {
        endOrder(state, slot, Status.CANCELLED, Reason.USER_CANCELLED, command.u32[base + C.correlation]!, false)
        ended++
      } else left++
    }
    slot = next
  }
  emitResult(state, command, base, 0, account, ended, left)
}
