/** Limits that the operator may raise, and the commands that do it (programs/limits.ts). */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

/**
 * Names, as in the limits of the genesis, and the most that each may be. Numbers in records are places here and never change.
 */
export const RAISABLE = [
  ['accounts', 2 ** 24], ['sessions', 2 ** 24], ['orders', 2 ** 24], ['openOrdersPerAccount', 2 ** 24], ['sessionsPerAccount', 2 ** 24],
  ['subAccountsPerMaster', 1000], ['spendLimits', 2 ** 24], ['agents', 2 ** 24], ['agentsPerAccount', 1000], ['applications', 1024],
  ['pairs', 256], ['assets', 256], ['receipts', 2 ** 27],
] as const
export type RaisableLimit = (typeof RAISABLE)[number][0]

/** Operator: another value of a limit, from the next start on. */
export const RAISE_LIMIT_COMMAND = defineLayout('raise_limit', {
  ...HEADER,
  /** Place in {@link RAISABLE}. */
  limit: 'i32',
  reserved: 'i32',
  value: 'f64',
})

/** Of the sequencer itself, at a start: what was raised is in force from now on. */
export const LIMITS_IN_FORCE_COMMAND = defineLayout('limits_in_force', { ...HEADER })
