/** Risk tiers to the atom: tiers, both margins and the highest leverage at their bounds, against the formulas in unbounded integers. */
import t from 'tap'
import { initialMargin, maintenanceMargin, maxLeverageAt, notionalOf, tierOf } from '../../core/margin/tiers.ts'
import { R } from '../../core/state/balances.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { NOTIONAL_MOST } from '../../core/state/perp_terms.ts'
import { createState } from '../../core/state/state.ts'
import { genesisText, PERPS } from '../support/variants.ts'

const state = createState(parseGenesis(genesisText(PERPS)))
const { registers } = state
const { tiers } = state.genesis.pairs[0]!.perp!
const MILLION = 1_000_000n
const ceiling = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

const at = (notional: bigint): void => {
  registers[R.NOTIONAL] = notional
}
const initial = (notional: bigint, leverage: number): bigint => {
  at(notional)
  initialMargin(state, 0, leverage)
  return registers[R.INITIAL]!
}
const maintenance = (notional: bigint): bigint => {
  at(notional)
  maintenanceMargin(state, 0)
  return registers[R.MAINTENANCE]!
}

/** Bounds of the ladder with what lies next to them, and numbers whose ends matter to rounding. */
const NOTIONALS = [
  0n, 1n, 49n, 50n, 51n, 99n, 999_999n, 1_000_000n, 1_000_001n,
  ...tiers.flatMap(({ lowerBound }) => [lowerBound - 1n, lowerBound, lowerBound + 1n, lowerBound + 19n]),
  NOTIONAL_MOST - 1n, 2n * NOTIONAL_MOST - 1n,
].filter((notional) => notional >= 0n)

t.test('the tier is the last one whose bound is at or below the notional', async (t) => {
  for (const notional of NOTIONALS) {
    at(notional)
    const expected = tiers.filter(({ lowerBound }) => lowerBound <= notional).length - 1
    t.equal(tierOf(state, 0), expected, `tier of ${notional}`)
    t.equal(maxLeverageAt(state, 0), tiers[expected]!.maxLeverage, `leverage of ${notional}`)
    t.equal(registers[R.NOTIONAL], notional, 'which is still there')
  }
})

t.test('margins are rounded up once, whatever the notional', async (t) => {
  for (const notional of NOTIONALS) {
    const tier = tiers.findLast(({ lowerBound }) => lowerBound <= notional)!
    const floor = ceiling(notional * BigInt(tier.initialPpm), MILLION) - tier.initialDeduction
    t.equal(maintenance(notional), ceiling(notional * BigInt(tier.maintenancePpm), MILLION) - tier.maintenanceDeduction)
    t.equal(initial(notional, 0), floor, `floor of ${notional}`)
    for (const leverage of [100, 101, 333, 1000, 2500, 5000, 100_000]) {
      const selected = ceiling(notional * 100n, BigInt(leverage))
      t.equal(initial(notional, leverage), selected > floor ? selected : floor, `${notional} at ${leverage}`)
    }
  }
})

t.test('the ladder is continuous: at a bound both tiers ask for the same, and one atom more never asks for less', async (t) => {
  for (const [place, tier] of tiers.entries()) {
    if (place === 0) continue
    const below = tiers[place - 1]!
    const { lowerBound } = tier
    t.equal(maintenance(lowerBound), ceiling(lowerBound * BigInt(below.maintenancePpm), MILLION) - below.maintenanceDeduction)
    t.equal(initial(lowerBound, 0), ceiling(lowerBound * BigInt(below.initialPpm), MILLION) - below.initialDeduction)
    t.ok(maintenance(lowerBound - 1n) <= maintenance(lowerBound) && maintenance(lowerBound) <= maintenance(lowerBound + 1n))
  }
})

t.test('a notional is that of long and short lots alike, beyond 31 bits too', async (t) => {
  const { tickLotAtoms } = state.genesis.pairs[0]!
  for (const lots of [0, 1, -1, 12_345, -(2 ** 31 - 1), 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 7]) {
    notionalOf(state, 0, lots, 131_071)
    t.equal(registers[R.NOTIONAL], BigInt(Math.abs(lots)) * 131_071n * tickLotAtoms, `${lots} lots`)
  }
})
