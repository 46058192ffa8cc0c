/**
 * Promise: limits that may be raised have memory, for whatever limits there are: they count for more than their columns take. And all
 * threads work with the same limits, of which a genesis may leave out some.
 */
import t from 'tap'
import { RAISABLE } from '../../core/layout/limits.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { countedBytes } from '../../core/programs/limits.ts'
import { inForce } from '../../core/sequencer/matcher.ts'
import { LIMIT, LIMIT_WORDS } from '../../core/state/columns.ts'
import { parseGenesis, type Limits } from '../../core/state/genesis.ts'
import { growState } from '../../core/state/growth.ts'
import { addressesOf, MOST_BYTES } from '../../core/state/memory.ts'
import { createState } from '../../core/state/state.ts'
import { seedOf } from '../suite/rounds.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const SEED = seedOf()
const text = genesisText(VARIANTS['market']!)

t.test('what counts is more than what columns take', async (t) => {
  t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/unit/limits_memory.test.ts`)
  const random = createPrng(SEED)
  const { limits: first } = parseGenesis(text)
  /** Small ones as often as large ones. */
  const between = (low: number, high: number): number => Math.floor(low * (high / low) ** (random.below(1_000_001) / 1_000_000))
  let [large, least] = [0, Infinity]
  for (let round = 0; round < 3_000; round++) {
    const limits: Limits = {
      ...first, priceTicks: 2 ** (10 + random.below(21)), receiptPages: random.below(2) === 0 ? 0 : between(16, 2 ** 21),
      ...(random.below(2) === 0 ? {} : {
        perps: 1 + random.below(64), marginAccounts: between(4, 2 ** 24), riskBuckets: between(4, 2 ** 24), positions: between(4, 2 ** 24),
      }),
      ...Object.fromEntries(RAISABLE.map(([name, most]) => [name, between(Math.min(first[name], most) || 1, most)])),
    }
    const counted = countedBytes(limits)
    if (counted > MOST_BYTES) continue
    const { bytes } = addressesOf({ limits })
    if (bytes > counted) t.fail(`${bytes} bytes, counted as ${counted}: ${JSON.stringify(limits)}`)
    if (counted < MOST_BYTES / 16) continue
    large++
    least = Math.min(least, counted / bytes)
  }
  t.ok(large > 100, `${large} of many GiB, the tightest counts for ${least.toFixed(3)} of its bytes`)
})

t.test('other threads have all limits of now', async (t) => {
  const document = JSON.parse(text) as { limits: Record<string, number> }
  const required = [
    'orders', 'accounts', 'sessions', 'receipts', 'openOrdersPerAccount', 'priceTicks', 'sessionLifetimeMs', 'receiptLifetimeMs',
    'orderLifetimeMs',
  ]
  const limits = Object.fromEntries(required.map((name) => [name, document.limits[name]]))
  const sparse = JSON.stringify({ ...document, limits })
  for (const [place, [name, most]] of RAISABLE.entries()) {
    const state = createState(parseGenesis(sparse))
    t.equal(inForce(sparse, state), sparse, 'nothing was raised')
    const value = Math.min(most, 2 * state.genesis.limits[name] + 1)
    state.limits[place * LIMIT_WORDS + LIMIT.NEXT] = value
    state.limits[place * LIMIT_WORDS + LIMIT.IN_FORCE] = value
    growState(state)
    const theirs = parseGenesis(inForce(sparse, state))
    t.equal(theirs.limits[name], value)
    t.same(theirs.limits, state.genesis.limits, name)
    t.equal(theirs.firstAssets, state.genesis.firstAssets)
    t.same(addressesOf(theirs), addressesOf(state.genesis), `${name}: columns are where they are`)
  }
})
