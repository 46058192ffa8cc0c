/**
 * `export`: a journal for people, as lines of commands on standard output or as files of rows, one for each kind.
 *
 * A journal of a day is tens of gigabytes: it goes through once, and what is in memory is the state of the engine, a batch, and the rows of
 * Parquet that wait for their group, {@link HELD_MAX} values at most.
 */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { archiveFor, readEverything } from '../archive/archive.ts'
import { openJournal } from '../journal/file.ts'
import { endSequence } from '../journal/reader.ts'
import { realIo } from '../lib/io.ts'
import { fromGenesis, rebuild } from '../recovery/recover.ts'
import type { Listener } from '../recovery/replayer.ts'
import { listSnapshots, readSnapshotInfo, snapshotFiles } from '../snapshot/file.ts'
import { CLOCK } from '../state/columns.ts'
import type { Kind } from './kinds.ts'
import { KINDS } from './kinds.ts'
import { Names } from './names.ts'
import { Output, type CheckRoom } from './output.ts'
import { parquetFile } from './parquet.ts'
import { Telling, type About } from './telling.ts'
import { csvFile, ndjsonFile, type RowFile } from './text_files.ts'

export const FORMATS = ['ndjson', 'csv', 'parquet'] as const
export type Format = (typeof FORMATS)[number]

export interface ExportCall {
  readonly dataDir: string
  readonly archive?: string | undefined
  /** Sequences, both included. */
  readonly from: number
  readonly to: number
  /** Unix ms: not before the one, before the other. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly format: Format
  /** None: all of them; to standard output, lines of commands instead of rows. */
  readonly kinds: readonly Kind[]
  /** A directory that is empty or not there; none: standard output. */
  readonly out?: string | undefined
  readonly about: About
}

export interface Exported {
  /** Commands looked at, and rows or lines that were written, by kind. */
  readonly commands: number
  readonly events: number
  readonly rows: Readonly<Record<string, number>>
}

/** Hears how far it is, about every two seconds. `done` and `last` are sequences. */
export type Progress = (done: number, last: number, rate: number) => void

/** Called after every batch with the sequence that is done, reports the progress from `begin` to `last`. */
export function reporter(progress: Progress, begin: number, last: number): (done: number) => void {
  const started = performance.now()
  let reported = started
  return (done) => {
    const now = performance.now()
    if (now - reported < REPORT_MS) return
    reported = now
    progress(done, last, (done - begin) / ((now - started) / 1000))
  }
}

/** Values of all kinds that wait for their row groups; the fullest kind is written when there are more. About 80 bytes each. */
export const HELD_MAX = 1 << 20
const REPORT_MS = 2000
/** Free disk that an export leaves alone, bytes: the exchange refuses new orders below 256 MiB. */
export const DISK_LEFT = 1 << 29
/** Free disk is asked for each time that so much was written. */
const LOOK_BYTES = 1 << 24

/** Throws when less than `least` bytes are free where `directory` is. */
export function roomIn(directory: string, free: (path: string) => number = realIo.freeBytes, least = DISK_LEFT): CheckRoom {
  let written = LOOK_BYTES
  return (bytes) => {
    written += bytes
    if (written < LOOK_BYTES) return
    written = 0
    if (free(directory) >= least) return
    const left = `less than ${least >> 20} MiB are free on the disk of ${directory}`
    throw new Error(`${left}: stopped, so that the exchange keeps them. Make room, or name a directory on another disk`)
  }
}

/** Files of rows, each opened at the beginning: whoever asked for a kind finds its file, if with no rows. */
class Files {
  readonly #files: RowFile[] = []
  readonly rows: Record<string, number> = {}
  #held = 0
  readonly #heldMax: number
  mostHeld = 0

  constructor({ format, kinds, out }: ExportCall, heldMax: number) {
    this.#heldMax = heldMax
    const checkRoom = out === undefined ? undefined : roomIn(out)
    if (out !== undefined) openDirectory(out)
    for (const kind of kinds) {
      const path = (number: number): string | null =>
        out === undefined ? null : join(out, `${kind.name}${number === 1 ? '' : `.${number}`}.${format}`)
      const open = (number = 1): Output => new Output(path(number), checkRoom)
      this.#files[kind.index] = format === 'parquet' ? parquetFile(open, kind.fields)
        : format === 'csv' ? csvFile(open(), kind.fields) : ndjsonFile(open(), kind.fields)
      this.rows[kind.name] = 0
    }
  }

  row(kind: Kind, cells: Parameters<RowFile['row']>[0]): void {
    const file = this.#files[kind.index]!
    const before = file.held
    file.row(cells)
    this.rows[kind.name]!++
    this.#held += file.held - before
    this.mostHeld = Math.max(this.mostHeld, this.#held)
    if (this.#held > this.#heldMax) this.#flushFullest()
  }

  #flushFullest(): void {
    const fullest = this.#files.reduce((most, file) => (file.held > most.held ? file : most))
    this.#held -= fullest.held
    fullest.flush()
  }

  close(): void {
    for (const file of this.#files) file?.close()
  }
}

function openDirectory(out: string): void {
  mkdirSync(out, { recursive: true, mode: 0o700 })
  if (readdirSync(out).length > 0) throw new RangeError(`--out ${out}: the directory is not empty. Name a new one, or remove what is in it`)
}

/** Does it; what was written. `heldMax`: for tests. Throws RangeError for a call that cannot be met. */
export function exportJournal(
  call: ExportCall, progress: Progress, warn: (text: string) => void, heldMax = HELD_MAX,
): Exported & { mostHeld: number } {
  const { from, to, since = -Infinity, until = Infinity } = call
  let listener: Listener = () => undefined
  let [events, commands, told] = [0, 0, 0]
  const { replayer, batches, end } = source(call, warn, (sequence, time, command, records, count, layout) => {
    if (sequence < from || sequence > to || time < since || time >= until) return
    events += count
    // One with many events is heard in several calls.
    if (sequence !== told) commands++
    told = sequence
    listener(sequence, time, command, records, count, layout)
  })
  if (from > end) throw new RangeError(`--from ${from}: the journal ends at sequence ${end}`)
  const telling = new Telling(new Names(replayer.state), call.about)
  const { state } = replayer
  if (call.about.pair !== undefined && !hasPair(telling.names, call.about.pair)) {
    warn(`no pair ${call.about.pair} is listed at sequence ${state.clock[CLOCK.SEQUENCE]!}; listed are ${pairList(telling.names)}`)
  }
  const isLines = call.kinds.length === 0
  const files = new Files(call, heldMax)
  const output = new Output(null)
  let lines = 0
  if (isLines) {
    listener = telling.lines((line) => {
      lines++
      output.write(`${JSON.stringify(line)}\n`)
    })
  } else {
    const wanted = KINDS.map((kind) => call.kinds.includes(kind))
    listener = telling.rows(wanted, (kind, cells) => files.row(kind, cells))
  }
  const last = Math.min(to, end)
  const report = reporter(progress, replayer.place.sequence, last)
  for (const batch of batches) {
    if (batch.sequence > last || batch.time >= until) break
    replayer.batch(batch)
    report(state.clock[CLOCK.SEQUENCE]!)
  }
  output.close()
  files.close()
  if (call.about.pair !== undefined && !hasPair(telling.names, call.about.pair)) {
    throw new RangeError(`--pair ${call.about.pair}: there is no such pair up to sequence ${last}. Pairs: ${pairList(telling.names)}`)
  }
  return { commands, events, rows: isLines ? { commands: lines } : files.rows, mostHeld: files.mostHeld }
}

const hasPair = ({ state }: Names, symbol: string): boolean => state.genesis.pairs.some((pair) => pair.symbol === symbol)
export const pairList = ({ state }: Names): string => state.genesis.pairs.map(({ symbol }) => symbol).join(', ')

/** Sequence that a snapshot may have to go on from: what is asked for is all behind it. */
function startOf({ dataDir, from, since }: ExportCall): number {
  const before = (sequence: number): boolean => {
    try {
      return readSnapshotInfo(dataDir, sequence).timeMs < since!
    } catch {
      // One of another version, or one that does not verify, is no place to begin at either.
      return false
    }
  }
  const found = since === undefined ? undefined : listSnapshots(dataDir).find(before)
  return Math.max(from - 1, found ?? 0)
}

/** Stands at the genesis, or at a snapshot before all that is asked for. As far as the journal goes now: it may be written meanwhile. */
function source(call: ExportCall, warn: (text: string) => void, listener: Listener): {
  replayer: ReturnType<typeof fromGenesis>['replayer']
  batches: ReturnType<typeof readEverything>
  end: number
} {
  const { dataDir } = call
  const database = openJournal(dataDir, true)
  const archive = archiveFor(call.archive, database)
  const start = startOf(call)
  const { replayer } = start > 1
    ? rebuild(database, snapshotFiles(dataDir), start, warn, listener, realIo, archive)
    : fromGenesis(database, listener, realIo, archive)
  return { replayer, batches: readEverything(archive, database, replayer.place), end: endSequence(database) }
}
