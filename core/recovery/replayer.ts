/**
 * Replay: journal batches through the engine, exactly as the sequencer applied them. Recovery, the snapshot follower and the replay
 * tools all go through {@link Replayer}.
 */
import { crc32 } from 'node:zlib'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../layout/table.ts'
import { LAYOUT, slotsOfKind } from '../layout/command.ts'
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
  const applyRecords = (batch: Batch, bytes: number): void => {
    const end = bytes / 4
    for (let at = 0, from = 0, warmed = 0; at < end; ) {
      if (at >= warmed) warmed = warmAhead(state, views, at, end)
      const next = at + slotsOfKind(views.u32[at]!) * RECORD_WORDS
      if (listener !== undefined) {
        command = batch.records.subarray(from, from + slotsOfKind(batch.records.readUInt32LE(from)) * RECORD_BYTES)
        from += command.length
      }
      apply(state, views, at)
      if (listener !== undefined || outbox.count > outbox.capacity >>> 1) flush()
      at = next
    }
  }
  const replayer: Replayer = {
    state,
    place: { ...place },
    events,
    sink: null,
    batch: (batch) => {
      if (batch.events !== replayer.events) throw new Divergence(batch.sequence)
      layout = batch.layout
      setTime(state, batch.time)
      if (batch.sequence === 1) state.clock[CLOCK.SEQUENCE]!++
      else {
        const records = layout === LAYOUT ? batch.records : modernised(batch.records)
        if (records.length > views.bytes.length) views = viewsOf(new ArrayBuffer(records.length * 2))
        views.bytes.set(records)
        applyRecords(batch, records.length)
        if (listener === undefined) flush()
      }
      replayer.place.sequence = batch.next
      replayer.place.checksum = batch.checksum
    },
  }
  outbox.overflow = flush
  return replayer
}
