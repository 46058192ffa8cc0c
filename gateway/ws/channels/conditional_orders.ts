/**
 * `conditionalOrders {}`: take-profit, stop-loss and trailing-stop orders of the account (specification, Channels named). The snapshot has
 * those that wait; an update is one that changed, with its whole record, and `reason` says what happened:
 *
 *   created, armed, triggered, failed, ...   what the engine tells of it, in order; the last one of each says how it ended
 *   ratcheted                                a better mark moved the watermark of a trailing stop
 *   resized                                  the position is smaller or larger now, and so is what it closes
 *
 * The engine tells nothing of the last two, because prices and fills touch no conditional order. They are read from the shared columns:
 * what the account did at the end of the turn, what prices did at most once in {@link RATCHET_MS}. The last watermark is told all the same.
 * Who listens costs nothing to others: events meet a map by account, and prices only accounts with armed trailing stops.
 */
import Type from 'typebox'
import { answeredTypeOf, CONDITIONAL_ORDER, EventType, eventTypeOf, MARK, POSITION_CHANGED } from '../../../core/layout/event.ts'
import { CommandType } from '../../../core/layout/command.ts'
import {
  CONDITIONAL_REASON_NAMES, conditionalReasonOf, ConditionalState, conditionalStateOf, conditionOf, ConditionType,
} from '../../../core/layout/conditional.ts'
import type { Views } from '../../../core/layout/table.ts'
import { readConditionals, type ConditionalView } from '../../../core/view/conditionals.ts'
import type { Gateway } from '../../context.ts'
import { ConditionalRecord, conditionalRecord, type ConditionalFacts } from '../../operations/conditional_record.ts'
import * as sample from '../../operations/example_values.ts'
import { field } from '../../operations/schema.ts'
import { dataFrame } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

const { at: C } = CONDITIONAL_ORDER
/** By ConditionalReason: what happened to it. */
const REASONS = CONDITIONAL_REASON_NAMES.map((name) => name.toLowerCase() as Lowercase<typeof name>)
/** Between two frames of a trailing stop that prices alone made, ms. */
const RATCHET_MS = 1_000

export const CONDITIONAL_ORDERS = channel({
  name: 'conditionalOrders',
  access: 'private',
  about: 'The conditional orders of the account: take-profit, stop-loss and trailing stop.',
  params: Type.Object({}),
  frames: {
    snapshot: {
      about: 'Conditional orders that wait.', sequenced: false,
      data: Type.Object({ conditionalOrders: field(Type.Array(ConditionalRecord), 'Conditional orders that wait, newest first.') }),
    },
    conditional_order_update: {
      about: 'A conditional order that changed; of prices at most one frame a second for each trailing stop.', data: ConditionalRecord,
      sequenced: false, reasons: [...REASONS, 'ratcheted', 'resized'],
    },
  },
  example: {
    params: {},
    frames: {
      snapshot: { conditionalOrders: [sample.conditionalOrder] },
      conditional_order_update: { ...sample.conditionalOrder, triggerPrice: '59895', watermarkPrice: '60500' },
    },
  },
  create: createConditionalOrders,
})
const NAME = CONDITIONAL_ORDERS.name

/** One event of a conditional order. */
interface Change {
  readonly sequence: number
  readonly order: ConditionalFacts
  readonly reason: number
}

interface Listened {
  readonly account: number
  /** With the sequence that the snapshot of each has in it. */
  readonly subscribers: Map<Subscriber, number>
  /** Those that wait, as they were told last. */
  readonly known: Map<string, ConditionalFacts>
  /** Events since, in order. */
  changes: Change[]
  /** A position changed: quantities may have. */
  moved: boolean
  /** A price may have moved watermarks. */
  marked: boolean
  /** When watermarks were looked at last, ms of the gateway's clock, which may be set back. */
  markedAt: number
  /** Pairs of armed trailing stops. */
  trails: ReadonlySet<number>
}

const keyOf = ({ createdSequence, kind }: ConditionalView): string => `${createdSequence}/${kind}`
const waits = ({ state }: ConditionalView): boolean => state === ConditionalState.PENDING || state === ConditionalState.ARMED
const trails = ({ kind, state }: ConditionalView): boolean => kind === ConditionType.TRAILING_STOP && state === ConditionalState.ARMED

function createConditionalOrders(gateway: Gateway): Channel {
  const accounts = new Map<number, Listened>()
  const waiting = new Set<Listened>()
  return {
    declaration: CONDITIONAL_ORDERS,
    read: readerOf(gateway, CONDITIONAL_ORDERS),
    subscribe: (subscriber) => subscribe(gateway, accounts, subscriber),
    unsubscribe: (subscriber) => {
      const listened = accounts.get(subscriber.account)
      if (listened === undefined) return
      listened.subscribers.delete(subscriber)
      if (listened.subscribers.size > 0) return
      accounts.delete(subscriber.account)
      waiting.delete(listened)
    },
    take: (records, base) => {
      if (accounts.size > 0) take(accounts, waiting, records, base)
    },
    flush: () => {
      const now = gateway.time()
      for (const listened of waiting) {
        if (listened.changes.length === 0 && !listened.moved && isSoon(listened, now)) continue
        if (look(gateway, listened, now)) waiting.delete(listened)
      }
    },
  }
}

function subscribe(gateway: Gateway, accounts: Map<number, Listened>, subscriber: Subscriber): boolean {
  const { account } = subscriber
  const listened = accounts.get(account) ?? {
    account, subscribers: new Map<Subscriber, number>(), known: new Map<string, ConditionalFacts>(), changes: [], moved: false,
    marked: false, markedAt: -Infinity, trails: new Set<number>(),
  }
  accounts.set(account, listened)
  const live = readConditionals(gateway.state, gateway.gate, account)
  // Without a new snapshot what an earlier one has is still not told again.
  listened.subscribers.set(subscriber, live?.sequence ?? listened.subscribers.get(subscriber) ?? 0)
  if (live === null) return false
  // What others were told last stays what they were told.
  for (const order of live.conditionals) if (!listened.known.has(keyOf(order))) listened.known.set(keyOf(order), order)
  noteTrails(listened)
  const shown = live.conditionals.filter(waits)
  subscriber.push(() =>
    dataFrame(NAME, 'snapshot', gateway.now(), { conditionalOrders: shown.map((order) => conditionalRecord(gateway, order)) }))
  return true
}

function noteTrails(listened: Listened): void {
  listened.trails = new Set([...listened.known.values()].filter(trails).map(({ pair }) => pair))
}

function take(accounts: Map<number, Listened>, waiting: Set<Listened>, records: Views, base: number): void {
  const { u32, i32 } = records
  const kind = u32[base]!
  switch (eventTypeOf(kind)) {
    case EventType.CONDITIONAL: {
      const listened = accounts.get(i32[base + C.account]!)
      if (listened === undefined || conditionOf(i32[base + C.what]!) === ConditionType.TWAP_START) return
      listened.changes.push(changeOf(records, base))
      waiting.add(listened)
      return
    }
    case EventType.POSITION: {
      const listened = accounts.get(i32[base + POSITION_CHANGED.at.account]!)
      if (listened === undefined || listened.known.size === 0) return
      listened.moved = true
      waiting.add(listened)
      return
    }
    case EventType.MARK:
      return mark(accounts, waiting, i32[base + MARK.at.pair]!)
    case EventType.RESULT:
      // Watermarks that were many are held against a mark by commands of the sequencer.
      if (answeredTypeOf(kind) === CommandType.TRIGGER_STEP) mark(accounts, waiting, -1)
  }
}

/** A price of `pair` (-1: of any) may have moved watermarks. */
function mark(accounts: Map<number, Listened>, waiting: Set<Listened>, pair: number): void {
  for (const listened of accounts.values()) {
    if (listened.trails.size === 0 || (pair >= 0 && !listened.trails.has(pair))) continue
    listened.marked = true
    waiting.add(listened)
  }
}

/** The event at word `base`. */
function changeOf({ i32, f64 }: Views, base: number): Change {
  const word = (at: number): number => i32[base + at]!
  const double = (at: number): number => f64[(base + at) >>> 1]!
  const what = word(C.what)
  return {
    sequence: double(C.sequence),
    reason: conditionalReasonOf(what),
    order: {
      account: word(C.account), createdSequence: double(C.createdSequence), kind: conditionOf(what), state: conditionalStateOf(what),
      pair: word(C.pair), flags: word(C.flags), trigger: word(C.trigger), limit: word(C.limit), lots: word(C.lots),
      slippageBps: word(C.slippageBps), trailBps: word(C.trailBps), activation: word(C.activation), watermark: word(C.watermark),
      expiresAt: double(C.expiresAt), armedAt: double(C.armedAt), createdAt: double(C.createdAt), updatedAt: double(C.time),
      orderSequence: double(C.orderSequence), orderSlot: word(C.orderSlot), openedSequence: double(C.openedSequence),
      position: word(C.position), code: word(C.code), ordered: word(C.ordered), held: 0, reason: conditionalReasonOf(what),
    },
  }
}

/** Watermarks were looked at a moment ago. */
const isSoon = ({ markedAt }: Listened, now: number): boolean => Math.abs(now - markedAt) < RATCHET_MS

/** Tells what happened to an account's conditional orders; false: it cannot be read now, or watermarks are looked at later. */
function look(gateway: Gateway, listened: Listened, now: number): boolean {
  const live = readConditionals(gateway.state, gateway.gate, listened.account)
  if (live === null) return false
  const rows = new Map(live.conditionals.map((order) => [keyOf(order), order]))
  for (const change of listened.changes) tellChange(gateway, listened, change, rows)
  listened.changes = []
  const ratchets = listened.marked && !isSoon(listened, now)
  if (listened.moved || ratchets) tellMoves(gateway, listened, rows, listened.moved, ratchets)
  listened.moved = false
  if (ratchets) {
    listened.marked = false
    listened.markedAt = now
  }
  noteTrails(listened)
  return !listened.marked
}

/** Tells one event, with what it does not say: where its position stands and how large that is. */
function tellChange(gateway: Gateway, listened: Listened, { sequence, order, reason }: Change, rows: Map<string, ConditionalView>): void {
  const { known } = listened
  const key = keyOf(order)
  const [row, before] = [rows.get(key), known.get(key)]
  const entry = waitsForEntry(order) ? [order.orderSequence, order.orderSlot] : [before?.entrySequence ?? 0, before?.entrySlot ?? 0]
  const place = row?.place ?? before?.place
  const told: ConditionalFacts = {
    ...order, held: row?.held ?? before?.held ?? 0, entrySequence: entry[0]!, entrySlot: entry[1]!,
    ...(place === undefined ? {} : { place }),
  }
  tell(gateway, listened, told, REASONS[reason]!, sequence)
  // One that fired may go on with another order.
  if (waits(order) || row !== undefined) known.set(key, told)
  else known.delete(key)
}

const waitsForEntry = ({ state, orderSequence }: ConditionalView): boolean => state === ConditionalState.PENDING && orderSequence !== 0

/** Tells of those that wait what no event tells: of what was `moved`, quantities; and watermarks, if it is time for `ratchets`. */
function tellMoves(gateway: Gateway, listened: Listened, rows: Map<string, ConditionalView>, moved: boolean, ratchets: boolean): void {
  for (const [key, before] of listened.known) {
    const row = rows.get(key)
    // What happened to it meanwhile comes with events of its own.
    if (row === undefined || row.state !== before.state || row.openedSequence !== before.openedSequence) continue
    const resized = moved && quantity(row) !== quantity(before)
    if (!resized && !(ratchets && row.watermark !== before.watermark)) continue
    const told: ConditionalFacts = { ...before, trigger: row.trigger, watermark: row.watermark, held: row.held }
    listened.known.set(key, told)
    tell(gateway, listened, told, resized ? 'resized' : 'ratcheted', Infinity)
  }
}

/** Lots that one closes which watches its position. */
const quantity = ({ lots, held, openedSequence }: ConditionalView): number =>
  openedSequence === 0 ? lots : lots === 0 ? held : Math.min(lots, held)

/** Sends one record to whoever does not have what the command `sequence` did in his snapshot. */
function tell(gateway: Gateway, { subscribers }: Listened, order: ConditionalFacts, reason: string, sequence: number): void {
  const to = [...subscribers].filter(([, since]) => sequence > since)
  if (to.length === 0) return
  const frame = dataFrame(NAME, 'conditional_order_update', gateway.now(), conditionalRecord(gateway, order), undefined, reason)
  for (const [subscriber] of to) subscriber.push(frame)
}
