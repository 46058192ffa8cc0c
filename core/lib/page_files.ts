/**
 * Numbered pages of words in files: `receipts/<number>.pages` of the data directory, {@link PAGES} of them in each.
 *
 * Matcher and followers write the same pages to the same places, each when it has come so far; a page is a function of the journal, so
 * what is written over it is what stands there, and nobody needs a lock. Readers hold every page against its seal (state/receipt_pages.ts).
 * Files are made durable before a snapshot names them, and removed when the oldest snapshot has no use for them (snapshot/file.ts);
 * a process that is further behind keeps those open that it needs.
 *
 * A page that cannot be written stays in memory and is tried again (`retry`). Meanwhile the exchange takes no new orders (disk.ts), so few
 * come to it; {@link WAITING_MOST} of them, which only a start has with a long journal to replay, end the process.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { orSystemFault, SystemFault } from './system_fault.ts'

/** Pages of a file: 64 MiB of pages of 16 KiB. */
export const PAGES = 4096
/** Files that are open at once, of a writer that does not keep them. */
const OPEN_MOST = 8
/** Most pages that wait in memory: 256 MiB of pages of 16 KiB. */
export const WAITING_MOST = 16_384
/** Pages that one retry writes at most, and time between two, ms. */
const RETRIED = 64
const RETRY_MS = 100

export const receiptDirectory = (dataDir: string): string => join(dataDir, 'receipts')

export interface PageFiles {
  write(page: number, words: Int32Array, at: number): void
  read(page: number, words: Int32Array, at: number): void
  drop(before: number): void
  /** Tries to write what could not be, once in a while; pages that still wait. */
  retry(): number
  /** Makes durable what was written. Throws when it cannot be. */
  sync(): void
}

const nameOf = (file: number): string => `${String(file).padStart(8, '0')}.pages`
export const fileOfPage = (directory: string, page: number): string => join(directory, nameOf(Math.floor(page / PAGES)))

/** Numbers of the files of a directory. */
function filesIn(directory: string): number[] {
  try {
    return readdirSync(directory).filter((name) => /^[0-9]{8}\.pages$/.test(name)).map((name) => Number(name.slice(0, 8)))
  } catch {
    return []
  }
}

/** Bytes of all files of a directory. */
export const pageFilesBytes = (directory: string): number =>
  filesIn(directory).reduce((sum, file) => sum + (statSync(join(directory, nameOf(file)), { throwIfNoEntry: false })?.size ?? 0), 0)

/** Removes the files all of whose pages are before this one. */
export function removePages(directory: string, before: number): void {
  for (const file of filesIn(directory)) if ((file + 1) * PAGES <= before) rmSync(join(directory, nameOf(file)), { force: true })
}

const bytesOf = (words: Int32Array, at: number, pageWords: number): Uint8Array =>
  new Uint8Array(words.buffer, words.byteOffset + at * 4, pageWords * 4)

/** How a process writes page files. */
export interface WriterOptions {
  /** Hears of the first write that fails after one that did not. */
  readonly failed: (error: Error) => void
  /** It may be behind those who remove files, and keeps open what it has a use for. */
  readonly keep?: boolean
  /** Most pages that wait; one more throws SystemFault. */
  readonly waitingMost?: number
}

/** Files that this process writes. */
export function writePageFiles(
  directory: string, pageWords: number, { failed, keep = false, waitingMost = WAITING_MOST }: WriterOptions,
): PageFiles {
  const open = new OpenFiles(directory, keep ? Infinity : OPEN_MOST)
  const written = new Set<number>()
  const waiting = new Map<number, Uint8Array>()
  let triedAt = -Infinity
  const put = (page: number, bytes: Uint8Array): void => {
    const file = Math.floor(page / PAGES)
    const at = (page % PAGES) * pageWords * 4
    if (writeSync(open.of(file), bytes, 0, bytes.length, at) !== bytes.length) throw new Error('a page was written in part: no space left')
    written.add(file)
  }
  const putWaiting = (most: number): void => {
    for (const [page, bytes] of waiting) {
      if (most-- <= 0) return
      put(page, bytes)
      waiting.delete(page)
    }
  }
  return {
    write: (page, words, at) => {
      const bytes = bytesOf(words, at, pageWords)
      try {
        putWaiting(RETRIED)
        put(page, bytes)
        // What waited is older and may be this page as it was before a tail of the journal was cut.
        waiting.delete(page)
      } catch (error) {
        if (waiting.size === 0) failed(error as Error)
        waiting.set(page, bytes.slice())
        if (waiting.size <= waitingMost) return
        throw new SystemFault(`${directory} cannot be written: ${(error as Error).message}; make room`, true)
      }
    },
    read: (page, words, at) => {
      const bytes = waiting.get(page)
      if (bytes !== undefined) bytesOf(words, at, pageWords).set(bytes)
      else orSystemFault(directory, () => readPage(open.of(Math.floor(page / PAGES)), page, words, at, pageWords))
    },
    drop: (before) => {
      open.drop(before)
      for (const file of written) if ((file + 1) * PAGES <= before) written.delete(file)
      for (const page of waiting.keys()) if (page < before) waiting.delete(page)
    },
    retry: () => {
      if (waiting.size === 0 || performance.now() - triedAt < RETRY_MS) return waiting.size
      triedAt = performance.now()
      try {
        putWaiting(RETRIED)
      } catch {
        // It was said when the first of them could not be written.
      }
      return waiting.size
    },
    sync: () => {
      putWaiting(Infinity)
      for (const file of written) fsyncSync(open.of(file))
      if (written.size > 0) syncDirectory(directory)
      written.clear()
    },
  }
}

/** The files that are open, the one that was used longest ago first. */
class OpenFiles {
  readonly #open = new Map<number, number>()
  readonly #directory: string
  readonly #most: number

  constructor(directory: string, most: number) {
    this.#directory = directory
    this.#most = most
  }

  /** The descriptor of a file, made when there is none. Throws what the system throws. */
  of(file: number): number {
    const known = this.#open.get(file)
    if (known !== undefined) {
      this.#open.delete(file)
      this.#open.set(file, known)
      return known
    }
    // Neither emptied nor made anew when it is there: other processes have written pages of it.
    const fd = openFile(this.#directory, file)
    this.#open.set(file, fd)
    const [oldest] = this.#open.keys()
    if (this.#open.size > this.#most) this.#close(oldest!)
    return fd
  }

  /** Closes those all of whose pages are before this one. */
  drop(before: number): void {
    for (const file of this.#open.keys()) if ((file + 1) * PAGES <= before) this.#close(file)
  }

  #close(file: number): void {
    closeSync(this.#open.get(file)!)
    this.#open.delete(file)
  }
}

function openFile(directory: string, file: number): number {
  const path = join(directory, nameOf(file))
  try {
    return openSync(path, 'r+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    try {
      return openSync(path, 'wx+', 0o600)
    } catch {
      // Another process was quicker.
      return openSync(path, 'r+')
    }
  }
}

function readPage(fd: number, page: number, words: Int32Array, at: number, pageWords: number): void {
  const bytes = bytesOf(words, at, pageWords)
  const read = readSync(fd, bytes, 0, bytes.length, (page % PAGES) * pageWords * 4)
  bytes.fill(0, read)
}

function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Files that others write. `keep`: they are kept open until they are dropped, because others may remove them. */
export function readPageFiles(directory: string, pageWords: number, keep: boolean): PageFiles {
  const open = new Map<number, number>()
  return {
    write: () => undefined,
    retry: () => 0,
    sync: () => undefined,
    read: (page, words, at) => {
      const file = Math.floor(page / PAGES)
      let fd = open.get(file) ?? -1
      try {
        if (fd < 0) fd = openSync(join(directory, nameOf(file)), 'r')
        readPage(fd, page, words, at, pageWords)
      } catch {
        words.fill(0, at, at + pageWords)
      }
      if (keep && fd >= 0) open.set(file, fd)
      else if (fd >= 0) closeSync(fd)
    },
    drop: (before) => {
      for (const [file, fd] of open) {
        if ((file + 1) * PAGES > before) continue
        closeSync(fd)
        open.delete(file)
      }
    },
  }
}
