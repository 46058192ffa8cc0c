/**
 * Promise: who reads the journal for long beside the exchange does not make its file grow. A reader's transaction keeps LMDB from using
 * pages again, so it is short, however long the reading takes; and what is read is one chain up to the head record all the same, also
 * when batches are dropped meanwhile: those not read yet are missed by name, or come from the archive.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { extendArchive, openArchive, readEverything } from '../../core/archive/archive.ts'
import { copyJournal } from '../../core/backup/copy.ts'
import { journalPath, openJournal, type JournalDatabase } from '../../core/journal/file.ts'
import { HEADER_BYTES, keyOf, seal } from '../../core/journal/frame.ts'
import { readBatches, START, type Place } from '../../core/journal/reader.ts'
import { BatchesArchived, tailOf } from '../../core/journal/tail.ts'
import { createWriter, type JournalWriter } from '../../core/journal/writer.ts'
import { RECORD_BYTES } from '../../core/layout/table.ts'
import { catchUp } from '../../core/recovery/recover.ts'
import type { Replayer } from '../../core/recovery/replayer.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'

/** Batches of the journal, enough for several transactions of each reader: small ones, then some of 256 KiB. */
const BATCHES = 800
const SMALL = 760
const SLOTS = 20
const LARGE = 2_048
/** Commits beside a reader, and the pages that the file may grow by: 5 to 7 each beside a long transaction, one each beside none. */
const COMMITS = 80
const PAGES_MOST = 3 * COMMITS

interface Stage {
  readonly root: string
  readonly writer: JournalWriter
  /** The writer's database, and one of a reader. */
  readonly written: JournalDatabase
  readonly read: JournalDatabase
  /** One more batch. */
  readonly commit: (slots?: number) => void
  /** Sequence of the next batch. */
  readonly next: () => number
}

function stage(t: Test): Stage {
  const root = temporaryDirectory()
  t.teardown(() => removeDirectory(root))
  mkdirSync(journalPath(root), { recursive: true })
  const written = openJournal(root, false, 1)
  const { sequence, checksum } = fill(written)
  const writer = createWriter(written, LARGE, { sequence, checksum })
  let next = sequence
  const commit = (slots = SLOTS): void => {
    writer.commit(next, 0, slots, slots, 0)
    next += slots
  }
  const read = openJournal(root, true, 1)
  t.teardown(() => Promise.all([read.close(), written.close()]))
  return { root, writer, written, read, commit, next: () => next }
}

/** All batches in one transaction, which takes a moment; where they end. */
function fill(database: JournalDatabase): Place {
  let place = START
  database.transactionSync(() => {
    for (let made = 0; made < BATCHES; made++) {
      const slots = made < SMALL ? SLOTS : LARGE
      const value = Buffer.alloc(HEADER_BYTES + slots * RECORD_BYTES)
      const { sequence, checksum: previous } = place
      const checksum = seal(value, { sequence, time: 0, commands: slots, slots, previous, events: 0 })
      database.putSync(keyOf(sequence), value)
      place = { sequence: sequence + slots, checksum }
    }
  })
  return place
}

/** Drops until the journal begins at `sequence`. */
function dropTo({ writer, commit }: Stage, sequence: number): void {
  writer.dropBefore(sequence)
  for (let commits = 0; writer.first < sequence; commits++) {
    if (commits > BATCHES) throw new Error('the journal does not drop')
    commit(512)
  }
}

/** What the file grows by while `reads` calls back for each piece of its reading, of which there are `pieces` at least. */
async function grown(
  { written, read, commit }: Stage, pieces: number, reads: (beside: () => void) => unknown,
): Promise<{ pages: number; commits: number }> {
  for (const database of [written, read]) database.refresh()
  const from = written.usedPages()
  let [commits, calls] = [0, 0]
  await reads(() => {
    const due = Math.ceil((COMMITS * ++calls) / pieces)
    while (commits < COMMITS && commits < due) {
      commit()
      commits++
    }
  })
  return { pages: written.usedPages() - from, commits }
}

/** A replayer that only goes along, and calls back for each batch. */
function follower(beside: () => void): Replayer {
  const replayer = {
    place: START,
    batch: ({ next, checksum }: { next: number; checksum: number }) => {
      replayer.place = { sequence: next, checksum }
      beside()
    },
  }
  return replayer as unknown as Replayer
}

/** Each on a journal of its own: pages that one kept from being used are there for the next. */
const READERS: readonly [name: string, pieces: number, reads: (t: Test, stage: Stage, beside: () => void) => unknown][] = [
  ['nobody', 1, (_t, _stage, beside) => beside()],
  ['batches in order', BATCHES, (t, { read, next }, beside) => {
    let end = 0
    for (const batch of readBatches(read, START)) {
      end = batch.next
      beside()
    }
    t.equal(end, next(), 'it ends with what was committed meanwhile')
  }],
  ['a replay', BATCHES, (t, { read, next }, beside) => {
    const replayer = follower(beside)
    catchUp(read, replayer, Infinity, () => 0, () => undefined)
    t.equal(replayer.place.sequence, next())
  }],
  ['a replay in small steps', BATCHES, (_t, { read }, beside) => {
    const replayer = follower(beside)
    const step = (): boolean => {
      let steps = 0
      for (const batch of readBatches(read, replayer.place)) {
        replayer.batch(batch)
        if (++steps === 10) return true
      }
      return false
    }
    while (step());
  }],
  ['a copy', 3, (_t, { root }, beside) => copyJournal(root, join(root, 'copy'), 1, beside)],
]

for (const [name, pieces, reads] of READERS) {
  t.test(`the file stays as it is: ${name}`, async (t) => {
    const staged = stage(t)
    const { pages, commits } = await grown(staged, pieces, (beside) => reads(t, staged, beside))
    t.equal(commits, COMMITS, 'it reads long enough')
    t.ok(pages <= PAGES_MOST, `${pages} pages for ${commits} commits, at most ${PAGES_MOST}`)
  })
}

t.test('dropped while it is read', async (t) => {
  const staged = stage(t)
  const { root, read, written } = staged
  const lasts = Array.from(readBatches(read, START), ({ next }) => next - 1)
  const archived = join(root, 'archive')
  extendArchive(archived, read, lasts[500]! + 1, () => undefined)

  await t.test('behind the reader: nothing is missing', async (t) => {
    let done = false
    const { sequence } = await copyJournal(root, join(root, 'behind'), 1, () => {
      if (!done) dropTo(staged, lasts[100]! + 1)
      done = true
    })
    t.equal(tailOf(written).sequence, lasts[100]! + 1)
    t.equal(sequence, lasts.at(-1)! + 1, 'up to where it ended when the copy began')
    const copy = openJournal(join(root, 'behind'), true, 1)
    t.same(tailOf(copy), { sequence: 1, checksum: 0, dropped: 0 }, 'from where it began then')
    t.same(Array.from(readBatches(copy, START), ({ next }) => next - 1), lasts)
    await copy.close()
  })

  await t.test('ahead of the reader', async (t) => {
    const place = { ...tailOf(written) }
    read.refresh()
    const from = openArchive(archived)
    let got = 0
    const beside = (): void => {
      if (++got === 100) dropTo(staged, lasts[600]! + 1)
    }
    t.throws(() => {
      for (const _ of readBatches(read, place)) beside()
    }, BatchesArchived, 'it is said by name')
    t.ok(got >= 100 && got < 500, `after ${got} batches`)
    await t.rejects(copyJournal(root, join(root, 'ahead'), 1, () => dropTo(staged, lasts[790]! + 1)), BatchesArchived)
    t.throws(() => [...readEverything(from, read, START)], BatchesArchived, 'an archive that ends before is not enough')
  })
})

t.test('archived and dropped while archive and journal are read as one', async (t) => {
  const staged = stage(t)
  const { root, read } = staged
  const archived = join(root, 'archive')
  const lasts = Array.from(readBatches(read, START), ({ next }) => next - 1)
  extendArchive(archived, read, lasts[50]! + 1, () => undefined)
  dropTo(staged, lasts[50]! + 1)
  const seen: number[] = []
  for (const { next } of readEverything(openArchive(archived), read, START)) {
    seen.push(next - 1)
    if (seen.length !== 100) continue
    const other = openJournal(root, true, 1)
    extendArchive(archived, other, lasts[600]! + 1, () => undefined)
    await other.close()
    dropTo(staged, lasts[600]! + 1)
  }
  t.same(seen.slice(0, BATCHES), lasts, 'every batch once')
  t.equal(seen.at(-1), staged.next() - 1)
})
