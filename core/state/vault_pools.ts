/**
 * What may be issued and withdrawn, and rows of withdrawals and of suspense: taking and freeing them, and the list that an account has of
 * its withdrawals (vault_rows.ts).
 */
import { R } from './balances.ts'
import { ACCOUNT, SCALAR, TOTAL } from './columns.ts'
import { MAX_ISSUED } from './pair_terms.ts'
import {
  accountRow, add, clearWords, get, getI64, lostDepositRow, scalar, set, setScalar, setWords, suspenseRow, totalRow, vaultAccountRow,
  vaultRow, vaultTotalRow, withdrawalAt, withdrawalRow, wordOf,
} from './rows.ts'
import { mayTake } from './shares.ts'
import type { State } from './state.ts'
import {
  LOST_DEPOSIT_WORDS, LOST_PER_SUSPENSE, SUSPENSE, SUSPENSE_WORDS, VAULT, VAULT_ACCOUNT, VAULT_TOTAL, WITHDRAWAL_ROW, WITHDRAWAL_WORDS,
} from './vault_rows.ts'
import { OPEN_TERMS, type WithdrawalTerms } from './vault_terms.ts'

const { NEXT, PREV } = WITHDRAWAL_ROW
const { NEWEST, LIVE, FAMILY_LIVE } = VAULT_ACCOUNT

/** The vault's row of the family of `account`. */
const familyRow = (state: State, account: number): number =>
  vaultAccountRow(state, get(state, accountRow(state, account), ACCOUNT.FAMILY))

/** Room for one more withdrawal: of the account, of all, and in the share of its family. */
export function mayWithdrawOnce(state: State, account: number): boolean {
  const { withdrawals: capacity, withdrawalsPerAccount } = state.genesis.limits
  const live = get(state, vaultRow(state), VAULT.WITHDRAWALS_LIVE)
  if (get(state, vaultAccountRow(state, account), LIVE) >= withdrawalsPerAccount || live >= capacity) return false
  return scalar(state, SCALAR.RULES) < 1 || mayTake(get(state, familyRow(state, account), FAMILY_LIVE), capacity, capacity - live)
}

/** Adds to the withdrawals that there are. */
function count(state: State, account: number, change: number): void {
  add(state, vaultRow(state), VAULT.WITHDRAWALS_LIVE, change)
  add(state, vaultAccountRow(state, account), LIVE, change)
  add(state, familyRow(state, account), FAMILY_LIVE, change)
}

/** Address of a row for a withdrawal of `account`, the newest of its list; all zero but for links and ACCOUNT. There must be room. */
export function takeWithdrawal(state: State, account: number): number {
  const vault = vaultRow(state)
  const free = get(state, vault, VAULT.WITHDRAWALS_FREE) - 1
  const used = scalar(state, SCALAR.WITHDRAWALS_USED)
  const row = withdrawalRow(state, free < 0 ? used : free)
  if (free < 0) setScalar(state, SCALAR.WITHDRAWALS_USED, used + 1)
  else set(state, vault, VAULT.WITHDRAWALS_FREE, get(state, row, NEXT))
  const list = vaultAccountRow(state, account)
  const newest = get(state, list, NEWEST)
  set(state, row, NEXT, newest)
  if (newest !== 0) set(state, withdrawalRow(state, newest - 1), PREV, withdrawalAt(state, row) + 1)
  set(state, list, NEWEST, withdrawalAt(state, row) + 1)
  set(state, row, WITHDRAWAL_ROW.ACCOUNT, account)
  count(state, account, 1)
  return row
}

/** The withdrawal at `row` is over: its row leaves the list and is free. */
export function freeWithdrawal(state: State, row: number): void {
  const vault = vaultRow(state)
  const account = get(state, row, WITHDRAWAL_ROW.ACCOUNT)
  const [older, newer] = [get(state, row, NEXT), get(state, row, PREV)]
  if (older !== 0) set(state, withdrawalRow(state, older - 1), PREV, newer)
  if (newer !== 0) set(state, withdrawalRow(state, newer - 1), NEXT, older)
  else set(state, vaultAccountRow(state, account), NEWEST, older)
  count(state, account, -1)
  clearWords(state, row, 0, WITHDRAWAL_WORDS)
  set(state, row, NEXT, get(state, vault, VAULT.WITHDRAWALS_FREE))
  set(state, vault, VAULT.WITHDRAWALS_FREE, withdrawalAt(state, row) + 1)
}

/** Atoms of an asset that were ever issued, by the faucet and for deposits: it only grows. */
export const everIssued = (state: State, asset: number): bigint =>
  getI64(state, totalRow(state, asset), TOTAL.ISSUED) + getI64(state, vaultTotalRow(state, asset), VAULT_TOTAL.WITHDRAWN)

/** Atoms that the faucet issued and that are not minted on the hub yet. */
export function faucetOutstanding(state: State, asset: number): bigint {
  const row = vaultTotalRow(state, asset)
  return everIssued(state, asset) - getI64(state, row, VAULT_TOTAL.DEPOSITED) - getI64(state, row, VAULT_TOTAL.MINTED)
}

/** Whether register AMOUNT more of an asset may be issued: all that ever was is counted, so that no sum outgrows its bits. */
export const mayIssue = (state: State, asset: number): boolean => everIssued(state, asset) + state.registers[R.AMOUNT]! <= MAX_ISSUED

/** The row that stands for all deposits that found no other (programs/deposits.ts). */
export const lastSuspense = (state: State): number => state.genesis.limits.suspense - 1

/** Whether a row of suspense is left besides the last one. */
export const hasFreeSuspense = (state: State): boolean =>
  get(state, vaultRow(state), VAULT.SUSPENSE_FREE) !== 0 || scalar(state, SCALAR.SUSPENSE_USED) < lastSuspense(state)

/** Number of a new row of lostDeposits, the last one; -1: there is no room. */
export function takeLost(state: State): number {
  const lost = get(state, vaultRow(state), VAULT.LOST)
  if (lost >= state.genesis.limits.suspense * LOST_PER_SUSPENSE) return -1
  set(state, vaultRow(state), VAULT.LOST, lost + 1)
  return lost
}

/** Row `lost` of lostDeposits is over: the last one moves there. The last row of suspense, which counts it, ends with the last of them. */
export function dropLost(state: State, lost: number): void {
  const last = get(state, vaultRow(state), VAULT.LOST) - 1
  const row = lostDepositRow(state, last)
  if (lost !== last) setWords(state, lostDepositRow(state, lost), 0, LOST_DEPOSIT_WORDS, state.i32, wordOf(row, 0))
  clearWords(state, row, 0, LOST_DEPOSIT_WORDS)
  set(state, vaultRow(state), VAULT.LOST, last)
  const counts = suspenseRow(state, lastSuspense(state))
  add(state, counts, SUSPENSE.DEPOSITS, -1)
  if (get(state, counts, SUSPENSE.DEPOSITS) > 0) return
  clearWords(state, counts, 0, SUSPENSE_WORDS)
  setScalar(state, SCALAR.SUSPENSE_USED, lastSuspense(state))
  add(state, vaultRow(state), VAULT.SUSPENSE_LIVE, -1)
}

/** Number of a free row of suspense, all zero; -1: none is left but the last one. */
export function takeSuspense(state: State): number {
  const vault = vaultRow(state)
  const free = get(state, vault, VAULT.SUSPENSE_FREE) - 1
  const used = scalar(state, SCALAR.SUSPENSE_USED)
  if (free < 0 && used >= lastSuspense(state)) return -1
  if (free < 0) setScalar(state, SCALAR.SUSPENSE_USED, used + 1)
  else {
    set(state, vault, VAULT.SUSPENSE_FREE, get(state, suspenseRow(state, free), SUSPENSE.NEXT))
    set(state, suspenseRow(state, free), SUSPENSE.NEXT, 0)
  }
  add(state, vault, VAULT.SUSPENSE_LIVE, 1)
  return free < 0 ? used : free
}

/** Row number `suspense` is free. */
export function freeSuspense(state: State, suspense: number): void {
  const vault = vaultRow(state)
  const row = suspenseRow(state, suspense)
  clearWords(state, row, 0, SUSPENSE_WORDS)
  set(state, row, SUSPENSE.NEXT, get(state, vault, VAULT.SUSPENSE_FREE))
  set(state, vault, VAULT.SUSPENSE_FREE, suspense + 1)
  add(state, vault, VAULT.SUSPENSE_LIVE, -1)
}

/** Terms of an asset that is listed, as they are now. */
export function withdrawalTerms(state: State, asset: number): WithdrawalTerms {
  const row = vaultTotalRow(state, asset)
  if (get(state, row, VAULT_TOTAL.TERMS_SET) === 0) return state.genesis.assets[asset]!.withdrawal ?? OPEN_TERMS
  return {
    minimum: getI64(state, row, VAULT_TOTAL.MINIMUM), userDaily: getI64(state, row, VAULT_TOTAL.USER_DAILY),
    totalDaily: getI64(state, row, VAULT_TOTAL.TOTAL_DAILY), approvalAbove: getI64(state, row, VAULT_TOTAL.APPROVAL_ABOVE),
  }
}
