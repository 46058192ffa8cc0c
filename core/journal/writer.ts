/**
 * The journal's one writer. A batch is durable when {@link JournalWriter.commit} returns; when it throws, nothing of the batch may
 * be answered and nothing is retried: the process stops and recovery decides.
 *
 * It is the only one, and each commit proves it: inside the write transaction the head record and the head file must be those that this
 * writer wrote last. The directory's lock keeps a second process away; should it fail, a commit on top of somebody else's batch
 * fails too, instead of standing on a state that never was.
 *
 * The file never passes its limit. core/disk.ts sees to it that nothing is recorded near it; should that look come too late, the commit
 * that might pass it is not begun. What a commit takes is estimated from above and counted; LMDB is asked only when the count is used up.
 */
import { realIo, type Io } from '../lib/io.ts'
import { SystemFault, systemFault } from '../lib/system_fault.ts'
import { RECORD_BYTES } from '../layout/table.ts'
import { createDropping } from './drop.ts'
import { HEADER_BYTES, keyOf, seal } from './frame.ts'
import { encodeHead, HEAD_BYTES, HEAD_KEY, headRecord, NO_HEAD, type Head } from './head.ts'
import { openHeadFile, readHeadFile, SecondWriter } from './head_file.ts'
import { JournalError, PAGE_BYTES } from './pages.ts'
import { countBatches, entryCount, START, type Place } from './reader.ts'
import type { JournalStore } from './store.ts'

export interface JournalWriter {
  /** Where the sequencer puts the records of the next batch: word 0 is the first word of its first record. */
  readonly words: Int32Array
  readonly bytes: Buffer
  /** Checksum of the last batch. */
  checksum: number
  /** Makes the first `slots` slots durable as one batch; returns its size in bytes. `next`: the sequence after it, if it jumps. */
  commit(sequence: number, time: number, commands: number, slots: number, events: number, next?: number): number
  /** Batches that end before this sequence are archived: commits drop them from now on (drop.ts). */
  dropBefore(sequence: number): void
  /** Sequence with which the journal begins. */
  readonly first: number
  /** Makes the head file durable at once, as it otherwise becomes now and then (room.ts). */
  syncHead(): void
  /** Lets go of the head file; the database stays open. */
  close(): void
}

/** The next batch might make the file larger than its limit. */
export class JournalFull extends Error {
  override name = 'JournalFull'
}

/**
 * Pages that a commit may take besides those of its value: those of both trees on the way to what changes, each of which may be split, and
 * the list of pages that become free. Trees of this shape are at most eight deep, whatever fits on a disk.
 */
const TREE_PAGES = 48

export interface WriterOptions {
  /** The head file may say that the journal went on: the operator accepted the loss. */
  readonly loss?: boolean
  /** Draws the epoch. */
  readonly io?: Pick<Io, 'random'>
}

/**
 * Opens the journal for writing behind `place`, which must be its end, and marks both heads as this writer's. Throws
 * {@link JournalError} when one of them says that the journal ends elsewhere.
 */
export function createWriter(
  database: JournalStore, maxSlots: number, place: Place = START, options: WriterOptions = {},
): JournalWriter {
  // Before this writer's first page is written, which may be one that the list calls free.
  database.checkFree()
  const { random } = options.io ?? realIo
  const head: Head = { ...endAt(database, place), epoch: random(8).readBigUInt64LE() }
  const said = readHeadFile(database.headFile).head
  if (said !== null && options.loss !== true && said.next > head.next) {
    throw new JournalError(`the journal ends at ${head.next - 1}, journal/head says at ${said.next - 1}`)
  }
  const own = Buffer.alloc(HEAD_BYTES)
  const buffer = Buffer.alloc(HEADER_BYTES + maxSlots * RECORD_BYTES)
  const key = keyOf(0)
  let value = buffer
  const record: Head = { ...head, number: 0 }
  encodeHead(own, 0, record)
  // The claim comes before the file: it makes durable what the journal was read up to. The end of a process that was killed may still be in
  // the cache alone, and a file that knew of it would refuse every start after a power failure.
  claim(database, own, head)
  // Until the loss is in the journal the file goes on saying what is lost: a start that is interrupted here must find it missing again.
  const file = openHeadFile(database.headFile, said !== null && said.next > head.next ? said : head)
  database.headless = false

  const dropping = createDropping(database)
  const takeRoom = roomWithin(database)
  const write = (): void => {
    const found = database.getBinaryFast(HEAD_KEY)
    if (found === undefined || own.compare(found, 0, HEAD_BYTES) !== 0) {
      throw new SecondWriter('another process wrote to the journal: two exchanges use this data directory; stop both, then start one')
    }
    file.check()
    database.putSync(key, value)
    dropping.inTransaction(value.length, record.first)
    encodeHead(own, 0, record)
    database.putSync(HEAD_KEY, own)
  }
  const writer: JournalWriter = {
    words: new Int32Array(buffer.buffer, buffer.byteOffset + HEADER_BYTES, maxSlots * (RECORD_BYTES / 4)),
    bytes: buffer.subarray(HEADER_BYTES),
    checksum: place.checksum,
    commit: (sequence, time, commands, slots, events, next = sequence + commands) => {
      value = buffer.subarray(0, HEADER_BYTES + slots * RECORD_BYTES)
      takeRoom(value.length)
      const sealed = seal(value, { sequence, time, commands, slots, previous: writer.checksum, events })
      key.writeBigUInt64BE(BigInt(sequence))
      record.batches++
      record.first = sequence
      record.next = next
      record.checksum = sealed
      database.transactionSync(write)
      writer.checksum = sealed
      head.batches = record.batches
      head.first = sequence
      head.next = next
      head.checksum = sealed
      file.write(head)
      return value.length
    },
    get first() {
      return dropping.first
    },
    dropBefore: (sequence) => {
      dropping.before = sequence
    },
    syncHead: () => file.sync(),
    close: () => file.close(),
  }
  return writer
}

/** Takes room for a value of so many bytes, or throws {@link JournalFull}. */
function roomWithin(database: JournalStore): (bytes: number) => void {
  /** Pages that commits may surely take before LMDB must be asked how many it uses. */
  let room = 0
  return (bytes) => {
    const pages = Math.ceil(bytes / PAGE_BYTES) + 1 + TREE_PAGES
    if (room < pages) room = database.pages - database.usedPages()
    if (room < pages) {
      throw new JournalFull(`the journal is at its limit of ${database.pages * PAGE_BYTES} bytes: raise --journal-gb or archive`)
    }
    room -= pages
  }
}

/** The head of a journal that ends at `place`; a journal of before heads is counted. */
function endAt(database: JournalStore, place: Place): Head {
  const found = headRecord(database)
  if (typeof found === 'string') throw new JournalError(`the head record of the journal: ${found}`)
  // Nothing in it at all: a first start ended between making the head file and its first commit.
  if (found === null && !database.headless && entryCount(database) > 0) throw new JournalError('the journal has no head record')
  const end = found ?? (place.sequence === 1 ? NO_HEAD : countBatches(database))
  if (end.next === place.sequence && end.checksum === place.checksum) return { ...end }
  throw new JournalError(`the journal ends at ${end.next - 1}, it was read up to ${place.sequence - 1}`)
}

/** Puts the head record of this writer, on top of the end that it found. */
function claim(database: JournalStore, own: Buffer, { next }: Head): void {
  try {
    database.transactionSync(() => {
      const found = headRecord(database)
      const end = found === null ? null : typeof found === 'string' ? NaN : found.next
      if (end !== null && end !== next) throw new SecondWriter('another process writes to the journal')
      database.putSync(HEAD_KEY, own)
    })
  } catch (error) {
    if (error instanceof SecondWriter || error instanceof JournalError) throw error
    const fault = systemFault(error, 'the journal')
    if (fault instanceof SystemFault) throw fault
    throw new JournalError(`the journal cannot be written to: ${(error as Error).message}; look at the disk, or restore it from a backup`)
  }
}
