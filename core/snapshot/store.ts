/**
 * What the core asks of whoever keeps snapshots: SQLite files (file.ts), or the simulated disk (test/simulation/). A
 * snapshot is a lower bound of work saved, never the truth: one that does not load is passed over.
 */
import type { Io } from '../lib/io.ts'
import type { PageStore } from '../state/page_store.ts'
import type { State } from '../state/state.ts'

export interface SnapshotInfo {
  sequence: number
  timeMs: number
  batchChecksum: number
  eventsChecksum: number
  digest: string
  genesis: string
}

export interface SnapshotStore {
  /** Where an engine that is rebuilt has pages of receipts that its memory has no room for. Absent: in its memory all the same. */
  readonly receipts?: PageStore
  /** Sequences of the snapshots, newest first. */
  list(): number[]
  /**
   * A new state, verified; `io` draws the key of its indexes. Throws when anything about the snapshot does not verify.
   */
  load(sequence: number, io: Pick<Io, 'random'>): { state: State; info: SnapshotInfo }
  /**
   * Writes the state as it stands; it is in the list when it is durable as a whole. `between` is called in between,
   * many times.
   */
  write(state: State, genesis: string, batchChecksum: number, eventsChecksum: number, between?: () => void): SnapshotInfo
  /** Removes all but the newest `keep`, and what an interrupted writer left. */
  prune(keep: number): void
}
