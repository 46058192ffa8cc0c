/**
 * Promise: whatever single bit of the journal's file is wrong, the journal is complete and equal, or refused by a named error, or LMDB ends
 * the process; it is never silently short or different, neither when it is read nor after more was written. So are truncations, zeroed
 * pages and older copies. `ROUNDS` and `SEED` choose the flips; `npm run test:deep` makes 500.
 */
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { dataFile } from '../../core/journal/file.ts'
import { removeDirectory } from '../support/exchange.ts'
import { chooseFlips, chooseLarge, makeSubject, PAGE_KINDS, pageKinds, torture, type Damage } from '../support/journal_torture.ts'
import { rounds, seedOf } from '../suite/rounds.ts'

const SEED = seedOf(1)
const FLIPS = rounds({ short: 28, deep: 500 })
t.setTimeout(0)
t.comment(`ROUNDS=${FLIPS} SEED=${SEED} node_modules/.bin/node --disable-warning=ExperimentalWarning test/crash/journal_flips.test.ts`)

const GOOD = ['equal', 'refused', 'signal']
const subject = await makeSubject(SEED)
t.teardown(() => removeDirectory(subject.directory))
const file = readFileSync(dataFile(subject.directory))

async function survive(t: Test, damages: readonly Damage[]): Promise<void> {
  const table = new Map<string, Map<string, number>>()
  const wrong: unknown[] = []
  let outcomes = 0
  await torture(subject, damages, (each) => {
    outcomes++
    const row = table.get(each.kind) ?? new Map<string, number>()
    table.set(each.kind, row.set(each.outcome, (row.get(each.outcome) ?? 0) + 1))
    if (!GOOD.includes(each.outcome)) wrong.push(each)
  })
  for (const [kind, row] of table) t.comment(`${kind}: ${[...row].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`)
  t.same(wrong, [], 'none is silently short or different')
  t.equal(outcomes, damages.length, 'each has an outcome')
}

t.test('single bits', async (t) => {
  const kinds = new Set(pageKinds(file))
  t.same(PAGE_KINDS.filter((kind) => !kinds.has(kind)), [], 'the file has every kind of page')
  await survive(t, chooseFlips(file, FLIPS, SEED))
})

t.test('larger damages', (t) => survive(t, chooseLarge(file, Math.ceil(FLIPS / 10), SEED)))
