/** Numbers that workload.ts draws: sizes, mostly sensible, some at bounds and beyond them. */
import type { Pair } from '../../core/state/genesis.ts'
import type { Prng } from '../../core/lib/prng.ts'

/** Lots of an order. */
export function drawSpotLots(random: Prng, { minLots, maxLots }: Pair, market: boolean): number {
  const dice = random.below(100)
  if (market && dice >= 40 && dice < 60) return minLots + random.below(1500)
  if (dice < 60) return minLots + random.below(12)
  if (dice < 75) return minLots + random.below(200)
  if (dice < 85) return minLots
  if (dice < 93) return 1 + random.below(maxLots)
  if (dice < 97) return minLots + random.below(Math.max(1, Math.floor(maxLots / 50)))
  return [0, -1, minLots - 1, maxLots, maxLots + 1, 2147483647][random.below(6)]!
}
