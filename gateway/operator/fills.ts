/**
 * What fills outside the state, and when it will be full: the journal, the disk, open files, answers in flight, and the files of the data
 * directory. Pools of the state are read elsewhere and shown in the same family, for which alerts stand at 70 and 90 %.
 */
import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Growth is taken over this long, ms, from looks this far apart. */
const WINDOW_MS = 300_000
const LOOK_MS = 10_000

/** When something that grows will be full, from how it grew in the last minutes. */
export class Growth {
  readonly #seen: { readonly at: number; readonly used: number }[] = []

  /** Takes a look at `now`, ms of any clock that never goes back; more often than every ten seconds is not needed. */
  look(used: number, now: number): void {
    const seen = this.#seen
    if (seen.length > 0 && now - seen.at(-1)!.at < LOOK_MS) return
    seen.push({ at: now, used })
    while (now - seen[0]!.at > WINDOW_MS) seen.shift()
  }

  /** Seconds until `left` more is used; Infinity when it does not grow, or that is not known yet. */
  secondsFor(left: number): number {
    const [first, last] = [this.#seen[0], this.#seen.at(-1)]
    if (first === undefined || last === undefined || !(last.used > first.used)) return Infinity
    return Math.max(0, left) / ((last.used - first.used) / ((last.at - first.at) / 1000))
  }
}

/** Files in the data directory and its folders, with their sizes; those of receipts, of which there may be hundreds, are one. */
export function filesOf(dataDir: string): [file: string, bytes: number][] {
  const files = new Map<string, number>()
  for (const entry of attempt(() => readdirSync(dataDir, { recursive: true, withFileTypes: true }), [])) {
    const path = join(entry.parentPath, entry.name)
    const bytes = entry.isFile() ? attempt(() => statSync(path).size, -1) : -1
    const name = relative(dataDir, path).replace(PAGES, '$1*.pages')
    // One that went away meanwhile is left out.
    if (bytes >= 0) files.set(name, (files.get(name) ?? 0) + bytes)
  }
  return [...files].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, FILES_MAX)
}

/** A page file of receipts (core/lib/page_files.ts). */
const PAGES = /^(receipts[^0-9]+)\d+\.pages$/

/** Log files of SQLite and old snapshots come and go, and a disk may fail: no reason to know nothing else. */
function attempt<T>(ask: () => T, otherwise: T): T {
  try {
    return ask()
  } catch {
    return otherwise
  }
}

/** Series are bounded whatever somebody puts there. */
const FILES_MAX = 64
