/**
 * `positions {}`: positions of the account as over REST (specification, Channels named; Events, rule 5). The snapshot has those that are
 * open, an update is one that changed, the last one of a position has status CLOSED. `version` grows only when a position changed: apply a
 * higher one, treat an equal one as a duplicate, ignore a lower one. Marks alone change no position and are not told here.
 *
 * Events say which positions changed; those that are open are read from the shared columns in one consistent copy at the end of the turn,
 * so a record may hold more than the events so far, and its version says so. Of one that is closed the columns have nothing: it is told
 * from its last event and what was known of it while it was open. A listener costs nothing to others: events meet a map by account.
 */
import Type from 'typebox'
import type { HistoryPosition } from '../../../core/history/answer/queries.ts'
import { EventType, eventTypeOf, POSITION_CHANGED } from '../../../core/layout/event.ts'
import { POSITION_REASON_NAMES } from '../../../core/layout/margin_events.ts'
import type { Views } from '../../../core/layout/table.ts'
import { MarginAccountKind, readMarginAccounts, type MarginAccountView, type PositionInBucket } from '../../../core/view/margin.ts'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { closedPositionRecord, positionRecord, PositionRecord } from '../../operations/position_record.ts'
import { field } from '../../operations/schema.ts'
import { dataFrame } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

const { at: P } = POSITION_CHANGED
/** By PositionReason: what changed the position. */
const REASONS = POSITION_REASON_NAMES.map((name) => name.toLowerCase() as Lowercase<typeof name>)

export const POSITIONS = channel({
  name: 'positions',
  access: 'private',
  about: 'The positions of the account.',
  params: Type.Object({}),
  frames: {
    snapshot: {
      about: 'Open positions.', data: Type.Object({ positions: field(Type.Array(PositionRecord), 'Open positions.') }), sequenced: false,
    },
    position_update: {
      about: 'A position that changed: a higher `version` replaces what you have, an equal or lower one is ignored.', data: PositionRecord,
      sequenced: false, reasons: REASONS,
    },
  },
  example: { params: {}, frames: { snapshot: { positions: [sample.position] }, position_update: { ...sample.position, version: 43 } } },
  create: createPositions,
})
const NAME = POSITIONS.name

/** A position as it was last told of, while it is open. */
type Known = HistoryPosition

interface Listened {
  readonly account: number
  readonly subscribers: Set<Subscriber>
  /** Open positions by the sequence that opened them and their row. */
  readonly known: Map<string, Known>
  /** Versions told last, of positions that are open. */
  readonly published: Map<string, number>
  /** Positions that changed since, and their last event. */
  readonly touched: Map<string, Known>
}

const keyOf = (sequence: number, row: number): string => `${sequence}/${row}`

function createPositions(gateway: Gateway): Channel {
  const accounts = new Map<number, Listened>()
  const touched = new Set<Listened>()
  return {
    declaration: POSITIONS,
    read: readerOf(gateway, POSITIONS),
    subscribe: (subscriber) => {
      const { account } = subscriber
      const listened = accounts.get(account) ?? {
        account, subscribers: new Set<Subscriber>(), known: new Map(), published: new Map(), touched: new Map(),
      }
      accounts.set(account, listened)
      listened.subscribers.add(subscriber)
      const margins = readMarginAccounts(gateway.state, gateway.gate, account)
      if (margins === null) return false
      const open = openIn(margins)
      for (const found of open) know(listened, found)
      const positions = open.map((found) => positionRecord(gateway, account, found))
      subscriber.push(dataFrame(NAME, 'snapshot', gateway.now(), { positions }))
      return true
    },
    unsubscribe: (subscriber) => {
      const listened = accounts.get(subscriber.account)
      if (listened === undefined) return
      listened.subscribers.delete(subscriber)
      if (listened.subscribers.size > 0) return
      accounts.delete(subscriber.account)
      touched.delete(listened)
    },
    take: (records, base) => {
      if (accounts.size === 0 || eventTypeOf(records.u32[base]!) !== EventType.POSITION) return
      const listened = accounts.get(records.i32[base + P.account]!)
      if (listened === undefined || records.f64[(base + P.openedSequence) >>> 1] === 0) return
      touch(listened, records, base)
      touched.add(listened)
    },
    flush: () => {
      for (const listened of touched) if (publish(gateway, listened)) touched.delete(listened)
    },
  }
}

const openIn = (margins: readonly MarginAccountView[]): PositionInBucket[] =>
  margins.flatMap((margin) => margin.buckets.flatMap((bucket) =>
    bucket.positions.filter(({ lots }) => lots !== 0).map((position) => ({ margin, bucket, position }))))

/** Remembers an open position, for the time when it is closed. */
function know({ account, known }: Listened, { margin, bucket, position }: PositionInBucket): void {
  known.set(keyOf(position.openedSequence, position.row), {
    account, index: 0, sequence: position.openedSequence, row: position.row, pair: position.pair, lots: position.lots,
    entryLots: position.lots, entryCost: position.cost, leverage: position.leverage, realized: position.realized, funding: position.funding,
    fees: position.fees, allocated: bucket.allocated, mark: position.mark, reason: 0, version: position.version,
    openedAt: position.openedAt, updatedAt: position.updatedAt, closedAt: 0,
    marginAccount: { sequence: margin.createdSequence, row: margin.kind === MarginAccountKind.PARENT ? -1 : margin.row },
    bucket: { sequence: bucket.createdSequence, row: bucket.row }, mode: bucket.mode, strategyKey: bucket.strategyKey,
  })
}

/** Takes in a POSITION of an account that is listened to. */
function touch(listened: Listened, { i32, f64, i64 }: Views, base: number): void {
  const [sequence, row] = [f64[(base + P.openedSequence) >>> 1]!, i32[base + P.position]!]
  const key = keyOf(sequence, row)
  const before = listened.touched.get(key) ?? listened.known.get(key)
  const lots = i32[base + P.lots]!
  const time = f64[(base + P.time) >>> 1]!
  listened.touched.set(key, {
    account: listened.account, index: 0, sequence, row, pair: i32[base + P.pair]!, lots,
    // One that is closed has the entry that it had before.
    entryLots: lots === 0 ? (before?.entryLots ?? 0) : lots,
    entryCost: lots === 0 ? (before?.entryCost ?? 0n) : i64[(base + P.cost) >>> 1]!,
    leverage: i32[base + P.leverage]!, realized: i64[(base + P.realized) >>> 1]!, funding: i64[(base + P.funding) >>> 1]!,
    fees: i64[(base + P.fees) >>> 1]!, allocated: i64[(base + P.allocated) >>> 1]!, mark: i32[base + P.mark]!,
    reason: i32[base + P.reason]!, version: f64[(base + P.version) >>> 1]!, openedAt: before?.openedAt ?? time, updatedAt: time,
    closedAt: lots === 0 ? time : 0,
    marginAccount: before?.marginAccount ?? { sequence: 0, row: i32[base + P.marginAccount]! },
    bucket: { sequence: f64[(base + P.bucketSequence) >>> 1]!, row: i32[base + P.bucket]! },
    mode: before?.mode ?? 0, strategyKey: before?.strategyKey ?? '',
  })
}

/** Tells an account's positions that changed; false: they cannot be read now. */
function publish(gateway: Gateway, listened: Listened): boolean {
  const { account, subscribers, known, published, touched } = listened
  const margins = readMarginAccounts(gateway.state, gateway.gate, account)
  if (margins === null) return false
  const open = new Map(openIn(margins).map((found) => [keyOf(found.position.openedSequence, found.position.row), found]))
  for (const [key, change] of touched) {
    const found = open.get(key)
    const version = found?.position.version ?? change.version
    // What an earlier copy had in it was told with it.
    if (version <= (published.get(key) ?? -1)) continue
    // Its end comes with an event of its own, which is still on its way.
    if (found === undefined && change.lots !== 0) continue
    const record = found === undefined
      ? closedPositionRecord(gateway, account, inAccounts(change, margins)) : positionRecord(gateway, account, found)
    const frame = dataFrame(NAME, 'position_update', gateway.now(), record, undefined, REASONS[change.reason])
    for (const subscriber of subscribers) subscriber.push(frame)
    if (found === undefined) {
      known.delete(key)
      published.delete(key)
    } else {
      know(listened, found)
      published.set(key, version)
    }
  }
  touched.clear()
  return true
}

/** A closed position with what its event does not say, where its bucket still does. */
function inAccounts(closed: Known, margins: readonly MarginAccountView[]): Known {
  for (const margin of margins) {
    const bucket = margin.buckets.find((each) => each.createdSequence === closed.bucket.sequence && each.row === closed.bucket.row)
    if (bucket === undefined) continue
    const marginAccount = { sequence: margin.createdSequence, row: margin.kind === MarginAccountKind.PARENT ? -1 : margin.row }
    return { ...closed, marginAccount, mode: bucket.mode, strategyKey: bucket.strategyKey }
  }
  return closed
}
