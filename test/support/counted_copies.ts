/** Steps of copy trading, counted with a leader whom 10,000 accounts follow, and whose one fill is mirrored to all of them. */
import { CommandType, Flag } from '../../core/layout/command.ts'
import { CopyWork, FollowField, FollowState } from '../../core/layout/copying.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { firstLead } from '../../core/margin/leads.ts'
import { COPYING } from '../../core/state/copy_rows.ts'
import { copyingRow, get } from '../../core/state/rows.ts'
import { CountedStage } from './counted_stage.ts'
import { CopyStage } from './copy_stage.ts'
import { BTC, DOLLAR } from './liquidation_stage.ts'

const FOLLOWERS = 10_000
/** Follows of one account, as many as it may have. */
const FOLLOWED = 100
/** Steps of passing by one follow. */
export const FOLLOW_LOOK = 60
export { FOLLOWED }

const handleOf = (name: string): Decoded => ({ length: name.length, handle: Buffer.from(name).toString('hex').padEnd(48, '0') })

/** Most steps of each type; `steps`: COPY_STEP commands that one fill of the leader took. */
export function countCopies(): { most: Map<number, number>; steps: number } {
  const rows = 32_768
  const stage = new CopyStage({ maxPositionSize: '1000000' }, {
    accounts: rows, sessions: rows, marginAccounts: 2 * rows, riskBuckets: rows, positions: rows, orders: rows, follows: 2 * rows,
    leaders: rows, followersPerLeader: FOLLOWERS, followsPerAccount: FOLLOWED, marginSubAccounts: FOLLOWED + 1,
  })
  stage.checks = false
  stage.deposit('lea', 900_000)
  stage.deposit('mia', 900_000)
  stage.order('mia', -800, 1001, { leverage: 200 })
  stage.order('mia', 800, 999, { leverage: 200 })
  stage.register('lea')
  for (let follower = 0; follower < FOLLOWERS; follower++) {
    stage.deposit(`f${follower}`, 100)
    const refused = stage.follow(`f${follower}`, 'lea', 100)
    if (refused !== '') throw new Error(`${follower}: ${refused}`)
  }
  const counted = new CountedStage(stage.bench)
  counted.time = stage.time
  leaders(stage, counted)
  const lea = { ...stage.signed('lea'), pair: BTC, price: 0, leverage: 500, flags: Flag.MARGIN | Flag.MARKET }
  // Of 900 lots everybody has a tenth of one: only every tenth fill is an order, and others are passed by.
  stage.send(CommandType.PLACE_ORDER, { ...lea, lots: 500 }, 1)
  let steps = 0
  for (; firstLead(stage.state) >= 0; steps++) counted.count(CommandType.COPY_STEP, { work: CopyWork.FILLS })
  return { most: counted.most, steps }
}

/** Handles, and an account with as many follows as it may have. */
function leaders(stage: CopyStage, counted: CountedStage): void {
  for (let leader = 0; leader < FOLLOWED; leader++) {
    stage.deposit(`lead${leader}`, 10)
    if (leader < FOLLOWED - 1) stage.register(`lead${leader}`)
  }
  const last = `lead${FOLLOWED - 1}`
  counted.count(CommandType.REGISTER_LEADER, { ...stage.signed(last), ...handleOf(last) })
  stage.deposit('ann', 100_000)
  for (let leader = 1; leader < FOLLOWED; leader++) stage.follow('ann', `lead${leader}`, 10)
  const ann = stage.signed('ann')
  const made = counted.count(CommandType.CREATE_FOLLOW, { ...ann, ...handleOf('lead0'), allocation: 10n * DOLLAR })
  const follow = { ...ann, follow: made['detail']!, createdSequence: made['sequence']! }
  const both = { fields: FollowField.STATE | FollowField.ALLOCATION, state: FollowState.CLOSE_ONLY, allocation: 20n * DOLLAR }
  counted.count(CommandType.UPDATE_FOLLOW, { ...follow, ...both })
  counted.count(CommandType.STOP_FOLLOW, follow)
  while (get(stage.state, copyingRow(stage.state), COPYING.FIRST_CLOSING) !== 0) {
    counted.count(CommandType.COPY_STEP, { work: CopyWork.STOPS })
  }
  counted.count(CommandType.RELEASE_LEADER, stage.signed('lead0'))
  for (const on of [0, 1]) counted.count(CommandType.SET_COPY_PROGRAM, { on })
}
