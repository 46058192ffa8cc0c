/**
 * Promise: the bundle that an exchange runs does what the sources do that tests run: it replays every recorded journal, of every version,
 * and random ones of every kind of exchange to the same events and the same state.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { QUICK } from '../../core/lib/quick_thread.ts'
import { journalPath } from '../../core/journal/file.ts'
import { verify } from '../../core/replay/verify.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal } from '../support/journal.ts'
import { VARIANTS } from '../support/variants.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const RECORDED = join(ROOT, 'test', 'recorded')
const BATCHES = 150
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
t.comment(`SEED=${SEED} npm test -- test/property/bundle_equals_source.test.ts`)

/** What the bundle of the replay tools says of a journal: `npm run replay -- verify`. It fails at the first batch with other events. */
function bundled(t: Test, dataDir: string): unknown {
  const words = ['--disable-warning=ExperimentalWarning', QUICK, join(ROOT, 'core', 'replay', 'main.ts'), 'verify', '--data-dir', dataDir]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 60_000 })
  t.equal(status, 0, 'every batch has the events it had', { stderr })
  return JSON.parse(status === 0 ? stdout : '{}')
}

function directory(t: Test): string {
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
  t.test(`recorded: ${name}`, async (t) => {
    const dataDir = directory(t)
    mkdirSync(journalPath(dataDir), { recursive: true })
    writeFileSync(join(journalPath(dataDir), 'data.mdb'), gunzipSync(readFileSync(join(RECORDED, `${name}.mdb.gz`))))
    const { digest } = verify(dataDir, () => undefined)
    t.match(bundled(t, dataDir), { commands, eventsChecksum, digest })
  })
}

for (const [variant, { families = false }] of Object.entries(VARIANTS)) {
  t.test(`random: ${variant}`, async (t) => {
    const dataDir = directory(t)
    const { database, after } = makeJournal(dataDir, { seed: SEED, batches: BATCHES, commands: 20, variant, families })
    await database.close()
    const { last, digest } = after.at(-1)!
    t.match(bundled(t, dataDir), { commands: last, digest })
  })
}
