/**
 * Where the engine writes its events: a small private buffer of 128-byte records that the host drains.
 *
 * The host (sequencer, replay, bench) drains after a command or a batch. When one command fills it, `overflow` is called in the
 * middle of the command; it must take everything and leave the buffer empty.
 */
import { RECORD_BYTES, RECORD_WORDS, viewsOf } from '../layout/table.ts'

export interface Outbox {
  readonly i32: Int32Array
  readonly u32: Uint32Array
  readonly f64: Float64Array
  readonly i64: BigInt64Array
  readonly bytes: Uint8Array
  readonly capacity: number
  /** Records waiting. */
  count: number
  /** Takes the waiting records; sets `count` to 0. */
  overflow: () => void
}

export function createOutbox(capacity: number, buffer: ArrayBufferLike = new ArrayBuffer(capacity * RECORD_BYTES)): Outbox {
  const views = viewsOf(buffer)
  return {
    ...views,
    capacity,
    count: 0,
    overflow: () => {
      throw new Error('the outbox is full and nobody drains it')
    },
  }
}

/** Word index of the next record; makes room first when the buffer is full. */
export function nextRecord(outbox: Outbox): number {
  if (outbox.count === outbox.capacity) outbox.overflow()
  const record = outbox.count
  outbox.count = record + 1
  return record * RECORD_WORDS
}
