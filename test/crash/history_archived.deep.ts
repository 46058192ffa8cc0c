/**
 * Promise: a history whose first batches are archived is gone on with wherever it stands, its archive being there; and one that is damaged
 * while the archive is away is left as it is.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { extendArchive } from '../../core/archive/archive.ts'
import { allowDrop, boundOf } from '../../core/archive/retention.ts'
import { openProjection, type Projection } from '../../core/history/project/projection.ts'
import { historyPath, storedPlace } from '../../core/history/store/store.ts'
import { tailOf } from '../../core/journal/tail.ts'
import { CommandType } from '../../core/layout/command.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal, postCommand, startMatcher, takeAnswers } from '../support/journal.ts'

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
  const root = temporaryDirectory()
  t.teardown(() => removeDirectory(root))
  const [directory, archive] = [join(root, 'exchange'), join(root, 'archive')]
  mkdirSync(directory)
  const { database, after } = makeJournal(directory, { seed: 5, batches: 40, snapshots: [12, 30] })
  await project(t, directory)
  const { before } = boundOf(directory, (text) => t.comment(text))
  t.equal(before, after[12]!.last + 1)
  extendArchive(archive, database, before, () => undefined)
  allowDrop(directory, { before, directory: archive, time: new Date().toISOString() })
  await database.close()
  const matcher = startMatcher(directory)
  const { writer } = matcher.sequencer
  writer.dropBefore(before)
  for (let i = 0; i < 500 && writer.first < before; i++) {
    postCommand(matcher, 1, CommandType.CANCEL_ALL, { session: 0, sessionGeneration: 0, pair: -1, limit: 1 })
    matcher.turn()
    takeAnswers(matcher.gateways[1]!)
  }
  t.equal(tailOf(matcher.database).sequence, before)
  await matcher.database.close()
  return { directory, archive, first: before, newest: after[30]!.last }
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
