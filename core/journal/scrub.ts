/**
 * The scrub: reads every batch back against its checksum and the chain, and the end against the head record, without applying anything. A
 * start reads only what is behind its newest snapshot, so damage before that would stay unseen until a snapshot is lost too.
 *
 * It works in slices, each in a read transaction of its own, so that a slow pass does not keep LMDB from using its free pages again. Damage
 * is counted by place: reading goes on at the next batch that is whole. LMDB maps the file, so what the page cache holds is not
 * read from the disk again; a journal that is larger than memory is.
 */
import { endOf } from './end.ts'
import { HEADER_BYTES, keyOf, open } from './frame.ts'
import { HEAD_KEY } from './head.ts'
import { JournalError } from './pages.ts'
import { JournalFault, placeBehind, readBatches, START, type Place } from './reader.ts'
import type { JournalStore } from './store.ts'
import { BatchesArchived, tailOf } from './tail.ts'

/** Faults that are named; further ones are counted. */
const NAMED_MOST = 100

export class Scrub {
  readonly #database: JournalStore
  #place: Place = { ...START }
  /** Batches before it, those that were dropped included. */
  #before = 0
  /** Batches of this pass. */
  batches = 0
  /** Bytes of batches, of this pass. */
  bytes = 0
  /** Places that could not be read back in this pass, and the first of them in words. */
  damaged = 0
  readonly faults: string[] = []

  constructor(database: JournalStore) {
    this.#database = database
  }

  /** Sequence up to which it has read. */
  get position(): number {
    return this.#place.sequence - 1
  }

  /** Reads about `most` bytes; true when there is more. Throws nothing that damage could cause. */
  slice(most: number): boolean {
    const until = this.bytes + most
    try {
      for (const batch of readBatches(this.#database, this.#place)) {
        this.batches++
        this.#before++
        this.bytes += HEADER_BYTES + batch.records.length
        this.#place = placeBehind(batch)
        if (this.bytes >= until) return true
      }
      // In the transaction that found the end: LMDB's own count of entries must agree with the head record.
      const { batches } = endOf(this.#database)
      if (this.damaged === 0 && batches !== this.#before) this.#fault(`counted ${this.#before} batches, the head record says ${batches}`)
      return false
    } catch (error) {
      if (error instanceof BatchesArchived) return this.#toTail()
      if (!(error instanceof JournalFault || error instanceof JournalError)) throw error
      this.#fault(error.message)
      return this.#goOn(error instanceof JournalFault ? error.fault.sequence : this.#place.sequence)
    }
  }

  /** What it was about to read was dropped meanwhile, or before it began: it goes on where the journal begins now. */
  #toTail(): true {
    const { sequence, checksum, dropped } = tailOf(this.#database)
    this.#place = { sequence, checksum }
    this.#before = dropped
    return true
  }

  #fault(words: string): void {
    this.damaged++
    if (this.faults.length < NAMED_MOST) this.faults.push(words)
  }

  /** Moves behind the damage at `sequence`, to the next batch that is whole; false when there is none. */
  #goOn(sequence: number): boolean {
    try {
      for (const { key, value } of this.#database.getRange({ start: keyOf(sequence), snapshot: false })) {
        if (HEAD_KEY.equals(key)) return false
        const batch = open(value)
        if (typeof batch === 'string' || batch.sequence < sequence || batch.sequence === this.#place.sequence) continue
        this.#place = { sequence: batch.sequence, checksum: batch.previous }
        return true
      }
    } catch (error) {
      this.#fault((error as Error).message)
    }
    return false
  }
}
