/**
 * `inspect` for people: the exchange right after one command, or at the end of the journal; or of that moment one user, one pair, or one
 * order with all that ever happened to it.
 */
import { archiveFor, readEverything } from '../archive/archive.ts'
import { openJournal } from '../journal/file.ts'
import { endSequence } from '../journal/reader.ts'
import { CommandType, ORDER_COMMAND, typeOfKind } from '../layout/command.ts'
import {
  answeredTypeOf, CONDITIONAL_ORDER, EventType, eventTypeOf, FILL, ORDER_ENDED, ORDER_RESIZED, RESULT, SELF_TRADE,
} from '../layout/event.ts'
import { FIRST_ORDER } from '../layout/first_layout.ts'
import { Flag } from '../layout/flags.ts'
import { IdKind, parseId, type Id } from '../layout/ids.ts'
import { RECORD_BYTES } from '../layout/table.ts'
import { realIo } from '../lib/io.ts'
import { fromGenesis, rebuild } from '../recovery/recover.ts'
import type { Listener } from '../recovery/replayer.ts'
import { snapshotFiles } from '../snapshot/file.ts'
import { CLOCK, SCALAR } from '../state/columns.ts'
import { copyOrder } from '../view/accounts.ts'
import { pairList, reporter, type Progress } from './export.ts'
import { describe } from './inspect.ts'
import { Names, timeText } from './names.ts'
import { accountsOf, orderOf, pairOf, userOf, type Plain } from './people_state.ts'
import { accountTest, checkUser, Telling } from './telling.ts'

export interface InspectCall {
  readonly dataDir: string
  readonly archive?: string | undefined
  /** A sequence; none: the end of the journal. */
  readonly at?: number | undefined
  /** One of these at most. */
  readonly user?: string | undefined
  readonly order?: string | undefined
  readonly pair?: string | undefined
}

/** Who hears what is said beside the answer. */
export interface Says {
  /** A snapshot that cannot be gone on from. */
  readonly warn: (text: string) => void
  readonly progress: Progress
}

/** Entries of the trail of one order: the first of them, a fill each mostly. */
const TRAIL_MAX = 1000

/** Throws RangeError for what is not there, in words. */
export function inspectPeople(call: InspectCall, says: Says): Plain {
  if (call.user !== undefined) checkUser(call.user)
  if (call.order !== undefined) return inspectOrder(call, call.order, says)
  const { at } = call
  let command: Plain = {}
  const hear = (telling: Telling): Listener => {
    const lines = telling.lines((line) => (command = line))
    return (sequence, ...rest) => {
      if (sequence === at) lines(sequence, ...rest)
    }
  }
  const state = stand(call, at ?? Infinity, says, hear, (names) => ({ ...moment(names), ...seen(names, call) }))
  return { ...command, ...state }
}

const moment = ({ state }: Names): Plain => ({ sequence: state.clock[CLOCK.SEQUENCE]!, time: timeText(state.clock[CLOCK.TIME]!) })

/** What was asked for of this moment. */
function seen(names: Names, { user, pair: symbol }: InspectCall): Plain {
  const { state } = names
  if (user !== undefined) {
    const users = accountsOf(names, accountTest(names, user)).map((account) => userOf(names, account))
    if (users.length === 0) throw new RangeError(`--user ${user}: there is no such user at sequence ${state.clock[CLOCK.SEQUENCE]!}`)
    return { users }
  }
  if (symbol === undefined) return { state: describe(state) }
  const pair = state.genesis.pairs.find((known) => known.symbol === symbol)
  if (pair === undefined) throw new RangeError(`--pair ${symbol}: there is no such pair. Pairs: ${pairList(names)}`)
  return { pair: pairOf(names, pair) }
}

/**
 * Replays from the newest snapshot before `from`, through what `hear` gives, up to `at`; what `look` made of that moment. The state stands
 * at the end of a command only while the replayer says so: its batch goes on.
 */
function stand(
  { dataDir, archive: archived, at }: InspectCall, from: number, { warn, progress }: Says, hear: (telling: Telling) => Listener,
  look: (names: Names) => Plain,
): Plain {
  const database = openJournal(dataDir, true)
  const archive = archiveFor(archived, database)
  const end = endSequence(database)
  if (at !== undefined && at > end) throw new RangeError(`the journal ends at ${end}, before ${at}`)
  let listener: Listener | null = null
  let found: Plain | null = null
  const heard: Listener = (sequence, time, command, events, count, layout) => {
    if (listener === null || sequence > (at ?? end)) return
    listener(sequence, time, command, events, count, layout)
    if (sequence === at && isWhole(command, events, count)) found = look(names)
  }
  const { replayer } = from > 2
    ? rebuild(database, snapshotFiles(dataDir), from - 1, warn, heard, realIo, archive)
    : fromGenesis(database, heard, realIo, archive)
  const names = new Names(replayer.state)
  if (at === 1) return look(names)
  listener = hear(new Telling(names))
  const report = reporter(progress, replayer.place.sequence, Math.min(at ?? end, end))
  for (const batch of readEverything(archive, database, replayer.place)) {
    if (batch.sequence > (at ?? end)) break
    replayer.batch(batch)
    if (found !== null) return found
    report(names.state.clock[CLOCK.SEQUENCE]!)
  }
  if (at === undefined) return look(names)
  throw new RangeError(`no command has the sequence ${at}: it was lost with the end of a journal`)
}

/** An order as it is at that moment, and everything that happened to it until then. */
function inspectOrder(call: InspectCall, text: string, says: Says): Plain {
  const id = parseId(IdKind.ORDER, text)
  if (id === null) throw new RangeError(`--order ${text}: not the UUID of an order`)
  if (call.at !== undefined && call.at < id.sequence) throw new RangeError(`--order ${text}: was placed later, at sequence ${id.sequence}`)
  const trail: Plain[] = []
  let more = 0
  const hear = (telling: Telling): Listener => {
    const lines = telling.lines((line) => {
      for (const event of line['events'] as Plain[]) {
        // The answer to a command that names it is about it, if it names nothing itself.
        const isNamed = Object.values(event).includes(text) || (event['event'] === 'RESULT' && Object.values(line).includes(text))
        if (!isNamed) continue
        if (trail.length === TRAIL_MAX) more++
        else trail.push({ sequence: line['sequence'], time: line['time'], command: line['command'], userId: line['userId'], ...event })
      }
    })
    let isOpen = false
    return (sequence, time, command, events, count, layout) => {
      // A command is told in several calls when it has many events: all of them, or none.
      isOpen ||= isAbout(id, sequence, command, layout, events, count)
      if (isOpen) lines(sequence, time, command, events, count, layout)
      if (isWhole(command, events, count)) isOpen = false
    }
  }
  const order = stand(call, id.sequence, says, hear, (names) => {
    const open = openOrder(names, id)
    return { ...moment(names), orderId: text, isOpen: open !== null, order: open }
  })
  if (trail.length === 0) throw new RangeError(`--order ${text}: no order got this id`)
  return { ...order, trail, ...(more === 0 ? {} : { trailMore: more }) }
}

/** Whether the last of these events is the RESULT of the command, and not of an order that it entered. */
function isWhole(command: Buffer, events: Uint8Array, count: number): boolean {
  if (count === 0) return false
  const kind = new DataView(events.buffer, events.byteOffset + (count - 1) * RECORD_BYTES, RECORD_BYTES).getUint32(0, true)
  return eventTypeOf(kind) === EventType.RESULT && answeredTypeOf(kind) === typeOfKind(command.readUInt32LE(0))
}

function openOrder(names: Names, { sequence, slot }: Id): Plain | null {
  if (slot >= names.state.scalars[SCALAR.ORDERS_USED]!) return null
  const order = copyOrder(names.state, slot)
  return order.sequence === sequence && (order.flags & Flag.RESTING) !== 0 ? orderOf(names, order) : null
}

/** Whether a command or one of its events may be about an order: what it names is looked at when it is told. */
function isAbout(id: Id, sequence: number, command: Buffer, layout: number, events: Uint8Array, count: number): boolean {
  if (sequence === id.sequence || namesTarget(id, command, layout)) return true
  const views = new DataView(events.buffer, events.byteOffset, count * RECORD_BYTES)
  for (let at = 0; at < views.byteLength; at += RECORD_BYTES) {
    const fields = NAMING[eventTypeOf(views.getUint32(at, true))]
    if (fields === undefined) continue
    const isSlot = views.getInt32(at + fields.slot * 4, true) === id.slot
    if (isSlot && views.getFloat64(at + fields.sequence * 4, true) === id.sequence) return true
  }
  return false
}

/** Where events name an order that was there before their command. */
const NAMING: Readonly<Record<number, { sequence: number; slot: number }>> = {
  [EventType.FILL]: { sequence: FILL.at.makerSequence, slot: FILL.at.makerSlot },
  [EventType.ORDER_ENDED]: { sequence: ORDER_ENDED.at.orderSequence, slot: ORDER_ENDED.at.slot },
  [EventType.ORDER_RESIZED]: { sequence: ORDER_RESIZED.at.orderSequence, slot: ORDER_RESIZED.at.slot },
  [EventType.SELF_TRADE]: { sequence: SELF_TRADE.at.orderSequence, slot: SELF_TRADE.at.slot },
  [EventType.CONDITIONAL]: { sequence: CONDITIONAL_ORDER.at.orderSequence, slot: CONDITIONAL_ORDER.at.orderSlot },
  [EventType.RESULT]: { sequence: RESULT.at.orderSequence, slot: RESULT.at.slot },
}
const TARGETED: readonly number[] = [CommandType.CANCEL_ORDER, CommandType.REPLACE_ORDER, CommandType.EXPIRE_ORDER]

function namesTarget(id: Id, command: Buffer, layout: number): boolean {
  if (!TARGETED.includes(typeOfKind(command.readUInt32LE(0)))) return false
  const { targetSequence, targetSlot } = layout === 1 ? FIRST_ORDER.at : ORDER_COMMAND.at
  return command.readDoubleLE(targetSequence * 4) === id.sequence && command.readInt32LE(targetSlot * 4) === id.slot
}
