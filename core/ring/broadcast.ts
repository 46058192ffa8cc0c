/**
 * The event ring: one writer, any number of readers, each with its own position. The writer never waits; a reader that falls
 * a whole ring behind is lapped and must resynchronise.
 *
 *   written: records 0 .. written-1 are complete          claimed: the writer may be overwriting up to claimed-1
 *
 * Record n lives in slot n mod capacity. A reader copies its records first and then checks that `claimed - capacity` has not
 * passed the first of them: if it has, what was copied may be torn and is thrown away. Positions are doubles: they never wrap.
 *
 * Records are plain words, so order between threads comes from the two positions alone (view/consistent.ts says why
 * both sides change CLAIMED; test/unit/memory_order.test.ts proves it):
 *
 *   writer                        reader
 *   exchange CLAIMED  <-----+     load WRITTEN  <--- whatever was written before WRITTEN is seen
 *   write the records       |     copy the records
 *   store WRITTEN           +---- add 0 to CLAIMED   a writer who claims after it writes after the copy
 */
import { RECORD_BYTES, RECORD_WORDS } from '../layout/table.ts'

const HEADER_BYTES = 256
/** Positions are kept as 64-bit integers so that they can be stored atomically. */
const WRITTEN = 0
const CLAIMED = 16

export interface Broadcast {
  readonly buffer: SharedArrayBuffer
  readonly capacity: number
  readonly header: BigInt64Array
  readonly words: Int32Array
}

export function createBroadcast(capacity: number): Broadcast {
  if (capacity < 2 || (capacity & (capacity - 1)) !== 0) throw new Error('broadcast capacity must be a power of two')
  return attachBroadcast(new SharedArrayBuffer(HEADER_BYTES + capacity * RECORD_BYTES))
}

export function attachBroadcast(buffer: SharedArrayBuffer): Broadcast {
  const capacity = (buffer.byteLength - HEADER_BYTES) / RECORD_BYTES
  return { buffer, capacity, header: new BigInt64Array(buffer, 0, HEADER_BYTES / 8), words: new Int32Array(buffer, HEADER_BYTES) }
}

/** Position after the last complete record. */
export const writtenTo = (ring: Broadcast): number => Number(Atomics.load(ring.header, WRITTEN))

/** Writer: appends `count` records from `source`, starting at its word 0. Called once per batch, not per event. */
export function broadcast(ring: Broadcast, source: Int32Array, count: number): void {
  const { capacity, header, words } = ring
  const start = Number(header[WRITTEN])
  for (let done = 0; done < count; ) {
    const at = (start + done) % capacity
    const run = Math.min(count - done, capacity - at)
    Atomics.exchange(header, CLAIMED, BigInt(start + done + run))
    words.set(source.subarray(done * RECORD_WORDS, (done + run) * RECORD_WORDS), at * RECORD_WORDS)
    done += run
    Atomics.store(header, WRITTEN, BigInt(start + done))
  }
}

/** A reader's place. `lost` counts records it never saw because it was lapped. */
export interface Reader {
  readonly ring: Broadcast
  position: number
  lost: number
  /** Records copied by the last {@link read}, from word 0. */
  readonly copy: Int32Array
}

/** A reader that starts with the next record written, or at `position`. */
export function createReader(ring: Broadcast, batch = 256, position = writtenTo(ring)): Reader {
  return { ring, position, lost: 0, copy: new Int32Array(batch * RECORD_WORDS) }
}

/** Copies the next records into `reader.copy`: their number, 0 when there is nothing new, -1 when the reader was lapped. */
export function read(reader: Reader): number {
  const { ring, copy } = reader
  const written = writtenTo(ring)
  const count = Math.min(written - reader.position, copy.length / RECORD_WORDS)
  if (count <= 0) return 0
  if (written - reader.position > ring.capacity) return lapped(reader, written)
  const at = reader.position % ring.capacity
  const run = Math.min(count, ring.capacity - at)
  copy.set(ring.words.subarray(at * RECORD_WORDS, (at + run) * RECORD_WORDS))
  if (isOverrun(ring, reader.position)) return lapped(reader, writtenTo(ring))
  reader.position += run
  return run
}

/** After a copy of records from `position` on: true when the writer may have changed them meanwhile, so that the copy is no good. */
export const isOverrun = (ring: Broadcast, position: number): boolean =>
  Number(Atomics.add(ring.header, CLAIMED, 0n)) - ring.capacity > position

function lapped(reader: Reader, written: number): number {
  reader.lost += written - reader.position
  reader.position = written
  return -1
}
