/**
 * A ring of 128-byte records between one producer thread and one consumer thread, on a SharedArrayBuffer, without locks.
 *
 *   byte 0            128           256                256 + capacity × 128
 *   +-------------+-------------+--------+--------+-- ... --+
 *   | head        | tail        | slot 0 | slot 1 |         |
 *   | (consumer)  | (producer)  |        |        |         |
 *   +-------------+-------------+--------+--------+-- ... --+
 *
 * Head and tail are free-running 32-bit counters on cache lines of their own; `tail - head` is the number of records waiting.
 * A record is visible when the tail passes it, so one publish may carry many records. A command of several slots is written
 * contiguously in counter space and may wrap at the end of the buffer. Full is an answer (false), never a wait.
 *
 * Slots are plain words, ordered on any processor by the two counters: who reads a tail sees what was written before it was stored, and who
 * reads a head writes after what was read before it was stored. Nothing is ever read that may be being written, so no copy is thrown away.
 */
import { COMMAND_SLOTS } from '../layout/command.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../layout/table.ts'

const HEADER_BYTES = 256
const HEAD = 0
const TAIL = 32

export interface Ring {
  readonly buffer: SharedArrayBuffer
  /** Slots, a power of two. */
  readonly capacity: number
  readonly header: Int32Array
  /** Slot n mod capacity starts at word (n mod capacity) × 32. */
  readonly slots: Views
  /** This side's own counters: the producer's tail or the consumer's head, and the other side's as last seen. */
  readonly own: Int32Array
}

const OWN_TAIL = 0
const SEEN_HEAD = 1
const OWN_HEAD = 2

/** Slots that are reckoned for a command, whatever it carries: those of the longest, as a power of two, because a ring's length is one. */
export const SLOTS_RECKONED = 2 ** Math.ceil(Math.log2(COMMAND_SLOTS))

/** Slots of a ring that has room for so many commands. */
export const commandSlots = ({ commandRing }: { readonly commandRing: number }): number => commandRing * SLOTS_RECKONED

export function createRing(capacity: number): Ring {
  if (capacity < 2 || (capacity & (capacity - 1)) !== 0) throw new Error('ring capacity must be a power of two')
  return attachRing(new SharedArrayBuffer(HEADER_BYTES + capacity * RECORD_BYTES))
}

/** The ring in `buffer`, as seen by the thread that calls; each side attaches once. */
export function attachRing(buffer: SharedArrayBuffer): Ring {
  const header = new Int32Array(buffer, 0, HEADER_BYTES / 4)
  const own = new Int32Array(3)
  own[OWN_TAIL] = Atomics.load(header, TAIL)
  own[SEEN_HEAD] = Atomics.load(header, HEAD)
  own[OWN_HEAD] = Atomics.load(header, HEAD)
  return { buffer, capacity: (buffer.byteLength - HEADER_BYTES) / RECORD_BYTES, header, slots: viewsOf(buffer, HEADER_BYTES), own }
}

/** Producer: the word offset of the slot `ahead` places after the last published one, or -1 when the ring is full there. */
export function reserve(ring: Ring, ahead: number): number {
  const { own, capacity } = ring
  const at = (own[OWN_TAIL]! + ahead) | 0
  if (((at - own[SEEN_HEAD]!) | 0) >= capacity) {
    own[SEEN_HEAD] = Atomics.load(ring.header, HEAD)
    if (((at - own[SEEN_HEAD]!) | 0) >= capacity) return -1
  }
  return (at & (capacity - 1)) * RECORD_WORDS
}

/** Producer: free slots as last seen; it looks again only when fewer than `enough` were. There may be more, never fewer. */
export function room(ring: Ring, enough: number): number {
  const { own, capacity } = ring
  const free = capacity - ((own[OWN_TAIL]! - own[SEEN_HEAD]!) | 0)
  if (free >= enough) return free
  own[SEEN_HEAD] = Atomics.load(ring.header, HEAD)
  return capacity - ((own[OWN_TAIL]! - own[SEEN_HEAD]!) | 0)
}

/** Producer: makes the next `count` reserved slots visible. */
export function publish(ring: Ring, count: number): void {
  const tail = (ring.own[OWN_TAIL]! + count) | 0
  ring.own[OWN_TAIL] = tail
  Atomics.store(ring.header, TAIL, tail)
}

/** Either side: records waiting. */
export function waiting(ring: Ring): number {
  return (Atomics.load(ring.header, TAIL) - Atomics.load(ring.header, HEAD)) | 0
}

/** Consumer: records waiting for it; they start at {@link front}. */
export function available(ring: Ring): number {
  return (Atomics.load(ring.header, TAIL) - ring.own[OWN_HEAD]!) | 0
}

/** Consumer: word offset of the record `index` places behind the oldest waiting one. */
export function front(ring: Ring, index: number): number {
  return ((ring.own[OWN_HEAD]! + index) & (ring.capacity - 1)) * RECORD_WORDS
}

/** Consumer: gives `count` records back to the producer. */
export function consume(ring: Ring, count: number): void {
  const head = (ring.own[OWN_HEAD]! + count) | 0
  ring.own[OWN_HEAD] = head
  Atomics.store(ring.header, HEAD, head)
}

/** Producer, convenience: copies one record from `from` at word `base` and publishes it; false when full. */
export function push(ring: Ring, from: Int32Array, base: number): boolean {
  const at = reserve(ring, 0)
  if (at < 0) return false
  ring.slots.i32.set(from.subarray(base, base + RECORD_WORDS), at)
  publish(ring, 1)
  return true
}
