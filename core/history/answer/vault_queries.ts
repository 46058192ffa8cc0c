/**
 * What may be asked of money in and out and of settlement, and what it answers; part of queries.ts, whose rules hold here too. Bytes are
 * hex digits behind 0x, in lower case.
 */
import type { Listing, Walk } from '../../view/listing.ts'

/** A withdrawal of any age; its nonce is its sequence. Its place in the listing: (sequence, 0). */
export interface HistoryWithdrawal {
  account: number
  sequence: number
  row: number
  asset: number
  /** Atoms. */
  amount: bigint
  /** Address on the hub. */
  destination: string
  /** WithdrawalStatus, and WithdrawalFlag bits. */
  status: number
  flags: number
  /** Unix ms; `deadline` 0: it has none yet. */
  createdAt: number
  updatedAt: number
  deadline: number
  /** `null`: no transaction was seen. */
  txHash: string | null
}

/** A deposit that an account got. Its place in the listing: (sequence, 0). */
export interface HistoryDeposit {
  account: number
  /** Of the command that gave it to the account. */
  sequence: number
  /** Unix ms: of that command. */
  time: number
  /** Row of the chain, and where on it. */
  chain: number
  block: number
  logIndex: number
  txHash: string
  beneficiary: string
  asset: number
  /** Atoms; and base units of the token that are less than one. */
  amount: bigint
  remainder: bigint
}

export interface WithdrawalsAsk extends Walk {
  account: number
  /** WithdrawalStatus numbers. */
  statuses?: number[]
  asset?: number
}

export interface DepositsAsk extends Walk {
  account: number
  asset?: number
}

/** A batch of settlement: the fills of the commands `from` to `through`, both included. */
export interface HistorySettlement {
  batch: number
  from: number
  through: number
  /** Leaves of the tree of its trades. */
  fills: number
  /** SettlementStatus. */
  status: number
  /** Unix ms; `confirmedAt` 0: it is not. */
  openedAt: number
  confirmedAt: number
  tradesRoot: string
  /** Of the transaction that has its roots; 0 and `null`: it is not confirmed. */
  block: number
  txHash: string | null
}

/** What proves that a trade is in its batch (core/settlement/proof.ts). */
export interface TradeProof {
  sequence: number
  index: number
  takerAccount: number
  makerAccount: number
  /** `null`: it waits for the next batch, and there is no proof yet. */
  batch: HistorySettlement | null
  /** Bytes of the leaf (core/settlement/leaves.ts). */
  leaf: string
  /** Place of the leaf in its tree, and siblings from the leaves up. */
  place: number
  proof: string[]
}

/** What proves what an account had of an asset when a batch was opened. */
export interface BalanceProof {
  batch: HistorySettlement
  leaf: string
  place: number
  /** Leaves of the tree of balances. */
  count: number
  proof: string[]
  root: string
}

export interface VaultQueries {
  /** `null`: it has no such one. */
  withdrawal: { ask: { account: number; sequence: number; row: number }; answer: HistoryWithdrawal | null }
  withdrawals: { ask: WithdrawalsAsk; answer: Listing<HistoryWithdrawal> }
  deposits: { ask: DepositsAsk; answer: Listing<HistoryDeposit> }
  /** `null`: it is not opened. `batch` 0: the one opened last. */
  settlement: { ask: { batch: number }; answer: HistorySettlement | null }
  /** `null`: there is no such trade. */
  tradeProof: { ask: { sequence: number; index: number }; answer: TradeProof | null }
  /** Of the newest batch that is confirmed, or of `batch`; `null`: it had nothing then, or nobody knows any more. */
  balanceProof: { ask: { account: number; asset: number; batch?: number }; answer: BalanceProof | null }
}
