/**
 * Promise: nobody can choose client order ids that meet in one place of their index, where each command would pass by all the others: the
 * place depends on a number that is drawn at every start and that nobody outside knows.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { LABEL_SEED_AT, LABEL_WORDS } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { hashWords, insertLabel } from '../../core/state/indexes.ts'
import { createState, type State } from '../../core/state/state.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { startMatcher } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const LABELS = 128
const genesis = parseGenesis(genesisText(VARIANTS['market']!))
const MASK = createState(genesis).labelIndex.length - 1

/** Words of texts of account 0 that all stand in one place of an index whose number is 0. */
function meeting(): Int32Array[] {
  const random = createPrng(11)
  const found: Int32Array[] = []
  for (let tried = 0; found.length < LABELS && tried < 40_000_000; tried++) {
    const words = Int32Array.from({ length: LABEL_WORDS }, (_, word) => (word < 2 ? 0x20202020 + random.below(0x3f3f3f3f) : 0x61616161))
    if ((hashWords(words, 0, LABEL_WORDS, 0) & MASK) === 5) found.push(words)
  }
  return found
}

/** The longest row of places in use once these stand in an index with this number. */
function longestRun(labels: readonly Int32Array[], seed: number): number {
  const state: State = createState(genesis, undefined, seed)
  labels.forEach((words, slot) => {
    state.labels.set(words, slot * LABEL_WORDS)
    insertLabel(state, slot)
  })
  let [longest, run] = [0, 0]
  for (const entry of state.labelIndex) {
    run = entry === 0 ? 0 : run + 1
    longest = Math.max(longest, run)
  }
  return longest
}

t.test('texts that meet for one number stand apart for another', async (t) => {
  const labels = meeting()
  t.equal(labels.length, LABELS)
  t.equal(longestRun(labels, 0), LABELS)
  for (const seed of [1, -7, 0x12345678]) t.ok(longestRun(labels, seed) < LABELS / 8, `number ${seed}: ${longestRun(labels, seed)}`)
})

t.test('every start draws another number', async (t) => {
  const numbers = new Set<number>()
  for (let start = 0; start < 3; start++) {
    const dataDir = mkdtempSync(join(import.meta.dirname, '..', '..', 'data', 'var-'))
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
    numbers.add(startMatcher(dataDir).sequencer.state.i32[LABEL_SEED_AT]!)
  }
  t.ok(numbers.size > 1, 'not the same one')
})
