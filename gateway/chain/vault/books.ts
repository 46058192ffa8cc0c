/** What the vault thread reads of the engine's state (core/view/vault.ts), each answer of one moment. */
import { CLOCK, SCALAR } from '../../../core/state/columns.ts'
import type { Asset, Genesis } from '../../../core/state/genesis.ts'
import type { State } from '../../../core/state/state.ts'
import { readAccount, type AccountView } from '../../../core/view/accounts.ts'
import { Applications } from '../../../core/view/applications.ts'
import { findMember, masterOf } from '../../../core/view/families.ts'
import {
  chainCursors, lostDeposits, openWithdrawals, settlementState, suspenseRows, takenBehind, vaultTotals, withdrawalAt, withdrawalsStopped,
  type ChainCursorView, type LostDepositView, type SettlementView, type SuspenseView, type TakenView, type VaultTotalsView,
  type WithdrawalView,
} from '../../../core/view/vault.ts'
import { toBytes, type Hex } from '../values.ts'
import { DEFAULT_APPLICATION, applicationBytes } from './deposit_address.ts'

export interface Books {
  readonly genesis: Genesis
  /** Sequence and sequenced time (Unix ms) of the last command that was applied. */
  applied(): { readonly sequence: number; readonly time: number }
  /** All that are under way. */
  withdrawals(): readonly WithdrawalView[]
  withdrawal(row: number, sequence: number): WithdrawalView | null
  totals(asset: Asset): VaultTotalsView
  suspense(): readonly SuspenseView[]
  /** Deposits that found no row in suspense; `hasRoom`: there is one now. */
  lost(): { readonly hasRoom: boolean; readonly lost: readonly LostDepositView[] }
  cursors(): readonly ChainCursorView[]
  /** Deposits of a chain that were taken behind this block; `whole`: all of them. */
  taken(chain: number, block: number): { readonly whole: boolean; readonly taken: readonly TakenView[] }
  settlement(): SettlementView
  /** WithdrawalStop. */
  stopped(): number
  /** Row of the application with these 16 bytes; -1: none. Zero is the first. */
  application(id: Hex): number
  /** Bytes of the application in a row; zero of the first one. */
  applicationBytes(row: number): Hex
  /** Who has this wallet in that application; `null`: nobody, or it cannot be told now. */
  owner(application: number, wallet: Hex): AccountView | null
  /** Whether nobody has it; false when it cannot be told now. */
  isNobody(application: number, wallet: Hex): boolean
  accounts(): number
  account(row: number): AccountView
  isSubAccount(row: number): boolean
  /** Grows by two when an account's row goes to another wallet. */
  turns(): number
}

/** The books in shared columns; `gate`: word APPLYING. */
export function readBooks(state: State, gate: Int32Array): Books {
  const applications = new Applications(state, gate)
  const { genesis } = state
  return {
    genesis,
    applied: () => ({ sequence: state.clock[CLOCK.SEQUENCE]!, time: state.clock[CLOCK.TIME]! }),
    withdrawals: () => openWithdrawals(state),
    withdrawal: (row, sequence) => withdrawalAt(state, row, sequence),
    totals: ({ index }) => vaultTotals(state, index),
    suspense: () => suspenseRows(state),
    lost: () => lostDeposits(state),
    cursors: () => chainCursors(state),
    taken: (chain, block) => takenBehind(state, chain, block),
    settlement: () => settlementState(state),
    stopped: () => withdrawalsStopped(state),
    application(id) {
      if (id === DEFAULT_APPLICATION) return 0
      return applications.list().find((each) => applicationBytes(each.id) === id)?.application ?? -1
    },
    applicationBytes: (row) => (row === 0 ? DEFAULT_APPLICATION : applicationBytes(applications.at(row)?.id ?? '')),
    owner(application, wallet) {
      const found = findMember(state, application, toBytes(wallet))
      return found === null || found.account < 0 ? null : readAccount(state, found.account)
    },
    isNobody(application, wallet) {
      const found = findMember(state, application, toBytes(wallet))
      return found !== null && found.account < 0
    },
    accounts: () => Atomics.load(state.scalars, SCALAR.ACCOUNTS),
    account: (row) => readAccount(state, row),
    isSubAccount: (row) => masterOf(state, row) >= 0,
    turns: () => Atomics.load(state.scalars, SCALAR.ACCOUNT_TURNS),
  }
}
