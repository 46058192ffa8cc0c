/**
 * What the core asks of the storage under the journal: an ordered map of bytes whose transactions are whole and durable
 * when they return, and the head file beside it. LMDB is one (file.ts), the simulated disk another (test/simulation/).
 * Everything that decides something, batches, heads, checksums, recovery, stands above this and is the same for both.
 *
 * Keys are 8 bytes, as frame.ts and head.ts make them. A reader sees what was committed last when it began, {@link
 * JournalStore.refresh} moves it on. It is called once a batch, never once a record. What it throws is the matcher's
 * business: a commit that throws ends it.
 */

/** `journal/head` (head_file.ts), a file of {@link HeadHandle} beside the map. */
export interface HeadStorage {
  /** Its bytes; `null`: there is no such file. */
  read(): Buffer | null
  /** Opens it for writing, made if need be. */
  open(): HeadHandle
}

export interface HeadHandle {
  /** Reads from the beginning of the file; the bytes read. */
  read(into: Buffer): number
  /** Writes `length` bytes of `from`, beginning at its byte `at`, at the same place of the file. Not durable. */
  write(from: Buffer, at: number, length: number): void
  /** Makes the file and its name durable. */
  sync(): void
  close(): void
}

/** Where to begin and which way; `snapshot: false`: the iteration may see later transactions. */
export interface KeyRange {
  readonly start: Buffer
  readonly reverse?: boolean
  readonly limit?: number
  readonly snapshot?: boolean
}

export interface JournalStore {
  /** No head record, and no head file that knows of a batch: written by a version from before them, or nothing was written yet. */
  headless: boolean
  /** Pages of PAGE_BYTES that the storage may come to. */
  readonly pages: number
  readonly headFile: HeadStorage
  get(key: Buffer): Buffer | undefined
  /** As {@link get}; the bytes are valid until the next call, and there may be more behind them. */
  getBinaryFast(key: Buffer): Buffer | undefined
  getRange(range: KeyRange): Iterable<{ key: Buffer; value: Buffer }>
  getKeys(range?: KeyRange): Iterable<Buffer>
  /**
   * What `write` puts and removes becomes durable as a whole before this returns; when it or `write` throws, nothing of
   * it stays.
   */
  transactionSync(write: () => void): void
  /** Inside of {@link transactionSync}. */
  putSync(key: Buffer, value: Buffer): void
  removeSync(key: Buffer): void
  /** Readers see what is committed by now. */
  refresh(): void
  /** How many keys there are, as the storage itself counts them. */
  entryCount(): number
  /** Pages in use; cheap. */
  usedPages(): number
  /**
   * Throws JournalError when the next transaction might overwrite what is in use (free_list.ts). Before the first one.
   */
  checkFree(): void
  close(): Promise<void>
}
