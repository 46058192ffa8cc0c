/**
 * Promise: a history whose first batches are archived is gone on with wherever it stands, its archive being there; and one that is damaged
 * while the archive is away is left as it is.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { allowDrop } from '../../core/archive/retention.ts'
import { openProjection, type Projection } from '../../core/history/project/projection.ts'
import { historyPath, storedPlace } from '../../core/history/store/store.ts'
import { archiveStage, forget } from '../support/archive_stage.ts'

const FOLLOWER = join(import.meta.dirname, '..', '..', 'core', 'history', 'follower.ts')

interface Archived {
  readonly directory: string
  readonly archive: string
  /** Where the journal begins now. */
  readonly first: number
  /** Last sequence that the newer of two snapshots has. */
  readonly newest: number
}

const open = (t: Test, directory: string): Projection =>
  openProjection(directory, historyPath(directory), { warn: (text) => t.comment(text) })

async function project(t: Test, directory: string): Promise<void> {
  const projection = open(t, directory)
  while (projection.step(1_000_000));
  await projection.close()
}

/** A journal with a history and snapshots, all before the older of which is archived and dropped. */
async function archived(t: Test): Promise<Archived> {
  const { directory, archived: archive, lasts } = await archiveStage(t, [12])
  const before = lasts[12]! + 1
  allowDrop(directory, { before, directory: archive, time: new Date().toISOString() })
  t.equal(await forget(directory), before)
  return { directory, archive, first: before, newest: lasts[30]! }
}

t.test('between the end of the archive and the oldest snapshot', async (t) => {
  const { directory, first, newest } = await archived(t)
  const snapshots = join(directory, 'snapshots')
  rmSync(join(snapshots, readdirSync(snapshots).sort()[0]!))
  rmSync(historyPath(directory))
  const projection = open(t, directory)
  for (let step = 0; step < 100_000 && projection.sequence < first + 20; step++) projection.step(1)
  await projection.close()
  const { sequence } = storedPlace(directory)!
  t.ok(sequence > first && sequence <= newest, `it was stopped at ${sequence}, the archive ends at ${first}, the snapshot is of ${newest}`)
  await project(t, directory)
  t.ok(storedPlace(directory)!.sequence > newest, 'it is gone on with')
})

t.test('damaged while the archive is away', async (t) => {
  const { directory, archive } = await archived(t)
  await project(t, directory)
  renameSync(archive, `${archive}.away`)
  const path = historyPath(directory)
  const start = () => fork(FOLLOWER, [directory, '3600', '100000'], { execArgv: ['--disable-warning=ExperimentalWarning'], silent: true })
  const follower = start()
  t.teardown(() => follower.kill('SIGKILL'))
  let words = ''
  follower.on('message', (said) => (words += JSON.stringify(said)))
  await new Promise<void>((resolve) => follower.on('message', (said: { caughtUp?: boolean }) => said.caughtUp === true && resolve()))
  const ended = once(follower, 'close')
  const database = new Database(path, { timeout: 5000 })
  const longest = 'select id, records from order_page where id % 536870912 = 0 order by length(records) desc limit 1'
  const { id, records } = database.prepare(longest).get() as { id: number; records: Buffer }
  records[10]! ^= 1
  database.prepare('update order_page set records = ? where id = ?').run(records, id)
  database.close()
  t.not((await ended)[0], 0, 'the follower found it')
  t.match(words, /the history is damaged \([^]*is left as it is/)
  t.ok(existsSync(path), 'it is left as it is')
  renameSync(`${archive}.away`, archive)
  const again = start()
  t.teardown(() => again.kill('SIGKILL'))
  const endedAgain = once(again, 'close')
  const outcome = await Promise.race([endedAgain.then(() => 'made room'), new Promise((resolve) => {
    again.on('message', (said: { type: string }) => said.type === 'damage' && resolve('made room'))
  })])
  t.equal(outcome, 'made room', 'with the archive there it is made anew')
  await endedAgain
  await project(t, directory)
  t.ok(storedPlace(directory)!.sequence > 0)
})
