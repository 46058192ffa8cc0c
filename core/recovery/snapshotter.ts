/**
 * What the snapshot follower does, without its process: replay the journal behind the exchange, a slice at a time, and
 * write a snapshot every so many commands. snapshot/follower.ts runs it on the real journal and files, a simulator on
 * its own. Before a snapshot, and once it has caught up, every invariant is checked (snapshot/audit.ts); a state that breaks one is not
 * written, and is looked at again after as many commands.
 */
import { checkEnd } from '../journal/end.ts'
import { readBatches } from '../journal/reader.ts'
import type { JournalStore } from '../journal/store.ts'
import type { Archive } from '../archive/archive.ts'
import { buildGuards } from '../margin/guards.ts'
import type { Io } from '../lib/io.ts'
import { Audit, type Audited } from '../snapshot/audit.ts'
import type { SnapshotStore } from '../snapshot/store.ts'
import { CLOCK } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { catchUp, rebuildNewest } from './recover.ts'

export interface SnapshotterParts {
  /** Open for reading. */
  readonly journal: JournalStore
  readonly snapshots: SnapshotStore
  /** What the journal does not go back to. Asked when no snapshot can be gone on from. */
  readonly archive?: () => Archive | null
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

/** Rebuilds the engine from the newest snapshot. Throws like recovery. */
export function createSnapshotter(
  { journal, snapshots, archive, io, every, keep, warn, beat, written, audited }: SnapshotterParts,
): Snapshotter {
  checkEnd(journal)
  const { replayer, genesis, archive: early } = rebuildNewest(journal, snapshots, warn, io, archive)
  const { state } = replayer
  // From here on they follow the commands, and the audit sees whether they do.
  buildGuards(state, Infinity)
  const sequence = (): number => state.clock[CLOCK.SEQUENCE]!
  if (early !== null) catchUp(journal, replayer, Infinity, io.seconds, () => beat(sequence()), early)
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
      let more = false
      const from = replayer.place.sequence
      const isDue = (): boolean => sequence() - tried >= every
      for (const batch of readBatches(journal, replayer.place)) {
        replayer.batch(batch)
        beat(sequence())
        more = isDue() || replayer.place.sequence - from >= commands
        if (more) break
      }
      // Both take long: the journal is let go of first.
      if (more && isDue()) snapshot()
      if (more) return true
      if (!looked) {
        journal.refresh()
        audit()
      }
      return false
    },
    finish: () => {
      if (sequence() > tried) snapshot()
      return newest
    },
  }
}
