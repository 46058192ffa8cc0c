/**
 * Withdrawals in the naive exchange: every one that ever was stays in a list, and what is locked, used of a day or under way is looked for
 * there whenever it is asked. Deposits, chains and settlement are in naive_deposits.ts. See naive.ts.
 */
import { CommandType, typeOfKind } from '../../core/layout/command.ts'
import { EventType, WITHDRAWAL } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, type NaiveExchange } from './naive.ts'
import { owner, refuseOwner } from './naive_agents.ts'
import {
  advanceChain, assignSuspense, confirmSettlement, creditDeposit, faucetMinted, openSettlement, type Batch, type Chain, type Deposit,
  type Mint, type Suspended,
} from './naive_deposits.ts'
import { familyOf, share } from './naive_families.ts'

/** Numbers of the journal, written out: they are a promise. */
const PENDING = 1
const SIGNED = 2
const SUBMITTED = 3
const CONFIRMED = 4
const FAILED = 5
const EXPIRED = 6
const CANCELLED = 7
const NEEDS_APPROVAL = 1
const MOST = 4_600_000_000_000_000_000n
const ALL_OF_A_DAY = 1_000_000_000n
const [OPERATOR_STOP, SOLVENCY_STOP] = [1, 2]
const DAY_MS = 86_400_000

export interface Withdrawal {
  row: number
  account: number
  asset: number
  /** The sequence that made it. */
  sequence: number
  amount: bigint
  destination: string
  status: number
  needsApproval: boolean
  createdAt: number
  updatedAt: number
  deadline: number
  /** Billionths of what its account may withdraw in a day. */
  part: bigint
  /** Made under the rules 5: it counts for all on the day it is signed, null: not yet; the first of its account on its day. */
  bySignature: boolean
  signedDay: number | null
  isFirst: boolean
  /** Billionths of what its account may ask for in a day without approval. */
  asked: bigint
  block: number
  txHash: string
}

/** What may be withdrawn of an asset; 0: no limit. */
interface Terms { minimum: bigint; userDaily: bigint; totalDaily: bigint; approvalAbove: bigint }

export class Vault {
  stopped = 0
  /** Changes of terms and stops; and commands. */
  changes = 0
  turns = 0
  /** All that ever were. */
  withdrawals: Withdrawal[] = []
  /** Rows of those that are over, the last one on top, and rows ever used. */
  readonly freeRows: number[] = []
  rowsUsed = 0
  readonly terms = new Map<number, Terms>()
  readonly suspended: Suspended[] = []
  readonly freeSuspense: number[] = []
  suspenseUsed = 0
  /** Of deposits those that found no row and are known. */
  readonly lost: Deposit[] = []
  readonly chains: Chain[] = []
  /** All that were ever taken. */
  readonly deposits: Deposit[] = []
  readonly mints: Mint[] = []
  readonly batches: Batch[] = []
  /** Ever. */
  fills = 0
}

const isOver = ({ status }: Withdrawal): boolean => status >= CONFIRMED
const dayOf = (time: number): number => Math.floor(time / DAY_MS)

export const underWay = (ex: NaiveExchange): Withdrawal[] => ex.vault.withdrawals.filter((each) => !isOver(each))

/** Atoms that withdrawals of an account have locked. */
export const lockedByVault = (ex: NaiveExchange, account: number, asset: number): bigint =>
  sumOf(underWay(ex).filter((each) => each.account === account && each.asset === asset))

export const sumOf = (list: readonly { amount: bigint }[]): bigint => list.reduce((sum, { amount }) => sum + amount, 0n)

/** Withdrawals of this day that count: those that failed, were cancelled or ran out on the same day do not. */
const countedToday = (ex: NaiveExchange): Withdrawal[] => ex.vault.withdrawals.filter(({ createdAt, updatedAt, status }) => {
  const givenBack = [FAILED, EXPIRED, CANCELLED].includes(status) && dayOf(updatedAt) === dayOf(createdAt)
  return dayOf(createdAt) === dayOf(ex.now) && !givenBack
})

/** What counts today of an asset: what was signed, without what was given back since on the same day. */
const signedToday = (ex: NaiveExchange): Withdrawal[] => ex.vault.withdrawals.filter(({ bySignature, signedDay, status, updatedAt }) =>
  bySignature && signedDay === dayOf(ex.now) && !([FAILED, EXPIRED, CANCELLED].includes(status) && dayOf(updatedAt) === signedDay))

/** What all withdrew of an asset today, and billionths that an account used of its limits. */
export const usedOf = (ex: NaiveExchange, asset: number): bigint =>
  sumOf([...countedToday(ex).filter((each) => !each.bySignature), ...signedToday(ex)].filter((each) => each.asset === asset))
/** Billionths that an account asked for today of what goes without approval; null: it asked for nothing under the rules 5. */
export function askedBy(ex: NaiveExchange, account: number): bigint | null {
  const asksToday = (each: Withdrawal): boolean => each.account === account && each.bySignature && dayOf(each.createdAt) === dayOf(ex.now)
  if (!ex.vault.withdrawals.some(asksToday)) return null
  return countedToday(ex).filter(asksToday).reduce((sum, { asked }) => sum + asked, 0n)
}
export const usedBy = (ex: NaiveExchange, account: number): bigint =>
  countedToday(ex).filter((each) => each.account === account).reduce((sum, { part }) => sum + part, 0n)

/** Until the operator says otherwise, what the genesis says. */
export function termsOf(ex: NaiveExchange, asset: number): Terms {
  const { withdrawal } = ex.genesis.assets[asset] as { withdrawal?: Terms }
  return ex.vault.terms.get(asset) ?? withdrawal ?? { minimum: 1n, userDaily: 0n, totalDaily: 0n, approvalAbove: 0n }
}

/** Commands of the first lane only that this file and naive_deposits.ts answer. */
export const VAULT_COMMANDS: ReadonlySet<CommandType> = new Set([
  CommandType.ADVANCE_WITHDRAWAL, CommandType.REVIEW_WITHDRAWAL, CommandType.SET_WITHDRAWAL_TERMS, CommandType.STOP_WITHDRAWALS,
  CommandType.CREDIT_DEPOSIT, CommandType.ADVANCE_CHAIN, CommandType.ASSIGN_SUSPENSE, CommandType.OPEN_SETTLEMENT,
  CommandType.CONFIRM_SETTLEMENT, CommandType.FAUCET_MINTED,
])

/** All of money in and out; false: it is another command. */
export function vaultCommand(ex: NaiveExchange, command: Decoded): boolean {
  const kind = Number(command['kind'])
  const type = typeOfKind(kind)
  if (type === CommandType.INITIATE_WITHDRAWAL || VAULT_COMMANDS.has(type as CommandType)) ex.vault.turns += 2
  if (type === CommandType.INITIATE_WITHDRAWAL) initiate(ex, command)
  else if (!VAULT_COMMANDS.has(type as CommandType)) return false
  else if (kind >>> 16 !== 0) ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  else if (type === CommandType.ADVANCE_WITHDRAWAL) advance(ex, command)
  else if (type === CommandType.REVIEW_WITHDRAWAL) review(ex, command)
  else if (type === CommandType.SET_WITHDRAWAL_TERMS) setTerms(ex, command)
  else if (type === CommandType.STOP_WITHDRAWALS) stop(ex, command)
  else if (type === CommandType.CREDIT_DEPOSIT) creditDeposit(ex, command)
  else if (type === CommandType.ADVANCE_CHAIN) advanceChain(ex, command)
  else if (type === CommandType.ASSIGN_SUSPENSE) assignSuspense(ex, command)
  else if (type === CommandType.OPEN_SETTLEMENT) openSettlement(ex, command)
  else if (type === CommandType.CONFIRM_SETTLEMENT) confirmSettlement(ex, command)
  else faucetMinted(ex, command)
  return true
}

function initiate(ex: NaiveExchange, command: Decoded): void {
  const account = owner(ex, command)
  if (account < 0) return refuseOwner(ex, command, -account)
  if (ex.accounts[account]!.master >= 0) return refuseOwner(ex, command, CODE.MASTER_ONLY)
  const known = ex.admit(command, account)
  if (typeof known === 'object') return ex.repeat(command, known)
  const [asset, amount] = [Number(command['asset']), BigInt(command['amount']!)]
  const code = known || initiateRefusal(ex, command, account)
  if (code === CODE.INSUFFICIENT_BALANCE) {
    const told = { hold: amount, filledQuote: ex.available(account, asset), detail2: asset }
    return void ex.result(command, { code, account: -1, ...told })
  }
  if (code !== 0) return refuseOwner(ex, command, code)
  const { vault } = ex
  const { approvalAbove } = termsOf(ex, asset)
  const [bySignature, before] = [ex.inForce >= 5, askedBy(ex, account)]
  const all = approvalAbove === 0n ? 0n : amount > approvalAbove ? ALL_OF_A_DAY + 1n : partOfDay(amount, approvalAbove)
  const needsApproval = bySignature ? (before ?? 0n) + all > ALL_OF_A_DAY : approvalAbove > 0n && amount > approvalAbove
  const left = ALL_OF_A_DAY + 1n - (before ?? 0n)
  const made: Withdrawal = {
    row: vault.freeRows.pop() ?? vault.rowsUsed++, account, asset, sequence: ex.sequence, amount,
    destination: String(command['destination']), status: PENDING, needsApproval, bySignature, signedDay: null,
    isFirst: bySignature && before === null, asked: !bySignature ? 0n : all < left ? all : left,
    createdAt: ex.now, updatedAt: ex.now, deadline: 0, part: partOf(ex, asset, amount), block: 0, txHash: '',
  }
  vault.withdrawals.push(made)
  ex.touch(account, asset)
  tell(ex, made, 0)
  ex.keep(command, account, answer(ex, command, made))
}

const partOfDay = (amount: bigint, daily: bigint): bigint => (amount * ALL_OF_A_DAY + daily - 1n) / daily

/** Whether all together would have more signed today than they may: a quarter is for small ones, half of that for first ones too. */
function isTooMuch(ex: NaiveExchange, asset: number, amount: bigint, isFirst: boolean): boolean {
  const { totalDaily } = termsOf(ex, asset)
  if (totalDaily === 0n) return false
  const [isSmall, isSmallEnough] = [amount <= totalDaily / 1000n, isFirst && amount <= totalDaily / 100n]
  const kept = isSmall ? 0n : isSmallEnough ? totalDaily / 4n / 2n : totalDaily / 4n
  return usedOf(ex, asset) + amount > totalDaily - kept
}

/** Of a user's day, in billionths, rounded up. */
function partOf(ex: NaiveExchange, asset: number, amount: bigint): bigint {
  const { userDaily } = termsOf(ex, asset)
  return userDaily === 0n ? 0n : partOfDay(amount, userDaily)
}

function initiateRefusal(ex: NaiveExchange, command: Decoded, account: number): number {
  const [asset, amount] = [Number(command['asset']), BigInt(command['amount']!)]
  if (ex.maintenance) return CODE.OPERATIONS_BLOCKED
  if (ex.vault.stopped !== 0) return CODE.WITHDRAWALS_STOPPED
  if (ex.genesis.assets[asset] === undefined) return CODE.NOT_FOUND
  if (amount < 1n || amount > MOST || !/[^0]/.test(String(command['destination']))) return CODE.VALIDATION_ERROR
  const { minimum, totalDaily } = termsOf(ex, asset)
  if (amount < minimum) return CODE.WITHDRAWAL_TOO_SMALL
  if (ex.available(account, asset) < amount) return CODE.INSUFFICIENT_BALANCE
  if (usedBy(ex, account) + partOf(ex, asset, amount) > ALL_OF_A_DAY) return CODE.WITHDRAWAL_LIMIT
  const isBeyond = ex.inForce >= 5 ? isTooMuch(ex, asset, amount, askedBy(ex, account) === null)
    : totalDaily > 0n && usedOf(ex, asset) + amount > totalDaily
  if (isBeyond) return CODE.WITHDRAWAL_LIMIT
  return mayHaveOneMore(ex, account) ? 0 : CODE.TOO_MANY_WITHDRAWALS
}

function mayHaveOneMore(ex: NaiveExchange, account: number): boolean {
  const live = underWay(ex)
  const { withdrawals: most, withdrawalsPerAccount } = ex.genesis.limits
  const own = live.filter((each) => each.account === account).length
  const ofFamily = live.filter((each) => familyOf(ex, each.account) === familyOf(ex, account)).length
  const mayHold = ex.inForce === 0 ? Infinity : share(most, most - live.length)
  return own < withdrawalsPerAccount && live.length < most && ofFamily < mayHold
}

/** WITHDRAWAL. */
function tell(ex: NaiveExchange, made: Withdrawal, before: number): void {
  const { account, row, asset, amount, status, deadline, createdAt, txHash, destination } = made
  ex.events.push({
    layout: WITHDRAWAL,
    values: {
      kind: EventType.WITHDRAWAL, account, sequence: ex.sequence, time: ex.now, withdrawalSequence: made.sequence, row, asset, amount,
      status, flags: flagsOf(made), deadline, createdAt, txHash, destination, before,
    },
  })
}

const flagsOf = ({ needsApproval }: Withdrawal): number => (needsApproval ? NEEDS_APPROVAL : 0)

function answer(ex: NaiveExchange, command: Decoded, made: Withdrawal): Decoded {
  const { account, row, status, sequence, asset, amount, deadline } = made
  return ex.result(command, {
    account, detail: row, detail2: status, originalSequence: sequence, pair: asset, hold: amount, trades: flagsOf(made),
    expiresAt: deadline,
  })
}

/** The one that a command names, unless it is over. */
const named = (ex: NaiveExchange, command: Decoded): Withdrawal | undefined =>
  underWay(ex).find(({ row, sequence }) => row === command['row'] && sequence === command['withdrawalSequence'])

/** What a status may become by word of the chain. */
const EDGES: Readonly<Record<number, readonly number[]>> = {
  [PENDING]: [SIGNED, FAILED], [SIGNED]: [SUBMITTED, CONFIRMED, EXPIRED], [SUBMITTED]: [SIGNED, CONFIRMED, EXPIRED],
}

function advance(ex: NaiveExchange, command: Decoded): void {
  const made = named(ex, command)
  const [to, deadline] = [Number(command['to']), Number(command['deadline'])]
  if (made === undefined) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const begins = made.status === PENDING && to === SIGNED
  if (!EDGES[made.status]!.includes(to) || (begins && made.needsApproval)) return ex.refuse(command, CODE.WITHDRAWAL_STATUS, -1)
  if (begins && ex.vault.stopped !== 0) return ex.refuse(command, CODE.WITHDRAWALS_STOPPED, -1)
  if (begins && (deadline % 1000 !== 0 || deadline <= ex.now)) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  if (begins && made.bySignature && isTooMuch(ex, made.asset, made.amount, made.isFirst)) {
    return ex.refuse(command, CODE.WITHDRAWAL_LIMIT, -1)
  }
  if (begins) made.deadline = deadline
  if (begins && made.bySignature) made.signedDay = dayOf(ex.now)
  made.txHash = to === SUBMITTED || to === CONFIRMED ? String(command['txHash']) : ''
  made.block = Number(command['block'])
  become(ex, command, made, to)
}

/** It has another status; the terminal ones free its row, and pay or give back. */
function become(ex: NaiveExchange, command: Decoded, made: Withdrawal, to: number): void {
  const before = made.status
  Object.assign(made, { status: to, updatedAt: ex.now })
  if (to === CONFIRMED) {
    ex.pay(made.account, made.asset, -made.amount)
    ex.issued[made.asset] = ex.issued[made.asset]! - made.amount
  } else if (isOver(made)) ex.touch(made.account, made.asset)
  if (isOver(made)) ex.vault.freeRows.push(made.row)
  tell(ex, made, before)
  answer(ex, command, made)
}

function review(ex: NaiveExchange, command: Decoded): void {
  const made = named(ex, command)
  if (made === undefined) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const approves = command['approve'] !== 0
  if (made.status !== PENDING || (approves && !made.needsApproval)) return ex.refuse(command, CODE.WITHDRAWAL_STATUS, -1)
  if (!approves) return become(ex, command, made, CANCELLED)
  made.needsApproval = false
  become(ex, command, made, PENDING)
}

function setTerms(ex: NaiveExchange, command: Decoded): void {
  const asset = Number(command['asset'])
  const names = ['minimum', 'userDaily', 'totalDaily', 'approvalAbove'] as const
  const given = names.map((name) => BigInt(command[name]!))
  if (ex.genesis.assets[asset] === undefined) return ex.refuse(command, CODE.NOT_FOUND, -1)
  const good = given.every((value) => value >= -1n && value <= MOST) && given[0] !== 0n
  if (!good) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  const terms = { ...termsOf(ex, asset) }
  names.forEach((name, at) => { if (given[at] !== -1n) terms[name] = given[at]! })
  ex.vault.terms.set(asset, terms)
  ex.vault.changes++
  ex.result(command, { account: -1 })
}

/** The higher cause stands; none takes any away. */
function stop(ex: NaiveExchange, command: Decoded): void {
  const cause = Number(command['cause'])
  const before = ex.vault.stopped
  if (![0, OPERATOR_STOP, SOLVENCY_STOP].includes(cause)) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  ex.vault.stopped = cause === 0 ? 0 : Math.max(cause, before)
  ex.vault.changes++
  ex.result(command, { account: -1, detail: ex.vault.stopped, detail2: before })
}
