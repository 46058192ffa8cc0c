/**
 * Money in and out from the shared columns (state/vault_rows.ts): withdrawals under way, suspense, how far chains are read, sums, and
 * settlement. VAULT.TURNS is odd while a command of these is applied, so every function here copies between two of them: what it returns
 * stood so at one moment. An authorisation is signed from such a copy.
 *
 * Commands are applied in microseconds. A matcher that is in the middle of one for {@link PATIENCE_MS} lives no more: then all of them
 * throw.
 */
import { SettlementStatus, WithdrawalFlag, WithdrawalStop } from '../layout/vault.ts'
import { dayOf } from '../lib/day.ts'
import { CLOCK, PROFILE, SCALAR, TOTAL } from '../state/columns.ts'
import {
  bytesOf, depositIdRow, faucetMintRow, get, getF64, getI64, lostDepositRow, profileRow, scalar, settlementRow, suspenseRow,
  totalRow, vaultAccountRow,
  vaultChainRow, vaultRow, vaultTotalRow, withdrawalRow, wordOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { faucetOutstanding, hasFreeSuspense, withdrawalTerms } from '../state/vault_pools.ts'
import {
  Counting, DEPOSIT_ID, DEPOSIT_IDS, FAUCET_MINT, FAUCET_MINTS, LOST_DEPOSIT, MOVED, SETTLEMENT_ROW, SUSPENSE, VAULT,
  VAULT_ACCOUNT, VAULT_CHAIN, VAULT_TOTAL, WITHDRAWAL_ROW,
} from '../state/vault_rows.ts'
import { betweenTurns } from './consistent.ts'

export { dayCeiling } from '../state/vault_terms.ts'

const PATIENCE_MS = 5000

/** Runs `copy` until no command of money in and out changed anything meanwhile. */
export function unchanged<T>(state: State, copy: () => T): T {
  const whole = betweenTurns(state.i32, wordOf(vaultRow(state), VAULT.TURNS), () => ({ value: copy() }), true, PATIENCE_MS)
  if (whole === null) throw new Error(`the rows of the vault were being changed for ${PATIENCE_MS} ms`)
  return whole.value
}

/** Lower-case hex behind 0x. */
const hexAt = (state: State, row: number, field: number, bytes: number): string =>
  `0x${Buffer.from(bytesOf(state, row, field, bytes)).toString('hex')}`

/** `null`: all zero. */
function hashAt(state: State, row: number, field: number): string | null {
  const text = hexAt(state, row, field, 32)
  return /[1-9a-f]/.test(text.slice(2)) ? text : null
}

export interface WithdrawalView {
  readonly row: number
  /** The command that made it: its nonce in the vault. */
  readonly sequence: number
  readonly account: number
  readonly asset: number
  /** Atoms. */
  readonly amount: bigint
  /** Lower case. */
  readonly destination: string
  /** WithdrawalStatus. */
  readonly status: number
  readonly needsApproval: boolean
  /** It counts on the day of all from its signature on, as the first of its account on its day or not; `null`: since it was made. */
  readonly countsAsFirst: boolean | null
  /** Unix ms; `deadline` is 0 before SIGNED. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly deadline: number
  readonly txHash: string | null
  /** Of its transaction, or of what was said of it last. */
  readonly block: number
}

const countsAsFirst = (counting: number): boolean | null =>
  (counting & Counting.BY_SIGNATURE) === 0 ? null : (counting & Counting.FIRST) !== 0

function withdrawalIn(state: State, number: number): WithdrawalView {
  const row = withdrawalRow(state, number)
  return {
    row: number, sequence: getF64(state, row, WITHDRAWAL_ROW.SEQUENCE), account: get(state, row, WITHDRAWAL_ROW.ACCOUNT),
    asset: get(state, row, WITHDRAWAL_ROW.ASSET), amount: getI64(state, row, WITHDRAWAL_ROW.AMOUNT),
    destination: hexAt(state, row, WITHDRAWAL_ROW.DESTINATION, 20), status: get(state, row, WITHDRAWAL_ROW.STATUS),
    needsApproval: (get(state, row, WITHDRAWAL_ROW.FLAGS) & WithdrawalFlag.NEEDS_APPROVAL) !== 0,
    countsAsFirst: countsAsFirst(get(state, row, WITHDRAWAL_ROW.COUNTING)),
    createdAt: getF64(state, row, WITHDRAWAL_ROW.CREATED_AT), updatedAt: getF64(state, row, WITHDRAWAL_ROW.UPDATED_AT),
    deadline: getF64(state, row, WITHDRAWAL_ROW.DEADLINE), txHash: hashAt(state, row, WITHDRAWAL_ROW.TX_HASH),
    block: getF64(state, row, WITHDRAWAL_ROW.BLOCK),
  }
}

/** Whether this row is that of a withdrawal under way: it may name any row. */
const isLive = (state: State, row: number): boolean =>
  row >= 0 && row < scalar(state, SCALAR.WITHDRAWALS_USED) && getF64(state, withdrawalRow(state, row), WITHDRAWAL_ROW.SEQUENCE) !== 0

/** The withdrawal under way in `row` that command `sequence` made; `null`: there is none. */
export const withdrawalAt = (state: State, row: number, sequence: number): WithdrawalView | null => unchanged(state, () => {
  if (!isLive(state, row)) return null
  const view = withdrawalIn(state, row)
  return view.sequence === sequence ? view : null
})

/** Withdrawals of an account that are under way, newest first. */
export const withdrawalsOf = (state: State, account: number): WithdrawalView[] => unchanged(state, () => {
  const views: WithdrawalView[] = []
  let next = get(state, vaultAccountRow(state, account), VAULT_ACCOUNT.NEWEST)
  // While rows change a link may lead anywhere: such a copy is made again.
  while (views.length < state.genesis.limits.withdrawalsPerAccount && next > 0 && isLive(state, next - 1)) {
    views.push(withdrawalIn(state, next - 1))
    next = get(state, withdrawalRow(state, next - 1), WITHDRAWAL_ROW.NEXT)
  }
  return views
})

/** All that are under way, by row. */
export const openWithdrawals = (state: State): WithdrawalView[] => unchanged(state, () => {
  const views: WithdrawalView[] = []
  let left = get(state, vaultRow(state), VAULT.WITHDRAWALS_LIVE)
  for (let row = 0; left > 0 && row < scalar(state, SCALAR.WITHDRAWALS_USED); row++) {
    if (!isLive(state, row)) continue
    views.push(withdrawalIn(state, row))
    left--
  }
  return views
})

/** Atoms of one asset. */
export interface VaultTotalsView {
  /** Came from a chain, suspense included, and went there. */
  readonly deposited: bigint
  readonly withdrawn: bigint
  /** Of withdrawals under way; of deposits in suspense. */
  readonly locked: bigint
  readonly suspense: bigint
  /** Of what the faucet issued: minted on the hub, and not yet. */
  readonly minted: bigint
  readonly faucetOutstanding: bigint
  /** What the exchange owes. */
  readonly issued: bigint
  /** Terms; 0: no limit. */
  readonly minimum: bigint
  readonly userDaily: bigint
  readonly totalDaily: bigint
  readonly approvalAbove: bigint
  /** Of `totalDaily`, signed on the UTC day of the last command. */
  readonly usedToday: bigint
}

export const vaultTotals = (state: State, asset: number): VaultTotalsView => unchanged(state, () => {
  const row = vaultTotalRow(state, asset)
  const issued = getI64(state, totalRow(state, asset), TOTAL.ISSUED)
  const [deposited, withdrawn] = [getI64(state, row, VAULT_TOTAL.DEPOSITED), getI64(state, row, VAULT_TOTAL.WITHDRAWN)]
  const minted = getI64(state, row, VAULT_TOTAL.MINTED)
  const today = dayOf(state.clock[CLOCK.TIME]!)
  return {
    deposited, withdrawn, locked: getI64(state, row, VAULT_TOTAL.LOCKED), suspense: getI64(state, row, VAULT_TOTAL.SUSPENSE), minted,
    faucetOutstanding: faucetOutstanding(state, asset), issued, ...withdrawalTerms(state, asset),
    usedToday: getF64(state, row, VAULT_TOTAL.DAY) === today ? getI64(state, row, VAULT_TOTAL.USED) : 0n,
  }
})

export interface SuspenseView {
  readonly row: number
  /** The command that made it. */
  readonly sequence: number
  /** -1: a token that the exchange does not have, or the last row, which stands for several. */
  readonly asset: number
  readonly application: number
  readonly chain: number
  readonly block: number
  readonly logIndex: number
  readonly amount: bigint
  readonly remainder: bigint
  readonly createdAt: number
  /** How many it stands for. */
  readonly deposits: number
  /** False: its atoms are in no total. */
  readonly counted: boolean
  readonly txHash: string | null
  readonly beneficiary: string
  readonly token: string
}

function suspenseIn(state: State, number: number): SuspenseView {
  const row = suspenseRow(state, number)
  return {
    row: number, sequence: getF64(state, row, SUSPENSE.SEQUENCE), asset: get(state, row, SUSPENSE.ASSET),
    application: get(state, row, SUSPENSE.APPLICATION), chain: get(state, row, SUSPENSE.CHAIN), block: getF64(state, row, SUSPENSE.BLOCK),
    logIndex: get(state, row, SUSPENSE.LOG_INDEX), amount: getI64(state, row, SUSPENSE.AMOUNT),
    remainder: getI64(state, row, SUSPENSE.REMAINDER), createdAt: getF64(state, row, SUSPENSE.CREATED_AT),
    deposits: get(state, row, SUSPENSE.DEPOSITS), counted: get(state, row, SUSPENSE.COUNTED) !== 0,
    txHash: hashAt(state, row, SUSPENSE.TX_HASH), beneficiary: hexAt(state, row, SUSPENSE.BENEFICIARY, 20),
    token: hexAt(state, row, SUSPENSE.TOKEN, 20),
  }
}

/** Deposits that are nobody's, by row. */
export const suspenseRows = (state: State): SuspenseView[] => unchanged(state, () => {
  const views: SuspenseView[] = []
  for (let row = 0; row < scalar(state, SCALAR.SUSPENSE_USED); row++) {
    if (getF64(state, suspenseRow(state, row), SUSPENSE.SEQUENCE) !== 0) views.push(suspenseIn(state, row))
  }
  return views
})

/** A deposit that found no row in suspense; what it brought stands on the chain. */
export interface LostDepositView {
  /** The command that found no room for it. */
  readonly sequence: number
  readonly chain: number
  readonly block: number
  readonly logIndex: number
  readonly txHash: string
  readonly beneficiary: string
  readonly application: number
}

/** All that are known; `hasRoom`: a row of suspense is free for one of them. */
export const lostDeposits = (state: State): { hasRoom: boolean; lost: LostDepositView[] } => unchanged(state, () => ({
  hasRoom: hasFreeSuspense(state),
  lost: Array.from({ length: get(state, vaultRow(state), VAULT.LOST) }, (_, number) => {
    const row = lostDepositRow(state, number)
    return {
      sequence: getF64(state, row, LOST_DEPOSIT.SEQUENCE), chain: get(state, row, LOST_DEPOSIT.CHAIN),
      block: getF64(state, row, LOST_DEPOSIT.BLOCK), logIndex: get(state, row, LOST_DEPOSIT.LOG_INDEX),
      txHash: hexAt(state, row, LOST_DEPOSIT.TX_HASH, 32), beneficiary: hexAt(state, row, LOST_DEPOSIT.BENEFICIARY, 20),
      application: get(state, row, LOST_DEPOSIT.APPLICATION),
    }
  }),
}))

export interface ChainCursorView {
  /** Row. */
  readonly chain: number
  readonly chainId: number
  /** All deposits up to this block were taken; its hash, and its time, Unix ms. */
  readonly block: number
  readonly blockHash: string
  readonly blockTime: number
  /** The last deposit. */
  readonly depositBlock: number
  readonly depositLog: number
  readonly rewinds: number
}

/** The chains that are read, by row. */
export const chainCursors = (state: State): ChainCursorView[] => unchanged(state, () =>
  Array.from({ length: get(state, vaultRow(state), VAULT.CHAINS) }, (_, chain) => {
    const row = vaultChainRow(state, chain)
    return {
      chain, chainId: getF64(state, row, VAULT_CHAIN.CHAIN_ID), block: getF64(state, row, VAULT_CHAIN.BLOCK),
      blockHash: hexAt(state, row, VAULT_CHAIN.HASH, 32), blockTime: getF64(state, row, VAULT_CHAIN.BLOCK_TIME),
      depositBlock: getF64(state, row, VAULT_CHAIN.DEPOSIT_BLOCK), depositLog: get(state, row, VAULT_CHAIN.DEPOSIT_LOG),
      rewinds: get(state, row, VAULT_CHAIN.REWINDS),
    }
  }))

/** Where a deposit was when it was taken. */
export interface TakenView {
  readonly block: number
  readonly logIndex: number
  readonly txHash: string
}

/**
 * Deposits of a chain in blocks behind `block` that were taken, as the ring of the last ones has them, but for those that a rewind took
 * back. `whole`: none that it forgot was behind `block`.
 */
export const takenBehind = (state: State, chain: number, block: number): { whole: boolean; taken: TakenView[] } => unchanged(state, () => {
  const taken: TakenView[] = []
  for (let number = 0; number < Math.min(DEPOSIT_IDS, getF64(state, vaultRow(state), VAULT.DEPOSITS)); number++) {
    const row = depositIdRow(state, number)
    const logIndex = get(state, row, DEPOSIT_ID.LOG_INDEX)
    if (get(state, row, DEPOSIT_ID.CHAIN) !== chain || logIndex === MOVED || getF64(state, row, DEPOSIT_ID.BLOCK) <= block) continue
    taken.push({ block: getF64(state, row, DEPOSIT_ID.BLOCK), logIndex, txHash: hexAt(state, row, DEPOSIT_ID.TX_HASH, 32) })
  }
  return { whole: getF64(state, vaultChainRow(state, chain), VAULT_CHAIN.LEFT) <= block, taken }
})

export interface BatchView {
  readonly batch: number
  /** Sequences, both included. */
  readonly from: number
  readonly through: number
  readonly fills: number
  readonly openedAt: number
  /** SettlementStatus. */
  readonly status: number
}

export interface SettlementView {
  /** The last batch that was opened, 0: none was; its last sequence, and the fills behind it, which are in no batch yet. */
  readonly batch: number
  readonly through: number
  readonly waiting: number
  /** The last one that was confirmed, and its last sequence. */
  readonly confirmed: number
  readonly confirmedThrough: number
  /** Those between, the oldest first. */
  readonly open: readonly BatchView[]
}

export const settlementState = (state: State): SettlementView => unchanged(state, () => {
  const vault = vaultRow(state)
  const [batch, confirmed] = [getF64(state, vault, VAULT.BATCH), getF64(state, vault, VAULT.CONFIRMED)]
  const open: BatchView[] = []
  for (let each = confirmed + 1; each <= batch; each++) {
    const row = settlementRow(state, each)
    if (get(state, row, SETTLEMENT_ROW.STATUS) !== SettlementStatus.OPENED) break
    open.push({
      batch: each, from: getF64(state, row, SETTLEMENT_ROW.FROM), through: getF64(state, row, SETTLEMENT_ROW.THROUGH),
      fills: getF64(state, row, SETTLEMENT_ROW.FILLS), openedAt: getF64(state, row, SETTLEMENT_ROW.OPENED_AT),
      status: SettlementStatus.OPENED,
    })
  }
  return {
    batch, through: getF64(state, vault, VAULT.THROUGH), waiting: state.clock[CLOCK.FILLS]! - getF64(state, vault, VAULT.FILLS),
    confirmed, confirmedThrough: getF64(state, vault, VAULT.CONFIRMED_THROUGH), open,
  }
})

/** WithdrawalStop. */
export const withdrawalsStopped = (state: State): number => get(state, vaultRow(state), VAULT.STOPPED)

/** Whether the engine would take a withdrawal of `account` now, were it rich enough. */
export const canWithdraw = (state: State, account: number): boolean =>
  withdrawalsStopped(state) === WithdrawalStop.NONE && scalar(state, SCALAR.MAINTENANCE) === 0 &&
  get(state, profileRow(state, account), PROFILE.MASTER) === 0

/** Transaction that minted on the hub what a faucet request of this time issued; `null`: none has, or it is one of long ago. */
export const faucetTxHash = (state: State, asset: number, requestedAt: number): string | null => unchanged(state, () => {
  const ever = getF64(state, vaultRow(state), VAULT.FAUCET_MINTS)
  // Of those that left the ring one may have been the first, unless an older one is still there.
  let knowsFirst = ever <= FAUCET_MINTS
  for (let number = Math.max(0, ever - FAUCET_MINTS); number < ever; number++) {
    const row = faucetMintRow(state, number)
    if (get(state, row, FAUCET_MINT.ASSET) !== asset) continue
    if (getF64(state, row, FAUCET_MINT.THROUGH) >= requestedAt) return knowsFirst ? hashAt(state, row, FAUCET_MINT.TX_HASH) : null
    knowsFirst = true
  }
  return null
})
