/** Who brought whom (referral_rows.ts): reading, linking and unlinking. Each looks at three accounts at most. */
import { REFERRAL_LEVELS } from '../layout/referrals.ts'
import { ACCOUNT, SCALAR } from './columns.ts'
import { REFERRAL, REFERRING } from './referral_rows.ts'
import { accountRow, add, get, getF64, referralRow, referringRow, scalar, set, setF64, setScalar } from './rows.ts'
import type { State } from './state.ts'

const { FIRST, SECOND, THIRD } = REFERRAL

/** False: nobody can have earned a reward. */
export const hasReferrals = (state: State): boolean => scalar(state, SCALAR.REFERRING) !== 0

/** Who brought `account`, or -1. */
export function referrerOf(state: State, account: number): number {
  const row = referralRow(state, account)
  const referrer = get(state, row, REFERRAL.REFERRER) - 1
  if (referrer < 0) return -1
  const made = getF64(state, accountRow(state, referrer), ACCOUNT.CREATED_SEQUENCE)
  return made === getF64(state, row, REFERRAL.REFERRER_SEQUENCE) ? referrer : -1
}

/** Share of level 0 to 2, ppm, in force now. */
export function referralShare(state: State, level: number): number {
  const row = referringRow(state)
  return get(state, row, REFERRING.SET) !== 0 ? get(state, row, REFERRING.FIRST_PPM + level) : state.genesis.referralSharesPpm[level]!
}

/** Records that `referrer` brought `account`, which nobody did yet. */
export function linkReferral(state: State, account: number, referrer: number): void {
  setScalar(state, SCALAR.REFERRING, 1)
  const row = referralRow(state, account)
  const brought = referralRow(state, referrer)
  set(state, row, REFERRAL.REFERRER, referrer + 1)
  setF64(state, row, REFERRAL.REFERRER_SEQUENCE, getF64(state, accountRow(state, referrer), ACCOUNT.CREATED_SEQUENCE))
  const newest = get(state, brought, REFERRAL.NEWEST)
  set(state, row, REFERRAL.OLDER, newest)
  if (newest !== 0) set(state, referralRow(state, newest - 1), REFERRAL.NEWER, account + 1)
  set(state, brought, REFERRAL.NEWEST, account + 1)
  countReferral(state, account, 1)
}

/** Adds `change` for `account` and whom it brought to what is counted on its referrers. */
function countReferral(state: State, account: number, change: number): void {
  const own = referralRow(state, account)
  // Itself, whom it brought, and whom those brought: each is a level farther from a referrer.
  const sizes = [1, get(state, own, FIRST), get(state, own, SECOND)]
  let referrer = account
  for (let level = 0; level < REFERRAL_LEVELS; level++) {
    referrer = referrerOf(state, referrer)
    if (referrer < 0) return
    const row = referralRow(state, referrer)
    for (let far = level; far < REFERRAL_LEVELS; far++) add(state, row, FIRST + far, change * sizes[far - level]!)
  }
}

/** The row of the blank account `account` goes to another wallet: it was brought by nobody, and brought nobody. */
export function unlinkReferral(state: State, account: number): void {
  if (!hasReferrals(state)) return
  const row = referralRow(state, account)
  const referrer = referrerOf(state, account)
  countReferral(state, account, -1)
  const [older, newer] = [get(state, row, REFERRAL.OLDER), get(state, row, REFERRAL.NEWER)]
  if (older !== 0) set(state, referralRow(state, older - 1), REFERRAL.NEWER, newer)
  if (newer !== 0) set(state, referralRow(state, newer - 1), REFERRAL.OLDER, older)
  else if (referrer >= 0) set(state, referralRow(state, referrer), REFERRAL.NEWEST, older)
  for (const word of [REFERRAL.REFERRER, REFERRAL.NEWEST, REFERRAL.OLDER, REFERRAL.NEWER, FIRST, SECOND, THIRD]) set(state, row, word, 0)
  setF64(state, row, REFERRAL.REFERRER_SEQUENCE, 0)
}
