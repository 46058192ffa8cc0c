/** What a running exchange may drop of its journal: what is archived by word of `journal/archived.json`, looked at now and then. */
import { HISTORY, MATCHER } from '../ring/counters.ts'
import { listSnapshots } from '../snapshot/file.ts'
import { droppable } from './retention.ts'

const LOOK_MS = 5_000

/**
 * Looks once. The word is not taken on trust: whatever it says, a batch stays that the oldest snapshot kept or the history does not have.
 * `matcher`: counters in which the sequence is told; `history`: those of the history.
 */
export function lookForArchive(dataDir: string, matcher: Float64Array, history: Float64Array): void {
  const oldest = listSnapshots(dataDir).at(-1) ?? 0
  matcher[MATCHER.journal_archived] = Math.min(droppable(dataDir), oldest + 1, history[HISTORY.sequence]! + 1)
}

/** Looks for as long as the process lives. What cannot be told changes nothing. */
export function watchArchive(dataDir: string, matcher: Float64Array, history: Float64Array): void {
  setInterval(() => {
    try {
      lookForArchive(dataDir, matcher, history)
    } catch {
      // The snapshots' directory cannot be listed now: nothing more may go until it can.
    }
  }, LOOK_MS).unref()
}
