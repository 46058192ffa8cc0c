/**
 * Trailing stops in the naive exchange: each has its own best mark, a number that is raised (of longs), or lowered, whenever a mark is done
 * with. See naive_conditional.ts.
 */
import { LegFlag } from '../../core/layout/conditional.ts'
import { isArmed, trails, type Conditional } from './naive_conditional.ts'
import { exact, roundedDown, roundedUp } from './naive_margin.ts'
import { has, type Ex } from './naive_terms.ts'

/** It closes a long position. */
export const isOfLong = ({ flags }: Pick<Conditional, 'flags'>): boolean => has(flags, LegFlag.SELL)

/** The first tick at which a stop with this best mark fires: watermark x (1 - trailBps / 10000) of a long, mirrored of a short. */
export function tickOf(long: boolean, watermark: number, bps: number): number {
  const part = exact(watermark).times(exact(10_000).plus(long ? -bps : bps)).div(10_000)
  return Number(long ? roundedDown(part) : roundedUp(part))
}

/** Where a trailing stop fires now, ticks; 0: it is not armed. */
export const triggerOf = (stop: Conditional): number =>
  (stop.watermark === 0 ? 0 : tickOf(isOfLong(stop), stop.watermark, stop.trailBps))

/** Trailing stops of a pair that see marks. */
export const trailing = (ex: Ex, pair: number): Conditional[] =>
  ex.waiting.conditionals.filter((each) => each.pair === pair && trails(each) && isArmed(each) && each.stands === 'WATCHES')

/** The mark may fire a stop of this side: the one with the best mark would, if it had the least distance of all. */
export function mayMeet(ex: Ex, pair: number, long: boolean, mark: number): boolean {
  const stops = trailing(ex, pair).filter((stop) => isOfLong(stop) === long)
  if (stops.length === 0) return false
  const marks = stops.map(({ watermark }) => watermark)
  const bound = tickOf(long, long ? Math.max(...marks) : Math.min(...marks), Math.min(...stops.map(({ trailBps }) => trailBps)))
  return long ? mark <= bound : mark >= bound
}

/**
 * A mark is held against every best mark of the pair. Stops with the worst one get the next better one first, as long as that is not better
 * than the mark; of that so much is done at a time, for the longs before the shorts. False: there is more to do.
 */
export function ratchet(ex: Ex, pair: number, mark: number, most: number): boolean {
  let left = most
  for (const long of [true, false]) {
    const isBetter = (a: number, b: number): boolean => (long ? a > b : a < b)
    for (;;) {
      const stops = trailing(ex, pair).filter((stop) => isOfLong(stop) === long)
      const [worst, next] = [...new Set(stops.map(({ watermark }) => watermark))].sort((a, b) => (isBetter(a, b) ? 1 : -1))
      if (worst === undefined || !isBetter(mark, worst)) break
      const last = next === undefined || isBetter(next, mark)
      if (!last && left-- <= 0) return false
      for (const stop of stops) if (stop.watermark === worst) stop.watermark = last ? mark : next
      if (last) break
    }
  }
  return true
}
