/**
 * Numbered pages of words in files: `receipts/<number>.pages` of the data directory, {@link PAGES} of them in each.
 *
 * Matcher and followers write the same pages to the same places, each when it has come so far; a page is a function of the journal, so
 * what is written over it is what stands there, and nobody needs a lock. Readers hold every page against its seal (state/receipt_pages.ts).
 * Files are made durable before a snapshot names them, and removed when the oldest snapshot has no use for them (snapshot/file.ts);
 * a process that is further behind keeps those open that it needs.
 *
 * A page that cannot be written stays in memory, and is tried again with the next one: the disk that is full is the journal's too, which
 * takes no commands meanwhile.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Pages of a file: 64 MiB of pages of 16 KiB. */
export const PAGES = 4096

export const receiptDirectory = (dataDir: string): string => join(dataDir, 'receipts')

export interface PageFiles {
  write(page: number, words: Int32Array, at: number): void
  read(page: number, words: Int32Array, at: number): void
  drop(before: number): void
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

/** Files that this process writes. `failed` hears of the first write that fails after one that did not. */
export function writePageFiles(directory: string, pageWords: number, failed: (error: Error) => void): PageFiles {
  const open = new Map<number, number>()
  const written = new Set<number>()
  const waiting = new Map<number, Uint8Array>()
  const fileFor = (page: number): number => {
    const file = Math.floor(page / PAGES)
    let fd = open.get(file)
    if (fd === undefined) {
      // Neither emptied nor made anew when it is there: other processes have written pages of it.
      fd = openFile(directory, file)
      open.set(file, fd)
    }
    return fd
  }
  const put = (page: number, bytes: Uint8Array): void => {
    const at = (page % PAGES) * pageWords * 4
    if (writeSync(fileFor(page), bytes, 0, bytes.length, at) !== bytes.length) throw new Error('a page was written in part: no space left')
    written.add(Math.floor(page / PAGES))
  }
  const putWaiting = (): void => {
    for (const [page, bytes] of waiting) {
      put(page, bytes)
      waiting.delete(page)
    }
  }
  return {
    write: (page, words, at) => {
      const bytes = bytesOf(words, at, pageWords)
      try {
        if (waiting.size > 0) putWaiting()
        put(page, bytes)
      } catch (error) {
        if (waiting.size === 0) failed(error as Error)
        waiting.set(page, bytes.slice())
      }
    },
    read: (page, words, at) => {
      const bytes = waiting.get(page)
      if (bytes !== undefined) bytesOf(words, at, pageWords).set(bytes)
      else readPage(fileFor(page), page, words, at, pageWords)
    },
    drop: (before) => {
      for (const [file, fd] of open) {
        if ((file + 1) * PAGES > before) continue
        closeSync(fd)
        open.delete(file)
        written.delete(file)
      }
    },
    sync: () => {
      putWaiting()
      for (const file of written) fsyncSync(open.get(file)!)
      if (written.size > 0) syncDirectory(directory)
      written.clear()
    },
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
