/**
 * Rows of the referral program: columns referrals, one row an account, and referring (columns.ts).
 *
 *   account --REFERRER--> the account that brought it          at most once, at its first sign-in
 *   account --NEWEST--> referee --OLDER--> referee --OLDER--> ...     whom it brought, newest first
 *
 * A link names an account by row and by the sequence that made it, because the row of a blank account may go to another wallet
 * (programs/blank_accounts.ts): then the link names nobody. So links run from younger accounts to older ones, and never in a circle.
 * Rows in links are + 1; 0 is none.
 */
import { f64 } from './fields.ts'

export const REFERRAL_WORDS = 10
export const REFERRAL = {
  REFERRER: 0, NEWEST: 1, OLDER: 2, NEWER: 3,
  /** Accounts that it brought, that those brought, and that those brought. */
  FIRST: 4, SECOND: 5, THIRD: 6,
  /** f64: sequence that made the referrer. */
  REFERRER_SEQUENCE: f64(8),
} as const

/** Single numbers of the program, one row. */
export const REFERRING_WORDS = 8
export const REFERRING = {
  /** 1: the operator set the shares, and those of the genesis count no more; shares of the three levels, ppm. */
  SET: 0, FIRST_PPM: 1, SECOND_PPM: 2, THIRD_PPM: 3,
} as const
