/**
 * Managed markets: the fenced lease of a launch's maker (specification, Managed markets). What it decides is the engine's
 * (core/programs/launches.ts): who may claim, and which orders of the maker are refused meanwhile.
 */
import Type from 'typebox'
import { LEASE_ANSWER, LEASE_REFUSAL } from '../../core/layout/answers.ts'
import { LAUNCH_PHASE_NAMES, LaunchPhase, REFRESHES } from '../../core/layout/launches.ts'
import { read, readF64 } from '../../core/layout/record.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { Views } from '../../core/layout/table.ts'
import { encodeClaimLease } from '../bridge/encode_lease.ts'
import { Refused } from '../refused.ts'
import { engineRefusal, operation, pendingRequest, rfc3339, submit, Timestamp } from './operation.ts'
import * as sample from './example_values.ts'
import { COMMAND } from './refusal_groups.ts'
import { describeForm } from './schema_errors.ts'
import { field } from './schema.ts'

export const LAUNCH_ID = /^[\x21-\x7e]{1,40}$/
const OWNER_ID = /^[\x21-\x7e]{1,64}$/
/** As many digits as a command's number surely holds; a launch's is far below. */
const GENERATION = /^(0|[1-9][0-9]{0,13})$/
describeForm(LAUNCH_ID, '1 to 40 visible ASCII characters')
describeForm(OWNER_ID, '1 to 64 visible ASCII characters')
describeForm(GENERATION, 'a whole number as text, without leading zeros')

const launchId = field(Type.String({ pattern: LAUNCH_ID.source }), 'The launch, as the operator named it.')

/** A refusal of the engine; of a stale claim with the generation that the launch has. */
function leaseRefusal(records: Views, base: number): Refused {
  const code = read(records, base, LEASE_REFUSAL.at.code)
  if (code === REFUSALS.PERMISSION_DENIED.number) return new Refused('PERMISSION_DENIED', 'Not the configured maker of this launch')
  if (code !== REFUSALS.LEASE_CONFLICT.number) return engineRefusal(records, base)
  const generation = String(readF64(records, base, LEASE_REFUSAL.at.generation))
  return new Refused('LEASE_CONFLICT', `The lease has generation ${generation}`, { generation })
}

export const ClaimLease = operation({
  service: 'ManagedMarketsService', method: 'POST', path: '/api/v1/managed-markets/{launchId}/lease',
  access: 'session', agent: 'no', maintenance: 'open', rate: 'none',
  summary: 'Claim or renew the lease of a maker',
  description: 'For the maker that the operator configured. While a session holds the lease, orders of the maker on the pair of the '
    + 'launch, entered or replaced by any other session, are refused as `LEASE_LOST`; so are all of them once the lease is over, until it '
    + 'is claimed again. Cancels, reduce-only orders and closes are always taken. The same `ownerId` with the same session key renews: '
    + 'the generation stays. Any other takes over: the generation grows by one. `expectedGeneration` is the last one you know; another '
    + 'one is `LEASE_CONFLICT`, with the present one in `details.generation`. The owner id tells processes apart and proves nothing.',
  answer: 'The lease is this session\'s until `expiresAt`.',
  refusals: ['NOT_FOUND', 'PERMISSION_DENIED', 'LEASE_CONFLICT', 'LAUNCH_ENDED', ...COMMAND],
  params: Type.Object({ launchId }),
  body: Type.Object({
    ownerId: field(
      Type.String({ pattern: OWNER_ID.source }),
      'What the process calls itself: 1 to 64 visible ASCII characters, another one for each start. A fence, never authentication.',
    ),
    expectedGeneration: field(Type.String({ pattern: GENERATION.source }), 'Generation that the caller knows, as text.'),
  }),
  output: Type.Object({
    launchId, ownerId: field(Type.String(), 'Who holds the lease.'),
    generation: field(Type.String(), 'Grows by one with each change of who holds the lease.'),
    quoteRevision: field(Type.String(), 'Grows with each change of holder, maker, phase or length: quotes of before are of other terms.'),
    expiresAt: field(Timestamp, 'When the lease is over unless it is renewed.'),
    refreshIntervalMs: field(Type.Integer(), 'Renew this often, milliseconds.'),
    phase: field(Type.String(), `Phase of the launch: ${LAUNCH_PHASE_NAMES.join(', ')}; more may come.`),
  }),
  example: {
    input: { launchId: 'launch-7', ownerId: 'maker-a-1', expectedGeneration: '0' },
    output: {
      launchId: 'launch-7', ownerId: 'maker-a-1', generation: '1', quoteRevision: '2', expiresAt: sample.LATER,
      refreshIntervalMs: 10_000, phase: 'LIVE',
    },
  },
  run: (gateway, call, { launchId, ownerId, expectedGeneration }) => {
    const take = (records: Views, base: number): void => {
      const { at } = LEASE_ANSWER
      call.answer({
        launchId, ownerId,
        generation: String(readF64(records, base, at.generation)),
        quoteRevision: String(readF64(records, base, at.quoteRevision)),
        expiresAt: rfc3339(readF64(records, base, at.leaseEndsAt)),
        refreshIntervalMs: Math.floor(read(records, base, at.leaseMs) / REFRESHES),
        phase: LAUNCH_PHASE_NAMES[read(records, base, at.phase)] ?? LAUNCH_PHASE_NAMES[LaunchPhase.ENDED],
      })
    }
    submit(gateway, call, pendingRequest(call, take, leaseRefusal), (at, correlation) =>
      encodeClaimLease(gateway.engine, at, correlation, call, launchId, ownerId, Number(expectedGeneration)))
  },
})
