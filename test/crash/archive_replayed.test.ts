/**
 * Promise: an exchange that dropped batches starts though no snapshot can be gone on from, as after a version with another format of them:
 * everything is replayed, beginning with the archive; so does the follower that writes the next snapshot. Without the archive the start is
 * refused and nothing is changed.
 */
import { createHash } from 'node:crypto'
import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { allowDrop, archiveOf } from '../../core/archive/retention.ts'
import { openJournal } from '../../core/journal/file.ts'
import { realIo } from '../../core/lib/io.ts'
import { createSnapshotter } from '../../core/recovery/snapshotter.ts'
import { snapshotFiles } from '../../core/snapshot/file.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import type { FromThread } from '../../core/threads.ts'
import { archiveStage, forget } from '../support/archive_stage.ts'
import { realStart } from '../support/real_start.ts'

/** Whole snapshots, as a version before wrote them. */
function makeOlder(directory: string): void {
  for (const name of readdirSync(join(directory, 'snapshots'))) {
    const database = new Database(join(directory, 'snapshots', name))
    const row = database.prepare('select * from snapshot').get() as Record<string, unknown>
    const said = [4, row['sequence'], row['time_ms'], row['batch_checksum'], row['events_checksum'], row['digest'], row['genesis']]
    database.prepare('update snapshot set format = 4, seal = ?').run(createHash('sha256').update(JSON.stringify(said)).digest('hex'))
    database.close()
  }
}

t.test('the first start of a version with another format of snapshots', async (t) => {
  const { directory, archived, lasts } = await archiveStage(t, [12])
  allowDrop(directory, { before: lasts[12]! + 1, directory: archived, time: new Date().toISOString() })
  t.equal(await forget(directory), lasts[12]! + 1)
  const before = realStart(directory)
  const digest = stateDigest(before.sequencer.state)
  await before.database.close()
  makeOlder(directory)

  renameSync(archived, `${archived}.away`)
  for (const start of ['one', 'another']) t.throws(() => realStart(directory), { name: 'ArchiveError' }, `${start} start without it`)
  renameSync(`${archived}.away`, archived)

  const said: FromThread[] = []
  const after = realStart(directory, { say: (message) => said.push(message) })
  t.equal(stateDigest(after.sequencer.state), digest, 'all of it is there')
  t.ok(said.some((one) => one.type === 'log' && /everything is replayed, beginning with the archive/.test(one.message)))
  await after.database.close()

  const journal = openJournal(directory, true)
  const written: number[] = []
  const snapshotter = createSnapshotter({
    journal, snapshots: snapshotFiles(directory), archive: () => archiveOf(directory, journal), io: realIo,
    every: 10, keep: 3, warn: () => undefined, beat: () => undefined, written: (sequence) => written.push(sequence),
    audited: () => undefined,
  })
  while (snapshotter.follow(1_000));
  snapshotter.finish()
  t.equal(written.length > 0, true, 'the follower writes the next snapshot')
  await journal.close()
  const next: FromThread[] = []
  const again = realStart(directory, { say: (message) => next.push(message) })
  t.notOk(next.some((one) => one.type === 'log' && /archive/.test(one.message)), 'the start after it needs no archive')
  t.equal(stateDigest(again.sequencer.state), digest)
  await again.database.close()
})
