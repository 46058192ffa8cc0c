/**
 * The referral program in the naive exchange: who brought whom is an object that an account points at, and rewards are worked out from the
 * chain of them at each fill. In the words of the specification (Referral program) and of the page of interface decisions; see naive.ts.
 */
import { CommandType, typeOfKind } from '../../core/layout/command.ts'
import { CREDIT, EventType, REFERRAL_REWARD } from '../../core/layout/event.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, type Account, type NaiveExchange } from './naive.ts'
import { owner, refuseOwner } from './naive_agents.ts'
import { familyOf } from './naive_families.ts'
import type { Order } from './naive_terms.ts'

const MILLION = 1_000_000n
const MOST = 4_600_000_000_000_000_000n
const SOURCE = 6

/** Records that the account that a sign-in made was brought by whom it names; false: nobody is there, or of another application. */
export function bring(ex: NaiveExchange, account: Account, command: Decoded): boolean {
  const referrer = ex.accounts[Number(command['referrer'] ?? 0) - 1]
  if (referrer === undefined || referrer === account || referrer.createdSequence !== Number(command['referrerSequence'] ?? 0)) return false
  if (referrer.application !== account.application) return false
  account.referrer = referrer
  return true
}

/** Row of who brought `account`; -1: nobody, or the row is another's by now. */
const broughtBy = (ex: NaiveExchange, account: number): number =>
  (ex.accounts[account]!.referrer === null ? -1 : ex.accounts.indexOf(ex.accounts[account]!.referrer!))

/** By account how many it brought, those brought, and those. */
export function broughtCounts(ex: NaiveExchange): number[][] {
  const by = ex.accounts.map((_, row) => broughtBy(ex, row))
  const counts = ex.accounts.map(() => [0, 0, 0])
  for (let row = 0; row < by.length; row++) {
    let referrer = by[row]!
    for (let level = 0; level < 3 && referrer >= 0; level++) {
      counts[referrer]![level]!++
      referrer = by[referrer]!
    }
  }
  return counts
}

/** After a fill: parts of `income`, what the house keeps of `order`, to those who brought its owner. `index`: number of the fill. */
export function reward(ex: NaiveExchange, order: Order, income: bigint, index: number, rested: boolean): void {
  if (income <= 0n) return
  const { quote } = ex.genesis.pairs[order.pair]!
  const source = familyOf(ex, order.account)
  const chain = [source]
  while (chain.length <= 3 && chain.at(-1)! >= 0) chain.push(broughtBy(ex, chain.at(-1)!))
  const earned = chain.slice(1).map((row, level) => {
    const amount = row < 0 ? 0n : (income * BigInt(ex.referralShares[level]!)) / MILLION
    return amount === 0n ? { row: -1, amount: 0n } : { row, amount }
  })
  if (earned.every(({ amount }) => amount === 0n)) return
  const [first, second, third] = [0, 1, 2].map((level) => earned[level] ?? { row: -1, amount: 0n }) as [Earned, Earned, Earned]
  for (const { row, amount } of [first, second, third]) {
    if (amount === 0n) continue
    const { rewards } = ex.accounts[row]!
    rewards[quote] = rewards[quote]! + amount
    ex.fees[quote] = ex.fees[quote]! - amount
    ex.accounts[row]!.known = true
  }
  ex.events.push({
    layout: REFERRAL_REWARD,
    values: {
      kind: EventType.REFERRAL_REWARD, account: order.account, sequence: ex.sequence, time: ex.now, pair: order.pair, index, source,
      asset: quote, rested: rested ? 1 : 0, first: first.row, second: second.row, third: third.row, income, firstAmount: first.amount,
      secondAmount: second.amount, thirdAmount: third.amount,
    },
  })
}
interface Earned { row: number; amount: bigint }

/** Commands of the first lane only that this file answers. */
export const REFERRAL_COMMANDS: ReadonlySet<CommandType> = new Set([CommandType.SET_REFERRAL_SHARES])

/** SET_REFERRAL_SHARES and TRANSFER_REWARDS; false: it is another command. */
export function referralCommand(ex: NaiveExchange, command: Decoded): boolean {
  const kind = Number(command['kind'])
  const type = typeOfKind(kind)
  if (type === CommandType.TRANSFER_REWARDS) transfer(ex, command)
  else if (type !== CommandType.SET_REFERRAL_SHARES) return false
  else if (kind >>> 16 !== 0) ex.refuse(command, CODE.OPERATOR_ONLY, -1)
  else setShares(ex, command)
  return true
}

function setShares(ex: NaiveExchange, command: Decoded): void {
  const shares = ['first', 'second', 'third'].map((name) => Number(command[name]))
  const [first, second, third] = shares as [number, number, number]
  if (shares.some((share) => share < 0) || first + second + third > 1_000_000) return ex.refuse(command, CODE.VALIDATION_ERROR, -1)
  const [before] = ex.referralShares
  ex.referralShares = shares
  ex.result(command, { account: -1, detail: before!, price: first, lots: second, remaining: third })
}

function transfer(ex: NaiveExchange, command: Decoded): void {
  const account = owner(ex, command)
  if (account < 0) return refuseOwner(ex, command, -account)
  const known = ex.admit(command, account)
  if (typeof known === 'object') return ex.repeat(command, known)
  const [asset, atoms] = [Number(command['asset']), BigInt(command['amount']!)]
  const { rewards } = ex.accounts[account]!
  let code: number = known
  if (code === 0 && ex.maintenance) code = CODE.OPERATIONS_BLOCKED
  if (code === 0 && ex.genesis.assets[asset] === undefined) code = CODE.NOT_FOUND
  if (code === 0 && (atoms <= 0n || atoms > MOST)) code = CODE.VALIDATION_ERROR
  if (code === 0 && rewards[asset]! < atoms) {
    const told = { hold: atoms, filledQuote: rewards[asset]!, detail2: asset }
    return void ex.result(command, { code: CODE.INSUFFICIENT_BALANCE, account: -1, ...told })
  }
  if (code !== 0) return refuseOwner(ex, command, code)
  rewards[asset] = rewards[asset]! - atoms
  ex.pay(account, asset, atoms)
  ex.events.push({
    layout: CREDIT,
    values: {
      kind: EventType.CREDIT, account, sequence: ex.sequence, time: ex.now, asset, source: SOURCE, amount: atoms,
      available: ex.available(account, asset), locked: ex.locked(account, asset), version: ex.accounts[account]!.version[asset]!,
    },
  })
  ex.keep(command, account, ex.result(command, { account, detail2: asset, orderSequence: ex.sequence }))
}
