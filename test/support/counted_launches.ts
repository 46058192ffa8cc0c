/** Launches that are counted (counted_stage.ts): as many as there may be, whose ids begin alike, and the last one's lease. */
import { CommandType } from '../../core/layout/command.ts'
import { LAUNCHES_MAX, LaunchPhase } from '../../core/layout/launches.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { ACCOUNT, SESSION } from '../../core/state/columns.ts'
import { accountRow, get, getF64, sessionRow } from '../../core/state/rows.ts'
import type { CountedStage } from './counted_stage.ts'

/** Steps of one launch that is looked at: two ids of ten words each, twice. */
export const LAUNCH_LOOK = 48
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')
/** All but the last word of an id are those of the others. */
const idOf = (launch: number): string => hex(`launch-of-a-market-that-is-managed-${String(launch).padStart(5, '0')}`, 40)

/** `maker` signs the claim. */
export function countLaunches(stage: CountedStage, maker: Decoded): void {
  const { state } = stage
  const account = get(state, sessionRow(state, Number(maker['session'])), SESSION.ACCOUNT)
  const createdSequence = getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)
  const end = { pair: -1, account: -1, createdSequence: 0, phase: LaunchPhase.ENDED, leaseMs: -1, generation: 0, isNew: 0 }
  const begin = { pair: 0, account, createdSequence, phase: LaunchPhase.LIVE, leaseMs: 60_000, generation: 0, isNew: 1 }
  for (let launch = 0; launch < LAUNCHES_MAX - 1; launch++) {
    stage.make(CommandType.SET_LAUNCH, { ...begin, launchId: idOf(launch) }, 0)
    stage.make(CommandType.SET_LAUNCH, { ...end, launchId: idOf(launch) }, 0)
  }
  const launchId = idOf(LAUNCHES_MAX - 1)
  stage.count(CommandType.SET_LAUNCH, { ...begin, launchId })
  stage.count(CommandType.SET_LAUNCH, { ...end, phase: -1, leaseMs: 1000, launchId })
  stage.count(CommandType.CLAIM_LEASE, { ...maker, expectedGeneration: 0, launchId, owner: hex('a-process', 64) })
}

/** Builder codes: cap, enrollment of the account, and a change of what its application adds. */
export function countBuilder(stage: CountedStage, payout: Decoded): void {
  const { state } = stage
  const account = get(state, sessionRow(state, Number(payout['session'])), SESSION.ACCOUNT)
  const createdSequence = getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE)
  const application = get(state, accountRow(state, account), ACCOUNT.APPLICATION)
  stage.count(CommandType.SET_BUILDER_PROGRAM, { capBps: 100, builderFees: 0, revenueSharePpm: 0 })
  stage.count(CommandType.ENROLL_APPLICATION, { application, account, createdSequence, active: 1, bps: 1, makerBps: 1 })
  stage.make(CommandType.SET_BUILDER_PROGRAM, { capBps: 100, builderFees: 0, revenueSharePpm: 1 }, 0)
  stage.count(CommandType.SET_BUILDER_FEE, { ...payout, bps: 2, makerBps: 2 })
  stage.make(CommandType.SET_BUILDER_PROGRAM, { capBps: 100, builderFees: 0, revenueSharePpm: 0 }, 0)
}
