/**
 * An archive: a directory with the oldest batches of a journal, in segments (segment.ts) without gap from the genesis on. It only grows:
 * the next call goes on where the last segment ends. Whoever has the archive and the journal has every command there ever was.
 */
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '../lib/durable_file.ts'
import type { JournalStore } from '../journal/store.ts'
import type { Batch } from '../journal/frame.ts'
import { continues, placeBehind, readBatches, START, takeBatches, type Place } from '../journal/reader.ts'
import { BatchesArchived, tailOf } from '../journal/tail.ts'
import {
  ArchiveError, decodeHeader, digestOf, encodeSegment, readSegment, SEGMENT_BYTES, SEGMENT_HEADER_BYTES, type SegmentHeader,
} from './segment.ts'

const NAME = /^\d{16}\.rba$/
const NO_CHAIN = Buffer.alloc(32)

interface Segment {
  readonly path: string
  readonly header: SegmentHeader
  /** SHA-256 of its header. */
  readonly own: Buffer
}

export interface Archive {
  readonly directory: string
  readonly segments: Segment[]
  /** Where it ends: what the journal must go on with. */
  readonly end: Place
  readonly batches: number
  /** Bytes of its files, and of the batches in them. */
  readonly bytes: number
  readonly raw: number
}

/** Reads the headers of an archive and how they hang together; an empty or missing directory is an archive with nothing in it. */
export function openArchive(directory: string): Archive {
  const names = existsSync(directory) ? readdirSync(directory).filter((name) => NAME.test(name)).sort() : []
  let archive: Archive = { directory, segments: [], end: START, batches: 0, bytes: 0, raw: 0 }
  for (const name of names) archive = withSegment(archive, join(directory, name))
  return archive
}

/** The archive with the segment at `path` behind its last one. The list of segments goes over to the new archive. */
function withSegment({ directory, segments, end, batches, bytes, raw }: Archive, path: string): Archive {
  const header = headerBytes(path)
  const read = decodeHeader(header, path)
  const continued = read.begin.sequence === end.sequence && read.begin.checksum === end.checksum && read.chain.equals(chainOf(segments))
  if (read.number !== segments.length || !continued) {
    throw new ArchiveError(`${path} does not continue the segment before it: one is missing or another's`)
  }
  segments.push({ path, header: read, own: digestOf(header) })
  return {
    directory, segments, end: read.end, batches: batches + read.batches, bytes: bytes + SEGMENT_HEADER_BYTES + read.stored,
    raw: raw + read.raw,
  }
}

/** What the next segment's header says of the one before it. */
const chainOf = (segments: readonly Segment[]): Buffer => segments.at(-1)?.own ?? NO_CHAIN

function headerBytes(path: string): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES)
  const fd = openSync(path, 'r')
  try {
    if (readSync(fd, bytes, 0, SEGMENT_HEADER_BYTES, 0) !== SEGMENT_HEADER_BYTES) throw new ArchiveError(`${path} is no segment`)
  } finally {
    closeSync(fd)
  }
  return bytes
}

/** Batches of the archive from `place` on, every one checked. `records` stay valid. Throws {@link ArchiveError}. */
export function* readArchive(archive: Archive, place: Place): Generator<Batch> {
  let { sequence, checksum } = place
  for (const { path, header } of archive.segments) {
    if (header.end.sequence <= sequence) continue
    for (const batch of readSegment(path, header)) {
      if (batch.sequence < sequence) continue
      if (batch.sequence !== sequence || batch.previous !== checksum) {
        throw new ArchiveError(`${path}: the batch at sequence ${batch.sequence} does not continue sequence ${sequence - 1}`)
      }
      yield batch
      sequence = batch.next
      checksum = batch.checksum
    }
  }
}

/**
 * Batches from `place` on, from the archive as far as the journal does not go back, then from the journal. What is archived and dropped
 * while it is read comes from the archive, too.
 */
export function* readEverything(archive: Archive | null, database: JournalStore, place: Place): Generator<Batch> {
  let known = archive
  let next = place
  for (;;) {
    const from = next
    if (known !== null && next.sequence < tailOf(database).sequence) {
      // An archive takes long to read.
      database.refresh()
      for (const batch of readArchive(known, next)) {
        yield batch
        next = placeBehind(batch)
      }
    }
    try {
      for (const batch of readBatches(database, next)) {
        yield batch
        next = placeBehind(batch)
      }
      return
    } catch (error) {
      // An archive that has nothing more than it had is not enough.
      if (!(error instanceof BatchesArchived) || known === null || (known !== archive && next === from)) throw error
      known = openArchive(known.directory)
    }
  }
}

/** The archive that a tool was given, of the journal that it reads; `undefined`: none was. Throws {@link ArchiveError}. */
export function archiveFor(directory: string | undefined, database: JournalStore): Archive | null {
  if (directory === undefined) return null
  const archive = openArchive(directory)
  checkArchive(archive, database)
  return archive
}

/** Throws {@link ArchiveError} unless the archive is of this journal: its end continues in it, or lies right before it. */
export function checkArchive(archive: Archive, database: JournalStore): void {
  const { end, directory } = archive
  const tail = tailOf(database)
  const same = end.sequence === 1 ? tail.sequence === 1 : continues(database, end) === 'yes'
  if (same) return
  throw new ArchiveError(
    `the archive in ${directory} ends at ${end.sequence - 1}, where the journal, which begins at ${tail.sequence}, does not go on`,
  )
}

/**
 * Reads back whole every segment from number `from` on that holds batches which the journal has not dropped yet. Throws {@link
 * ArchiveError} at the first bad one, with what to do about it. `report` hears of every segment.
 */
export function checkSegments(
  { segments }: Archive, database: JournalStore, report: (segment: SegmentHeader) => void, from = 0,
): void {
  const begins = journalBegins(database)
  for (const [number, { path, header }] of segments.entries()) {
    if (number < from || header.end.sequence <= begins) continue
    try {
      readSegment(path, header)
    } catch (error) {
      const { message } = error as Error
      throw new ArchiveError(`${message}; nothing is dropped; ${remedy(segments, number, journalBegins(database))}`)
    }
    report(header)
  }
}

/** First sequence of the journal. What follows takes long: an open transaction would keep LMDB from using its free pages again. */
function journalBegins(database: JournalStore): number {
  const { sequence } = tailOf(database)
  database.refresh()
  return sequence
}

/** What to do about a bad segment while the journal begins at sequence `begins`. */
function remedy(segments: readonly Segment[], number: number, begins: number): string {
  const { path, header } = segments[number]!
  if (header.begin.sequence < begins) {
    return `put ${path} back from a copy of the archive: the journal begins at ${begins} and has not all of its batches any more`
  }
  const later = segments.length - number - 1
  const which = later === 0 ? path : `${path} and the ${later} after it`
  return `move ${which} out of the archive and archive again: the journal still has the batches`
}

/**
 * Adds the batches of the journal before sequence `before` to the archive, in whole segments but for the last one, each read back before it
 * counts. Returns the archive as it is then. `report` hears of every segment. Only for who has the directory to himself (commands.ts).
 */
export function extendArchive(
  directory: string, database: JournalStore, before: number, report: (segment: SegmentHeader) => void,
): Archive {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(directory)) if (name.endsWith('.rba.new')) rmSync(join(directory, name))
  let archive = openArchive(directory)
  checkArchive(archive, database)
  // The next segment names the header of the last one.
  checkSegments(archive, database, () => undefined, archive.segments.length - 1)
  for (;;) {
    const { segments, end: begin } = archive
    const { values, end } = takeBatches(database, begin, before, SEGMENT_BYTES)
    if (values.length === 0) return archive
    const of = { number: segments.length, begin, end, batches: values.length, chain: chainOf(segments) }
    archive = withSegment(archive, writeSegment(directory, begin.sequence, encodeSegment(Buffer.concat(values), of)))
    report(segments.at(-1)!.header)
  }
}

/** Writes the file of a segment that begins at sequence `first`; read back and durable when it returns its path. */
function writeSegment(directory: string, first: number, bytes: Buffer): string {
  const name = `${String(first).padStart(16, '0')}.rba`
  writeDurably(directory, name, bytes, (path) => {
    const header = headerBytes(path)
    if (!header.equals(bytes.subarray(0, SEGMENT_HEADER_BYTES))) throw new ArchiveError(`${path}: its header is not what was written`)
    readSegment(path, decodeHeader(header, path))
  })
  return join(directory, name)
}
