/**
 * The matcher thread: open the journal, recover, say so, then run the sequencer until STOP. The only thread that writes the columns
 * and the journal.
 */
import { existsSync, readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { KNOBS } from '../config.ts'
import { InvariantBroken } from '../lib/assert.ts'
import { realIo } from '../lib/io.ts'
import { SystemFault, systemFault } from '../lib/system_fault.ts'
import { CLOCK, SCALAR } from '../state/columns.ts'
import { GenesisError, parseGenesis } from '../state/genesis.ts'
import { RULES } from '../state/rules.ts'
import { CommandType } from '../layout/command.ts'
import { JournalError, lmdbFault, openJournal, type JournalDatabase } from '../journal/file.ts'
import { genesisSlots, GENESIS_MAX_BYTES, writeGenesis } from '../journal/genesis_batch.ts'
import { SecondWriter } from '../journal/head_file.ts'
import { setAside, writeLoss } from '../recovery/loss.ts'
import { endSequence, JournalFault } from '../journal/reader.ts'
import { catchUp, cutTail, rebuild, type Rebuilt } from '../recovery/recover.ts'
import { JournalShort, shortfallOf, type Shortfall } from '../recovery/witnesses.ts'
import { createWriter, type JournalWriter } from '../journal/writer.ts'
import { Divergence } from '../recovery/replayer.ts'
import { attachBroadcast } from '../ring/broadcast.ts'
import { DISK, MATCHER, matcherCounters } from '../ring/counters.ts'
import { EXIT, type FromThread, type MatcherData } from '../threads.ts'
import { SequencerClock } from './clock.ts'
import { attachLanes } from './lanes.ts'
import { commitOwn, createSequencer, runSequencer, type Sequencer } from './loop.ts'
import { countState, createMeter } from './meter.ts'

const { config, shared } = workerData as MatcherData
const say = (message: FromThread): void => parentPort!.postMessage(message)
const io = realIo

class CommitFailed extends Error {
  override name = 'CommitFailed'
}

const warn = (message: string): void => say({ type: 'log', level: 'warn', message })

function readGenesisFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new GenesisError(systemFault(error, `--genesis ${path}`).message)
  }
}

/** The genesis of a fresh directory is the configured file; an existing journal must have begun with the same document. */
function beginJournal(database: JournalDatabase): void {
  if (endSequence(database) > 0) return
  const text = readGenesisFile(config.genesis)
  parseGenesis(text)
  const writer = createWriter(database, genesisSlots(GENESIS_MAX_BYTES))
  writeGenesis(writer, text, io.now())
  writer.close()
}

/**
 * A directory keeps the genesis it was made with. A file that the operator names must be the same document; the shipped one, which is
 * the default, may have changed since, and that is only said.
 */
function checkGenesis(recorded: string): void {
  const { genesis, dataDir } = config
  const named = genesis !== KNOBS.genesis.fallback
  if ((!named && !existsSync(genesis)) || isDocument(genesis, recorded)) return
  if (named) {
    throw new GenesisError(
      `genesis: ${dataDir} was made with another genesis than ${genesis}; name the one it was made with, or another directory`,
    )
  }
  say({ type: 'log', level: 'info', message: `the shipped genesis has changed; ${dataDir} keeps the one it was made with` })
}

/** Whether the file at `path` holds the same JSON document as `text`. */
function isDocument(path: string, text: string): boolean {
  let given: unknown
  try {
    given = JSON.parse(readGenesisFile(path))
  } catch (error) {
    throw error instanceof GenesisError ? error : new GenesisError(`genesis: ${path}: ${(error as Error).message}`)
  }
  return JSON.stringify(given) === JSON.stringify(JSON.parse(text))
}

/** What the journal lacks that others know of, if the operator accepts it; throws {@link JournalShort} if not. */
function acceptedLoss(database: JournalDatabase, accepted: number): Shortfall | null {
  const shortfall = shortfallOf(database, config.dataDir, warn)
  if (shortfall === null) return null
  if (shortfall.end === 0 || shortfall.end !== accepted) throw new JournalShort(shortfall)
  return shortfall
}

interface Recovered extends Rebuilt {
  /** What the operator accepts as lost. */
  readonly loss: Shortfall | null
}

/** Snapshot and journal tail; an invalid last batch is cut when the operator named it. */
function recover(database: JournalDatabase): Recovered {
  const started = io.seconds()
  let loss = acceptedLoss(database, config.acceptLoss)
  if (loss === null && config.acceptLoss > 0) warn(`nothing is missing: --accept-loss ${config.acceptLoss} has no effect, take it away`)
  beginJournal(database)
  let rebuilt = rebuild(database, config.dataDir, Infinity, warn)
  checkGenesis(rebuilt.genesis)
  const report = (p: { records: number; rate: number; secondsLeft: number }): void => say({ type: 'progress', stage: 'recovery', ...p })
  let records = 0
  try {
    records = catchUp(database, rebuilt.replayer, Infinity, io.seconds, report)
  } catch (error) {
    if (!(error instanceof JournalFault)) throw error
    const known = Math.max(loss?.known ?? 0, endSequence(database))
    const end = cutTail(database, error, config.cutTail)
    warn(`the invalid last batch at sequence ${error.fault.sequence} was cut as asked: what it held is lost`)
    const short = acceptedLoss(database, end)
    loss = { end, known: Math.max(known, short?.known ?? 0), witnesses: short?.witnesses ?? [] }
    rebuilt = rebuild(database, config.dataDir, Infinity, warn)
    records = catchUp(database, rebuilt.replayer, Infinity, io.seconds, report)
  }
  const counters = matcherCounters(shared.counters)
  counters[MATCHER.recovered_records] = records
  counters[MATCHER.recovery_seconds] = io.seconds() - started
  countState(counters, rebuilt.replayer.state)
  return { ...rebuilt, loss }
}

/** The journal, opened for writing where recovery ended; a loss that the operator accepts is written into it first. */
function openWriter(database: JournalDatabase, { replayer, loss }: Recovered): JournalWriter {
  const writer = createWriter(database, config.batchMax, replayer.place, { loss: loss !== null })
  if (loss === null) return writer
  const resume = writeLoss(database, writer, replayer, loss.known)
  const aside = setAside(loss, config.dataDir)
  warn(`the loss of sequences ${loss.end + 1} to ${loss.known} is accepted and written into the journal; it goes on at ${resume}`)
  for (const name of aside) warn(`it knows what is lost and was put aside: ${name}`)
  return writer
}

function start(database: JournalDatabase, recovered: Recovered): Sequencer {
  const { replayer, genesis } = recovered
  const { state } = replayer
  const writer = openWriter(database, recovered)
  const counters = matcherCounters(shared.counters)
  const bounds = { jumpMs: config.clockJumpMs, gapMs: config.clockGapSeconds * 1000 }
  const clock = new SequencerClock(io, state.clock[CLOCK.TIME]!, bounds, counters, (level, message, fields) =>
    say({ type: 'log', level, message, fields }),
  )
  const sequencer = createSequencer({
    state,
    clock,
    writer: {
      ...writer,
      commit: (...batch) => {
        try {
          return writer.commit(...batch)
        } catch (error) {
          throw error instanceof SecondWriter ? error : new CommitFailed((error as Error).message)
        }
      },
    },
    lanes: attachLanes(shared.lanes),
    events: attachBroadcast(shared.events as SharedArrayBuffer),
    gate: new Int32Array(shared.gate),
    wait: new Int32Array(shared.matcherWait),
    meter: createMeter(counters, io),
    warn,
    timersRest: () => counters[MATCHER.disk_level] === DISK.FULL,
    maxSlots: config.batchMax,
    spin: config.spin,
    eventsChecksum: replayer.events,
  })
  raiseRules(sequencer)
  say({ type: 'recovered', genesis, columns: state.buffers, sequence: state.clock[CLOCK.SEQUENCE]! })
  return sequencer
}

/** What was journaled by an older version keeps its meaning; from here on the rules of this one are in force. */
function raiseRules(sequencer: Sequencer): void {
  const { scalars } = sequencer.state
  if (scalars[SCALAR.RULES]! >= RULES) return
  say({ type: 'log', level: 'info', message: `from now on the rules ${RULES} are in force`, fields: { before: scalars[SCALAR.RULES]! } })
  commitOwn(sequencer, CommandType.SET_RULES, { rules: RULES })
}

/** Which exit code an error means. */
function exitCode(error: unknown): number {
  if (error instanceof CommitFailed) return EXIT.DISK
  if (error instanceof GenesisError) return EXIT.CONFIG
  if (error instanceof InvariantBroken) return EXIT.INVARIANT
  if (error instanceof SystemFault && error.disk) return EXIT.DISK
  const ofJournal = [JournalError, JournalFault, Divergence, SecondWriter, SystemFault]
  return ofJournal.some((kind) => error instanceof kind) ? EXIT.JOURNAL : EXIT.INVARIANT
}

try {
  const database = openJournal(config.dataDir, false, config.journalGb)
  const sequencer = start(database, recover(database))
  runSequencer(sequencer)
  await database.close()
  say({ type: 'stopped', sequence: sequencer.state.clock[CLOCK.SEQUENCE]! })
} catch (thrown) {
  const error = lmdbFault(thrown)
  say({ type: 'fatal', code: exitCode(error), message: `${(error as Error).name}: ${(error as Error).message}` })
}
