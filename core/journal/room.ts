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
 */
import { statSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { dataFile, usedBytes } from './file.ts'
import { syncHeadFile } from './head_file.ts'

/** Room kept: as much as is used, between these. A fresh journal gets little, a large one enough for seconds of full load. */
const LEAST = 4 << 20
const MOST = 64 << 20
/** With less than this, and nothing free on the disk, nothing is recorded any more (core/disk.ts). */
export const DISK_FLOOR = LEAST / 2
const PIECE = Buffer.alloc(256 << 10)
/** How often the room is looked at, ms. */
const LOOK_MS = 100
/** And after a failure, ms. */
const RETRY_MS = 1_000

/** Appends zeros until the room is enough, or the file has `limit` bytes; returns the bytes appended. */
export async function makeRoom(dataDir: string, most = MOST, limit = Infinity): Promise<number> {
  let file: FileHandle | null = null
  let appended = 0
  try {
    file = await open(dataFile(dataDir), 'a')
    const used = usedBytes(dataDir)
    const wanted = Math.min(limit, used + Math.min(most, Math.max(LEAST, used)))
    for (let { size } = await file.stat(); size < wanted; size += PIECE.length) {
      const { bytesWritten } = await file.write(PIECE)
      await file.datasync()
      appended += bytesWritten
    }
  } finally {
    await file?.close()
  }
  return appended
}

/** Bytes of the file behind what the journal uses. */
export const journalRoom = (dataDir: string): number => statSync(dataFile(dataDir)).size - usedBytes(dataDir)

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
export const keepRoom = (dataDir: string, limit: number, said: Said): void => keep(() => makeRoom(dataDir, MOST, limit), LOOK_MS, said)

/** How often the head file is made durable, ms: after a power failure it is at most this much behind, and the commit then under way. */
const HEAD_MS = 1_000

/** Makes the head file durable for as long as the process lives, away from the matcher's thread. */
export const keepHead = (dataDir: string, said: Said): void => keep(() => syncHeadFile(dataDir), HEAD_MS, said)
