/** Commands of random streams (workload.ts, workload_margin.ts) that come from the operator's lane or from the sequencer itself. */
import { CommandType } from '../../core/layout/command.ts'
import { BUILDER_COMMANDS } from './naive_builder.ts'
import { REFERRAL_COMMANDS } from './naive_referrals.ts'
import { VAULT_COMMANDS } from './naive_vault.ts'
import { LISTING_COMMANDS } from './naive_listing.ts'
import { POLICY_COMMANDS } from './naive_policy.ts'
import { LAUNCH_COMMANDS } from './workload_launches.ts'
import { OPERATORS } from './workload_margin_operator.ts'
import { WAITING_STEPS } from './workload_waiting.ts'

const PROGRAMS: ReadonlySet<CommandType> = new Set([...BUILDER_COMMANDS, ...REFERRAL_COMMANDS, ...VAULT_COMMANDS])
export const isOfFirstLane = (type: CommandType): boolean =>
  [POLICY_COMMANDS, LISTING_COMMANDS, WAITING_STEPS, LAUNCH_COMMANDS, PROGRAMS].some((commands) => commands.has(type))
export const isOfMarginFirstLane = (type: CommandType): boolean =>
  OPERATORS.has(type) || PROGRAMS.has(type) || type === CommandType.COPY_STEP || type === CommandType.SET_COPY_PROGRAM
