/**
 * What the naive exchange says: a list of plain event objects, turned into the same 128-byte records as the engine's by the
 * layout tables, so that the two can be compared byte for byte.
 */
import { commandName, COMMAND_LAYOUTS, typeOfKind } from '../../core/layout/command.ts'
import { answeredTypeOf, EVENT_LAYOUTS, eventName, eventTypeOf, EventType } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Layout, type Views } from '../../core/layout/table.ts'

/** One event before it is encoded. */
export interface NaiveEvent {
  layout: Layout
  values: Decoded
}

/** Encodes events one after another. */
export function encodeEvents(events: readonly NaiveEvent[]): Views {
  const views = viewsOf(new ArrayBuffer(events.length * RECORD_BYTES))
  events.forEach((event, index) => encode(event.layout, views, index * RECORD_WORDS, event.values))
  return views
}

/** A command record as an object: what the naive exchange is given. */
export function decodeCommand(views: Views, base: number): Decoded {
  const layout = COMMAND_LAYOUTS[typeOfKind(views.u32[base]!)]
  if (layout === undefined) throw new Error(`unknown command type ${typeOfKind(views.u32[base]!)}`)
  return decode(layout, views, base)
}

/** An event record as an object with its name. */
export function decodeEvent(views: Views, base: number): Decoded {
  const kind = views.u32[base]!
  const type = eventTypeOf(kind)
  const layout = EVENT_LAYOUTS[type]
  if (layout === undefined) return { event: eventName(type) }
  const name = type === EventType.RESULT ? `RESULT of ${commandName(answeredTypeOf(kind))}` : eventName(type)
  return { event: name, ...decode(layout, views, base) }
}

/** One line of text per record: fields that are zero are left out. */
export function printRecord(record: Decoded): string {
  const parts = Object.entries(record).filter(([, value]) => value !== 0 && value !== 0n && !/^0*$/.test(String(value)))
  return parts.map(([name, value]) => `${name}=${value}`).join(' ')
}

export function printEvents(views: Views, count: number): string {
  const lines = Array.from({ length: count }, (_, index) => `  ${printRecord(decodeEvent(views, index * RECORD_WORDS))}`)
  return lines.length === 0 ? '  (none)' : lines.join('\n')
}
