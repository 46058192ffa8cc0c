/**
 * The matcher thread: open the journal, recover, say so, then run the sequencer until STOP. The only thread that writes the columns
 * and the journal.
 */
import { existsSync, readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { KNOBS } from '../config.ts'
import { InvariantBroken } from '../lib/assert.ts'
import { realIo } from '../lib/io.ts'
import { CLOCK } from '../engine/columns.ts'
import { GenesisError, parseGenesis } from '../engine/genesis.ts'
import { openJournal, type JournalDatabase } from '../journal/file.ts'
import { genesisSlots, GENESIS_MAX_BYTES, writeGenesis } from '../journal/genesis_batch.ts'
import { JournalFault, lastSequence } from '../journal/reader.ts'
import { catchUp, cutTail, rebuild, type Rebuilt } from '../journal/recover.ts'
import { createWriter } from '../journal/writer.ts'
import { attachBroadcast } from '../ring/broadcast.ts'
import { MATCHER, matcherCounters } from '../ring/counters.ts'
import { EXIT, type FromThread, type MatcherData } from '../threads.ts'
import { attachLanes } from './lanes.ts'
import { createSequencer, runSequencer, type Sequencer } from './loop.ts'
import { countState, createMeter } from './meter.ts'

const { config, shared } = workerData as MatcherData
const say = (message: FromThread): void => parentPort!.postMessage(message)
const io = realIo

class CommitFailed extends Error {
  override name = 'CommitFailed'
}

/** The genesis of a fresh directory is the configured file; an existing journal must have begun with the same document. */
function beginJournal(database: JournalDatabase): void {
  if (lastSequence(database) > 0) return
  if (!existsSync(config.genesis)) throw new GenesisError(`genesis: no such file: ${config.genesis}`)
  const text = readFileSync(config.genesis, 'utf8')
  parseGenesis(text)
  writeGenesis(createWriter(database, genesisSlots(GENESIS_MAX_BYTES), 0), text, io.now())
}

/**
 * A directory keeps the genesis it was made with. A file that the operator names must be the same document; the shipped one, which is
 * the default, may have changed since, and that is only said.
 */
function checkGenesis(recorded: string): void {
  const { genesis, dataDir } = config
  if (!existsSync(genesis) || isDocument(genesis, recorded)) return
  if (genesis !== KNOBS.genesis.fallback) {
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
    given = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new GenesisError(`genesis: ${path}: ${(error as Error).message}`)
  }
  return JSON.stringify(given) === JSON.stringify(JSON.parse(text))
}

/** Snapshot and journal tail; an invalid last batch is cut when the operator named it. */
function recover(database: JournalDatabase): Rebuilt {
  const warn = (message: string): void => say({ type: 'log', level: 'warn', message })
  const started = io.seconds()
  let rebuilt = rebuild(database, config.dataDir, Infinity, warn)
  checkGenesis(rebuilt.genesis)
  const report = (p: { records: number; rate: number; secondsLeft: number }): void => say({ type: 'progress', stage: 'recovery', ...p })
  let records = 0
  try {
    records = catchUp(database, rebuilt.replayer, Infinity, io.seconds, report)
  } catch (error) {
    if (!(error instanceof JournalFault)) throw error
    cutTail(database, error, config.cutTail)
    warn(`the invalid last batch at sequence ${error.fault.sequence} was cut as asked: what it held is lost`)
    rebuilt = rebuild(database, config.dataDir, Infinity, warn)
    records = catchUp(database, rebuilt.replayer, Infinity, io.seconds, report)
  }
  const counters = matcherCounters(shared.counters)
  counters[MATCHER.recovered_records] = records
  counters[MATCHER.recovery_seconds] = io.seconds() - started
  countState(counters, rebuilt.replayer.state)
  return rebuilt
}

function start(database: JournalDatabase, { replayer, genesis }: Rebuilt): Sequencer {
  const { state } = replayer
  const writer = createWriter(database, config.batchMax, replayer.place.checksum)
  const sequencer = createSequencer({
    state,
    io,
    writer: {
      ...writer,
      commit: (...batch) => {
        try {
          return writer.commit(...batch)
        } catch (error) {
          throw new CommitFailed((error as Error).message)
        }
      },
    },
    lanes: attachLanes(shared.lanes),
    events: attachBroadcast(shared.events as SharedArrayBuffer),
    gate: new Int32Array(shared.gate),
    wait: new Int32Array(shared.matcherWait),
    meter: createMeter(matcherCounters(shared.counters), io),
    maxSlots: config.batchMax,
    spin: config.spin,
    eventsChecksum: replayer.events,
  })
  say({ type: 'recovered', genesis, columns: state.buffers, sequence: state.clock[CLOCK.SEQUENCE]! })
  return sequencer
}

/** Which exit code an error means. */
function exitCode(error: unknown): number {
  if (error instanceof CommitFailed) return EXIT.DISK
  if (error instanceof GenesisError) return EXIT.CONFIG
  if (error instanceof InvariantBroken) return EXIT.INVARIANT
  const name = (error as Error).name
  return name === 'JournalFault' || name === 'JournalError' || name === 'Divergence' ? EXIT.JOURNAL : EXIT.INVARIANT
}

try {
  const database = openJournal(config.dataDir, false, config.journalGb)
  beginJournal(database)
  const sequencer = start(database, recover(database))
  runSequencer(sequencer)
  await database.close()
  say({ type: 'stopped', sequence: sequencer.state.clock[CLOCK.SEQUENCE]! })
} catch (error) {
  say({ type: 'fatal', code: exitCode(error), message: `${(error as Error).name}: ${(error as Error).message}` })
}
