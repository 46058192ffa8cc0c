/**
 * An archive: a directory with the oldest batches of a journal, in segments (segment.ts) without gap from the genesis on. It only grows:
 * the next call goes on where the last segment ends. Whoever has the archive and the journal has every command there ever was.
 */
import {
  closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, readSync, renameSync, rmSync, statSync, writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { realIo } from '../lib/io.ts'
import type { JournalStore } from '../journal/store.ts'
import { HEADER_BYTES, type Batch } from '../journal/frame.ts'
import { continues, readBatches, START, type Place } from '../journal/reader.ts'
import { tailOf } from '../journal/tail.ts'
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
  readonly segments: readonly Segment[]
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
  const segments: Segment[] = []
  let end: Place = START
  let chain: Buffer = NO_CHAIN
  for (const [number, name] of names.entries()) {
    const path = join(directory, name)
    const bytes = headerBytes(path)
    const header = decodeHeader(bytes, path)
    const follows = header.begin.sequence === end.sequence && header.begin.checksum === end.checksum && header.chain.equals(chain)
    if (header.number !== number || !follows) {
      throw new ArchiveError(`${path} does not continue the segment before it: one is missing or another's`)
    }
    const own = digestOf(bytes)
    segments.push({ path, header, own })
    end = header.end
    chain = own
  }
  const sum = (of: (header: SegmentHeader) => number): number => segments.reduce((total, { header }) => total + of(header), 0)
  return {
    directory, segments, end, batches: sum((header) => header.batches), raw: sum((header) => header.raw),
    bytes: sum((header) => SEGMENT_HEADER_BYTES + header.stored),
  }
}

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

/** Batches from `place` on, from the archive as far as the journal does not go back, then from the journal. */
export function* readEverything(archive: Archive | null, database: JournalStore, place: Place): Generator<Batch> {
  let next = place
  if (archive !== null && place.sequence < tailOf(database).sequence) {
    for (const batch of readArchive(archive, place)) {
      yield batch
      next = { sequence: batch.next, checksum: batch.checksum }
    }
  }
  yield* readBatches(database, next)
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
 * Adds the batches of the journal before sequence `before` to the archive, in whole segments but for the last one, each read back before it
 * counts. Returns the archive as it is then. `report` hears of every segment.
 */
export function extendArchive(
  directory: string, database: JournalStore, before: number, report: (segment: SegmentHeader) => void,
): Archive {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(directory)) if (name.endsWith('.unfinished')) rmSync(join(directory, name))
  let archive = openArchive(directory)
  checkArchive(archive, database)
  for (;;) {
    const raw = collect(database, archive.end, before)
    if (raw === null) return archive
    const { segments, end } = archive
    const chain = segments.at(-1)?.own ?? NO_CHAIN
    const { values } = raw
    const bytes = encodeSegment(Buffer.concat(values), { number: segments.length, begin: end, end: raw.end, batches: values.length, chain })
    writeSegment(directory, end.sequence, bytes)
    archive = openArchive(directory)
    const { path, header } = archive.segments.at(-1)!
    readSegment(path, header)
    report(header)
  }
}

/** Values of the batches from `place` on that end before `before`, as many as a segment takes; `null`: there is none. */
function collect(database: JournalStore, place: Place, before: number): { values: Buffer[]; end: Place } | null {
  const values: Buffer[] = []
  let end = place
  let bytes = 0
  // Short read transactions: a long one would keep LMDB from using its free pages again.
  database.refresh()
  for (const batch of readBatches(database, place)) {
    if (batch.next > before) break
    const { buffer, byteOffset, length } = batch.records
    values.push(Buffer.copyBytesFrom(new Uint8Array(buffer, byteOffset - HEADER_BYTES, HEADER_BYTES + length)))
    end = { sequence: batch.next, checksum: batch.checksum }
    bytes += HEADER_BYTES + length
    if (bytes >= SEGMENT_BYTES) break
  }
  return values.length === 0 ? null : { values, end }
}

function writeSegment(directory: string, first: number, bytes: Buffer): void {
  const path = join(directory, `${String(first).padStart(16, '0')}.rba`)
  const fd = openSync(`${path}.unfinished`, 'wx', 0o600)
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(`${path}.unfinished`, path)
  realIo.syncDirectory(directory)
  if (statSync(path).size !== bytes.length) throw new ArchiveError(`${path} was not written whole`)
}
