/**
 * Where command records are built before they are copied into the ring in one piece: one record, of the longest command that comes through
 * a ring. Encoders begin one, write its words and finish it; nothing of it outlives that.
 */
import { COMMAND_SLOTS, kindOf, ORDER_COMMAND, slotsCarried } from '../../core/layout/command.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf } from '../../core/layout/table.ts'
import { reserve } from '../../core/ring/spsc.ts'
import type { Caller } from '../auth/signed_request.ts'
import type { EngineClient } from './engine_client.ts'

const HEAD = ORDER_COMMAND.at

export const scratchBytes = Buffer.from(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
export const scratch = viewsOf(scratchBytes.buffer)

/** Its slots one by one. */
const scratchSlots = Array.from({ length: COMMAND_SLOTS }, (_, slot) =>
  scratch.i32.subarray(slot * RECORD_WORDS, (slot + 1) * RECORD_WORDS))

export function begin(type: number): void {
  scratch.i32.fill(0)
  scratch.u32[0] = type
}

/** Writes the header and copies the record into the ring slot at word `at`, and what it carries into the next ones. */
export function finish(
  engine: EngineClient, at: number, type: number, correlation: number, session: number, generation: number,
): void {
  const slots = slotsCarried(scratch.u32, 0)
  scratch.u32[HEAD.kind] = kindOf(type, slots, engine.gateway)
  scratch.u32[HEAD.correlation] = correlation
  scratch.i32[HEAD.session] = session
  scratch.i32[HEAD.sessionGeneration] = generation
  const { i32 } = engine.commands.slots
  i32.set(scratchSlots[0]!, at)
  for (let slot = 1; slot < slots; slot++) i32.set(scratchSlots[slot]!, reserve(engine.commands, engine.written + slot))
  engine.written += slots
}

export const finishFor = (engine: EngineClient, at: number, type: number, correlation: number, caller: Caller): void =>
  finish(engine, at, type, correlation, caller.session, caller.generation)
