/**
 * Conditional orders as commands of whoever owns them: ATTACH_CONDITIONALS gives an open position legs (legs.ts), CANCEL_CONDITIONAL takes
 * one away; EXPIRE_CONDITIONAL is the sequencer's, when the time of one is over. Cancels work in maintenance, and not on a halted pair, as
 * those of orders do. A delegated agent attaches where it may place orders and cancels where it may cancel; no grant is asked for when one
 * fires, and revoking the agent ends those that it asked for (programs/agents.ts).
 */
import { ATTACH_ANSWER } from '../layout/answers.ts'
import {
  ATTACH_CONDITIONALS_COMMAND, CANCEL_CONDITIONAL_COMMAND, ConditionalReason, ConditionalState, ConditionType,
  EXPIRE_CONDITIONAL_COMMAND,
} from '../layout/conditional.ts'
import { read, readF64, write } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { isInLiquidation, marginAccountOf } from '../margin/buckets.ts'
import { markOf } from '../margin/figures.ts'
import { bucketOf } from '../margin/positions.ts'
import { SCALAR } from '../state/columns.ts'
import { CONDITIONAL, WAITING } from '../state/conditional_rows.ts'
import { POSITION } from '../state/margin_rows.ts'
import { conditionalRow, get, getF64, now, positionRow, scalar, waitingRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { expire, withdrawConditional } from '../programs/conditionals.ts'
import { lacksForLegs, lacksMarginAccount } from '../programs/grants.ts'
import { laneRefusal } from '../programs/policy.ts'
import { sessionAccount, sessionAgent } from '../programs/sessions.ts'
import { answerCancelled, refusesCancel } from './cancel_waiting.ts'
import { checkLegs, countLegs, lacksForForms, lacksForValues, makeLegs, watchAtOnce } from './legs.ts'
import { marginAccountOfConditional, NO_MARGIN } from './margin_account_of.ts'

const A = ATTACH_CONDITIONALS_COMMAND.at
const X = CANCEL_CONDITIONAL_COMMAND.at
const E = EXPIRE_CONDITIONAL_COMMAND.at

/**
 * Legs for an open position; CONDITIONAL of each, ATTACH_ANSWER. POSITION_NOT_FOUND: not the signer's, or closed; VALIDATION_ERROR: no leg,
 * or terms that mean nothing; INVALID_EXPIRATION, INVALID_TRIGGER_PRICE, TRAILING_STOP_EXISTS, TOO_MANY_CONDITIONAL_ORDERS (legs.ts);
 * RISK_BUCKET_IN_LIQUIDATION; OPERATIONS_BLOCKED: maintenance.
 */
export function attachConditionals(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  const position = account < 0 ? -1 : namedPosition(state, command, base, account)
  const agent = position < 0 ? -1 : sessionAgent(state, command, base)
  let lacking = agent < 0 ? 0 : lacksFor(state, command, base, agent, position)
  let code = account < 0 ? REFUSALS.SESSION_INVALID.number : 0
  if (code === 0 && scalar(state, SCALAR.MAINTENANCE) !== 0) code = REFUSALS.OPERATIONS_BLOCKED.number
  if (code === 0 && position < 0) code = REFUSALS.POSITION_NOT_FOUND.number
  if (code === 0 && lacking !== 0) code = REFUSALS.AGENT_NOT_ALLOWED.number
  if (code === 0) code = attachRefusal(state, command, base, account, position)
  if (code === 0 && agent >= 0) {
    const size = Math.abs(get(state, position, POSITION.LOTS))
    lacking = lacksForValues(state, command, base, A.profitTrigger, agent, get(state, position, POSITION.PAIR), size)
    if (lacking !== 0) code = REFUSALS.AGENT_NOT_ALLOWED.number
  }
  if (code !== 0) {
    emitResult(state, command, base, code, account, code === REFUSALS.AGENT_NOT_ALLOWED.number ? lacking : 0, 0)
    return
  }
  const long = get(state, position, POSITION.LOTS) > 0
  const made = watchAtOnce(state, makeLegs(state, command, base, A.profitTrigger, position, long, agent, true))
  const at = emitResult(state, command, base, 0, account, 0, 0)
  write(state.outbox, at, ATTACH_ANSWER.at.legs, made)
}

/** Address of the open position of `account` that the command names, or -1. */
function namedPosition(state: State, command: Views, base: number, account: number): number {
  const number = read(command, base, A.position)
  if (number < 0 || number >= scalar(state, SCALAR.POSITIONS_USED)) return -1
  const position = positionRow(state, number)
  const opened = getF64(state, position, POSITION.OPENED_SEQUENCE)
  return opened !== 0 && opened === readF64(command, base, A.openedSequence) && get(state, position, POSITION.ACCOUNT) === account
    ? position : -1
}

/** What an agent lacks but for the values of the legs. */
function lacksFor(state: State, command: Views, base: number, agent: number, position: number): number {
  const pair = get(state, position, POSITION.PAIR)
  const lacking = lacksForLegs(state, agent, pair) || lacksMarginAccount(state, agent, marginAccountOf(state, bucketOf(state, position)))
  return lacking || lacksForForms(state, command, base, A.profitTrigger, agent, pair)
}

function attachRefusal(state: State, command: Views, base: number, account: number, position: number): number {
  if (countLegs(command, base, A.profitTrigger) === 0) return REFUSALS.VALIDATION_ERROR.number
  if (isInLiquidation(state, bucketOf(state, position))) return REFUSALS.RISK_BUCKET_IN_LIQUIDATION.number
  const long = get(state, position, POSITION.LOTS) > 0
  return checkLegs(state, command, base, A.profitTrigger, account, position, long, markOf(state, get(state, position, POSITION.PAIR)))
}

/** CANCELLED_WAITING_ANSWER. ORDER_NOT_FOUND: none of the signer's waits by that name; PAIR_NOT_ACTIVE: its pair is halted. */
export function cancelConditional(state: State, command: Views, base: number): void {
  const account = sessionAccount(state, command, base)
  const row = account < 0 ? -1 : namedConditional(state, account, read(command, base, X.leg), readF64(command, base, X.createdSequence))
  const pair = row < 0 ? -1 : get(state, row, CONDITIONAL.PAIR)
  const margin = pair < 0 ? NO_MARGIN : marginAccountOfConditional(state, row)
  if (refusesCancel(state, command, base, account, pair, margin)) return
  withdrawConditional(state, row, ConditionalState.CANCELLED, ConditionalReason.USER_CANCELLED)
  answerCancelled(state, command, base, account, pair)
}

/** Address of the one of `account` that is `leg` of the command of that sequence, or -1. Walks those of the account. */
function namedConditional(state: State, account: number, leg: number, created: number): number {
  if (leg < ConditionType.TAKE_PROFIT || leg > ConditionType.TRAILING_STOP) return -1
  let next = get(state, waitingRow(state, account), WAITING.FIRST_CONDITIONAL)
  while (next !== 0) {
    const row = conditionalRow(state, next - 1)
    const named = get(state, row, CONDITIONAL.KIND) === leg && getF64(state, row, CONDITIONAL.CREATED_SEQUENCE) === created
    // One that fired already is no longer to be cancelled: only its next order waits.
    if (named) return get(state, row, CONDITIONAL.STATE) === ConditionalState.TRIGGERED ? -1 : row
    next = get(state, row, CONDITIONAL.ACCOUNT_NEXT)
  }
  return -1
}

/** NOT_FOUND: no such row, or its time is not over. The start of a TWAP order ends that order. */
export function expireConditional(state: State, command: Views, base: number): void {
  const number = read(command, base, E.conditional)
  const known = number >= 0 && number < scalar(state, SCALAR.CONDITIONALS_USED)
  const row = known ? conditionalRow(state, number) : -1
  const expires = row < 0 ? 0 : getF64(state, row, CONDITIONAL.EXPIRES_AT)
  const isDue = expires !== 0 && expires <= now(state) &&
    getF64(state, row, CONDITIONAL.CREATED_SEQUENCE) === readF64(command, base, E.createdSequence)
  const code = laneRefusal(command, base) || (isDue ? 0 : REFUSALS.NOT_FOUND.number)
  if (code === 0) expire(state, row)
  emitResult(state, command, base, code, -1, 0, 0)
}
