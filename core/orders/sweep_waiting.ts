/**
 * Mass cancels of what waits: the conditional orders and then the TWAP orders of an account, newest first, before its resting orders
 * (sweep.ts). Those that stay are looked at with each part, which the limits of an account bound. One that fired already is no more to
 * be cancelled (programs/conditionals.ts).
 */
import { ConditionalReason, ConditionalState } from '../layout/conditional.ts'
import { TwapReason, TwapState } from '../layout/twap.ts'
import { isPairHalted } from '../book/pool.ts'
import { isGranted } from '../programs/grants.ts'
import { isCancellable, withdrawConditional } from '../programs/conditionals.ts'
import { endTwap } from '../programs/twaps.ts'
import { SweptBy } from '../state/columns.ts'
import { CONDITIONAL, TWAP, WAITING } from '../state/conditional_rows.ts'
import { conditionalRow, get, getF64, twapRow, waitingRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { marginAccountOfConditional, marginAccountOfTwap } from './margin_account_of.ts'
import type { Meant } from './sweep_rows.ts'

/** Whose, and which of them: as of a sweep. */
export interface Waiting extends Meant {
  readonly agent: number
}

/** Ends what waits of a mass cancel that began with that sequence, `limit` at most; how many. */
export function sweepWaiting(state: State, sweep: Waiting, began: number, limit: number): number {
  const byOperator = sweep.by === SweptBy.OPERATOR
  let ended = 0
  for (let row = nextConditional(state, sweep, began, -1); row >= 0 && ended < limit; ended++) {
    const following = nextConditional(state, sweep, began, row)
    const reason = byOperator ? ConditionalReason.BY_OPERATOR : ConditionalReason.USER_CANCELLED
    withdrawConditional(state, row, ConditionalState.CANCELLED, reason)
    row = following
  }
  for (let row = nextTwap(state, sweep, began, -1); row >= 0 && ended < limit; ended++) {
    const following = nextTwap(state, sweep, began, row)
    endTwap(state, row, TwapState.CANCELLED, byOperator ? TwapReason.BY_OPERATOR : TwapReason.USER_CANCELLED, 0)
    row = following
  }
  return ended
}

/** True when some is left that it means. */
export const hasWaiting = (state: State, sweep: Waiting, began: number): boolean =>
  nextConditional(state, sweep, began, -1) >= 0 || nextTwap(state, sweep, began, -1) >= 0

/** True when anything waits for the account. */
export const waitsForAny = (state: State, account: number): boolean =>
  (get(state, waitingRow(state, account), WAITING.FIRST_CONDITIONAL) | get(state, waitingRow(state, account), WAITING.FIRST_TWAP)) !== 0

/** Address of the conditional order behind that at `row` (-1: the first) that is meant; -1: none. */
function nextConditional(state: State, sweep: Waiting, began: number, row: number): number {
  const waiting = waitingRow(state, sweep.account)
  let next = row < 0 ? get(state, waiting, WAITING.FIRST_CONDITIONAL) : get(state, row, CONDITIONAL.ACCOUNT_NEXT)
  while (next !== 0) {
    const each = conditionalRow(state, next - 1)
    const isOf = isCancellable(state, each) &&
      isMeant(state, sweep, get(state, each, CONDITIONAL.PAIR), sweep.agent < 0 ? -1 : marginAccountOfConditional(state, each))
    if (isOf && getF64(state, each, CONDITIONAL.CREATED_SEQUENCE) <= began) return each
    next = get(state, each, CONDITIONAL.ACCOUNT_NEXT)
  }
  return -1
}

/** The same of TWAP orders. */
function nextTwap(state: State, sweep: Waiting, began: number, row: number): number {
  const waiting = waitingRow(state, sweep.account)
  let next = row < 0 ? get(state, waiting, WAITING.FIRST_TWAP) : get(state, row, TWAP.NEXT)
  while (next !== 0) {
    const each = twapRow(state, next - 1)
    const isOf = isMeant(state, sweep, get(state, each, TWAP.PAIR), sweep.agent < 0 ? -1 : marginAccountOfTwap(state, each))
    if (isOf && getF64(state, each, TWAP.CREATED_SEQUENCE) <= began) return each
    next = get(state, each, TWAP.NEXT)
  }
  return -1
}

/** `margin`: the margin account that it is of, only read of an agent's (margin_account_of.ts). */
function isMeant(state: State, { pair, agent, by }: Waiting, of: number, margin: number): boolean {
  if (pair >= 0 && of !== pair) return false
  if (by !== SweptBy.OPERATOR && isPairHalted(state, of)) return false
  return agent < 0 || isGranted(state, agent, of, margin)
}
