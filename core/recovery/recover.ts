/**
 * Recovery: newest snapshot that verifies, then the journal behind it, through the same replayer as every tool.
 *
 * A snapshot that does not verify is skipped with a warning; the journal is complete, so any older one or none will do. A journal
 * batch that does not verify stops recovery with its sequence: acknowledged orders may stand in it, so nothing is guessed. If it is
 * the last one the operator may cut it (`--cut-tail SEQUENCE`); damage in the middle is never cut.
 */
import { realIo, type Io } from '../lib/io.ts'
import { createOutbox } from '../state/outbox.ts'
import { parseGenesis } from '../state/genesis.ts'
import { drawHashKey } from '../lib/hash_key.ts'
import type { PageStore } from '../state/page_store.ts'
import { createState } from '../state/state.ts'
import { createReplayer, type Listener, type Replayer } from './replayer.ts'
import type { SnapshotStore } from '../snapshot/store.ts'
import { readEverything, type Archive } from '../archive/archive.ts'
import { keyOf, open } from '../journal/frame.ts'
import { readGenesis } from '../journal/genesis_batch.ts'
import { encodeHead, HEAD_BYTES, HEAD_KEY, headRecord } from '../journal/head.ts'
import { openHeadFile, readHeadFile } from '../journal/head_file.ts'
import { JournalError } from '../journal/pages.ts'
import { continues, endSequence, JournalFault, lastSequence, START, type Place } from '../journal/reader.ts'
import type { JournalStore } from '../journal/store.ts'
import { BatchesArchived } from '../journal/tail.ts'

export interface Rebuilt {
  replayer: Replayer
  genesis: string
}

/** A replayer at the newest verifying snapshot whose sequence is at most `most`, or at the genesis. */
export function rebuild(
  database: JournalStore,
  snapshots: SnapshotStore,
  most: number,
  warn: (text: string) => void,
  listener?: Listener,
  io: Pick<Io, 'random'> = realIo,
  archive: Archive | null = null,
): Rebuilt {
  for (const sequence of snapshots.list()) {
    if (sequence > most) continue
    try {
      const { state, info } = snapshots.load(sequence, io)
      const place = { sequence: sequence + 1, checksum: info.batchChecksum }
      checkPlace(database, place)
      return { replayer: createReplayer(state, place, info.eventsChecksum, listener), genesis: info.genesis }
    } catch (error) {
      warn(`snapshot ${sequence} is skipped: ${(error as Error).message}`)
    }
  }
  return fromGenesis(database, listener, io, archive, snapshots.receipts)
}

/**
 * The same at the newest snapshot. Where none can be gone on from, as after a version with another format of them, and the journal does not
 * go back to its beginning, everything is replayed from the archive, which is asked for only then and is behind the replayer, too.
 */
export function rebuildNewest(
  database: JournalStore, snapshots: SnapshotStore, warn: (text: string) => void, io: Pick<Io, 'random'>, archive?: () => Archive | null,
): Rebuilt & { archive: Archive | null } {
  try {
    return { ...rebuild(database, snapshots, Infinity, warn, undefined, io), archive: null }
  } catch (error) {
    const from = error instanceof BatchesArchived ? (archive?.() ?? null) : null
    if (from === null) throw error
    warn(`no snapshot can be gone on from: everything is replayed, beginning with the archive in ${from.directory}`)
    return { ...rebuild(database, snapshots, Infinity, () => undefined, undefined, io, from), archive: from }
  }
}

/** Throws unless a batch of the journal ends right before `place` with its checksum. */
function checkPlace(database: JournalStore, place: Place): void {
  const end = endSequence(database)
  if (place.sequence > end + 1) throw new Error(`it is ahead of the journal, which ends at ${end}`)
  const continued = continues(database, place)
  if (continued === 'archived') throw new Error('the journal does not go back that far: the batches behind it are archived')
  if (continued !== 'yes') throw new Error('the journal has no batch that it continues')
}

/**
 * A replayer that has applied nothing but the genesis. `archive`: what the journal does not go back to; without it {@link BatchesArchived}
 * is thrown when there is such. `receipts`: where pages of receipts go; by default into its memory.
 */
export function fromGenesis(
  database: JournalStore, listener?: Listener, io: Pick<Io, 'random'> = realIo, archive: Archive | null = null, receipts?: PageStore,
): Rebuilt {
  for (const batch of readEverything(archive, database, START)) {
    const genesis = readGenesis(batch)
    const state = createState(parseGenesis(genesis), createOutbox(4096), drawHashKey(io), receipts)
    const replayer = createReplayer(state, START, 0, listener)
    replayer.batch(batch)
    return { replayer, genesis }
  }
  throw new JournalError('the journal is empty')
}

export interface Progress {
  records: number
  /** Commands per second so far. */
  rate: number
  secondsLeft: number
}

/** Replays the journal behind `replayer` up to and including `last`; reports about every second. The commands it replayed. */
export function catchUp(
  database: JournalStore,
  replayer: Replayer,
  last: number,
  seconds: () => number,
  report: (progress: Progress) => void,
  archive: Archive | null = null,
): number {
  const end = Math.min(last, endSequence(database))
  let records = 0
  const started = seconds()
  let next = started + 1
  for (const batch of readEverything(archive, database, replayer.place)) {
    if (batch.sequence > last) break
    replayer.batch(batch)
    records += batch.commands
    const now = seconds()
    if (now < next) continue
    next = now + 1
    const rate = records / (now - started)
    report({ records, rate, secondsLeft: (end - replayer.place.sequence + 1) / rate })
  }
  return records
}

/** Removes an invalid last batch, when it is the one the operator named; the sequence at which the journal ends then. */
export function cutTail(database: JournalStore, fault: JournalFault, cut: number): number {
  if (!fault.fault.last || cut !== fault.fault.sequence) throw fault
  database.checkFree()
  keepEnd(database)
  dropLast(database)
  return cut - 1
}

/**
 * Has the head file say how far the journal went, for a start that is interrupted before the loss is in the journal (loss.ts). What it said
 * before may be older, or in the cache alone: the power may fail, too.
 */
function keepEnd(database: JournalStore): void {
  const found = headRecord(database)
  if (found === null || typeof found === 'string') return
  const { head } = readHeadFile(database.headFile)
  openHeadFile(database.headFile, head !== null && head.next > found.next ? head : found).close()
}

/** Removes the last batch, whatever it holds; the head record then says that the journal ends before it. */
export function dropLast(database: JournalStore): void {
  const found = headRecord(database)
  if (typeof found === 'string') throw new JournalError(`the head record of the journal: ${found}`)
  const last = lastSequence(database)
  database.transactionSync(() => {
    database.removeSync(keyOf(last))
    const first = lastSequence(database)
    const batch = first === 0 ? 'there is none' : open(database.get(keyOf(first))!)
    if (typeof batch === 'string') throw new JournalError(`the batch before the last one: ${batch}`)
    if (found === null) return
    const record = Buffer.alloc(HEAD_BYTES)
    encodeHead(record, 0, { ...found, batches: found.batches - 1, first, next: batch.next, checksum: batch.checksum })
    database.putSync(HEAD_KEY, record)
  })
}
