/**
 * Records of money in and out and of settlement in the pages of the history (layout.ts, which says what the tables are).
 *
 * Batches follow each other without a gap, so that batch n is record n - 1, and a chunk belongs to the batch that was opened after it. The
 * tree of a batch's trades stands here by chunks alone: {@link CHUNK_LEAVES} trades each but the last of a batch, with the root over them,
 * which is a node of the tree. What is below is made of the trades again (project/trade_walk.ts); what is above, of the chunks. So a batch
 * of nine million trades keeps 420 kB, and a proof reads one chunk of trades.
 */
import { defineLayout } from '../../layout/table.ts'

/** A withdrawal as it is now. */
export const WITHDRAWAL_RECORD = defineLayout('withdrawal_record', {
  /** Of the command that made it. */
  sequence: 'f64',
  /** Unix ms; `deadline` 0: it has none yet. */
  createdAt: 'f64',
  updatedAt: 'f64',
  deadline: 'f64',
  /** Atoms. */
  amount: 'i64',
  row: 'i32',
  asset: 'i32',
  /** WithdrawalStatus, and WithdrawalFlag bits. */
  status: 'i32',
  flags: 'i32',
  /** Zero: no transaction was seen. */
  txHash: 'bytes32',
  destination: 'bytes20',
  reserved: 'i32',
})

/** A deposit that an account got; one in suspense has its record once it is assigned. */
export const DEPOSIT_RECORD = defineLayout('deposit_record', {
  /** Of the command that gave it to the account. */
  sequence: 'f64',
  /** Unix ms: of that command. */
  time: 'f64',
  block: 'f64',
  /** Atoms, and base units of the token that are less than one. */
  amount: 'i64',
  remainder: 'i64',
  /** Row of the chain. */
  chain: 'i32',
  logIndex: 'i32',
  asset: 'i32',
  reserved: 'i32',
  txHash: 'bytes32',
  beneficiary: 'bytes20',
  reserved2: 'i32',
})

/** A batch of settlement. */
export const SETTLEMENT_RECORD = defineLayout('settlement_record', {
  /** First and last sequence. */
  from: 'f64',
  through: 'f64',
  fills: 'f64',
  /** Unix ms; `confirmedAt` 0: it is not. */
  openedAt: 'f64',
  confirmedAt: 'f64',
  /** Of the transaction that confirmed it. */
  block: 'f64',
  /** Number of its first chunk, and how many it has. */
  firstChunk: 'f64',
  chunks: 'i32',
  /** SettlementStatus. */
  status: 'i32',
  txHash: 'bytes32',
  tradesRoot: 'bytes32',
})

/** Trades of a chunk: the leaves under a node of height 10. */
export const CHUNK_LEAVES = 1024

/** Trades of a batch that follow each other. */
export const CHUNK_RECORD = defineLayout('settlement_chunk', {
  /** The last one. */
  sequence: 'f64',
  index: 'i32',
  trades: 'i32',
  root: 'bytes32',
})

/** Most batches that a reference of an order counts (layout.ts): one a minute for thirty years. What is beyond, the order itself knows. */
export const MOST_BATCHES = 2 ** 24 - 1
