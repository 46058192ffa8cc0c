/**
 * The data directory: journal/, snapshots/, history.sqlite, page_token.key, lock.sqlite. One process at a time may own it.
 *
 * The lock is an exclusive SQLite transaction held for the life of the process: the operating system releases it however the process
 * ends, so there is no stale lock file to remove and no process number to mistake.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

export class DirectoryLocked extends Error {
  override name = 'DirectoryLocked'
}

export interface DirectoryLock {
  release(): void
}

/** Creates the directory if need be and takes it; throws {@link DirectoryLocked} when another process has it. */
export function lockDirectory(dataDir: string): DirectoryLock {
  mkdirSync(join(dataDir, 'journal'), { recursive: true })
  mkdirSync(join(dataDir, 'snapshots'), { recursive: true })
  const database = new Database(join(dataDir, 'lock.sqlite'), { timeout: 0 })
  try {
    database.exec('begin exclusive')
  } catch (error) {
    database.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new DirectoryLocked(`another process uses ${dataDir}`)
    throw error
  }
  return { release: () => database.close() }
}
