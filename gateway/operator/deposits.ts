/**
 * Deposits in suspense, for an operator: what came to the vault and is nobody's, because the exchange does not know its beneficiary,
 * application or token. The vault thread assigns them by itself once the account is there; by hand it is one command of lane 0.
 */
import Type, { type Static } from 'typebox'
import type { State } from '../../core/state/state.ts'
import { CommandType } from '../../core/layout/command.ts'
import { IdKind, parseId, userId } from '../../core/layout/ids.ts'
import { ASSIGN_SUSPENSE_COMMAND } from '../../core/layout/vault.ts'
import { chainCursors, suspenseRows, type SuspenseView } from '../../core/view/vault.ts'
import { checksumAddress } from '../auth/challenge.ts'
import { amountText } from '../operations/amounts.ts'
import * as fields from '../operations/fields.ts'
import { Decimal, Nullable, rfc3339, Uuid } from '../operations/operation.ts'
import { field } from '../operations/schema.ts'
import { Refused, refusedField } from '../refused.ts'
import { hasAccount } from './policy.ts'
import { note, operatorRoute, SENDS, sendCommand, type OperatorContext } from './route.ts'
import { table } from './text.ts'
import { readingVault } from './withdrawals.ts'

/** Rows in one answer. */
const LISTED_MAX = 200
/** Row and the sequence that made it. */
const SUSPENDED = /^(\d{1,7})-(\d{1,15})$/

const suspense = field(Type.String({ pattern: SUSPENDED.source }), 'The deposit in suspense.')
const USER = userId(1040, 7)
const Suspended = Type.Object({
  id: suspense, symbol: field(Nullable(Type.String()), 'The asset; null: a token that the exchange does not have, or several.'),
  amount: field(Nullable(Decimal), 'In units of the asset; null: it has none.'),
  remainder: field(Type.String(), 'Base units of the token that are less than an atom.'),
  deposits: field(Type.Integer(), 'How many it stands for: more than 1 when the pool was full.'),
  counted: field(Type.Boolean(), 'Whether it is part of what was issued.'),
  beneficiary: field(Type.String(), 'Who is named by the deposit, in EIP-55 form.'),
  application: field(Nullable(Type.String()), 'Application that is named; null: none has that id.'),
  token: field(Type.String(), 'Contract of the token.'), chainId: field(Nullable(Type.Integer()), 'Where it came.'),
  block: field(Type.Integer(), 'Block.'), txHash: field(Nullable(Type.String()), 'Transaction.'), createdAt: fields.createdAt,
})
type Suspended = Static<typeof Suspended>

const [ADDRESS, TX] = ['0x1111111111111111111111111111111111111111', `0x${'5e'.repeat(32)}`]
const example: Suspended = {
  id: '0-1042', symbol: 'USDC', amount: '25', remainder: '0', deposits: 1, counted: true, beneficiary: ADDRESS, application: 'Ringbook',
  token: '0x0000000000000000000000000000000000001001', chainId: 1328, block: 77, txHash: TX, createdAt: '2026-01-02T03:04:05.678Z',
}

function described({ state, applications }: OperatorContext, view: SuspenseView, chains: readonly number[]): Suspended {
  const asset = state.genesis.assets[view.asset]
  return {
    id: `${view.row}-${view.sequence}`, symbol: asset?.symbol ?? null, amount: asset === undefined ? null : amountText(asset, view.amount),
    remainder: String(view.remainder), deposits: view.deposits, counted: view.counted, beneficiary: checksumAddress(view.beneficiary),
    application: applications.at(view.application)?.name ?? null, token: view.token, chainId: chains[view.chain] ?? null, block: view.block,
    txHash: view.txHash, createdAt: rfc3339(view.createdAt),
  }
}

export const ListSuspense = operatorRoute({
  method: 'GET', path: '/deposits', token: true,
  summary: 'Deposits in suspense: they came, and are nobody\'s',
  description: `The newest ${LISTED_MAX}. Such a deposit is credited by itself when the wallet that it names has signed in to the `
    + 'application that it names.',
  output: Type.Object({
    total: field(Type.Integer(), 'Rows in suspense.'), suspended: field(Type.Array(Suspended), `The newest ${LISTED_MAX} of them.`),
  }),
  refusals: ['ENGINE_UNAVAILABLE'],
  example: { input: {}, output: { total: 1, suspended: [example] } },
  commands: [{
    name: 'deposits list',
    purpose: 'deposits in suspense: they came, and are nobody\'s',
    explains: 'A deposit names a wallet (FOR) and an application. When nobody has that account it stands here, and is credited by itself\n'
      + 'as soon as the wallet has signed in to that application. AMOUNT "-": of a token that the exchange does not have. DEPOSITS\n'
      + `above 1: the pool was full, and the row stands for all that came then. The newest ${LISTED_MAX} are listed.`,
    example: [
      'deposits list',
      '1 in suspense\n\nCREATED                   AMOUNT   DEPOSITS  APPLICATION  FOR                                         SUSPENSE\n'
        + `2026-01-02T03:04:05.678Z  25 USDC         1  Ringbook     ${ADDRESS}  0-1042`,
    ],
    show: ({ total, suspended }) => [
      total === 0 ? 'nothing is in suspense' : `${total} in suspense`,
      ...(suspended.length === 0 ? [] : ['', table(
        ['CREATED', 'AMOUNT', 'DEPOSITS', 'APPLICATION', 'FOR', 'SUSPENSE'],
        suspended.map((each) => [
          each.createdAt, each.amount === null ? '-' : `${each.amount} ${each.symbol}`, each.deposits, each.application ?? '-',
          each.beneficiary, each.id,
        ]),
      )]),
    ].join('\n'),
  }],
  run: (context) => readingVault(() => {
    const rows = suspenseRows(context.state)
    const chains = chainCursors(context.state).map(({ chainId }) => chainId)
    const newest = rows.sort((a, b) => b.sequence - a.sequence).slice(0, LISTED_MAX)
    return { total: rows.length, suspended: newest.map((view) => described(context, view, chains)) }
  }),
})

/** The row that is named; `null`: there is none. */
function rowOf(state: State, named: string): SuspenseView | Refused | null {
  const [, row, sequence] = SUSPENDED.exec(named) ?? []
  return readingVault(() => suspenseRows(state).find((view) => view.row === Number(row) && view.sequence === Number(sequence)) ?? null)
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
    explains: 'SUSPENSE is what deposits list shows. All of it, whoever the deposit names: be sure whose it is, it cannot be taken back.',
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
