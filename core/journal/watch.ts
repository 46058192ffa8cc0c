/**
 * The journal's file, looked at from outside LMDB, which never asks again: how much of it is used, and whether it is still the one that
 * this exchange writes. It is kept open, so that looking needs none of the last files that the process may open (core/descriptors.ts).
 *
 * Two things may be done to it under a running exchange, and what is right differs:
 *
 *   removed, renamed, replaced   every commit still succeeds, in a file that has no name any more and is gone with the last process that
 *                                has it open. So nothing more is recorded, and the process stays: while it lives the file can be copied out
 *                                of it, and the words say how.
 *   cut                          what it lost is gone at once, and the next look at a lost page is SIGBUS: the process ends.
 */
import { fstatSync, openSync, statSync } from 'node:fs'
import { dataFile, JournalError, usedIn } from './pages.ts'

export interface JournalWatch {
  /** Bytes that the journal uses. Throws when that cannot be told. */
  used(): number
  /** Bytes of the file behind them; throws likewise. */
  room(): number
  /** Why what is recorded now would be lost, in words that say what to do; `null`: the file is in its place. */
  gone(): string | null
}

/** How often it is looked whether the file was cut, ms. */
const LOOK_MS = 250

/** Watches the file that has the journal's name now, for as long as the process lives. `cut` hears that it lost its end. */
export function watchJournal(dataDir: string, cut: (words: string) => void): JournalWatch {
  const path = dataFile(dataDir)
  const fd = openSync(path, 'r')
  const own = fstatSync(fd, { bigint: true })
  const copy = `cp /proc/${process.pid}/fd/${fd} ${path}`
  const lookForEnd = (): void => {
    const words = shortness(fd)
    if (words !== null) cut(`${words}; restore it from a backup`)
  }
  setInterval(lookForEnd, LOOK_MS).unref()
  return {
    used: () => usedIn(fd),
    // What is used is read first: the file may grow meanwhile, and never gets shorter.
    room: () => -usedIn(fd) + fstatSync(fd).size,
    gone: () => {
      if (isAt(path, own)) return null
      return `${path} was removed or replaced while the exchange ran on it. Put it back, or save it now, because it is gone when this ` +
        `process ends: "${copy}"; then stop the exchange, see that "npm run journal -- scrub" finds it whole, and start again`
    },
  }
}

/** Whether the path still names this file. A disk that does not answer says nothing about it, and core/disk.ts says that. */
function isAt(path: string, { dev, ino }: { dev: bigint; ino: bigint }): boolean {
  try {
    const now = statSync(path, { bigint: true, throwIfNoEntry: false })
    return now !== undefined && now.dev === dev && now.ino === ino
  } catch {
    return true
  }
}

/** Why the file cannot be what was written; `null`: it is as long as its header says. */
function shortness(fd: number): string | null {
  try {
    const used = usedIn(fd)
    const { size } = fstatSync(fd)
    return size === 0 || size < used ? `the journal file was cut while the exchange ran: ${size} bytes, its header says ${used}` : null
  } catch (error) {
    // Any other error of the system says nothing about the file.
    return error instanceof JournalError ? `the journal file was cut or overwritten while the exchange ran: ${error.message}` : null
  }
}
