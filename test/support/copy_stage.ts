/**
 * Copy trading on perpetuals of which one lot at one tick is one dollar: WaitingStage with leaders and followers. `told` are events as
 * text: of a follow who, state, reason, lots and refusal; of a leader who, state and reason.
 */
import { CommandType, Flag } from '../../core/layout/command.ts'
import {
  FOLLOW_REASON_NAMES, FOLLOW_STATE_NAMES, FollowField, FollowState, followReasonOf, followStateOf, LEADER_REASON_NAMES,
  LEADER_STATE_NAMES, leaderReasonOf, leaderStateOf,
} from '../../core/layout/copying.ts'
import { refusalByNumber } from '../../core/layout/refusals.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { findPosition } from '../../core/margin/positions.ts'
import { bucketOfFollow } from '../../core/orders/copy_orders.ts'
import { paceCopies } from '../../core/sequencer/copy_timers.ts'
import { COPY_ACCOUNT, FOLLOW } from '../../core/state/copy_rows.ts'
import { POSITION } from '../../core/state/margin_rows.ts'
import { copyAccountRow, followRow, get, getF64 } from '../../core/state/rows.ts'
import { BTC, DOLLAR } from './liquidation_stage.ts'
import { WaitingStage } from './waiting_stage.ts'

const STATES: readonly string[] = [...FOLLOW_STATE_NAMES, ...LEADER_STATE_NAMES]
const hexOf = (text: string): string => Buffer.from(text).toString('hex').padEnd(48, '0')

export class CopyStage extends WaitingStage {
  private readonly people = new Map<number, string>()

  override account(name: string): number {
    const account = super.account(name)
    this.people.set(account, name)
    return account
  }

  /** The code of the refusal, '' when it was done. */
  ask(type: CommandType, name: string, values: Decoded = {}): string {
    return WaitingStage.codeOf(this.events(type, { ...this.signed(name), ...values }, 1))
  }

  register(name: string, handle = name): string {
    return this.ask(CommandType.REGISTER_LEADER, name, { length: handle.length, handle: hexOf(handle) })
  }

  release(name: string): string {
    return this.ask(CommandType.RELEASE_LEADER, name)
  }

  follow(name: string, handle: string, dollars: number, over: Decoded = {}): string {
    return this.ask(CommandType.CREATE_FOLLOW, name, {
      length: handle.length, handle: hexOf(handle), mode: 0, maxLeverage: 0, allocation: BigInt(dollars) * DOLLAR, ...over,
    })
  }

  /** Row of the newest follow of somebody. */
  followOf(name: string): number {
    return followRow(this.state, get(this.state, copyAccountRow(this.state, this.account(name)), COPY_ACCOUNT.FIRST_FOLLOW) - 1)
  }

  private named(name: string): Decoded {
    const row = get(this.state, copyAccountRow(this.state, this.account(name)), COPY_ACCOUNT.FIRST_FOLLOW) - 1
    return { follow: row, createdSequence: row < 0 ? 0 : getF64(this.state, followRow(this.state, row), FOLLOW.CREATED_SEQUENCE) }
  }

  closeOnly(name: string, on = true): string {
    const state = on ? FollowState.CLOSE_ONLY : FollowState.ACTIVE
    return this.ask(CommandType.UPDATE_FOLLOW, name, { ...this.named(name), fields: FollowField.STATE, state })
  }

  allocate(name: string, dollars: number): string {
    const values = { fields: FollowField.ALLOCATION, state: FollowState.ACTIVE, allocation: BigInt(dollars) * DOLLAR }
    return this.ask(CommandType.UPDATE_FOLLOW, name, { ...this.named(name), ...values })
  }

  stop(name: string): string {
    return this.ask(CommandType.STOP_FOLLOW, name, this.named(name))
  }

  /** The operator's switch. */
  switch(on: boolean): void {
    this.send(CommandType.SET_COPY_PROGRAM, { on: on ? 1 : 0 })
  }

  /** Lots of the copy position of somebody's newest follow. */
  copied(name: string, pair = BTC): number {
    const position = findPosition(this.state, bucketOfFollow(this.state, this.followOf(name), pair), pair)
    return position < 0 ? 0 : get(this.state, position, POSITION.LOTS)
  }

  /** A MARKET order: positive lots buy. */
  market(name: string, lots: number, over: Decoded = {}, pair = BTC): string {
    const flags = Flag.MARGIN | Flag.MARKET | (lots < 0 ? Flag.SELL : 0) | Number(over['flags'] ?? 0)
    return this.ask(CommandType.PLACE_ORDER, name, { pair, price: 0, lots: Math.abs(lots), leverage: 500, ...over, flags })
  }

  /** Commits take so many seconds from now on. */
  commits(seconds: number): void {
    for (let commit = 0; commit < 2; commit++) paceCopies(this.all.copies, seconds)
  }

  /** What is told of follows and leaders until nothing is left to do. */
  mirrored(): string[] {
    return this.settleDown().told.filter((told) => STATES.includes(told.split(' ')[1]!))
  }

  override toldOf(events: readonly Decoded[]): string[] {
    return events.flatMap((event) => {
      const name = this.people.get(Number(event['account'])) ?? String(event['account'])
      const [what, code] = [Number(event['what']), Number(event['code'] ?? 0)]
      const refusal = code === 0 ? [] : [refusalByNumber(code).code]
      if (event['event'] === 'FOLLOW') {
        const lots = event['pair'] === -1 || event['lots'] === 0 ? [] : [String(event['lots'])]
        return [[name, FOLLOW_STATE_NAMES[followStateOf(what)], FOLLOW_REASON_NAMES[followReasonOf(what)], ...lots, ...refusal].join(' ')]
      }
      if (event['event'] === 'LEADER') {
        return [[name, LEADER_STATE_NAMES[leaderStateOf(what)], LEADER_REASON_NAMES[leaderReasonOf(what)]].join(' ')]
      }
      return super.toldOf([event])
    })
  }
}
