/** Commands of the operator and of the sequencer, which random streams put into the first lane. */
import type { CommandType } from '../../core/layout/command.ts'
import { BUILDER_COMMANDS } from './naive_builder.ts'
import { LISTING_COMMANDS } from './naive_listing.ts'
import { POLICY_COMMANDS } from './naive_policy.ts'
import { OPERATORS } from './workload_margin_operator.ts'
import { WAITING_STEPS } from './workload_waiting.ts'

/** Those of spot trading, and those of margin trading. */
export const FIRST_LANE: ReadonlySet<CommandType> =
  new Set([...POLICY_COMMANDS, ...LISTING_COMMANDS, ...WAITING_STEPS, ...BUILDER_COMMANDS])
export const MARGIN_FIRST_LANE: ReadonlySet<CommandType> = new Set([...OPERATORS, ...BUILDER_COMMANDS])
