/** Promise: a journal whose oldest batches were archived and dropped is exported, and inspected, as it was before. */
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { archive } from '../../core/archive/commands.ts'
import { exportJournal } from '../../core/replay/export.ts'
import { inspectPeople } from '../../core/replay/inspect_people.ts'
import { KINDS } from '../../core/replay/kinds.ts'
import { archiveStage, forget } from '../support/archive_stage.ts'
import { ownDirectory } from '../support/recorded_journal.ts'

t.test('archive and journal are exported as one', async (t) => {
  const { directory, archived, lasts } = await archiveStage(t, [4, 6])
  const out = ownDirectory(t)
  // The same before anything was dropped.
  const whole = join(out, 'exchange')
  cpSync(directory, whole, { recursive: true })
  const quiet = (): void => undefined
  const says = { warn: quiet, progress: quiet }
  const to = lasts.at(-1)!
  const from = lasts[20]! + 1
  const run = (name: string, archive?: string, from = 2, dataDir = directory): ReturnType<typeof exportJournal> => exportJournal(
    { dataDir, archive, from, to, format: 'ndjson', kinds: KINDS, out: join(out, name), about: {} }, quiet, quiet,
  )
  const before = run('before', undefined, 2, whole)
  const inspected = inspectPeople({ dataDir: whole, at: 40 }, says)
  await archive(directory, archived, true, 1000)
  t.ok(await forget(directory) > 1, 'the oldest batches are gone')
  t.throws(() => run('without'), /archive/, 'which is said')
  t.strictSame(run('after', archived), before)
  for (const { name } of KINDS) {
    const [a, b] = ['before', 'after'].map((part) => readFileSync(join(out, part, `${name}.ndjson`), 'utf8'))
    t.equal(b, a, name)
  }
  t.strictSame(inspectPeople({ dataDir: directory, archive: archived, at: 40 }, says), inspected)
  t.equal(run('late', undefined, from).commands, to - from + 1, 'what is behind a snapshot needs no archive')

  // Batches have one time each.
  const { time } = inspectPeople({ dataDir: directory, at: from }, says) as { time: string }
  const since = Date.parse(time)
  const call = { dataDir: directory, from: 2, to, format: 'ndjson', kinds: KINDS, about: {} } as const
  const { commands } = exportJournal({ ...call, since, out: join(out, 'since') }, quiet, quiet)
  t.ok(commands >= to - from + 1 && commands < to - 20, `nor what is behind it in time: ${commands} commands`)
  const until = exportJournal({ ...call, archive: archived, until: since, out: join(out, 'until') }, quiet, quiet)
  t.equal(commands + until.commands, to - 1, 'a moment parts all commands in two')
})
