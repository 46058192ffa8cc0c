/**
 * `instruments {}`: the trading pairs as over REST. The snapshot has all of them, an update those whose status the operator changed. A pair
 * is told as it is when the frame is made, so two changes in one turn make one update.
 */
import { CommandType } from '../../../core/layout/command.ts'
import { answeredTypeOf, EventType, eventTypeOf, RESULT } from '../../../core/layout/event.ts'
import type { Gateway } from '../../context.ts'
import { pairRecord } from '../../operations/market.ts'
import { dataFrame } from '../frames.ts'
import type { Channel, Subscriber } from './channel.ts'

const NAME = 'instruments'

export function createInstruments(gateway: Gateway): Channel {
  const { pairs } = gateway.genesis
  const subscribers = new Set<Subscriber>()
  /** Indexes of the pairs that changed, and the sequence of the last change. */
  const changed = new Set<number>()
  let sequence = 0
  return {
    name: NAME,
    access: 'public',
    read: () => ({}),
    subscribe: (subscriber) => {
      subscribers.add(subscriber)
      subscriber.push(dataFrame(NAME, 'snapshot', gateway.now(), { instruments: pairs.map((pair) => pairRecord(gateway, pair)) }))
      return true
    },
    unsubscribe: (subscriber) => void subscribers.delete(subscriber),
    take: ({ i32, u32, f64 }, base) => {
      const kind = u32[base]!
      if (eventTypeOf(kind) !== EventType.RESULT || answeredTypeOf(kind) !== CommandType.SET_PAIR_STATUS) return
      if (subscribers.size === 0 || i32[base + RESULT.at.code] !== 0) return
      changed.add(i32[base + RESULT.at.pair]!)
      sequence = f64[(base + RESULT.at.sequence) >>> 1]!
    },
    flush: () => {
      if (changed.size === 0) return
      const instruments = [...changed].map((index) => pairRecord(gateway, pairs[index]!))
      changed.clear()
      const frame = dataFrame(NAME, 'instruments_update', gateway.now(), { instruments }, sequence)
      for (const subscriber of subscribers) subscriber.push(frame)
    },
  }
}
