/**
 * CANCEL_ACCOUNT_ORDERS: the operator cancels resting orders of an account, of one pair or of all, when somebody holds too much of the
 * book's room, or asks for it who cannot sign in.
 *
 * It goes through lane 0 only, in maintenance and on halted pairs too: the operator's word ends orders wherever they rest. So many end
 * with one command (sweep.ts), and the operator sends the next one. Orders end as the user's own cancels do; Flag.BY_OPERATOR in
 * ORDER_ENDED, and from there in the history, says whose cancel it was.
 */
import { SWEEP_ANSWER } from '../layout/answers.ts'
import { CANCEL_ACCOUNT_ORDERS_COMMAND } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { SweptBy } from '../state/columns.ts'
import { pairCount } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { isAccount } from '../programs/accounts.ts'
import { laneRefusal } from '../programs/policy.ts'
import { sweepOrders } from './sweep.ts'

const { at } = CANCEL_ACCOUNT_ORDERS_COMMAND

/**
 * RESULT: as of a sweep, with the pair as asked. NOT_FOUND: no such account, or the row is another's by now, or no such pair;
 * VALIDATION_ERROR: a limit below 1.
 */
export function cancelAccountOrders(state: State, command: Views, base: number): void {
  const account = command.i32[base + at.account]!
  const pair = command.i32[base + at.pair]!
  const limit = command.i32[base + at.limit]!
  let code = laneRefusal(command, base)
  if (code === 0 && !isAccount(state, account, command.f64[(base + at.createdSequence) >>> 1]!)) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && (pair < -1 || pair >= pairCount(state))) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && limit < 1) code = REFUSALS.VALIDATION_ERROR.number
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const [fromSlot, fromSequence] = [command.i32[base + at.fromSlot]!, command.f64[(base + at.fromSequence) >>> 1]!]
  const sweep = { account, pair, agent: -1, by: SweptBy.OPERATOR, limit, fromSlot, fromSequence, heard: true }
  const result = sweepOrders(state, command, base, sweep)
  state.outbox.i32[result + SWEEP_ANSWER.at.pair] = pair
}
