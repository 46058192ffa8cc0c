/**
 * Room for the journal to grow into: blocks of zeros written behind the end of its file before they are needed.
 *
 * A commit that makes the file longer must also make the file system's own records durable, which costs a third of its time; one that
 * overwrites blocks does not. LMDB does not mind a longer file: its meta pages say what it uses.
 *
 * The zeros are appended (O_APPEND): the file system puts them behind whatever is the end at that moment, under the same lock that the
 * journal's writes take, so they can never overwrite a page, however fast the journal grows meanwhile. They go in small durable pieces,
 * because a commit waits for every dirty page of its file. Failing to make room is no error: the journal then grows as it did.
 */
import { open, type FileHandle } from 'node:fs/promises'
import { dataFile, usedBytes } from './file.ts'

/** Room kept: as much as is used, between these. A fresh journal gets little, a large one enough for seconds of full load. */
const LEAST = 4 << 20
const MOST = 64 << 20
const PIECE = Buffer.alloc(256 << 10)
/** How often the room is looked at, ms. */
const LOOK_MS = 100

/** Appends zeros until the room is enough; returns the bytes appended. */
export async function makeRoom(dataDir: string, most = MOST): Promise<number> {
  let file: FileHandle | null = null
  let appended = 0
  try {
    file = await open(dataFile(dataDir), 'a')
    const used = usedBytes(dataDir)
    const wanted = used + Math.min(most, Math.max(LEAST, used))
    for (let { size } = await file.stat(); size < wanted; size += PIECE.length) {
      await file.write(PIECE)
      await file.datasync()
      appended += PIECE.length
    }
  } finally {
    await file?.close()
  }
  return appended
}

/** Keeps room for as long as the process lives; `failed` is told once, and then no more is made. */
export function keepRoom(dataDir: string, failed: (error: Error) => void): void {
  const look = (): void => {
    makeRoom(dataDir).then(
      () => void setTimeout(look, LOOK_MS).unref(),
      (error: Error) => failed(error),
    )
  }
  look()
}
