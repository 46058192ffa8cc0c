/**
 * Sub-accounts, transfers and spend limits in the naive exchange. See naive.ts.
 *
 * Nothing is counted as it happens: what is on hold under a limit is the sum over the orders that rest, what was spent today the sum
 * over a list of everything ever spent, and who a sub-account's siblings are is looked for among all accounts.
 */
import { CommandType, Flag, typeOfKind } from '../../core/layout/command.ts'
import { CREDIT, EventType } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, type NaiveExchange } from './naive.ts'
import { owner, refuseOwner } from './naive_agents.ts'
import { holdOf, type Order } from './naive_terms.ts'

const DAY_MS = 86_400_000
const MOST = 4_600_000_000_000_000_000n

/** A limit of one sub-account and asset; its place in the list is its row. A deleted one stays, because holds and spending do. */
export interface SpendLimit {
  sub: number
  asset: number
  exists: boolean
  active: boolean
  createdSequence: number
  max: bigint
  /** -1: none. */
  daily: bigint
}

/** What one fill took from a master. */
export interface Spending {
  sub: number
  asset: number
  time: number
  atoms: bigint
}

const isFunded = (flags: number): boolean => (flags & Flag.MASTER_FUNDED) !== 0

/** Who pays for an order of `account` with these flags; -1: nobody can. */
export const payerOf = (ex: NaiveExchange, account: number, flags: number): number =>
  isFunded(flags) ? ex.accounts[account]!.master : account

/** An order of `account` with these flags must not meet `other`. */
export const isOwn = (ex: NaiveExchange, account: number, flags: number, other: Order): boolean =>
  other.account === account || payerOf(ex, other.account, other.flags) === payerOf(ex, account, flags)

/** Atoms on hold for resting master-funded orders of a sub-account that spend `asset`. */
export function onHold(ex: NaiveExchange, sub: number, asset: number): bigint {
  const meant = ex.openOrders(sub).filter((order) => {
    const { base, quote } = ex.genesis.pairs[order.pair]!
    return isFunded(order.flags) && (order.sell ? base : quote) === asset
  })
  return meant.reduce((sum, order) => sum + holdOf(ex, order), 0n)
}

/** Atoms of `asset` that fills of a sub-account took from its master on this UTC day. */
export function spentToday(ex: NaiveExchange, sub: number, asset: number): bigint {
  const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)
  const meant = ex.spendings.filter((each) => each.sub === sub && each.asset === asset && dayOf(each.time) === dayOf(ex.now))
  const sum = meant.reduce((total, each) => total + each.atoms, 0n)
  return sum > MOST ? MOST : sum
}

/** Notes what a fill took from the payer of `order`. */
export function noteSpending(ex: NaiveExchange, order: Order, quote: bigint, base: bigint, fee: bigint, added: bigint): void {
  if (!isFunded(order.flags)) return
  const pair = ex.genesis.pairs[order.pair]!
  const atoms = order.sell ? base : quote + (fee > 0n ? fee : 0n) + added
  ex.spendings.push({ sub: order.account, asset: order.sell ? pair.base : pair.quote, time: ex.now, atoms })
  if (ex.spendings.length > 2000) ex.spendings = ex.spendings.filter((each) => each.time > ex.now - DAY_MS)
}

/** Base and quote of a spot fill change hands between whoever pays for the orders; each has costs in quote, which may be negative. */
export function payFill(
  ex: NaiveExchange, taker: Order, maker: Order,
  { quote, base, takerCosts, makerCosts }: Readonly<Record<'quote' | 'base' | 'takerCosts' | 'makerCosts', bigint>>,
): void {
  const rules = ex.genesis.pairs[taker.pair]!
  const [buyer, seller] = taker.sell ? [maker, taker] : [taker, maker]
  const [buyerCosts, sellerCosts] = taker.sell ? [makerCosts, takerCosts] : [takerCosts, makerCosts]
  ex.pay(payerOf(ex, buyer.account, buyer.flags), rules.quote, -quote - buyerCosts)
  ex.pay(payerOf(ex, buyer.account, buyer.flags), rules.base, base)
  ex.pay(payerOf(ex, seller.account, seller.flags), rules.quote, quote - sellerCosts)
  ex.pay(payerOf(ex, seller.account, seller.flags), rules.base, -base)
}

/** Whether a sub-account may bind `need` more atoms of its master; `released`: what a replaced order under the same limit gives back. */
export function fundingRefusal(ex: NaiveExchange, account: number, asset: number, need: bigint, released: bigint): number {
  const limit = ex.spendLimits.find((each) => each.sub === account && each.asset === asset && each.exists && each.active)
  if (limit === undefined) return CODE.SUB_ACCOUNT_LIMIT_EXCEEDED
  const bound = onHold(ex, account, asset) - released + need
  if (bound > limit.max) return CODE.SUB_ACCOUNT_LIMIT_EXCEEDED
  return limit.daily >= 0n && spentToday(ex, account, asset) + bound > limit.daily ? CODE.SUB_ACCOUNT_LIMIT_EXCEEDED : 0
}

/** What the most of a limit leaves, whether or not it is in force: how far the path of a MARKET BUY is looked at. */
export function boundLeft(ex: NaiveExchange, account: number, asset: number): bigint {
  const limit = ex.spendLimits.find((each) => each.sub === account && each.asset === asset)
  const left = limit === undefined ? 0n : limit.max - onHold(ex, account, asset)
  return left < 0n ? 0n : left
}

/** How much more of its master a sub-account may bind today. */
export function mayBind(ex: NaiveExchange, account: number, asset: number, released: bigint): bigint {
  const limit = ex.spendLimits.find((each) => each.sub === account && each.asset === asset && each.exists && each.active)
  if (limit === undefined) return 0n
  const today = limit.daily < 0n ? limit.max : limit.daily - spentToday(ex, account, asset)
  const left = (today < limit.max ? today : limit.max) + released - onHold(ex, account, asset)
  return left < 0n ? 0n : left
}

/** CREATE_SUB_ACCOUNT, TRANSFER and SET_SPEND_LIMIT; false: the command is something else. */
export function family(ex: NaiveExchange, command: Decoded): boolean {
  const type = typeOfKind(Number(command['kind']))
  if (type === CommandType.CREATE_SUB_ACCOUNT) createSubAccount(ex, command)
  else if (type === CommandType.TRANSFER) transfer(ex, command)
  else if (type === CommandType.SET_SPEND_LIMIT) setSpendLimit(ex, command)
  else return false
  return true
}

/** Why the account that signed, or the negated refusal of it, may not act as a master; 0: it may. */
function masterRefusal(ex: NaiveExchange, account: number): number {
  if (account < 0) return -account
  return ex.accounts[account]!.master >= 0 ? CODE.MASTER_ONLY : 0
}

/** The wallet of `sub` agreed to `master`, if that is its master. */
export function agree(ex: NaiveExchange, sub: number, master: number): void {
  const account = ex.accounts[sub]!
  if (master >= 0 && account.master === master) account.consented = true
}

function createSubAccount(ex: NaiveExchange, command: Decoded): void {
  const master = owner(ex, command)
  const agreed = Number(command['consented']) !== 0
  const username = Buffer.from(String(command['username']), 'hex').toString('latin1')
  const application = ex.accounts[master]?.application
  let code = masterRefusal(ex, master)
  if (code === 0 && !/^[ -~]*\0*$/.test(username)) code = CODE.VALIDATION_ERROR
  if (code === 0 && ex.inForce >= 1 && !agreed) code = CODE.CONSENT_REQUIRED
  const known = ex.accounts.findIndex((each) => each.application === application && each.address === command['address'])
  if (code === 0 && known >= 0) {
    const { master: whose, createdSequence } = ex.accounts[known]!
    if (!agreed || whose !== master) return refuseOwner(ex, command, CODE.ADDRESS_IN_USE)
    agree(ex, known, master)
    return void ex.result(command, { account: master, detail: known, flags: Flag.REPEATED, originalSequence: createdSequence })
  }
  const siblings = ex.accounts.filter((each) => each.master === master)
  if (code === 0 && siblings.length >= ex.genesis.limits.subAccountsPerMaster) code = CODE.TOO_MANY_SUB_ACCOUNTS
  if (code === 0 && !ex.hasRoom()) code = CODE.OVERLOADED
  if (code !== 0) return refuseOwner(ex, command, code)
  const sub = ex.newAccount(application!, String(command['address']), master)
  if (agreed) agree(ex, sub, master)
  ex.result(command, { account: master, detail: sub, originalSequence: ex.sequence })
}

function transfer(ex: NaiveExchange, command: Decoded): void {
  const master = owner(ex, command)
  let code = masterRefusal(ex, master)
  if (code !== 0) return refuseOwner(ex, command, code)
  const known = ex.admit(command, master)
  if (typeof known === 'object') return ex.repeat(command, known)
  const sub = Number(command['subAccount'])
  const asset = Number(command['asset'])
  const atoms = BigInt(command['amount']!)
  code = known
  if (code === 0 && ex.maintenance) code = CODE.OPERATIONS_BLOCKED
  if (code === 0 && ex.accounts[sub]?.master !== master) code = CODE.NOT_FOUND
  if (code === 0 && command['toSub'] === 0 && ex.inForce >= 1 && !ex.accounts[sub]!.consented) code = CODE.CONSENT_REQUIRED
  if (code === 0 && ex.genesis.assets[asset] === undefined) code = CODE.NOT_FOUND
  if (code === 0 && (atoms <= 0n || atoms > MOST)) code = CODE.VALIDATION_ERROR
  const [from, to] = command['toSub'] !== 0 ? [master, sub] : [sub, master]
  if (code === 0 && ex.available(from, asset) < atoms) {
    const told = { hold: atoms, filledQuote: ex.available(from, asset), detail2: asset }
    return void ex.result(command, { code: CODE.INSUFFICIENT_BALANCE, account: -1, ...(ex.inForce < 4 ? {} : told) })
  }
  if (code !== 0) return refuseOwner(ex, command, code)
  credit(ex, from, asset, -atoms)
  credit(ex, to, asset, atoms)
  ex.keep(command, master, ex.result(command, { account: master, detail: sub, detail2: asset, orderSequence: ex.sequence }))
}

function credit(ex: NaiveExchange, account: number, asset: number, atoms: bigint): void {
  ex.pay(account, asset, atoms)
  ex.events.push({
    layout: CREDIT,
    values: {
      kind: EventType.CREDIT, account, sequence: ex.sequence, time: ex.now, asset, source: 2, amount: atoms,
      available: ex.available(account, asset), locked: ex.locked(account, asset), version: ex.accounts[account]!.version[asset]!,
    },
  })
}

const CHANGES = ['create', 'update', 'delete'] as const

function limitRefusal(ex: NaiveExchange, command: Decoded, limit: SpendLimit | undefined): number {
  const change = CHANGES[Number(command['change'])]
  if (change === undefined) return CODE.VALIDATION_ERROR
  const fields = change === 'create' ? 7 : change === 'update' ? Number(command['fields']) : 0
  const [max, daily] = [BigInt(command['maxAmount']!), BigInt(command['dailyLimit']!)]
  if ((fields & 1) !== 0 && (max < 0n || max > MOST)) return CODE.VALIDATION_ERROR
  if ((fields & 2) !== 0 && (daily < -1n || daily > MOST)) return CODE.VALIDATION_ERROR
  if (change !== 'create') return limit?.exists === true ? 0 : CODE.NOT_FOUND
  if (limit?.exists === true) return CODE.LIMIT_EXISTS
  if (limit !== undefined) return 0
  const { spendLimits: most } = ex.genesis.limits
  const family = familyOf(ex, Number(command['subAccount']))
  const held = ex.spendLimits.filter(({ sub }) => familyOf(ex, sub) === family).length
  const mayHold = ex.inForce === 0 ? Infinity : share(most, most - ex.spendLimits.length)
  return ex.spendLimits.length >= most || held >= mayHold ? CODE.OVERLOADED : 0
}

function setSpendLimit(ex: NaiveExchange, command: Decoded): void {
  const master = owner(ex, command)
  const sub = Number(command['subAccount'])
  const asset = Number(command['asset'])
  let limit = ex.spendLimits.find((each) => each.sub === sub && each.asset === asset)
  let code = masterRefusal(ex, master)
  if (code === 0 && (ex.accounts[sub]?.master !== master || ex.genesis.assets[asset] === undefined)) code = CODE.NOT_FOUND
  if (code === 0) code = limitRefusal(ex, command, limit)
  if (code !== 0) return refuseOwner(ex, command, code)
  const change = CHANGES[Number(command['change'])]
  if (limit === undefined) {
    limit = { sub, asset, exists: false, active: false, createdSequence: 0, max: 0n, daily: 0n }
    ex.spendLimits.push(limit)
  }
  const fields = change === 'create' ? 7 : change === 'update' ? Number(command['fields']) : 0
  if (change === 'create') [limit.exists, limit.createdSequence] = [true, ex.sequence]
  if (change === 'delete') [limit.exists, limit.active] = [false, false]
  if ((fields & 1) !== 0) limit.max = BigInt(command['maxAmount']!)
  if ((fields & 2) !== 0) limit.daily = BigInt(command['dailyLimit']!)
  if ((fields & 4) !== 0) limit.active = command['active'] !== 0
  ex.result(command, { account: master, detail: ex.spendLimits.indexOf(limit), originalSequence: limit.createdSequence })
}

/** The master of an account's family, which may be itself. */
export const familyOf = (ex: NaiveExchange, account: number): number => {
  const { master } = ex.accounts[account]!
  return master < 0 ? account : master
}

/** What a family may hold of a pool: see core/state/shares.ts. */
export function share(capacity: number, free: number): number {
  if (free === 0) return 0
  const [all, left] = [BigInt(capacity), BigInt(free)]
  const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
  const few = all >= 1_048_576n ? 64n : larger(1n, all / 16_384n)
  const tenth = larger(1n, all / 10n)
  // Of large pools, rows are counted in eights.
  const unit = all > 16_777_216n ? 8n : 1n
  const [c, f, t] = [all / unit, left / unit, tenth / unit]
  if (left <= tenth) return Number(larger(1n, (few * f * f) / (t * t)))
  const square = (f * f) / c
  return Number(larger(few, square * square / c * unit / 8n))
}
