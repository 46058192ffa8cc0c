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

/** A mark is held against every best mark of the pair. */
export function ratchet(ex: Ex, pair: number, mark: number): void {
  for (const stop of trailing(ex, pair)) {
    stop.watermark = isOfLong(stop) ? Math.max(stop.watermark, mark) : Math.min(stop.watermark, mark)
  }
}
