/**
 * Promise: a journal of an older version keeps its meaning, and from the first start of this version on the newer rules are in force: one
 * command in the journal says from where, at the first start only; nobody but the sequencer can give it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { SCALAR } from '../../core/state/columns.ts'
import { RULES } from '../../core/state/rules.ts'
import { journalPath } from '../../core/journal/file.ts'
import { CommandType, typeOfKind } from '../../core/layout/command.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { openSource } from '../../core/replay/steps.ts'
import { verify } from '../../core/replay/verify.ts'
import { commitOwn } from '../../core/sequencer/loop.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, postCommand, startMatcher } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

t.setTimeout(600_000)

t.test('an older journal gets them once', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  mkdirSync(journalPath(dataDir), { recursive: true })
  const recorded = join(import.meta.dirname, '..', 'recorded', 'spot_market.mdb.gz')
  writeFileSync(join(journalPath(dataDir), 'data.mdb'), gunzipSync(readFileSync(recorded)))
  const { commands } = verify(dataDir, () => undefined)
  const typesAfterStart = async (): Promise<number[]> => {
    const exchange = await startExchange(dataDir, ['--chain', '0', '--gateways', '1'])
    t.equal(await exchange.stop(), 0)
    return [...openSource(dataDir).steps].map(({ command }) => typeOfKind(command.readUInt32LE(0)))
  }
  const first = await typesAfterStart()
  // The genesis is counted as a command, and is none of the steps. Behind it the orders expire that rested all these years.
  t.equal(first[commands - 1], CommandType.SET_RULES, 'right behind what was there')
  const often = (types: readonly number[]): number => types.filter((type) => type === CommandType.SET_RULES).length
  t.equal(often(first), 1)
  t.equal(often(await typesAfterStart()), 1, 'the second start finds them in force')
  t.ok(verify(dataDir, () => undefined).commands > commands)
})

t.test('rules only grow, and no lane sets them', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const matcher = startMatcher(dataDir, { genesis: genesisText({ ...VARIANTS['market']!, rules: 0 }) })
  const { scalars } = matcher.sequencer.state
  for (const lane of [0, 1]) {
    postCommand(matcher, lane, CommandType.SET_RULES, { session: -1, rules: RULES })
    t.equal(matcher.turn(), 0)
    t.same(answersOf(matcher, lane).map(({ code }) => code), [REFUSALS.INVALID_COMMAND.number])
  }
  const own = (rules: number): void => commitOwn(matcher.sequencer, CommandType.SET_RULES, { rules })
  own(RULES + 1)
  own(0)
  t.equal(scalars[SCALAR.RULES], 0)
  own(RULES)
  t.equal(scalars[SCALAR.RULES], RULES)
  t.same([0, 1, 2, 3].flatMap((lane) => answersOf(matcher, lane)), [], 'nobody is answered')
})
