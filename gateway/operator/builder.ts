/**
 * The builder-codes program, for an operator: its cap and switches, and which applications take part. Each change is one command of lane 0
 * (core/programs/builder.ts).
 */
import Type from 'typebox'
import {
  BUILDER_CAP_MOST_BPS, ENROLL_APPLICATION_COMMAND, SET_BUILDER_PROGRAM_COMMAND, UNCHANGED,
} from '../../core/layout/builder.ts'
import { CommandType } from '../../core/layout/command.ts'
import { applicationId, IdKind, parseId, userId } from '../../core/layout/ids.ts'
import { PPM_DIGITS, ppmText, shareOf } from '../../core/lib/ppm.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { readBuilderProgram } from '../../core/view/builder.ts'
import * as fields from '../operations/fields.ts'
import { Decimal, Nullable, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { findApplication, notFound } from './applications.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'
import { printable, table } from './text.ts'

const EXAMPLE_ID = applicationId(1042, 1)
const EXAMPLE_USER = userId(977, 3)
const bps = (what: string) => field(Type.Integer({ minimum: 0, maximum: BUILDER_CAP_MOST_BPS }), what)
const share = (what: string) => field(Decimal, what)

const Program = {
  builderFeeCapBps: bps('Most that an application may add for a side, in basis points.'),
  builderFeeEnabled: field(Type.Boolean(), 'Whether orders that are placed get what their application adds.'),
  revenueShare: share('Part of the net fee income of each fill that goes to the application of whoever paid it, 0 to 1; 0: none.'),
}

const Enrolled = Type.Object({
  id: field(Uuid, 'The application.'), clientId: field(Type.String(), 'Its client id.'),
  enrolled: field(Type.Boolean(), 'Whether it takes part.'),
  payoutUserId: field(Nullable(Uuid), 'Who gets its fees; null: nobody ever did.'),
  builderFeeBps: bps('What it adds for takers.'), builderMakerFeeBps: bps('What it adds for makers.'),
})

const payoutOf = ({ state }: OperatorContext, account: number): string | null =>
  (account < 0 ? null : userId(readAccount(state, account).createdSequence, account))

export const ShowBuilderProgram = operatorRoute({
  method: 'GET', path: '/builder', token: true,
  summary: 'The builder-codes program and the applications',
  description: 'Cap, switches and share, and of every application whether it takes part and what it adds.',
  output: Type.Object({ ...Program, applications: field(Type.Array(Enrolled), 'Every application.') }),
  refusals: [],
  example: {
    input: {},
    output: {
      builderFeeCapBps: 100, builderFeeEnabled: true, revenueShare: '0.1',
      applications: [{
        id: EXAMPLE_ID, clientId: 'desk', enrolled: true, payoutUserId: EXAMPLE_USER, builderFeeBps: 5, builderMakerFeeBps: 1,
      }],
    },
  },
  commands: [{
    name: 'builder show',
    purpose: 'the builder-codes program and the applications',
    explains: 'TAKER and MAKER are what an application adds, in basis points; what is above the cap counts as the cap.',
    example: [
      'builder show',
      'cap 100 bps, builder fees on, revenue share 0.1\n'
        + `CLIENT ID  ENROLLED  TAKER  MAKER  PAYOUT USER\ndesk       yes           5      1  ${EXAMPLE_USER}`,
    ],
    show: ({ builderFeeCapBps, builderFeeEnabled, revenueShare, applications }) => [
      `cap ${builderFeeCapBps} bps, builder fees ${builderFeeEnabled ? 'on' : 'off'}, revenue share ${revenueShare}`,
      table(
        ['CLIENT ID', 'ENROLLED', 'TAKER', 'MAKER', 'PAYOUT USER'],
        applications.map((each) => [
          printable(each.clientId), each.enrolled ? 'yes' : 'no', each.builderFeeBps, each.builderMakerFeeBps, each.payoutUserId ?? 'none',
        ]),
      ),
    ].join('\n'),
  }],
  run: (context) => {
    const { capBps, feesOn, revenueSharePpm } = readBuilderProgram(context.state)
    return {
      builderFeeCapBps: capBps, builderFeeEnabled: feesOn, revenueShare: ppmText(revenueSharePpm),
      applications: context.applications.list().map((each) => ({
        id: each.id, clientId: each.clientId, enrolled: each.isEnrolled, payoutUserId: payoutOf(context, each.payoutAccount),
        builderFeeBps: each.builderFeeBps, builderMakerFeeBps: each.builderMakerFeeBps,
      })),
    }
  },
})

export const SetBuilderProgram = operatorRoute({
  method: 'POST', path: '/builder', token: true,
  summary: 'Cap, switch and share of the builder-codes program',
  description: 'What is not given stays. In force for orders placed from now on; the share for fills from now on.',
  body: Type.Object({
    capBps: Type.Optional(Program.builderFeeCapBps), builderFees: Type.Optional(Program.builderFeeEnabled),
    revenueShare: Type.Optional(Program.revenueShare),
  }),
  output: Type.Object({ ...Program, sequence: fields.sequence }),
  refusals: [...SENDS],
  example: {
    input: { capBps: 100, builderFees: true, revenueShare: '0.1' },
    output: { builderFeeCapBps: 100, builderFeeEnabled: true, revenueShare: '0.1', sequence: 1042 },
  },
  commands: [{
    name: 'builder set',
    options: [
      { field: 'capBps', typed: 'BPS', option: 'cap' }, { field: 'builderFees', typed: 'true|false', option: 'fees' },
      { field: 'revenueShare', typed: 'SHARE', option: 'share' },
    ],
    purpose: 'cap, switch and share of the builder-codes program',
    explains: `--cap: most that an application may add for a side, 0 to ${BUILDER_CAP_MOST_BPS} basis points. --fees: whether orders get\n`
      + 'what their application adds. --share: part of the net fee income of each fill that goes to the application of whoever paid\n'
      + 'it, 0 to 1. What is not given stays.',
    example: [
      'builder set --cap 100 --fees true --share 0.1',
      'cap 100 bps, builder fees on, revenue share 0.1 (sequence 1042)',
    ],
    show: ({ builderFeeCapBps, builderFeeEnabled, revenueShare, sequence }) =>
      `cap ${builderFeeCapBps} bps, builder fees ${builderFeeEnabled ? 'on' : 'off'}, revenue share ${revenueShare} (sequence ${sequence})`,
  }],
  run: (context, given) => {
    const now = readBuilderProgram(context.state)
    const ppm = given.revenueShare === undefined ? now.revenueSharePpm : shareOf(given.revenueShare)
    if (ppm < 0) return refusedField('revenueShare', `revenueShare must be 0 to 1, with ${PPM_DIGITS} digits at most`)
    const [capBps, feesOn] = [given.capBps ?? now.capBps, given.builderFees ?? now.feesOn]
    const values = { capBps, builderFees: feesOn ? 1 : 0, revenueSharePpm: ppm }
    return sendCommand(context, CommandType.SET_BUILDER_PROGRAM, SET_BUILDER_PROGRAM_COMMAND, values, ({ sequence }) => {
      const answer = {
        builderFeeCapBps: capBps, builderFeeEnabled: feesOn, revenueShare: ppmText(ppm), sequence: Number(sequence),
      }
      note(context, 'builder program set', answer)
      return answer
    })
  },
})

export const EnrollApplication = operatorRoute({
  method: 'POST', path: '/builder/enroll', token: true,
  summary: 'An application takes part in the builder-codes program, or does not any more',
  description: 'The payout user must be a user of the application; it alone may change what is added. Fees given here are no changes of '
    + 'its own. What is not given stays. Orders at rest go on paying what they have, to the payout user of then.',
  body: Type.Object({
    application: field(Type.String(), 'The application, by id or client id.'),
    payoutUserId: Type.Optional(field(Uuid, 'Who gets its fees.')),
    enrolled: Type.Optional(field(Type.Boolean(), 'Whether it takes part; absent: yes.')),
    builderFeeBps: Type.Optional(bps('What it adds for takers.')), builderMakerFeeBps: Type.Optional(bps('What it adds for makers.')),
  }),
  output: Type.Object({
    clientId: field(Type.String(), 'The application.'), enrolled: field(Type.Boolean(), 'Whether it takes part.'),
    sequence: fields.sequence,
  }),
  refusals: [...SENDS, 'NOT_FOUND', 'BUILDER_FEE_ABOVE_CAP'],
  example: {
    input: { application: 'desk', payoutUserId: EXAMPLE_USER }, output: { clientId: 'desk', enrolled: true, sequence: 1042 },
  },
  commands: [{
    name: 'builder enroll', parameters: [{ field: 'application', typed: 'APPLICATION' }],
    options: [
      { field: 'payoutUserId', typed: 'USER_ID', option: 'payout' }, { field: 'enrolled', typed: 'true|false', option: 'enrolled' },
      { field: 'builderFeeBps', typed: 'BPS', option: 'taker' }, { field: 'builderMakerFeeBps', typed: 'BPS', option: 'maker' },
    ],
    purpose: 'an application takes part in the builder-codes program, or does not any more',
    explains: '--payout: who gets its fees, a user of the application; needed the first time. --enrolled false: it takes part no more.\n'
      + '--taker, --maker: what it adds, in basis points up to the cap. What is not given stays.',
    example: [`builder enroll desk --payout ${EXAMPLE_USER}`, 'application desk is enrolled (sequence 1042)'],
    show: ({ clientId, enrolled, sequence }) =>
      `application ${printable(clientId)} is ${enrolled ? 'enrolled' : 'not enrolled any more'} (sequence ${sequence})`,
  }],
  run: (context, { application: named, payoutUserId, enrolled = true, builderFeeBps, builderMakerFeeBps }) => {
    const found = findApplication(context, named)
    if (found === undefined) return notFound()
    const user = payoutUserId === undefined ? undefined : parseId(IdKind.USER, payoutUserId)
    if (user === null) return new Refused('NOT_FOUND', 'no such user', { field: 'payoutUserId' })
    if (user === undefined && found.payoutAccount < 0) return refusedField('payoutUserId', 'payoutUserId is needed: there is none yet')
    const values = {
      application: found.application, account: user?.slot ?? -1, createdSequence: user?.sequence ?? 0, active: enrolled ? 1 : 0,
      bps: builderFeeBps ?? UNCHANGED, makerBps: builderMakerFeeBps ?? UNCHANGED,
    }
    return sendCommand(context, CommandType.ENROLL_APPLICATION, ENROLL_APPLICATION_COMMAND, values, ({ sequence }) => {
      const answer = { clientId: found.clientId, enrolled, sequence: Number(sequence) }
      note(context, 'application enrolled', { ...answer, payoutUserId, builderFeeBps, builderMakerFeeBps })
      return answer
    })
  },
})
