/**
 * Settlement on the chain: how far a trade and an order have come, and what proves that a trade or a balance is in its batch.
 *
 * A batch has the fills of a run of commands, so how far a fill has come is a comparison of its sequence, made when it is read. A proof is
 * the bytes of a leaf (core/settlement/leaves.ts), its place among so many and the siblings up to the root that the vault has; whoever
 * verifies it needs nothing else of the exchange.
 */
import Type, { type Static } from 'typebox'
import type { BalanceProof, HistorySettlement, TradeProof } from '../../core/history/answer/vault_queries.ts'
import { outcomeOf, Reason, Status } from '../../core/layout/event.ts'
import { SettlementStatus as BatchStatus } from '../../core/layout/vault.ts'
import type { State } from '../../core/state/state.ts'
import { VAULT } from '../../core/state/vault_rows.ts'
import { field, record } from './schema.ts'
import { Nullable } from './operation.ts'

/** How far the settlement of a trade on the chain has come. */
export const SettlementStatus = record(
  'SettlementStatus',
  'PENDING waits for settlement on the chain, SETTLED is handed over to it, SETTLED_ON_CHAIN is final.',
  Type.Union([Type.Literal('PENDING'), Type.Literal('SETTLED'), Type.Literal('SETTLED_ON_CHAIN')]),
)
export type SettlementStatus = Static<typeof SettlementStatus>

/** How far the fills of the command `sequence` have come. Both words only grow, and the confirmed one never passes the other. */
export function settlementOf({ vaultF64 }: Pick<State, 'vaultF64'>, sequence: number): SettlementStatus {
  if (sequence <= vaultF64[VAULT.CONFIRMED_THROUGH >>> 1]!) return 'SETTLED_ON_CHAIN'
  return sequence <= vaultF64[VAULT.THROUGH >>> 1]! ? 'SETTLED' : 'PENDING'
}

const OUTCOMES: Readonly<Record<SettlementStatus, number>> = {
  PENDING: outcomeOf(Status.FILLED, Reason.NONE),
  SETTLED: outcomeOf(Status.SETTLED, Reason.NONE),
  SETTLED_ON_CHAIN: outcomeOf(Status.SETTLED_ON_CHAIN, Reason.NONE),
}

/** The outcome of an order that was filled, whose last fill is of the command `sequence`. */
export const settledOutcome = (state: Pick<State, 'vaultF64'>, sequence: number): number => OUTCOMES[settlementOf(state, sequence)]

export const SettlementProof = record(
  'SettlementProof',
  'Proves that a trade or a balance is in a batch of settlement. SHA-256 throughout: a leaf hashes as 0x00 and its bytes, a node as 0x01 '
    + 'and its two children; the last node of an odd level goes up as it is, and the proof has no sibling there.',
  Type.Object({
    batch: field(Type.Integer(), 'Number of the batch, by which the vault has its roots.'),
    status: field(SettlementStatus, 'SETTLED: its roots are on their way; SETTLED_ON_CHAIN: they stand in the vault.'),
    leaf: field(Type.String(), 'Bytes of the leaf, 0x and hex digits.'),
    index: field(Type.Integer(), 'Place of the leaf, from 0.'),
    count: field(Type.Integer(), 'Leaves of the tree.'),
    proof: field(Type.Array(Type.String(), { maxItems: 64 }), 'Siblings from the leaf up, 32 bytes each.'),
    root: field(Type.String(), 'Root of the tree.'),
    txHash: field(Nullable(Type.String()), 'Transaction that posted the roots; null while the batch is not on the chain.'),
  }),
)
export type SettlementProof = Static<typeof SettlementProof>

const batchOf = ({ batch, status, txHash }: HistorySettlement): Pick<SettlementProof, 'batch' | 'status' | 'txHash'> =>
  ({ batch, status: status === BatchStatus.CONFIRMED ? 'SETTLED_ON_CHAIN' : 'SETTLED', txHash })

/** Of a trade; `null`: it waits for the next batch. */
export function tradeSettlement({ batch, leaf, place, proof }: TradeProof): SettlementProof | null {
  if (batch === null) return null
  return { ...batchOf(batch), leaf, index: place, count: batch.fills, proof, root: batch.tradesRoot }
}

export const balanceSettlement = ({ batch, leaf, place, count, proof, root }: BalanceProof): SettlementProof =>
  ({ ...batchOf(batch), leaf, index: place, count, proof, root })
