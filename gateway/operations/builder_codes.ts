/**
 * The builder-codes program: applications that charge their users for fills, beside the fee of the service (specification, Builder fee).
 * The engine decides (core/programs/builder.ts) and charges (core/ledger/add_ons.ts).
 *
 * What an application adds is no secret: its users pay it. So the configuration is public, of whichever application is asked for.
 */
import Type from 'typebox'
import { BUILDER_FEE_ANSWER } from '../../core/layout/answers.ts'
import { BUILDER_CAP_MOST_BPS, UNCHANGED } from '../../core/layout/builder.ts'
import type { Views } from '../../core/layout/table.ts'
import { ppmText } from '../../core/lib/ppm.ts'
import { readAccount } from '../../core/view/accounts.ts'
import type { ApplicationView } from '../../core/view/applications.ts'
import { readBuilderProgram } from '../../core/view/builder.ts'
import { encodeBuilderFee } from '../bridge/encode.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { addressText } from './accounts.ts'
import * as sample from './example_values.ts'
import { engineRefusal, Nullable, operation, pendingRequest, rfc3339, submit, Timestamp } from './operation.ts'
import { COMMAND, READ } from './refusal_groups.ts'
import { field } from './schema.ts'

const bps = (what: string) => field(Type.Integer({ minimum: 0, maximum: BUILDER_CAP_MOST_BPS }), what)

const Enrollment = Type.Object({
  clientId: field(Type.String(), 'The application.'),
  enrolled: field(Type.Boolean(), 'Whether it takes part, with a payout address.'),
  payoutAddress: field(Nullable(Type.String()), 'Where its fees go; null: it never had one.'),
  builderFeeBps: bps('What it adds for takers, in basis points.'),
  builderMakerFeeBps: bps('What it adds for makers, in basis points.'),
})

/** Where the fees of an application go, or null. */
export function payoutAddressOf(gateway: Gateway, { payoutAccount }: ApplicationView): string | null {
  return payoutAccount < 0 ? null : addressText(readAccount(gateway.state, payoutAccount).address)
}

export const GetBuildercodesConfig = operation({
  service: 'BuilderCodesService', method: 'GET', path: '/api/v1/buildercodes/config',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'The builder-codes program, and an application in it',
  description: 'The cap, both switches and, of the application asked for, whether it takes part and what it adds. While '
    + '`builderFeeEnabled` is false fees are stored and nothing is charged; a fee above the cap counts as the cap.',
  answer: 'The configuration.',
  refusals: ['NOT_FOUND', ...READ],
  query: Type.Object({
    clientId: Type.Optional(field(Type.String({ minLength: 1, maxLength: 40 }), 'The application; absent: the program alone.')),
  }),
  output: Type.Object({
    builderFeeCapBps: bps('Most that an application may add for a side, in basis points.'),
    builderFeeEnabled: field(Type.Boolean(), 'Whether orders that are placed now get what their application adds.'),
    revenueShareEnabled: field(Type.Boolean(), 'Whether applications get a part of what the service earns.'),
    revenueShare: field(Type.String(), 'That part: of the net fee income of each fill, 0 to 1.'),
    application: field(Nullable(Enrollment), 'The application asked for; null: none was.'),
  }),
  example: {
    input: { clientId: 'ringbook' },
    output: {
      builderFeeCapBps: 100, builderFeeEnabled: true, revenueShareEnabled: false, revenueShare: '0',
      application: {
        clientId: 'ringbook', enrolled: true, payoutAddress: sample.ADDRESS, builderFeeBps: 5, builderMakerFeeBps: 1,
      },
    },
  },
  run: (gateway, call, { clientId }) => {
    const { capBps, feesOn, revenueSharePpm } = readBuilderProgram(gateway.state)
    const found = clientId === undefined ? null : gateway.applications.byClientId(clientId)
    if (found === undefined) return call.refuse(new Refused('NOT_FOUND', 'Application not found', { field: 'clientId' }))
    call.answer({
      builderFeeCapBps: capBps, builderFeeEnabled: feesOn, revenueShareEnabled: revenueSharePpm > 0,
      revenueShare: ppmText(revenueSharePpm),
      application: found === null ? null : {
        clientId: found.clientId, enrolled: found.isEnrolled, payoutAddress: payoutAddressOf(gateway, found),
        builderFeeBps: found.builderFeeBps, builderMakerFeeBps: found.builderMakerFeeBps,
      },
    })
  },
})

const A = BUILDER_FEE_ANSWER.at
const momentAt = ({ f64 }: Views, base: number): string | null => {
  const time = f64[(base + A.nextChangeAt) >>> 1]!
  return time === 0 ? null : rfc3339(time)
}

/** Why the engine refused; without changes left, when there is one again. */
function feeRefusal(gateway: Gateway, records: Views, base: number): Refused {
  const refused = engineRefusal(records, base)
  if (refused.code === 'BUILDER_FEE_ABOVE_CAP') {
    const limit = readBuilderProgram(gateway.state).capBps
    return new Refused(refused.code, `${refused.message}: the cap is ${limit}`, { limit })
  }
  const nextChangeAllowedAt = momentAt(records, base)
  const isLate = refused.code === 'NO_FEE_CHANGES_LEFT' && nextChangeAllowedAt !== null
  return isLate ? new Refused(refused.code, refused.message, { nextChangeAllowedAt }) : refused
}

const BPS_MAX = 2 ** 31 - 1
const fee = Type.Integer({ minimum: 0, maximum: BPS_MAX })

export const SetBuilderFee = operation({
  service: 'BuilderCodesService', method: 'PUT', path: '/api/v1/buildercodes/builder-fee',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'What your application adds to the fees of its users',
  description: 'For the payout wallet of the application of the session. `bps` is added for takers, `makerBps` for makers; without '
    + '`makerBps` that stays. In force for orders placed from now on: orders at rest keep what they have. Two changes in any 24 hours; '
    + 'both sides in one request are one, and what is set already is none.',
  answer: 'What is stored now, and what was before.',
  refusals: [
    'BUILDER_FEE_ABOVE_CAP', 'NOT_ENROLLED', 'NOT_PAYOUT_WALLET', 'BUILDER_FEES_OFF', 'NO_FEE_CHANGES_LEFT', ...COMMAND,
  ],
  body: Type.Object({
    bps: field(fee, 'For takers, basis points, up to builderFeeCapBps; 0 charges nothing.'),
    makerBps: Type.Optional(field(Nullable(fee), 'The same for makers; absent or null: as it is.')),
  }, { additionalProperties: false }),
  output: Type.Object({
    builderFeeBps: bps('Stored now, for takers.'),
    previousBuilderFeeBps: bps('What it was.'),
    changesRemaining: field(Type.Integer({ minimum: 0, maximum: 2 }), 'Changes left in the current rolling 24 hours.'),
    nextChangeAllowedAt: field(Nullable(Timestamp), 'When there is one again; null: there is one now.'),
    builderMakerFeeBps: bps('Stored now, for makers.'),
    previousBuilderMakerFeeBps: bps('What it was.'),
  }),
  example: {
    input: { bps: 5, makerBps: 1 },
    output: {
      builderFeeBps: 5, previousBuilderFeeBps: 0, changesRemaining: 1, nextChangeAllowedAt: null, builderMakerFeeBps: 1,
      previousBuilderMakerFeeBps: 0,
    },
  },
  run: (gateway, call, input) => {
    const answer = (records: Views, base: number): void => {
      const { i32 } = records
      call.answer({
        builderFeeBps: i32[base + A.bps]!, previousBuilderFeeBps: i32[base + A.previousBps]!, changesRemaining: i32[base + A.changesLeft]!,
        nextChangeAllowedAt: momentAt(records, base), builderMakerFeeBps: i32[base + A.makerBps]!,
        previousBuilderMakerFeeBps: i32[base + A.previousMakerBps]!,
      })
    }
    const pending = pendingRequest(call, answer, (records, base) => feeRefusal(gateway, records, base))
    submit(gateway, call, pending, (at, correlation) =>
      encodeBuilderFee(gateway.engine, at, correlation, call, input.bps, input.makerBps ?? UNCHANGED))
  },
})
