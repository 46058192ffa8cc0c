/**
 * What must always hold of referrals (R), over the whole state. See invariants.ts, which runs it, and programs/referrals.ts.
 *
 *   - who was brought is younger than who brought it, of the same application and another family, and in its list once; neighbours name
 *     each other
 *   - what is counted of the three levels is what the links say
 *   - no reward is below zero, an account with rewards keeps its row, and together they are what is counted of the asset
 *   - shares are three, and together at most all of it
 */
import { broken } from '../lib/assert.ts'
import { REFERRAL_LEVELS } from '../layout/referrals.ts'
import { ACCOUNT, BALANCE, SCALAR, TOTAL } from './columns.ts'
import { areShares } from './referral_shares.ts'
import { referralShare, referrerOf } from './referral_links.ts'
import { REFERRAL } from './referral_rows.ts'
import { accountRow, balanceRow, get, getF64, getI64, referralRow, totalRow } from './rows.ts'
import type { State } from './state.ts'

/** Throws InvariantBroken at the first that does not hold. */
export function checkReferrals(state: State): void {
  const accounts = state.scalars[SCALAR.ACCOUNTS]!
  const counted = new Int32Array(accounts * REFERRAL_LEVELS)
  const listed = new Int32Array(accounts)
  for (let account = 0; account < accounts; account++) {
    checkLink(state, account)
    countLevels(state, account, counted)
  }
  for (let account = 0; account < accounts; account++) {
    const row = referralRow(state, account)
    for (let level = 0; level < REFERRAL_LEVELS; level++) {
      const [said, is] = [get(state, row, REFERRAL.FIRST + level), counted[account * REFERRAL_LEVELS + level]!]
      if (said !== is) broken('R', `account ${account} counts ${said} of level ${level + 1}, there are ${is}`)
    }
    walkList(state, account, listed)
  }
  if (!areShares(Array.from({ length: REFERRAL_LEVELS }, (_, level) => referralShare(state, level)))) broken('R', 'shares of referrers')
}

function checkLink(state: State, account: number): void {
  const referrer = referrerOf(state, account)
  if (referrer < 0) return
  const [own, other] = [accountRow(state, account), accountRow(state, referrer)]
  const younger = getF64(state, own, ACCOUNT.CREATED_SEQUENCE) > getF64(state, other, ACCOUNT.CREATED_SEQUENCE)
  const same = get(state, own, ACCOUNT.APPLICATION) === get(state, other, ACCOUNT.APPLICATION)
  const related = get(state, own, ACCOUNT.FAMILY) === get(state, other, ACCOUNT.FAMILY)
  if (!younger || !same || related) broken('R', `account ${account} was brought by ${referrer}`)
}

/** Adds `account` to what is counted of its referrers. */
function countLevels(state: State, account: number, counted: Int32Array): void {
  let referrer = account
  for (let level = 0; level < REFERRAL_LEVELS; level++) {
    referrer = referrerOf(state, referrer)
    if (referrer < 0) return
    counted[referrer * REFERRAL_LEVELS + level]!++
  }
}

/** Everybody whom `account` brought is in its list once, and nobody else. */
function walkList(state: State, account: number, listed: Int32Array): void {
  const count = get(state, referralRow(state, account), REFERRAL.FIRST)
  let newer = 0
  let met = 0
  for (let link = get(state, referralRow(state, account), REFERRAL.NEWEST); link !== 0; met++) {
    const row = referralRow(state, link - 1)
    if (met === count || referrerOf(state, link - 1) !== account) broken('R', `account ${link - 1} is in the list of ${account}`)
    if (listed[link - 1]!++ !== 0) broken('R', `account ${link - 1} is listed twice`)
    if (get(state, row, REFERRAL.NEWER) !== newer) broken('R', `neighbours of account ${link - 1} in the list of ${account}`)
    newer = link
    link = get(state, row, REFERRAL.OLDER)
  }
  if (met !== count) broken('R', `account ${account} lists ${met} of ${count}`)
}

/** What `account` has to move of `asset`; its part of what {@link checkOwed} looks at. */
export function checkedRewards(state: State, account: number, asset: number): bigint {
  const rewards = getI64(state, balanceRow(state, account, asset), BALANCE.REWARDS)
  if (rewards === 0n) return 0n
  if (rewards < 0n) broken('R', `account ${account} has rewards of ${rewards} of asset ${asset}`)
  if (getF64(state, accountRow(state, account), ACCOUNT.BLANK_SINCE) !== 0) broken('R', `account ${account} has rewards and is blank`)
  return rewards
}

/** `owed`: rewards of all accounts. */
export function checkOwed(state: State, asset: number, owed: bigint): void {
  const counted = getI64(state, totalRow(state, asset), TOTAL.REWARDS)
  if (owed !== counted) broken('R', `rewards of asset ${asset} are ${owed}, counted ${counted}`)
}
