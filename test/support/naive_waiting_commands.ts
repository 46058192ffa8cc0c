/** Commands of orders that wait in the naive exchange, each to its file (naive_conditional.ts, naive_twap.ts). */
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { cancelConditional, expireConditional } from './naive_conditional.ts'
import { attachConditionals } from './naive_legs.ts'
import type { Ex } from './naive_terms.ts'
import { triggerStep } from './naive_triggers.ts'
import { cancelTwap, createTwap } from './naive_twap.ts'
import { twapStep } from './naive_twap_slice.ts'

/** False: it is another command. */
export function waitingCommand(ex: Ex, command: Decoded, type: number): boolean {
  if (type === CommandType.ATTACH_CONDITIONALS) attachConditionals(ex, command)
  else if (type === CommandType.CANCEL_CONDITIONAL) cancelConditional(ex, command)
  else if (type === CommandType.EXPIRE_CONDITIONAL) expireConditional(ex, command)
  else if (type === CommandType.TRIGGER_STEP) triggerStep(ex, command)
  else if (type === CommandType.CREATE_TWAP) createTwap(ex, command)
  else if (type === CommandType.CANCEL_TWAP) cancelTwap(ex, command)
  else if (type === CommandType.TWAP_STEP) twapStep(ex, command)
  else return false
  return true
}
