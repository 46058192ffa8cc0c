/**
 * Replay: journal batches through the engine, exactly as the sequencer applied them. Recovery, the snapshot follower and the replay
 * tools all go through {@link Replayer}.
 */
import { crc32 } from 'node:zlib'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../layout/table.ts'
import { LAYOUT, slotsOfKind, typeOfKind } from '../layout/command.ts'
import { modernised } from '../layout/first_layout.ts'
import { apply, setTime } from '../engine/apply.ts'
import { warmAhead } from '../engine/warm.ts'
import { CLOCK } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import type { Batch } from '../journal/frame.ts'
import type { Place } from '../journal/reader.ts'

/** The engine gave other events than when the journal was written: another version of the code, or broken hardware. */
export class Divergence extends Error {
  override name = 'Divergence'
  readonly sequence: number
  constructor(sequence: number) {
    super(`replay diverges: events before sequence ${sequence} are not those of the journal`)
    this.sequence = sequence
  }
}

/**
 * Events of one command, as records valid until the next call. A command with more events than the outbox holds is reported in
 * several calls. The command is as the journal has it, of that `layout`.
 */
export type Listener = (sequence: number, time: number, command: Buffer, events: Uint8Array, count: number, layout: number) => void

export interface Replayer {
  readonly state: State
  /** Where the next batch must start and what it must continue. */
  readonly place: Place
  /** Chained checksum of all events so far. */
  events: number
  /** Sees all events in order, many at a time and not parted by command: cheaper than a listener. Valid until it returns. */
  sink: ((events: Views, count: number) => void) | null
  /** Applies one batch; throws {@link Divergence} when the journal knows of other events. */
  batch(batch: Batch): void
  /**
   * The same, but it stops after each command of this type, with the state as that command left it. The batch is taken by the first step
   * and need not stay; it must be gone through to its end before the next one, and until then `place` is that of its beginning.
   */
  inSteps(batch: Batch, type: number): Generator<void, void>
}

/** Whether a batch has a command of this type, which is not older than the layouts of today. */
export function hasCommand(batch: Batch, type: number): boolean {
  if (batch.sequence === 1 || batch.layout !== LAYOUT) return false
  for (let at = 0; at < batch.records.length; ) {
    const kind = batch.records.readUInt32LE(at)
    if (typeOfKind(kind) === type) return true
    at += slotsOfKind(kind) * RECORD_BYTES
  }
  return false
}

const NOTHING = new Uint8Array(0)
/** Its commands in the layouts of today; the first batch is the genesis and has none. */
function commandsOf({ sequence, layout, records }: Batch): Uint8Array {
  if (sequence === 1) return NOTHING
  return layout === LAYOUT ? records : modernised(records)
}

/** Where the first command of this type ends, of those from word `at` to `words`; there, when none has it. */
function endBehind(u32: Uint32Array, at: number, words: number, type: number): { end: number; isFound: boolean } {
  let isFound = false
  let end = at
  for (; end < words && !isFound; end += slotsOfKind(u32[end]!) * RECORD_WORDS) isFound = typeOfKind(u32[end]!) === type
  return { end, isFound }
}

/** A replayer over `state` that stands at `place`. `listener`, when given, sees every command. */
export function createReplayer(state: State, place: Place, events: number, listener?: Listener): Replayer {
  // No view of a column is kept: the state may grow (state/growth.ts).
  const { outbox } = state
  let views = viewsOf(new ArrayBuffer(1 << 20))
  let command: Buffer = Buffer.alloc(0)
  let layout = LAYOUT
  const flush = (): void => {
    const bytes = outbox.bytes.subarray(0, outbox.count * RECORD_BYTES)
    if (outbox.count > 0) replayer.events = crc32(bytes, replayer.events)
    if (listener !== undefined) listener(state.clock[CLOCK.SEQUENCE]!, state.clock[CLOCK.TIME]!, command, bytes, outbox.count, layout)
    if (outbox.count > 0 && replayer.sink !== null) replayer.sink(outbox, outbox.count)
    outbox.count = 0
  }
  /** Applies what stands in the views from word `begin` to `end`. `from`: where its first command stands in the batch, bytes. */
  const applyRecords = (records: Buffer, begin: number, end: number, from: number): number => {
    for (let at = begin, warmed = begin; at < end; ) {
      if (at >= warmed) warmed = warmAhead(state, views, at, end)
      const next = at + slotsOfKind(views.u32[at]!) * RECORD_WORDS
      if (listener !== undefined) {
        command = records.subarray(from, from + slotsOfKind(records.readUInt32LE(from)) * RECORD_BYTES)
        from += command.length
      }
      apply(state, views, at)
      if (listener !== undefined || outbox.count > outbox.capacity >>> 1) flush()
      at = next
    }
    return from
  }
  /** Takes a batch; how many words of the views its commands are. */
  const begin = (batch: Batch): number => {
    if (batch.events !== replayer.events) throw new Divergence(batch.sequence)
    layout = batch.layout
    setTime(state, batch.time)
    if (batch.sequence === 1) state.clock[CLOCK.SEQUENCE]!++
    const records = commandsOf(batch)
    if (records.length > views.bytes.length) views = viewsOf(new ArrayBuffer(records.length * 2))
    views.bytes.set(records)
    return records.length / 4
  }
  const finish = ({ next, checksum }: Pick<Batch, 'next' | 'checksum'>): void => {
    if (listener === undefined) flush()
    replayer.place.sequence = next
    replayer.place.checksum = checksum
  }
  const replayer: Replayer = {
    state,
    place: { ...place },
    events,
    sink: null,
    batch: (batch) => {
      const words = begin(batch)
      applyRecords(batch.records, 0, words, 0)
      finish(batch)
    },
    inSteps: function* (taken, type) {
      const words = begin(taken)
      const batch = { ...taken, records: Buffer.from(taken.records) }
      for (let at = 0, told = 0; at < words; ) {
        const { end, isFound } = endBehind(views.u32, at, words, type)
        told = applyRecords(batch.records, at, end, told)
        if (isFound) yield
        at = end
      }
      finish(batch)
    },
  }
  outbox.overflow = flush
  return replayer
}
