/**
 * Promise: margin, tiers, funding, withdrawals and liquidation are what a reader of the specification computes by hand. 40 worked
 * examples, each with its arithmetic in words, written down before the engine was asked; the engine plays them one command a step, and
 * every invariant holds after each. An example that fails is a fault of the engine until the specification's text says otherwise.
 */
import t from 'tap'
import { faultsOf, readExamples } from '../../support/margin_examples.ts'
import { MarginPlayer } from '../../support/margin_player.ts'

const subjects = readExamples()

t.test('every example is whole', async (t) => {
  const examples = subjects.flatMap((subject) => subject.examples)
  t.ok(examples.length >= 40, '40 examples or more')
  t.equal(new Set(examples.map(({ name }) => name)).size, examples.length, 'each has a name of its own')
  for (const example of examples) t.strictSame(faultsOf(example), [], example.name)
})

for (const { subject, examples } of subjects) {
  t.test(subject, async (t) => {
    for (const example of examples) t.strictSame(new MarginPlayer().play(example), [], example.name)
  })
}
