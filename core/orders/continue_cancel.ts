/**
 * CONTINUE_CANCEL: a part of a mass cancel that the sequencer goes on with, because whoever asked for it is silent
 * (sweep_rows.ts), or begins at a deadline (dead_man.ts) or after a
 * start (cancel_on_disconnect.ts).
 */
import { AT_START, CONTINUE_CANCEL_COMMAND } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { SCALAR, SWEEP } from '../state/columns.ts'
import { emitResult } from '../events/emit.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { get, getF64, scalar, sweepRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { endConnections } from './cancel_on_disconnect.ts'
import { fireDeadline } from './dead_man.ts'
import { sweepOrders } from './sweep.ts'
import { goesOnByItself, sweptBy } from './sweep_rows.ts'

const { at } = CONTINUE_CANCEL_COMMAND

/** Orders that one command ends, at most. */
export const CONTINUED_MAX = 256

/** RESULT as of a sweep, answered to nobody. NOT_FOUND: that mass cancel is over. */
export function continueCancel(state: State, command: Views, base: number): void {
  const account = command.i32[base + at.account]!
  const began = command.f64[(base + at.began) >>> 1]!
  if (command.i32[base + at.fires] === AT_START) return endConnections(state, command, base)
  const isThere = account >= 0 && account < scalar(state, SCALAR.ACCOUNTS)
  if (isThere && command.i32[base + at.fires] === 1) return fireDeadline(state, command, base, account)
  const row = isThere ? sweepRow(state, account) : -1
  // One that goes on by itself may have begun anew since this was written.
  const isMeant = row >= 0 && began !== 0 && (getF64(state, row, SWEEP.BEGAN) === began || goesOnByItself(state, account))
  if (!isMeant) {
    emitResult(state, command, base, REFUSALS.NOT_FOUND.number, -1, 0, 0)
    return
  }
  sweepOrders(state, command, base, {
    account, pair: get(state, row, SWEEP.PAIR), agent: -1, by: sweptBy(state, row), limit: CONTINUED_MAX,
    fromSlot: get(state, row, SWEEP.FROM_SLOT), fromSequence: getF64(state, row, SWEEP.FROM_SEQUENCE), heard: false,
  })
}
