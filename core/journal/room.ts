/**
 * Room for the journal to grow into: blocks of zeros written behind the end of its file before they are needed.
 *
 * A commit that makes the file longer must also make the file system's own records durable, which costs a third of its time; one that
 * overwrites blocks does not. LMDB does not mind a longer file: its meta pages say what it uses.
 *
 * The zeros are appended (O_APPEND): the file system puts them behind whatever is the end at that moment, under the same lock that the
 * journal's writes take, so they can never overwrite a page, however fast the journal grows meanwhile. They go in small durable pieces,
 * because a commit waits for every dirty page of its file. Failing to make room is no error: the journal then grows as it did, and it is
 * tried again every second.
 *
 * Who looks and who makes room keep the file open, so that neither needs one of the last files that the process may open
 * (core/descriptors.ts): without them the room could not be told, which is taken for a full disk.
 */
import { constants, existsSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { dataFile, JournalError, PAGE_BYTES, usedIn } from './pages.ts'
import { headPath } from './head_file.ts'

/** Room kept: as much as is used, between these. A fresh journal gets little, a large one enough for seconds of full load. */
const LEAST = 4 << 20
const MOST = 64 << 20
/** With less than this, and nothing free on the disk, nothing is recorded any more (core/disk.ts). */
export const DISK_FLOOR = LEAST / 2
const PIECE = Buffer.alloc(256 << 10)
/** Appending to the file that is there: one that was removed is not made anew, which would hide that it is gone. */
const APPEND = constants.O_RDWR | constants.O_APPEND
/** How often the room is looked at, ms. */
const LOOK_MS = 100
/** And after a failure, ms. */
const RETRY_MS = 1_000

/**
 * Appends zeros until the room is enough, or the file has `limit` bytes; returns the bytes appended. Throws {@link JournalError} for a file
 * that was cut: zeros where pages are missing would hide it, and pass for pages.
 */
export async function makeRoom(dataDir: string, most = MOST, limit = Infinity): Promise<number> {
  const file = await open(dataFile(dataDir), APPEND)
  try {
    return await append(file, most, limit)
  } finally {
    await file.close()
  }
}

async function append(file: FileHandle, most: number, limit: number): Promise<number> {
  let appended = 0
  const used = usedIn(file.fd)
  const bound = Math.floor(limit / PAGE_BYTES) * PAGE_BYTES
  const wanted = Math.min(bound, used + Math.min(most, Math.max(LEAST, used)))
  for (let { size } = await file.stat(); size < wanted; ({ size } = await file.stat())) {
    if (size < used + appended) throw new JournalError(`the journal file was cut: ${size} bytes, its header says ${used}`)
    const { bytesWritten } = await file.write(PIECE, 0, Math.min(PIECE.length, bound - size))
    await file.datasync()
    appended += bytesWritten
  }
  return appended
}

/** Does its work with a file that stays open from the first time on. */
function keptOpen(path: string, flags: string | number): (work: (file: FileHandle) => Promise<unknown>) => Promise<unknown> {
  let file: FileHandle | null = null
  return async (work) => work((file ??= await open(path, flags)))
}

/** Told the first failure, and `null` when it works again. */
type Said = (failure: Error | null) => void

/** Does `task` again and again, for as long as the process lives, this many ms after it was done. */
function keep(task: () => Promise<unknown>, everyMs: number, said: Said): void {
  let failed = false
  const turn = (): void => {
    task().then(
      () => {
        if (failed) said(null)
        failed = false
        setTimeout(turn, everyMs).unref()
      },
      (error: Error) => {
        if (!failed) said(error)
        failed = true
        setTimeout(turn, RETRY_MS).unref()
      },
    )
  }
  turn()
}

/** Keeps room, within `limit` bytes of file, while the process lives. */
export function keepRoom(dataDir: string, limit: number, said: Said): void {
  const withFile = keptOpen(dataFile(dataDir), APPEND)
  keep(() => withFile((file) => append(file, MOST, limit)), LOOK_MS, said)
}

/** How often the head file is made durable, ms: after a power failure it is at most this much behind, and the commit then under way. */
const HEAD_MS = 1_000

/** Makes the head file durable for as long as the process lives, away from the matcher's thread; no file is no error. */
export function keepHead(dataDir: string, said: Said): void {
  const withFile = keptOpen(headPath(dataDir), 'r+')
  keep(async () => existsSync(headPath(dataDir)) && withFile((file) => file.datasync()), HEAD_MS, said)
}
