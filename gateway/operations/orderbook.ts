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
import { Decimal, operation, rfc3339, Timestamp,  } from './operation.ts'
import * as sample from './example_values.ts'
import { READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { pairOf } from './lookup.ts'

const PRICED = {
  price: field(Decimal, 'Units of the quote token for one of the base token.'),
  quantity: field(Decimal, 'Everything at this price, in the denomination asked for.'),
}
/** A level as streams tell it. */
export const PricedLevel = Type.Object(PRICED)
export type PricedLevel = Static<typeof PricedLevel>
const Level = record(
  'BookLevel', 'All orders of one price.',
  Type.Object({ ...PRICED, orderCount: field(Type.Integer(), 'Orders at this price.') }),
)
type Level = Static<typeof Level>

/** Groups prices by this many ticks, a power of ten ({@link isPowerOfTen}). */
export const Magnitude = Type.Integer({ minimum: 1, maximum: 1_000_000 })
export const isPowerOfTen = (magnitude: number): boolean => Number.isInteger(Math.log10(magnitude))

const Query = Type.Object({
  /** Levels of each side. */
  depth: Type.Optional(field(Type.Integer({ minimum: 1, maximum: 1000 }), 'Levels of each side, 1 to 1000; default 50.')),
  magnitude: Type.Optional(
    field(Magnitude, 'Group prices by this many ticks, a power of ten; default 1. Bids are grouped downwards, asks upwards.'),
  ),
  denomination: Type.Optional(
    field(
      Type.Union([Type.Literal('BASE'), Type.Literal('QUOTE')]),
      'Whether quantities are in units of the base token (default) or of the quote token.',
    ),
  ),
})

const Orderbook = Type.Object({
  tradingPairId: fields.tradingPairId,
  bids: field(Type.Array(Level), 'Buyers, best price first.'),
  asks: field(Type.Array(Level), 'Sellers, best price first.'),
  bestBid: Type.Optional(field(Decimal, 'Highest price somebody buys at; absent when nobody does.')),
  bestAsk: Type.Optional(field(Decimal, 'Lowest price somebody sells at; absent when nobody does.')),
  sequence: field(
    Type.Integer(),
    'Number of a command in the one sequence of the exchange, which only grows: the one that is answered, or the '
      + 'last one that was applied when this was read.',
  ),
  checksum: field(
    Type.Integer(),
    'CRC-32 of the best levels of each side as answered, ten at most: `price:quantity` joined by commas, bids first.',
  ),
  timestamp: field(Timestamp, 'When this was read.'),
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
  params: Type.Object({ tradingPairId: fields.pairName }),
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
    const pair = pairOf(gateway, tradingPairId)
    if (pair instanceof Refused) return call.refuse(pair)
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
