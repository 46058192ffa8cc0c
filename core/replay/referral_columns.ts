/** Columns of the referral program, for people: commands, answers and events (meanings.ts). */
import { REFERRAL_SHARES_ANSWER, REWARDS_ANSWER } from '../layout/answers.ts'
import { CommandType, Flag } from '../layout/command.ts'
import { EventType } from '../layout/event.ts'
import { IdKind } from '../layout/ids.ts'
import { REFERRAL_REWARD, SET_REFERRAL_SHARES_COMMAND, TRANSFER_REWARDS_COMMAND } from '../layout/referrals.ts'
import {
  amount, asset, bits, columnsOf, decimals, hex, hidden, madeId, options, pair, unless, user, userMadeAt, whole, yes, type Column,
  type Meaning,
} from './meanings.ts'

type Head = Readonly<Record<'kind' | 'correlation' | 'session' | 'sessionGeneration', Meaning>>
const share = (name: string): Meaning => decimals(name, 6)
const SHARES = { first: share('firstLevelShare'), second: share('secondLevelShare'), third: share('thirdLevelShare') }

/** The account whose code was given, when one was. */
export const referrerRow: Meaning = unless(userMadeAt('referrerUserId', 'referrerSequence', 1), 0)

/** Columns of the commands, whose heads say who signs them. */
export const referralCommandColumns = (signed: Head, own: Head) => ({
  [CommandType.SET_REFERRAL_SHARES]: columnsOf(SET_REFERRAL_SHARES_COMMAND, { ...own, ...SHARES, reserved: hidden }),
  [CommandType.TRANSFER_REWARDS]: columnsOf(TRANSFER_REWARDS_COMMAND, {
    ...signed, asset: asset(), options, amount: amount(), key: hex('idempotencyKeyHash'), payload: hex('payloadHash'), unused2: hidden,
  }),
} as const)

type AnswerHead = Readonly<Record<'kind' | 'correlation' | 'sequence' | 'time' | 'code' | 'account', Meaning>>

/** Columns of their answers, when they were done. */
export const referralAnswerColumns = (head: AnswerHead): Readonly<Record<number, readonly Column[]>> => ({
  [CommandType.SET_REFERRAL_SHARES]: columnsOf(REFERRAL_SHARES_ANSWER, {
    ...head, before: share('firstLevelShareBefore'), first: hidden, second: hidden, third: hidden,
  }),
  [CommandType.TRANSFER_REWARDS]: columnsOf(REWARDS_ANSWER, {
    ...head, asset: hidden, flags: bits({ REPEATED: Flag.REPEATED }, 'flags'), transferSequence: whole('transferSequence'),
  }),
})

export const REFERRAL_EVENT_COLUMNS: Readonly<Record<number, readonly Column[]>> = {
  [EventType.REFERRAL_REWARD]: columnsOf(REFERRAL_REWARD, {
    kind: hidden, account: user(), sequence: hidden, time: hidden, pair, index: madeId('tradeId', IdKind.TRADE, 'sequence'),
    source: user('sourceUserId'), asset: asset(), rested: yes('isMaker'), income: amount('income'),
    first: unless(user('firstReferrerId'), -1), second: unless(user('secondReferrerId'), -1), third: unless(user('thirdReferrerId'), -1),
    firstAmount: amount('firstReward'), secondAmount: amount('secondReward'), thirdAmount: amount('thirdReward'),
  }),
}
