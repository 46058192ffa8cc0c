/** What the exchange knows of its backups: the file that the last one left in its data directory, looked at now and then. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BACKUP } from '../ring/counters.ts'

/** Written by backup.ts: `time` RFC 3339, `sequence` of the last command in it. */
export const LAST_BACKUP = 'last_backup.json'
const LOOK_MS = 10_000

/** Keeps the counters of the last backup; a file that is not there, or not whole, changes nothing. */
export function watchBackups(dataDir: string, counters: Float64Array): void {
  const look = (): void => {
    try {
      const { time, sequence } = JSON.parse(readFileSync(join(dataDir, LAST_BACKUP), 'utf8')) as { time: string; sequence: number }
      counters[BACKUP.time_ms] = Date.parse(time)
      counters[BACKUP.sequence] = sequence
    } catch {
      // There was no backup yet.
    }
  }
  look()
  setInterval(look, LOOK_MS).unref()
}
