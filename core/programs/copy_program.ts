/**
 * Copy trading as a whole, which the operator switches off and on; it is on at first.
 *
 * While it is off nobody gets a handle, begins to follow, or makes a follow copy more (COPY_TRADING_OFF), and of what leaders do only what
 * reduces is mirrored, as to a CLOSE_ONLY follow: so nobody is left alone with a copy whose leader is out. What leaders open meanwhile is
 * left out, which follows tell (SKIPPED), and it is not made up for afterwards. Releases, smaller follows, stops and closes are never gated
 * (specification, Copy trading).
 */
import { SETTING_ANSWER } from '../layout/answers.ts'
import { SET_COPY_PROGRAM_COMMAND } from '../layout/copying.ts'
import { read, write } from '../layout/record.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { SCALAR } from '../state/columns.ts'
import { scalar, setScalar } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { laneRefusal } from './policy.ts'

export const isCopyingOff = (state: State): boolean => scalar(state, SCALAR.COPY_TRADING_OFF) !== 0

/** Switches it. SETTING_ANSWER: 1 on, 0 off. OPERATOR_ONLY. */
export function setCopyProgram(state: State, command: Views, base: number): void {
  const code = laneRefusal(command, base)
  if (code !== 0) {
    emitResult(state, command, base, code, -1, 0, 0)
    return
  }
  const before = isCopyingOff(state) ? 0 : 1
  const on = read(command, base, SET_COPY_PROGRAM_COMMAND.at.on) === 0 ? 0 : 1
  setScalar(state, SCALAR.COPY_TRADING_OFF, 1 - on)
  const at = emitResult(state, command, base, 0, -1, on, before)
  write(state.outbox, at, SETTING_ANSWER.at.pair, -1)
}
