/**
 * `verify`: replays the whole journal from its genesis. Every batch checksum, every event checksum, every snapshot digest and the
 * invariants of the final state must hold, and nobody may know of more than the journal has: its head record and head file, snapshots,
 * history. Reads only; works beside a running exchange, up to what is durable when it begins.
 */
import { stateDigest } from '../snapshot/state_digest.ts'
import { CLOCK } from '../state/columns.ts'
import { checkInvariants } from '../state/invariants.ts'
import { JournalError, openJournal } from '../journal/file.ts'
import { archiveFor, readEverything } from '../archive/archive.ts'
import { realIo } from '../lib/io.ts'
import { endSequence } from '../journal/reader.ts'
import { fromGenesis } from '../recovery/recover.ts'
import { JournalShort, shortfallOf, sourcesOf } from '../recovery/witnesses.ts'
import { listSnapshots, OtherFormat, readSnapshotInfo } from '../snapshot/file.ts'

/** How the verdict on a snapshot of another version begins: nothing is wrong with it, and nobody uses it. */
const PASSED_OVER = 'passed over'

/** True when a snapshot's verdict is no fault. */
export const isGood = (verdict: string): boolean => verdict === 'ok' || verdict.startsWith(PASSED_OVER)

export interface Verified {
  commands: number
  digest: string
  eventsChecksum: number
  snapshots: { sequence: number; verdict: string }[]
  /** Witnesses of the journal's end that cannot be read, or are missing. */
  warnings: string[]
  /** Commands per second. */
  rate: number
}

/** Throws JournalFault, JournalError or JournalShort when the journal is damaged or shorter than it was. */
export function verify(
  dataDir: string, report: (done: number, end: number, rate: number) => void, archived?: string,
): Verified {
  const database = openJournal(dataDir, true)
  const archive = archiveFor(archived, database)
  const waiting = listSnapshots(dataDir).reverse()
  const snapshots: Verified['snapshots'] = []
  const warnings: string[] = []
  const shortfall = shortfallOf(database, sourcesOf(dataDir), (text) => warnings.push(text))
  if (shortfall !== null) throw new JournalShort(shortfall)
  const end = endSequence(database)
  const { replayer } = fromGenesis(database, undefined, realIo, archive)
  const { state } = replayer
  const started = performance.now()
  const rate = (): number => (state.clock[CLOCK.SEQUENCE]! / (performance.now() - started)) * 1000
  let reported = started
  for (const batch of readEverything(archive, database, replayer.place)) {
    if (batch.sequence > end) break
    replayer.batch(batch)
    const sequence = state.clock[CLOCK.SEQUENCE]!
    while (waiting.length > 0 && waiting[0]! <= sequence)
      snapshots.push(compare(dataDir, waiting.shift()!, sequence, () => stateDigest(state)))
    if (performance.now() - reported < 1000) continue
    reported = performance.now()
    report(sequence, end, rate())
  }
  const reached = state.clock[CLOCK.SEQUENCE]!
  if (reached < end) throw new JournalError(`replay ended at sequence ${reached}, the journal says that it ends at ${end}`)
  for (const sequence of waiting) snapshots.push({ sequence, verdict: 'is ahead of the journal' })
  checkInvariants(state)
  const commands = state.clock[CLOCK.SEQUENCE]!
  return { commands, digest: stateDigest(state), eventsChecksum: replayer.events, snapshots, warnings, rate: rate() }
}

function compare(dataDir: string, snapshot: number, sequence: number, digest: () => string): { sequence: number; verdict: string } {
  if (snapshot !== sequence) return { sequence: snapshot, verdict: 'does not stand at the end of a batch' }
  try {
    return { sequence: snapshot, verdict: readSnapshotInfo(dataDir, snapshot).digest === digest() ? 'ok' : 'DIGEST MISMATCH' }
  } catch (error) {
    if (error instanceof OtherFormat) return { sequence: snapshot, verdict: `${PASSED_OVER}: ${error.message}` }
    return { sequence: snapshot, verdict: `unreadable: ${(error as Error).message}` }
  }
}
