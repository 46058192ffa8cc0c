/**
 * Withdrawals as people read them: from the row while one is under way (core/view/vault.ts), from the history when it is over. Its nonce in
 * the vault is the sequence that made it.
 */
import Type, { type Static } from 'typebox'
import type { HistoryWithdrawal } from '../../core/history/answer/vault_queries.ts'
import { IdKind, parseId, withdrawalId, type Id } from '../../core/layout/ids.ts'
import { WITHDRAWAL_STATUS_NAMES, WithdrawalFlag, type WithdrawalStatusName } from '../../core/layout/vault.ts'
import type { Asset, Genesis } from '../../core/state/genesis.ts'
import type { SweeperAsset, SweeperChain } from '../../core/state/sweeper.ts'
import { checksumAddress } from '../auth/challenge.ts'
import { rawOf } from '../chain/vault/amounts.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText } from './amounts.ts'
import * as fields from './fields.ts'
import { Nullable, rfc3339, Timestamp } from './operation.ts'
import { field, record } from './schema.ts'

export const WithdrawalStatus = record(
  'WithdrawalStatus',
  'PENDING waits for its authorisation, SIGNED has one that is yours to submit, SUBMITTED was seen on the chain. CONFIRMED was paid; '
    + 'FAILED, EXPIRED and CANCELLED were not, and the funds are available again.',
  Type.Union([
    Type.Literal('PENDING'), Type.Literal('SIGNED'), Type.Literal('SUBMITTED'), Type.Literal('CONFIRMED'), Type.Literal('FAILED'),
    Type.Literal('EXPIRED'), Type.Literal('CANCELLED'),
  ]),
)

export const nonceField = field(Type.String(), 'Nonce of its authorisation in the vault: a whole number as text.')

export const WithdrawalRecord = record('Withdrawal', 'A withdrawal to an address of the settlement chain.', Type.Object({
  id: fields.id,
  assetId: fields.assetId,
  token: fields.token,
  amount: fields.amount,
  amountRaw: field(Type.String(), 'The amount in smallest units of the token on the settlement chain.'),
  destination: field(Type.String(), 'Who is paid, in EIP-55 form.'),
  status: field(WithdrawalStatus, 'How far it is.'),
  needsApproval: field(Type.Boolean(), 'True while it waits for the approval of the operator, because of its amount.'),
  nonce: nonceField,
  txHash: Type.Optional(field(Type.String(), 'Transaction on the chain; absent until one was seen.')),
  createdAt: fields.createdAt,
  expiresAt: field(Nullable(Timestamp), 'Until when the vault takes its authorisation; null before SIGNED.'),
}))
export type WithdrawalRecord = Static<typeof WithdrawalRecord>

/** What a row and the history both say of one. */
type WithdrawalFacts = Pick<HistoryWithdrawal, 'row' | 'sequence' | 'asset' | 'amount' | 'destination' | 'status' | 'createdAt' | 'deadline'
  | 'txHash'> & { readonly needsApproval: boolean }

/** The chain of settlement; `undefined`: the exchange has none. */
export const hubOf = ({ sweeperChains }: Genesis): SweeperChain | undefined => sweeperChains.find(({ hub }) => hub)

/** The token of an asset on the chain of settlement; `undefined`: there is none. */
export const hubTokenOf = (genesis: Genesis, { symbol }: Asset): SweeperAsset | undefined =>
  hubOf(genesis)?.assets.find((each) => each.symbol === symbol)

export const statusName = (status: number): WithdrawalStatusName => WITHDRAWAL_STATUS_NAMES[status] as WithdrawalStatusName

export function withdrawalRecord({ genesis }: Gateway, facts: WithdrawalFacts): WithdrawalRecord {
  const { row, sequence, amount, txHash, deadline } = facts
  const asset = genesis.assets[facts.asset]!
  const hub = hubTokenOf(genesis, asset)
  return {
    id: withdrawalId(sequence, row),
    assetId: asset.id,
    token: hub?.tokenAddress ?? asset.token,
    amount: amountText(asset, amount),
    // An amount that the token cannot express was refused when it was asked for.
    amountRaw: String(rawOf(amount, hub?.decimals ?? asset.decimals, asset.scale) ?? 0n),
    destination: checksumAddress(facts.destination),
    status: statusName(facts.status),
    needsApproval: facts.needsApproval,
    nonce: String(sequence),
    ...(txHash === null ? {} : { txHash }),
    createdAt: rfc3339(facts.createdAt),
    expiresAt: deadline === 0 ? null : rfc3339(deadline),
  }
}

export const finishedRecord = (gateway: Gateway, found: HistoryWithdrawal): WithdrawalRecord =>
  withdrawalRecord(gateway, { ...found, needsApproval: (found.flags & WithdrawalFlag.NEEDS_APPROVAL) !== 0 })

export const noWithdrawal = (): Refused => new Refused('NOT_FOUND', 'Withdrawal not found', { field: 'withdrawalId' })

/** What the id of a withdrawal says; the refusal of one that no withdrawal ever had. */
export const withdrawalNamed = (text: string): Id | Refused => parseId(IdKind.WITHDRAWAL, text) ?? noWithdrawal()
