/**
 * Promise: the oldest batches may leave the journal for an archive, and nothing is lost by it. Archive and journal read as one replay to
 * the same events; what is archived can be put back, byte for byte; an archive that is damaged, another's or too short is never taken; the
 * journal's file does not grow while it drops.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { extendArchive, openArchive, readArchive, readEverything } from '../../core/archive/archive.ts'
import { allowDrop, boundOf, droppable, restoreArchive } from '../../core/archive/retention.ts'
import { ArchiveError } from '../../core/archive/segment.ts'
import { lookForArchive } from '../../core/archive/watch.ts'
import { compactJournal } from '../../core/backup/compact.ts'
import { openProjection } from '../../core/history/project/projection.ts'
import { historyPath, openReader, readPosition, writePosition } from '../../core/history/store/store.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import { endOf } from '../../core/journal/end.ts'
import { dataFile, openJournal } from '../../core/journal/file.ts'
import { readBatches, START } from '../../core/journal/reader.ts'
import { Scrub } from '../../core/journal/scrub.ts'
import type { JournalStore } from '../../core/journal/store.ts'
import { BatchesArchived, tailOf } from '../../core/journal/tail.ts'
import { CommandType } from '../../core/layout/command.ts'
import { shortfallOf, sourcesOf } from '../../core/recovery/witnesses.ts'
import { verify } from '../../core/replay/verify.ts'
import { HISTORY, HISTORY_COUNTERS, MATCHER, MATCHER_COUNTERS } from '../../core/ring/counters.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { makeJournal, postCommand, startMatcher, takeAnswers, type Matcher } from '../support/journal.ts'

const SNAPSHOTS = [12, 30] as const
const BATCHES = 40

interface Stage {
  readonly directory: string
  readonly archived: string
  readonly database: JournalStore & { close(): Promise<void> }
  /** Last sequences of the batches, the genesis first. */
  readonly lasts: readonly number[]
  /** Every batch, as bytes. */
  readonly truth: readonly string[]
}

const printed = (batches: Iterable<{ sequence: number; records: Buffer }>): string[] =>
  Array.from(batches, ({ sequence, records }) => `${sequence} ${records.toString('hex')}`)

/** A journal with two snapshots and a history of all of it, and a place for its archive. */
async function stage(t: Test): Promise<Stage> {
  const root = temporaryDirectory()
  t.teardown(() => removeDirectory(root))
  const directory = join(root, 'exchange')
  mkdirSync(directory)
  const { database, after } = makeJournal(directory, { seed: 5, batches: BATCHES, snapshots: SNAPSHOTS })
  await projectAll(directory)
  const truth = printed(readBatches(database, START))
  return { directory, archived: join(root, 'archive'), database, lasts: after.map(({ last }) => last), truth }
}

async function projectAll(directory: string): Promise<void> {
  const projection = openProjection(directory, historyPath(directory), { warn: (text) => t.fail(text) })
  while (projection.step(1_000_000));
  await projection.close()
}

/** Small batches, one a commit, until the journal begins at `sequence` or `most` were made; how many. */
function commitUntil(matcher: Matcher, sequence: number, most = 500): number {
  for (let commits = 0; commits < most; commits++) {
    if (matcher.sequencer.writer.first >= sequence) return commits
    postCommand(matcher, 1, CommandType.CANCEL_ALL, { session: 0, sessionGeneration: 0, pair: -1, limit: 1 })
    matcher.turn()
    takeAnswers(matcher.gateways[1]!)
  }
  return t.fail('the journal does not drop') as never
}

t.test('what may go is what nobody here needs', async (t) => {
  const { directory, database, lasts } = await stage(t)
  const warnings: string[] = []
  const warn = (text: string): number => warnings.push(text)
  t.same(boundOf(directory, warn), { before: lasts[12]! + 1, why: `the oldest snapshot is of ${lasts[12]}` })
  const counters = new Float64Array(MATCHER_COUNTERS.length)
  const history = new Float64Array(HISTORY_COUNTERS.length)
  const allowed = (): number => (lookForArchive(directory, counters, history), counters[MATCHER.journal_archived]!)
  history[HISTORY.sequence] = 1e6
  t.equal(allowed(), 1, 'no word, nothing goes')
  allowDrop(directory, { before: lasts[40]!, directory: 'somewhere', time: new Date().toISOString() })
  t.equal(droppable(directory), lasts[40])
  t.equal(allowed(), lasts[12]! + 1, 'whatever the word says, the oldest snapshot keeps what is behind it')
  history[HISTORY.sequence] = 7
  t.equal(allowed(), 8, 'and the history')
  writeFileSync(join(directory, 'journal', 'archived.json'), '{"before": -3}')
  t.equal(allowed(), 1, 'a word that is none')
  await database.close()
  const [newest, oldest] = readdirSync(join(directory, 'snapshots')).sort().reverse().map((name) => join(directory, 'snapshots', name))
  const bytes = readFileSync(oldest!)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(oldest!, bytes)
  const bound = boundOf(directory, warn)
  t.ok(bound.before === lasts[30]! + 1 || warnings.length === 0, 'a damaged snapshot does not count')
  for (const path of [newest!, oldest!]) rmSync(path)
  t.same(boundOf(directory, warn), { before: 1, why: 'there is no snapshot that can be read' })
})

t.test('archived, dropped, read as one, put back', async (t) => {
  const { directory, archived, database, lasts, truth } = await stage(t)
  const whole = verify(directory, () => undefined)
  const before = lasts[12]! + 1
  const untils = [lasts[4]! + 1, lasts[4]! + 1, lasts[9]! + 2, before]
  const sizes = untils.map((until) => extendArchive(archived, database, until, () => undefined))
  t.same(sizes.map(({ batches }) => batches), [5, 5, 10, 13], 'it goes on where it ended, whole batches only')
  t.same(openArchive(archived).segments.map(({ header }) => header.number), [0, 1, 2])
  t.same(printed(readEverything(openArchive(archived), database, START)), truth, 'before anything is dropped it changes nothing')
  await database.close()

  const matcher = startMatcher(directory)
  const { sequencer } = matcher
  sequencer.writer.dropBefore(before)
  const commits = commitUntil(matcher, before)
  t.equal(sequencer.writer.first, before)
  t.ok(commits > 1, `in ${commits} commits, not in one`)
  commitUntil(matcher, before)
  t.equal(tailOf(matcher.database).dropped, 13)
  t.throws(() => [...readBatches(matcher.database, START)], BatchesArchived)
  const scrub = new Scrub(matcher.database)
  for (let slice = 0; slice < 100 && scrub.slice(1000); slice++);
  t.same(scrub.faults, [], 'the scrub begins where the journal does')
  t.equal(shortfallOf(matcher.database, sourcesOf(directory), () => undefined), null, 'nobody misses anything')
  await matcher.database.close()

  const database2 = openJournal(directory, false, 1)
  const archive = openArchive(archived)
  t.same(printed(readEverything(archive, database2, START)).slice(0, truth.length), truth, 'archive and journal are every batch')
  t.throws(() => verify(directory, () => undefined), BatchesArchived, 'a replay from the genesis needs the archive')
  const all = verify(directory, () => undefined, archived)
  t.ok(all.commands > whole.commands)
  t.ok(all.snapshots.every(({ verdict }) => verdict === 'ok'), 'and every snapshot is proved by it')

  t.throws(() => restoreArchive(directory, archive, database2, (done) => { if (done === 1) throw new Error('cut') }), /cut/)
  t.equal(tailOf(database2).dropped, 10, 'a segment is back')
  t.equal(printed(readEverything(archive, database2, START)).length, endOf(database2).batches, 'the journal is whole meanwhile')
  t.equal(restoreArchive(directory, archive, database2, () => undefined), 10)
  t.same(printed(readBatches(database2, START)).slice(0, truth.length), truth, 'and all of them, byte for byte')
  t.equal(droppable(directory), 1, 'the next start drops nothing again')
  await database2.close()
  t.equal(verify(directory, () => undefined).digest, all.digest)
})

t.test('a file that drops hardly grows', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  await makeJournal(directory, { seed: 3, batches: 400, commands: 40 }).database.close()
  const matcher = startMatcher(directory)
  /** Pages that a hundred commits add to the file. */
  const grown = (): number => {
    const before = matcher.database.usedPages()
    for (let commit = 0; commit < 100; commit++) {
      for (let command = 0; command < 40; command++) {
        postCommand(matcher, 1, CommandType.CANCEL_ALL, { session: 0, sessionGeneration: 0, pair: -1, limit: 1 })
      }
      matcher.turn()
      takeAnswers(matcher.gateways[1]!)
    }
    return matcher.database.usedPages() - before
  }
  const kept = grown()
  matcher.sequencer.writer.dropBefore(1e6)
  const dropping = grown()
  t.ok(kept >= 100 && 4 * dropping < kept, `${kept} pages without, ${dropping} with`)
  matcher.sequencer.writer.dropBefore(0)
  const { first } = matcher.sequencer.writer
  grown()
  t.equal(matcher.sequencer.writer.first, first, 'and when nothing more may go, nothing does')
  await matcher.database.close()
})

/** A stage whose older batches are in the archive alone. */
async function dropped(t: Test): Promise<Stage> {
  const staged = await stage(t)
  const { directory, archived, database, lasts } = staged
  extendArchive(archived, database, lasts[12]! + 1, () => undefined)
  await database.close()
  const matcher = startMatcher(directory)
  matcher.sequencer.writer.dropBefore(lasts[12]! + 1)
  commitUntil(matcher, lasts[12]! + 1)
  await matcher.database.close()
  return staged
}

t.test('after a drop the exchange starts from a snapshot, and says what it cannot do without one', async (t) => {
  const { directory, archived, lasts } = await dropped(t)
  const size = statSync(dataFile(directory)).size
  const compacted = await compactJournal(directory, 1, () => undefined)
  t.ok(compacted.after < size, `${compacted.after} bytes of ${size}`)
  const again = startMatcher(directory)
  t.equal(again.sequencer.writer.first, lasts[12]! + 1, 'it begins where it did')
  commitUntil(again, 0)
  await again.database.close()
  const [snapshots, aside] = [join(directory, 'snapshots'), join(directory, 'none')]
  renameSync(snapshots, aside)
  t.throws(() => startMatcher(directory), /npm run journal -- restore --from DIR/)
  renameSync(aside, snapshots)
  t.equal(verify(directory, () => undefined, archived).snapshots.length, SNAPSHOTS.length)
})

t.test('a history is made anew from archive and journal, and is never thrown away when it cannot be', async (t) => {
  const { directory, archived, lasts } = await dropped(t)
  await projectAll(directory)
  const path = historyPath(directory)
  const [warnings, anew]: [string[], string] = [[], join(directory, 'anew.sqlite')]
  const warn = (text: string): number => warnings.push(text)
  const project = async (to: string, archive?: string, steps = Infinity): Promise<void> => {
    const projection = openProjection(directory, to, { warn, archive })
    for (let step = 0, more = true; more && step < steps; step++) more = projection.step(steps === Infinity ? 50 : 1)
    await projection.close()
  }
  // Interrupted before the first snapshot: that place is in the archive alone.
  await project(anew, archived, 2)
  await project(anew, archived)
  t.same(warnings, [], 'it goes on where it was')
  const [one, other] = [openReader(anew), openReader(path)]
  t.same(compareStores(one, other).differences, [], 'the same rows as before anything was dropped')
  t.same(readPosition(one), readPosition(other))
  one.close()

  // As a version wrote it that this one cannot read.
  const strange = new Database(path)
  writePosition(strange, { ...readPosition(other)!, format: 1 })
  other.close()
  strange.close()
  const before = readFileSync(path)
  t.throws(() => openProjection(directory, path, { warn }), /read it with --archive DIR, or put it back with "npm run journal -- restore/)
  t.throws(() => openProjection(directory, path, { warn, archive: join(directory, 'nowhere') }), ArchiveError)
  t.ok(readFileSync(path).equals(before), 'nor is it given up for an archive that is none')
  allowDrop(directory, { before: lasts[12]! + 1, directory: archived, time: new Date().toISOString() })
  await project(path)
  t.match(warnings.at(-1), /format 1/, 'with the archive that the journal names it is made anew')
  const [again, whole] = [openReader(path), openReader(anew)]
  t.same(compareStores(again, whole).differences, [])
  t.same(readPosition(again), readPosition(whole))
  again.close()
  whole.close()
})

t.test('an archive that is not what was written is refused', async (t) => {
  const { archived, database, lasts, truth } = await stage(t)
  for (const until of [4, 8, 12]) extendArchive(archived, database, lasts[until]! + 1, () => undefined)
  const copy = `${archived}.copy`
  const paths = (): string[] => readdirSync(copy).sort().map((name) => join(copy, name))
  /** Reads everything through a spoilt copy of the archive. */
  const spoilt = (spoil: () => void): (() => unknown) => {
    rmSync(copy, { recursive: true, force: true })
    cpSync(archived, copy, { recursive: true })
    spoil()
    return () => printed(readArchive(openArchive(copy), START))
  }
  t.same(spoilt(() => undefined)(), truth.slice(0, 13))
  const length = statSync(join(archived, readdirSync(archived).sort()[1]!)).size
  for (let at = 0; at < length; at += 11) {
    const read = spoilt(() => {
      const bytes = readFileSync(paths()[1]!)
      bytes[at]! ^= 1 << (at % 8)
      writeFileSync(paths()[1]!, bytes)
    })
    t.throws(read, `byte ${at}`)
  }
  t.ok(length > 128, `${length} bytes`)
  t.throws(spoilt(() => rmSync(paths()[1]!)), ArchiveError, 'a segment is missing')
  t.throws(spoilt(() => renameSync(paths()[2]!, paths()[0]!)), ArchiveError, 'a segment stands where another was')
  t.throws(spoilt(() => writeFileSync(paths()[2]!, readFileSync(paths()[2]!).subarray(0, 200))), 'a segment is cut')
  const unfinished = spoilt(() => writeFileSync(join(copy, '0000000000000099.rba.new'), 'x'))
  t.same(unfinished(), truth.slice(0, 13), 'what was not finished is not there')

  const elsewhere = temporaryDirectory()
  t.teardown(() => removeDirectory(elsewhere))
  const foreign = makeJournal(elsewhere, { seed: 9, batches: 20 })
  t.throws(() => extendArchive(archived, foreign.database, 50, () => undefined), ArchiveError, 'the archive of another journal')
  await foreign.database.close()
  await database.close()
})
