/** Columns of launches and their leases, for people: commands and answers (meanings.ts). */
import { LEASE_ANSWER, LEASE_REFUSAL } from '../layout/answers.ts'
import { CommandType } from '../layout/command.ts'
import { CLAIM_LEASE_COMMAND, LAUNCH_PHASE_NAMES, SET_LAUNCH_COMMAND } from '../layout/launches.ts'
import { REFUSALS } from '../layout/refusals.ts'
import {
  columnsOf, hidden, named, pair, text, time, unless, userMadeAt, whenRefused, whole, yes, type Column, type Meaning,
} from './meanings.ts'

type Head = Readonly<Record<'kind' | 'correlation' | 'session' | 'sessionGeneration', Meaning>>
type AnswerHead = Readonly<Record<'kind' | 'correlation' | 'sequence' | 'time' | 'code' | 'account', Meaning>>

/** What a change leaves as it is is told by its answer. */
const phase: Meaning = unless(named(LAUNCH_PHASE_NAMES), -1)

export const launchCommandColumns = (signed: Head, own: Head) => ({
  [CommandType.SET_LAUNCH]: columnsOf(SET_LAUNCH_COMMAND, {
    ...own, pair, account: unless(userMadeAt('userId', 'createdSequence'), -1), phase, leaseMs: whole(undefined, -1),
    createdSequence: hidden, generation: whole(), isNew: yes('newLaunch'), reserved: hidden, launchId: text(),
  }),
  [CommandType.CLAIM_LEASE]: columnsOf(CLAIM_LEASE_COMMAND, {
    ...signed, expectedGeneration: whole(), launchId: text(), owner: text('ownerId'),
  }),
} as const)

/** Columns of their answers, when they were done. */
export function launchAnswerColumns(head: AnswerHead): Readonly<Record<number, readonly Column[]>> {
  const lease = columnsOf(LEASE_ANSWER, {
    ...head, pair, launch: hidden, phase, leaseMs: whole(), generation: whole(), quoteRevision: whole(), leaseEndsAt: time(),
  })
  return { [CommandType.SET_LAUNCH]: lease, [CommandType.CLAIM_LEASE]: lease }
}

export const leaseRefusalColumns = (head: AnswerHead, lacking: Meaning): readonly Column[] => columnsOf(LEASE_REFUSAL, {
  ...head, lacking, generation: whenRefused(whole(), REFUSALS.LEASE_CONFLICT.number),
})
