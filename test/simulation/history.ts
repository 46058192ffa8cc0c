/**
 * The history follower of the simulated machine: the real projection and the real store, over the simulated journal.
 * SQLite keeps its file in a directory of its own, because nobody can give it another disk; what a crash may do to it
 * is done from outside, by what SQLite promises in its mode (WAL, synchronous = normal): a kill takes back the
 * transaction under way, a power failure may take back whole transactions before it, down to any earlier one. It may be
 * gone, too.
 */
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HistoryFollower } from '../../core/history/follow.ts'
import { createProjection, type Projection } from '../../core/history/project/projection.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import { historyPath, openReader, removeStore, storedPlace } from '../../core/history/store/store.ts'
import type { JournalStore } from '../../core/journal/store.ts'
import type { Io } from '../../core/lib/io.ts'
import type { WitnessSource } from '../../core/recovery/witnesses.ts'
import type { SnapshotStore } from '../../core/snapshot/store.ts'
import { CLOCK } from '../../core/state/columns.ts'
import type { State } from '../../core/state/state.ts'
import { balanceDifference } from '../support/history.ts'
import { Violation } from './violation.ts'

/** A file system in memory, where a sync costs nothing, if the machine has one. */
const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export interface HistoryParts {
  readonly journal: () => JournalStore
  readonly snapshots: SnapshotStore
  readonly io: Io
}

export class SimulatedHistory {
  readonly #parts: HistoryParts
  readonly #directory = mkdtempSync(join(MEMORY, 'ringbook-simulated-'))
  readonly #path = historyPath(this.#directory)
  readonly #earlier = join(this.#directory, 'earlier.sqlite')
  #running: { readonly projection: Projection; readonly follower: HistoryFollower } | null = null

  constructor(parts: HistoryParts) {
    this.#parts = parts
  }

  /** What the matcher asks how far the journal went. */
  source(): WitnessSource {
    return { name: 'history.sqlite', path: this.#path, place: () => storedPlace(this.#directory) }
  }

  /** One turn of the follower, which is started if need be. */
  turn(warn: (text: string) => void): void {
    const { io } = this.#parts
    if (this.#running === null) {
      const projection = this.#open(this.#path, warn)
      const say = (): void => undefined
      const parts = { projection, path: this.#path, io, say, tierSeconds: 1, scrubPages: 2000 }
      this.#running = { projection, follower: new HistoryFollower(parts) }
    }
    this.#running.follower.turn(false)
  }

  #open(path: string, warn: (text: string) => void): Projection {
    const { journal, snapshots, io } = this.#parts
    return createProjection({ journal: journal(), snapshots, io }, path, { warn, damaged: warn })
  }

  /** The follower ends where it is. */
  kill(): void {
    this.#running?.follower.abandon()
    this.#running = null
  }

  /** What a later power failure may leave. */
  remember(): void {
    for (const suffix of ['', '-wal']) {
      rmSync(`${this.#earlier}${suffix}`, { force: true })
      if (existsSync(`${this.#path}${suffix}`)) copyFileSync(`${this.#path}${suffix}`, `${this.#earlier}${suffix}`)
    }
  }

  /** What was remembered knows of what is lost: it is not to come back. */
  forget(): void {
    this.kill()
    for (const suffix of ['', '-wal']) rmSync(`${this.#earlier}${suffix}`, { force: true })
  }

  /** Another name for its file, when it is put aside; whether it was there. */
  rename(from: string, to: string): boolean {
    if (!existsSync(from)) return false
    renameSync(from, to)
    return true
  }

  /** The power failed: the store is as it was when it was remembered, or not there. */
  fallBack(gone: boolean): void {
    this.kill()
    removeStore(this.#path)
    if (gone || !existsSync(this.#earlier)) return
    for (const suffix of ['', '-wal']) {
      if (existsSync(`${this.#earlier}${suffix}`)) copyFileSync(`${this.#earlier}${suffix}`, `${this.#path}${suffix}`)
    }
  }

  /** Holds the balances of the store against the engine's, when both are at one place; whether they were. */
  compare(state: State): boolean {
    if (this.#running === null || this.#running.projection.sequence !== state.clock[CLOCK.SEQUENCE]) return false
    const difference = balanceDifference(this.#running.projection.projector, state)
    if (difference !== null) throw new Violation(`the history: ${difference}`)
    return true
  }

  /** The store has the rows of one that was projected at once, however often it was interrupted. */
  verify(): void {
    const warn = (text: string): void => {
      throw new Violation(`the history: ${text}`)
    }
    const truth = join(this.#directory, 'truth.sqlite')
    for (const path of [this.#path, truth]) {
      this.kill()
      const projection = this.#open(path, warn)
      while (projection.step(1e6));
      projection.database.close()
    }
    const [one, other] = [openReader(this.#path), openReader(truth)]
    const { differences } = compareStores(one, other)
    one.close()
    other.close()
    if (differences.length > 0) throw new Violation(`the history has other rows than the journal says: ${differences[0]}`)
  }

  /** Removes what is on the real disk. */
  end(): void {
    this.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
