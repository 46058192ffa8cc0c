/**
 * Withdrawals, for an operator: those under way, the approval of large ones, what may be withdrawn, and the stop. Each change is a command
 * through lane 0, answered after it is durable and applied (core/programs/withdrawals.ts, withdrawal_policy.ts). An authorisation is
 * signed by the vault thread alone, after the approval.
 */
import Type, { type Static } from 'typebox'
import { ACCOUNT } from '../../core/state/columns.ts'
import type { Asset } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import { CommandType } from '../../core/layout/command.ts'
import { IdKind, parseId, userId, withdrawalId } from '../../core/layout/ids.ts'
import {
  REVIEW_WITHDRAWAL_COMMAND, SET_WITHDRAWAL_TERMS_COMMAND, STOP_WITHDRAWALS_COMMAND, WITHDRAWAL_STATUS_NAMES, WITHDRAWAL_STOP_NAMES,
  WithdrawalStatus, WithdrawalStop,
} from '../../core/layout/vault.ts'
import { accountRow, getF64 } from '../../core/view/rows.ts'
import { openWithdrawals, vaultTotals, withdrawalAt, withdrawalsStopped, type WithdrawalView } from '../../core/view/vault.ts'
import { checksumAddress } from '../auth/challenge.ts'
import { Amount, amountText, atomsOf } from '../operations/amounts.ts'
import * as fields from '../operations/fields.ts'
import { DECIMAL, Decimal, Nullable, rfc3339, Timestamp, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { describeForm } from '../operations/schema_errors.ts'
import { Refused, refusedField } from '../refused.ts'
import { note, operatorRoute, SENDS, sendCommand } from './route.ts'
import { facts, momentOf, table } from './text.ts'

/** Withdrawals in one answer. */
const LISTED_MAX = 200
/** Statuses of withdrawals that are under way. */
const OPEN = WITHDRAWAL_STATUS_NAMES.slice(WithdrawalStatus.PENDING, WithdrawalStatus.CONFIRMED)
/** What stands for a status to ask for those that wait for approval. */
const APPROVAL = 'APPROVAL'

const [EXAMPLE_ID, EXAMPLE_USER] = [withdrawalId(1042, 3), userId(1040, 7)]
const id = field(Uuid, 'The withdrawal.')
const symbol = field(Type.String(), 'Symbol of the asset.')
const Withdrawal = Type.Object({
  id, userId: field(Uuid, 'Whose it is.'), symbol, amount: field(Decimal, 'In units of the asset.'),
  destination: field(Type.String(), 'Who is paid, in EIP-55 form.'), status: field(Type.Enum([...OPEN]), 'How far it is.'),
  needsApproval: field(Type.Boolean(), 'True while it waits for an operator.'),
  createdAt: fields.createdAt, expiresAt: field(Nullable(Timestamp), 'Until when its authorisation is good; null: there is none yet.'),
  txHash: field(Nullable(Type.String()), 'Transaction that was seen; null: none.'),
})
type Withdrawal = Static<typeof Withdrawal>
const stopped = field(Type.Enum([...WITHDRAWAL_STOP_NAMES]), 'NONE; OPERATOR or SOLVENCY: nobody withdraws, and nothing is authorised.')

const example: Withdrawal = {
  id: EXAMPLE_ID, userId: EXAMPLE_USER, symbol: 'USDC', amount: '25000', destination: '0x1111111111111111111111111111111111111111',
  status: 'PENDING', needsApproval: true, createdAt: '2026-01-02T03:04:05.678Z', expiresAt: null, txHash: null,
}

const openName = (status: number): Withdrawal['status'] => WITHDRAWAL_STATUS_NAMES[status] as Withdrawal['status']

function described(state: State, view: WithdrawalView): Withdrawal {
  const asset = state.genesis.assets[view.asset]!
  return {
    id: withdrawalId(view.sequence, view.row),
    userId: userId(getF64(state, accountRow(state, view.account), ACCOUNT.CREATED_SEQUENCE), view.account),
    symbol: asset.symbol, amount: amountText(asset, view.amount), destination: checksumAddress(view.destination),
    status: openName(view.status), needsApproval: view.needsApproval, createdAt: rfc3339(view.createdAt),
    expiresAt: momentOf(view.deadline), txHash: view.txHash,
  }
}

/** What `read` makes of the rows of the vault; they cannot be read while the matcher stands in the middle of a change. */
export function readingVault<T>(read: () => T): T | Refused {
  try {
    return read()
  } catch {
    return new Refused('ENGINE_UNAVAILABLE')
  }
}

/** The asset of a symbol or an id. */
export const assetNamed = ({ genesis }: State, named: string): Asset | undefined =>
  genesis.assets.find(({ id, symbol }) => symbol === named || id.toLowerCase() === named.toLowerCase())

export const ListWithdrawals = operatorRoute({
  method: 'GET', path: '/withdrawals', token: true,
  summary: 'Withdrawals under way, those that wait for approval first',
  description: `At most ${LISTED_MAX}; then the oldest first. What is over is in the history of its user.`,
  query: Type.Object({
    status: Type.Optional(field(Type.Enum([...OPEN, APPROVAL]), 'Those of one status only; APPROVAL: those that wait for it.')),
  }),
  output: Type.Object({
    stopped, total: field(Type.Integer(), 'All of them.'), needApproval: field(Type.Integer(), 'Those that wait for approval.'),
    withdrawals: field(Type.Array(Withdrawal), `The first ${LISTED_MAX} of those asked for.`),
  }),
  refusals: ['ENGINE_UNAVAILABLE'],
  example: { input: {}, output: { stopped: 'NONE', total: 1, needApproval: 1, withdrawals: [example] } },
  commands: [{
    name: 'withdrawals list',
    options: [{ field: 'status', typed: 'STATUS', option: 'status' }],
    purpose: 'withdrawals under way, those that wait for approval first',
    explains: `STATUS is one of ${OPEN.join(', ')}, or ${APPROVAL}. A withdrawal is PENDING until it may be signed,\n`
      + 'SIGNED until its user submits it, SUBMITTED while the chain has not confirmed it. One that waits for approval waits for you:\n'
      + `withdrawals approve or cancel. At most ${LISTED_MAX} are listed. What is over is in the history of its user.`,
    example: [
      'withdrawals list',
      'withdrawals are open; 1 under way, 1 of them waits for approval\n\n'
        + 'CREATED                   STATUS   WAITS FOR  AMOUNT      WITHDRAWAL                            USER\n'
        + `2026-01-02T03:04:05.678Z  PENDING  approval   25000 USDC  ${EXAMPLE_ID}  ${EXAMPLE_USER}`,
    ],
    show: ({ stopped: stop, total, needApproval, withdrawals }) => [
      `${stopText(stop)}; ${total} under way, ${needApproval} of them ${needApproval === 1 ? 'waits' : 'wait'} for approval`,
      ...(withdrawals.length === 0 ? [] : ['', table(
        ['CREATED', 'STATUS', 'WAITS FOR', 'AMOUNT', 'WITHDRAWAL', 'USER'],
        withdrawals.map((each) => [
          each.createdAt, each.status, each.needsApproval ? 'approval' : '-', `${each.amount} ${each.symbol}`, each.id, each.userId,
        ]),
      )]),
    ].join('\n'),
  }],
  run: ({ state }, { status }) => readingVault(() => {
    const all = openWithdrawals(state)
    const asked = all
      .filter((view) => (status === APPROVAL ? view.needsApproval : status === undefined || openName(view.status) === status))
      .sort((a, b) => Number(b.needsApproval) - Number(a.needsApproval) || a.sequence - b.sequence)
    return {
      stopped: WITHDRAWAL_STOP_NAMES[withdrawalsStopped(state)]!, total: all.length,
      needApproval: all.filter(({ needsApproval }) => needsApproval).length,
      withdrawals: asked.slice(0, LISTED_MAX).map((view) => described(state, view)),
    }
  }),
})

const stopText = (stop: string): string => (stop === 'NONE' ? 'withdrawals are open' : `withdrawals are stopped (${stop})`)

/** The withdrawal under way that a request names; or its refusal. */
function named(state: State, text: string): WithdrawalView | Refused {
  const parsed = parseId(IdKind.WITHDRAWAL, text)
  if (parsed === null) return refusedField('id', 'id must be the id of a withdrawal')
  const view = readingVault(() => withdrawalAt(state, parsed.slot, parsed.sequence))
  return view ?? new Refused('NOT_FOUND', undefined, { field: 'id' })
}

export const ShowWithdrawal = operatorRoute({
  method: 'GET', path: '/withdrawal', token: true,
  summary: 'One withdrawal under way',
  description: 'NOT_FOUND: there is none of that id, or it is over.',
  query: Type.Object({ id }),
  output: Withdrawal,
  refusals: ['NOT_FOUND', 'ENGINE_UNAVAILABLE'],
  example: { input: { id: EXAMPLE_ID }, output: example },
  commands: [{
    name: 'withdrawals show', parameters: [{ field: 'id', typed: 'WITHDRAWAL' }],
    purpose: 'one withdrawal under way',
    explains: 'WITHDRAWAL is the id that withdrawals list shows. One that is over is in the history of its user.',
    example: [`withdrawals show ${EXAMPLE_ID}`, `user         ${EXAMPLE_USER}\namount       25000 USDC\n`
      + 'destination  0x1111111111111111111111111111111111111111\nstatus       PENDING, waits for approval\n'
      + 'created      2026-01-02T03:04:05.678Z\nexpires      -\ntransaction  -'],
    show: (each) => facts([
      ['user', each.userId], ['amount', `${each.amount} ${each.symbol}`], ['destination', each.destination],
      ['status', `${each.status}${each.needsApproval ? ', waits for approval' : ''}`], ['created', each.createdAt],
      ['expires', each.expiresAt ?? '-'], ['transaction', each.txHash ?? '-'],
    ]),
  }],
  run: ({ state }, { id: text }) => {
    const view = named(state, text)
    return view instanceof Refused ? view : described(state, view)
  },
})

export const ReviewWithdrawal = operatorRoute({
  method: 'POST', path: '/withdrawals/review', token: true,
  summary: 'Approve a withdrawal, or cancel it',
  description: 'Approve: it may be signed, which cannot be taken back. Cancel: its funds are available to the user again. Only while it is '
    + 'PENDING: WITHDRAWAL_STATUS otherwise, also of an approval that it does not need.',
  body: Type.Object({
    id, to: field(Type.Union([Type.Literal('approve'), Type.Literal('cancel')]), 'approve or cancel.'),
  }),
  output: Type.Object({ id, status: field(Type.String(), 'How far it is now.'), sequence: fields.sequence }),
  refusals: [...SENDS, 'NOT_FOUND', 'WITHDRAWAL_STATUS', 'ENGINE_UNAVAILABLE'],
  example: { input: { id: EXAMPLE_ID, to: 'approve' }, output: { id: EXAMPLE_ID, status: 'PENDING', sequence: 1050 } },
  commands: [{
    name: 'withdrawals approve', parameters: [{ field: 'id', typed: 'WITHDRAWAL' }], fixed: { to: 'approve' },
    purpose: 'let a withdrawal that waits for approval be signed',
    explains: 'WITHDRAWAL is the id that withdrawals list shows. Look at withdrawals show first: user, amount, destination. Once it is\n'
      + 'signed its user can have the vault pay it at any time until it expires, and nothing takes that back.',
    example: [`withdrawals approve ${EXAMPLE_ID}`, `withdrawal ${EXAMPLE_ID} is approved (sequence 1050)`],
    show: ({ id: text, sequence }) => `withdrawal ${text} is approved (sequence ${sequence})`,
  }, {
    name: 'withdrawals cancel', parameters: [{ field: 'id', typed: 'WITHDRAWAL' }], fixed: { to: 'cancel' },
    purpose: 'refuse a withdrawal that is not signed yet',
    explains: 'Its funds are available to the user again, who may ask once more. Of one that is SIGNED nothing but its expiry ends it.',
    example: [`withdrawals cancel ${EXAMPLE_ID}`, `withdrawal ${EXAMPLE_ID} is cancelled (sequence 1050)`],
    show: ({ id: text, sequence }) => `withdrawal ${text} is cancelled (sequence ${sequence})`,
  }],
  run: (context, { id: text, to }) => {
    const view = named(context.state, text)
    if (view instanceof Refused) return view
    const values = { row: view.row, withdrawalSequence: view.sequence, approve: to === 'approve' ? 1 : 0 }
    return sendCommand(context, CommandType.REVIEW_WITHDRAWAL, REVIEW_WITHDRAWAL_COMMAND, values, ({ status, sequence }) => {
      note(context, `withdrawal ${to === 'approve' ? 'approved' : 'cancelled'}`, { withdrawal: text, sequence })
      return { id: text, status: WITHDRAWAL_STATUS_NAMES[Number(status)]!, sequence: Number(sequence) }
    })
  },
})

const Terms = Type.Object({
  symbol, minimum: field(Decimal, 'Least amount of one withdrawal.'),
  userDailyLimit: field(Nullable(Decimal), 'What one user may withdraw in a UTC day; null: no limit.'),
  dailyLimit: field(Nullable(Decimal), 'What may be signed in a UTC day for all together; null: no limit.'),
  approvalAbove: field(Nullable(Decimal), 'What a user asks for in a UTC day beyond it waits for an operator; null: nothing does.'),
})
type Terms = Static<typeof Terms>

function termsOf(state: State, asset: Asset): Terms & { usedToday: string } {
  const { minimum, userDaily, totalDaily, approvalAbove, usedToday } = vaultTotals(state, asset.index)
  const limit = (atoms: bigint): string | null => (atoms === 0n ? null : amountText(asset, atoms))
  return {
    symbol: asset.symbol, minimum: amountText(asset, minimum), userDailyLimit: limit(userDaily), dailyLimit: limit(totalDaily),
    approvalAbove: limit(approvalAbove), usedToday: amountText(asset, usedToday),
  }
}

const exampleTerms: Terms = { symbol: 'USDC', minimum: '1', userDailyLimit: '50000', dailyLimit: '1000000', approvalAbove: '10000' }

export const ListWithdrawalTerms = operatorRoute({
  method: 'GET', path: '/withdrawals/terms', token: true,
  summary: 'What may be withdrawn of each asset',
  description: 'Those of the genesis until other ones are set.',
  output: Type.Object({
    stopped,
    terms: field(Type.Array(Type.Object({
      ...Terms.properties, usedToday: field(Decimal, 'What was signed today for all together.'),
    })), 'By asset.'),
  }),
  refusals: ['ENGINE_UNAVAILABLE'],
  example: { input: {}, output: { stopped: 'NONE', terms: [{ ...exampleTerms, usedToday: '73250' }] } },
  commands: [{
    name: 'withdrawals terms',
    purpose: 'what may be withdrawn of each asset',
    explains: 'MINIMUM is the least amount of one withdrawal, USER/DAY what one user may withdraw in a UTC day, DAY what may be signed\n'
      + 'for all together, USED what was today: what waits takes nothing of it. A quarter of DAY is kept for withdrawals of at most a\n'
      + 'thousandth of it, and half of that quarter also for first ones of a user of at most a hundredth. What a user asks for in a day\n'
      + 'beyond APPROVAL waits for withdrawals approve. "-": there is no such limit. withdrawals set changes them.',
    example: ['withdrawals terms', 'withdrawals are open\n\nASSET  MINIMUM  USER/DAY  DAY      USED   APPROVAL\n'
      + 'USDC   1        50000     1000000  73250  10000'],
    show: ({ stopped: stop, terms }) => `${stopText(stop)}\n\n${table(
      ['ASSET', 'MINIMUM', 'USER/DAY', 'DAY', 'USED', 'APPROVAL'],
      terms.map((each) => [
        each.symbol, each.minimum, each.userDailyLimit ?? '-', each.dailyLimit ?? '-', each.usedToday, each.approvalAbove ?? '-',
      ]),
    )}`,
  }],
  run: ({ state }) => readingVault(() => ({
    stopped: WITHDRAWAL_STOP_NAMES[withdrawalsStopped(state)]!, terms: state.genesis.assets.map((asset) => termsOf(state, asset)),
  })),
})

/** Atoms of what is typed for a limit: `none` is no limit, absent stays as it is. */
function limitOf(asset: Asset, name: string, text: string | undefined, least: bigint): bigint | Refused {
  if (text === undefined) return -1n
  if (text === 'none' && least === 0n) return 0n
  return atomsOf(asset, name, text, 1n)
}
const LIMIT = new RegExp(`^none$|${DECIMAL.source}`)
describeForm(LIMIT, 'a decimal string, such as 12.5, or none')
const limit = (what: string) => Type.Optional(field(Type.String({ pattern: LIMIT.source }), what))

export const SetWithdrawalTerms = operatorRoute({
  method: 'POST', path: '/withdrawals/terms', token: true,
  summary: 'Other terms of an asset',
  description: 'What is not given stays. In force for withdrawals from now on; limits count what was withdrawn today already.',
  body: Type.Object({
    asset: field(Type.String({ minLength: 1, maxLength: 64 }), 'Asset, by id or symbol.'),
    minimum: Type.Optional(field(Amount, 'Least amount of one withdrawal.')),
    userDailyLimit: limit('What one user may withdraw in a UTC day; none: no limit.'),
    dailyLimit: limit('What may be signed in a UTC day for all together; none: no limit.'),
    approvalAbove: limit('What a user asks for in a UTC day beyond it waits for an operator; none: nothing does.'),
  }),
  output: Type.Object({ ...Terms.properties, sequence: fields.sequence }),
  refusals: [...SENDS, 'NOT_FOUND', 'ENGINE_UNAVAILABLE'],
  example: { input: { asset: 'USDC', dailyLimit: '1000000' }, output: { ...exampleTerms, sequence: 1042 } },
  commands: [{
    name: 'withdrawals set', parameters: [{ field: 'asset', typed: 'ASSET' }],
    options: [
      { field: 'minimum', typed: 'AMOUNT', option: 'minimum' }, { field: 'userDailyLimit', typed: 'LIMIT', option: 'user-day' },
      { field: 'dailyLimit', typed: 'LIMIT', option: 'day' }, { field: 'approvalAbove', typed: 'LIMIT', option: 'approval' },
    ],
    purpose: 'other terms of withdrawals of an asset',
    explains: 'ASSET is a symbol or an id, LIMIT an amount of it, or none. What is not given stays. In force for withdrawals from now on;\n'
      + 'a day is a UTC day of sequenced time, and what was withdrawn today counts already.',
    example: [
      'withdrawals set USDC --day 1000000',
      'USDC: at least 1, 50000 a user and day, 1000000 a day, approval above 10000 (sequence 1042)',
    ],
    wants: ({ minimum, userDailyLimit, dailyLimit, approvalAbove }) =>
      ([minimum, userDailyLimit, dailyLimit, approvalAbove].some((value) => value !== undefined) ? null
        : 'what shall change? There is --minimum, --user-day, --day and --approval'),
    show: ({ symbol: name, minimum, userDailyLimit, dailyLimit, approvalAbove, sequence }) =>
      `${name}: at least ${minimum}, ${userDailyLimit ?? 'no limit'} a user and day, ${dailyLimit ?? 'no limit'} a day, `
      + `${approvalAbove === null ? 'no approval' : `approval above ${approvalAbove}`} (sequence ${sequence})`,
  }],
  run: async (context, { asset: text, ...given }) => {
    const { state } = context
    const asset = assetNamed(state, text)
    if (asset === undefined) return new Refused('NOT_FOUND', undefined, { field: 'asset' })
    const minimum = limitOf(asset, 'minimum', given.minimum, 1n)
    const userDaily = limitOf(asset, 'userDailyLimit', given.userDailyLimit, 0n)
    const totalDaily = limitOf(asset, 'dailyLimit', given.dailyLimit, 0n)
    const approvalAbove = limitOf(asset, 'approvalAbove', given.approvalAbove, 0n)
    for (const value of [minimum, userDaily, totalDaily, approvalAbove]) if (value instanceof Refused) return value
    const values = { asset: asset.index, minimum, userDaily, totalDaily, approvalAbove } as Record<string, number | bigint>
    return sendCommand(context, CommandType.SET_WITHDRAWAL_TERMS, SET_WITHDRAWAL_TERMS_COMMAND, values, ({ sequence }) => {
      note(context, 'withdrawal terms set', { asset: asset.symbol, ...given, sequence })
      const { usedToday: _, ...terms } = termsOf(state, asset)
      return { ...terms, sequence: Number(sequence) }
    })
  },
})

export const StopWithdrawals = operatorRoute({
  method: 'POST', path: '/withdrawals/stop', token: true,
  summary: 'Stop all withdrawals, or allow them again',
  description: 'Stopped: nobody withdraws (WITHDRAWALS_STOPPED), nothing is authorised, no calldata is given. Authorisations that are out '
    + 'already are good until they expire: pause the vault contract against those.',
  body: Type.Object({ to: field(Type.Union([Type.Literal('stop'), Type.Literal('allow')]), 'stop or allow.') }),
  output: Type.Object({ stopped, before: stopped, sequence: fields.sequence }),
  refusals: SENDS,
  example: { input: { to: 'stop' }, output: { stopped: 'OPERATOR', before: 'NONE', sequence: 1042 } },
  commands: [{
    name: 'withdrawals stop', fixed: { to: 'stop' },
    purpose: 'stop all withdrawals',
    explains: 'Nobody withdraws, nothing is authorised, no calldata is given. Authorisations that are out already are good until they\n'
      + 'expire: pause the vault contract against those. It is in the journal and outlives a restart.',
    example: ['withdrawals stop', 'withdrawals are stopped (OPERATOR) (sequence 1042)'],
    show: ({ stopped: stop, sequence }) => `${stopText(stop)} (sequence ${sequence})`,
  }, {
    name: 'withdrawals allow', fixed: { to: 'allow' },
    purpose: 'allow withdrawals again',
    explains: 'Ends a stop of yours, and one of the exchange itself (SOLVENCY): look at solvency and at health first. When the vault has\n'
      + 'less than users have it stops them again.',
    example: ['withdrawals allow', 'withdrawals are open (sequence 1042)'],
    show: ({ sequence }) => `${stopText('NONE')} (sequence ${sequence})`,
  }],
  run: (context, { to }) => {
    const cause = to === 'stop' ? WithdrawalStop.OPERATOR : WithdrawalStop.NONE
    return sendCommand(context, CommandType.STOP_WITHDRAWALS, STOP_WITHDRAWALS_COMMAND, { cause }, ({ now, before, sequence }) => {
      note(context, `withdrawals: ${to}`, { sequence })
      return {
        stopped: WITHDRAWAL_STOP_NAMES[Number(now)]!, before: WITHDRAWAL_STOP_NAMES[Number(before)]!, sequence: Number(sequence),
      }
    })
  },
})
