/**
 * Launches, for an operator: which account makes the market of which pair under a lease, and who holds it. Each change is a command through
 * lane 0, answered after it is durable and applied; the engine decides (core/programs/launches.ts).
 *
 * The maker is named by user id. Its wallet and application may be given besides; then they must be those of the user, so that a wrong id
 * is found before it is configured.
 */
import Type, { type Static } from 'typebox'
import { ACCOUNT } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import { CommandType } from '../../core/layout/command.ts'
import { IdKind, parseId, userId } from '../../core/layout/ids.ts'
import {
  FIRST_GENERATION_MAX, LAUNCH_PHASE_NAMES, LaunchPhase, LAUNCHES_MAX, LEASE_MS_MAX, LEASE_MS_MIN, SET_LAUNCH_COMMAND, type LaunchPhaseName,
} from '../../core/layout/launches.ts'
import { leaseStateOf, readLaunches, type LaunchView } from '../../core/view/launches.ts'
import { accountRow, bytesOf, get } from '../../core/view/rows.ts'
import * as fields from '../operations/fields.ts'
import { LAUNCH_ID } from '../operations/managed_markets.ts'
import { Nullable, Timestamp, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { findApplication } from './applications.ts'
import { hasAccount } from './policy.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'
import { momentOf, printable, table } from './text.ts'

const MAKER = userId(1040, 7)
const DEFAULT_LEASE_MS = 30_000
const PHASES = LAUNCH_PHASE_NAMES.join(', ')
const launchId = field(Type.String({ pattern: LAUNCH_ID.source }), 'The launch, up to 40 visible ASCII characters.')
const pair = field(Type.String(), 'Trading pair, by id or symbol.')
const maker = field(Uuid, 'The user that makes the market.')
const wallet = field(Type.String(), 'Wallet of that user; another one is refused.')
const application = field(Type.String(), 'Application of that user, by id or client id; another one is refused.')
const phase = field(Type.Enum([...LAUNCH_PHASE_NAMES]), `Phase: ${PHASES}.`)
const leaseMs = field(Type.Integer({ minimum: LEASE_MS_MIN, maximum: LEASE_MS_MAX }), 'How long a lease lasts, milliseconds.')
const generation = field(Type.Integer({ minimum: 0, maximum: FIRST_GENERATION_MAX }), 'Generation of the lease.')
const LAUNCH_WORD = { field: 'launchId', typed: 'LAUNCH' } as const

const Launch = Type.Object({
  launchId, pair: field(Type.String(), 'Symbol of the pair.'), userId: maker, phase, leaseMs, generation,
  quoteRevision: field(Type.Integer(), 'Grows with each change of holder, maker, phase or length.'),
  expiresAt: field(Nullable(Timestamp), 'End of the lease; null: nobody claimed it yet.'),
})
type Launch = Static<typeof Launch>
const Listed = Type.Object({
  ...Launch.properties,
  ownerId: field(Nullable(Type.String()), 'What the process calls itself that claimed the lease last; null: none did.'),
  lease: field(Type.Union([Type.Literal('unclaimed'), Type.Literal('live'), Type.Literal('over')]), 'Whether somebody holds it now.'),
})
const Changed = Type.Object({ ...Launch.properties, sequence: fields.sequence })

const example: Launch = {
  launchId: 'launch-7', pair: 'BTC/USDC', userId: MAKER, phase: 'LIVE', leaseMs: 30_000, generation: 0, quoteRevision: 1, expiresAt: null,
}

export const ListLaunches = operatorRoute({
  method: 'GET', path: '/launches', token: true,
  summary: 'Every launch, its maker, and who holds its lease',
  description: 'Those that ended too.',
  output: Type.Object({ launches: field(Type.Array(Listed), 'The launches.') }),
  refusals: ['ENGINE_UNAVAILABLE'],
  example: { input: {}, output: { launches: [{ ...example, ownerId: null, lease: 'unclaimed' }] } },
  commands: [{
    name: 'launches list',
    purpose: 'every launch, its maker, and who holds its lease',
    explains: 'LEASE is unclaimed (orders of the maker are taken), live, or over (they are refused until it is claimed again).',
    example: [
      'launches list',
      `LAUNCH    PAIR      PHASE  LEASE      GENERATION  OWNER  MAKER\nlaunch-7  BTC/USDC  LIVE   unclaimed           0  -      ${MAKER}`,
    ],
    show: ({ launches }) => table(
      ['LAUNCH', 'PAIR', 'PHASE', 'LEASE', 'GENERATION', 'OWNER', 'MAKER'],
      launches.map((each) =>
        [each.launchId, each.pair, each.phase, each.lease, each.generation, each.ownerId ?? '-', each.userId]),
    ),
  }],
  run: ({ state, gate, time }) => {
    const launches = readLaunches(state, gate)
    if (launches === null) return new Refused('ENGINE_UNAVAILABLE')
    return { launches: launches.map((view) => describe(state, view, time())) }
  },
})

export const AddLaunch = operatorRoute({
  method: 'POST', path: '/launches', token: true,
  summary: 'A launch: a pair whose maker trades under a lease',
  description: `At most ${LAUNCHES_MAX} for ever, and one under way on a pair. Orders of the maker are taken until the first claim.`,
  body: Type.Object({
    launchId, pair, userId: maker, wallet: Type.Optional(wallet), application: Type.Optional(application),
    phase: Type.Optional(phase), leaseMs: Type.Optional(leaseMs), generation: Type.Optional(generation),
  }),
  output: Changed,
  refusals: [...SENDS, 'NOT_FOUND', 'LAUNCH_EXISTS', 'TOO_MANY_LAUNCHES'],
  example: {
    input: { launchId: 'launch-7', pair: 'BTC/USDC', userId: MAKER, phase: 'LIVE', leaseMs: 30_000 },
    output: { ...example, sequence: 1042 },
  },
  commands: [{
    name: 'launches add', parameters: [LAUNCH_WORD],
    options: [
      { field: 'pair', typed: 'PAIR', option: 'pair' }, { field: 'userId', typed: 'USER_ID', option: 'user' },
      { field: 'wallet', typed: 'ADDRESS', option: 'wallet' }, { field: 'application', typed: 'NAME', option: 'application' },
      { field: 'phase', typed: 'PHASE', option: 'phase' }, { field: 'leaseMs', typed: 'MS', option: 'lease-ms' },
      { field: 'generation', typed: 'N', option: 'generation' },
    ],
    purpose: 'a launch: a pair whose maker trades under a lease',
    explains: `LAUNCH is up to 40 visible ASCII characters, for ever. PHASE is one of ${PHASES};\n`
      + `PREPARING if it is not given. A lease lasts ${DEFAULT_LEASE_MS} ms if nothing else is said. N is the generation that the\n`
      + 'first claim must expect, 0 if it is not given. ADDRESS and NAME (of an application) are checked against the user.',
    example: [
      `launches add launch-7 --pair BTC/USDC --user ${MAKER} --phase LIVE`,
      `launch launch-7 on BTC/USDC is LIVE, its maker ${MAKER} (sequence 1042)`,
    ],
    show: shown,
  }],
  run: (context, input) => {
    const { launchId, pair: named, userId, wallet, application } = input
    const { phase = 'PREPARING', leaseMs = DEFAULT_LEASE_MS, generation = 0 } = input
    if (phase === 'ENDED') return refusedField('phase', 'a launch does not begin as ENDED')
    const found = pairOf(context.state, named)
    if (found === undefined) return new Refused('NOT_FOUND', undefined, { field: 'pair' })
    const account = makerOf(context, { userId, wallet, application })
    if (account instanceof Refused) return account
    const terms = { pair: found.index, ...account, phase: phaseOf(phase), leaseMs, generation, isNew: 1 }
    return send(context, launchId, terms, 'launch added')
  },
})

export const SetLaunch = operatorRoute({
  method: 'POST', path: '/launches/set', token: true,
  summary: 'Another phase, length of lease or maker of a launch',
  description: 'What is not given stays. Another maker ends the lease. ENDED is for ever: nobody is fenced out, the pair is free.',
  body: Type.Object({
    launchId, phase: Type.Optional(phase), leaseMs: Type.Optional(leaseMs), userId: Type.Optional(maker),
    wallet: Type.Optional(wallet), application: Type.Optional(application),
  }),
  output: Changed,
  refusals: [...SENDS, 'NOT_FOUND', 'LAUNCH_ENDED'],
  example: { input: { launchId: 'launch-7', phase: 'ENDED' }, output: { ...example, phase: 'ENDED', quoteRevision: 2, sequence: 1043 } },
  commands: [{
    name: 'launches set', parameters: [LAUNCH_WORD],
    options: [
      { field: 'phase', typed: 'PHASE', option: 'phase' }, { field: 'leaseMs', typed: 'MILLISECONDS', option: 'lease-ms' },
      { field: 'userId', typed: 'USER_ID', option: 'user' }, { field: 'wallet', typed: 'ADDRESS', option: 'wallet' },
      { field: 'application', typed: 'APPLICATION', option: 'application' },
    ],
    purpose: 'another phase, length of lease or maker of a launch',
    explains: `PHASE is one of ${PHASES}. What is not given stays. A lease that runs keeps its end; another\n`
      + 'maker ends it. ENDED is for ever: no lease is given any more, nobody is fenced out, and the pair is free for another launch.',
    example: ['launches set launch-7 --phase ENDED', `launch launch-7 on BTC/USDC is ENDED, its maker ${MAKER} (sequence 1043)`],
    wants: ({ phase, leaseMs, userId }) => ([phase, leaseMs, userId].some((value) => value !== undefined) ? null
      : 'what shall change? There is --phase, --lease-ms and --user'),
    show: shown,
  }],
  run: (context, { launchId, phase, leaseMs = -1, userId, wallet, application }) => {
    if (userId === undefined && (wallet !== undefined || application !== undefined)) {
      return refusedField('userId', 'wallet and application are those of a user: name it')
    }
    const account = userId === undefined ? { account: -1, createdSequence: 0 } : makerOf(context, { userId, wallet, application })
    if (account instanceof Refused) return account
    const terms = { pair: -1, ...account, phase: phase === undefined ? -1 : phaseOf(phase), leaseMs, generation: 0, isNew: 0 }
    return send(context, launchId, terms, 'launch changed')
  },
})

const phaseOf = (name: string): number => LaunchPhase[name as LaunchPhaseName]

const pairOf = (state: State, named: string) =>
  state.genesis.pairs.find(({ id, symbol }) => symbol === named || id.toLowerCase() === named.toLowerCase())

interface Maker {
  readonly userId: string
  readonly wallet: string | undefined
  readonly application: string | undefined
}

/** Row and sequence of the account, which has this wallet and application, where they are given. */
function makerOf(context: OperatorContext, { userId, wallet, application }: Maker): { account: number; createdSequence: number } | Refused {
  const { state } = context
  const id = parseId(IdKind.USER, userId)
  if (id === null) return refusedField('userId', 'userId must be the id of a user')
  if (!hasAccount(state, id.slot, id.sequence)) return new Refused('NOT_FOUND', undefined, { field: 'userId' })
  const row = accountRow(state, id.slot)
  const address = `0x${Buffer.from(bytesOf(state, row, ACCOUNT.ADDRESS, 20)).toString('hex')}`
  if (wallet !== undefined && wallet.toLowerCase() !== address) return refusedField('wallet', 'wallet is not that of the user')
  const given = application === undefined ? undefined : findApplication(context, application)
  const fits = application === undefined || given?.application === get(state, row, ACCOUNT.APPLICATION)
  return fits ? { account: id.slot, createdSequence: id.sequence } : refusedField('application', 'application is not that of the user')
}

function describe({ genesis }: State, view: LaunchView, now: number): Static<typeof Listed> {
  const { launchId, pair, account, accountSequence, phase, leaseMs, generation, quoteRevision, ownerId, leaseEndsAt } = view
  return {
    launchId, pair: genesis.pairs[pair]!.symbol, userId: userId(accountSequence, account), phase, leaseMs, generation, quoteRevision,
    expiresAt: momentOf(leaseEndsAt), ownerId: ownerId === '' ? null : ownerId, lease: leaseStateOf(view, now),
  }
}

type Terms = Readonly<Record<'pair' | 'account' | 'createdSequence' | 'phase' | 'leaseMs' | 'generation' | 'isNew', number>>

function send(context: OperatorContext, launchId: string, terms: Terms, message: string) {
  const values = { ...terms, launchId: Buffer.from(launchId, 'latin1').toString('hex').padEnd(80, '0') }
  return sendCommand(context, CommandType.SET_LAUNCH, SET_LAUNCH_COMMAND, values, (answer) => {
    const { state } = context
    const view = readLaunches(state, context.gate)?.[Number(answer.launch)]
    const said = {
      launchId, pair: state.genesis.pairs[Number(answer.pair)]!.symbol,
      userId: userId(view?.accountSequence ?? terms.createdSequence, Number(answer.account)),
      phase: LAUNCH_PHASE_NAMES[Number(answer.phase)]!, leaseMs: Number(answer.leaseMs), generation: Number(answer.generation),
      quoteRevision: Number(answer.quoteRevision), expiresAt: momentOf(Number(answer.leaseEndsAt)), sequence: Number(answer.sequence),
    }
    note(context, message, said)
    return said
  })
}

function shown({ launchId, pair, phase, userId, sequence }: Static<typeof Changed>): string {
  return `launch ${printable(launchId)} on ${pair} is ${phase}, its maker ${userId} (sequence ${sequence})`
}
