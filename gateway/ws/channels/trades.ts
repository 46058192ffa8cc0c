/**
 * `trades {tradingPairId}`: the trades of a pair, oldest first, everybody's and without who made them. A turn of the loop makes one frame
 * of a pair with all its trades; `sequence` is that of the last. There is no snapshot: trades from before are asked for over REST, and one
 * that is in both has the same id.
 */
import Type from 'typebox'
import { Flag } from '../../../core/layout/command.ts'
import { EventType, eventTypeOf, FILL } from '../../../core/layout/event.ts'
import type { Views } from '../../../core/layout/table.ts'
import type { Gateway } from '../../context.ts'
import { Uuid } from '../../operations/operation.ts'
import { TradeRecord, tradeRecord, type PublicTrade } from '../../operations/trades.ts'
import { dataFrame } from '../frames.ts'
import type { Channel, Declaration, Subscriber } from './channel.ts'
import { readerOf } from './parameters.ts'

export const TRADES = {
  name: 'trades',
  access: 'public',
  about: 'The trades of a pair, oldest first, without who made them.',
  params: Type.Object({ tradingPairId: Uuid }),
  frames: {
    trades_update: {
      about: 'Trades since the frame before; `sequence` is that of the last one.', data: Type.Object({ trades: Type.Array(TradeRecord) }),
      sequenced: true,
    },
  },
} as const satisfies Declaration
const NAME = TRADES.name
/** Trades in one frame; more make several. */
const FRAME_TRADES = 500

export function createTrades(gateway: Gateway): Channel {
  const { pairs } = gateway.genesis
  /** By index of the pair. */
  const topics = pairs.map(() => ({ subscribers: new Set<Subscriber>(), trades: [] as PublicTrade[] }))
  const topicOf = (id: unknown) => topics[gateway.pairs.get((id as string).toLowerCase())!.index]!
  return {
    declaration: TRADES,
    read: readerOf(gateway, TRADES),
    subscribe: (subscriber, { tradingPairId }) => {
      topicOf(tradingPairId).subscribers.add(subscriber)
      return true
    },
    unsubscribe: (subscriber, { tradingPairId }) => void topicOf(tradingPairId).subscribers.delete(subscriber),
    take: (records, base) => {
      if (eventTypeOf(records.u32[base]!) !== EventType.FILL) return
      const topic = topics[records.i32[base + FILL.at.pair]!]!
      if (topic.subscribers.size > 0) topic.trades.push(tradeOf(records, base))
    },
    flush: () => {
      for (const { subscribers, trades } of topics) {
        while (trades.length > 0) {
          const part = trades.splice(0, FRAME_TRADES)
          const data = { trades: part.map((trade) => tradeRecord(gateway, trade)) }
          const frame = dataFrame(NAME, 'trades_update', gateway.now(), data, part.at(-1)!.sequence)
          for (const subscriber of subscribers) subscriber.push(frame)
        }
      }
    },
  }
}

function tradeOf({ i32, u32, f64, i64 }: Views, base: number): PublicTrade {
  const { at } = FILL
  return {
    pair: i32[base + at.pair]!,
    sequence: f64[(base + at.sequence) >>> 1]!,
    index: i32[base + at.index]!,
    price: i32[base + at.price]!,
    lots: i32[base + at.lots]!,
    quote: i64[(base + at.quote) >>> 1]!,
    makerSells: (u32[base + at.makerFlags]! & Flag.SELL) !== 0,
    time: f64[(base + at.time) >>> 1]!,
  }
}
