/**
 * What may leave the journal, and getting it back.
 *
 * A batch may be archived and dropped when nobody here needs it to go on: it is older than every snapshot that is kept, the oldest of which
 * was read back whole, and the history has it. What then is lost with the archive is the proof from the genesis on, a history made anew,
 * and a start for which no snapshot is good; `restore` brings all of that back.
 *
 * A running exchange drops by itself what `journal/archived.json` says is archived (journal/drop.ts).
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { historyPath, storedPlace } from '../history/store/store.ts'
import { journalPath } from '../journal/file.ts'
import { PAGE_BYTES } from '../journal/pages.ts'
import type { JournalStore } from '../journal/store.ts'
import { keyOf, valueOf } from '../journal/frame.ts'
import { encodeTail, TAIL_BYTES, TAIL_KEY, tailOf, type Tail } from '../journal/tail.ts'
import { writeDurably } from '../lib/durable_file.ts'
import { listSnapshots, loadSnapshot } from '../snapshot/file.ts'
import { archiveFor, checkArchive, type Archive } from './archive.ts'
import { ArchiveError, readSegment } from './segment.ts'

/** The sequence before which batches may go, and why it is that one. */
export interface Bound {
  readonly before: number
  readonly why: string
}

/** What may be archived of this directory now. The oldest snapshot is loaded and verified for it; `warn` hears of those that are not. */
export function boundOf(dataDir: string, warn: (text: string) => void): Bound {
  const oldest = oldestSnapshot(dataDir, warn)
  if (oldest === null) return { before: 1, why: 'there is no snapshot that can be read' }
  const place = storedPlace(dataDir)
  if (place === null) return { before: 1, why: `there is no history in ${historyPath(dataDir)}` }
  if (place.sequence <= oldest) return { before: place.sequence, why: `the history is at ${place.sequence - 1}` }
  return { before: oldest + 1, why: `the oldest snapshot is of ${oldest}` }
}

/** Sequence of the oldest snapshot that verifies. */
function oldestSnapshot(dataDir: string, warn: (text: string) => void): number | null {
  for (const sequence of listSnapshots(dataDir).reverse()) {
    try {
      loadSnapshot(dataDir, sequence)
      return sequence
    } catch (error) {
      warn(`snapshot ${sequence} does not count: ${(error as Error).message}`)
    }
  }
  return null
}

/** What an exchange is told: batches before this sequence are in that archive. */
export interface Archived {
  readonly before: number
  readonly directory: string
  /** RFC 3339. */
  readonly time: string
}

const ARCHIVED = 'archived.json'
const archivedPath = (dataDir: string): string => join(journalPath(dataDir), ARCHIVED)

/** Leaves word that batches may be dropped; durable when it returns. */
export function allowDrop(dataDir: string, archived: Archived): void {
  writeDurably(journalPath(dataDir), ARCHIVED, `${JSON.stringify(archived)}\n`)
}

/** Takes back that word if it is of the archive in `directory`, which can no longer be relied on. It still says where the archive is. */
export function forbidDrop(dataDir: string, directory: string): void {
  if (archivedIn(dataDir) === directory) allowDrop(dataDir, { before: 1, directory, time: new Date().toISOString() })
}

/** The sequence before which batches may be dropped according to that word; 1: none, or the word is not whole. */
export function droppable(dataDir: string): number {
  const before = archivedWord(dataDir)?.before
  return Number.isSafeInteger(before) && before! > 1 ? before! : 1
}

/** The directory of the archive according to that word; `null`: there is none, or it is not whole. */
export function archivedIn(dataDir: string): string | null {
  const directory = archivedWord(dataDir)?.directory
  return typeof directory === 'string' && directory !== '' ? directory : null
}

/** The archive that it names, of this journal; `null`: there is none. Throws {@link ArchiveError}. */
export const archiveOf = (dataDir: string, database: JournalStore): Archive | null => archiveFor(archivedIn(dataDir) ?? undefined, database)

function archivedWord(dataDir: string): Partial<Archived> | null {
  try {
    return JSON.parse(readFileSync(archivedPath(dataDir), 'utf8')) as Partial<Archived> | null
  } catch {
    return null
  }
}

/**
 * Puts back what was dropped, a segment a transaction, from the newest to the oldest: the journal is whole at any moment, and an
 * interrupted call goes on where it was. The batches put back. Throws {@link ArchiveError} when the archive is another's, or there is no
 * room for it.
 */
export function restoreArchive(
  dataDir: string, archive: Archive, database: JournalStore, report: (segments: number, of: number) => void,
): number {
  database.checkFree()
  checkArchive(archive, database)
  // Or the next start would drop it all again.
  rmSync(archivedPath(dataDir), { force: true })
  let tail = tailOf(database)
  const missing = archive.segments.filter(({ header }) => header.begin.sequence < tail.sequence)
  const needs = missing.reduce((pages, { header }) => pages + Math.ceil(header.raw / PAGE_BYTES) + header.batches, 0)
  if (needs > database.pages - database.usedPages()) {
    const gibibytes = Math.ceil((needs * PAGE_BYTES) / 2 ** 30)
    throw new ArchiveError(`the archive needs ${gibibytes} GiB more than the journal may have: raise --journal-gb`)
  }
  let restored = 0
  for (const [number, { path, header }] of [...missing].reverse().entries()) {
    const batches = readSegment(path, header).filter(({ sequence }) => sequence < tail.sequence)
    const next: Tail = { ...header.begin, dropped: tail.dropped - batches.length }
    database.transactionSync(() => {
      for (const batch of batches) database.putSync(keyOf(batch.sequence), valueOf(batch))
      if (next.dropped === 0) database.removeSync(TAIL_KEY)
      else database.putSync(TAIL_KEY, encodeTail(Buffer.alloc(TAIL_BYTES), next))
    })
    tail = next
    restored += batches.length
    report(number + 1, missing.length)
  }
  return restored
}
