/**
 * What the snapshot follower does, without its process: replay the journal behind the exchange, a slice at a time, and
 * write a snapshot every so many commands. snapshot/follower.ts runs it on the real journal and files, a simulator on
 * its own. Before a snapshot, and once it has caught up, every invariant is checked (snapshot/audit.ts); a state that breaks one is not
 * written, and is looked at again after as many commands.
 *
 * Where a batch of settlement is opened it stops, writes the balances as they are there (settlement/), and goes on: no later snapshot is
 * written before they are durable, so a start never misses any. A disk that takes none is tried again, and the follower waits there.
 */
import { checkEnd } from '../journal/end.ts'
import { readBatches } from '../journal/reader.ts'
import type { JournalStore } from '../journal/store.ts'
import { buildGuards } from '../margin/guards.ts'
import type { Io } from '../lib/io.ts'
import { Audit, type Audited } from '../snapshot/audit.ts'
import type { SettlementStore } from '../settlement/store.ts'
import type { SnapshotStore } from '../snapshot/store.ts'
import { CLOCK } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { readEverything, type Archive } from '../archive/archive.ts'
import { rebuild, rebuildNewest, type Rebuilt } from './recover.ts'
import { Settling } from './settling.ts'

export interface SnapshotterParts {
  /** Open for reading. */
  readonly journal: JournalStore
  readonly snapshots: SnapshotStore
  /** What the journal does not go back to. Asked when no snapshot can be gone on from. */
  readonly archive?: () => Archive | null
  /** Where balances of settlement go; absent: nowhere. */
  readonly settlement?: SettlementStore
  readonly io: Pick<Io, 'random' | 'seconds'>
  /** Commands between snapshots; snapshots kept. */
  readonly every: number
  readonly keep: number
  readonly warn: (text: string) => void
  /** Called again and again while it works. */
  readonly beat: (sequence: number) => void
  /** A snapshot was written. */
  readonly written: (sequence: number) => void
  /** An audit ended. */
  readonly audited: (audited: Audited) => void
}

export interface Snapshotter {
  readonly state: State
  /** Replays what the journal has, at most about `commands`; true when it has more. */
  follow(commands: number): boolean
  /** One more snapshot, unless the newest is of here; its sequence. */
  finish(): number
}

/**
 * At the newest snapshot; at an older one when balances are missing of a batch that was opened before it, as in a directory that lost them.
 * When none is as old as that they stay missing.
 */
function rebuildSettled(
  { journal, snapshots, archive, io, warn, settlement }: SnapshotterParts,
): Rebuilt & { archive: Archive | null } {
  const newest = rebuildNewest(journal, snapshots, warn, io, archive)
  const missing = settlement?.missing(newest.replayer.state) ?? null
  if (missing === null) return newest
  warn(`the balances of batch ${missing.batch} of settlement are missing: the journal is replayed from before it was opened`)
  try {
    return { ...rebuild(journal, snapshots, missing.after, warn, undefined, io), archive: null }
  } catch (error) {
    warn(`they cannot be made again: ${(error as Error).message}; npm run replay -- settlement can, from the archive`)
    return newest
  }
}

/** Rebuilds the engine from the newest snapshot. Throws like recovery. */
export function createSnapshotter(parts: SnapshotterParts): Snapshotter {
  const { journal, snapshots, io, every, keep, warn, beat, written, audited, settlement } = parts
  checkEnd(journal)
  const { replayer, genesis, archive: early } = rebuildSettled(parts)
  const { state } = replayer
  // From here on they follow the commands, and the audit sees whether they do.
  buildGuards(state, Infinity)
  const sequence = (): number => state.clock[CLOCK.SEQUENCE]!
  const settling = new Settling({ replayer, settlement, io, warn, between: () => beat(sequence()) })
  if (early !== null) {
    for (const batch of readEverything(early, journal, replayer.place)) {
      settling.take(batch)
      if (!settling.goOn()) throw new Error('the balances of settlement cannot be written: make room')
      beat(sequence())
    }
  }
  let newest = snapshots.list()[0] ?? 0
  /** Where a snapshot was written last, or was not because an invariant is broken. */
  let tried = newest
  let looked = false
  const auditor = new Audit(() => io.seconds())
  /** False: an invariant is broken. */
  const audit = (): boolean => {
    looked = true
    const done = auditor.run(state, () => beat(sequence()))
    if (done !== null) audited(done)
    return auditor.broken === null
  }
  const snapshot = (): void => {
    tried = sequence()
    if (!audit()) return
    newest = snapshots.write(state, genesis, replayer.place.checksum, replayer.events, () => beat(sequence())).sequence
    snapshots.prune(keep)
    written(newest)
  }
  return {
    state,
    follow: (commands) => {
      if (!settling.goOn()) return false
      let more = false
      const from = replayer.place.sequence
      const isDue = (): boolean => sequence() - tried >= every
      for (const batch of readBatches(journal, replayer.place)) {
        settling.take(batch)
        beat(sequence())
        more = settling.stands || isDue() || replayer.place.sequence - from >= commands
        if (more) break
      }
      // All of these take long: the journal is let go of first.
      if (!settling.goOn()) return false
      if (more && isDue()) snapshot()
      if (more) return true
      if (!looked) {
        journal.refresh()
        audit()
      }
      return false
    },
    finish: () => {
      // Within a batch of the journal there is no snapshot.
      if (!settling.stands && sequence() > tried) snapshot()
      return newest
    },
  }
}
