/** What may be withdrawn of an asset, as the genesis document says it; the operator may set other terms (programs/withdrawal_policy.ts). */
import { parseDecimal } from '../lib/decimal.ts'
import { MAX_ISSUED } from './pair_terms.ts'

/** Atoms. */
export interface WithdrawalTerms {
  /** Least amount, at least 1. */
  readonly minimum: bigint
  /** What one user, and all together, may withdraw in a UTC day; 0: no limit. */
  readonly userDaily: bigint
  readonly totalDaily: bigint
  /** What an account asks for in a UTC day beyond this waits for the operator; 0: nothing does. */
  readonly approvalAbove: bigint
}

/** A quarter of a day is kept: for first withdrawals of an account one half of it, for small withdrawals all of it. */
const KEPT = 4n
/** A small withdrawal is at most this part of the day's limit of all, a first one that is kept for at most the other. */
const [SMALL, FIRST] = [1000n, 100n]

/**
 * Up to how many atoms may be signed on a day whose limit is `totalDaily`, a withdrawal of `amount` included. `isFirst`: it is the first
 * of its account on its day.
 */
export function dayCeiling(totalDaily: bigint, amount: bigint, isFirst: boolean): bigint {
  if (amount <= totalDaily / SMALL) return totalDaily
  const kept = totalDaily / KEPT
  return totalDaily - (isFirst && amount <= totalDaily / FIRST ? kept / 2n : kept)
}

/** Of an asset whose document says nothing. */
export const OPEN_TERMS: WithdrawalTerms = { minimum: 1n, userDaily: 0n, totalDaily: 0n, approvalAbove: 0n }

/** Names in the document, each with the field that it becomes. */
const KEYS = { minimum: 'minimum', userDailyLimit: 'userDaily', dailyLimit: 'totalDaily', approvalAbove: 'approvalAbove' } as const

/**
 * The part `withdrawal` of an asset of the document: decimals of the asset, each optional. `undefined`: it has none. Throws an Error that
 * says what is wrong.
 */
export function withdrawalTermsOf(json: unknown, scale: number): WithdrawalTerms | undefined {
  if (json === undefined) return undefined
  const fault = (what: string): Error => new Error(`withdrawal${what}`)
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw fault(' must be an object')
  const terms: Record<string, bigint> = { ...OPEN_TERMS }
  for (const [key, value] of Object.entries(json)) {
    const field = (KEYS as Readonly<Record<string, string>>)[key]
    if (field === undefined) throw fault(` has no ${key}`)
    const atoms = typeof value === 'string' ? parseDecimal(value, scale) : null
    if (atoms === null) throw fault(`.${key} must be a decimal, as text, with at most ${scale} digits`)
    const least = field === 'minimum' ? 1n : 0n
    if (atoms < least) throw fault(`.${key} must be ${least === 1n ? 'above 0' : '0 or more'}`)
    if (atoms > MAX_ISSUED) throw fault(`.${key} is more than may be issued`)
    terms[field] = atoms
  }
  return terms as unknown as WithdrawalTerms
}
