/** Commands of random streams (workload.ts, workload_margin.ts) that come from the operator's lane or from the sequencer itself. */
import type { CommandType } from '../../core/layout/command.ts'
import { BUILDER_COMMANDS } from './naive_builder.ts'
import { LISTING_COMMANDS } from './naive_listing.ts'
import { POLICY_COMMANDS } from './naive_policy.ts'
import { LAUNCH_COMMANDS } from './workload_launches.ts'
import { WAITING_STEPS } from './workload_waiting.ts'

export const isOfFirstLane = (type: CommandType): boolean =>
  [POLICY_COMMANDS, LISTING_COMMANDS, WAITING_STEPS, LAUNCH_COMMANDS, BUILDER_COMMANDS].some((commands) => commands.has(type))
