/** Columns of the builder-codes program, for people: commands, answers and events (meanings.ts). */
import { BUILDER_FEE_ANSWER, BUILDER_PROGRAM_ANSWER, ENROLLMENT_ANSWER } from '../layout/answers.ts'
import { ENROLL_APPLICATION_COMMAND, SET_BUILDER_FEE_COMMAND, SET_BUILDER_PROGRAM_COMMAND, UNCHANGED } from '../layout/builder.ts'
import { CommandType } from '../layout/command.ts'
import { APPLICATION_FEE, EventType } from '../layout/event.ts'
import { IdKind } from '../layout/ids.ts'
import {
  amount, application, asset, columnsOf, decimals, hidden, madeId, order, orderFlags, pair, time, unless, user, userMadeAt, whole, yes,
  type Column, type Meaning,
} from './meanings.ts'

type Head = Readonly<Record<'kind' | 'correlation' | 'session' | 'sessionGeneration', Meaning>>
const fee = (name: string): Meaning => unless(whole(name), UNCHANGED)

/** Columns of the commands, whose heads say who signs them. */
export const builderCommandColumns = (signed: Head, own: Head) => ({
  [CommandType.SET_BUILDER_PROGRAM]: columnsOf(SET_BUILDER_PROGRAM_COMMAND, {
    ...own, capBps: whole('builderFeeCapBps'), builderFees: yes('builderFeeEnabled'), revenueSharePpm: decimals('revenueShare', 6),
    reserved: hidden,
  }),
  [CommandType.ENROLL_APPLICATION]: columnsOf(ENROLL_APPLICATION_COMMAND, {
    ...own, application, account: unless(userMadeAt('payoutUserId', 'createdSequence'), -1), createdSequence: hidden,
    active: yes('enrolled'), bps: fee('builderFeeBps'), makerBps: fee('builderMakerFeeBps'), reserved: hidden,
  }),
  [CommandType.SET_BUILDER_FEE]: columnsOf(SET_BUILDER_FEE_COMMAND, {
    ...signed, bps: whole('builderFeeBps'), makerBps: fee('builderMakerFeeBps'),
  }),
} as const)

type AnswerHead = Readonly<Record<'kind' | 'correlation' | 'sequence' | 'time' | 'code' | 'account', Meaning>>

/** Columns of their answers, when they were done. */
export const builderAnswerColumns = (head: AnswerHead): Readonly<Record<number, readonly Column[]>> => ({
  [CommandType.SET_BUILDER_PROGRAM]: columnsOf(BUILDER_PROGRAM_ANSWER, { ...head, capBps: hidden, before: whole('capBpsBefore') }),
  [CommandType.ENROLL_APPLICATION]: columnsOf(ENROLLMENT_ANSWER, { ...head, application, active: hidden }),
  [CommandType.SET_BUILDER_FEE]: columnsOf(BUILDER_FEE_ANSWER, {
    ...head, bps: hidden, previousBps: whole('previousBuilderFeeBps'), makerBps: whole('builderMakerFeeBpsNow'),
    previousMakerBps: whole('previousBuilderMakerFeeBps'), changesLeft: whole('changesRemaining'),
    nextChangeAt: time('nextChangeAllowedAt'),
  }),
})

/** The same of a change that is refused: when there is one again. */
export const builderRefusalColumns = (head: AnswerHead): Readonly<Record<number, readonly Column[]>> => ({
  [CommandType.SET_BUILDER_FEE]: columnsOf(BUILDER_FEE_ANSWER, {
    ...head, bps: hidden, previousBps: hidden, makerBps: hidden, previousMakerBps: hidden, changesLeft: hidden,
    nextChangeAt: time('nextChangeAllowedAt'),
  }),
})

export const BUILDER_EVENT_COLUMNS: Readonly<Record<number, readonly Column[]>> = {
  [EventType.APPLICATION_FEE]: columnsOf(APPLICATION_FEE, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, pair, index: madeId('tradeId', IdKind.TRADE, 'sequence'),
    orderSequence: hidden, slot: order('orderId', 'orderSequence'), flags: orderFlags(), rested: yes('isMaker'), asset: asset(),
    amount: amount('applicationFee'), charged: amount('orderApplicationFee'),
  }),
}
