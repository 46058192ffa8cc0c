/**
 * A projection under way: the journal replayed behind the exchange, its events projected into a store, one transaction at a time.
 *
 * The position of the store is part of every transaction, so after any stop projection goes on exactly there: the engine is rebuilt from
 * the newest snapshot at or before the position and replayed up to it, and only then do events count. A store that does not belong
 * to the journal (another genesis or format, or commands that were cut from the journal) is thrown away and made anew.
 *
 * Where the journal does not go back to its genesis any more, what was before is read from its archive: the one that is named, or the one
 * that `journal/archived.json` names. Without it a store that is to be made anew is left as it is, and {@link BatchesArchived} says what to
 * do: it may be all that is left of those commands.
 */
import type { Genesis } from '../../state/genesis.ts'
import { CLOCK } from '../../state/columns.ts'
import type { State } from '../../state/state.ts'
import { checkEnd } from '../../journal/end.ts'
import { openJournal } from '../../journal/file.ts'
import type { Batch } from '../../journal/frame.ts'
import { endSequence, readBatches, START, type Place } from '../../journal/reader.ts'
import { tailOf } from '../../journal/tail.ts'
import { archiveFor, readArchive, type Archive } from '../../archive/archive.ts'
import { archiveOf } from '../../archive/retention.ts'
import type { JournalStore } from '../../journal/store.ts'
import { realIo, type Io } from '../../lib/io.ts'
import type { SnapshotStore } from '../../snapshot/store.ts'
import { catchUp, fromGenesis, rebuild, type Progress, type Rebuilt } from '../../recovery/recover.ts'
import type { Replayer } from '../../recovery/replayer.ts'
import { identitiesOf } from './identities.ts'
import { HISTORY_FORMAT, isReadable } from '../store/layout.ts'
import { createProjector, type Projector } from './projector.ts'
import {
  checkpoint, genesisDigest, isDamaged, openWriter, readPosition, removeStore, writePosition, type HistoryDatabase,
} from '../store/store.ts'
import { receiptFiles, snapshotFiles } from '../../snapshot/file.ts'

export interface Projection {
  readonly database: HistoryDatabase
  readonly projector: Projector
  readonly genesis: Genesis
  /** The engine as it was after the last command projected. */
  readonly state: State
  /** Events projected so far, ever. */
  readonly events: number
  /** Sequence of the last command projected. */
  readonly sequence: number
  /** Last command of the journal as it is now. */
  end(): number
  /** Projects what the journal has, at most about `commands`, in one transaction; true when there is more. */
  step(commands: number): boolean
  /** Throws when the store could not be made anew, because what the journal does not go back to cannot be read. */
  checkAnew(): void
  close(): Promise<void>
}

export interface ProjectionOptions {
  /** Says why a store was thrown away. */
  readonly warn: (text: string) => void
  /** The store was damaged: it is made anew. */
  readonly damaged?: (message: string) => void
  /** Progress of the replay up to the position of the store. */
  readonly report?: (progress: Progress) => void
  /** Commands after this one are left alone. */
  readonly last?: number
  /** Directory of the journal's archive, where it is not the one that the journal's directory names. */
  readonly archive?: string | undefined
}

/** What a projection reads: the journal, open for reading, and snapshots to begin from. */
export interface ProjectionSource {
  readonly journal: JournalStore
  readonly snapshots: SnapshotStore
  readonly io: Pick<Io, 'random' | 'seconds'>
  /** What the journal does not go back to. Asked when it is needed; throws when it cannot be read. */
  readonly archive?: () => Archive | null
}

/** Opens the journal of `dataDir` read-only and the store at `path` for writing, made if need be, and brings both to one position. */
export function openProjection(dataDir: string, path: string, options: ProjectionOptions): Projection {
  const journal = openJournal(dataDir, true)
  return createProjection({
    journal, io: realIo,
    // Pages that cannot be written are the matcher's to say. It may have a use for files that the snapshots have none for.
    snapshots: snapshotFiles(dataDir, receiptFiles(dataDir, { failed: () => undefined, keep: true })),
    archive: () => (options.archive === undefined ? archiveOf(dataDir, journal) : archiveFor(options.archive, journal)),
  }, path, options)
}

/** The same of any journal. */
export function createProjection(source: ProjectionSource, path: string, options: ProjectionOptions): Projection {
  checkEnd(source.journal)
  const { database, rebuilt } = openStore(source, path, options)
  const last = options.last ?? Infinity
  try {
    return project(source, database, rebuilt, last, options.report)
  } catch (error) {
    // What the projector goes on from is read here.
    if (!isDamaged(error, path)) {
      database.close()
      throw error
    }
    const anew = atGenesis(source)
    return project(source, makeAnew(database, path, (error as Error).message, options), anew, last)
  }
}

/** An empty store in the place of a damaged one. */
function makeAnew(database: HistoryDatabase | null, path: string, damage: string, options: ProjectionOptions): HistoryDatabase {
  options.damaged?.(damage)
  options.warn(`the history is made anew: ${damage}`)
  database?.close()
  removeStore(path)
  return openWriter(path)
}

/** The store and the engine at its position; a store that cannot be gone on with is replaced by an empty one. */
function openStore(
  source: ProjectionSource, path: string, options: ProjectionOptions,
): { database: HistoryDatabase; rebuilt: Rebuilt } {
  let database: HistoryDatabase | null = null
  try {
    database = openWriter(path)
    const rebuilt = resume(source, database, options)
    if (typeof rebuilt !== 'string') return { database, rebuilt }
    const anew = atGenesis(source)
    return { database: makeAnew(database, path, rebuilt, { ...options, damaged: () => undefined }), rebuilt: anew }
  } catch (error) {
    if (!isDamaged(error, path)) {
      database?.close()
      throw error
    }
    const anew = atGenesis(source)
    return { database: makeAnew(database, path, (error as Error).message, options), rebuilt: anew }
  }
}

/** The archive, where the journal does not go back to `place`. */
const archiveBefore = ({ journal, archive }: ProjectionSource, place: Place): Archive | null =>
  place.sequence < tailOf(journal).sequence ? (archive?.() ?? null) : null

const atGenesis = (source: ProjectionSource): Rebuilt =>
  fromGenesis(source.journal, undefined, source.io, archiveBefore(source, START), source.snapshots.receipts)

/** The engine at the position of the store, or why the store cannot be gone on with. */
function resume(source: ProjectionSource, database: HistoryDatabase, options: ProjectionOptions): Rebuilt | string {
  const { journal, snapshots, io } = source
  const position = readPosition(database)
  if (position === null) return isEmpty(database) ? atGenesis(source) : 'it has no position'
  if (!isReadable(position.format)) return `it has format ${position.format}, this version writes ${HISTORY_FORMAT}`
  if (position.sequence > endSequence(journal)) return `it has sequence ${position.sequence}, the journal ends before`
  // One that is being made anew from the archive may be older than every snapshot: then the engine begins at the genesis, too.
  const isOldest = snapshots.list().every((sequence) => sequence > position.sequence)
  const archive = archiveBefore(source, isOldest ? START : { sequence: position.sequence + 1, checksum: position.batch_checksum })
  const rebuilt = rebuild(journal, snapshots, position.sequence, options.warn, undefined, io, archive)
  if (position.genesis !== genesisDigest(rebuilt.genesis)) return 'it has another genesis than the journal'
  const { replayer } = rebuilt
  catchUp(journal, replayer, position.sequence, io.seconds, options.report ?? (() => undefined), archive)
  const { sequence, checksum } = replayer.place
  const same = sequence === position.sequence + 1 && checksum === position.batch_checksum && replayer.events === position.events_checksum
  return same ? rebuilt : `the journal has other commands up to ${position.sequence}`
}

const isEmpty = (database: HistoryDatabase): boolean => database.prepare('select 1 from head_page limit 1').get() === undefined

/** Batches to project, a step's at a time: of the archive first, which is read in one go, then of the journal. */
function createUpcoming(source: ProjectionSource, replayer: Replayer): () => Iterable<Batch> {
  const archive = archiveBefore(source, replayer.place)
  const early = archive === null ? null : readArchive(archive, replayer.place)
  return function* () {
    // Not yield*: the end of a step would be the end of the archive.
    for (let next = early?.next(); next !== undefined && next.done !== true; next = early!.next()) yield next.value
    yield* readBatches(source.journal, replayer.place)
  }
}

/** Says how far it is with the trades of a store of a format without settlement. */
const reportTrades = (io: ProjectionSource['io'], state: State, report: ProjectionOptions['report']): ((leaves: number) => void) => {
  const started = io.seconds()
  return (leaves) => {
    const rate = leaves / Math.max(0.001, io.seconds() - started)
    report?.({ records: leaves, rate, secondsLeft: (state.clock[CLOCK.FILLS]! - leaves) / rate })
  }
}

function project(
  source: ProjectionSource, database: HistoryDatabase, { replayer, genesis: text }: Rebuilt, last: number,
  report?: ProjectionOptions['report'],
): Projection {
  const { journal } = source
  const { state } = replayer
  const { genesis } = state
  let projector = createProjector(database, genesis, identitiesOf(state), reportTrades(source.io, state, report))
  const digest = genesisDigest(text)
  const begin = database.prepare('begin immediate')
  const stored = database.prepare<[], number>('select sequence from position').pluck()
  const commit = database.prepare('commit')
  let events = readPosition(database)?.events ?? 0
  replayer.sink = (views, count) => {
    projector.project(views, count)
    events += count
  }
  const keep = (): void => {
    const roots = projector.flush()
    writePosition(database, {
      format: HISTORY_FORMAT, genesis: digest, sequence: replayer.place.sequence - 1, time_ms: state.clock[CLOCK.TIME]!,
      batch_checksum: replayer.place.checksum, events_checksum: replayer.events, events, roots,
    })
  }
  // A fresh store has a position too, so that readers know it.
  if (readPosition(database) === null) keep()
  const upcoming = createUpcoming(source, replayer)
  let { buffers } = state
  const step = (commands: number): boolean => {
    const from = replayer.place.sequence
    let more = false
    for (const batch of upcoming()) {
      if (batch.sequence > last) break
      if (replayer.place.sequence === from) {
        begin.run()
        // An orphan of an exchange that was killed may still be at work for a moment. Two writers would ruin each other's pages.
        if (stored.get() !== from - 1) throw new Error('another process writes the history')
      }
      replayer.batch(batch)
      more = replayer.place.sequence - from >= commands || state.buffers !== buffers
      if (more) break
    }
    if (replayer.place.sequence > from) {
      keep()
      commit.run()
      checkpoint(database)
      // What is as long as the limits is opened anew when they are others.
      if (state.buffers !== buffers) [buffers, projector] = [state.buffers, createProjector(database, genesis, identitiesOf(state))]
    }
    return more
  }
  return {
    database, genesis, state, step,
    get projector() {
      return projector
    },
    get events() {
      return events
    },
    get sequence() {
      return replayer.place.sequence - 1
    },
    end: () => endSequence(journal),
    checkAnew: () => void atGenesis(source),
    close: async () => {
      database.close()
      await journal.close()
    },
  }
}
