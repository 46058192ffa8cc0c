/**
 * The journal's one writer. A batch is durable when {@link JournalWriter.commit} returns; when it throws, nothing of the batch may
 * be answered and nothing is retried: the process stops and recovery decides.
 */
import { RECORD_BYTES } from '../layout/table.ts'
import { HEADER_BYTES, keyOf, seal } from './frame.ts'
import type { JournalDatabase } from './file.ts'

export interface JournalWriter {
  /** Where the sequencer puts the records of the next batch: word 0 is the first word of its first record. */
  readonly words: Int32Array
  readonly bytes: Buffer
  /** Checksum of the last batch. */
  checksum: number
  /** Makes the first `slots` slots durable as one batch; returns its size in bytes. */
  commit(sequence: number, time: number, commands: number, slots: number, events: number): number
}

export function createWriter(database: JournalDatabase, maxSlots: number, checksum: number): JournalWriter {
  const buffer = Buffer.alloc(HEADER_BYTES + maxSlots * RECORD_BYTES)
  const bytes = buffer.subarray(HEADER_BYTES)
  const writer: JournalWriter = {
    words: new Int32Array(buffer.buffer, buffer.byteOffset + HEADER_BYTES, maxSlots * (RECORD_BYTES / 4)),
    bytes,
    checksum,
    commit: (sequence, time, commands, slots, events) => {
      const value = buffer.subarray(0, HEADER_BYTES + slots * RECORD_BYTES)
      const sealed = seal(value, { sequence, time, commands, slots, previous: writer.checksum, events })
      database.transactionSync(() => database.putSync(keyOf(sequence), value))
      writer.checksum = sealed
      return value.length
    },
  }
  return writer
}
