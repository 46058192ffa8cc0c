/**
 * Rate budgets: how many items an account, and its family, may ask for per window (specification, Order rate limits).
 *
 * Windows are fixed parts of the wall clock, UTC: each whole second, minute or day. So a burst may take one window's budget at its end
 * and the next one's at its beginning; within a window the count is exact over all gateway threads, which share the rows.
 *
 * An acquisition is all or nothing over every window it concerns: own second and minute, the family's second and minute. One over budget
 * takes nothing, so that a batch that is refused leaves the budget as it was. The same is measured when nothing is refused.
 *
 * The lock of the family's row (core/ring/lock.ts) covers it. It is held for some hundred nanoseconds. The clock is read under the
 * lock, so a window never comes back; a wall clock that is set back opens new windows. An account's family never changes.
 */
import type { Config } from '../../core/config.ts'
import { BUDGET, BUDGET_ROW_WORDS } from '../../core/ring/budgets.ts'
import { lock, unlock } from '../../core/ring/lock.ts'
import type { Budget } from './budget.ts'

export type RateLimitedClass = 'create' | 'reduce' | 'movement' | 'close'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const DAY_MS = 24 * 60 * MINUTE_MS

interface Window {
  /** Word in the row. */
  readonly at: number
  readonly ms: number
  readonly limit: number
  /** Drawn from the family's row. */
  readonly family: boolean
}

/** The windows of one class, and the limits that its headers name; -1: it has no such window (budget.ts). */
interface Class {
  readonly windows: readonly Window[]
  readonly limitSecond: number
  readonly limitMinute: number
}

export interface RateLimiter {
  readonly rows: Int32Array
  readonly classes: Readonly<Record<RateLimitedClass, Class>>
  /** Wall clock, Unix ms. */
  readonly now: () => number
  /** The account whose row holds the family budget: the master, for everybody of its family. */
  readonly familyOf: (account: number) => number
}

export interface Acquired extends Budget {
  /** 0: within the budget, and drawn. Otherwise nothing was drawn, and the last window that refuses ends in this many ms. */
  readonly waitMs: number
}

const own = (at: number, ms: number, limit: number): Window => ({ at, ms, limit, family: false })
const family = (at: number, ms: number, limit: number): Window => ({ at, ms, limit, family: true })

/** A rate limiter over the rows of {@link budgetsBytes}. */
export function createRateLimiter(
  config: Config, budgets: SharedArrayBuffer, now: () => number, familyOf: RateLimiter['familyOf'],
): RateLimiter {
  const { rateCreatePerSecond, rateCreatePerMinute, rateMovementPerMinute, rateMovementPerDay, rateClosePerSecond } = config
  const orders = (times: number, second: number, minute: number, familySecond: number, familyMinute: number): Class => {
    const limitSecond = times * rateCreatePerSecond
    const limitMinute = times * rateCreatePerMinute
    const { rateFamilyFactor } = config
    const windows = [
      own(second, SECOND_MS, limitSecond), own(minute, MINUTE_MS, limitMinute),
      family(familySecond, SECOND_MS, rateFamilyFactor * limitSecond), family(familyMinute, MINUTE_MS, rateFamilyFactor * limitMinute),
    ]
    return { windows, limitSecond, limitMinute }
  }
  const movement = [
    own(BUDGET.MOVEMENT_MINUTE, MINUTE_MS, rateMovementPerMinute), own(BUDGET.MOVEMENT_DAY, DAY_MS, rateMovementPerDay),
  ]
  return {
    rows: new Int32Array(budgets),
    now,
    familyOf,
    classes: {
      create: orders(
        1, BUDGET.CREATE_SECOND, BUDGET.CREATE_MINUTE, BUDGET.FAMILY_CREATE_SECOND, BUDGET.FAMILY_CREATE_MINUTE,
      ),
      // Risk reduction has twice the budget (rule 1).
      reduce: orders(
        2, BUDGET.REDUCE_SECOND, BUDGET.REDUCE_MINUTE, BUDGET.FAMILY_REDUCE_SECOND, BUDGET.FAMILY_REDUCE_MINUTE,
      ),
      movement: { windows: movement, limitSecond: -1, limitMinute: rateMovementPerMinute },
      close: {
        windows: [own(BUDGET.CLOSE_SECOND, SECOND_MS, rateClosePerSecond)], limitSecond: rateClosePerSecond, limitMinute: -1,
      },
    },
  }
}

/** Draws `items` from every window of the class, or from none. `account` is a row of the engine, `items` is at least 1. */
export function acquire(limiter: RateLimiter, name: RateLimitedClass, account: number, items: number): Acquired {
  const { rows } = limiter
  const ownRow = account * BUDGET_ROW_WORDS
  const familyRow = limiter.familyOf(account) * BUDGET_ROW_WORDS
  lock(rows, familyRow + BUDGET.LOCK)
  try {
    return acquireLocked(limiter.now(), rows, limiter.classes[name], ownRow, familyRow, items)
  } finally {
    // Whatever throws: a row that stays locked would stop every thread that asks for this family.
    unlock(rows, familyRow + BUDGET.LOCK)
  }
}

function acquireLocked(
  now: number, rows: Int32Array, { windows, limitSecond, limitMinute }: Class, ownRow: number, familyRow: number, items: number,
): Acquired {
  let waitMs = 0
  for (const window of windows) {
    const at = (window.family ? familyRow : ownRow) + window.at
    const number = Math.floor(now / window.ms) | 0
    if (rows[at] !== number) {
      rows[at] = number
      rows[at + 1] = 0
    }
    if (rows[at + 1]! + items > window.limit) waitMs = Math.max(waitMs, window.ms - (now % window.ms))
  }
  let remainingSecond = -1
  let remainingMinute = -1
  for (const window of windows) {
    const at = (window.family ? familyRow : ownRow) + window.at
    if (waitMs === 0) rows[at + 1]! += items
    const left = window.limit - rows[at + 1]!
    if (window.ms === SECOND_MS) remainingSecond = tighter(remainingSecond, left)
    else remainingMinute = tighter(remainingMinute, left)
  }
  if (limitSecond < 0) return { limitSecond: limitMinute, limitMinute, remainingSecond: remainingMinute, remainingMinute, waitMs }
  if (limitMinute >= 0) return { limitSecond, limitMinute, remainingSecond, remainingMinute, waitMs }
  const secondsLeft = Math.floor((MINUTE_MS - 1 - (now % MINUTE_MS)) / SECOND_MS)
  const remaining = remainingSecond + secondsLeft * limitSecond
  return { limitSecond, limitMinute: 60 * limitSecond, remainingSecond, remainingMinute: remaining, waitMs }
}

const tighter = (known: number, left: number): number => (known < 0 || left < known ? left : known)
