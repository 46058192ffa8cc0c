/** Numbers that workload_margin.ts draws: leverage, sizes and pauses, mostly sensible, some at bounds and beyond them. */
import type { Pair } from '../../core/state/genesis.ts'
import type { Prng } from '../../core/lib/prng.ts'

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]
const pick = (random: Prng, list: readonly number[]): number => list[random.below(list.length)]!

/** Hundredths. */
export function drawLeverage(random: Prng): number {
  const dice = random.below(100)
  if (dice < 70) return pick(random, [100, 200, 300, 500, 777, 1000, 1000, 2000])
  if (dice < 92) return 100 + random.below(4901)
  return pick(random, [0, 99, 100, 1001, 2001, 5000, 5001, 100_000])
}

/** Lots of an order of a pair whose index is `index`. */
export function drawLots(random: Prng, { minLots, maxLots, tickLotAtoms }: Pair, index: number): number {
  const dice = random.below(100)
  // Lots that are worth about so many units of collateral.
  const worth = (units: number): number =>
    Math.max(minLots, Math.floor((units * 1e6) / (Math.max(1, index) * Number(tickLotAtoms))))
  if (dice < 40) return minLots + random.below(40)
  if (dice < 80) return 1 + random.below(worth(20_000))
  if (dice < 93) return 1 + random.below(worth(400_000))
  if (dice < 97) return 1 + random.below(worth(3_000_000))
  return pick(random, [0, -1, minLots, maxLots, maxLots + 1])
}

/** Time until the next command, ms. */
export function drawPause(random: Prng): number {
  const dice = random.below(1000)
  if (dice < 500) return random.below(700)
  if (dice < 520) return random.below(20 * SECOND)
  if (dice < 523) return random.below(2 * MINUTE)
  return dice < 524 && random.below(3) === 0 ? random.below(HOUR) : 0
}
