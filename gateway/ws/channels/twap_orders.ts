/**
 * `twapOrders {tradingPairId?}`: TWAP orders of the account, of all pairs or of one (specification, Channels named). The snapshot has those
 * that are PENDING or ACTIVE, with `reason` snapshot; an update is one that changed, with its whole record, and `reason` says what
 * happened: what the engine tells of it, in order, and `filled` when a slice that rests was filled, in part or in full.
 *
 * What an order of the schedule is stands in its first event only, and is remembered for accounts that somebody listens to. Of fills of a
 * resting slice the engine tells nothing as of the TWAP order: they are read from the shared columns at the end of the turn.
 */
import Type from 'typebox'
import { Origin, originOf } from '../../../core/layout/command.ts'
import { EventType, eventTypeOf, FILL, TWAP_OPENED, TWAP_ORDER } from '../../../core/layout/event.ts'
import { orderId } from '../../../core/layout/ids.ts'
import type { Views } from '../../../core/layout/table.ts'
import { TWAP_REASON_NAMES, TwapReason, twapReasonOf, TwapState, twapStateOf } from '../../../core/layout/twap.ts'
import { readTwaps, type TwapView } from '../../../core/view/twaps.ts'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { PairName, Uuid } from '../../operations/operation.ts'
import { field } from '../../operations/schema.ts'
import { TwapRecord, twapRecord, type TwapFacts } from '../../operations/twap_record.ts'
import { dataFrame, type Params } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

const { at: T } = TWAP_ORDER
const { at: O } = TWAP_OPENED
/** By TwapReason: what happened to it. */
const REASONS = TWAP_REASON_NAMES.map((name) => name.toLowerCase() as Lowercase<typeof name>)
/** In place of a pair: all of them. */
const ALL = -1

export const TWAP_ORDERS = channel({
  name: 'twapOrders',
  access: 'private',
  about: 'The TWAP orders of the account, of all pairs or of one.',
  params: Type.Object({
    tradingPairId: Type.Optional(field(PairName, 'Only TWAP orders of this pair, by id or symbol; absent: all.')),
  }),
  frames: {
    snapshot: {
      about: 'TWAP orders that are PENDING or ACTIVE.',
      data: Type.Object({
        tradingPairId: Type.Optional(field(Uuid, 'The pair that was asked for; absent: all.')),
        twapOrders: field(Type.Array(TwapRecord), 'TWAP orders that are PENDING or ACTIVE, newest first.'),
      }),
      sequenced: false, reasons: ['snapshot'],
    },
    twap_order_update: {
      about: 'A TWAP order that changed.',
      data: Type.Object({
        ...TwapRecord.properties,
        sliceOrderId: Type.Optional(field(Uuid, 'The order that was placed, where the reason is `slice`.')),
      }),
      sequenced: false, reasons: [...REASONS, 'filled'],
    },
  },
  example: {
    params: { tradingPairId: sample.PAIR },
    frames: {
      snapshot: { tradingPairId: sample.PAIR, twapOrders: [sample.twapOrder] },
      twap_order_update: { ...sample.twapOrder, sliceOrderId: sample.SLICE },
    },
  },
  create: createTwapOrders,
})
const NAME = TWAP_ORDERS.name

/** One event of a TWAP order: what it says, over what is known of it. */
interface Change {
  readonly key: string
  readonly sequence: number
  readonly reason: number
  readonly said: Partial<TwapView> & Pick<TwapView, 'account' | 'createdSequence' | 'twap' | 'state' | 'pair' | 'updatedAt'>
  /** Of its slice; -1: none was placed. */
  readonly childSlot: number
}

interface Listened {
  readonly account: number
  /** By subscriber: the pairs, or {@link ALL}, and the sequence that its snapshot of them has in it. */
  readonly subscribers: Map<Subscriber, Map<number, number>>
  /** Those that wait or run, as they were told last. */
  readonly known: Map<string, TwapFacts>
  /** Those that were made since. */
  readonly opened: Map<string, Partial<TwapView>>
  changes: Change[]
  /** A slice that rests was filled. */
  filled: boolean
}

const nameOf = (sequence: number, row: number): string => `${sequence}/${row}`
const keyOf = ({ createdSequence, twap }: TwapView): string => nameOf(createdSequence, twap)

function createTwapOrders(gateway: Gateway): Channel {
  const accounts = new Map<number, Listened>()
  const waiting = new Set<Listened>()
  const pairOf = ({ tradingPairId }: Params): number =>
    tradingPairId === undefined ? ALL : gateway.pairs.get((tradingPairId as string).toLowerCase())!.index
  return {
    declaration: TWAP_ORDERS,
    read: readerOf(gateway, TWAP_ORDERS),
    subscribe: (subscriber, params) => subscribe(gateway, accounts, subscriber, pairOf(params)),
    unsubscribe: (subscriber, params) => {
      const listened = accounts.get(subscriber.account)
      const pairs = listened?.subscribers.get(subscriber)
      if (listened === undefined || pairs === undefined) return
      pairs.delete(pairOf(params))
      if (pairs.size === 0) listened.subscribers.delete(subscriber)
      if (listened.subscribers.size > 0) return
      accounts.delete(subscriber.account)
      waiting.delete(listened)
    },
    take: (records, base) => {
      if (accounts.size > 0) take(accounts, waiting, records, base)
    },
    flush: () => {
      for (const listened of waiting) if (look(gateway, listened)) waiting.delete(listened)
    },
  }
}

function subscribe(gateway: Gateway, accounts: Map<number, Listened>, subscriber: Subscriber, pair: number): boolean {
  const { account } = subscriber
  const listened = accounts.get(account) ?? {
    account, subscribers: new Map<Subscriber, Map<number, number>>(), known: new Map<string, TwapFacts>(),
    opened: new Map<string, Partial<TwapView>>(), changes: [], filled: false,
  }
  accounts.set(account, listened)
  const pairs = listened.subscribers.get(subscriber) ?? new Map<number, number>()
  listened.subscribers.set(subscriber, pairs)
  const live = readTwaps(gateway.state, gateway.gate, account)
  // Without a new snapshot what an earlier one has is still not told again.
  pairs.set(pair, live?.sequence ?? pairs.get(pair) ?? 0)
  if (live === null) return false
  // What others were told last stays what they were told.
  for (const twap of live.twaps) if (!listened.known.has(keyOf(twap))) listened.known.set(keyOf(twap), twap)
  const shown = live.twaps.filter((twap) => pair === ALL || twap.pair === pair)
  const scope = pair === ALL ? {} : { tradingPairId: gateway.genesis.pairs[pair]!.id }
  subscriber.push(() => {
    const data = { ...scope, twapOrders: shown.map((twap) => twapRecord(gateway, twap)) }
    return dataFrame(NAME, 'snapshot', gateway.now(), data, undefined, 'snapshot')
  })
  return true
}

function take(accounts: Map<number, Listened>, waiting: Set<Listened>, records: Views, base: number): void {
  const { u32, i32 } = records
  switch (eventTypeOf(u32[base]!)) {
    case EventType.TWAP_OPENED: {
      const listened = accounts.get(i32[base + O.account]!)
      if (listened !== undefined) open(listened, records, base)
      return
    }
    case EventType.TWAP: {
      const listened = accounts.get(i32[base + T.account]!)
      if (listened === undefined) return
      listened.changes.push(changeOf(records, base))
      waiting.add(listened)
      return
    }
    case EventType.FILL: {
      if (originOf(u32[base + FILL.at.makerFlags]!) !== Origin.TWAP) return
      const listened = accounts.get(i32[base + FILL.at.makerAccount]!)
      if (listened === undefined) return
      listened.filled = true
      waiting.add(listened)
    }
  }
}

/** Remembers what the TWAP_OPENED at word `base` says. */
function open({ opened }: Listened, { i32, f64, bytes }: Views, base: number): void {
  const at = (base + O.label) * 4
  const label = Buffer.from(bytes.buffer, bytes.byteOffset + at, i32[base + O.labelLength]!).toString('latin1')
  opened.set(nameOf(f64[(base + O.createdSequence) >>> 1]!, i32[base + O.twap]!), {
    price: i32[base + O.price]!, slippageBps: i32[base + O.slippageBps]!, options: i32[base + O.options]!, trigger: i32[base + O.trigger]!,
    conditionalExpiry: f64[(base + O.conditionalExpiry) >>> 1]!, durationMs: i32[base + O.durationMs]!, leverage: i32[base + O.leverage]!,
    label,
  })
}

/** The event at word `base`. */
function changeOf({ i32, u32, f64, i64 }: Views, base: number): Change {
  const word = (at: number): number => i32[base + at]!
  const double = (at: number): number => f64[(base + at) >>> 1]!
  const what = word(T.what)
  const [createdSequence, twap] = [double(T.createdSequence), word(T.twap)]
  return {
    key: nameOf(createdSequence, twap), sequence: double(T.sequence), reason: twapReasonOf(what), childSlot: word(T.childSlot),
    said: {
      account: word(T.account), createdSequence, twap, state: twapStateOf(what), pair: word(T.pair), flags: u32[base + T.flags]!,
      lots: word(T.lots), filled: word(T.filled), slices: word(T.slices), reached: word(T.reached), placed: word(T.placed),
      code: word(T.code), startAt: double(T.startAt), endAt: double(T.endAt), nextAt: double(T.nextAt), updatedAt: double(T.time),
      filledQuote: i64[(base + T.filledQuote) >>> 1]!, fee: i64[(base + T.fee) >>> 1]!,
    },
  }
}

const isOver = (state: number): boolean => state !== TwapState.PENDING && state !== TwapState.ACTIVE

/** Tells what happened to an account's TWAP orders; false: it cannot be read now. */
function look(gateway: Gateway, listened: Listened): boolean {
  const live = readTwaps(gateway.state, gateway.gate, listened.account)
  if (live === null) return false
  const rows = new Map(live.twaps.map((twap) => [keyOf(twap), twap]))
  for (const change of listened.changes) tellChange(gateway, listened, change, rows)
  listened.changes = []
  if (listened.filled) tellFills(gateway, listened, rows)
  listened.filled = false
  return true
}

function tellChange(gateway: Gateway, listened: Listened, change: Change, rows: Map<string, TwapView>): void {
  const { known, opened } = listened
  const { key, said, reason, sequence, childSlot } = change
  const row = rows.get(key)
  const first = opened.get(key)
  const before = first === undefined ? known.get(key) ?? row : { ...first, createdAt: said.updatedAt }
  opened.delete(key)
  // Nobody was told of it: it was over before the snapshot.
  if (before === undefined) return
  const place = row?.place ?? (before as TwapFacts).place
  const told = { ...before, ...said, ...(place === undefined ? {} : { place }) } as TwapFacts
  const more = reason === TwapReason.SLICE && childSlot >= 0 ? { sliceOrderId: orderId(sequence, childSlot) } : {}
  tell(gateway, listened, told, REASONS[reason]!, sequence, more)
  if (isOver(said.state)) known.delete(key)
  else known.set(key, told)
}

/** Tells of slices that rest what was filled. */
function tellFills(gateway: Gateway, listened: Listened, rows: Map<string, TwapView>): void {
  for (const [key, before] of listened.known) {
    const row = rows.get(key)
    // What happened to it meanwhile comes with events of its own.
    if (row === undefined || row.placed !== before.placed || row.filled === before.filled) continue
    const told: TwapFacts = { ...before, filled: row.filled, filledQuote: row.filledQuote, fee: row.fee }
    listened.known.set(key, told)
    tell(gateway, listened, told, 'filled', Infinity, {})
  }
}

/** Sends one record to whoever listens to it and does not have what the command `sequence` did in his snapshot. */
function tell(gateway: Gateway, { subscribers }: Listened, twap: TwapFacts, reason: string, sequence: number, more: object): void {
  const wants = (since: number | undefined): boolean => since !== undefined && sequence > since
  const to = [...subscribers].filter(([, pairs]) => wants(pairs.get(ALL)) || wants(pairs.get(twap.pair)))
  if (to.length === 0) return
  const frame = dataFrame(NAME, 'twap_order_update', gateway.now(), { ...twapRecord(gateway, twap), ...more }, undefined, reason)
  for (const [subscriber] of to) subscriber.push(frame)
}
