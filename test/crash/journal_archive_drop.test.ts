/**
 * Promise: a batch that the journal may forget can be got back. Word to drop is given only of an archive whose segments were read back
 * whole, and is taken back when one turns out bad; a segment that was written wrongly never counts; and one call at a time has the archive.
 */
import fs, { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import t from 'tap'
import { extendArchive, openArchive } from '../../core/archive/archive.ts'
import { archive } from '../../core/archive/commands.ts'
import { archivedIn, droppable } from '../../core/archive/retention.ts'
import { ArchiveError, SEGMENT_HEADER_BYTES } from '../../core/archive/segment.ts'
import { DirectoryLocked, takeDirectory } from '../../core/data_dir.ts'
import { openJournal } from '../../core/journal/file.ts'
import { archiveStage, forget, givesBack, type ArchiveStage } from '../support/archive_stage.ts'

const MIB_PER_SECOND = 1_000

const drop = async ({ directory, archived }: ArchiveStage): Promise<Record<string, unknown>> =>
  archive(directory, archived, true, MIB_PER_SECOND)

const segmentsIn = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.endsWith('.rba')).sort().map((name) => join(directory, name))

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at]! ^= 1
  writeFileSync(path, bytes)
}

t.test('a bad segment: nothing may be dropped, and what the call says to do helps', async (t) => {
  const staged = await archiveStage(t, [4, 6])
  const { directory, archived } = staged
  const bad = segmentsIn(archived)[0]!
  flip(bad, SEGMENT_HEADER_BYTES + 100)
  const words = new RegExp(`${basename(bad)}: its batches are not .*nothing is dropped.*move ${bad} and the 2 after it out of the archive`)
  await t.rejects(drop(staged), { name: ArchiveError.name, message: words })
  t.equal(droppable(directory), 1)
  t.equal(await forget(directory), 1, 'the journal keeps everything')

  for (const path of segmentsIn(archived)) renameSync(path, `${path}.bad`)
  await drop(staged)
  t.equal(await forget(directory), openArchive(archived).end.sequence)
  await givesBack(t, staged)
})

t.test('nothing is added behind a segment that is bad', async (t) => {
  const { directory, archived } = await archiveStage(t, [4, 6])
  const bad = segmentsIn(archived)[1]!
  // Its count of batches: nothing but the batches themselves speaks against it.
  flip(bad, 32)
  const words = new RegExp(`move ${bad} out of the archive and archive again`)
  await t.rejects(async () => archive(directory, archived, false, MIB_PER_SECOND), { name: ArchiveError.name, message: words })
  t.equal(segmentsIn(archived).length, 2)
})

t.test('whatever byte of whatever segment is bad, nothing may be dropped', async (t) => {
  const staged = await archiveStage(t, [4, 12])
  for (const path of segmentsIn(staged.archived)) {
    const good = readFileSync(path)
    for (let at = 0; at < good.length; at += 97) {
      flip(path, at)
      await t.rejects(drop(staged), `byte ${at} of ${basename(path)}`)
      writeFileSync(path, good)
    }
  }
  t.equal(droppable(staged.directory), 1)
  await drop(staged)
  t.equal(droppable(staged.directory), staged.lasts[12]! + 1, 'of the good one all may go')
})

t.test('word that was given is taken back when a segment turns out bad', async (t) => {
  const staged = await archiveStage(t, [4, 8, 12])
  const { directory, archived, lasts } = staged
  const [first, second, third] = segmentsIn(archived) as [string, string, string]
  await drop(staged)
  t.equal(await forget(directory, lasts[5]! + 1), lasts[5]! + 1, 'the exchange is in the middle of the second segment')

  flip(first, SEGMENT_HEADER_BYTES + 30)
  await drop(staged)
  t.equal(droppable(directory), lasts[12]! + 1, 'for what is dropped already the journal cannot help')
  flip(first, SEGMENT_HEADER_BYTES + 30)
  flip(second, SEGMENT_HEADER_BYTES + 30)
  await t.rejects(drop(staged), { message: new RegExp(`put ${second} back from a copy of the archive`) })
  t.equal(droppable(directory), 1, 'the exchange goes on dropping no more')
  t.equal(archivedIn(directory), archived, 'but still knows where its archive is')
  flip(second, SEGMENT_HEADER_BYTES + 30)
  await drop(staged)

  // Without --drop no segment is read back, but an archive with a gap is seen.
  renameSync(second, `${second}.away`)
  await t.rejects(async () => archive(directory, join(archived, '..', 'other'), false, MIB_PER_SECOND), ArchiveError)
  t.equal(droppable(directory), lasts[12]! + 1, 'another archive says nothing about this one')
  await t.rejects(async () => archive(directory, archived, false, MIB_PER_SECOND), { message: new RegExp(basename(third)) })
  t.equal(droppable(directory), 1)
  renameSync(`${second}.away`, second)
  await givesBack(t, staged)
})

t.test('a segment that cannot be read back after it was written does not stay', async (t) => {
  const staged = await archiveStage(t, [4])
  const database = openJournal(staged.directory, true)
  const { fsyncSync } = fs
  t.teardown(() => (Object.assign(fs, { fsyncSync }), syncBuiltinESMExports()))
  // The first sequence, the digest of the header before, and the batches.
  for (const at of [20, 100, SEGMENT_HEADER_BYTES + 30]) {
    // The disk keeps something else than what was written.
    fs.fsyncSync = (file) => {
      fsyncSync(file)
      if (fs.fstatSync(file).isFile()) fs.writeSync(file, Buffer.from([0xa5]), 0, 1, at)
    }
    syncBuiltinESMExports()
    t.throws(() => extendArchive(staged.archived, database, staged.lasts[12]! + 1, () => undefined), ArchiveError)
    fs.fsyncSync = fsyncSync
    syncBuiltinESMExports()
    t.equal(openArchive(staged.archived).end.sequence, staged.lasts[4]! + 1, 'the archive ends where it did')
  }
  await database.close()
  await drop(staged)
  t.same(readdirSync(staged.archived).filter((name) => name.endsWith('.new')), [], 'what was not finished is gone')
  t.equal(await forget(staged.directory), staged.lasts[12]! + 1)
  await givesBack(t, staged)
})

t.test('one call at a time has an archive', async (t) => {
  const staged = await archiveStage(t, [4])
  const lock = await takeDirectory(staged.archived)
  await t.rejects(drop(staged), { name: DirectoryLocked.name, message: `another process uses ${staged.archived} (` })
  t.equal(openArchive(staged.archived).end.sequence, staged.lasts[4]! + 1, 'nothing was added')
  lock.release()
  await drop(staged)
  t.equal(droppable(staged.directory), staged.lasts[12]! + 1)
})
