/**
 * Moves of collateral: between the wallet balance and the parent margin account, between the parent and margin sub-accounts, between a
 * margin account and its risk buckets (specification, Margin). Each is one sequenced step that moves all or nothing.
 *
 * A request with an idempotency key that cannot be sent, or whose answer does not come, is ORDER_SUBMISSION_UNAVAILABLE, as an order with
 * one: repeating it with the key finds out. Keys are shared with orders and transfers.
 */
import Type, { type Static } from 'typebox'
import { COLLATERAL_ANSWER } from '../../core/layout/answers.ts'
import { movementId, parentMarginId } from '../../core/layout/ids.ts'
import { CollateralMove } from '../../core/layout/margin.ts'
import { MarginAccountKind } from '../../core/view/margin.ts'
import { readAccount } from '../../core/view/accounts.ts'
import type { MarginAccountView } from '../../core/view/margin.ts'
import type { Views } from '../../core/layout/table.ts'
import { encodeCollateral } from '../bridge/encode.ts'
import type { CollateralTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { Amount, amountText, atomsOf } from './amounts.ts'
import { collateralRefusal } from './engine_refusal.ts'
import * as sample from './example_values.ts'
import { idempotencyKey, keyOf, REPEATED, submitKeyed } from './idempotency.ts'
import {
  bucketIdOf, collateralOf, findBucket, findMarginAccount, findMarginSub, marginAccountIdField, marginIdOf, riskBucketIdField,
} from './margin_summary.ts'
import { operation, pendingRequest, Uuid, type Call } from './operation.ts'
import { COMMAND, KEYED, READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field } from './schema.ts'

/** What each of these requests says beside its path. */
export const MoveBody = Type.Object({
  amount: field(Amount, 'In units of the collateral asset; positive, with at most its amountDecimals digits behind the point.'),
  idempotencyKey,
})
export type MoveBody = Static<typeof MoveBody>

const MoveAnswer = Type.Object({
  movementId: field(Uuid, 'The movement.'),
  amount: fields.amount,
  fromMarginAccountId: Type.Optional(field(Uuid, 'Margin account that gave; absent when it was no margin account.')),
  toMarginAccountId: Type.Optional(field(Uuid, 'Margin account that got it; absent when it was no margin account.')),
  fromRiskBucketId: Type.Optional(field(Uuid, 'Risk bucket that gave; absent when it was none.')),
  toRiskBucketId: Type.Optional(field(Uuid, 'Risk bucket that got it; absent when it was none.')),
})
/** Who gave and who got, by the names of the answer. */
type Ends = Omit<Static<typeof MoveAnswer>, 'movementId' | 'amount'>

/** What is moved: all of the command but amount and key. */
export type Move = Omit<CollateralTerms, 'amount' | 'key'>

/**
 * Moves `input.amount` as `move` says; `take` reads the RESULT of what was moved. Whatever is wrong with the input, and what the engine
 * refuses, refuses the call.
 */
export function moveCollateral(
  gateway: Gateway, call: Call<never>, input: MoveBody, move: Move, take: (records: Views, base: number, amount: string) => void,
  refusal: (gateway: Gateway, records: Views, base: number) => Refused = collateralRefusal,
): void {
  const asset = collateralOf(gateway)
  if (asset instanceof Refused) return call.refuse(asset)
  const amount = atomsOf(asset, 'amount', input.amount, 1n)
  if (amount instanceof Refused) return call.refuse(amount)
  const key = keyOf(input.idempotencyKey)
  if (key instanceof Refused) return call.refuse(key)
  const pending = pendingRequest(
    call, (records, base) => take(records, base, amountText(asset, amount)), (records, base) => refusal(gateway, records, base),
  )
  const encode = (at: number, correlation: number): void =>
    encodeCollateral(gateway.engine, at, correlation, call, { ...move, amount, key })
  submitKeyed(gateway, call, key, pending, encode)
}

/** Id of the movement of the RESULT at word `base`. A repeated request speaks of the first one's command. */
const movedId = ({ f64 }: Views, base: number): string => movementId(f64[(base + COLLATERAL_ANSWER.at.moveSequence) >>> 1]!, 0)

/** {@link moveCollateral} with the answer that all transfers have. */
const transfer = (gateway: Gateway, call: Call<Static<typeof MoveAnswer>>, input: MoveBody, move: Move, ends: Ends): void =>
  moveCollateral(gateway, call, input, move, (records, base, amount) =>
    call.answer({ movementId: movedId(records, base), amount, ...ends }))

/** A margin account as commands name it. */
const named = ({ kind, row, createdSequence }: MarginAccountView): Pick<Move, 'marginAccount' | 'createdSequence'> =>
  kind === MarginAccountKind.PARENT ? { marginAccount: -1, createdSequence: 0 } : { marginAccount: row, createdSequence }

const parentOf = ({ state }: Gateway, account: number): string =>
  parentMarginId(readAccount(state, account).createdSequence, account)

const EXAMPLE_MOVE = movementId(61, 0)
const MarginPath = Type.Object({ marginAccountId: marginAccountIdField })
const BucketPath = Type.Object({ riskBucketId: riskBucketIdField })
const refusals = ['NOT_FOUND', 'INSUFFICIENT_COLLATERAL', ...KEYED, ...READ, ...COMMAND] as const

/** Between the wallet balance and the margin account that the path names. */
function moveWallet(gateway: Gateway, call: Call<Static<typeof MoveAnswer>>, input: MoveBody & { marginAccountId: string }, into: boolean) {
  const margin = findMarginAccount(gateway, call.account, input.marginAccountId)
  if (margin instanceof Refused) return call.refuse(margin)
  const id = marginIdOf(gateway, call.account, margin)
  const move = into ? CollateralMove.DEPOSIT : CollateralMove.WITHDRAW
  transfer(gateway, call, input, { move, bucket: -1, ...named(margin) }, into ? { toMarginAccountId: id } : { fromMarginAccountId: id })
}

export const DepositCollateral = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/accounts/{marginAccountId}/collateral/transfer-in',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Deposit collateral',
  description: `Moves available balance of the wallet to a margin account. The first deposit makes the parent. ${REPEATED}`,
  answer: 'It was moved.',
  refusals: ['INSUFFICIENT_BALANCE', 'OVERLOADED', ...refusals],
  params: MarginPath,
  body: MoveBody,
  output: MoveAnswer,
  example: {
    input: { marginAccountId: sample.PARENT_MARGIN, amount: '500', idempotencyKey: '2f1c7c0e-deposit-1' },
    output: { movementId: EXAMPLE_MOVE, amount: '500', toMarginAccountId: sample.PARENT_MARGIN },
  },
  run: (gateway, call, input) => moveWallet(gateway, call, input, true),
})

export const WithdrawCollateral = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/accounts/{marginAccountId}/collateral/transfer-out',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Withdraw collateral',
  description: `Moves collateral that no risk bucket has back to the wallet balance, at most \`withdrawableCollateral\`. ${REPEATED}`,
  answer: 'It was moved.',
  refusals,
  params: MarginPath,
  body: MoveBody,
  output: MoveAnswer,
  example: {
    input: { marginAccountId: sample.PARENT_MARGIN, amount: '500' },
    output: { movementId: EXAMPLE_MOVE, amount: '500', fromMarginAccountId: sample.PARENT_MARGIN },
  },
  run: (gateway, call, input) => moveWallet(gateway, call, input, false),
})

/** Between the parent and the margin sub-account that the path names. */
function moveSub(gateway: Gateway, call: Call<Static<typeof MoveAnswer>>, input: MoveBody & { marginAccountId: string }, into: boolean) {
  const margin = findMarginSub(gateway, call.account, input.marginAccountId)
  if (margin instanceof Refused) return call.refuse(margin)
  const [id, parent] = [marginIdOf(gateway, call.account, margin), parentOf(gateway, call.account)]
  const move = into ? CollateralMove.TO_SUB : CollateralMove.FROM_SUB
  const ends = into ? { fromMarginAccountId: parent, toMarginAccountId: id } : { fromMarginAccountId: id, toMarginAccountId: parent }
  transfer(gateway, call, input, { move, bucket: -1, ...named(margin) }, ends)
}

export const TransferCollateralToSubAccount = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/sub-accounts/{marginAccountId}/collateral/transfer-in',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Move collateral to a margin sub-account',
  description: `Moves collateral of the parent that no risk bucket has to one of its sub-accounts. ${REPEATED}`,
  answer: 'It was moved.',
  refusals,
  params: MarginPath,
  body: MoveBody,
  output: MoveAnswer,
  example: {
    input: { marginAccountId: sample.MARGIN_SUB, amount: '250' },
    output: {
      movementId: EXAMPLE_MOVE, amount: '250', fromMarginAccountId: sample.PARENT_MARGIN, toMarginAccountId: sample.MARGIN_SUB,
    },
  },
  run: (gateway, call, input) => moveSub(gateway, call, input, true),
})

export const TransferCollateralFromSubAccount = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/sub-accounts/{marginAccountId}/collateral/transfer-out',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Move collateral back from a margin sub-account',
  description: `Moves collateral of a sub-account that none of its risk buckets has back to the parent. ${REPEATED}`,
  answer: 'It was moved.',
  refusals,
  params: MarginPath,
  body: MoveBody,
  output: MoveAnswer,
  example: {
    input: { marginAccountId: sample.MARGIN_SUB, amount: '250' },
    output: {
      movementId: EXAMPLE_MOVE, amount: '250', fromMarginAccountId: sample.MARGIN_SUB, toMarginAccountId: sample.PARENT_MARGIN,
    },
  },
  run: (gateway, call, input) => moveSub(gateway, call, input, false),
})

/** Between a risk bucket and its margin account. */
function moveBucket(gateway: Gateway, call: Call<Static<typeof MoveAnswer>>, input: MoveBody & { riskBucketId: string }, into: boolean) {
  const found = findBucket(gateway, call.account, input.riskBucketId)
  if (found instanceof Refused) return call.refuse(found)
  const { margin, bucket } = found
  const [account, id] = [marginIdOf(gateway, call.account, margin), bucketIdOf(bucket)]
  const ends = into ? { fromMarginAccountId: account, toRiskBucketId: id } : { fromRiskBucketId: id, toMarginAccountId: account }
  transfer(gateway, call, input, bucketMove(bucket, into), ends)
}

/** TO_BUCKET or FROM_BUCKET of this bucket. */
export const bucketMove = ({ row, createdSequence }: { row: number; createdSequence: number }, into: boolean): Move =>
  ({ move: into ? CollateralMove.TO_BUCKET : CollateralMove.FROM_BUCKET, marginAccount: -1, bucket: row, createdSequence })

export const TransferCollateralToRiskBucket = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/risk-buckets/{riskBucketId}/collateral/transfer-in',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Move collateral to a risk bucket',
  description: `Commits collateral of the margin account to one of its risk buckets. ${REPEATED}`,
  answer: 'It was moved.',
  refusals: ['RISK_BUCKET_IN_LIQUIDATION', ...refusals],
  params: BucketPath,
  body: MoveBody,
  output: MoveAnswer,
  example: {
    input: { riskBucketId: sample.RISK_BUCKET, amount: '100' },
    output: { movementId: EXAMPLE_MOVE, amount: '100', fromMarginAccountId: sample.PARENT_MARGIN, toRiskBucketId: sample.RISK_BUCKET },
  },
  run: (gateway, call, input) => moveBucket(gateway, call, input, true),
})

export const TransferCollateralFromRiskBucket = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/risk-buckets/{riskBucketId}/collateral/transfer-out',
  access: 'session', agent: 'no', maintenance: 'blocked', rate: 'movement',
  summary: 'Move collateral back from a risk bucket',
  description: 'Moves collateral of a risk bucket back to its margin account, at most `withdrawableCollateral`. All that is allocated of a '
    + `bucket without positions and orders closes it: its profit or loss settles with the margin account. ${REPEATED}`,
  answer: 'It was moved.',
  refusals: ['RISK_BUCKET_IN_LIQUIDATION', 'PRICE_STALE', ...refusals],
  params: BucketPath,
  body: MoveBody,
  output: MoveAnswer,
  example: {
    input: { riskBucketId: sample.RISK_BUCKET, amount: '100' },
    output: { movementId: EXAMPLE_MOVE, amount: '100', fromRiskBucketId: sample.RISK_BUCKET, toMarginAccountId: sample.PARENT_MARGIN },
  },
  run: (gateway, call, input) => moveBucket(gateway, call, input, false),
})
