/** Writers of the events of copy trading (layout/copying.ts), as emit.ts writes the others. Rows are named by their addresses. */
import { FOLLOW_CHANGED, HANDLE_WORDS, LEADER_CHANGED } from '../layout/copying.ts'
import { EventType } from '../layout/event.ts'
import { clearFrom, write, writeF64, writeI64 } from '../layout/record.ts'
import { FOLLOW, LEADER } from '../state/copy_rows.ts'
import { MARGIN_ACCOUNT } from '../state/margin_rows.ts'
import { nextRecord } from '../state/outbox.ts'
import { followAt, get, getF64, getI64, leaderAt, leaderRow, marginAccountRow, now, sequence } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** LEADER of the one at `row`, for a LeaderReason. */
export function emitLeader(state: State, row: number, reason: number): void {
  const { outbox } = state
  const at = nextRecord(outbox)
  write(outbox, at, LEADER_CHANGED.at.kind, EventType.LEADER)
  write(outbox, at, LEADER_CHANGED.at.account, get(state, row, LEADER.ACCOUNT))
  writeF64(outbox, at, LEADER_CHANGED.at.sequence, sequence(state))
  writeF64(outbox, at, LEADER_CHANGED.at.time, now(state))
  writeF64(outbox, at, LEADER_CHANGED.at.createdSequence, getF64(state, row, LEADER.CREATED_SEQUENCE))
  write(outbox, at, LEADER_CHANGED.at.leader, leaderAt(state, row))
  write(outbox, at, LEADER_CHANGED.at.what, get(state, row, LEADER.STATE) | (reason << 8))
  write(outbox, at, LEADER_CHANGED.at.followers, get(state, row, LEADER.FOLLOWERS))
  write(outbox, at, LEADER_CHANGED.at.length, get(state, row, LEADER.LENGTH))
  for (let word = 0; word < HANDLE_WORDS; word++) write(outbox, at, LEADER_CHANGED.at.handle + word, get(state, row, LEADER.HANDLE + word))
  clearFrom(outbox, at, LEADER_CHANGED.words)
}

/**
 * FOLLOW of the one at `row`, for a FollowReason. `pair`, -1: none; lots, signed; slot of an order, -1: none; number of a refusal.
 * The place of the event.
 */
export function emitFollow(state: State, row: number, reason: number, pair: number, lots: number, slot: number, code: number): number {
  const { outbox } = state
  const leader = leaderRow(state, get(state, row, FOLLOW.LEADER))
  const margin = get(state, row, FOLLOW.MARGIN_ACCOUNT)
  const at = nextRecord(outbox)
  write(outbox, at, FOLLOW_CHANGED.at.kind, EventType.FOLLOW)
  write(outbox, at, FOLLOW_CHANGED.at.account, get(state, row, FOLLOW.ACCOUNT))
  writeF64(outbox, at, FOLLOW_CHANGED.at.sequence, sequence(state))
  writeF64(outbox, at, FOLLOW_CHANGED.at.time, now(state))
  writeF64(outbox, at, FOLLOW_CHANGED.at.createdSequence, getF64(state, row, FOLLOW.CREATED_SEQUENCE))
  write(outbox, at, FOLLOW_CHANGED.at.follow, followAt(state, row))
  write(outbox, at, FOLLOW_CHANGED.at.what, get(state, row, FOLLOW.STATE) | (reason << 8))
  write(outbox, at, FOLLOW_CHANGED.at.leaderAccount, get(state, leader, LEADER.ACCOUNT))
  write(outbox, at, FOLLOW_CHANGED.at.leader, get(state, row, FOLLOW.LEADER))
  writeF64(outbox, at, FOLLOW_CHANGED.at.leaderSequence, getF64(state, leader, LEADER.CREATED_SEQUENCE))
  writeI64(outbox, at, FOLLOW_CHANGED.at.allocation, getI64(state, row, FOLLOW.ALLOCATION))
  write(outbox, at, FOLLOW_CHANGED.at.marginAccount, margin)
  write(outbox, at, FOLLOW_CHANGED.at.mode, get(state, row, FOLLOW.MODE))
  writeF64(outbox, at, FOLLOW_CHANGED.at.marginSequence, getF64(state, marginAccountRow(state, margin), MARGIN_ACCOUNT.CREATED_SEQUENCE))
  write(outbox, at, FOLLOW_CHANGED.at.maxLeverage, get(state, row, FOLLOW.MAX_LEVERAGE))
  write(outbox, at, FOLLOW_CHANGED.at.pair, pair)
  write(outbox, at, FOLLOW_CHANGED.at.lots, lots)
  write(outbox, at, FOLLOW_CHANGED.at.orderSlot, slot)
  write(outbox, at, FOLLOW_CHANGED.at.code, code)
  clearFrom(outbox, at, FOLLOW_CHANGED.at.reference)
  return at
}

/** What the order of a FOLLOW at `at` cost: hundredths of a basis point more than at the reference, in ticks. */
export function addSlippage(state: State, at: number, reference: number, slippage: number): void {
  write(state.outbox, at, FOLLOW_CHANGED.at.reference, reference)
  write(state.outbox, at, FOLLOW_CHANGED.at.slippage, slippage)
}
