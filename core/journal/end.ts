/** Where a journal ends, by what it says of itself: the head record and LMDB's own count must agree. */
import { headRecord, NO_HEAD, type Head } from './head.ts'
import { JournalError } from './pages.ts'
import { countBatches, entryCount } from './reader.ts'
import type { JournalStore } from './store.ts'
import { tailOf } from './tail.ts'

/**
 * The end of the journal according to itself: its head record, LMDB's count of entries, or every batch of a journal from before heads.
 * Throws {@link JournalError}.
 */
export function endOf(database: JournalStore): Head {
  if (database.headless) return countBatches(database)
  const head = headRecord(database)
  const entries = entryCount(database)
  if (head === null && entries === 0) return NO_HEAD
  if (head === null || typeof head === 'string') {
    throw new JournalError(`the head record of the journal cannot be read: ${head ?? 'it is missing'}; restore the journal from a backup`)
  }
  const { dropped } = tailOf(database)
  const counted = entries - (dropped > 0 ? 2 : 1) + dropped
  if (counted === head.batches) return head
  throw new JournalError(`LMDB counts ${counted} batches, its head record says ${head.batches}; restore the journal from a backup`)
}

/** For who goes on from a snapshot and never counts: throws {@link JournalError} when LMDB counts other batches than the head record. */
export function checkEnd(database: JournalStore): void {
  // Both of one transaction, whoever writes meanwhile.
  database.refresh()
  if (!database.headless) endOf(database)
}
