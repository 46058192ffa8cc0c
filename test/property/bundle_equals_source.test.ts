/**
 * Promise: the bundle that an exchange runs does what the sources do that tests run: it replays every recorded journal, of every version,
 * and random ones of every kind of exchange to the same events and the same state.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { QUICK } from '../../core/lib/quick_thread.ts'
import { journalPath } from '../../core/journal/file.ts'
import { verify } from '../../core/replay/verify.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'
import { VARIANTS } from '../support/variants.ts'

const RECORDED = join(import.meta.dirname, '..', 'recorded')
const ENTRY = join(import.meta.dirname, '..', 'support', 'verifying_bundle.ts')
const BATCHES = 80
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
t.comment(`SEED=${SEED} npm test -- test/property/bundle_equals_source.test.ts`)
t.setTimeout(600_000)

/** By journal: its directory, and what the sources make of it. */
const journals = new Map<string, { dataDir: string; expected: unknown }>()

function directory(): string {
  const path = temporaryDirectory()
  t.teardown(() => removeDirectory(path))
  return path
}

interface Recorded {
  readonly commands: number
  readonly eventsChecksum: number
}

const recorded = JSON.parse(readFileSync(join(RECORDED, 'journals.json'), 'utf8')) as Record<string, Recorded>
for (const [name, { commands, eventsChecksum }] of Object.entries(recorded)) {
  const dataDir = directory()
  mkdirSync(journalPath(dataDir), { recursive: true })
  writeFileSync(join(journalPath(dataDir), 'data.mdb'), gunzipSync(readFileSync(join(RECORDED, `${name}.mdb.gz`))))
  journals.set(`recorded: ${name}`, { dataDir, expected: { commands, digest: verify(dataDir, () => undefined).digest, eventsChecksum } })
}
for (const [variant, { families = false }] of Object.entries(VARIANTS)) {
  const dataDir = directory()
  const { database, after } = makeJournal(dataDir, { seed: SEED, batches: BATCHES, commands: 10, variant, families })
  await database.close()
  const { last, digest, events } = after.at(-1)!
  journals.set(`random: ${variant}`, { dataDir, expected: { commands: last, digest, eventsChecksum: events } })
}

t.test('every journal replays to the same in the bundle', async (t) => {
  const words = ['--disable-warning=ExperimentalWarning', QUICK, ENTRY, ...[...journals.values()].map(({ dataDir }) => dataDir)]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 500_000 })
  t.equal(status, 0, 'it ran to its end', { stderr })
  const lines = stdout.trim().split('\n').map((line) => JSON.parse(line) as unknown)
  for (const [index, [name, { expected }]] of [...journals].entries()) t.same(lines[index], expected, name)
})
