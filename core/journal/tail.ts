/**
 * The tail: where a journal begins once its oldest batches were archived (core/archive) and dropped. 64 bytes under a key before all
 * batches, changed in the transaction that drops; a journal without it begins with the genesis.
 *
 *   byte 0  magic "RBT1"     8  sequence of the first batch that is kept (f64)    24  batches dropped so far (f64)
 *        4  version         16  checksum of the batch before it                   60  CRC-32 of everything above
 *
 * The head record goes on counting every batch there ever was, so LMDB's own count is: batches - dropped + the two records.
 */
import { crc32 } from 'node:zlib'
import { JournalError } from './pages.ts'
import type { JournalStore } from './store.ts'

export const TAIL_BYTES = 64
/** Sorts before the key of every batch. */
export const TAIL_KEY = Buffer.alloc(8)

const MAGIC = 0x31544252
const VERSION = 1
const AT = { MAGIC: 0, VERSION: 4, SEQUENCE: 8, CHECKSUM: 16, DROPPED: 24, OWN: 60 } as const

export interface Tail {
  /** Sequence of the first batch, and the checksum of the one before it. */
  readonly sequence: number
  readonly checksum: number
  /** Batches before it. */
  readonly dropped: number
}

/** Of a journal of which nothing was dropped. */
export const WHOLE: Tail = { sequence: 1, checksum: 0, dropped: 0 }

/** The journal does not go back that far: the batches are in an archive. */
export class BatchesArchived extends JournalError {
  override name = 'BatchesArchived'
  constructor({ sequence }: Tail) {
    super(
      `the journal begins at sequence ${sequence}, what was before it is archived: read it with --archive DIR, or put it back with ` +
        '"npm run journal -- restore --from DIR" while the exchange is stopped',
    )
  }
}

export function encodeTail(to: Buffer, { sequence, checksum, dropped }: Tail): Buffer {
  to.fill(0, 0, TAIL_BYTES)
  to.writeUInt32LE(MAGIC, AT.MAGIC)
  to.writeUInt32LE(VERSION, AT.VERSION)
  to.writeDoubleLE(sequence, AT.SEQUENCE)
  to.writeUInt32LE(checksum, AT.CHECKSUM)
  to.writeDoubleLE(dropped, AT.DROPPED)
  to.writeUInt32LE(crc32(to.subarray(0, AT.OWN)), AT.OWN)
  return to
}

/** Has the journal `to`, which has no batches yet, begin at `tail`. */
export function putTail(to: JournalStore, tail: Tail): void {
  if (tail.dropped > 0) to.transactionSync(() => to.putSync(TAIL_KEY, encodeTail(Buffer.alloc(TAIL_BYTES), tail)))
}

/** Where the journal begins now. Throws {@link JournalError} when its record cannot be read. */
export function tailOf(database: { get(key: Buffer): Buffer | undefined }): Tail {
  const value = database.get(TAIL_KEY)
  if (value === undefined) return WHOLE
  const whole = value.length === TAIL_BYTES && value.readUInt32LE(AT.MAGIC) === MAGIC && value.readUInt32LE(AT.VERSION) === VERSION
  if (!whole || value.readUInt32LE(AT.OWN) !== crc32(value.subarray(0, AT.OWN))) {
    throw new JournalError('the tail record of the journal cannot be read: restore the journal from a backup')
  }
  return {
    sequence: value.readDoubleLE(AT.SEQUENCE), checksum: value.readUInt32LE(AT.CHECKSUM), dropped: value.readDoubleLE(AT.DROPPED),
  }
}
