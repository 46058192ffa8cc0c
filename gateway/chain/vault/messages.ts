/** What the vault thread, the operator thread and gateways say to each other over message ports. No part of it loads viem. */
import { CommandType } from '../../../core/layout/command.ts'
import type { Decoded } from '../../../core/layout/table.ts'
import type { Places } from './types.ts'

/** Commands that the vault thread may send through lane 0. */
export const VAULT_COMMANDS: ReadonlySet<number> = new Set([
  CommandType.ADVANCE_WITHDRAWAL, CommandType.STOP_WITHDRAWALS, CommandType.CREDIT_DEPOSIT, CommandType.ADVANCE_CHAIN,
  CommandType.ASSIGN_SUSPENSE, CommandType.OPEN_SETTLEMENT, CommandType.CONFIRM_SETTLEMENT, CommandType.FAUCET_MINTED,
])
/** Commands of one message; with less than half of what the operator thread has under way at most, others have room beside them. */
export const BATCH_MAX = 6

/** Answer by name; `full`: not sent; `late`: sent, and not answered in time; `gone`: there is nobody to send it. */
export type Outcome = Decoded | 'full' | 'late' | 'gone'

/** To the operator thread: these commands, in this order; behind the first one that finds no room none is sent. */
export interface VaultAsk {
  readonly id: number
  readonly commandType: number
  readonly values: readonly Decoded[]
}
export interface VaultAnswer {
  readonly id: number
  readonly results: readonly Exclude<Outcome, 'gone'>[]
}

/** Solvency of a token of the hub, base units as decimal digits. */
export interface TokenSolvency {
  readonly asset: number
  readonly symbol: string
  readonly token: string
  /** What the vault has; `null`: the chain did not say. */
  readonly holdings: string | null
  /** What users have, without what the faucet issued and nobody minted yet. */
  readonly liabilities: string
  /** Withdrawals that the chain paid and the engine does not know of yet. */
  readonly inFlight: string
  /** What vaults on other chains have, where deposits are taken. */
  readonly elsewhere: string
  /** 0: none. */
  readonly deficit: string
}

export interface ChainReport {
  readonly chainId: number
  readonly connected: boolean
  /** Numbers of blocks; -1: not known. */
  readonly head: number
  readonly confirmed: number
  /** The cursor in the journal, and blocks between what was read and what is confirmed. */
  readonly cursor: number
  readonly lag: number
  /** The block of the cursor is another one on the chain now: the operator has to rewind. */
  readonly reorganised: boolean
}

/** What the vault thread found and did since it began. */
export interface VaultReport {
  /** Unix ms. */
  readonly at: number
  /** The hub first. */
  readonly chains: readonly ChainReport[]
  readonly places: Places | null
  readonly depositsCredited: number
  readonly suspense: number
  readonly suspenseAssigned: number
  /** Open ones by status, PENDING first. */
  readonly withdrawals: { readonly pending: number; readonly signed: number; readonly submitted: number; readonly needApproval: number }
  /** How long the oldest that waits to be signed does, ms; 0: none does. */
  readonly oldestPendingMs: number
  readonly confirmedWithdrawals: number
  readonly expiredWithdrawals: number
  readonly settlement: {
    readonly opened: number
    readonly confirmed: number
    /** Why batches are not posted any more, in words; `null`: they are. */
    readonly stopped: string | null
    /** Roots of the batch confirmed last, hex; `null`: none yet. */
    readonly tradesRoot: string | null
    readonly balancesRoot: string | null
  }
  readonly sweeps: number
  readonly faucetMints: number
  readonly calldata: number
  /** Not given, because the signer was away or refused. */
  readonly calldataFailed: number
  readonly rpcCalls: number
  readonly rpcFailures: number
  /** WithdrawalStop of core/layout/vault.ts, and whether the contract is paused. */
  readonly stopped: number
  readonly paused: boolean
  readonly solvency: readonly TokenSolvency[]
}

/** To the operator thread. */
export type ToVaultDesk = VaultAsk | { readonly type: 'vault'; readonly report: VaultReport }

/** What a user submits (interface: calldata). */
export interface Calldata {
  readonly chainId: number
  readonly to: string
  readonly data: string
  /** Wei, decimal digits. */
  readonly value: string
  /** Decimal digits. */
  readonly nonce: string
  /** Unix ms. */
  readonly expiresAt: number
}

/** Why there is no calldata: withdrawals are stopped; it is not signed, or over; too much is asked at once, or the signer is away. */
export const UNAVAILABLE = ['STOPPED', 'NOT_SIGNED', 'EXPIRED', 'BUSY', 'SIGNER'] as const
export type Unavailable = (typeof UNAVAILABLE)[number]

export interface CalldataAsk {
  readonly id: number
  readonly type: 'calldata'
  /** Of the withdrawal, and the sequence that made it. */
  readonly row: number
  readonly sequence: number
}
export type CalldataReply =
  | { readonly id: number; readonly calldata: Calldata }
  | { readonly id: number; readonly unavailable: Unavailable }

/** Where the contracts are; `null`: not known yet, or no more. */
export interface PlacesMessage {
  readonly type: 'places'
  readonly places: Places | null
  /** Whether the hub answers. */
  readonly connected: boolean
}

/** To a gateway thread. */
export type FromVault = CalldataReply | PlacesMessage
