/**
 * Trader codes: what a user gives to others so that their first sign-in counts as brought by him (specification, Verify). Each user has
 * one from his first sign-in on. It is worked out of his id, so nothing is stored and it never changes:
 *
 *   12 digits of Crockford's base 32 in groups of four, KQ7M-02XD-9FTE: 60 bits
 *   24 bits   row of the account, mixed with the check so that neighbours do not look alike
 *   36 bits   check: of the SHA-256 of the user id, which has the sequence that made the account
 *
 * A code is read in either case, with or without hyphens, O as 0 and I and L as 1. It is no secret: with it nobody can do more than name
 * its user at a sign-in of his own.
 */
import { hash } from 'node:crypto'
import { userId } from '../../core/layout/ids.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { readAccount } from '../../core/view/accounts.ts'
import type { Referrer } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 12
const CODE = /^[0-9A-HJKMNP-TV-Z]{12}$/
const ROW_BITS = 24n
const ROW_MASK = (1n << ROW_BITS) - 1n
const CHECK_BITS = 36n

/** Longest text that is looked at; nobody's code is longer. */
export const CODE_TEXT_MAX = 32

/** 36 bits of a user. */
const checkOf = (id: string): bigint => BigInt(`0x${hash('sha256', id, 'hex').slice(0, 9)}`)

/** The code of the user whose account is in row `account`, made by the command of this sequence. */
export function codeOf(account: number, createdSequence: number): string {
  const check = checkOf(userId(createdSequence, account))
  let value = ((BigInt(account) ^ (check & ROW_MASK)) << CHECK_BITS) | check
  let text = ''
  for (let digit = 0; digit < LENGTH; digit++) {
    text = DIGITS[Number(value & 31n)]! + text
    value >>= 5n
  }
  return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`
}

/** As it is compared: capital digits alone. */
const plain = (text: string): string => text.toUpperCase().replaceAll('-', '').replaceAll('O', '0').replace(/[IL]/g, '1')

/** Row that a code names if it is one; -1: it is none. Whose it is, {@link findReferrer} asks. */
export function rowOfCode(text: string): number {
  const code = text.length > CODE_TEXT_MAX ? '' : plain(text)
  if (!CODE.test(code)) return -1
  const value = [...code].reduce((sum, digit) => (sum << 5n) | BigInt(DIGITS.indexOf(digit)), 0n)
  return Number((value >> CHECK_BITS) ^ (value & ROW_MASK))
}

/** The code of the user of an account. */
export const referralCodeOf = ({ state }: Gateway, account: number): string => codeOf(account, readAccount(state, account).createdSequence)

/** Who a sign-in to `application` may name as its referrer; `null`: nobody of it has this code. */
export function findReferrer({ state }: Gateway, application: number, code: string): Referrer | null {
  const account = rowOfCode(code)
  if (account < 0 || account >= state.scalars[SCALAR.ACCOUNTS]!) return null
  const { application: own, createdSequence } = readAccount(state, account)
  return own === application && plain(codeOf(account, createdSequence)) === plain(code) ? { account, createdSequence } : null
}
