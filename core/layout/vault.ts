/**
 * Money in and out, and settlement on the chain, as commands and as the events that tell of them (programs/withdrawals.ts, deposits.ts,
 * settlement.ts). The chain itself is never asked here: the vault thread (gateway/chain/vault) looks at it and says what it found as
 * commands of lane 0, so that a replay needs no chain.
 */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/** Most chains whose deposits are watched; the hub among them. */
export const VAULT_CHAINS_MAX = 8
/** Batches of settlement that are opened and not confirmed. */
export const OPEN_SETTLEMENTS_MAX = 8

/** What became of a withdrawal. The numbers are part of the journal and snapshot format. */
export const WithdrawalStatus = {
  /** Funds are locked; it waits for its authorisation, or for the operator's approval first (FLAG below). */
  PENDING: 1,
  /** It may be signed, with this deadline and no other: the deadline stands in the journal before any signature exists. */
  SIGNED: 2,
  /** A transaction that carries it was seen; it may still vanish. */
  SUBMITTED: 3,
  /** Paid, behind the confirmations. Terminal, as all that follow. */
  CONFIRMED: 4,
  FAILED: 5,
  /** The deadline and the confirmations behind it are over, and the nonce is unused: the funds are the user's again. */
  EXPIRED: 6,
  /** The operator refused it. */
  CANCELLED: 7,
} as const
export const WITHDRAWAL_STATUS_NAMES =
  ['', 'PENDING', 'SIGNED', 'SUBMITTED', 'CONFIRMED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const
export type WithdrawalStatusName = Exclude<(typeof WITHDRAWAL_STATUS_NAMES)[number], ''>
/** Bits of a withdrawal. NEEDS_APPROVAL: beyond the threshold of its account's day, and not approved yet. */
export const WithdrawalFlag = { NEEDS_APPROVAL: 1 } as const
/** Why withdrawals are stopped; the higher one stands. */
export const WithdrawalStop = { NONE: 0, OPERATOR: 1, SOLVENCY: 2 } as const
export const WITHDRAWAL_STOP_NAMES = ['NONE', 'OPERATOR', 'SOLVENCY'] as const

/**
 * Signed by the account's own wallet: locks atoms for a withdrawal to an address of the hub. Key and payload stand as in ORDER_COMMAND
 * (command.ts). Its sequence is the nonce of its authorisation.
 */
export const INITIATE_WITHDRAWAL_COMMAND = defineLayout('initiate_withdrawal', {
  ...HEADER,
  asset: 'i32',
  /** Option.KEYED or 0. */
  options: 'u32',
  /** Atoms, at least 1. */
  amount: 'i64',
  /** Not zero. */
  destination: 'bytes20',
}, {
  key: 'bytes16',
  payload: 'bytes16',
  unused2: 'bytes56',
})

/** Of lane 0, the vault thread: what the chain says of a withdrawal, or that it may be signed. */
export const ADVANCE_WITHDRAWAL_COMMAND = defineLayout('advance_withdrawal', {
  ...HEADER,
  /** Row of the withdrawal ... */
  row: 'i32',
  /** {@link WithdrawalStatus}, above PENDING. SUBMITTED may go back to SIGNED: the transaction vanished. */
  to: 'i32',
  /** ... and the sequence that made it. */
  withdrawalSequence: 'f64',
  /** SIGNED: until when the vault takes it, Unix ms, whole seconds. */
  deadline: 'f64',
  /** Block of the hub that says so: of the transaction, or the confirmed one that is behind the deadline; 0: none does. */
  block: 'f64',
  /** Zero where there is none. */
  txHash: 'bytes32',
})

/** Of lane 0, the operator: a withdrawal that needs approval gets it, or is cancelled. */
export const REVIEW_WITHDRAWAL_COMMAND = defineLayout('review_withdrawal', {
  ...HEADER,
  row: 'i32',
  /** 1: approve; 0: cancel. Any withdrawal that is PENDING may be cancelled. */
  approve: 'i32',
  withdrawalSequence: 'f64',
})

/** Of lane 0, the operator: what may be withdrawn of an asset. Atoms; -1: as it is. */
export const SET_WITHDRAWAL_TERMS_COMMAND = defineLayout('set_withdrawal_terms', {
  ...HEADER,
  asset: 'i32',
  reserved: 'i32',
  /** Least amount, at least 1. */
  minimum: 'i64',
  /** What one user may ask for, and what may be signed for all together, in a UTC day; 0: no limit. */
  userDaily: 'i64',
  totalDaily: 'i64',
  /** What an account asks for in a UTC day beyond this waits for the operator; 0: nothing does. */
  approvalAbove: 'i64',
})

/** Of lane 0: {@link WithdrawalStop}; NONE allows them again. */
export const STOP_WITHDRAWALS_COMMAND = defineLayout('stop_withdrawals', { ...HEADER, cause: 'i32' })

/**
 * Of lane 0, the vault thread: a deposit behind its confirmations. Deposits of a chain come in order of (block, logIndex); one that is not
 * behind the last one is REPEATED_DEPOSIT.
 */
export const CREDIT_DEPOSIT_COMMAND = defineLayout('credit_deposit', {
  ...HEADER,
  /** Row of the chain (ADVANCE_CHAIN). */
  chain: 'i32',
  /** Place of the log in its block. */
  logIndex: 'i32',
  block: 'f64',
  /** -1: a token that the exchange does not have. */
  asset: 'i32',
  /** -1: none has that id. */
  application: 'i32',
  /** Atoms; 0 of an unknown token, or when less than an atom came. */
  amount: 'i64',
  /** Base units of the token that are less than an atom: they stay in the vault and are nobody's. */
  remainder: 'i64',
  txHash: 'bytes32',
  beneficiary: 'bytes20',
  token: 'bytes20',
})

/** Of lane 0, the vault thread: how far a chain was read. All deposits up to this block were sent before. */
export const ADVANCE_CHAIN_COMMAND = defineLayout('advance_chain', {
  ...HEADER,
  /** Row; the first free one makes it. */
  chain: 'i32',
  /** 1, the operator: back to an older block, because the chain reorganised behind its confirmations. */
  rewind: 'i32',
  chainId: 'f64',
  block: 'f64',
  /** Time of the block, Unix ms. */
  blockTime: 'f64',
  blockHash: 'bytes32',
})

/** Of lane 0: a deposit that stands in suspense becomes that of an account. */
export const ASSIGN_SUSPENSE_COMMAND = defineLayout('assign_suspense', {
  ...HEADER,
  row: 'i32',
  account: 'i32',
  /** The sequence that made the row, and the one that made the account. */
  suspenseSequence: 'f64',
  createdSequence: 'f64',
})

/** Of lane 0, the vault thread: the next batch of settlement has all fills since the one before, up to this command. */
export const OPEN_SETTLEMENT_COMMAND = defineLayout('open_settlement', {
  ...HEADER,
  /** One more than the last one. */
  batch: 'f64',
})

/** Of lane 0, the vault thread: the roots of a batch stand on the hub, behind the confirmations. In order of batches. */
export const CONFIRM_SETTLEMENT_COMMAND = defineLayout('confirm_settlement', {
  ...HEADER,
  batch: 'f64',
  block: 'f64',
  tradesRoot: 'bytes32',
  balancesRoot: 'bytes32',
  txHash: 'bytes32',
})

/** Of lane 0, the vault thread: atoms that the faucet issued were minted on the hub too, for the vault. */
export const FAUCET_MINTED_COMMAND = defineLayout('faucet_minted', {
  ...HEADER,
  asset: 'i32',
  reserved: 'i32',
  amount: 'i64',
  /** Every request up to this sequenced time is among them, Unix ms. */
  through: 'f64',
  txHash: 'bytes32',
})

/** A withdrawal as it is now; the balance of its account changed with PENDING and with every terminal status. */
export const WITHDRAWAL = defineLayout('withdrawal', {
  kind: 'u32',
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  /** The sequence that made it, which is its nonce; with its row its identity. */
  withdrawalSequence: 'f64',
  row: 'i32',
  asset: 'i32',
  amount: 'i64',
  /** {@link WithdrawalStatus}. */
  status: 'i32',
  /** {@link WithdrawalFlag} bits. */
  flags: 'i32',
  /** Unix ms; 0 before SIGNED. */
  deadline: 'f64',
  createdAt: 'f64',
  txHash: 'bytes32',
  destination: 'bytes20',
  /** Status before; 0: it was made by this command. */
  before: 'i32',
})

/** A deposit; the CREDIT of its account is before it. */
export const DEPOSIT = defineLayout('deposit', {
  kind: 'u32',
  /** -1: it stands in suspense. */
  account: 'i32',
  sequence: 'f64',
  time: 'f64',
  chain: 'i32',
  logIndex: 'i32',
  block: 'f64',
  asset: 'i32',
  /** Row in suspense that it went to, or came from; -1: none. */
  suspense: 'i32',
  amount: 'i64',
  remainder: 'i64',
  txHash: 'bytes32',
  beneficiary: 'bytes20',
})

/** SETTLEMENT.status. */
export const SettlementStatus = { OPENED: 1, CONFIRMED: 2 } as const

/** A batch of settlement: the fills of the commands from `from` to `through`, both included. */
export const SETTLEMENT = defineLayout('settlement', {
  kind: 'u32',
  status: 'i32',
  sequence: 'f64',
  time: 'f64',
  batch: 'f64',
  from: 'f64',
  through: 'f64',
  /** Fills of the batch. */
  fills: 'f64',
  block: 'f64',
  txHash: 'bytes32',
})
