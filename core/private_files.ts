/**
 * Files of the exchange are its own: journal, snapshots, history, chain and keys are readable and writable for their owner only (0600, and
 * 0700 for directories), whatever the umask and the modes of the directory around them. What is made from here on, by this process and
 * by those it starts, is made so; what is there already is mended at the start.
 */
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700
const PERMISSIONS = 0o777
/** Everything for group and others is taken away. */
const PRIVATE_UMASK = 0o077

/** From now on. Main threads only: worker threads and child processes have what their process has. */
export function makeFilesPrivate(): void {
  process.umask(PRIVATE_UMASK)
}

/** What {@link mendModes} did. */
export interface Mended {
  /** Files and directories that others could read or change until now. */
  readonly mended: number
  /** Why one could not be mended; `null`: all could. */
  readonly failure: string | null
}

/** Takes a data directory, and all in it, away from everybody but its owner. Links are not followed. */
export function mendModes(dataDir: string): Mended {
  let mended = 0
  let failure: string | null = null
  const mend = (path: string): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined || !(stat.isFile() || stat.isDirectory())) return
    if ((stat.mode & PERMISSIONS & PRIVATE_UMASK) !== 0) {
      try {
        chmodSync(path, stat.isDirectory() ? DIRECTORY_MODE : FILE_MODE)
        mended++
      } catch (error) {
        failure = (error as Error).message
      }
    }
    if (stat.isDirectory()) for (const name of readdirSync(path)) mend(join(path, name))
  }
  mend(dataDir)
  return { mended, failure }
}
