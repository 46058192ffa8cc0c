/**
 * The matcher's side of the lanes: commands in, answers out.
 *
 * A record says which lane it is of, but that is not believed: the number of the ring it was taken from is written over it, and the
 * rights of lane 0 are those of the ring 0.
 *
 * Draining goes round-robin, starting one lane further each batch, so that a busy gateway cannot starve another. Answers cannot
 * overflow a reply ring: a gateway posts a command only when it has room for all its answers (gateway/bridge/engine_client.ts), and a
 * ring that is full all the same is a broken invariant.
 */
import { kindOf, slotsOfKind, typeOfKind } from '../layout/command.ts'
import { EventType, RESULT } from '../layout/event.ts'
import { RECORD_WORDS, type Views } from '../layout/table.ts'
import { assert } from '../lib/assert.ts'
import { attachRing, available, consume, front, publish, reserve, type Ring } from '../ring/spsc.ts'
import { wake } from '../ring/wait.ts'
import type { Lane } from '../threads.ts'

export interface MatcherLane {
  readonly commands: Ring
  readonly replies: Ring
  readonly wait: Int32Array
  /** Answers written but not yet published. */
  unpublished: number
}

export const attachLanes = (lanes: readonly Lane[]): MatcherLane[] =>
  lanes.map((lane) => ({
    commands: attachRing(lane.commands),
    replies: attachRing(lane.replies),
    wait: new Int32Array(lane.wait),
    unpublished: 0,
  }))

/** Copies one record; a loop, because a subarray per record would be garbage. */
export function copyRecord(from: Int32Array, at: number, to: Int32Array, base: number): void {
  for (let word = 0; word < RECORD_WORDS; word++) to[base + word] = from[at + word]!
}

export function anyCommand(lanes: readonly MatcherLane[]): boolean {
  for (let i = 0; i < lanes.length; i++) if (available(lanes[i]!.commands) > 0) return true
  return false
}

/** The number of the refusal with which a record of `lane`, in its place in the batch, is answered instead of being journaled; 0: none. */
export type Admit = (batch: Views, at: number, lane: number) => number

/**
 * Moves waiting commands that `admit` lets pass into `batch`, at most `maxSlots` slots; returns the slots taken. Commands are never split.
 * The others are answered; {@link publishAnswers} makes that visible.
 */
export function drain(
  lanes: readonly MatcherLane[], first: number, batch: Views, used: number, maxSlots: number, admit: Admit,
): number {
  for (let i = 0; i < lanes.length; i++) {
    const number = (first + i) % lanes.length
    const lane = lanes[number]!
    const ring = lane.commands
    const waiting = available(ring)
    let taken = 0
    while (taken < waiting && used < maxSlots) {
      const at = used * RECORD_WORDS
      const kind = ring.slots.u32[front(ring, taken)]!
      const slots = slotsOfKind(kind)
      assert(slots > 0 && slots <= waiting - taken, 'a command in the ring is incomplete')
      assert(slots <= maxSlots, 'a command in the ring is longer than a batch')
      if (used + slots > maxSlots) break
      for (let slot = 0; slot < slots; slot++) copyRecord(ring.slots.i32, front(ring, taken + slot), batch.i32, at + slot * RECORD_WORDS)
      batch.u32[at] = kindOf(typeOfKind(kind), slots, number)
      taken += slots
      const code = admit(batch, at, number)
      if (code === 0) used += slots
      else refuse(lane, number, batch, at, code)
    }
    if (taken > 0) consume(ring, taken)
  }
  return used
}

/** Answers the record at word `at` with a refusal: a RESULT without a sequence, because it has none. */
function refuse(lane: MatcherLane, number: number, record: Views, at: number, code: number): void {
  const base = reserve(lane.replies, lane.unpublished)
  assert(base >= 0, 'a reply ring is full')
  const { i32, u32 } = lane.replies.slots
  i32.fill(0, base, base + RECORD_WORDS)
  u32[base] = (EventType.RESULT | (typeOfKind(record.u32[at]!) << 8) | (number << 16)) >>> 0
  u32[base + RESULT.at.correlation] = record.u32[at + 1]!
  i32[base + RESULT.at.code] = code
  i32[base + RESULT.at.account] = -1
  lane.unpublished++
}

/** Writes an answer; it becomes visible with {@link publishAnswers}. */
export const answer = (lane: MatcherLane, record: Int32Array, at: number): void => answerAs(lane, record, at, record[at]!)

/** Writes an answer with another `kind` than the record at word `at` has. */
export function answerAs(lane: MatcherLane, record: Int32Array, at: number, kind: number): void {
  const base = reserve(lane.replies, lane.unpublished)
  assert(base >= 0, 'a reply ring is full')
  copyRecord(record, at, lane.replies.slots.i32, base)
  lane.replies.slots.i32[base] = kind
  lane.unpublished++
}

export function publishAnswers(lanes: readonly MatcherLane[]): void {
  for (let i = 0; i < lanes.length; i++) {
    const lane = lanes[i]!
    if (lane.unpublished === 0) continue
    publish(lane.replies, lane.unpublished)
    lane.unpublished = 0
    wake(lane.wait)
  }
}
