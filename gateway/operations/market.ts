/** Trading pairs and the clock: public, the same for everybody. */
import Type, { type Static } from 'typebox'
import { PAIR } from '../../core/state/columns.ts'
import { get, pairRow } from '../../core/view/rows.ts'
import type { Pair } from '../../core/state/genesis.ts'
import { PairStatus } from '../../core/layout/command.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText, quantityText } from './amounts.ts'
import { Decimal, Nullable, operation, pageOf, PageOutput, PageQuery, rfc3339, Timestamp, Uuid } from './operation.ts'
import { TradingMode } from './order_words.ts'
import * as sample from './example_values.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'
import { pairOf } from './lookup.ts'

export const TradingPair = record('TradingPair', 'A market and its rules.', Type.Object({
  id: fields.id,
  symbol: fields.symbol,
  baseToken: field(Type.String(), 'Symbol of what is traded.'),
  quoteToken: field(Type.String(), 'Symbol of what it is paid in.'),
  baseAssetId: field(Uuid, 'Asset that is traded.'),
  quoteAssetId: field(Uuid, 'Asset it is paid in.'),
  baseTokenContract: field(Type.String(), 'Contract address of the base token.'),
  quoteTokenContract: field(Type.String(), 'Contract address of the quote token.'),
  baseDecimals: field(Type.Integer(), 'Digits of the base token on the chain.'),
  quoteDecimals: field(Type.Integer(), 'Digits of the quote token on the chain.'),
  baseAmountDecimals: field(Type.Integer(), fields.AMOUNT_DECIMALS),
  quoteAmountDecimals: field(Type.Integer(), fields.AMOUNT_DECIMALS),
  baseIconUrl: field(Nullable(Type.String()), 'Icon, or null.'),
  quoteIconUrl: field(Nullable(Type.String()), 'Icon, or null.'),
  isActive: field(Type.Boolean(), 'Whether new orders are taken.'),
  makerFeeBps: field(Decimal, 'Fee of orders that rested, in basis points of the value; negative is paid to you.'),
  takerFeeBps: field(Decimal, 'Fee of orders that took, in basis points of the value.'),
  minOrderSize: field(Decimal, 'Smallest quantity of an order.'),
  maxOrderSize: field(Decimal, 'Largest quantity of an order.'),
  minNotional: field(Decimal, 'Smallest value of an order (price times quantity), in units of the quote token.'),
  tickSize: field(Decimal, 'Prices are multiples of this.'),
  lotSize: field(Decimal, 'Quantities are multiples of this.'),
  marketType: field(TradingMode, 'SPOT or MARGIN.'),
  category: field(Nullable(Type.String()), 'Group of markets, or null.'),
}))
type TradingPair = Static<typeof TradingPair>

const isActive = ({ state }: Gateway, pair: Pair): boolean => get(state, pairRow(state, pair.index), PAIR.STATUS) === PairStatus.ACTIVE

/** A trading pair as it is now. */
export function pairRecord(gateway: Gateway, pair: Pair): TradingPair {
  const base = gateway.genesis.assets[pair.base]!
  const quote = gateway.genesis.assets[pair.quote]!
  return {
    id: pair.id,
    symbol: pair.symbol,
    baseToken: base.symbol,
    quoteToken: quote.symbol,
    baseAssetId: base.id,
    quoteAssetId: quote.id,
    baseTokenContract: base.token,
    quoteTokenContract: quote.token,
    baseDecimals: base.decimals,
    quoteDecimals: quote.decimals,
    baseAmountDecimals: base.scale,
    quoteAmountDecimals: quote.scale,
    baseIconUrl: base.iconUrl,
    quoteIconUrl: quote.iconUrl,
    isActive: isActive(gateway, pair),
    makerFeeBps: pair.makerFeeBps,
    takerFeeBps: pair.takerFeeBps,
    minOrderSize: quantityText(pair, pair.minLots),
    maxOrderSize: quantityText(pair, pair.maxLots),
    minNotional: amountText(quote, pair.minNotionalAtoms),
    tickSize: pair.tickSize,
    lotSize: pair.lotSize,
    marketType: pair.marketType,
    category: pair.category,
  }
}

const Filters = Type.Object({
  ...PageQuery,
  isActive: Type.Optional(field(Type.Boolean(), 'Whether new orders are taken.')),
  marketType: Type.Optional(field(TradingMode, 'SPOT or MARGIN.')),
  baseToken: Type.Optional(field(Type.String({ minLength: 1 }), 'Symbol of what is traded.')),
  quoteToken: Type.Optional(field(Type.String({ minLength: 1 }), 'Symbol of what it is paid in.')),
  category: Type.Optional(field(Type.String({ minLength: 1 }), 'Group of markets, or null.')),
})

export const ListTradingPairs = operation({
  service: 'MarketService', method: 'GET', path: '/api/v1/market/pairs',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Trading pairs',
  description: 'Markets with their fees, ticks, lots and limits.',
  answer: 'A page of trading pairs.',
  refusals: [],
  query: Filters,
  output: Type.Object({ tradingPairs: field(Type.Array(TradingPair), 'Pairs that match the filters.'), ...PageOutput }),
  example: { input: { isActive: true, quoteToken: 'USDC' }, output: { tradingPairs: [sample.pair], ...sample.page } },
  run: (gateway, call, input) => {
    const { assets, pairs } = gateway.genesis
    const found = pairs.filter(
      (pair) =>
        (input.isActive === undefined || isActive(gateway, pair) === input.isActive) &&
        (input.marketType === undefined || pair.marketType === input.marketType) &&
        (input.baseToken === undefined || assets[pair.base]!.symbol === input.baseToken) &&
        (input.quoteToken === undefined || assets[pair.quote]!.symbol === input.quoteToken) &&
        (input.category === undefined || pair.category === input.category),
    )
    const { items, ...page } = pageOf(found, input.page, input.pageSize)
    call.answer({ tradingPairs: items.map((pair) => pairRecord(gateway, pair)), ...page })
  },
})

export const GetTradingPair = operation({
  service: 'MarketService', method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'One trading pair',
  description: 'A market with its fees, ticks, lots and limits.',
  answer: 'The trading pair.',
  refusals: ['NOT_FOUND'],
  params: Type.Object({ tradingPairId: fields.pairName }),
  output: Type.Object({ tradingPair: field(TradingPair, 'The pair.') }),
  example: { input: { tradingPairId: sample.PAIR }, output: { tradingPair: sample.pair } },
  run: (gateway, call, input) => {
    const pair = pairOf(gateway, input.tradingPairId)
    if (pair instanceof Refused) call.refuse(pair)
    else call.answer({ tradingPair: pairRecord(gateway, pair) })
  },
})

export const GetServerTime = operation({
  service: 'MarketService', method: 'GET', path: '/api/v1/time',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Time of the service',
  description: 'To measure how far your clock is off: signatures are good for 30 seconds either way.',
  answer: 'The time.',
  refusals: [],
  output: Type.Object(
    {
      serverTime: field(Timestamp, 'Time of the service.'),
      unixMs: field(Type.Integer(), 'The same in Unix milliseconds: what X-Svc-Timestamp is held against.'),
    },
  ),
  example: { input: {}, output: { serverTime: sample.MOMENT, unixMs: 1_768_469_400_000 } },
  run: (gateway, call) => {
    const now = gateway.now()
    call.answer({ serverTime: rfc3339(now), unixMs: now })
  },
})
