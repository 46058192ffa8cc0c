/**
 * ENTER_ORDER: an order of an account that nobody asked for over the wire. Liquidations, triggers, slices of a TWAP and copies
 * come in here; which of them it is, its origin, stays with the order.
 *
 * The sequencer writes the command itself, as it writes EXPIRE_ORDER: in the journal like every other, so that a replay needs to know
 * nothing of why; taken from no ring, and answered to nobody. It has no session, no key and no client order id, and no agent's grants
 * apply. From there on it is an order like any other (place.ts): the same room, terms, funds, matching, list and events. A refusal is
 * a RESULT event that says whose order it was, of which origin and what it wanted; whoever made the command follows it by that.
 */
import { ENTRY_REFUSAL } from '../layout/answers.ts'
import { ENTER_ORDER_COMMAND, FLAG_ORDER_MASK, originFlags, ORIGIN_NAMES } from '../layout/command.ts'
import { read, readF64, write } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import type { State } from '../state/state.ts'
import { isAccount } from '../programs/accounts.ts'
import { checkOpen, enterOrder } from './place.ts'

const { at } = ENTER_ORDER_COMMAND

/**
 * NOT_FOUND: no such account, or the row is another's by now; VALIDATION_ERROR: no such origin, or flags that
 * describe no order, the length of a client order id among them. Otherwise as of PLACE_ORDER.
 */
export function enterOwnOrder(state: State, command: Views, base: number): void {
  const account = read(command, base, at.account)
  const origin = read(command, base, at.origin)
  const given = read(command, base, at.flags)
  const flags = (given & FLAG_ORDER_MASK) | originFlags(origin)
  let code = isAccount(state, account, readF64(command, base, at.createdSequence)) ? 0 : REFUSALS.NOT_FOUND.number
  const isOrder = origin >= 1 && origin < ORIGIN_NAMES.length && (given & ~FLAG_ORDER_MASK) === 0
  if (code === 0 && !isOrder) code = REFUSALS.VALIDATION_ERROR.number
  if (code === 0) code = checkOpen(state, read(command, base, at.pair), flags)
  const result = code === 0 ? enterOrder(state, command, base, account, -1, flags) : -code
  if (result >= 0) return
  const refusal = emitResult(state, command, base, -result, account, 0, 0)
  write(state.outbox, refusal, ENTRY_REFUSAL.at.pair, read(command, base, at.pair))
  write(state.outbox, refusal, ENTRY_REFUSAL.at.flags, flags)
  write(state.outbox, refusal, ENTRY_REFUSAL.at.price, read(command, base, at.price))
  write(state.outbox, refusal, ENTRY_REFUSAL.at.lots, read(command, base, at.lots))
}
