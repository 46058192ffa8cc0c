/**
 * The matcher as its thread starts it (core/sequencer/matcher.ts), in this thread: recovery with its witnesses, what the operator accepts,
 * the rules of this version; with rings, a clock of its own and LMDB. support/journal.ts starts the sequencer alone.
 */
import { mkdirSync } from 'node:fs'
import { archiveOf } from '../../core/archive/retention.ts'
import { readConfig } from '../../core/config.ts'
import { journalPath, openJournal } from '../../core/journal/file.ts'
import type { JournalStore } from '../../core/journal/store.ts'
import { realIo, type Io } from '../../core/lib/io.ts'
import { sourcesOf, type WitnessSource } from '../../core/recovery/witnesses.ts'
import { createBroadcast, createReader } from '../../core/ring/broadcast.ts'
import { countersBytes, matcherCounters } from '../../core/ring/counters.ts'
import { attachQuestions, createQuestions } from '../../core/ring/questions.ts'
import { attachRing, createRing } from '../../core/ring/spsc.ts'
import { WAIT_WORDS } from '../../core/ring/wait.ts'
import { turn } from '../../core/sequencer/loop.ts'
import { startMatcher as start } from '../../core/sequencer/matcher.ts'
import { snapshotFiles } from '../../core/snapshot/file.ts'
import type { FromThread } from '../../core/threads.ts'
import { GENESIS, START_TIME, type Matcher } from './journal.ts'

export interface RealStartOptions {
  /** Flags of the exchange. */
  readonly flags?: readonly string[]
  readonly say?: (message: FromThread) => void
  /** Replaces the storage of the journal. */
  readonly journal?: (real: JournalStore) => JournalStore
  /** Who knows of the journal beside those of the directory. */
  readonly knows?: WitnessSource
}

const LANES = 4

/** Starts on a directory, with the genesis of support/journal.ts for a fresh one. Throws what the thread would have ended with. */
export function realStart(
  dataDir: string, { flags = [], say = () => undefined, journal = (real) => real, knows }: RealStartOptions = {},
): Matcher {
  mkdirSync(journalPath(dataDir), { recursive: true })
  const config = readConfig(['--data-dir', dataDir, ...flags], {})!
  const database = openJournal(dataDir, false, 1)
  const lanes = Array.from({ length: LANES }, () => ({
    commands: createRing(256).buffer, replies: createRing(4096).buffer, wait: new SharedArrayBuffer(WAIT_WORDS * 4),
    questions: createQuestions(),
  }))
  const events = createBroadcast(16_384)
  const counters = new SharedArrayBuffer(countersBytes(LANES))
  const time = { wall: START_TIME }
  const io: Io = { ...realIo, now: () => time.wall }
  const words = (count: number): SharedArrayBuffer => new SharedArrayBuffer(count * 4)
  try {
    const sequencer = start({
      config, io, say,
      shared: {
        lanes, counters, gate: words(16), matcherWait: words(WAIT_WORDS), ports: words(16), events: events.buffer as SharedArrayBuffer,
      },
      journal: journal(database),
      snapshots: snapshotFiles(dataDir),
      archive: () => archiveOf(dataDir, database),
      sources: () => [...sourcesOf(dataDir), ...(knows === undefined ? [] : [knows])],
      genesis: { read: () => GENESIS, check: () => undefined },
    })
    return {
      dataDir, database, sequencer,
      counters: matcherCounters(counters),
      gateways: lanes.map(({ commands, replies, wait, questions }) => ({
        commands: attachRing(commands), replies: attachRing(replies), wait: new Int32Array(wait),
        questions: attachQuestions(questions),
      })),
      events: createReader(events, 4096, 0),
      get clock() {
        return time.wall
      },
      set clock(wall) {
        time.wall = wall
      },
      turn: (timersDue = false) => turn(sequencer, io.now(), timersDue),
    }
  } catch (error) {
    void database.close()
    throw error
  }
}
