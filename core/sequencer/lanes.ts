/**
 * The matcher's side of the lanes: commands in, answers out.
 *
 * Draining goes round-robin, starting one lane further each batch, so that a busy gateway cannot starve another. Answers cannot
 * overflow a reply ring: a gateway posts a command only when it has room for all its answers (gateway/bridge/pending.ts), and a
 * ring that is full all the same is a broken invariant.
 */
import { RECORD_WORDS } from '../layout/table.ts'
import { slotsOfKind } from '../layout/command.ts'
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

/** Moves waiting commands into `batch`, at most `maxSlots` slots; returns the slots taken. Commands are never split. */
export function drain(lanes: readonly MatcherLane[], first: number, batch: Int32Array, used: number, maxSlots: number): number {
  for (let i = 0; i < lanes.length; i++) {
    const ring = lanes[(first + i) % lanes.length]!.commands
    const waiting = available(ring)
    let taken = 0
    while (taken < waiting && used < maxSlots) {
      const slots = slotsOfKind(ring.slots.u32[front(ring, taken)]!)
      assert(slots > 0 && slots <= waiting - taken, 'a command in the ring is incomplete')
      if (used + slots > maxSlots) break
      for (let slot = 0; slot < slots; slot++) copyRecord(ring.slots.i32, front(ring, taken + slot), batch, (used + slot) * RECORD_WORDS)
      taken += slots
      used += slots
    }
    if (taken > 0) consume(ring, taken)
  }
  return used
}

/** Writes an answer; it becomes visible with {@link publishAnswers}. */
export function answer(lane: MatcherLane, record: Int32Array, at: number): void {
  const base = reserve(lane.replies, lane.unpublished)
  assert(base >= 0, 'a reply ring is full')
  copyRecord(record, at, lane.replies.slots.i32, base)
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
