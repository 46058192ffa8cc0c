/**
 * Reading batches in order with every check of the format: sequence without gap, chained checksums, whole batches (I15), and the head
 * record where they end.
 *
 * An invalid batch is reported with its sequence and whether it is the last one; what to do about it is the caller's decision. The end is
 * never taken from the iteration alone: damage inside LMDB's pages ends it early without an error. The head record sorts behind all
 * batches and is read in the same transaction, by the cursor and by its key: it must say that the journal ends where the batches ended.
 *
 * While a transaction is open LMDB uses no page again, and who never waits never lets go of one. So reading takes a new one after each
 * piece: sequence and checksums go on over it, and the end is that of the last one. Batches dropped meanwhile are missed by name.
 */
import { keyOf, open, sequenceOf, valueOf, type Batch } from './frame.ts'
import { decodeHead, HEAD_KEY, headRecord, NO_HEAD, type Head } from './head.ts'
import { JournalError } from './pages.ts'
import type { JournalStore } from './store.ts'
import { BatchesArchived, tailOf } from './tail.ts'

export interface Fault {
  /** Sequence of the batch at fault: its key, or the one that is missing. */
  readonly sequence: number
  readonly reason: string
  /** Nothing follows it. */
  readonly last: boolean
}

const cutting = ({ sequence }: Fault): string =>
  `; put the journal back from a backup, or start once with --cut-tail ${sequence} to go on without what it holds`

export class JournalFault extends Error {
  override name = 'JournalFault'
  readonly fault: Fault
  /** `advice`: what the operator may do, where it is not what helps against any invalid last batch. */
  constructor(fault: Fault, advice = cutting(fault)) {
    super(`journal batch at sequence ${fault.sequence}: ${fault.reason}${fault.last ? ` (the last batch)${advice}` : ''}`)
    this.fault = fault
  }
}

/** A place in the journal: the next sequence and the checksum that the batch there must carry. */
export interface Place {
  sequence: number
  checksum: number
}

export const START: Place = { sequence: 1, checksum: 0 }
/** The place right behind a batch. */
export const placeBehind = ({ next, checksum }: Batch): Place => ({ sequence: next, checksum })
/** Behind every sequence, before the head record. */
const LAST_KEY = keyOf(2 ** 53 - 1)
/** What one transaction reads at most: so many batches, or bytes. */
const PIECE_BATCHES = 256
const PIECE_BYTES = 4 * 2 ** 20

/**
 * Batches from `place` on; throws {@link JournalFault} at the first that is not what must follow, and when the batches end before or
 * behind the head record's end; {@link BatchesArchived} when the journal does not go back that far, or not any more, {@link JournalError}
 * when LMDB cannot read. `records` is valid until the next. Who reads to the end is in the transaction of the end then; who stops before
 * has let go of it.
 */
export function* readBatches(database: JournalStore, place: Place): Generator<Batch> {
  let next = place
  let stopped = false
  try {
    for (let more = true; more; ) {
      more = false
      let batches = 0
      let bytes = 0
      for (const batch of readPiece(database, next)) {
        stopped = true
        yield batch
        stopped = false
        next = placeBehind(batch)
        bytes += batch.records.length
        // One without a head is counted, in one transaction: nobody writes to it.
        more = (++batches >= PIECE_BATCHES || bytes >= PIECE_BYTES) && !database.headless
        if (more) break
      }
      if (more) database.refresh()
    }
  } finally {
    if (stopped) database.refresh()
  }
}

/** Batches from `place` on up to the end, all in one transaction as long as the reader does not wait between them. */
function* readPiece(database: JournalStore, place: Place): Generator<Batch> {
  let { sequence, checksum } = place
  const tail = tailOf(database)
  if (sequence < tail.sequence) throw new BatchesArchived(tail)
  for (const { key, value } of entries(database, sequence)) {
    if (HEAD_KEY.equals(key)) {
      checkEnd(decodeHead(value), sequence, checksum)
      break
    }
    const at = sequenceOf(key)
    const fail = (reason: string): never => {
      throw new JournalFault({ sequence: at, reason, last: lastSequence(database) === at })
    }
    if (at !== sequence) throw new JournalFault({ sequence, reason: `it is missing, the next is ${at}`, last: false })
    const batch = open(value)
    if (typeof batch === 'string') return fail(batch)
    if (batch.sequence !== at) fail(`it says it is ${batch.sequence}`)
    if (batch.previous !== checksum) fail('it does not continue the batch before it')
    yield batch
    sequence = batch.next
    checksum = batch.checksum
  }
  // Once more by its key: a damaged pointer may have led the cursor to a page that is no longer in use, whose head record fits it.
  if (!database.headless) checkEnd(headRecord(database) ?? 'it is missing', sequence, checksum)
}

/** Values of batches from `place` on, and where the last of them ends. */
export interface Values {
  readonly values: Buffer[]
  readonly bytes: number
  readonly end: Place
}

/**
 * Copies of the batches from `place` on that end before `before`, up to the first with which they are `most` bytes. No transaction is open
 * when it returns: what is done with them may take long. Throws like {@link readBatches}.
 */
export function takeBatches(database: JournalStore, place: Place, before: number, most: number): Values {
  const values: Buffer[] = []
  let bytes = 0
  let end = place
  for (const batch of readBatches(database, place)) {
    if (batch.next > before) break
    // A copy: the next batch is read into the same bytes.
    const value = valueOf(batch)
    values.push(value)
    bytes += value.length
    end = placeBehind(batch)
    if (bytes >= most) break
  }
  database.refresh()
  return { values, bytes, end }
}

/** Keys and values from `sequence` on; what LMDB says of damage becomes a {@link JournalError}. */
function* entries(database: JournalStore, sequence: number): Generator<{ key: Buffer; value: Buffer }> {
  const range = database.getRange({ start: keyOf(sequence), snapshot: false })[Symbol.iterator]()
  try {
    for (;;) {
      let next: IteratorResult<{ key: Buffer; value: Buffer }>
      try {
        next = range.next()
      } catch (error) {
        throw new JournalError(`the journal cannot be read behind sequence ${sequence}: ${(error as Error).message}`)
      }
      if (next.done === true) return
      sequence = HEAD_KEY.equals(next.value.key) ? sequence : sequenceOf(next.value.key)
      yield next.value
    }
  } finally {
    range.return?.()
  }
}

/** Throws {@link JournalFault} unless the batches end where the head record says. */
function checkEnd(head: Head | string, sequence: number, checksum: number): void {
  const fail = (reason: string): never => {
    throw new JournalFault({ sequence, reason, last: false })
  }
  if (typeof head === 'string') return fail(`the journal should end here, but its head record cannot be read: ${head}`)
  const { next } = head
  if (next > sequence) {
    fail(`sequences ${sequence} to ${next - 1} are missing: the head record of the journal says that it ends at ${next - 1}`)
  }
  if (next < sequence) fail(`the head record of the journal says that it ends at ${next - 1}, before this`)
  if (head.checksum !== checksum) fail('the head record of the journal names another last batch')
}

/** Key of the last batch, or 0. */
export function lastSequence(database: JournalStore): number {
  for (const key of database.getKeys({ start: LAST_KEY, reverse: true, limit: 1 })) return sequenceOf(key)
  return 0
}

/** Sequence of the last command, as the head record says or, without it, the last batch; 0 for an empty journal. */
export function endSequence(database: JournalStore): number {
  const head = headRecord(database)
  if (head !== null && typeof head !== 'string') return head.next - 1
  const last = lastSequence(database)
  if (last === 0) return 0
  const batch = open(database.get(keyOf(last))!)
  return typeof batch === 'string' ? last : batch.next - 1
}

/**
 * Whether a batch of the journal ends right before `place` with its checksum. 'damaged': the batch there cannot be read. 'archived': it was
 * dropped, and nothing of it is known here.
 */
export function continues(database: JournalStore, { sequence, checksum }: Place): 'yes' | 'no' | 'damaged' | 'archived' {
  const tail = tailOf(database)
  if (sequence < tail.sequence) return 'archived'
  if (sequence === tail.sequence && tail.dropped > 0) return checksum === tail.checksum ? 'yes' : 'no'
  for (const { value } of database.getRange({ start: keyOf(sequence - 1), reverse: true, limit: 1 })) {
    const batch = open(value)
    if (typeof batch === 'string') return 'damaged'
    return batch.next === sequence && batch.checksum === checksum ? 'yes' : 'no'
  }
  return 'no'
}

/** Reads every batch of a journal that has no head yet; its end. Throws like {@link readBatches}, and when LMDB counts other entries. */
export function countBatches(database: JournalStore): Head {
  const tail = tailOf(database)
  const { sequence, checksum, dropped } = tail
  const head: Head = { ...NO_HEAD, batches: dropped, next: sequence, checksum }
  for (const batch of readBatches(database, tail)) {
    head.batches++
    head.first = batch.sequence
    head.next = batch.next
    head.checksum = batch.checksum
  }
  const entries = entryCount(database) + dropped - (dropped > 0 ? 1 : 0)
  if (entries === head.batches) return head
  throw new JournalError(`the journal reads as ${head.batches} batches up to sequence ${head.next - 1}, LMDB counts ${entries}`)
}

/** How many entries LMDB counts, the head record included. It looks at its list of free pages for it, which may be damaged. */
export function entryCount(database: JournalStore): number {
  try {
    return database.entryCount()
  } catch (error) {
    throw new JournalError(`LMDB cannot read its own pages: ${(error as Error).message}; restore the journal from a backup`)
  }
}
