/**
 * The programs in which every fill of the core's flow takes part: builder fees of both sides, as commands, and referrers of everybody,
 * three levels of them. Switched off they are as many commands, so that both states give the flow's orders the same sequences. The revenue
 * share is off: it takes the same way as a builder fee.
 */
import { apply } from '../../core/engine/apply.ts'
import { UNCHANGED } from '../../core/layout/builder.ts'
import { COMMAND_LAYOUTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { EventType, eventTypeOf, RESULT } from '../../core/layout/event.ts'
import { encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { REFERRAL_REWARD } from '../../core/layout/referrals.ts'
import { ACCOUNT } from '../../core/state/columns.ts'
import { linkReferral } from '../../core/state/referral_links.ts'
import { accountRow, getF64 } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { benchGenesis, fundedState, poolOf, type Flow } from './flow.ts'

const CAP_BPS = 20
const TAKER_BPS = 10
const MAKER_BPS = 5

const record = viewsOf(new ArrayBuffer(RECORD_BYTES))

/** Of lane 0; a refusal ends the bench. */
function send(state: State, type: CommandType, values: Decoded): void {
  encode(COMMAND_LAYOUTS[type]!, record, 0, { kind: kindOf(type, 1, 0), session: -1, ...values })
  apply(state, record, 0)
  const code = state.outbox.i32[(state.outbox.count - 1) * RECORD_WORDS + RESULT.at.code]!
  if (code !== 0) throw new Error(`command ${type} was refused: ${code}`)
  state.outbox.count = 0
}

/** Programs of a state with `accounts` funded accounts, on or off. The last account is the payout wallet, and trades like all others. */
export function stagePrograms(state: State, accounts: number, on: boolean): void {
  send(state, CommandType.SET_BUILDER_PROGRAM, { capBps: CAP_BPS, builderFees: on ? 1 : 0, revenueSharePpm: 0 })
  const account = accounts - 1
  const payout = { account, createdSequence: getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) }
  const fees = on ? { active: 1, bps: TAKER_BPS, makerBps: MAKER_BPS } : { active: 1, bps: UNCHANGED, makerBps: UNCHANGED }
  send(state, CommandType.ENROLL_APPLICATION, { application: 0, ...payout, ...fees })
  // Each account was brought by the one before it.
  for (let brought = 1; on && brought < accounts; brought++) linkReferral(state, brought, brought - 1)
}

/** What others than the house got of each fill of the first `commands` of a flow, on the average: how many of each. */
export function sharesOf(flow: Flow, live: number, commands: number): { applicationFees: number; rewards: number } {
  const state = fundedState(benchGenesis(poolOf(live), flow.accounts, flow.genesis.limits.perps > 0), flow.accounts)
  stagePrograms(state, flow.accounts, true)
  const { outbox } = state
  let [fills, applicationFees, rewards] = [0, 0, 0]
  for (let command = 0; command < flow.build + commands; command++) {
    apply(state, flow.records, command * RECORD_WORDS)
    for (let event = 0; event < outbox.count; event++) {
      const at = event * RECORD_WORDS
      const type = eventTypeOf(outbox.u32[at]!)
      if (type === EventType.FILL) fills++
      else if (type === EventType.APPLICATION_FEE) applicationFees++
      else if (type === EventType.REFERRAL_REWARD && outbox.i32[at + REFERRAL_REWARD.at.third]! >= 0) rewards++
    }
    outbox.count = 0
  }
  return { applicationFees: applicationFees / fills, rewards: rewards / fills }
}
