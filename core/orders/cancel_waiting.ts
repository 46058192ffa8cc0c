/** What cancels of conditional orders (conditional.ts) and of TWAP orders (twap.ts) have in common. */
import { CANCELLED_WAITING_ANSWER } from '../layout/answers.ts'
import { write } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { isPairHalted } from '../book/pool.ts'
import { lacksToCancel } from '../programs/grants.ts'
import { sessionAgent } from '../programs/sessions.ts'
import type { State } from '../state/state.ts'

/**
 * Refuses the cancel of what waits on `pair` (-1: nothing of `account`, which signed, has that name; negative: nobody did) for the margin
 * account `margin`. False: it may be done. SESSION_INVALID, ORDER_NOT_FOUND, AGENT_NOT_ALLOWED; PAIR_NOT_ACTIVE: the pair is halted.
 */
export function refusesCancel(state: State, command: Views, base: number, account: number, pair: number, margin: number): boolean {
  const agent = pair < 0 ? -1 : sessionAgent(state, command, base)
  const lacking = agent < 0 ? 0 : lacksToCancel(state, agent, pair, margin)
  let code = account < 0 ? REFUSALS.SESSION_INVALID.number : pair < 0 ? REFUSALS.ORDER_NOT_FOUND.number : 0
  if (lacking !== 0) code = REFUSALS.AGENT_NOT_ALLOWED.number
  if (code === 0 && isPairHalted(state, pair)) code = REFUSALS.PAIR_NOT_ACTIVE.number
  if (code !== 0) emitResult(state, command, base, code, account, lacking, 0)
  return code !== 0
}

/** CANCELLED_WAITING_ANSWER of what was cancelled. */
export function answerCancelled(state: State, command: Views, base: number, account: number, pair: number): void {
  const at = emitResult(state, command, base, 0, account, 0, 0)
  write(state.outbox, at, CANCELLED_WAITING_ANSWER.at.pair, pair)
}
