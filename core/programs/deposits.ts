/**
 * Deposits: what came to the vault on a chain, behind the confirmations of that chain, as the vault thread saw it.
 *
 * - **Once.** Deposits of a chain come in order of their places (block, log); one that is not behind the last is answered as repeated and
 *   changes nothing. After a reorganisation behind the confirmations the operator rewinds the chain: deposits behind that block come
 *   again. The ring of the last {@link DEPOSIT_IDS} knows them by their transaction, so none is credited twice, and the chain is never
 *   rewound to before one that the ring forgot.
 * - **Whose.** (application, beneficiary), as accounts are. What is nobody's, or of no asset of ours, or more than may be issued, stands in
 *   suspense until ASSIGN_SUSPENSE; the last row of suspense stands for all that found no other, which is in no total. Under the rules 5
 *   each of these is known by its place and transaction (lostDeposits): sent again it is credited when its account is there by then, and
 *   else gets a row when one is free. Only beyond that list nothing is known of them but how many they are; the journal has them all.
 * - **How much.** Atoms; what is less than one stays in the vault and is nobody's.
 *
 * How far a chain was read, ADVANCE_CHAIN, is in the journal as well, so that a restart goes on from there and nothing is left out.
 */
import { DEPOSIT_ANSWER } from '../layout/answers.ts'
import { CreditSource } from '../layout/event.ts'
import { read, readF64, readI64, write } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { ASSIGN_SUSPENSE_COMMAND, CREDIT_DEPOSIT_COMMAND } from '../layout/vault.ts'
import { emitDeposit, emitResult, emitSuspended } from '../events/emit.ts'
import { credit } from '../ledger/credit.ts'
import { R } from '../state/balances.ts'
import { keepAccount } from '../state/blank_list.ts'
import { ACCOUNT, SCALAR, TOTAL } from '../state/columns.ts'
import { MAX_ISSUED } from '../state/genesis.ts'
import { findAccount, sameWords } from '../state/indexes.ts'
import {
  accountRow, add, addF64, assetCount, depositIdRow, gain, get, getF64, load, lose, lostDepositRow, now, scalar, sequence, set, setF64,
  setI64, setScalar, setWords, suspenseRow, totalRow, vaultChainRow, vaultRow, vaultTotalRow, wordOf,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { dropLost, freeSuspense, hasFreeSuspense, lastSuspense, mayIssue, takeLost, takeSuspense } from '../state/vault_pools.ts'
import {
  ADDRESS_WORDS, DEPOSIT_ID, DEPOSIT_IDS, HASH_WORDS, LOST_DEPOSIT, MOVED, SUSPENSE, VAULT, VAULT_CHAIN, VAULT_TOTAL,
} from '../state/vault_rows.ts'
import { laneRefusal } from './policy.ts'
import { refuse } from './sessions.ts'

const D = CREDIT_DEPOSIT_COMMAND.at
const S = ASSIGN_SUSPENSE_COMMAND.at

/** A whole number, 0 or more, that a double tells from all others. */
export const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** Whether there is a chain in this row. */
export const hasChain = (state: State, chain: number): boolean => chain >= 0 && chain < get(state, vaultRow(state), VAULT.CHAINS)

/**
 * CREDIT when an account gets it, then DEPOSIT, then DEPOSIT_ANSWER; a repeated one has the answer alone. NOT_FOUND: no such chain;
 * VALIDATION_ERROR: no place, no asset, or no amount that can be.
 */
export function creditDeposit(state: State, command: Views, base: number): void {
  const chain = read(command, base, D.chain)
  let code = laneRefusal(command, base)
  if (code === 0 && !hasChain(state, chain)) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && !isDeposit(state, command, base)) code = REFUSALS.VALIDATION_ERROR.number
  if (code !== 0) return refuse(state, command, base, code)
  if (!isBehindLast(state, command, base, chain) || wasTaken(state, command, base)) {
    if (bookLost(state, command, base)) return
    write(state.outbox, emitResult(state, command, base, 0, -1, -1, 0), DEPOSIT_ANSWER.at.repeated, 1)
    return
  }
  remember(state, command, base, chain)
  const [account, suspense] = book(state, command, base)
  emitDeposit(state, command, base, account, suspense)
  emitResult(state, command, base, 0, account, suspense, 0)
}

function isDeposit(state: State, command: Views, base: number): boolean {
  const [asset, amount] = [read(command, base, D.asset), readI64(command, base, D.amount)]
  if (!isCount(readF64(command, base, D.block)) || read(command, base, D.logIndex) < 0) return false
  if (asset < -1 || asset >= assetCount(state) || readI64(command, base, D.remainder) < 0n) return false
  return amount >= 0n && amount <= (asset < 0 ? 0n : MAX_ISSUED)
}

function isBehindLast(state: State, command: Views, base: number, chain: number): boolean {
  const row = vaultChainRow(state, chain)
  const [block, last] = [readF64(command, base, D.block), getF64(state, row, VAULT_CHAIN.DEPOSIT_BLOCK)]
  return block > last || (block === last && read(command, base, D.logIndex) > get(state, row, VAULT_CHAIN.DEPOSIT_LOG))
}

/** Whether the ring has it: at its place, or as one that a rewind took back, which is then this one. */
function wasTaken(state: State, command: Views, base: number): boolean {
  const [chain, logIndex] = [read(command, base, D.chain), read(command, base, D.logIndex)]
  const ever = getF64(state, vaultRow(state), VAULT.DEPOSITS)
  for (let number = Math.max(0, ever - DEPOSIT_IDS); number < ever; number++) {
    const row = depositIdRow(state, number)
    const known = get(state, row, DEPOSIT_ID.LOG_INDEX)
    if (get(state, row, DEPOSIT_ID.CHAIN) !== chain || (known !== logIndex && known !== MOVED)) continue
    if (!sameWords(state.i32, wordOf(row, DEPOSIT_ID.TX_HASH), command.i32, base + D.txHash, HASH_WORDS)) continue
    if (known !== MOVED) return true
    set(state, row, DEPOSIT_ID.LOG_INDEX, logIndex)
    setF64(state, row, DEPOSIT_ID.BLOCK, readF64(command, base, D.block))
    return true
  }
  return false
}

/** Whether it is one that found no row in suspense, and found an account or a row now. */
function bookLost(state: State, command: Views, base: number): boolean {
  const lost = findLost(state, command, base)
  if (lost < 0) return false
  const asset = read(command, base, D.asset)
  state.registers[R.AMOUNT] = readI64(command, base, D.amount)
  const fits = asset >= 0 && mayIssue(state, asset)
  const account = fits ? findAccount(state, read(command, base, D.application), command.i32, base + D.beneficiary) : -1
  if (account < 0 && !hasFreeSuspense(state)) return false
  dropLost(state, lost)
  const [owner, suspense] = book(state, command, base)
  emitDeposit(state, command, base, owner, suspense)
  emitResult(state, command, base, 0, owner, suspense, 0)
  return true
}

/** Number in lostDeposits of the deposit of the command; -1: it is not there. */
function findLost(state: State, command: Views, base: number): number {
  const [chain, logIndex, block] = [read(command, base, D.chain), read(command, base, D.logIndex), readF64(command, base, D.block)]
  for (let lost = get(state, vaultRow(state), VAULT.LOST) - 1; lost >= 0; lost--) {
    const row = lostDepositRow(state, lost)
    if (get(state, row, LOST_DEPOSIT.LOG_INDEX) !== logIndex || get(state, row, LOST_DEPOSIT.CHAIN) !== chain) continue
    if (getF64(state, row, LOST_DEPOSIT.BLOCK) !== block) continue
    if (sameWords(state.i32, wordOf(row, LOST_DEPOSIT.TX_HASH), command.i32, base + D.txHash, HASH_WORDS)) return lost
  }
  return -1
}

/** Notes the deposit of the command as one without a row, while there is room. */
function noteLost(state: State, command: Views, base: number): void {
  const lost = takeLost(state)
  if (lost < 0) return
  const row = lostDepositRow(state, lost)
  set(state, row, LOST_DEPOSIT.CHAIN, read(command, base, D.chain))
  set(state, row, LOST_DEPOSIT.LOG_INDEX, read(command, base, D.logIndex))
  setF64(state, row, LOST_DEPOSIT.BLOCK, readF64(command, base, D.block))
  setF64(state, row, LOST_DEPOSIT.SEQUENCE, sequence(state))
  setWords(state, row, LOST_DEPOSIT.TX_HASH, HASH_WORDS, command.i32, base + D.txHash)
  setWords(state, row, LOST_DEPOSIT.BENEFICIARY, ADDRESS_WORDS, command.i32, base + D.beneficiary)
  set(state, row, LOST_DEPOSIT.APPLICATION, read(command, base, D.application))
}

/** It is the last one of its chain, and in the ring, which forgets another. */
function remember(state: State, command: Views, base: number, chain: number): void {
  const [block, logIndex] = [readF64(command, base, D.block), read(command, base, D.logIndex)]
  const ever = getF64(state, vaultRow(state), VAULT.DEPOSITS)
  const row = depositIdRow(state, ever)
  if (ever >= DEPOSIT_IDS) {
    const left = vaultChainRow(state, get(state, row, DEPOSIT_ID.CHAIN))
    setF64(state, left, VAULT_CHAIN.LEFT, Math.max(getF64(state, left, VAULT_CHAIN.LEFT), getF64(state, row, DEPOSIT_ID.BLOCK)))
  }
  set(state, row, DEPOSIT_ID.CHAIN, chain)
  set(state, row, DEPOSIT_ID.LOG_INDEX, logIndex)
  setF64(state, row, DEPOSIT_ID.BLOCK, block)
  setWords(state, row, DEPOSIT_ID.TX_HASH, HASH_WORDS, command.i32, base + D.txHash)
  addF64(state, vaultRow(state), VAULT.DEPOSITS, 1)
  setF64(state, vaultChainRow(state, chain), VAULT_CHAIN.DEPOSIT_BLOCK, block)
  set(state, vaultChainRow(state, chain), VAULT_CHAIN.DEPOSIT_LOG, logIndex)
}

/** Credits the deposit to its account, or puts it into suspense: account and row, each -1 when it has none. */
function book(state: State, command: Views, base: number): [account: number, suspense: number] {
  const asset = read(command, base, D.asset)
  state.registers[R.AMOUNT] = readI64(command, base, D.amount)
  if (asset >= 0 && state.registers[R.AMOUNT] === 0n) return [-1, -1]
  const account = findAccount(state, read(command, base, D.application), command.i32, base + D.beneficiary)
  const fits = asset >= 0 && mayIssue(state, asset)
  if (account < 0 || !fits) return [-1, suspend(state, command, base, fits)]
  issue(state, asset)
  pay(state, account, asset)
  return [account, -1]
}

/** Register AMOUNT came from a chain. */
function issue(state: State, asset: number): void {
  gain(state, totalRow(state, asset), TOTAL.ISSUED, R.AMOUNT)
  gain(state, vaultTotalRow(state, asset), VAULT_TOTAL.DEPOSITED, R.AMOUNT)
}

/** Register AMOUNT is what `account` has available from now on. */
function pay(state: State, account: number, asset: number): void {
  credit(state, account, asset, CreditSource.DEPOSIT)
  keepAccount(state, account)
}

/** Number of the row of suspense that has the deposit, of register AMOUNT; `fits`: it is issued, though nobody has it. */
function suspend(state: State, command: Views, base: number, fits: boolean): number {
  const free = takeSuspense(state)
  const number = free < 0 ? lastSuspense(state) : free
  const row = suspenseRow(state, number)
  add(state, row, SUSPENSE.DEPOSITS, 1)
  if (free < 0 && scalar(state, SCALAR.RULES) >= 5) noteLost(state, command, base)
  if (get(state, row, SUSPENSE.DEPOSITS) > 1) return number
  if (free < 0) {
    setScalar(state, SCALAR.SUSPENSE_USED, number + 1)
    add(state, vaultRow(state), VAULT.SUSPENSE_LIVE, 1)
  }
  const asset = free < 0 ? -1 : read(command, base, D.asset)
  set(state, row, SUSPENSE.ASSET, asset)
  set(state, row, SUSPENSE.APPLICATION, free < 0 ? -1 : read(command, base, D.application))
  set(state, row, SUSPENSE.CHAIN, read(command, base, D.chain))
  setF64(state, row, SUSPENSE.SEQUENCE, sequence(state))
  setI64(state, row, SUSPENSE.AMOUNT, free < 0 ? 0n : state.registers[R.AMOUNT]!)
  setI64(state, row, SUSPENSE.REMAINDER, free < 0 ? 0n : readI64(command, base, D.remainder))
  setF64(state, row, SUSPENSE.CREATED_AT, now(state))
  setF64(state, row, SUSPENSE.BLOCK, readF64(command, base, D.block))
  set(state, row, SUSPENSE.LOG_INDEX, read(command, base, D.logIndex))
  setWords(state, row, SUSPENSE.TX_HASH, HASH_WORDS, command.i32, base + D.txHash)
  setWords(state, row, SUSPENSE.BENEFICIARY, ADDRESS_WORDS, command.i32, base + D.beneficiary)
  setWords(state, row, SUSPENSE.TOKEN, ADDRESS_WORDS, command.i32, base + D.token)
  if (free < 0 || !fits) return number
  set(state, row, SUSPENSE.COUNTED, 1)
  issue(state, asset)
  gain(state, vaultTotalRow(state, asset), VAULT_TOTAL.SUSPENSE, R.AMOUNT)
  return number
}

/**
 * Of lane 0. CREDIT, DEPOSIT, then DEPOSIT_ANSWER. NOT_FOUND: no such row or account; VALIDATION_ERROR: it is of no asset, or stands for
 * several; OVERLOADED: it is more than may be issued, for good.
 */
export function assignSuspense(state: State, command: Views, base: number): void {
  const [number, account] = [read(command, base, S.row), read(command, base, S.account)]
  const code = laneRefusal(command, base) || assignRefusal(state, command, base, number, account)
  if (code !== 0) return refuse(state, command, base, code)
  const row = suspenseRow(state, number)
  const asset = get(state, row, SUSPENSE.ASSET)
  load(state, row, SUSPENSE.AMOUNT, R.AMOUNT)
  lose(state, vaultTotalRow(state, asset), VAULT_TOTAL.SUSPENSE, R.AMOUNT)
  pay(state, account, asset)
  emitSuspended(state, number, account)
  freeSuspense(state, number)
  emitResult(state, command, base, 0, account, number, 0)
}

function assignRefusal(state: State, command: Views, base: number, number: number, account: number): number {
  const made = readF64(command, base, S.suspenseSequence)
  if (number < 0 || number >= scalar(state, SCALAR.SUSPENSE_USED) || made === 0) return REFUSALS.NOT_FOUND.number
  const row = suspenseRow(state, number)
  if (getF64(state, row, SUSPENSE.SEQUENCE) !== made) return REFUSALS.NOT_FOUND.number
  if (account < 0 || account >= scalar(state, SCALAR.ACCOUNTS)) return REFUSALS.NOT_FOUND.number
  if (getF64(state, accountRow(state, account), ACCOUNT.CREATED_SEQUENCE) !== readF64(command, base, S.createdSequence)) {
    return REFUSALS.NOT_FOUND.number
  }
  if (get(state, row, SUSPENSE.ASSET) < 0) return REFUSALS.VALIDATION_ERROR.number
  return get(state, row, SUSPENSE.COUNTED) !== 0 ? 0 : REFUSALS.OVERLOADED.number
}
