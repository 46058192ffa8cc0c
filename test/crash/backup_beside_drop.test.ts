/**
 * Promise: a backup is whole although batches behind its snapshot are archived and dropped while it is made: what goes with the journal is
 * then copied once more.
 */
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { extendArchive } from '../../core/archive/archive.ts'
import { boundOf } from '../../core/archive/retention.ts'
import { makeBackup } from '../../core/backup/backup.ts'
import { BackupError } from '../../core/backup/manifest.ts'
import { openProjection } from '../../core/history/project/projection.ts'
import { historyPath, storedPlace } from '../../core/history/store/store.ts'
import { openJournal } from '../../core/journal/file.ts'
import { tailOf } from '../../core/journal/tail.ts'
import { CommandType } from '../../core/layout/command.ts'
import { listSnapshots, pruneSnapshots, readSnapshotInfo, writeSnapshot } from '../../core/snapshot/file.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal, postCommand, startMatcher, takeAnswers, type Matcher } from '../support/journal.ts'

/** One after the other: a directory takes a moment to let go of. */
async function project(t: Test, directory: string): Promise<void> {
  const projection = openProjection(directory, historyPath(directory), { warn: (text) => t.fail(text) })
  while (projection.step(1_000_000));
  await projection.close()
}

function commit(matcher: Matcher): void {
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { session: 0, sessionGeneration: 0, pair: -1, limit: 1 })
  matcher.turn()
  takeAnswers(matcher.gateways[1]!)
}

/** Newer snapshots take the place of the old ones, and all that they and the history do not need is archived and dropped. */
async function goOn(t: Test, directory: string, archived: string): Promise<void> {
  const { genesis } = readSnapshotInfo(directory, listSnapshots(directory)[0]!)
  const matcher = startMatcher(directory)
  const { sequencer } = matcher
  for (let made = 0; made < 3; made++) {
    for (let commits = 0; commits < 10; commits++) commit(matcher)
    writeSnapshot(directory, sequencer.state, genesis, sequencer.writer.checksum, sequencer.eventsChecksum)
  }
  await matcher.database.close()
  // The history goes on from a snapshot that is removed then.
  await project(t, directory)
  pruneSnapshots(directory, 3)
  const { before } = boundOf(directory, (text) => t.fail(text))
  const read = openJournal(directory, true, 1)
  extendArchive(archived, read, before, () => undefined)
  await read.close()
  const again = startMatcher(directory)
  again.sequencer.writer.dropBefore(before)
  for (let commits = 0; again.sequencer.writer.first < before && commits < 500; commits++) commit(again)
  t.equal(tailOf(again.database).sequence, before)
  await again.database.close()
  await project(t, directory)
}

interface Stage {
  readonly directory: string
  readonly to: string
  /** Batches are archived and dropped in no time: the directory becomes as it was made to be afterwards. */
  readonly drop: () => void
}

async function stage(t: Test, drops: number): Promise<Stage> {
  const root = temporaryDirectory()
  t.teardown(() => removeDirectory(root))
  const [directory, archived, to] = [join(root, 'exchange'), join(root, 'archive'), join(root, 'backup')]
  mkdirSync(directory)
  const { database } = makeJournal(directory, { seed: 5, batches: 40, snapshots: [12, 30] })
  await database.close()
  await project(t, directory)
  let now = directory
  const later: string[] = []
  for (let number = 1; number <= drops; number++) {
    const next = join(root, `later-${number}`)
    cpSync(now, next, { recursive: true })
    await goOn(t, next, archived)
    later.push(next)
    now = next
  }
  const drop = (): void => {
    const from = later.shift()!
    for (const name of readdirSync(from)) {
      rmSync(join(directory, name), { recursive: true, force: true })
      cpSync(join(from, name), join(directory, name), { recursive: true })
    }
  }
  return { directory, to, drop }
}

const OPTIONS = { history: true, rate: 1_000, full: false }

t.test('dropped between history and journal', async (t) => {
  const { directory, to, drop } = await stage(t, 1)
  const before = listSnapshots(directory)[0]!
  let dropped = false
  const manifest = await makeBackup(directory, to, {
    ...OPTIONS,
    said: (text) => {
      if (dropped || !text.startsWith('history copied')) return
      dropped = true
      drop()
    },
  })
  const copy = openJournal(to, true, 1)
  const { sequence } = tailOf(copy)
  await copy.close()
  t.ok(sequence > before + 1, 'the journal does not go back to the first snapshot that was copied')
  t.same(readdirSync(join(to, 'snapshots')).length, 1, 'only the second is there')
  t.ok(manifest.snapshot! + 1 >= sequence && manifest.history! + 1 >= sequence, 'snapshot and history go on in the journal')
  t.equal(storedPlace(to)!.sequence, manifest.history! + 1)
})

t.test('dropped again and again', async (t) => {
  const { directory, to, drop } = await stage(t, 3)
  const said = (text: string): void => {
    if (text.startsWith('history copied')) drop()
  }
  const fails = new BackupError('batches that the backup needs were dropped while it was made')
  await t.rejects(makeBackup(directory, to, { ...OPTIONS, said }), fails)
})
