/**
 * Shares of the referral program in the genesis document: what each level of referrers earns of the net fee income of a fill, as decimals
 * with at most six digits behind the point, together at most 1. Absent: 20 %, 5 % and 2.5 %.
 *
 *   "referralShares": ["0.2", "0.05", "0.025"]
 */
import { REFERRAL_LEVELS } from '../layout/referrals.ts'
import { shareOf, WHOLE_PPM } from '../lib/ppm.ts'

export const DEFAULT_SHARES_PPM: readonly number[] = [200_000, 50_000, 25_000]

/** Whether shares, ppm, are three, none is negative, and together they are at most all of it. */
export const areShares = (shares: readonly number[]): boolean =>
  shares.length === REFERRAL_LEVELS && shares.every((share) => share >= 0 && share <= WHOLE_PPM) &&
  shares.reduce((sum, share) => sum + share, 0) <= WHOLE_PPM

/** Shares in ppm. Throws an Error that says what is wrong. */
export function referralSharesOf(json: unknown): readonly number[] {
  if (json === undefined) return DEFAULT_SHARES_PPM
  const given: readonly unknown[] = Array.isArray(json) ? json : []
  const shares = given.map((share) => (typeof share === 'string' ? shareOf(share) : -1))
  if (areShares(shares)) return shares
  throw new Error('genesis: referralShares must be three decimals from 0 on, together at most 1, each with at most 6 digits')
}
