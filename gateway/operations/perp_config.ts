/** What is public of a perpetual besides its market: its risk configuration, which the genesis says, and the funding that it paid. */
import Type, { type Static } from 'typebox'
import type { HistoryFundingRate } from '../../core/history/answer/queries.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { ppmText } from '../../core/lib/ppm.ts'
import type { Asset, Pair } from '../../core/state/genesis.ts'
import type { Gateway } from '../context.ts'
import { Refused } from '../refused.ts'
import { amountText, priceText, quantityText } from './amounts.ts'
import * as sample from './example_values.ts'
import { TimeRange } from './history_filters.ts'
import { listHistory } from './history_listing.ts'
import { ListingOutput, ListingQuery, PAGES } from './listing.ts'
import { pairOf } from './lookup.ts'
import { Decimal, Nullable, operation, rfc3339, Timestamp } from './operation.ts'
import { HISTORY } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'

type PerpTerms = NonNullable<Pair['perp']>
type RiskTier = PerpTerms['tiers'][number]

const maxPositionSize = field(Decimal, 'Largest position, orders included, in units of the base token; the same on every tier.')
/** The deprecated alias of maxPositionSize. */
const maxPositionNotional = field(Decimal, 'Deprecated: the same as maxPositionSize.', { deprecated: true })

const RiskTierRecord = record('RiskTier', 'What a position of some notional needs.', Type.Object({
  tierLevel: field(Type.Integer(), 'From 1, the lowest.'),
  lowerBoundNotional: field(Decimal, 'A position is in the tier when abs(quantity) times mark price is at or above this; 0 of tier 1.'),
  initialMarginRatio: field(Decimal, 'Initial margin: notional times this, less initialMarginDeduction.'),
  maintenanceMarginRatio: field(Decimal, 'Maintenance margin: notional times this, less maintenanceMarginDeduction.'),
  maxLeverage: Type.Optional(
    field(Decimal, 'Highest leverage in the tier. Absent only of a single tier that is configured by its ratios.'),
  ),
  initialMarginDeduction: field(Decimal, 'In units of the quote token; 0 of tier 1. It makes the requirement continuous.'),
  maintenanceMarginDeduction: field(Decimal, 'In units of the quote token; 0 of tier 1.'),
  maxPositionNotional,
  maxPositionSize,
}))

const PerpConfig = record('PerpConfig', 'Risk configuration of a perpetual.', Type.Object({
  tradingPairId: fields.tradingPairId,
  symbol: fields.symbol,
  minLeverage: field(Decimal, 'Lowest leverage of an order.'),
  maxLeverage: field(Decimal, 'Highest leverage, of tier 1.'),
  initialMarginRatio: field(Decimal, 'Of tier 1.'),
  maintenanceMarginRatio: field(Decimal, 'Of tier 1.'),
  fundingIntervalSeconds: field(Type.Integer(), 'Funding is paid every so many seconds.'),
  liquidationFeeBps: field(Decimal, 'Fee of what a liquidation closes, in basis points of the value.'),
  riskTiers: field(Type.Array(RiskTierRecord), 'Ascending by lowerBoundNotional, never empty.'),
  maxPositionSize,
  maxPositionNotional,
  updatedAt: field(Nullable(Timestamp), 'When it changed last; null: it is as old as the exchange.'),
}))

const leverageText = (hundredths: number): string => formatDecimal(hundredths, 2)

function tierRecord(quote: Asset, tier: RiskTier, level: number, size: string): Static<typeof RiskTierRecord> {
  return {
    tierLevel: level,
    lowerBoundNotional: amountText(quote, tier.lowerBound),
    initialMarginRatio: ppmText(tier.initialPpm),
    maintenanceMarginRatio: ppmText(tier.maintenancePpm),
    ...(tier.leverageGiven ? { maxLeverage: leverageText(tier.maxLeverage) } : {}),
    initialMarginDeduction: amountText(quote, tier.initialDeduction),
    maintenanceMarginDeduction: amountText(quote, tier.maintenanceDeduction),
    maxPositionNotional: size,
    maxPositionSize: size,
  }
}

function configRecord({ genesis }: Gateway, pair: Pair, perp: PerpTerms): Static<typeof PerpConfig> {
  const quote = genesis.assets[pair.quote]!
  const [first] = perp.tiers as [RiskTier]
  const size = quantityText(pair, perp.maxPositionLots)
  return {
    tradingPairId: pair.id,
    symbol: pair.symbol,
    minLeverage: leverageText(perp.minLeverage),
    maxLeverage: leverageText(first.maxLeverage),
    initialMarginRatio: ppmText(first.initialPpm),
    maintenanceMarginRatio: ppmText(first.maintenancePpm),
    fundingIntervalSeconds: perp.fundingIntervalSeconds,
    liquidationFeeBps: formatDecimal(perp.liquidationFeePpm, 2),
    riskTiers: perp.tiers.map((tier, place) => tierRecord(quote, tier, place + 1, size)),
    maxPositionSize: size,
    maxPositionNotional: size,
    updatedAt: null,
  }
}

/** The perpetual of this name; a spot pair has no such configuration. */
function perpOf(gateway: Gateway, name: string): { pair: Pair; perp: PerpTerms } | Refused {
  const pair = pairOf(gateway, name)
  if (pair instanceof Refused) return pair
  const { perp } = pair
  return perp === null ? new Refused('NOT_FOUND', 'The trading pair is no perpetual', { field: 'tradingPairId' }) : { pair, perp }
}

const PairPath = Type.Object({ tradingPairId: fields.pairName })

export const GetPerpConfig = operation({
  service: 'MarketService', method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/perp/config',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Risk configuration of a perpetual',
  description: 'Leverage, the whole ladder of risk tiers, funding and fees. A position is in the last tier whose `lowerBoundNotional` is '
    + 'at or below abs(quantity) times mark price; its initial margin is the greater of the floor of the tier and what the chosen leverage '
    + 'asks for at the mark price.',
  answer: 'The configuration.',
  refusals: ['NOT_FOUND'],
  params: PairPath,
  output: PerpConfig,
  example: { input: { tradingPairId: sample.PERP }, output: sample.perpConfig },
  run: (gateway, call, input) => {
    const found = perpOf(gateway, input.tradingPairId)
    if (found instanceof Refused) call.refuse(found)
    else call.answer(configRecord(gateway, found.pair, found.perp))
  },
})

const FundingRate = record('FundingRate', 'Funding of one interval of a perpetual.', Type.Object({
  tradingPairId: fields.tradingPairId,
  fundingRate: field(Decimal, 'Part of the notional that was paid; positive: longs paid shorts.'),
  fundingTime: field(Timestamp, 'When it was paid.'),
  markPrice: field(Decimal, 'Mark price that it was paid at.'),
  indexPrice: field(Decimal, 'Index price then.'),
  samples: field(Type.Integer(), 'Samples of the premium that the rate is the mean of; 0: none, and the rate is 0.'),
  openInterest: field(Decimal, 'Quantity of all longs, in units of the base token.'),
}))

const RATE_DIGITS = 8

function rateRecord(pair: Pair, rate: HistoryFundingRate): Static<typeof FundingRate> {
  return {
    tradingPairId: pair.id,
    fundingRate: formatDecimal(rate.rate, RATE_DIGITS),
    fundingTime: rfc3339(rate.time),
    markPrice: priceText(pair, rate.mark),
    indexPrice: priceText(pair, rate.indexPrice),
    samples: rate.samples,
    openInterest: quantityText(pair, rate.openLots),
  }
}

export const ListFundingRates = operation({
  service: 'MarketService', method: 'GET', path: '/api/v1/market/pairs/{tradingPairId}/perp/funding-rates',
  access: 'public', agent: '-', maintenance: 'open', rate: 'none',
  summary: 'Funding rates of a perpetual',
  description: `Funding that the perpetual paid, newest first. ${PAGES}`,
  answer: 'A page of funding rates.',
  refusals: ['NOT_FOUND', ...HISTORY],
  params: PairPath,
  query: Type.Object({ ...ListingQuery, ...TimeRange }),
  output: Type.Object({ fundingRates: field(Type.Array(FundingRate), 'Newest first.'), ...ListingOutput }),
  example: {
    input: { tradingPairId: sample.PERP, page: 1, pageSize: 20 }, output: { fundingRates: [sample.fundingRate], ...sample.page },
  },
  run: (gateway, call, input) => {
    const found = perpOf(gateway, input.tradingPairId)
    if (found instanceof Refused) return call.refuse(found)
    const { pair } = found
    // By either of its names it is the same listing, so page tokens are bound to the id.
    const asked = { ...input, tradingPairId: pair.id }
    listHistory(gateway, call, 'ListFundingRates', asked, 'fundingRates', { pair: pair.index }, (rows, fields) =>
      call.answer({ fundingRates: rows.map((rate) => rateRecord(pair, rate)), ...fields }))
  },
})
