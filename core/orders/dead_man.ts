/**
 * The dead man's switch: an account says that its orders are to be cancelled unless it says so again in time.
 *
 * CANCEL_ALL with `afterMs` sets the account's deadline, which is sequenced time, or takes it away, and cancels
 * nothing. There is one deadline for each account; setting it replaces the one before. When it is over the sequencer
 * writes CONTINUE_CANCEL with `fires` (timers.ts). That command only begins a mass cancel of everything the account had
 * at rest then, as its owner's own would (sweep.ts): what is on a halted pair stays, and what is placed later is not
 * meant. It goes on by itself, some orders with each part (sweep_rows.ts).
 *
 * A connection that cancels when it ends (gateway/bridge/cancel_at_end.ts) has the same mass cancel begin at once, with
 * `afterMs` AT_END. No more than the beginning is asked of the gateway, so that a gateway which stops meanwhile leaves
 * nothing half done. Its session may be over by then: expired, revoked, or opened anew with the same key. So the record
 * names the account, and of the session only whose its row is: within the time that a row is kept for its holder that
 * is who opened the connection (programs/sessions.ts).
 *
 * - The deadline is in the account's row, so a snapshot has it, and the journal says when it fired. One that was over
 *   while the exchange stood fires with the first turn after the start.
 * - A delegated agent may set and take away the deadline, and have a connection cancel at its end, when it could end by
 *   itself all that would end: it may cancel, is granted every pair that is listed, and is not revoked. The deadline is
 *   the account's; it stays when the agent is revoked.
 * - Sessions that end and plain mass cancels leave it alone. A row that goes to another wallet loses it
 *   (programs/blank_accounts.ts).
 *
 * Since the rules 4; before, no record had `afterMs`.
 */
import { emitResult } from '../events/emit.ts'
import { AgentGrant, AT_END, CANCEL_ALL_COMMAND, CONNECTION_KEPT } from '../layout/command.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { isAccount } from '../programs/accounts.ts'
import { lacksToCancelEverything } from '../programs/grants.ts'
import { sessionAgent } from '../programs/sessions.ts'
import { ACCOUNT, AGENT, AgentStatus, DISCONNECT, ORDER, SCALAR, SESSION, SweptBy } from '../state/columns.ts'
import { cancelMoment, noteDeadline } from '../state/due.ts'
import { accountRow, agentRow, disconnectRow, get, getF64, now, orderRow, scalar, sequence, sessionRow, setF64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { forgetConnections } from './cancel_on_disconnect.ts'
import { goesOnByItself, noteSweep } from './sweep_rows.ts'
import { waitsForAny } from './sweep_waiting.ts'

const { at } = CANCEL_ALL_COMMAND
const EVERY_PAIR = -1

/** True when the CANCEL_ALL at `base` is about the deadline. */
export const isAboutDeadline = (state: State, command: Views, base: number): boolean =>
  command.i32[base + at.afterMs] !== 0 && scalar(state, SCALAR.RULES) >= 4

/** True when it is of a connection that ended, or gave up to cancel at its end. */
export function isAtEnd(state: State, command: Views, base: number): boolean {
  const afterMs = command.i32[base + at.afterMs]!
  return (afterMs === AT_END && scalar(state, SCALAR.RULES) >= 4) || (afterMs === CONNECTION_KEPT && scalar(state, SCALAR.RULES) >= 5)
}

/**
 * Sets or takes away the deadline. `agent`: who signed, -1: the owner. RESULT: SWEEP_ANSWER, with nothing ended and
 * nothing left.
 */
export function setDeadline(state: State, command: Views, base: number, account: number, agent: number): void {
  const lacking = agent < 0 ? 0 : lacksToCancelEverything(state, agent)
  if (lacking !== 0) {
    emitResult(state, command, base, REFUSALS.AGENT_NOT_ALLOWED.number, account, lacking, 0)
    return
  }
  const afterMs = command.i32[base + at.afterMs]!
  setF64(state, accountRow(state, account), ACCOUNT.DEADLINE, afterMs > 0 ? now(state) + afterMs : 0)
  noteDeadline(state, account)
  emitResult(state, command, base, 0, account, 0, 0)
}

/**
 * A connection ended: everything of the account that `fromSlot` and `fromSequence` name is cancelled; or it gave up to cancel, and
 * nothing is (CONNECTION_KEPT). RESULT: 1 in `more` when a mass cancel began. SESSION_INVALID: the account or the
 * session's row is another's by now.
 * AGENT_NOT_ALLOWED: as of a deadline.
 */
export function cancelAtEnd(state: State, command: Views, base: number): void {
  const account = command.i32[base + at.fromSlot]!
  const session = command.i32[base + at.session]!
  const isKnown = isAccount(state, account, command.f64[(base + at.fromSequence) >>> 1]!)
    && session >= 0 && session < scalar(state, SCALAR.SESSIONS_USED) && get(state, sessionRow(state, session), SESSION.ACCOUNT) === account
  if (!isKnown) {
    emitResult(state, command, base, REFUSALS.SESSION_INVALID.number, -1, 0, 0)
    return
  }
  if (scalar(state, SCALAR.RULES) >= 5) forgetConnections(state, account, command.i32[base + at.limit]!)
  if (command.i32[base + at.afterMs] === CONNECTION_KEPT) {
    emitResult(state, command, base, 0, account, 0, 0)
    return
  }
  const lacking = lacksAtEnd(state, sessionAgent(state, command, base))
  if (lacking !== 0) emitResult(state, command, base, REFUSALS.AGENT_NOT_ALLOWED.number, account, lacking, 0)
  else emitResult(state, command, base, 0, account, 0, beginSweep(state, account) ? 1 : 0)
}

/**
 * The grant that whoever opened the session lacks: nothing (0) of its owner (-1), everything of an agent that is no
 * more (below).
 */
function lacksAtEnd(state: State, agent: number): number {
  if (agent === -1) return 0
  if (agent < 0 || get(state, agentRow(state, agent), AGENT.STATUS) !== AgentStatus.ACTIVE) return AgentGrant.ACTION
  return lacksToCancelEverything(state, agent)
}

/**
 * Begins a mass cancel of everything that the account has at rest or waiting now; false: it has nothing. One that goes on by itself
 * already begins anew and keeps its turn, so whoever fires without end has his orders cancelled all the same.
 */
function beginSweep(state: State, account: number): boolean {
  const newest = get(state, accountRow(state, account), ACCOUNT.ORDERS_HEAD)
  if (newest < 0 && !waitsForAny(state, account)) return false
  const meant = { account, pair: EVERY_PAIR, by: SweptBy.ITSELF }
  const isNew = !goesOnByItself(state, account)
  const from = newest < 0 ? sequence(state) : getF64(state, orderRow(state, newest), ORDER.SEQUENCE)
  noteSweep(state, meant, sequence(state), newest, from, isNew)
  return true
}

/**
 * The deadline of the account, or its grace after a start (cancel_on_disconnect.ts), is over. RESULT: 1 in `more` when
 * a mass cancel began. NOT_FOUND: it has none, or it is not over.
 */
export function fireDeadline(state: State, command: Views, base: number, account: number): void {
  const moment = cancelMoment(state, account)
  if (moment === 0 || moment > now(state)) {
    emitResult(state, command, base, REFUSALS.NOT_FOUND.number, -1, 0, 0)
    return
  }
  const [row, connections] = [accountRow(state, account), disconnectRow(state, account)]
  if (getF64(state, row, ACCOUNT.DEADLINE) <= now(state)) setF64(state, row, ACCOUNT.DEADLINE, 0)
  if (getF64(state, connections, DISCONNECT.RETURN_BY) <= now(state)) setF64(state, connections, DISCONNECT.RETURN_BY, 0)
  noteDeadline(state, account)
  emitResult(state, command, base, 0, account, 0, beginSweep(state, account) ? 1 : 0)
}
