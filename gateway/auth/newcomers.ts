/**
 * How many accounts sign-ins of everybody make in a minute. The last tenth is for sites (limits/network.ts) that made none in this minute,
 * so that whoever makes many from a few addresses does not keep newcomers elsewhere out.
 */
import { createLimit, type Limit } from './challenge.ts'

const MINUTE_MS = 60_000
const RESERVED_PART = 10

/** Keys are sites. `now` in Unix ms. */
export function createNewcomerLimit(most: number, now: () => number): Limit {
  const minute = { windowMs: MINUTE_MS }
  const all = createLimit(most, now, minute)
  const common = createLimit(most - Math.floor(most / RESERVED_PART), now, minute)
  const first = createLimit(1, now, minute)
  const isUsedUp = (site: string): boolean => all.isUsedUp('') || (first.isUsedUp(site) && common.isUsedUp(''))
  return {
    most, isUsedUp,
    acquire(site) {
      if (isUsedUp(site)) return false
      all.acquire('')
      common.acquire('')
      first.acquire(site)
      return true
    },
    retryAfter: all.retryAfter,
  }
}
