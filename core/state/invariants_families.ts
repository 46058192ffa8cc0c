/**
 * What must always hold of families and spend limits (F), over the whole state. See invariants.ts, which runs it.
 *
 *   - a sub-account has a master of its application that is no sub-account itself and stands once in that master's list, newest first
 *   - a limit row is one sub-account's and one asset's alone and stands once in that sub-account's list
 *   - OUTSTANDING is the sum of the holds of the sub-account's resting master-funded orders that spend the asset
 *   - SPENT counts from a UTC midnight of the past and is never negative
 *   - a master-funded order is a sub-account's
 */
import { Flag } from '../layout/command.ts'
import { broken } from '../lib/assert.ts'
import { DAY_MS } from '../lib/day.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, CLOCK, ORDER, ORDER_WORDS, PROFILE, PROFILE_WORDS, SCALAR, SPEND_LIMIT, SPEND_LIMIT_WORDS, SpendLimitState,
  TERMS,
} from './columns.ts'
import { MAX_ISSUED } from './genesis.ts'
import { assetCount, get, termsRow } from './rows.ts'
import type { State } from './state.ts'

/** Throws InvariantBroken at the first that does not hold. `live`: slots of the resting orders. */
export function checkFamilies(state: State, live: readonly number[]): void {
  const masters = checkProfiles(state)
  const outstanding = sumHolds(state, live, masters)
  checkLimits(state, masters, outstanding)
}

/** The master of each account, -1 for masters. */
function checkProfiles(state: State): number[] {
  const { profiles, accounts, accountsF64, scalars, genesis } = state
  const count = scalars[SCALAR.ACCOUNTS]!
  const masters = Array.from({ length: count }, (_, account) => profiles[account * PROFILE_WORDS + PROFILE.MASTER]! - 1)
  const met = new Set<number>()
  for (let account = 0; account < count; account++) {
    const row = account * PROFILE_WORDS
    let [subs, newer] = [0, Infinity]
    for (let sub = profiles[row + PROFILE.FIRST_SUB]! - 1; sub >= 0; sub = profiles[sub * PROFILE_WORDS + PROFILE.NEXT_SUB]! - 1) {
      // By when they were made: a row of an account that is no more may be lower.
      const made = accountsF64[(sub * ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) >>> 1]!
      if (made >= newer) broken('F', `the list of sub-accounts of ${account} is not newest first`)
      if (masters[sub] !== account) broken('F', `account ${sub} is in the list of ${account}, its master is ${masters[sub]}`)
      met.add(sub)
      newer = made
      subs++
    }
    // Of a sub-account, which has none, the word says whether its wallet agreed.
    const counted = masters[account]! < 0 ? profiles[row + PROFILE.SUBS] : 0
    const consented = masters[account]! < 0 ? 0 : profiles[row + PROFILE.CONSENTED]!
    if (consented !== 0 && consented !== 1) broken('F', `sub-account ${account} consented ${consented} times`)
    if (subs !== counted) broken('F', `account ${account} has ${subs} sub-accounts, counts ${counted}`)
    if (subs > genesis.limits.subAccountsPerMaster) broken('F', `account ${account} has ${subs} sub-accounts`)
  }
  masters.forEach((master, account) => {
    if (master < 0) return
    if (!met.has(account)) broken('F', `sub-account ${account} is in no list`)
    if (masters[master] !== -1) broken('F', `the master of ${account} is ${master}, which has a master or does not exist`)
    const application = (row: number): number => accounts[row * ACCOUNT_WORDS + ACCOUNT.APPLICATION]!
    if (application(account) !== application(master)) broken('F', `sub-account ${account} and its master are of two applications`)
  })
  return masters
}

/** Holds of resting master-funded orders by sub-account × assets + asset. */
function sumHolds(state: State, live: readonly number[], masters: readonly number[]): Map<number, bigint> {
  const sums = new Map<number, bigint>()
  for (const slot of live) {
    const row = slot * ORDER_WORDS
    const flags = state.orders[row + ORDER.FLAGS]!
    if ((flags & Flag.MASTER_FUNDED) === 0) continue
    const sub = state.orders[row + ORDER.ACCOUNT]!
    if ((masters[sub] ?? -1) < 0) broken('F', `the order in slot ${slot} of master ${sub} is master-funded`)
    const pair = state.orders[row + ORDER.PAIR]!
    const key = sub * assetCount(state) + get(state, termsRow(state, pair), (flags & Flag.SELL) !== 0 ? TERMS.BASE : TERMS.QUOTE)
    sums.set(key, (sums.get(key) ?? 0n) + state.ordersI64[(row + ORDER.HOLD) >>> 1]!)
  }
  return sums
}

function checkLimits(state: State, masters: readonly number[], outstanding: Map<number, bigint>): void {
  const { spendLimits, profiles, scalars, genesis } = state
  const used = scalars[SCALAR.SPEND_LIMITS_USED]!
  if (used > genesis.limits.spendLimits) broken('F', `${used} limit rows used of ${genesis.limits.spendLimits}`)
  const met = new Set<number>()
  const keys = new Set<number>()
  masters.forEach((master, sub) => {
    for (let next = profiles[sub * PROFILE_WORDS + PROFILE.FIRST_LIMIT]!; next > 0;) {
      const row = next - 1
      const at = row * SPEND_LIMIT_WORDS
      if (row >= used || met.has(row)) broken('F', `limit ${row} is twice in lists or beyond the rows used`)
      if (master < 0 || spendLimits[at + SPEND_LIMIT.SUB] !== sub) broken('F', `limit ${row} is in the list of account ${sub}`)
      met.add(row)
      const asset = spendLimits[at + SPEND_LIMIT.ASSET]!
      const key = sub * assetCount(state) + asset
      if (asset < 0 || asset >= assetCount(state) || keys.has(key)) broken('F', `limit ${row} is not the only one of its asset, ${asset}`)
      keys.add(key)
      checkLimit(state, row, outstanding.get(key) ?? 0n)
      next = spendLimits[at + SPEND_LIMIT.NEXT]!
    }
  })
  if (met.size !== used) broken('F', `${met.size} limits in lists, ${used} used`)
  for (const [key, sum] of outstanding) if (!keys.has(key)) broken('F', `${sum} are held for (sub-account, asset) ${key} without a limit`)
}

function checkLimit(state: State, row: number, held: bigint): void {
  const { spendLimits, spendLimitsF64: f64, spendLimitsI64: i64, clock } = state
  const at = row * SPEND_LIMIT_WORDS
  const amount = (word: number): bigint => i64[(at + word) >>> 1]!
  const number = (word: number): number => f64[(at + word) >>> 1]!
  const named = (what: string): string => `limit ${row} ${what}`
  const bits = spendLimits[at + SPEND_LIMIT.STATE]!
  if (bits !== 0 && bits !== SpendLimitState.EXISTS && bits !== (SpendLimitState.EXISTS | SpendLimitState.ACTIVE)) {
    broken('F', named(`has state ${bits}`))
  }
  if (amount(SPEND_LIMIT.OUTSTANDING) !== held) broken('F', named(`counts ${amount(SPEND_LIMIT.OUTSTANDING)} on hold, orders hold ${held}`))
  const [max, daily, spent] = [amount(SPEND_LIMIT.MAX), amount(SPEND_LIMIT.DAILY), amount(SPEND_LIMIT.SPENT)]
  if (max < 0n || max > MAX_ISSUED || daily < -1n || daily > MAX_ISSUED) broken('F', named(`allows ${max} and ${daily} a day`))
  if (spent < 0n || spent > MAX_ISSUED) broken('F', named(`has spent ${spent}`))
  const resetAt = number(SPEND_LIMIT.RESET_AT)
  if (resetAt % DAY_MS !== 0 || resetAt > clock[CLOCK.TIME]!) broken('F', named(`counts from ${resetAt}`))
  const [created, updated] = [number(SPEND_LIMIT.CREATED_AT), number(SPEND_LIMIT.UPDATED_AT)]
  if (created > updated || updated > clock[CLOCK.TIME]!) broken('F', named(`was made at ${created} and changed at ${updated}`))
  const sequence = number(SPEND_LIMIT.CREATED_SEQUENCE)
  if (sequence < 1 || sequence > clock[CLOCK.SEQUENCE]!) broken('F', named('has no sequence of the past'))
}
