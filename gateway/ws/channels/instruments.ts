/**
 * `instruments {}`: the trading pairs as over REST. The snapshot has all of them, an update those that the operator listed or changed. A
 * pair is told as it is when the frame is made, so two changes in one turn make one update.
 */
import Type from 'typebox'
import { CommandType } from '../../../core/layout/command.ts'
import { answeredTypeOf, EventType, eventTypeOf, RESULT } from '../../../core/layout/event.ts'
import type { Gateway } from '../../context.ts'
import * as sample from '../../operations/example_values.ts'
import { pairRecord, TradingPair } from '../../operations/market.ts'
import { field } from '../../operations/schema.ts'
import { dataFrame } from '../frames.ts'
import { channel, type Channel, type Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

const Instruments = Type.Object({ instruments: field(Type.Array(TradingPair), 'Trading pairs as they are now.') })

export const INSTRUMENTS = channel({
  name: 'instruments',
  access: 'public',
  about: 'The trading pairs and what they allow.',
  params: Type.Object({}),
  frames: {
    snapshot: { about: 'All trading pairs.', data: Instruments, sequenced: false },
    instruments_update: { about: 'The trading pairs that are new or changed, as they are now.', data: Instruments, sequenced: true },
  },
  example: {
    params: {},
    frames: { snapshot: { instruments: [sample.pair] }, instruments_update: { instruments: [{ ...sample.pair, isActive: false }] } },
  },
  create: createInstruments,
})
const NAME = INSTRUMENTS.name

/** What changes a pair as it is told. */
const CHANGES: ReadonlySet<number> = new Set([CommandType.SET_PAIR_STATUS, CommandType.LIST_PAIR, CommandType.SET_PAIR_TERMS])

function createInstruments(gateway: Gateway): Channel {
  const subscribers = new Set<Subscriber>()
  /** Indexes of the pairs that changed, and the sequence of the last change. */
  const changed = new Set<number>()
  let sequence = 0
  return {
    declaration: INSTRUMENTS,
    read: readerOf(gateway, INSTRUMENTS),
    subscribe: (subscriber) => {
      subscribers.add(subscriber)
      const instruments = gateway.genesis.pairs.map((pair) => pairRecord(gateway, pair))
      subscriber.push(dataFrame(NAME, 'snapshot', gateway.now(), { instruments }))
      return true
    },
    unsubscribe: (subscriber) => void subscribers.delete(subscriber),
    take: ({ i32, u32, f64 }, base) => {
      const kind = u32[base]!
      if (eventTypeOf(kind) !== EventType.RESULT || !CHANGES.has(answeredTypeOf(kind))) return
      if (subscribers.size === 0 || i32[base + RESULT.at.code] !== 0) return
      changed.add(i32[base + RESULT.at.pair]!)
      sequence = f64[(base + RESULT.at.sequence) >>> 1]!
    },
    flush: () => {
      if (changed.size === 0) return
      const instruments = [...changed].map((index) => pairRecord(gateway, gateway.genesis.pairs[index]!))
      changed.clear()
      const frame = dataFrame(NAME, 'instruments_update', gateway.now(), { instruments }, sequence)
      for (const subscriber of subscribers) subscriber.push(frame)
    },
  }
}
