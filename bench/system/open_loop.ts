/**
 * Load at fixed times, whatever the service does meanwhile. A generator that waits for an answer before it sends the next request asks
 * nothing while the service stalls, so that a stall of a second is one slow answer among thousands (coordinated omission). Here every
 * request has the time at which it was due, and its latency counts from there.
 *
 * The generator shares the machine and comes late itself: by how much is told with the figures, and is part of every latency. Its timers
 * count whole milliseconds; an exact one turns its loop for the last of them, which burns most of a core at a thousand a second.
 */
import { quantile } from '../result.ts'

export interface Offer {
  readonly perSecond: number
  readonly ms: number
  /** To within the turn of a loop, instead of a timer. */
  readonly exact?: boolean
}

/** Where sending is due: request `index` at the time `due`, of performance.now(). */
type Send = (due: number, index: number) => void

const WITHIN_MS = 1.5

/**
 * Calls `send` for every request at the time it is due or as soon as possible after it, and `flush` after those that were due together.
 * Resolves when the last was sent, with how late each was, ms, sorted.
 */
export async function offer(
  { perSecond, ms, exact = false }: Offer, send: Send, flush: () => void = () => undefined,
): Promise<Float64Array> {
  const count = Math.floor((perSecond * ms) / 1000)
  const late = new Float64Array(count)
  const started = performance.now()
  const dueAt = (index: number): number => started + (index * 1000) / perSecond
  for (let index = 0; index < count; ) {
    const now = performance.now()
    const before = index
    for (; index < count && dueAt(index) <= now; index++) {
      send(dueAt(index), index)
      late[index] = performance.now() - dueAt(index)
    }
    if (index > before) flush()
    const left = dueAt(index) - performance.now()
    if (exact && left < WITHIN_MS) await new Promise((resolve) => setImmediate(resolve))
    else await new Promise((resolve) => setTimeout(resolve, exact ? left - WITHIN_MS : left))
  }
  return late.sort()
}

/** How late the generator was, under these names. */
export const lateness = (late: Float64Array): Record<string, number> => ({
  'generator late, p50, ms': quantile(late, 0.5),
  'generator late, p99, ms': quantile(late, 0.99),
  'generator late, at most, ms': late[late.length - 1]!,
})

/** Looks until `done` or this long has passed; says whether it was done. */
export async function until(done: () => boolean, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; !done() && performance.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5))
  return done()
}
