/** Commands of orders that wait, and of launches, each to its handler. */
import { CommandType } from '../layout/command.ts'
import type { Views } from '../layout/table.ts'
import { attachConditionals, cancelConditional, expireConditional } from '../orders/conditional.ts'
import { triggerStep } from '../orders/trigger_step.ts'
import { cancelTwap, createTwap } from '../orders/twap.ts'
import { twapStep } from '../orders/twap_slice.ts'
import { claimLease, setLaunch } from '../programs/launches.ts'
import type { State } from '../state/state.ts'
import { applyCopying } from './apply_copying.ts'

export function applyWaiting(state: State, command: Views, base: number, type: number): void {
  switch (type) {
    case CommandType.TRIGGER_STEP:
      return triggerStep(state, command, base)
    case CommandType.TWAP_STEP:
      return twapStep(state, command, base)
    case CommandType.ATTACH_CONDITIONALS:
      return attachConditionals(state, command, base)
    case CommandType.CANCEL_CONDITIONAL:
      return cancelConditional(state, command, base)
    case CommandType.EXPIRE_CONDITIONAL:
      return expireConditional(state, command, base)
    case CommandType.CREATE_TWAP:
      return createTwap(state, command, base)
    case CommandType.CANCEL_TWAP:
      return cancelTwap(state, command, base)
    case CommandType.SET_LAUNCH:
      return setLaunch(state, command, base)
    case CommandType.CLAIM_LEASE:
      return claimLease(state, command, base)
    default:
      return applyCopying(state, command, base, type)
  }
}
