/**
 * Deposits in suspense, for an operator: what came to the vault and is nobody's, because the exchange does not know its beneficiary,
 * application or token. The vault thread assigns them by itself once the account is there; by hand it is one command of lane 0.
 */
import Type, { type Static } from 'typebox'
import type { State } from '../../core/state/state.ts'
import { CommandType } from '../../core/layout/command.ts'
import { IdKind, parseId, userId } from '../../core/layout/ids.ts'
import { ASSIGN_SUSPENSE_COMMAND } from '../../core/layout/vault.ts'
import { chainCursors, lostDeposits, suspenseRows, type LostDepositView, type SuspenseView } from '../../core/view/vault.ts'
import { checksumAddress } from '../auth/challenge.ts'
import { amountText } from '../operations/amounts.ts'
import * as fields from '../operations/fields.ts'
import { Decimal, Nullable, rfc3339, Timestamp, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { describeForm } from '../operations/schema_errors.ts'
import { Refused, refusedField } from '../refused.ts'
import { hasAccount } from './policy.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'
import { table } from './text.ts'
import { readingVault } from './withdrawals.ts'

/** Rows in one answer. */
const LISTED_MAX = 200
/** Row and the sequence that made it. */
const SUSPENDED = /^(\d{1,7})-(\d{1,15})$/
/** Transaction and place of the log in its block. */
const PLACED = /^(0x[0-9a-f]{64})\/(\d{1,9})$/
const NAMED = new RegExp(`${SUSPENDED.source}|${PLACED.source}`)
describeForm(NAMED, 'what deposits list shows, as 0-1042, or a transaction hash, a slash and a log index')

const suspense = field(Type.String({ pattern: NAMED.source }), 'The deposit in suspense: its id, or TRANSACTION/LOG_INDEX.')
const USER = userId(1040, 7)
const Suspended = Type.Object({
  id: field(Nullable(Type.String()), 'Names it; null: it found no row.'),
  symbol: field(Nullable(Type.String()), 'The asset; null: a token that the exchange does not have, or several.'),
  amount: field(Nullable(Decimal), 'In units of the asset; null: it has none.'),
  remainder: field(Type.String(), 'Base units of the token that are less than an atom.'),
  counted: field(Type.Boolean(), 'Whether it is part of what was issued.'),
  beneficiary: field(Type.String(), 'Who is named by the deposit, in EIP-55 form.'),
  application: field(Nullable(Type.String()), 'Application that is named; null: none has that id.'),
  token: field(Nullable(Type.String()), 'Contract of the token; null: it found no row.'),
  chainId: field(Nullable(Type.Integer()), 'Where it came.'),
  block: field(Type.Integer(), 'Block.'), txHash: field(Nullable(Type.String()), 'Transaction.'),
  logIndex: field(Type.Integer(), 'Place of its log in the block.'),
  sequence: field(Type.Integer(), 'Command that put it there.'),
  createdAt: field(Nullable(Timestamp), 'When; null: it found no row.'),
})
type Suspended = Static<typeof Suspended>

const [ADDRESS, TX] = ['0x1111111111111111111111111111111111111111', `0x${'5e'.repeat(32)}`]
const example: Suspended = {
  id: '0-1042', symbol: 'USDC', amount: '25', remainder: '0', counted: true, beneficiary: ADDRESS, application: 'Ringbook',
  token: '0x0000000000000000000000000000000000001001', chainId: 1328, block: 77, txHash: TX, logIndex: 3, sequence: 1042,
  createdAt: '2026-01-02T03:04:05.678Z',
}

function described({ state, applications }: OperatorContext, view: SuspenseView, chains: readonly number[]): Suspended {
  const asset = state.genesis.assets[view.asset]
  return {
    id: `${view.row}-${view.sequence}`, symbol: asset?.symbol ?? null, amount: asset === undefined ? null : amountText(asset, view.amount),
    remainder: String(view.remainder), counted: view.counted, beneficiary: checksumAddress(view.beneficiary),
    application: applications.at(view.application)?.name ?? null, token: view.token, chainId: chains[view.chain] ?? null, block: view.block,
    txHash: view.txHash, logIndex: view.logIndex, sequence: view.sequence, createdAt: rfc3339(view.createdAt),
  }
}

function describedLost({ applications }: OperatorContext, view: LostDepositView, chains: readonly number[]): Suspended {
  return {
    id: null, symbol: null, amount: null, remainder: '0', counted: false, beneficiary: checksumAddress(view.beneficiary),
    application: applications.at(view.application)?.name ?? null, token: null, chainId: chains[view.chain] ?? null, block: view.block,
    txHash: view.txHash, logIndex: view.logIndex, sequence: view.sequence, createdAt: null,
  }
}

export const ListSuspense = operatorRoute({
  method: 'GET', path: '/deposits', token: true,
  summary: 'Deposits in suspense: they came, and are nobody\'s',
  description: `Newest first, at most ${LISTED_MAX} at once: \`next\` of an answer is \`before\` of the next request. Such a deposit is `
    + 'credited by itself when the wallet that it names has signed in to the application that it names. One that found no row (`id` is '
    + 'null) gets one when there is room. What is less than `minSweepRaw` of its token, for a wallet that nobody has, is not among them.',
  query: Type.Object({
    before: Type.Optional(field(Type.Integer({ minimum: 1 }), 'Those before this sequence only.')),
  }),
  output: Type.Object({
    total: field(Type.Integer(), 'All of them, with those that found no row.'),
    withoutRow: field(Type.Integer(), 'Of them, those that found no row.'),
    unknown: field(Type.Integer(), 'Those that found no row and are not listed: only the journal and the chain have them.'),
    next: field(Nullable(Type.Integer()), 'There are more, before this sequence; null: there are none.'),
    suspended: field(Type.Array(Suspended), `At most ${LISTED_MAX}, newest first.`),
  }),
  refusals: ['ENGINE_UNAVAILABLE'],
  example: { input: {}, output: { total: 1, withoutRow: 0, unknown: 0, next: null, suspended: [example] } },
  commands: [{
    name: 'deposits list', options: [{ field: 'before', typed: 'SEQUENCE', option: 'before' }],
    purpose: 'deposits in suspense: they came, and are nobody\'s',
    explains: 'A deposit names a wallet (FOR) and an application. When nobody has that account it stands here, and is credited by itself\n'
      + 'as soon as the wallet has signed in to that application. AMOUNT "-": of a token that the exchange does not have, or it found\n'
      + 'no row: then SUSPENSE is its transaction and log index, and it gets a row when there is room.\n'
      + `At most ${LISTED_MAX}, newest first; --before SEQUENCE, which the last line names, shows those before them.`,
    example: [
      'deposits list',
      '1 in suspense\n\nCREATED                   AMOUNT   APPLICATION  FOR                                         SUSPENSE\n'
        + `2026-01-02T03:04:05.678Z  25 USDC  Ringbook     ${ADDRESS}  0-1042`,
    ],
    show: ({ total, withoutRow, unknown, next, suspended }) => [
      total === 0 ? 'nothing is in suspense' : `${total} in suspense${withoutRow === 0 ? '' : `, ${withoutRow} of them without a row`}`,
      ...(unknown === 0 ? [] : [`${unknown} more found no row and are known to the journal alone`]),
      ...(suspended.length === 0 ? [] : ['', table(
        ['CREATED', 'AMOUNT', 'APPLICATION', 'FOR', 'SUSPENSE'],
        suspended.map((each) => [
          each.createdAt ?? '-', each.amount === null ? '-' : `${each.amount} ${each.symbol}`, each.application ?? '-',
          each.beneficiary, each.id ?? `${each.txHash}/${each.logIndex}`,
        ]),
      )]),
      ...(next === null ? [] : ['', `there are more: --before ${next}`]),
    ].join('\n'),
  }],
  run: (context, { before = Infinity }) => readingVault(() => {
    const { state } = context
    const chains = chainCursors(state).map(({ chainId }) => chainId)
    const { lost } = lostDeposits(state)
    // The last row stands for those without one; no two deposits are of one command.
    const [rows, counts] = split(suspenseRows(state), ({ row }) => row !== state.genesis.limits.suspense - 1)
    const all = [
      ...rows.map((view) => ({ sequence: view.sequence, show: () => described(context, view, chains) })),
      ...lost.map((view) => ({ sequence: view.sequence, show: () => describedLost(context, view, chains) })),
    ]
    const older = all.filter(({ sequence }) => sequence < before).sort((a, b) => b.sequence - a.sequence)
    const shown = older.slice(0, LISTED_MAX)
    return {
      total: all.length, withoutRow: lost.length, unknown: (counts[0]?.deposits ?? 0) - lost.length,
      next: older.length > shown.length ? shown.at(-1)!.sequence : null, suspended: shown.map(({ show }) => show()),
    }
  }),
})

const split = <T>(all: readonly T[], isFirst: (one: T) => boolean): readonly [T[], T[]] =>
  [all.filter(isFirst), all.filter((one) => !isFirst(one))]

/** The row that is named; `null`: there is none. */
function rowOf(state: State, named: string): SuspenseView | Refused | null {
  const [, txHash, logIndex] = PLACED.exec(named) ?? []
  const [, row, sequence] = SUSPENDED.exec(named) ?? []
  const last = state.genesis.limits.suspense - 1
  const isIt = (view: SuspenseView): boolean => (txHash === undefined
    ? view.row === Number(row) && view.sequence === Number(sequence)
    : view.row !== last && view.txHash === txHash && view.logIndex === Number(logIndex))
  const isLost = (view: LostDepositView): boolean => view.txHash === txHash && view.logIndex === Number(logIndex)
  return readingVault(() => suspenseRows(state).find(isIt) ?? (lostDeposits(state).lost.some(isLost)
    ? refusedField('suspense', 'suspense has no row yet: it gets one when another one is assigned') : null))
}

export const AssignSuspense = operatorRoute({
  method: 'POST', path: '/deposits/assign', token: true,
  summary: 'Give a deposit in suspense to a user',
  description: 'All of it, whoever it names. It cannot be taken back. VALIDATION_ERROR: of a token that the exchange does not have.',
  body: Type.Object({ suspense, userId: field(Uuid, 'Who gets it.') }),
  output: Type.Object({
    suspense, userId: field(Uuid, 'Who got it.'), symbol: field(Type.String(), 'The asset.'), amount: field(Decimal, 'How much.'),
    sequence: fields.sequence,
  }),
  refusals: [...SENDS, 'NOT_FOUND', 'ENGINE_UNAVAILABLE'],
  example: {
    input: { suspense: '0-1042', userId: USER }, output: { suspense: '0-1042', userId: USER, symbol: 'USDC', amount: '25', sequence: 1050 },
  },
  commands: [{
    name: 'deposits assign', parameters: [{ field: 'suspense', typed: 'SUSPENSE' }],
    options: [{ field: 'userId', typed: 'USER_ID', option: 'user' }],
    purpose: 'give a deposit in suspense to a user',
    explains: 'SUSPENSE is what deposits list shows, or a transaction hash, a slash and the index of the log in its block, as an explorer\n'
      + 'shows them. All of it, whoever the deposit names: be sure whose it is, it cannot be taken back.',
    example: [`deposits assign 0-1042 --user ${USER}`, `25 USDC are user ${USER}'s (sequence 1050)`],
    show: ({ amount, symbol, userId: user, sequence }) => `${amount} ${symbol} are user ${user}'s (sequence ${sequence})`,
  }],
  run: (context, { suspense: text, userId: user }) => {
    const { state } = context
    const id = parseId(IdKind.USER, user)
    if (id === null) return refusedField('userId', 'userId must be the id of a user')
    if (!hasAccount(state, id.slot, id.sequence)) return new Refused('NOT_FOUND', undefined, { field: 'userId' })
    const view = rowOf(state, text)
    if (view instanceof Refused) return view
    if (view === null) return new Refused('NOT_FOUND', undefined, { field: 'suspense' })
    const asset = state.genesis.assets[view.asset]
    if (asset === undefined) return refusedField('suspense', 'suspense is of a token that the exchange does not have')
    const values = { row: view.row, suspenseSequence: view.sequence, account: id.slot, createdSequence: id.sequence }
    return sendCommand(context, CommandType.ASSIGN_SUSPENSE, ASSIGN_SUSPENSE_COMMAND, values, ({ sequence }) => {
      const said = { suspense: text, userId: user, symbol: asset.symbol, amount: amountText(asset, view.amount) }
      note(context, 'deposit in suspense assigned', { ...said, sequence })
      return { ...said, sequence: Number(sequence) }
    })
  },
})
