/**
 * Whether a copy of a data directory is whole: every batch of its journal, a replay of it, and every page of its history. Nothing of it is
 * taken from what the copying said.
 */
import { existsSync, rmSync } from 'node:fs'
import { CLOCK } from '../state/columns.ts'
import { createScrub } from '../history/scrub.ts'
import type { Genesis } from '../state/genesis.ts'
import { historyPath, openReader, readPosition } from '../history/store/store.ts'
import { lockFile, openJournal } from '../journal/file.ts'
import { readBatches } from '../journal/reader.ts'
import { tailOf } from '../journal/tail.ts'
import { catchUp, fromGenesis, rebuild } from '../recovery/recover.ts'
import { stateDigest } from '../snapshot/state_digest.ts'
import type { Replayer } from '../recovery/replayer.ts'
import { listSnapshots, snapshotFiles } from '../snapshot/file.ts'
import { BackupError, type Manifest } from './manifest.ts'

/** Pages of the history read back at once. */
const SLICE = 1024

export type Verified = Pick<Manifest, 'sequence' | 'sequencedTime' | 'batchChecksum' | 'eventsChecksum' | 'digest' | 'snapshot' | 'history'>

/** Throws when anything is wrong. `full`: replays from the genesis too, and both must come to the same state. */
export async function verifyCopy(directory: string, full: boolean, said: (text: string) => void): Promise<Verified> {
  const journal = openJournal(directory, true)
  try {
    let last = { sequence: 0, checksum: 0 }
    const tail = tailOf(journal)
    for (const { next, checksum } of readBatches(journal, tail)) last = { sequence: next - 1, checksum }
    said(`every batch read back, up to sequence ${last.sequence}`)
    const warn = (text: string): never => {
      throw new BackupError(text)
    }
    const replay = (replayer: Replayer): string => {
      const progress = ({ secondsLeft }: { secondsLeft: number }): void => said(`replaying, ${Math.ceil(secondsLeft)} s left`)
      catchUp(journal, replayer, Infinity, () => performance.now() / 1000, progress)
      if (replayer.place.sequence - 1 !== last.sequence) throw new BackupError(`the replay ended at ${replayer.place.sequence - 1}`)
      return stateDigest(replayer.state)
    }
    const { replayer } = rebuild(journal, snapshotFiles(directory), last.sequence, warn)
    const { genesis } = replayer.state
    const digest = replay(replayer)
    if (full && tail.dropped > 0) said(`what is before sequence ${tail.sequence} is archived: replayed from the snapshot alone`)
    else if (full && replay(fromGenesis(journal).replayer) !== digest) {
      throw new BackupError('the snapshot and the genesis come to other states')
    }
    return {
      sequence: last.sequence, sequencedTime: replayer.state.clock[CLOCK.TIME]!, batchChecksum: last.checksum,
      eventsChecksum: replayer.events, digest, snapshot: listSnapshots(directory)[0] ?? null,
      history: historyOf(directory, last.sequence, genesis, said),
    }
  } finally {
    await journal.close()
    rmSync(lockFile(directory), { force: true })
  }
}

/** Reads the history back; its sequence. */
function historyOf(directory: string, end: number, genesis: Genesis, said: (text: string) => void): number | null {
  const path = historyPath(directory)
  if (!existsSync(path)) return null
  const database = openReader(path)
  const { sequence } = readPosition(database)!
  database.close()
  if (sequence > end) throw new BackupError(`the history has sequence ${sequence}, the journal ends at ${end}`)
  const scrub = createScrub(path, genesis)
  while (scrub.passes === 0) scrub.step(SLICE)
  scrub.close()
  said(`every page of the history read back, up to sequence ${sequence}`)
  return sequence
}
