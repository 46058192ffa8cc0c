/** Families of accounts from the shared columns: a master, its sub-accounts, and what they may spend of its balances. */
import { ACCOUNT, PROFILE, SPEND_LIMIT, SpendLimitState } from '../state/columns.ts'
import { findAccount } from '../state/indexes.ts'
import { accountRow, assetCount, bytesOf, get, getF64, getI64, limitRow, profileRow, wordOf } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { midnightOf } from '../ledger/spending.ts'
import { consistently, whileOwned } from './consistent.ts'

export interface ProfileView {
  account: number
  /** Row of its master; -1: it is a master itself. */
  master: number
  /** '' when none. */
  username: string
  /** Rows of its sub-accounts, oldest first. */
  subAccounts: number[]
}

/** Whether the wallet of a sub-account agreed to its master. */
export const hasConsented = (state: State, sub: number): boolean => get(state, profileRow(state, sub), PROFILE.CONSENTED) !== 0

/** Row of an account's master; -1: it is one. Written before anybody can name the account; a sub-account stays one. */
export const masterOf = (state: State, account: number): number => get(state, profileRow(state, account), PROFILE.MASTER) - 1

/** What {@link findMember} finds: rows, -1: none; `consented`: the wallet agreed to its master. */
export interface Member {
  readonly account: number
  readonly master: number
  readonly consented: boolean
}

/**
 * The account of (application, wallet of 20 bytes) and its master. Safe while the matcher writes: an account that is being
 * made meanwhile may be missed, or be without its master. `null` while it cannot be told (view/consistent.ts).
 */
export function findMember(state: State, application: number, wallet: Uint8Array): Member | null {
  const words = new Int32Array(5)
  new Uint8Array(words.buffer).set(wallet)
  return whileOwned(state, () => {
    const account = findAccount(state, application, words, 0)
    if (account < 0) return { account, master: -1, consented: false }
    return { account, master: masterOf(state, account), consented: hasConsented(state, account) }
  }, true)
}

/** An account's name, '' when none. Written as {@link masterOf}. */
export function readUsername(state: State, account: number): string {
  const text = bytesOf(state, profileRow(state, account), PROFILE.USERNAME, 32)
  return String.fromCharCode(...text.filter((byte) => byte !== 0))
}

/** What is known of an account's family; `null` when no consistent copy could be made. */
export function readProfile(state: State, gate: Int32Array, account: number): ProfileView | null {
  return consistently(gate, state.i32, wordOf(accountRow(state, account), ACCOUNT.VERSION), () => copyProfile(state, account))
}

function copyProfile(state: State, account: number): ProfileView {
  const row = profileRow(state, account)
  const subAccounts: number[] = []
  // A torn copy may lead anywhere and is thrown away: the count bounds the walk.
  let sub = get(state, row, PROFILE.FIRST_SUB) - 1
  for (let left = state.genesis.limits.subAccountsPerMaster; left > 0 && sub >= 0; left--) {
    subAccounts.push(sub)
    sub = get(state, profileRow(state, sub), PROFILE.NEXT_SUB) - 1
  }
  return { account, master: masterOf(state, account), username: readUsername(state, account), subAccounts: subAccounts.reverse() }
}

/** A spend limit as numbers; amounts are atoms of the asset, times Unix ms. */
export interface SpendLimitView {
  row: number
  /** Row of the sub-account. */
  sub: number
  asset: number
  /** With the row it is the limit's identity. */
  createdSequence: number
  createdAt: number
  updatedAt: number
  maxAmount: bigint
  /** `null`: no daily limit. */
  dailyLimit: bigint | null
  /** Held by resting orders now. */
  outstanding: bigint
  /** Taken from the master by fills of this UTC day. */
  usedToday: bigint
  /** The UTC midnight `usedToday` counts from. */
  lastResetAt: number
  isActive: boolean
}

/** The spend limits that a sub-account has at `now` (Unix ms), newest first; `null` when no consistent copy could be made. */
export function readSpendLimits(state: State, gate: Int32Array, sub: number, now: number): SpendLimitView[] | null {
  return consistently(gate, state.i32, wordOf(accountRow(state, sub), ACCOUNT.VERSION), () => {
    const limits: SpendLimitView[] = []
    let row = get(state, profileRow(state, sub), PROFILE.FIRST_LIMIT) - 1
    for (let left = assetCount(state); left > 0 && row >= 0; left--) {
      const at = limitRow(state, row)
      if ((get(state, at, SPEND_LIMIT.STATE) & SpendLimitState.EXISTS) !== 0) limits.push(copySpendLimit(state, row, now))
      row = get(state, at, SPEND_LIMIT.NEXT) - 1
    }
    return limits
  })
}

/** The limit in `row` as it is now: consistent only inside {@link consistently}. */
export function copySpendLimit(state: State, row: number, now: number): SpendLimitView {
  const at = limitRow(state, row)
  const daily = getI64(state, at, SPEND_LIMIT.DAILY)
  const resetAt = getF64(state, at, SPEND_LIMIT.RESET_AT)
  const midnight = midnightOf(Math.max(now, resetAt))
  return {
    row,
    sub: get(state, at, SPEND_LIMIT.SUB),
    asset: get(state, at, SPEND_LIMIT.ASSET),
    createdSequence: getF64(state, at, SPEND_LIMIT.CREATED_SEQUENCE),
    createdAt: getF64(state, at, SPEND_LIMIT.CREATED_AT),
    updatedAt: getF64(state, at, SPEND_LIMIT.UPDATED_AT),
    maxAmount: getI64(state, at, SPEND_LIMIT.MAX),
    dailyLimit: daily < 0n ? null : daily,
    outstanding: getI64(state, at, SPEND_LIMIT.OUTSTANDING),
    usedToday: resetAt < midnight ? 0n : getI64(state, at, SPEND_LIMIT.SPENT),
    lastResetAt: midnight,
    isActive: (get(state, at, SPEND_LIMIT.STATE) & SpendLimitState.ACTIVE) !== 0,
  }
}
