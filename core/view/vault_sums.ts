/** What the exchange owes of an asset, by what it is, read while it trades: parts may be a moment apart from each other. */
import { SCALAR, TOTAL } from '../state/columns.ts'
import { MARGIN_ACCOUNT, MARGIN_TOTAL, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { bucketRow, get, getF64, getI64, marginAccountRow, marginTotalRow, positionRow, scalar, totalRow, vaultRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { VAULT } from '../state/vault_rows.ts'
import { vaultTotals } from './vault.ts'

/** Atoms. */
export interface OwedView {
  readonly issued: bigint
  /** Available and locked balances of everybody: what the others leave of what was issued. */
  readonly balances: bigint
  /** Of them, locked by withdrawals under way. */
  readonly withdrawing: bigint
  /** Deposits and results in margin accounts, less the cost of open positions; with the funding that nobody got yet. */
  readonly margin: bigint
  readonly fees: bigint
  readonly rewards: bigint
  readonly suspense: bigint
  /** Issued by the faucet and not minted on the chain yet. */
  readonly faucetOutstanding: bigint
}

/** Rows by number, and no lists of theirs: a list may be anything while it is changed. Rows that are free hold 0. */
function heldByMargin(state: State): bigint {
  let sum = getI64(state, marginTotalRow(state, state.collateralAsset), MARGIN_TOTAL.FUNDING_POOL)
  for (let number = 0; number < scalar(state, SCALAR.MARGIN_ACCOUNTS_USED); number++) {
    const row = marginAccountRow(state, number)
    if (get(state, row, MARGIN_ACCOUNT.OPEN) !== 0) sum += getI64(state, row, MARGIN_ACCOUNT.DEPOSITED)
  }
  for (let number = 0; number < scalar(state, SCALAR.BUCKETS_USED); number++) {
    sum += getI64(state, bucketRow(state, number), RISK_BUCKET.REALIZED)
  }
  for (let number = 0; number < scalar(state, SCALAR.POSITIONS_USED); number++) {
    sum -= getI64(state, positionRow(state, number), POSITION.COST)
  }
  return sum
}

export function owedOf(state: State, asset: number): OwedView {
  const { issued, suspense, locked, faucetOutstanding } = vaultTotals(state, asset)
  const row = totalRow(state, asset)
  const [fees, rewards] = [getI64(state, row, TOTAL.FEES), getI64(state, row, TOTAL.REWARDS)]
  const margin = asset === state.collateralAsset ? heldByMargin(state) : 0n
  return {
    issued, balances: issued - fees - rewards - suspense - margin, withdrawing: locked, margin, fees, rewards, suspense, faucetOutstanding,
  }
}

/** Counts of the vault's row, each as it is now. */
export interface VaultCounts {
  /** WithdrawalStop. */
  readonly stopped: number
  readonly withdrawals: number
  readonly needApproval: number
  /** Ever. */
  readonly deposits: number
  readonly suspense: number
}

export function vaultCounts(state: State): VaultCounts {
  const row = vaultRow(state)
  return {
    stopped: get(state, row, VAULT.STOPPED), withdrawals: get(state, row, VAULT.WITHDRAWALS_LIVE),
    needApproval: get(state, row, VAULT.NEED_APPROVAL), deposits: getF64(state, row, VAULT.DEPOSITS),
    suspense: get(state, row, VAULT.SUSPENSE_LIVE),
  }
}
