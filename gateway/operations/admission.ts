/**
 * What is refused between the checked input and the operation: what is not for delegated agents, maintenance, a full disk, a budget that
 * is used up.
 *
 * Every transport runs the same order: authenticate, read and check the input, admit, run. So a malformed request costs no budget, and
 * neither does one that maintenance refuses; what the engine refuses later has cost its items. What an agent's grant allows is decided
 * by the engine, at sequence time; here is what no grant allows.
 *
 * Without enforcement (`enforceRateLimits` 0) a request over budget is admitted and counted; the answers tell the budget all the same.
 */
import { DISK, GATEWAY, MATCHER, type GatewayCounter } from '../../core/ring/counters.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { acquire, type Acquired, type RateLimitedClass } from '../limits/rate_limiter.ts'
import { inMaintenance } from './health.ts'
import { notGranted, type Call, type JsonObject } from './operation.ts'
import type { Row } from './row.ts'

/** What makes the state larger, or moves money: refused while the disk has less than its reserve. Ways out are not. */
export const needsDisk = (row: Row): boolean => row.maintenance === 'blocked' && row.method !== 'DELETE'

/** Items of a checked request: the elements of a batch, 1 for everything else. Mass cancels count as one (rule 2). */
export const itemsOf = ({ counts }: Row, input: JsonObject): number =>
  counts === undefined ? 1 : Math.max(1, (input[counts] as readonly unknown[]).length)

/** Admits `call` of the operation of `row` and sets its budget, or says why not. `input` is what the operation will be given. */
export function admit(gateway: Gateway, row: Row, call: Call<never>, input: JsonObject): Refused | null {
  if (call.agent >= 0 && row.agent === 'no') return notGranted('OPERATION')
  if (row.maintenance === 'blocked' && inMaintenance(gateway)) return new Refused('OPERATIONS_BLOCKED')
  if (needsDisk(row) && gateway.matcher[MATCHER.disk_level]! < DISK.OPEN) return new Refused('DISK_RESERVE')
  if (row.rate === 'none') return null
  if (row.rate !== 'mass-exit') return acquireItems(gateway, row.rate, call, itemsOf(row, input))
  // Getting out is never limited (rule 1); it is metered as one cancel (rule 2) and draws what is left.
  call.budget = acquire(gateway.rateLimiter, 'reduce', call.account, 1)
  return null
}

function acquireItems(gateway: Gateway, name: RateLimitedClass, call: Call<never>, items: number): Refused | null {
  const drawn = acquire(gateway.rateLimiter, name, call.account, items)
  if (drawn.waitMs === 0) {
    call.budget = drawn
    return null
  }
  gateway.counters[OVER[name]]!++
  if (gateway.config.enforceRateLimits === 0) {
    call.budget = drawn
    return null
  }
  gateway.counters[REFUSED[name]]!++
  return overBudget(drawn, items)
}

const counters = (prefix: 'rate_over' | 'rate_refused'): Record<RateLimitedClass, number> => {
  const of = (name: RateLimitedClass): number => GATEWAY[`${prefix}_${name}` satisfies GatewayCounter]
  return { create: of('create'), reduce: of('reduce'), movement: of('movement'), close: of('close') }
}
const OVER = counters('rate_over')
const REFUSED = counters('rate_refused')

/** `retryAfter`: whole seconds until the last window that refuses has ended. More items than a window ever holds need a smaller batch. */
function overBudget({ waitMs, limitSecond, limitMinute }: Acquired, items: number): Refused {
  const limit = Math.min(limitSecond, limitMinute)
  const message = items > limit
    ? `Rate limit exceeded: ${items} items are more than the ${limit} that one window holds`
    : `Rate limit exceeded: ${limitSecond} a second and ${limitMinute} a minute`
  return new Refused('RATE_LIMIT_EXCEEDED', message, { retryAfter: Math.ceil(waitMs / 1000) })
}
