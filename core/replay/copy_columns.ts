/** Columns of copy trading, for people: commands, answers and events (meanings.ts). */
import { FOLLOW_ANSWER, LEADER_ANSWER, SETTING_ANSWER } from '../layout/answers.ts'
import { CommandType } from '../layout/command.ts'
import {
  COPY_STEP_COMMAND, CopyWork, CREATE_FOLLOW_COMMAND, FOLLOW_CHANGED, FOLLOW_REASON_NAMES, FOLLOW_STATE_NAMES, FollowField,
  LEADER_CHANGED, LEADER_REASON_NAMES, LEADER_STATE_NAMES, REGISTER_LEADER_COMMAND, RELEASE_LEADER_COMMAND,
  SET_COPY_PROGRAM_COMMAND, STOP_FOLLOW_COMMAND, UPDATE_FOLLOW_COMMAND,
} from '../layout/copying.ts'
import { EventType } from '../layout/event.ts'
import { IdKind } from '../layout/ids.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { MARGIN_MODE_NAMES } from '../state/margin_rows.ts'
import {
  bits, both, columnsOf, decimals, given, hidden, madeId, named, order, pair, price, quantity, text, unless, user, whole, yes,
  type Column, type Meaning,
} from './meanings.ts'

const follow = madeId('followId', IdKind.FOLLOW, 'createdSequence')
const maxLeverage = decimals('maxLeverage', 2, 0n)
/** Number of a refusal. */
const refusal: Meaning = unless(
  named(Object.fromEntries(Object.values(REFUSALS).map(({ code, number }) => [code, number])), 'refusal'), 0,
)

type Head = Readonly<Record<'kind' | 'correlation' | 'session' | 'sessionGeneration', Meaning>>

/** Columns of the commands, whose heads say who signs them. */
export const copyCommandColumns = (signed: Head, own: Head) => ({
  [CommandType.REGISTER_LEADER]: columnsOf(REGISTER_LEADER_COMMAND, { ...signed, length: hidden, reserved: hidden, handle: text() }),
  [CommandType.RELEASE_LEADER]: columnsOf(RELEASE_LEADER_COMMAND, signed),
  [CommandType.CREATE_FOLLOW]: columnsOf(CREATE_FOLLOW_COMMAND, {
    ...signed, length: hidden, mode: named(MARGIN_MODE_NAMES, 'marginMode'), handle: text(), allocation: whole('allocationAtoms'),
    maxLeverage, reserved: hidden,
  }),
  [CommandType.UPDATE_FOLLOW]: columnsOf(UPDATE_FOLLOW_COMMAND, {
    ...signed, follow, fields: bits(FollowField), createdSequence: hidden, state: named(FOLLOW_STATE_NAMES), reserved: hidden,
    allocation: given(whole('allocationAtoms'), 'fields', FollowField.ALLOCATION),
  }),
  [CommandType.STOP_FOLLOW]: columnsOf(STOP_FOLLOW_COMMAND, { ...signed, follow, reserved: hidden, createdSequence: hidden }),
  [CommandType.COPY_STEP]: columnsOf(COPY_STEP_COMMAND, { ...own, work: named(CopyWork), reserved: hidden }),
  [CommandType.SET_COPY_PROGRAM]: columnsOf(SET_COPY_PROGRAM_COMMAND, { ...own, on: yes('copyTradingEnabled'), reserved: hidden }),
} as const)

type AnswerHead = Readonly<Record<'kind' | 'correlation' | 'sequence' | 'time' | 'code' | 'account', Meaning>>

/** Columns of their answers, when they were done. */
export function copyAnswerColumns(head: AnswerHead): Readonly<Record<number, readonly Column[]>> {
  const leader = columnsOf(LEADER_ANSWER, { ...head, leader: whole('leaderRow'), createdSequence: hidden })
  const followed = columnsOf(FOLLOW_ANSWER, { ...head, follow, state: named(FOLLOW_STATE_NAMES), createdSequence: hidden })
  return {
    [CommandType.REGISTER_LEADER]: leader, [CommandType.RELEASE_LEADER]: leader, [CommandType.CREATE_FOLLOW]: followed,
    [CommandType.UPDATE_FOLLOW]: followed, [CommandType.STOP_FOLLOW]: followed,
    [CommandType.SET_COPY_PROGRAM]: columnsOf(SETTING_ANSWER, { ...head, pair: hidden, now: hidden, before: yes('copyTradingWasEnabled') }),
  }
}

export const COPY_EVENT_COLUMNS: Readonly<Record<number, readonly Column[]>> = {
  [EventType.FOLLOW]: columnsOf(FOLLOW_CHANGED, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, createdSequence: hidden, follow,
    what: both(named(FOLLOW_STATE_NAMES, 'state', 0, 0xff), named(FOLLOW_REASON_NAMES, 'reason', 8, 0xff)),
    leaderAccount: user('leaderId'), leader: hidden, leaderSequence: hidden, allocation: whole('allocationAtoms'),
    marginAccount: madeId('marginAccountId', IdKind.MARGIN_ACCOUNT, 'marginSequence'), mode: named(MARGIN_MODE_NAMES, 'marginMode'),
    marginSequence: hidden, maxLeverage, pair, lots: unless(quantity('signedQuantity'), 0),
    orderSlot: unless(order('orderId', 'sequence'), -1), code: refusal,
    reference: unless(price('referencePrice'), 0), slippage: decimals('slippageBps', 2, 0n), reserved: hidden,
  }),
  [EventType.LEADER]: columnsOf(LEADER_CHANGED, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, createdSequence: hidden, leader: whole('leaderRow'),
    what: both(named(LEADER_STATE_NAMES, 'state', 0, 0xff), named(LEADER_REASON_NAMES, 'reason', 8, 0xff)),
    followers: whole(), length: hidden, handle: text(),
  }),
}
