/**
 * Order-risk simulation: what an order of a perpetual would do to its risk bucket if it were placed now, for a margin account, the parent,
 * or a bucket (specification, Order-risk simulation).
 *
 * The matcher says whether it would be accepted and what it would meet, between two batches and without changing anything; the figures
 * afterwards are worked out here, from the bucket as it stood in that moment (core/view/preview_figures.ts). What was refused has a reason
 * and, where it could be priced, a fee; nothing else is known of it, and what is not known is absent.
 */
import Type, { type Static } from 'typebox'
import { Flag } from '../../core/layout/command.ts'
import { marginAccountId, parentMarginId, riskBucketId } from '../../core/layout/ids.ts'
import { refusalByNumber, REFUSALS, type RefusalCode } from '../../core/layout/refusals.ts'
import type { Pair } from '../../core/state/genesis.ts'
import { ACCOUNT } from '../../core/state/columns.ts'
import { addOnsOf } from '../../core/view/builder.ts'
import { MARGIN_MODE_NAMES, MarginAccountKind, MarginMode } from '../../core/view/margin.ts'
import { readAccount } from '../../core/view/accounts.ts'
import type { BucketInAccount, MarginAccountView } from '../../core/view/margin.ts'
import { afterOrder, type Previewed, type PreviewFigures } from '../../core/view/preview_figures.ts'
import { accountRow, get } from '../../core/view/rows.ts'
import { parseDecimal } from '../../core/lib/decimal.ts'
import { strategyKeyWords } from '../bridge/strategy_key.ts'
import { noMarginTerms, type MarginTerms, type OrderTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { Amount, amountText, averagePriceText, priceText, quantityText, slippageBps } from './amounts.ts'
import * as sample from './example_values.ts'
import { pairOf } from './lookup.ts'
import {
  findBucket, findMarginAccount, ladderOf, marginAccountIdField, MarginModeName, riskBucketIdField, strategyKey,
} from './margin_summary.ts'
import { Decimal, operation, Uuid, type Call } from './operation.ts'
import { MatchResult } from './order_record.ts'
import { noTerms, takePrice, takeQuantity } from './order_terms.ts'
import { OrderType, PositionSide, Side, TimeInForce } from './order_words.ts'
import { READ } from './refusal_groups.ts'
import * as fields from './fields.ts'
import { field, record } from './schema.ts'

const Preview = Type.Object({
  tradingPairId: fields.pairName,
  strategyKey: Type.Optional(strategyKey),
  side: field(Side, 'BUY or SELL.'),
  positionSide: Type.Optional(field(PositionSide, 'Accepted and ignored: side is authoritative.', { deprecated: true })),
  orderType: field(OrderType, 'LIMIT or MARKET.'),
  timeInForce: Type.Optional(field(TimeInForce, 'GTC (default) or IOC; LIMIT only. FOK cannot be previewed.')),
  price: Type.Optional(field(Amount, 'Limit price; a LIMIT order needs it, a MARKET order must not have it.')),
  quantity: field(Amount, 'In units of the base token; a positive multiple of lotSize.'),
  leverage: Type.Optional(field(Amount, 'Needed unless reduceOnly, where it is ignored; at most two digits behind the point.')),
  reduceOnly: Type.Optional(field(Type.Boolean(), 'Never enlarges or turns the position.')),
  marginMode: Type.Optional(field(MarginModeName, 'ISOLATED (default) or CROSS.')),
  selectedTradingPairIds: Type.Optional(field(
    Type.Array(Uuid, { maxItems: 64 }), 'Accepted and ignored in CROSS mode, refused in ISOLATED mode: the scope is derived.',
    { deprecated: true },
  )),
  slippageToleranceBps: Type.Optional(
    field(Type.Integer({ minimum: 0, maximum: 1000 }), 'MARKET only: how far from the best price it may trade, in basis points.'),
  ),
})
type Preview = Static<typeof Preview>

const OrderRisk = record('OrderRisk', 'What an order would do to its risk bucket. What is absent is not known, never zero.', Type.Object({
  accepted: field(Type.Boolean(), 'Whether it would be accepted.'),
  rejectReason: Type.Optional(field(Type.String(), 'Why it would be refused, in the words of the refusal.')),
  rejectCode: Type.Optional(field(Type.String(), 'The code of that refusal.')),
  equityAfter: Type.Optional(field(Decimal, 'Equity of the bucket afterwards.')),
  initialMarginRequiredAfter: Type.Optional(field(Decimal, 'Its initial margin afterwards, that of resting orders included.')),
  maintenanceMarginRequiredAfter: Type.Optional(field(Decimal, 'Its maintenance margin afterwards.')),
  freeCollateralAfter: Type.Optional(field(Decimal, 'Its free collateral afterwards.')),
  estimatedFee: Type.Optional(field(
    Decimal, 'Fee of the whole order at your own rates: taker of what crosses now, maker of what would rest; negative is a net rebate. '
      + 'Also of a refused order; absent when it could not be priced.',
  )),
  estimatedLiquidationPrice: Type.Optional(
    field(Decimal, 'Liquidation price of the position afterwards; in CROSS mode while other marks stay. Absent: there is none.'),
  ),
  marginAccountId: Type.Optional(marginAccountIdField),
  strategyKey: Type.Optional(field(Type.String(), 'Strategy key of the bucket; absent without one.')),
  riskBucketId: Type.Optional(field(Uuid, 'The bucket; absent while the order would make it.')),
  marginMode: field(MarginModeName, 'ISOLATED or CROSS.'),
  selectedTradingPairIds: Type.Optional(field(
    Type.Array(Uuid), 'CROSS only: pairs that the bucket traded, those of its open positions, and the previewed one.',
  )),
  expectedMatchResult: Type.Optional(field(MatchResult, 'What it would meet now; only of an accepted order.')),
  referencePrice: Type.Optional(
    field(Decimal, 'Of an accepted MARKET order: the best price on the side that it takes from.'),
  ),
}))
type OrderRisk = Static<typeof OrderRisk>

/** Where the order would stand, as commands name it. */
type Place = Pick<MarginTerms, 'namedSequence' | 'marginAccount' | 'bucket'>

const LEVERAGE_SCALE = 2
const LEVERAGE_MOST = 2n ** 31n - 1n

/** Hundredths; 0 of a reduce-only order. */
function leverageOf({ leverage, reduceOnly }: Preview): number | Refused {
  if (reduceOnly === true) return 0
  if (leverage === undefined) return refusedField('leverage', 'leverage is needed unless the order is reduceOnly')
  const hundredths = parseDecimal(leverage, LEVERAGE_SCALE)
  return hundredths !== null && hundredths > 0n && hundredths <= LEVERAGE_MOST ? Number(hundredths)
    : refusedField('leverage', 'leverage must be positive, with at most two digits behind the point')
}

/** The terms of the order that is previewed, or which field is wrong. */
function previewTerms(pair: Pair, input: Preview, place: Place): OrderTerms | Refused {
  const leverage = leverageOf(input)
  if (leverage instanceof Refused) return leverage
  if (input.marginMode !== 'CROSS' && input.selectedTradingPairIds !== undefined) {
    return refusedField('selectedTradingPairIds', 'selectedTradingPairIds is for CROSS previews only')
  }
  const terms = noTerms()
  const [keyLow, keyHigh] = strategyKeyWords(input.strategyKey ?? '')
  terms.pair = pair.index
  terms.pairId = pair.id
  terms.flags = Flag.MARGIN | (input.side === 'SELL' ? Flag.SELL : 0) | (input.reduceOnly === true ? Flag.REDUCE_ONLY : 0) |
    (input.marginMode === 'CROSS' ? Flag.CROSS : 0)
  terms.margin = { ...noMarginTerms(), ...place, leverage, keyLow, keyHigh }
  return takeType(pair, input, terms) ?? takeQuantity(pair, input.quantity, terms) ?? terms
}

function takeType(pair: Pair, { orderType, timeInForce, price, slippageToleranceBps }: Preview, terms: OrderTerms): Refused | null {
  if (orderType === 'MARKET') {
    if (price !== undefined) return refusedField('price', 'A MARKET order must not carry a price')
    if (timeInForce !== undefined) return refusedField('timeInForce', 'A MARKET order must not carry timeInForce')
    terms.flags |= Flag.MARKET | (slippageToleranceBps === undefined ? 0 : Flag.SLIPPAGE)
    terms.slippageBps = slippageToleranceBps ?? 0
    return null
  }
  if (slippageToleranceBps !== undefined) return refusedField('slippageToleranceBps', 'slippageToleranceBps is for MARKET orders only')
  if (timeInForce === 'FOK') return refusedField('timeInForce', 'A FOK order cannot be previewed')
  if (timeInForce === 'IOC') terms.flags |= Flag.IOC
  if (price === undefined) return refusedField('price', 'A LIMIT order needs a price')
  return takePrice(pair, price, terms)
}

/** Previews `input` at `place` and answers. */
function preview(gateway: Gateway, call: Call<OrderRisk>, input: Preview, place: Place): void {
  const pair = pairOf(gateway, input.tradingPairId)
  if (pair instanceof Refused) return call.refuse(pair)
  if (pair.perp === null) return call.refuse(refusedField('tradingPairId', 'tradingPairId must be a perpetual'))
  const terms = previewTerms(pair, input, place)
  if (terms instanceof Refused) return call.refuse(terms)
  gateway.previews.ask(call.account, terms, (said) => {
    if (said instanceof Refused) call.refuse(said)
    else call.answer(riskRecord(gateway, call.account, pair, terms, said))
  })
}

function riskRecord(gateway: Gateway, account: number, pair: Pair, terms: OrderTerms, said: Previewed): OrderRisk {
  const { genesis, state } = gateway
  const tier = genesis.feeTiers.tiers[get(state, accountRow(state, account), ACCOUNT.TIER)]!
  const order = {
    pair: pair.index, flags: terms.flags, price: terms.price, leverage: terms.margin!.leverage,
    makerPpm: pair.makerPpm - tier.makerDiscountPpm, takerPpm: pair.takerPpm - tier.takerDiscountPpm,
    adds: addOnsOf(state, account),
  }
  const figures = afterOrder(ladderOf(gateway), genesis.limits.priceTicks, said, order)
  const quote = genesis.assets[pair.quote]!
  const mode = (terms.flags & Flag.CROSS) === 0 ? MarginMode.ISOLATED : MarginMode.CROSS
  const { bucket, margin } = said
  const parentId = (): string => parentMarginId(readAccount(state, account).createdSequence, account)
  return {
    ...(said.code === 0 ? accepted(gateway, pair, terms, said, figures) : refused(gateway, pair, said)),
    // Of a MARKET order that would meet nothing there is no price to take it from.
    ...(said.tooLong || ((terms.flags & Flag.MARKET) !== 0 && said.filled === 0) ? {} : { estimatedFee: amountText(quote, figures.fee) }),
    marginAccountId: margin.row < 0 || margin.parent ? parentId() : marginAccountId(margin.sequence, margin.row),
    ...(bucket.row < 0 ? {} : { riskBucketId: riskBucketId(bucket.sequence, bucket.row) }),
    ...(bucket.strategyKey === '' ? {} : { strategyKey: bucket.strategyKey }),
    marginMode: MARGIN_MODE_NAMES[mode],
    ...(mode === MarginMode.CROSS ? { selectedTradingPairIds: scopeOf(gateway, [...bucket.scope, ...figures.pairs]) } : {}),
  }
}

const scopeOf = ({ genesis }: Gateway, pairs: readonly number[]): string[] =>
  [...new Set(pairs)].sort((a, b) => a - b).flatMap((pair) => genesis.pairs[pair]?.id ?? [])

function accepted(
  gateway: Gateway, pair: Pair, terms: OrderTerms, said: Previewed, figures: PreviewFigures,
): Omit<OrderRisk, 'marginMode'> {
  const quote = gateway.genesis.assets[pair.quote]!
  const text = (atoms: bigint): string => amountText(quote, atoms)
  const market = (terms.flags & Flag.MARKET) !== 0
  return {
    accepted: true,
    equityAfter: text(figures.equity),
    initialMarginRequiredAfter: text(figures.requirement),
    maintenanceMarginRequiredAfter: text(figures.maintenance),
    freeCollateralAfter: text(figures.there),
    ...(figures.liquidation === null ? {} : { estimatedLiquidationPrice: priceText(pair, figures.liquidation) }),
    ...(said.tooLong ? {} : { expectedMatchResult: matchOf(pair, terms, said, figures.resting) }),
    ...(market && said.touch > 0 ? { referencePrice: priceText(pair, said.touch) } : {}),
  }
}

/** Refusals that say what there would have to be. */
const SHORT: Partial<Readonly<Record<RefusalCode, string>>> = { INSUFFICIENT_MARGIN: 'required', INSUFFICIENT_COLLATERAL: 'requested' }

function refused({ genesis }: Gateway, pair: Pair, { code: number, required, available }: Previewed): Omit<OrderRisk, 'marginMode'> {
  const code = refusalByNumber(number)!.code as RefusalCode
  const quote = genesis.assets[pair.quote]!
  const first = SHORT[code]
  const { message } = REFUSALS[code]
  const short = `: ${first}=${amountText(quote, required)}, available=${amountText(quote, available)}`
  return { accepted: false, rejectReason: first === undefined ? message : message + short, rejectCode: code }
}

/** The match result that the answer to the order would have (order_record.ts). */
function matchOf(pair: Pair, terms: OrderTerms, said: Previewed, resting: number): Static<typeof MatchResult> {
  const { lots, filled, best, worst, tickLots } = said
  const market = (terms.flags & Flag.MARKET) !== 0
  const rested = filled > 0 ? 'PARTIALLY_FILLED' : 'SUBMITTED'
  // Of a reduce-only order what cannot rest is cut from it.
  const left = resting > 0 ? resting : lots - filled
  const result: Static<typeof MatchResult> = {
    tradesCount: said.trades, totalFilled: quantityText(pair, filled), remainingQuantity: quantityText(pair, left),
    status: filled === lots ? 'FILLED' : resting > 0 ? rested : 'CANCELLED',
  }
  if ((terms.flags & Flag.SLIPPAGE) !== 0) result.maxSlippageBps = terms.slippageBps
  if (filled === 0) return result
  const value = tickLots * pair.tickLotAtoms
  result.averageFillPrice = averagePriceText(pair, value, filled)
  if (market) result.actualSlippageBps = slippageBps(pair, value, filled, best)
  else if (worst === terms.price) result.actualSlippageBps = 0
  result.executionPriceRange = { bestPrice: priceText(pair, best), worstPrice: priceText(pair, worst) }
  return result
}

const placeIn = ({ kind, row, createdSequence }: MarginAccountView): Place =>
  kind === MarginAccountKind.PARENT ? { namedSequence: 0, marginAccount: 0, bucket: 0 }
    : { namedSequence: createdSequence, marginAccount: row + 1, bucket: 0 }
const placeOf = ({ bucket: { row, createdSequence } }: BucketInAccount): Place =>
  ({ namedSequence: createdSequence, marginAccount: 0, bucket: row + 1 })

const DESCRIPTION = 'Whether the order would be accepted now, what it would meet on the live book and what its risk bucket would be '
  + 'afterwards. Nothing is placed, and the book may be another when the order comes. MARKET walks end at your tolerance or at the '
  + 'mandatory band of 1,000 basis points; self-trade prevention is the default, CANCEL_TAKER. Stays available in maintenance.'
const exampleInput = { tradingPairId: sample.PERP, side: 'BUY' as const, orderType: 'MARKET' as const, quantity: '0.05', leverage: '10' }

export const SimulateOrderRisk = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/accounts/{marginAccountId}/simulate-order-risk',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'What an order in a margin account would risk',
  description: DESCRIPTION,
  answer: 'What it would do.',
  refusals: ['NOT_FOUND', 'INVALID_TICK', 'INVALID_LOT', ...READ],
  params: Type.Object({ marginAccountId: marginAccountIdField }),
  body: Preview,
  output: OrderRisk,
  example: { input: { marginAccountId: sample.PARENT_MARGIN, ...exampleInput }, output: sample.orderRisk },
  run: (gateway, call, input) => {
    const margin = findMarginAccount(gateway, call.account, input.marginAccountId)
    if (margin instanceof Refused) call.refuse(margin)
    else preview(gateway, call, input, placeIn(margin))
  },
})

export const SimulateParentOrderRisk = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/parent/simulate-order-risk',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'What an order in the parent margin account would risk',
  description: DESCRIPTION,
  answer: 'What it would do.',
  refusals: ['NOT_FOUND', 'INVALID_TICK', 'INVALID_LOT', ...READ],
  body: Preview,
  output: OrderRisk,
  example: { input: exampleInput, output: sample.orderRisk },
  run: (gateway, call, input) => preview(gateway, call, input, { namedSequence: 0, marginAccount: 0, bucket: 0 }),
})

export const SimulateRiskBucketOrderRisk = operation({
  service: 'MarginAccountsService', method: 'POST', path: '/api/v1/margin/risk-buckets/{riskBucketId}/simulate-order-risk',
  access: 'session', agent: 'yes', maintenance: 'open', rate: 'none',
  summary: 'What an order in a risk bucket would risk',
  description: `${DESCRIPTION} Pair and marginMode must be those of the bucket.`,
  answer: 'What it would do.',
  refusals: ['NOT_FOUND', 'INVALID_TICK', 'INVALID_LOT', ...READ],
  params: Type.Object({ riskBucketId: riskBucketIdField }),
  body: Preview,
  output: OrderRisk,
  example: { input: { riskBucketId: sample.RISK_BUCKET, ...exampleInput }, output: sample.orderRisk },
  run: (gateway, call, input) => {
    const found = findBucket(gateway, call.account, input.riskBucketId)
    if (found instanceof Refused) call.refuse(found)
    else preview(gateway, call, input, placeOf(found))
  },
})
