/**
 * Cancel on disconnect, as the state knows it: which accounts have connections open that cancel their orders when they end.
 *
 * A gateway says with CANCEL_ALL that such a connection opened (`afterMs` CONNECTION_OPENED, its grace in `fromSlot`). It says that a
 * connection ended (AT_END), or stays open and does not cancel any more (CONNECTION_KEPT), with the number of connections in `limit`
 * (dead_man.ts). So the number of open connections of an account survives a crash of the exchange, which ends every connection.
 *
 * The first command of a start is CONTINUE_CANCEL with `fires` AT_START when any connection was open: no connection is open any
 * more, and each of these accounts may return within its grace. An account returns by opening such a connection again. One that does not
 * return has a mass cancel begin, exactly as at a deadline (the due queue holds the earlier of both moments).
 *
 * Bounds: {@link CONNECTIONS_MAX} connections an account; AT_START looks at every account once. Since the rules 5.
 */
import { emitResult } from '../events/emit.ts'
import { CANCEL_ALL_COMMAND, CONNECTION_OPENED, GRACE_MS_MAX } from '../layout/command.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { lacksToCancelEverything } from '../programs/grants.ts'
import { DISCONNECT, SCALAR } from '../state/columns.ts'
import { noteDeadline } from '../state/due.ts'
import { add, countConnection, disconnectRow, get, now, scalar, set, setF64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const { at } = CANCEL_ALL_COMMAND
/** Connections of one account, at most; one more is refused. */
export const CONNECTIONS_MAX = 30_000

/** True when the CANCEL_ALL at `base` is of a connection that opened. */
export const isOpening = (state: State, command: Views, base: number): boolean =>
  command.i32[base + at.afterMs] === CONNECTION_OPENED && scalar(state, SCALAR.RULES) >= 5

/**
 * A connection opened. `agent`: who signed, -1: the owner. RESULT: SWEEP_ANSWER, with nothing ended and nothing left. AGENT_NOT_ALLOWED:
 * the agent may not cancel everything. VALIDATION_ERROR: no such grace. OVERLOADED: too many connections.
 */
export function noteConnection(state: State, command: Views, base: number, account: number, agent: number): void {
  const graceMs = command.i32[base + at.fromSlot]!
  const row = disconnectRow(state, account)
  const lacking = agent < 0 ? 0 : lacksToCancelEverything(state, agent)
  let code = 0
  if (lacking !== 0) code = REFUSALS.AGENT_NOT_ALLOWED.number
  else if (graceMs < 0 || graceMs > GRACE_MS_MAX) code = REFUSALS.VALIDATION_ERROR.number
  else if (get(state, row, DISCONNECT.CONNECTIONS) >= CONNECTIONS_MAX) code = REFUSALS.OVERLOADED.number
  else {
    add(state, row, DISCONNECT.CONNECTIONS, 1)
    countConnection(state)
    set(state, row, DISCONNECT.GRACE_MS, graceMs)
    setF64(state, row, DISCONNECT.RETURN_BY, 0)
    noteDeadline(state, account)
  }
  emitResult(state, command, base, code, account, lacking, 0)
}

/** So many connections of the account do not count any more. */
export function forgetConnections(state: State, account: number, connections: number): void {
  const row = disconnectRow(state, account)
  const left = Math.max(0, get(state, row, DISCONNECT.CONNECTIONS) - Math.max(0, connections))
  set(state, row, DISCONNECT.CONNECTIONS, left)
  if (left === 0) set(state, row, DISCONNECT.GRACE_MS, 0)
}

/** True when a connection that cancels was open when the exchange stopped. */
export function hasConnections(state: State): boolean {
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    if (get(state, disconnectRow(state, account), DISCONNECT.CONNECTIONS) !== 0) return true
  }
  return false
}

/** The exchange started, and no connection is open. RESULT: how many accounts may return. */
export function endConnections(state: State, command: Views, base: number): void {
  let accounts = 0
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    const row = disconnectRow(state, account)
    if (get(state, row, DISCONNECT.CONNECTIONS) === 0) continue
    setF64(state, row, DISCONNECT.RETURN_BY, now(state) + get(state, row, DISCONNECT.GRACE_MS))
    set(state, row, DISCONNECT.CONNECTIONS, 0)
    set(state, row, DISCONNECT.GRACE_MS, 0)
    noteDeadline(state, account)
    accounts++
  }
  emitResult(state, command, base, 0, -1, accounts, 0)
}
