/**
 * Promise: the same commands give the same events and the same state, byte for byte (T2, I16), and an engine rebuilt from its
 * stored columns goes on exactly like the one they were copied from, at any point of the stream (T3, I17).
 */
import t from 'tap'
import { checkInvariants } from '../../core/state/invariants.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { createBench } from '../support/naive_compare.ts'
import { copyStored, recordWorkload, replay, storedBytes, storedColumns } from '../support/recording.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const COMMANDS = 20_000
const CUTS = 50
/** Commands an engine from a cut is followed for. */
const FOLLOWED = 1000

const SEEDS = { market: 21, tight: 22, fees: 23, deep: 24, tiers: 25, family: 26, waiting: 27, vault: 28 }

for (const [variant, seed] of Object.entries(SEEDS)) {
  const { families = false, waiting = false, vault } = VARIANTS[variant]!
  const recording = recordWorkload(genesisText(VARIANTS[variant]!), seed, COMMANDS, { families, waiting, vault })

  t.test(`${variant}, seed ${seed}: twice the same`, async (t) => {
    const second = createBench(recording.text, 5)
    let different = -1
    replay(recording, second, 0, COMMANDS, (index, events) => {
      if (different < 0 && !events.equals(recording.events[index]!)) different = index
    })
    t.equal(different, -1, 'first command with other events')
    for (const column of storedColumns(recording.state)) {
      t.ok(storedBytes(second.state, column).equals(storedBytes(recording.state, column)), `column ${column.name} is the same`)
    }
  })

  t.test(`${variant}, seed ${seed}: goes on from ${CUTS} cuts`, async (t) => {
    const random = createPrng(seed)
    const cuts = Array.from({ length: CUTS }, () => random.below(COMMANDS)).sort((a, b) => a - b)
    const first = createBench(recording.text)
    const different: string[] = []
    let at = 0
    for (const cut of cuts) {
      replay(recording, first, at, cut, () => {})
      at = cut
      const copy = copyStored(recording.text, first.state)
      checkInvariants(copy.state)
      replay(recording, copy, cut, Math.min(COMMANDS, cut + FOLLOWED), (index, events) => {
        if (!events.equals(recording.events[index]!)) different.push(`cut ${cut}, command ${index}`)
      })
      checkInvariants(copy.state)
    }
    t.same(different.slice(0, 3), [], 'commands with other events')
  })
}
