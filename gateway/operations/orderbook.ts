/** Order book depth, public, as of one sequence: from the shared columns, or of the matcher when those move without rest. */
import { crc32 } from 'node:zlib'
import Type, { type Static } from 'typebox'
import type { Pair } from '../../core/state/genesis.ts'
import type { Depth, DepthLevel } from '../../core/view/book.ts'
import { WALK_MAX } from '../bridge/walked_side.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { networkOf } from '../limits/network.ts'
import { amountText, priceText, quantityText } from './amounts.ts'
import { Decimal, operation, rfc3339, Timestamp, Uuid } from './operation.ts'
import { findPair } from './order_terms.ts'
import * as sample from './example_values.ts'
import { READ } from './refusal_groups.ts'

const PRICED = { price: Decimal, quantity: Decimal }
/** A level as streams tell it. */
export const PricedLevel = Type.Object(PRICED)
export type PricedLevel = Static<typeof PricedLevel>
const Level = Type.Object({ ...PRICED, orderCount: Type.Integer() })
type Level = Static<typeof Level>

/** Groups prices by this many ticks, a power of ten ({@link isPowerOfTen}). */
export const Magnitude = Type.Integer({ minimum: 1, maximum: 1_000_000 })
export const isPowerOfTen = (magnitude: number): boolean => Number.isInteger(Math.log10(magnitude))

const Query = Type.Object({
  /** Levels of each side. */
  depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  magnitude: Type.Optional(Magnitude),
  denomination: Type.Optional(Type.Union([Type.Literal('BASE'), Type.Literal('QUOTE')])),
})

const Orderbook = Type.Object({
  tradingPairId: Uuid,
  bids: Type.Array(Level),
  asks: Type.Array(Level),
  bestBid: Type.Optional(Decimal),
  bestAsk: Type.Optional(Decimal),
  sequence: Type.Integer(),
  checksum: Type.Integer(),
  timestamp: Timestamp,
})

/** Levels of each side that the checksum covers. */
export const CHECKSUM_LEVELS = 10
const DEPTH = 50
const TOO_WIDE = `The book has more than ${WALK_MAX} price levels within this depth; ask for less, or for a smaller magnitude`

function levelRecord(gateway: Gateway, pair: Pair, level: DepthLevel, inQuote: boolean): Level {
  const quote = gateway.genesis.assets[pair.quote]!
  const value = BigInt(level.price) * BigInt(level.lots) * pair.tickLotAtoms
  const quantity = inQuote ? amountText(quote, value) : quantityText(pair, level.lots)
  return { price: priceText(pair, level.price), quantity, orderCount: level.orders }
}

/** CRC-32 of `price:quantity` of the best levels of each side as answered, ten at most, joined by commas, bids first. */
export function checksumOf(bids: readonly PricedLevel[], asks: readonly PricedLevel[]): number {
  const best = [...bids.slice(0, CHECKSUM_LEVELS), ...asks.slice(0, CHECKSUM_LEVELS)]
  return crc32(best.map(({ price, quantity }) => `${price}:${quantity}`).join(','))
}

const exampleBids = [{ price: '60000', quantity: '0.03', orderCount: 1 }]
const exampleAsks = [{ price: '60010.5', quantity: '1.2', orderCount: 3 }]

export const GetOrderbook = operation({
  service: 'OrderbookService', method: 'GET', path: '/api/v1/orderbook/{tradingPairId}',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Order book',
  description: 'The book by price, both sides of one moment. `sequence` tells books apart, `checksum` proves a copy.',
  answer: 'The book.',
  refusals: ['NOT_FOUND', ...READ],
  params: Type.Object({ tradingPairId: Uuid }),
  query: Query,
  output: Orderbook,
  example: {
    input: { tradingPairId: sample.PAIR, depth: 2 },
    output: {
      tradingPairId: sample.PAIR,
      bids: exampleBids,
      asks: exampleAsks,
      bestBid: '60000',
      bestAsk: '60010.5',
      sequence: 43,
      checksum: checksumOf(exampleBids, exampleAsks),
      timestamp: sample.LATER,
    },
  },
  run: (gateway, call, { tradingPairId, depth = DEPTH, magnitude = 1, denomination = 'BASE' }) => {
    if (!isPowerOfTen(magnitude)) return call.refuse(refusedField('magnitude', 'magnitude must be a power of ten'))
    const pair = findPair(gateway, tradingPairId)
    if (pair === undefined) return call.refuse(new Refused('NOT_FOUND', 'Trading pair not found'))
    const answer = (book: Depth | Refused): void => {
      if (book instanceof Refused) return call.refuse(book)
      if (book.cut) return call.refuse(refusedField('magnitude', TOO_WIDE))
      const inQuote = denomination === 'QUOTE'
      const bids = book.bids.slice(0, depth).map((level) => levelRecord(gateway, pair, level, inQuote))
      const asks = book.asks.slice(0, depth).map((level) => levelRecord(gateway, pair, level, inQuote))
      call.answer({
        tradingPairId: pair.id,
        bids,
        asks,
        ...(book.bestBid === null ? {} : { bestBid: priceText(pair, book.bestBid) }),
        ...(book.bestAsk === null ? {} : { bestAsk: priceText(pair, book.bestAsk) }),
        sequence: book.sequence,
        checksum: checksumOf(bids, asks),
        timestamp: rfc3339(gateway.now()),
      })
    }
    gateway.books.read(pair.index, depth, magnitude, () => networkOf(call.ip()), answer, gateway.history.payer)
  },
})
