/** Commands of copy trading, each to its handler; what is none goes on to money in and out. */
import { CommandType } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { copyStep } from '../orders/copy_step.ts'
import { setCopyProgram } from '../programs/copy_program.ts'
import { createFollow, stopFollow, updateFollow } from '../programs/follows.ts'
import { registerLeader, releaseLeader } from '../programs/leaders.ts'
import type { State } from '../state/state.ts'
import { applyVault } from './apply_vault.ts'

export function applyCopying(state: State, command: Views, base: number, type: number): void {
  switch (type) {
    case CommandType.COPY_STEP:
      return copyStep(state, command, base)
    case CommandType.REGISTER_LEADER:
      return registerLeader(state, command, base)
    case CommandType.RELEASE_LEADER:
      return releaseLeader(state, command, base)
    case CommandType.CREATE_FOLLOW:
      return createFollow(state, command, base)
    case CommandType.UPDATE_FOLLOW:
      return updateFollow(state, command, base)
    case CommandType.STOP_FOLLOW:
      return stopFollow(state, command, base)
    case CommandType.SET_COPY_PROGRAM:
      return setCopyProgram(state, command, base)
    default:
      return applyVault(state, command, base, type)
  }
}
