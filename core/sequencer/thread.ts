/**
 * The matcher thread: the matcher (matcher.ts) on the real clock, LMDB and the snapshots of the data directory, until
 * STOP. The only thread that writes the columns and the journal.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { archiveOf } from '../archive/retention.ts'
import { realIo } from '../lib/io.ts'
import { CLOCK } from '../state/columns.ts'
import { lmdbFault, openJournal } from '../journal/file.ts'
import { sourcesOf } from '../recovery/witnesses.ts'
import { receiptFiles, snapshotFiles } from '../snapshot/file.ts'
import type { FromThread, MatcherData } from '../threads.ts'
import { genesisFile } from './genesis_file.ts'
import { runSequencer } from './loop.ts'
import { exitCode, startMatcher } from './matcher.ts'

const { config, shared } = workerData as MatcherData
const { dataDir } = config
const say = (message: FromThread): void => parentPort!.postMessage(message)

const receipts = receiptFiles(dataDir, {
  failed: ({ message }) =>
    say({ type: 'log', level: 'warn', message: `receipts stay in memory, because their pages cannot be written: ${message}` }),
})

try {
  const journal = openJournal(dataDir, false, config.journalGb)
  const sequencer = startMatcher({
    config, shared, io: realIo, journal, say,
    snapshots: snapshotFiles(dataDir, receipts),
    archive: () => archiveOf(dataDir, journal),
    sources: () => sourcesOf(dataDir),
    genesis: genesisFile(config.genesis, dataDir),
  })
  runSequencer(sequencer)
  await journal.close()
  say({ type: 'stopped', sequence: sequencer.state.clock[CLOCK.SEQUENCE]! })
} catch (thrown) {
  const error = lmdbFault(thrown)
  say({ type: 'fatal', code: exitCode(error), message: `${(error as Error).name}: ${(error as Error).message}` })
  // The thread ends with the process: LMDB's clean-up after a failed commit may abort, and before the main thread has announced the exit
  // code to the supervisor that would become the code of a damaged journal.
  parentPort!.ref()
}
