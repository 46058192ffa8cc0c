/** Ending conditional orders that wait, for whoever may; margin/conditionals.ts has how they live. Named by the addresses of their rows. */
import { ConditionalReason, ConditionalState, ConditionType } from '../layout/conditional.ts'
import { endConditional } from '../margin/conditionals.ts'
import { leaveEntry } from '../margin/legs.ts'
import { CONDITIONAL, WAITING } from '../state/conditional_rows.ts'
import { conditionalRow, get, orderRow, waitingRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { endUnstarted } from './twaps.ts'

/** Ends one that waits, wherever it stands; of a pair it leaves the other one as it is. */
export function withdrawConditional(state: State, row: number, ended: number, reason: number): void {
  const entry = get(state, row, CONDITIONAL.ENTRY)
  if (entry !== 0) leaveEntry(state, row, orderRow(state, entry - 1))
  endConditional(state, row, ended, reason)
}

/**
 * Its time is over, wherever it stands. The start of a TWAP order ends that order; one that fired is told as what it is, though its next
 * order does not come.
 */
export function expire(state: State, row: number): void {
  if (get(state, row, CONDITIONAL.KIND) === ConditionType.TWAP_START) return endUnstarted(state, row)
  const fired = get(state, row, CONDITIONAL.STATE) === ConditionalState.TRIGGERED
  withdrawConditional(state, row, fired ? ConditionalState.TRIGGERED : ConditionalState.EXPIRED, ConditionalReason.EXPIRED)
}

/** True when its owner may still cancel it: of one that fired only its next order waits, and the start of a TWAP order ends with that. */
export const isCancellable = (state: State, row: number): boolean =>
  get(state, row, CONDITIONAL.STATE) !== ConditionalState.TRIGGERED && get(state, row, CONDITIONAL.KIND) !== ConditionType.TWAP_START

/** Ends those that a delegated agent of `account` asked for. Walks those of the account. */
export function endConditionalsOf(state: State, account: number, agent: number): void {
  let next = get(state, waitingRow(state, account), WAITING.FIRST_CONDITIONAL)
  while (next !== 0) {
    const row = conditionalRow(state, next - 1)
    next = get(state, row, CONDITIONAL.ACCOUNT_NEXT)
    if (get(state, row, CONDITIONAL.AGENT) !== agent + 1 || !isCancellable(state, row)) continue
    withdrawConditional(state, row, ConditionalState.CANCELLED, ConditionalReason.DELEGATION_REVOKED)
  }
}
