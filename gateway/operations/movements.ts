/**
 * Movements, newest first: every change of a balance of the caller, with the balance after it. From the history.
 *
 * CREDIT and DEBIT change what the account has; LOCK and UNLOCK move between available and locked.
 */
import Type, { type Static } from 'typebox'
import { Entry, ENTRY_NAMES, Reference, Transaction, TRANSACTION_NAMES, type HistoryMovement } from '../../core/history/answer/queries.ts'
import { movementId, orderId, positionId, riskBucketId, tradeId, withdrawalId } from '../../core/layout/ids.ts'
import type { Gateway } from '../context.ts'
import { amountText } from './amounts.ts'
import { TimeRange, UNKNOWN } from './history_filters.ts'
import { listHistory } from './history_listing.ts'
import { ListingOutput, ListingQuery } from './listing.ts'
import { marginAccountName } from './order_record.ts'
import { Decimal, Nullable, operation, rfc3339, Uuid } from './operation.ts'
import * as sample from './example_values.ts'
import { HISTORY } from './refusal_groups.ts'
import { PAGES } from './listing.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { findAsset } from './lookup.ts'

export const EntryType = record(
  'EntryType', 'CREDIT and DEBIT change what the account has; LOCK and UNLOCK move between available and locked.',
  Type.Union([Type.Literal('CREDIT'), Type.Literal('DEBIT'), Type.Literal('LOCK'), Type.Literal('UNLOCK')]),
)
type EntryType = Static<typeof EntryType>

export const TransactionType = record('TransactionType', 'What caused a movement.', Type.Union([
  Type.Literal('DEPOSIT'), Type.Literal('WITHDRAWAL'), Type.Literal('TRADE'), Type.Literal('FEE'), Type.Literal('REBATE'),
  Type.Literal('APPLICATION_FEE'), Type.Literal('TRANSFER'), Type.Literal('FUNDING'), Type.Literal('LIQUIDATION'), Type.Literal('ADL'),
  Type.Literal('FAUCET'), Type.Literal('REFERRAL_REWARD'), Type.Literal('REVENUE_SHARE'), Type.Literal('SETTLEMENT'),
  Type.Literal('ADJUSTMENT'),
]))
type TransactionType = Static<typeof TransactionType>

export const MovementRecord = record('Movement', 'One change of one balance.', Type.Object({
  id: fields.id,
  assetId: fields.assetId,
  /** Contract address. */
  token: fields.token,
  symbol: fields.symbol,
  entryType: field(EntryType, 'CREDIT and DEBIT change what the account has; LOCK and UNLOCK move between available and locked.'),
  transactionType: field(TransactionType, 'What caused the movement.'),
  amount: fields.amount,
  /** Available after it. */
  balanceAfter: field(Decimal, 'Available balance after the movement.'),
  lockedAfter: field(Decimal, 'Locked balance after the movement.'),
  /** Of a transfer it is that of its first movement, which both movements name; a deposit is named by `txHash` alone. */
  referenceId: field(
    Nullable(Uuid),
    'What it belongs to: order, trade, withdrawal, position, risk bucket, or the first movement of its transfer; null when it came '
      + 'otherwise.',
  ),
  marginAccountId: Type.Optional(field(
    Uuid, 'Margin account whose collateral changed: balances are what it has free and in risk buckets. Absent: a wallet balance.',
  )),
  riskBucketId: Type.Optional(field(Uuid, 'Risk bucket of the margin account that it concerns.')),
  /** Transaction on the chain, of deposits and withdrawals. */
  txHash: Type.Optional(field(Type.String(), 'Transaction on the chain, of deposits and of withdrawals that were paid; absent otherwise.')),
  createdAt: fields.createdAt,
}))
export type MovementRecord = Static<typeof MovementRecord>

function referenceOf({ reference, referenceSequence, referenceSlot }: HistoryMovement): string | null {
  if (reference === Reference.POSITION) return positionId(referenceSequence, referenceSlot)
  if (reference === Reference.RISK_BUCKET) return riskBucketId(referenceSequence, referenceSlot)
  if (reference === Reference.WITHDRAWAL) return withdrawalId(referenceSequence, referenceSlot)
  if (reference === Reference.ORDER) return orderId(referenceSequence, referenceSlot)
  if (reference === Reference.TRANSFER) return movementId(referenceSequence, referenceSlot)
  return reference === Reference.TRADE ? tradeId(referenceSequence, referenceSlot) : null
}

export function movementRecord(gateway: Gateway, movement: HistoryMovement): MovementRecord {
  const asset = gateway.genesis.assets[movement.asset]!
  return {
    id: movementId(movement.sequence, movement.index),
    assetId: asset.id,
    token: asset.token,
    symbol: asset.symbol,
    entryType: ENTRY_NAMES[movement.entry] as EntryType,
    transactionType: TRANSACTION_NAMES[movement.transaction] as TransactionType,
    amount: amountText(asset, movement.amount),
    balanceAfter: amountText(asset, movement.available),
    lockedAfter: amountText(asset, movement.locked),
    referenceId: referenceOf(movement),
    ...marginOf(movement),
    ...(movement.txHash === undefined || movement.txHash === null ? {} : { txHash: movement.txHash }),
    createdAt: rfc3339(movement.time),
  }
}

function marginOf({ account, margin }: HistoryMovement): Pick<MovementRecord, 'marginAccountId' | 'riskBucketId'> {
  if (margin === undefined) return {}
  const { bucket } = margin
  const marginAccountId = marginAccountName(account, margin.account)
  return bucket === null ? { marginAccountId } : { marginAccountId, riskBucketId: riskBucketId(bucket.sequence, bucket.row) }
}

export const ListMovements = operation({
  service: 'AccountsService', method: 'GET', path: '/api/v1/accounts/movements',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'Movements of balances',
  description: 'Every change of a balance of the caller with the balance after it, newest first: deposits, withdrawals, credits, trades, '
    + 'fees, and what orders and withdrawals lock and free; and of the collateral of its margin accounts: transfers, what risk buckets '
    + `take and give back, profit, funding and fees of positions. ${PAGES}`,
  answer: 'A page of movements.',
  refusals: HISTORY,
  query: Type.Object({
    ...ListingQuery,
    entryType: Type.Optional(
      field(EntryType, 'CREDIT and DEBIT change what the account has; LOCK and UNLOCK move between available and locked.'),
    ),
    transactionType: Type.Optional(field(TransactionType, 'What caused the movement.')),
    assetId: Type.Optional(fields.assetId),
    ...TimeRange,
  }),
  output: Type.Object({ movements: field(Type.Array(MovementRecord), 'Newest first.'), ...ListingOutput }),
  example: {
    input: { assetId: sample.USDC, transactionType: 'FEE', pageSize: 20 },
    output: { movements: [sample.movement], ...sample.page },
  },
  run: (gateway, call, input) => {
    const { assetId, entryType, transactionType } = input
    const filters = {
      account: call.account,
      asset: assetId === undefined ? undefined : (findAsset(gateway, assetId)?.index ?? UNKNOWN),
      entry: entryType === undefined ? undefined : Entry[entryType],
      transaction: transactionType === undefined ? undefined : Transaction[transactionType],
    }
    listHistory(gateway, call, 'ListMovements', input, 'movements', filters, (rows, fields) =>
      call.answer({ movements: rows.map((movement) => movementRecord(gateway, movement)), ...fields }),
    )
  },
})
