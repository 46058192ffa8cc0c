/** What the operator decides, and what a start does, as commands (programs/policy.ts). */
import { HEADER } from './header.ts'
import { defineLayout } from './table.ts'

export const SET_MAINTENANCE_COMMAND = defineLayout('set_maintenance', { ...HEADER, on: 'i32' })

/** What a trading pair lets happen. The numbers are part of the journal and snapshot format. */
export const PairStatus = {
  /** Nothing moves but expiry: no orders, no replacements, no cancels. */
  HALTED: 0,
  ACTIVE: 1,
  /** Cancels work; orders and replacements are refused. */
  CANCEL_ONLY: 2,
} as const
export type PairStatus = (typeof PairStatus)[keyof typeof PairStatus]
export const PAIR_STATUS_NAMES = ['HALTED', 'ACTIVE', 'CANCEL_ONLY'] as const

export const SET_PAIR_STATUS_COMMAND = defineLayout('set_pair_status', {
  ...HEADER,
  pair: 'i32',
  /** {@link PairStatus}. */
  status: 'i32',
})

export const SET_FEE_TIER_COMMAND = defineLayout('set_fee_tier', {
  ...HEADER,
  /** Row of the account. */
  account: 'i32',
  /** Index into the genesis' feeTiers. */
  tier: 'i32',
  /** The sequence that made the account; 0: whoever's the row is. */
  createdSequence: 'f64',
})

/** Of the sequencer itself, at a start: the rules in force from now on (state/rules.ts). */
export const SET_RULES_COMMAND = defineLayout('set_rules', { ...HEADER, rules: 'i32' })

/** Operator: the wall clock is right, and sequenced time goes on from it (sequencer/clock.ts). Changes nothing in the state. */
export const ACCEPT_CLOCK_COMMAND = defineLayout('accept_clock', {
  ...HEADER,
  /** The wall clock as the operator was shown it, Unix ms. */
  wall: 'f64',
})
