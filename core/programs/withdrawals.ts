/**
 * Withdrawals: atoms that leave the exchange for an address of the hub, the chain of settlement.
 *
 * - **Locked first.** INITIATE_WITHDRAWAL moves them from available to locked, and there they stay until the chain has the last word. So
 *   they are exactly one of paid and given back, whatever ends when.
 * - **The deadline is in the journal before any signature exists.** The vault thread says SIGNED with a deadline, once; only a row that is
 *   SIGNED is signed, from what stands there, so that it can be signed again and is the same bytes. The vault takes each nonce, which is
 *   the sequence of the command that made it, once.
 * - **What the chain says**: SUBMITTED (a transaction was seen, and may vanish: SIGNED again), CONFIRMED (the nonce is used), EXPIRED (a
 *   confirmed block is behind the deadline and the nonce is unused, so that no later block takes it).
 * - **Limits** count UTC days of sequenced time. Of one user one number for all assets, billionths of his limits, when he asks. Likewise
 *   one number of the thresholds of approval: what he asks for beyond it on a day waits for the operator, whatever its parts are. Of all
 *   users for each asset, when it is signed: what waits takes nothing of the day, and a part of the day is kept for small and for first
 *   withdrawals (dayCeiling). What is given back on the day that it counts on does not count. Before the rules 5 a withdrawal counted for
 *   all users when it was asked for, and approval was by withdrawal.
 *
 *     PENDING -> SIGNED <-> SUBMITTED -> CONFIRMED | EXPIRED        PENDING -> CANCELLED (the operator) | FAILED (it can never be paid)
 *
 * Masters alone withdraw, with their own wallet's session. Nothing of it is signed here, and no chain is asked.
 */
import { WITHDRAWAL_ANSWER } from '../layout/answers.ts'
import { Option } from '../layout/command.ts'
import { read, readF64, readI64, write, writeF64, writeI64 } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import {
  ADVANCE_WITHDRAWAL_COMMAND, INITIATE_WITHDRAWAL_COMMAND, REVIEW_WITHDRAWAL_COMMAND, WithdrawalFlag, WithdrawalStatus, WithdrawalStop,
} from '../layout/vault.ts'
import { dayOf } from '../lib/day.ts'
import { addShort, emitResult, emitWithdrawal } from '../events/emit.ts'
import { R, touchAccount } from '../state/balances.ts'
import { BALANCE, SCALAR, TOTAL } from '../state/columns.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import { areZero } from '../state/indexes.ts'
import {
  add, addF64, assetCount, balanceRow, clearWords, gain, get, getF64, getI64, load, lose, now, scalar, sequence, set, setF64, setI64,
  setWords, totalRow, touchBalance, vaultAccountRow, vaultRow, vaultTotalRow, withdrawalAt, withdrawalRow,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { freeWithdrawal, mayWithdrawOnce, takeWithdrawal, withdrawalTerms } from '../state/vault_pools.ts'
import {
  ADDRESS_WORDS, Counting, HASH_WORDS, VAULT, VAULT_ACCOUNT, VAULT_TOTAL, WHOLE_DAY, WITHDRAWAL_ROW,
} from '../state/vault_rows.ts'
import { dayCeiling } from '../state/vault_terms.ts'
import { laneRefusal } from './policy.ts'
import { admitKey, keepReceipt, REPEATED } from './receipts.ts'
import { refuse } from './sessions.ts'
import { masterAccount } from './sub_accounts.ts'

const I = INITIATE_WITHDRAWAL_COMMAND.at
const A = ADVANCE_WITHDRAWAL_COMMAND.at
const V = REVIEW_WITHDRAWAL_COMMAND.at
const W = WITHDRAWAL_ROW
const { PENDING, SIGNED, SUBMITTED, CONFIRMED, FAILED, EXPIRED, CANCELLED } = WithdrawalStatus
const { NEEDS_APPROVAL } = WithdrawalFlag

/** What each status may become by ADVANCE_WITHDRAWAL, as bits. */
const EDGES: readonly number[] = [
  0, (1 << SIGNED) | (1 << FAILED), (1 << SUBMITTED) | (1 << CONFIRMED) | (1 << EXPIRED), (1 << SIGNED) | (1 << CONFIRMED) | (1 << EXPIRED),
]

/** Days since 1970 of the command being applied. */
const today = (state: State): number => dayOf(now(state))

/** The row, where its words USED and DAY are of today; those of another day begin at nothing. */
function usedBy(state: State, account: number): number {
  const row = vaultAccountRow(state, account)
  return getF64(state, row, VAULT_ACCOUNT.DAY) === today(state) ? getF64(state, row, VAULT_ACCOUNT.USED) : 0
}
function usedOf(state: State, asset: number): bigint {
  const row = vaultTotalRow(state, asset)
  return getF64(state, row, VAULT_TOTAL.DAY) === today(state) ? getI64(state, row, VAULT_TOTAL.USED) : 0n
}

/** Billionths of what one user may a day that register REQUIRED is, rounded up; what is beyond it is beyond all of it. 0: no limit. */
function shareOfDay(state: State, daily: bigint): number {
  const amount = state.registers[R.REQUIRED]!
  if (daily === 0n) return 0
  return amount > daily ? WHOLE_DAY + 1 : Number((amount * BigInt(WHOLE_DAY) + daily - 1n) / daily)
}

/** Word APPROVAL of the account, of today. Masters alone withdraw, so the account is its whole family. */
function askedBy(state: State, account: number): number {
  const row = vaultAccountRow(state, account)
  return getF64(state, row, VAULT_ACCOUNT.DAY) === today(state) ? get(state, row, VAULT_ACCOUNT.APPROVAL) : 0
}

/** Whether register REQUIRED would be beyond what all together may have signed today. */
function isBeyondDay(state: State, asset: number, totalDaily: bigint, isFirst: boolean): boolean {
  const amount = state.registers[R.REQUIRED]!
  return totalDaily > 0n && usedOf(state, asset) + amount > dayCeiling(totalDaily, amount, isFirst)
}

const countsSignatures = (state: State): boolean => scalar(state, SCALAR.RULES) >= 5

/**
 * Signed by a master's own wallet. WITHDRAWAL, then WITHDRAWAL_ANSWER. MASTER_ONLY; OPERATIONS_BLOCKED in maintenance;
 * WITHDRAWALS_STOPPED; NOT_FOUND: no such asset; VALIDATION_ERROR: the amount, or no destination; WITHDRAWAL_TOO_SMALL;
 * INSUFFICIENT_BALANCE with what there is (SHORT_REFUSAL); WITHDRAWAL_LIMIT; TOO_MANY_WITHDRAWALS.
 */
export function initiateWithdrawal(state: State, command: Views, base: number): void {
  const { registers } = state
  const account = masterAccount(state, command, base)
  const keyed = (read(command, base, I.options) & Option.KEYED) !== 0
  let code = account < 0 ? -account : 0
  if (code === 0 && keyed) code = admitKey(state, account, command, base)
  if (code === REPEATED) return
  const asset = read(command, base, I.asset)
  registers[R.REQUIRED] = readI64(command, base, I.amount)
  if (code === 0) code = initiateRefusal(state, command, base, account, asset)
  if (code === REFUSALS.INSUFFICIENT_BALANCE.number) {
    registers[R.AMOUNT] = getI64(state, balanceRow(state, account, asset), BALANCE.AVAILABLE)
    return addShort(state, emitResult(state, command, base, code, -1, 0, 0), asset)
  }
  if (code !== 0) return refuse(state, command, base, code)
  const row = makeWithdrawal(state, command, base, account, asset)
  emitWithdrawal(state, row, 0)
  const result = answer(state, command, base, row)
  if (keyed) keepReceipt(state, account, command, base, result)
}

/** Of register REQUIRED. */
function initiateRefusal(state: State, command: Views, base: number, account: number, asset: number): number {
  const { registers } = state
  if (scalar(state, SCALAR.MAINTENANCE) !== 0) return REFUSALS.OPERATIONS_BLOCKED.number
  if (isStopped(state)) return REFUSALS.WITHDRAWALS_STOPPED.number
  if (asset < 0 || asset >= assetCount(state)) return REFUSALS.NOT_FOUND.number
  if (registers[R.REQUIRED]! < 1n || registers[R.REQUIRED]! > MAX_ISSUED) return REFUSALS.VALIDATION_ERROR.number
  if (areZero(command.i32, base + I.destination, ADDRESS_WORDS)) return REFUSALS.VALIDATION_ERROR.number
  const { minimum, userDaily, totalDaily } = withdrawalTerms(state, asset)
  if (registers[R.REQUIRED]! < minimum) return REFUSALS.WITHDRAWAL_TOO_SMALL.number
  if (getI64(state, balanceRow(state, account, asset), BALANCE.AVAILABLE) < registers[R.REQUIRED]!) {
    return REFUSALS.INSUFFICIENT_BALANCE.number
  }
  if (usedBy(state, account) + shareOfDay(state, userDaily) > WHOLE_DAY) return REFUSALS.WITHDRAWAL_LIMIT.number
  const isBeyond = countsSignatures(state) ? isBeyondDay(state, asset, totalDaily, askedBy(state, account) === 0)
    : totalDaily > 0n && usedOf(state, asset) + registers[R.REQUIRED]! > totalDaily
  if (isBeyond) return REFUSALS.WITHDRAWAL_LIMIT.number
  return mayWithdrawOnce(state, account) ? 0 : REFUSALS.TOO_MANY_WITHDRAWALS.number
}

const isStopped = (state: State): boolean => get(state, vaultRow(state), VAULT.STOPPED) !== WithdrawalStop.NONE

/** A row for register REQUIRED of the account's, which is locked and counted. */
function makeWithdrawal(state: State, command: Views, base: number, account: number, asset: number): number {
  const { registers } = state
  const { userDaily, approvalAbove } = withdrawalTerms(state, asset)
  const row = takeWithdrawal(state, account)
  const needsApproval = countsSignatures(state)
    ? Math.max(0, askedBy(state, account) - 1) + shareOfDay(state, approvalAbove) > WHOLE_DAY
    : approvalAbove > 0n && registers[R.REQUIRED]! > approvalAbove
  set(state, row, W.STATUS, PENDING)
  set(state, row, W.FLAGS, needsApproval ? NEEDS_APPROVAL : 0)
  set(state, row, W.ASSET, asset)
  setF64(state, row, W.SEQUENCE, sequence(state))
  setI64(state, row, W.AMOUNT, registers[R.REQUIRED]!)
  setF64(state, row, W.CREATED_AT, now(state))
  setF64(state, row, W.UPDATED_AT, now(state))
  setF64(state, row, W.DAY, today(state))
  setF64(state, row, W.SHARE, shareOfDay(state, userDaily))
  setWords(state, row, W.DESTINATION, ADDRESS_WORDS, command.i32, base + I.destination)
  if (needsApproval) add(state, vaultRow(state), VAULT.NEED_APPROVAL, 1)
  if (countsSignatures(state)) countAsked(state, row, shareOfDay(state, approvalAbove))
  countUse(state, row)
  registers[R.AMOUNT] = registers[R.REQUIRED]!
  const balance = balanceRow(state, account, asset)
  lose(state, balance, BALANCE.AVAILABLE, R.AMOUNT)
  gain(state, balance, BALANCE.LOCKED, R.AMOUNT)
  gain(state, vaultTotalRow(state, asset), VAULT_TOTAL.LOCKED, R.AMOUNT)
  touchBalance(state, balance)
  touchAccount(state, account)
  return row
}

/**
 * Counts `share` of the thresholds of approval on the day of the withdrawal at `row`, which is today. Beyond the whole of them all is as
 * much, so no word overflows; what is without approval is never beyond it and counts in full.
 */
function countAsked(state: State, row: number, share: number): void {
  const account = get(state, row, W.ACCOUNT)
  const asked = askedBy(state, account)
  const counted = Math.min(share, WHOLE_DAY + 1 - Math.max(0, asked - 1))
  set(state, row, W.APPROVAL_SHARE, counted)
  set(state, row, W.COUNTING, Counting.BY_SIGNATURE | (asked === 0 ? Counting.FIRST : 0))
  set(state, vaultAccountRow(state, account), VAULT_ACCOUNT.APPROVAL, Math.max(1, asked) + counted)
}

/** Counts the withdrawal at `row` on its day, which is today. */
function countUse(state: State, row: number): void {
  const account = get(state, row, W.ACCOUNT)
  const user = vaultAccountRow(state, account)
  setF64(state, user, VAULT_ACCOUNT.USED, usedBy(state, account) + getF64(state, row, W.SHARE))
  setF64(state, user, VAULT_ACCOUNT.DAY, today(state))
  if ((get(state, row, W.COUNTING) & Counting.BY_SIGNATURE) === 0) countOfAll(state, row)
}

/** Counts the withdrawal at `row` on the day of all, which is today. */
function countOfAll(state: State, row: number): void {
  const asset = get(state, row, W.ASSET)
  const total = vaultTotalRow(state, asset)
  setI64(state, total, VAULT_TOTAL.USED, usedOf(state, asset) + getI64(state, row, W.AMOUNT))
  setF64(state, total, VAULT_TOTAL.DAY, today(state))
}

/** The withdrawal at `row` is signed: from now on it counts, unless it does already. */
function countSigned(state: State, row: number): void {
  const counting = get(state, row, W.COUNTING)
  if ((counting & Counting.BY_SIGNATURE) === 0) return
  countOfAll(state, row)
  set(state, row, W.COUNTING, counting | Counting.SIGNED)
  setF64(state, row, W.SIGNED_DAY, today(state))
}

/** The withdrawal at `row`, of register AMOUNT, counts no more on its days, when they are today. */
function uncountUse(state: State, row: number): void {
  const [counting, isOfToday] = [get(state, row, W.COUNTING), getF64(state, row, W.DAY) === today(state)]
  if (isOfToday) {
    const user = vaultAccountRow(state, get(state, row, W.ACCOUNT))
    addF64(state, user, VAULT_ACCOUNT.USED, -getF64(state, row, W.SHARE))
    add(state, user, VAULT_ACCOUNT.APPROVAL, -get(state, row, W.APPROVAL_SHARE))
  }
  const isCounted = (counting & Counting.BY_SIGNATURE) === 0 ? isOfToday
    : (counting & Counting.SIGNED) !== 0 && getF64(state, row, W.SIGNED_DAY) === today(state)
  if (isCounted) lose(state, vaultTotalRow(state, get(state, row, W.ASSET)), VAULT_TOTAL.USED, R.AMOUNT)
}

/** WITHDRAWAL_ANSWER of the one at `row` as it stands; its place in the outbox. */
function answer(state: State, command: Views, base: number, row: number): number {
  const { outbox } = state
  const at = emitResult(
    state, command, base, 0, get(state, row, W.ACCOUNT), withdrawalAt(state, row), get(state, row, W.STATUS),
  )
  writeF64(outbox, at, WITHDRAWAL_ANSWER.at.withdrawalSequence, getF64(state, row, W.SEQUENCE))
  write(outbox, at, WITHDRAWAL_ANSWER.at.asset, get(state, row, W.ASSET))
  writeI64(outbox, at, WITHDRAWAL_ANSWER.at.amount, getI64(state, row, W.AMOUNT))
  write(outbox, at, WITHDRAWAL_ANSWER.at.flags, get(state, row, W.FLAGS))
  writeF64(outbox, at, WITHDRAWAL_ANSWER.at.deadline, getF64(state, row, W.DEADLINE))
  return at
}

/** Address of the withdrawal under way that is named by number and sequence; -1: there is none. */
function findWithdrawal(state: State, number: number, made: number): number {
  if (number < 0 || number >= scalar(state, SCALAR.WITHDRAWALS_USED) || made === 0) return -1
  const row = withdrawalRow(state, number)
  return getF64(state, row, W.SEQUENCE) === made ? row : -1
}

/**
 * Of lane 0. NOT_FOUND: none under way; WITHDRAWAL_STATUS: no such edge, or it waits for approval; WITHDRAWALS_STOPPED: nothing is
 * signed meanwhile; VALIDATION_ERROR: a deadline that is over, or no whole second; WITHDRAWAL_LIMIT: the day has no room for its
 * signature, and it waits.
 */
export function advanceWithdrawal(state: State, command: Views, base: number): void {
  const row = findWithdrawal(state, read(command, base, A.row), readF64(command, base, A.withdrawalSequence))
  const to = read(command, base, A.to)
  const code = laneRefusal(command, base) || advanceRefusal(state, command, base, row, to)
  if (code !== 0) return refuse(state, command, base, code)
  if (get(state, row, W.STATUS) === PENDING && to === SIGNED) {
    setF64(state, row, W.DEADLINE, readF64(command, base, A.deadline))
    countSigned(state, row)
  }
  if (to === SUBMITTED || to === CONFIRMED) setWords(state, row, W.TX_HASH, HASH_WORDS, command.i32, base + A.txHash)
  else clearWords(state, row, W.TX_HASH, HASH_WORDS)
  setF64(state, row, W.BLOCK, readF64(command, base, A.block))
  become(state, command, base, row, to)
}

function advanceRefusal(state: State, command: Views, base: number, row: number, to: number): number {
  if (row < 0) return REFUSALS.NOT_FOUND.number
  const status = get(state, row, W.STATUS)
  if (to < SIGNED || to > EXPIRED || (EDGES[status]! & (1 << to)) === 0) return REFUSALS.WITHDRAWAL_STATUS.number
  if (status !== PENDING || to !== SIGNED) return 0
  if ((get(state, row, W.FLAGS) & NEEDS_APPROVAL) !== 0) return REFUSALS.WITHDRAWAL_STATUS.number
  if (isStopped(state)) return REFUSALS.WITHDRAWALS_STOPPED.number
  const deadline = readF64(command, base, A.deadline)
  if (deadline <= now(state) || deadline % 1000 !== 0) return REFUSALS.VALIDATION_ERROR.number
  return mayBeSigned(state, row) ? 0 : REFUSALS.WITHDRAWAL_LIMIT.number
}

/** Whether the day of all has room for the withdrawal at `row`, which is PENDING. */
function mayBeSigned(state: State, row: number): boolean {
  const [asset, counting] = [get(state, row, W.ASSET), get(state, row, W.COUNTING)]
  if ((counting & Counting.BY_SIGNATURE) === 0) return true
  load(state, row, W.AMOUNT, R.REQUIRED)
  return !isBeyondDay(state, asset, withdrawalTerms(state, asset).totalDaily, (counting & Counting.FIRST) !== 0)
}

/** Of lane 0. Approves, or cancels whatever is PENDING. NOT_FOUND; WITHDRAWAL_STATUS: it is not PENDING, or needs no approval. */
export function reviewWithdrawal(state: State, command: Views, base: number): void {
  const row = findWithdrawal(state, read(command, base, V.row), readF64(command, base, V.withdrawalSequence))
  const approves = read(command, base, V.approve) !== 0
  let code = laneRefusal(command, base)
  if (code === 0 && row < 0) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && get(state, row, W.STATUS) !== PENDING) code = REFUSALS.WITHDRAWAL_STATUS.number
  if (code === 0 && approves && (get(state, row, W.FLAGS) & NEEDS_APPROVAL) === 0) code = REFUSALS.WITHDRAWAL_STATUS.number
  if (code !== 0) return refuse(state, command, base, code)
  if (approves) approve(state, row)
  become(state, command, base, row, approves ? PENDING : CANCELLED)
}

function approve(state: State, row: number): void {
  set(state, row, W.FLAGS, get(state, row, W.FLAGS) & ~NEEDS_APPROVAL)
  add(state, vaultRow(state), VAULT.NEED_APPROVAL, -1)
}

/** The withdrawal at `row` gets a status; a terminal one moves what was locked, and frees the row. */
function become(state: State, command: Views, base: number, row: number, to: number): void {
  const before = get(state, row, W.STATUS)
  set(state, row, W.STATUS, to)
  setF64(state, row, W.UPDATED_AT, now(state))
  if (to >= CONFIRMED) unlock(state, row, to)
  touchAccount(state, get(state, row, W.ACCOUNT))
  emitWithdrawal(state, row, before)
  answer(state, command, base, row)
  if (to < CONFIRMED) return
  if ((get(state, row, W.FLAGS) & NEEDS_APPROVAL) !== 0) add(state, vaultRow(state), VAULT.NEED_APPROVAL, -1)
  freeWithdrawal(state, row)
}

/** What the withdrawal at `row` locked was paid, or is available again. */
function unlock(state: State, row: number, to: number): void {
  const asset = get(state, row, W.ASSET)
  const balance = balanceRow(state, get(state, row, W.ACCOUNT), asset)
  const total = vaultTotalRow(state, asset)
  load(state, row, W.AMOUNT, R.AMOUNT)
  lose(state, balance, BALANCE.LOCKED, R.AMOUNT)
  lose(state, total, VAULT_TOTAL.LOCKED, R.AMOUNT)
  touchBalance(state, balance)
  if (to === CONFIRMED) {
    lose(state, totalRow(state, asset), TOTAL.ISSUED, R.AMOUNT)
    gain(state, total, VAULT_TOTAL.WITHDRAWN, R.AMOUNT)
    return
  }
  gain(state, balance, BALANCE.AVAILABLE, R.AMOUNT)
  uncountUse(state, row)
}
