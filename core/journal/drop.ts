/**
 * Dropping batches that are archived, from the oldest on, inside the transactions of commits: each drops about as much as it writes.
 *
 * The pace is the point. LMDB gives the pages of one transaction to the next ones; with as much coming free as is used, its list of free
 * pages stays a few entries long and the file neither grows nor gets smaller. Thousands of batches dropped at once make that list long, and
 * commits then took up to 0.6 s to find neighbouring pages in it.
 *
 * A journal keeps its last batch, whatever is asked for.
 */
import { PAGE_BYTES } from './pages.ts'
import type { JournalStore } from './store.ts'
import { keyOf, open } from './frame.ts'
import { encodeTail, TAIL_BYTES, TAIL_KEY, tailOf, type Tail } from './tail.ts'

/** Batches one commit drops at most. */
const DROPS_MOST = 16

/** Values up to this size share a page with others, larger ones have pages of their own; and what LMDB adds to each. */
const INLINE_BYTES = 2_000
const NODE_BYTES = 24

/** About how many bytes of the file a value of `bytes` takes. */
const costOf = (bytes: number): number =>
  bytes <= INLINE_BYTES ? bytes + NODE_BYTES : Math.ceil((bytes + NODE_BYTES) / PAGE_BYTES) * PAGE_BYTES + NODE_BYTES

export interface Dropping {
  /** Batches that end before this sequence may go. */
  before: number
  /** Sequence of the first batch that is kept. */
  readonly first: number
  /** Inside a transaction that wrote a value of `bytes` behind sequence `last`: drops what is due. */
  inTransaction(bytes: number, last: number): void
}

/** Dropping from a journal that is open for writing. Nothing is dropped until `before` says so. */
export function createDropping(database: JournalStore): Dropping {
  let tail: Tail = tailOf(database)
  const record = Buffer.alloc(TAIL_BYTES)
  /** Bytes written since that nothing was dropped for. */
  let owed = 0
  const dropping: Dropping = {
    before: 0,
    get first() {
      return tail.sequence
    },
    inTransaction: (bytes, last) => {
      if (dropping.before <= tail.sequence) {
        owed = 0
        return
      }
      owed += costOf(bytes)
      const from = tail
      for (let dropped = 0; dropped < DROPS_MOST && owed > 0; dropped++) {
        const key = keyOf(tail.sequence)
        const value = database.get(key)
        const batch = value === undefined ? 'missing' : open(value)
        // What is not the batch that must be there is left for whoever reads it.
        if (typeof batch === 'string' || batch.next > dropping.before || batch.next > last) break
        database.removeSync(key)
        owed -= costOf(value!.length)
        tail = { sequence: batch.next, checksum: batch.checksum, dropped: tail.dropped + 1 }
      }
      if (tail !== from) database.putSync(TAIL_KEY, encodeTail(record, tail))
    },
  }
  return dropping
}
