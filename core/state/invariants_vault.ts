/**
 * What must always hold of money in and out and of settlement (V), over the whole state. See invariants.ts, which runs it with I1 and I2,
 * and programs/withdrawals.ts, deposits.ts and settlement.ts.
 *
 *   - withdrawals: rows under way and free ones are all there are; each is in its account's list once, newest first, with neighbours that
 *     name each other; an account counts its own, its family and all count theirs, and those that wait for approval
 *   - a withdrawal has an amount, a destination, a status that is not terminal, a deadline from SIGNED on; its account keeps its row
 *   - sums of an asset: locked and in suspense as the rows say; nothing is below zero, more was not minted than the faucet issued, and no
 *     more was ever issued than may be
 *   - what was used of a day is at least what the rows of that day say, and no user used more than his day
 *   - suspense: as withdrawals; only the last row stands for several, and is in no sum
 *   - chains differ, and only rows that are counted have one; a deposit of the ring is of a chain
 *   - batches of settlement follow each other without a gap, and are confirmed in order
 */
import { broken } from '../lib/assert.ts'
import { dayOf } from '../lib/day.ts'
import {
  OPEN_SETTLEMENTS_MAX, SettlementStatus, VAULT_CHAINS_MAX, WITHDRAWAL_STOP_NAMES, WithdrawalFlag, WithdrawalStatus,
} from '../layout/vault.ts'
import { ACCOUNT, CLOCK, SCALAR } from './columns.ts'
import { areZero } from './indexes.ts'
import { MAX_ISSUED } from './pair_terms.ts'
import {
  accountRow, assetCount, bytesOf, depositIdRow, get, getF64, getI64, lostDepositRow, scalar, settlementRow, suspenseRow,
  vaultAccountRow, vaultChainRow, vaultRow,
  vaultTotalRow, withdrawalRow,
} from './rows.ts'
import type { State } from './state.ts'
import { everIssued, lastSuspense } from './vault_pools.ts'
import {
  ADDRESS_WORDS, Counting, DEPOSIT_ID, DEPOSIT_IDS, HASH_WORDS, LOST_DEPOSIT, LOST_DEPOSIT_WORDS, LOST_PER_SUSPENSE, MOVED,
  SETTLEMENT_ROW, SETTLEMENT_WORDS, SETTLEMENTS, SUSPENSE,
  SUSPENSE_WORDS, VAULT, VAULT_ACCOUNT, VAULT_CHAIN, VAULT_CHAIN_WORDS, VAULT_TOTAL, WHOLE_DAY, WITHDRAWAL_ROW, WITHDRAWAL_WORDS,
} from './vault_rows.ts'

const W = WITHDRAWAL_ROW
const { PENDING, SIGNED, SUBMITTED } = WithdrawalStatus

/** Numbers of the withdrawals under way. */
function liveWithdrawals(state: State): number[] {
  const rows: number[] = []
  for (let row = 0; row < scalar(state, SCALAR.WITHDRAWALS_USED); row++) {
    if (getF64(state, withdrawalRow(state, row), W.SEQUENCE) !== 0) rows.push(row)
  }
  return rows
}

/** Adds what withdrawals lock to what orders hold, by account × assets + asset (I2). */
export function addLocked(state: State, held: Map<number, bigint>): void {
  for (const number of liveWithdrawals(state)) {
    const row = withdrawalRow(state, number)
    const place = get(state, row, W.ACCOUNT) * assetCount(state) + get(state, row, W.ASSET)
    held.set(place, (held.get(place) ?? 0n) + getI64(state, row, W.AMOUNT))
  }
}

/** Atoms of an asset that deposits in suspense have (I1). */
export const heldInSuspense = (state: State, asset: number): bigint => getI64(state, vaultTotalRow(state, asset), VAULT_TOTAL.SUSPENSE)

/** Throws InvariantBroken at the first that does not hold. */
export function checkVault(state: State): void {
  const live = liveWithdrawals(state)
  const vault = vaultRow(state)
  if ((get(state, vault, VAULT.TURNS) & 1) !== 0) broken('V', 'a command of the vault is half applied')
  if (WITHDRAWAL_STOP_NAMES[get(state, vault, VAULT.STOPPED)] === undefined) broken('V', `stop ${get(state, vault, VAULT.STOPPED)}`)
  for (const number of live) checkWithdrawal(state, number)
  checkLists(state, live)
  const { limits } = state.genesis
  checkFree(state, 'withdrawal', W, withdrawalRow, WITHDRAWAL_WORDS, scalar(state, SCALAR.WITHDRAWALS_USED), limits.withdrawals,
    get(state, vault, VAULT.WITHDRAWALS_FREE), get(state, vault, VAULT.WITHDRAWALS_LIVE))
  checkFree(state, 'suspense', SUSPENSE, suspenseRow, SUSPENSE_WORDS, scalar(state, SCALAR.SUSPENSE_USED), limits.suspense,
    get(state, vault, VAULT.SUSPENSE_FREE), get(state, vault, VAULT.SUSPENSE_LIVE))
  checkLost(state)
  const waiting = live.filter((number) => get(state, withdrawalRow(state, number), W.FLAGS) !== 0).length
  if (waiting !== get(state, vault, VAULT.NEED_APPROVAL)) broken('V', `${waiting} withdrawals need approval, another number is counted`)
  for (let asset = 0; asset < assetCount(state); asset++) checkSums(state, live, asset)
  checkUses(state, live)
  checkChains(state)
  checkBatches(state)
}

function checkWithdrawal(state: State, number: number): void {
  const row = withdrawalRow(state, number)
  const fault = (what: string): never => broken('V', `withdrawal ${number}: ${what}`)
  const [account, asset, status] = [get(state, row, W.ACCOUNT), get(state, row, W.ASSET), get(state, row, W.STATUS)]
  if (account < 0 || account >= scalar(state, SCALAR.ACCOUNTS) || asset < 0 || asset >= assetCount(state)) fault('account or asset')
  if (getF64(state, accountRow(state, account), ACCOUNT.BLANK_SINCE) !== 0) fault(`account ${account} is blank`)
  if (getI64(state, row, W.AMOUNT) < 1n) fault('no amount')
  if (status < PENDING || status > SUBMITTED) fault(`status ${status}`)
  const flags = get(state, row, W.FLAGS)
  if (flags !== 0 && (flags !== WithdrawalFlag.NEEDS_APPROVAL || status !== PENDING)) fault(`flags ${flags}`)
  const deadline = getF64(state, row, W.DEADLINE)
  if (status >= SIGNED ? deadline <= 0 || deadline % 1000 !== 0 : deadline !== 0) fault(`deadline ${deadline}`)
  if (areZero(state.i32, row + W.DESTINATION, ADDRESS_WORDS)) fault('no destination')
  if (status !== SUBMITTED && !areZero(state.i32, row + W.TX_HASH, HASH_WORDS)) fault('a transaction')
  const [made, changed] = [getF64(state, row, W.CREATED_AT), getF64(state, row, W.UPDATED_AT)]
  if (made > changed || changed > state.clock[CLOCK.TIME]!) fault(`made at ${made}, changed at ${changed}`)
  if (getF64(state, row, W.DAY) !== dayOf(made)) fault(`day ${getF64(state, row, W.DAY)}`)
  checkCounting(state, row, fault)
  if (getF64(state, row, W.SEQUENCE) > state.clock[CLOCK.SEQUENCE]!) fault('sequence')
}

/** From its signature on it is counted on a day that is not before its own. */
function checkCounting(state: State, row: number, fault: (what: string) => never): void {
  const [counting, share] = [get(state, row, W.COUNTING), get(state, row, W.APPROVAL_SHARE)]
  const [signed, day] = [(counting & Counting.SIGNED) !== 0, getF64(state, row, W.SIGNED_DAY)]
  const isOld = counting === 0 && share === 0 && day === 0
  const isNew = (counting & Counting.BY_SIGNATURE) !== 0 && signed === get(state, row, W.STATUS) >= SIGNED && share <= WHOLE_DAY + 1
    && (signed ? day >= getF64(state, row, W.DAY) : day === 0)
  if (share < 0 || !(isOld || isNew)) fault(`counting ${counting} on day ${day}, ${share} of the threshold`)
}

/** Day on which the withdrawal at `row` is counted for all; -1: it is not yet. */
function countedOn(state: State, row: number): number {
  const counting = get(state, row, W.COUNTING)
  if ((counting & Counting.BY_SIGNATURE) === 0) return getF64(state, row, W.DAY)
  return (counting & Counting.SIGNED) !== 0 ? getF64(state, row, W.SIGNED_DAY) : -1
}

/** Lists and counts of accounts and families. */
function checkLists(state: State, live: readonly number[]): void {
  const [met, families] = [new Set<number>(), new Map<number, number>()]
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    const own = vaultAccountRow(state, account)
    let [count, newer, before] = [0, 0, Infinity]
    for (let link = get(state, own, VAULT_ACCOUNT.NEWEST); link !== 0; count++) {
      const row = withdrawalRow(state, link - 1)
      const made = getF64(state, row, W.SEQUENCE)
      if (met.has(link - 1) || get(state, row, W.ACCOUNT) !== account) broken('V', `withdrawal ${link - 1} is in the list of ${account}`)
      if (get(state, row, W.PREV) !== newer || made === 0 || made >= before) broken('V', `withdrawal ${link - 1} in the list of ${account}`)
      met.add(link - 1)
      newer = link
      before = made
      link = get(state, row, W.NEXT)
    }
    if (count !== get(state, own, VAULT_ACCOUNT.LIVE)) broken('V', `account ${account} has ${count} withdrawals, another number is counted`)
    if (count > state.genesis.limits.withdrawalsPerAccount) broken('V', `account ${account} has ${count} withdrawals`)
    const family = get(state, accountRow(state, account), ACCOUNT.FAMILY)
    families.set(family, (families.get(family) ?? 0) + count)
  }
  if (met.size !== live.length) broken('V', `${met.size} withdrawals in lists, ${live.length} under way`)
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    const counted = get(state, vaultAccountRow(state, account), VAULT_ACCOUNT.FAMILY_LIVE)
    if (counted !== (families.get(account) ?? 0)) broken('V', `the family of ${account} counts ${counted} withdrawals`)
  }
}

/** A pool: free rows are clean and in the free list once; they and the live ones are all that were ever used. */
function checkFree(
  state: State, name: string, fields: { NEXT: number; SEQUENCE: typeof W.SEQUENCE }, rowOf: (state: State, row: number) => number,
  words: number, used: number, most: number, first: number, live: number,
): void {
  const free = new Set<number>()
  for (let link = first; link !== 0; link = get(state, rowOf(state, link - 1), fields.NEXT)) {
    if (link > used || free.has(link - 1)) broken('V', `${name} ${link - 1} is twice among the free ones, or was never used`)
    free.add(link - 1)
    const row = rowOf(state, link - 1)
    if (!areZero(state.i32, row + 1, words - 1)) broken('V', `free ${name} ${link - 1} is not clean`)
  }
  let taken = 0
  for (let row = 0; row < used; row++) if (getF64(state, rowOf(state, row), fields.SEQUENCE) !== 0) taken++
  if (used > most || taken !== live || taken + free.size !== used) {
    broken('V', `${name}: ${taken} rows taken, ${live} counted, ${free.size} free, ${used} used of ${most}`)
  }
}

function checkSums(state: State, live: readonly number[], asset: number): void {
  const row = vaultTotalRow(state, asset)
  const sum = (field: typeof VAULT_TOTAL.LOCKED): bigint => getI64(state, row, field)
  const fault = (what: string): never => broken('V', `asset ${asset}: ${what}`)
  let locked = 0n
  for (const number of live) {
    const own = withdrawalRow(state, number)
    if (get(state, own, W.ASSET) === asset) locked += getI64(state, own, W.AMOUNT)
  }
  if (locked !== sum(VAULT_TOTAL.LOCKED)) fault(`withdrawals lock ${locked}, ${sum(VAULT_TOTAL.LOCKED)} are counted`)
  const suspended = checkSuspended(state, asset)
  if (suspended !== sum(VAULT_TOTAL.SUSPENSE)) fault(`${suspended} in suspense, ${sum(VAULT_TOTAL.SUSPENSE)} are counted`)
  const ever = everIssued(state, asset)
  if (sum(VAULT_TOTAL.DEPOSITED) < 0n || sum(VAULT_TOTAL.WITHDRAWN) < 0n || sum(VAULT_TOTAL.MINTED) < 0n) fault('a sum below 0')
  if (sum(VAULT_TOTAL.MINTED) > ever - sum(VAULT_TOTAL.DEPOSITED)) fault('more was minted than the faucet issued')
  if (ever > MAX_ISSUED) fault(`${ever} were ever issued`)
  if (get(state, row, VAULT_TOTAL.TERMS_SET) === 0) return
  const limits = [VAULT_TOTAL.USER_DAILY, VAULT_TOTAL.TOTAL_DAILY, VAULT_TOTAL.APPROVAL_ABOVE]
  if (sum(VAULT_TOTAL.MINIMUM) < 1n || limits.some((field) => sum(field) < 0n)) fault('terms of withdrawals')
}

/** Atoms of an asset in suspense, of rows that count. */
function checkSuspended(state: State, asset: number): bigint {
  let sum = 0n
  for (let number = 0; number < scalar(state, SCALAR.SUSPENSE_USED); number++) {
    const row = suspenseRow(state, number)
    if (getF64(state, row, SUSPENSE.SEQUENCE) === 0) continue
    const [own, counted, deposits] = [SUSPENSE.ASSET, SUSPENSE.COUNTED, SUSPENSE.DEPOSITS].map((field) => get(state, row, field))
    const isLast = number === lastSuspense(state)
    const isRight = deposits! >= 1 && (isLast ? own === -1 : deposits === 1) && (counted === 0 || own! >= 0)
    if (!isRight || getI64(state, row, SUSPENSE.AMOUNT) < 0n) broken('V', `suspense ${number}: asset ${own}, ${deposits} deposits`)
    if (own === asset && counted !== 0) sum += getI64(state, row, SUSPENSE.AMOUNT)
  }
  return sum
}

/** Deposits without a row: each once, no more than the last row of suspense stands for, and nothing behind them. */
function checkLost(state: State): void {
  const lost = get(state, vaultRow(state), VAULT.LOST)
  const most = state.genesis.limits.suspense * LOST_PER_SUSPENSE
  const isFull = scalar(state, SCALAR.SUSPENSE_USED) > lastSuspense(state)
  const counted = isFull ? get(state, suspenseRow(state, lastSuspense(state)), SUSPENSE.DEPOSITS) : 0
  if (lost < 0 || lost > most || lost > counted) broken('V', `${lost} deposits without a row, ${counted} are counted`)
  const met = new Set<string>()
  for (let number = 0; number < lost; number++) {
    const row = lostDepositRow(state, number)
    const chain = get(state, row, LOST_DEPOSIT.CHAIN)
    if (chain < 0 || chain >= get(state, vaultRow(state), VAULT.CHAINS)) broken('V', `chain of deposit without a row ${number}`)
    const place = [chain, getF64(state, row, LOST_DEPOSIT.BLOCK), get(state, row, LOST_DEPOSIT.LOG_INDEX)]
    met.add([...place, ...bytesOf(state, row, LOST_DEPOSIT.TX_HASH, 32)].join())
  }
  if (met.size !== lost) broken('V', `of ${lost} deposits without a row some are twice there`)
  const isClean = lost === most || areZero(state.i32, lostDepositRow(state, lost), LOST_DEPOSIT_WORDS)
  if (!isClean) broken('V', `there is something behind ${lost} deposits without a row`)
}

/** What was used of days. */
function checkUses(state: State, live: readonly number[]): void {
  const [users, asked, assets] = [new Map<number, number>(), new Map<number, number>(), new Map<number, bigint>()]
  for (const number of live) {
    const row = withdrawalRow(state, number)
    const [account, asset, day] = [get(state, row, W.ACCOUNT), get(state, row, W.ASSET), getF64(state, row, W.DAY)]
    const [user, total] = [vaultAccountRow(state, account), vaultTotalRow(state, asset)]
    const [ofUser, ofAsset] = [getF64(state, user, VAULT_ACCOUNT.DAY), getF64(state, total, VAULT_TOTAL.DAY)]
    const counted = countedOn(state, row)
    if (ofUser < day || ofAsset < counted) broken('V', `day of withdrawal ${number}`)
    if (ofUser === day) {
      users.set(account, (users.get(account) ?? 0) + getF64(state, row, W.SHARE))
      if (get(state, row, W.COUNTING) !== 0) asked.set(account, (asked.get(account) ?? 1) + get(state, row, W.APPROVAL_SHARE))
    }
    if (ofAsset === counted) assets.set(asset, (assets.get(asset) ?? 0n) + getI64(state, row, W.AMOUNT))
  }
  for (let account = 0; account < scalar(state, SCALAR.ACCOUNTS); account++) {
    const used = getF64(state, vaultAccountRow(state, account), VAULT_ACCOUNT.USED)
    if (used < (users.get(account) ?? 0) || used > WHOLE_DAY) broken('V', `account ${account} used ${used} of its day`)
    const word = get(state, vaultAccountRow(state, account), VAULT_ACCOUNT.APPROVAL)
    if (word < (asked.get(account) ?? 0) || word > WHOLE_DAY + 2) broken('V', `account ${account} asked for ${word} of its thresholds`)
  }
  for (let asset = 0; asset < assetCount(state); asset++) {
    const used = getI64(state, vaultTotalRow(state, asset), VAULT_TOTAL.USED)
    if (used < (assets.get(asset) ?? 0n)) broken('V', `${used} of asset ${asset} are withdrawn on its day`)
  }
}

function checkChains(state: State): void {
  const chains = get(state, vaultRow(state), VAULT.CHAINS)
  const ids = new Set<number>()
  for (let chain = 0; chain < VAULT_CHAINS_MAX; chain++) {
    const row = vaultChainRow(state, chain)
    if (chain < chains) ids.add(getF64(state, row, VAULT_CHAIN.CHAIN_ID))
    else if (!areZero(state.i32, row, VAULT_CHAIN_WORDS)) broken('V', `chain ${chain} is none`)
  }
  if (ids.size !== chains || ids.has(0)) broken('V', `${chains} chains have ${ids.size} ids`)
  const ever = getF64(state, vaultRow(state), VAULT.DEPOSITS)
  for (let number = Math.max(0, ever - DEPOSIT_IDS); number < ever; number++) {
    const row = depositIdRow(state, number)
    const chain = get(state, row, DEPOSIT_ID.CHAIN)
    if (chain < 0 || chain >= chains || get(state, row, DEPOSIT_ID.LOG_INDEX) < MOVED) broken('V', `deposit ${number} of the ring`)
  }
}

function checkBatches(state: State): void {
  const vault = vaultRow(state)
  const number = (field: typeof VAULT.BATCH): number => getF64(state, vault, field)
  const [last, confirmed] = [number(VAULT.BATCH), number(VAULT.CONFIRMED)]
  if (confirmed > last || last - confirmed > OPEN_SETTLEMENTS_MAX) broken('V', `batch ${last} is open, ${confirmed} confirmed`)
  let [through, fills] = [number(VAULT.THROUGH), number(VAULT.FILLS)]
  if (through > state.clock[CLOCK.SEQUENCE]! || fills > state.clock[CLOCK.FILLS]!) broken('V', 'batches are ahead of the exchange')
  for (let batch = last; batch > Math.max(0, last - SETTLEMENTS); batch--) {
    const row = settlementRow(state, batch)
    const fault = (what: string): never => broken('V', `batch ${batch}: ${what}`)
    const status = batch <= confirmed ? SettlementStatus.CONFIRMED : SettlementStatus.OPENED
    if (getF64(state, row, SETTLEMENT_ROW.BATCH) !== batch || get(state, row, SETTLEMENT_ROW.STATUS) !== status) fault('its status')
    const from = getF64(state, row, SETTLEMENT_ROW.FROM)
    if (getF64(state, row, SETTLEMENT_ROW.THROUGH) !== through || from > through) fault(`it goes through ${through}`)
    if (batch === confirmed && number(VAULT.CONFIRMED_THROUGH) !== through) fault('another command is the last confirmed one')
    const isOpen = status === SettlementStatus.OPENED
    if (isOpen && !areZero(state.i32, row + SETTLEMENT_ROW.TRADES_ROOT, SETTLEMENT_WORDS - SETTLEMENT_ROW.TRADES_ROOT)) fault('its roots')
    through = from - 1
    fills -= getF64(state, row, SETTLEMENT_ROW.FILLS)
  }
  if (fills < 0 || (last <= SETTLEMENTS && fills + through !== 0)) broken('V', `batches leave ${fills} fills, ${through} commands`)
}
