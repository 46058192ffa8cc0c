/** A journal as a sequence of steps: each command with the events it caused, for the tools that print or compare. */
import { CommandType, commandName, typeOfKind } from '../layout/command.ts'
import { layoutOf } from '../layout/first_layout.ts'
import { answerOf } from '../layout/answers.ts'
import { answeredTypeOf, EVENT_LAYOUTS, eventName, EventType, eventTypeOf, RESULT } from '../layout/event.ts'
import { decode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout, type Views } from '../layout/table.ts'
import { openJournal, type JournalDatabase } from '../journal/file.ts'
import { archiveFor, readEverything } from '../archive/archive.ts'
import { endSequence } from '../journal/reader.ts'
import { realIo } from '../lib/io.ts'
import { fromGenesis, rebuild } from '../recovery/recover.ts'
import type { Replayer } from '../recovery/replayer.ts'
import { snapshotFiles } from '../snapshot/file.ts'

export interface Step {
  readonly sequence: number
  /** Unix ms. */
  readonly time: number
  /** The command's record slots, as the journal has them ... */
  readonly command: Buffer
  /** ... and the version of their layout. */
  readonly layout: number
  /** The records of its events. */
  readonly events: Buffer
}

export interface Source {
  readonly database: JournalDatabase
  readonly replayer: Replayer
  /** Steps from where the replayer stands; each batch is applied whole before its steps come. */
  readonly steps: Generator<Step>
}

/**
 * Opens the journal of a data directory read-only, and the archive in directory `archived` if there is one, and stands at the genesis,
 * or at the newest snapshot before `from`.
 */
export function openSource(
  dataDir: string, from = 0, archived?: string, warn: (text: string) => void = () => undefined,
): Source {
  const database = openJournal(dataDir, true)
  const archive = archiveFor(archived, database)
  const waiting: (Omit<Step, 'events'> & { events: Buffer[] })[] = []
  const listener = (sequence: number, time: number, command: Buffer, events: Uint8Array, _count: number, layout: number): void => {
    const last = waiting[waiting.length - 1]
    if (last !== undefined && last.sequence === sequence) last.events.push(Buffer.from(events))
    else waiting.push({ sequence, time, command, layout, events: [Buffer.from(events)] })
  }
  const { replayer } = from > 1
    ? rebuild(database, snapshotFiles(dataDir), from - 1, warn, listener, realIo, archive)
    : fromGenesis(database, listener, realIo, archive)
  // As far as the journal goes now: one that is being written would not come to an end before a slow reader does.
  const end = endSequence(database)
  function* steps(): Generator<Step> {
    for (const batch of readEverything(archive, database, replayer.place)) {
      if (batch.sequence > end) return
      replayer.batch(batch)
      for (const step of waiting) yield { ...step, events: Buffer.concat(step.events) }
      waiting.length = 0
    }
  }
  return { database, replayer, steps: steps() }
}

/** A step as plain values: names instead of numbers for types, BigInts as decimal text. */
export function printable(step: Step): Record<string, unknown> {
  const type = typeOfKind(step.command.readUInt32LE(0))
  const layout = layoutOf(type, step.layout)
  const command = layout === undefined || type === CommandType.GENESIS ? {} : decode(layout, copied(step.command), 0)
  const views = copied(step.events)
  const events: Record<string, unknown>[] = []
  for (let at = 0; at < views.i32.length; at += RECORD_WORDS) {
    const event = eventTypeOf(views.u32[at]!)
    events.push({ event: eventName(event), ...plain(decode(layoutAt(views, at), views, at)) })
  }
  const time = new Date(step.time).toISOString()
  return { sequence: step.sequence, time, layout: step.layout, command: commandName(type), ...plain(command), events }
}

/** A RESULT is printed by the names of what it answers. */
function layoutAt({ u32, i32 }: Views, at: number): Layout {
  const kind = u32[at]!
  const event = eventTypeOf(kind)
  return event === EventType.RESULT ? answerOf(answeredTypeOf(kind), i32[at + RESULT.at.code]!) : EVENT_LAYOUTS[event]!
}

/** Views need an aligned buffer of their own. */
function copied(bytes: Buffer): ReturnType<typeof viewsOf> {
  const own = new ArrayBuffer(Math.ceil(bytes.length / RECORD_BYTES) * RECORD_BYTES)
  new Uint8Array(own).set(bytes)
  return viewsOf(own)
}

function plain(decoded: Decoded): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(decoded)
      .filter(([name]) => name !== 'kind')
      .map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value]),
  )
}
