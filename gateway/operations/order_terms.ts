/**
 * Order entry: what a caller may ask for, and its terms as numbers. (Specification, Order entry, Records.)
 *
 * What depends on the state (funds, book, session, maintenance) is decided by the engine alone; here is what a request can be
 * told by itself. What only orders of perpetuals have is in order_margin.ts.
 */
import Type, { type Static } from 'typebox'
import { Flag, CLIENT_ORDER_ID_BYTES, Option } from '../../core/layout/command.ts'
import type { Pair } from '../../core/state/genesis.ts'
import { parsePositive, scaleOf } from '../../core/lib/decimal.ts'
import type { DecimalUnits, OrderTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { lotsOf, ticksOf } from './amounts.ts'
import { parseDateTime } from './date_time.ts'
import { idempotencyKeyOfOrder, keyOf } from './idempotency.ts'
import { DECIMAL, Decimal } from './operation.ts'
import * as fields from './fields.ts'
import { takeLegs, TpSlLeg, TrailingStopLeg } from './leg_terms.ts'
import { checkTradingMode, takeMargin } from './order_margin.ts'
import { MarginMode, OrderType, PositionSide, Side, TimeInForce, TradingMode } from './order_words.ts'
import { field, record } from './schema.ts'
import { pairOf } from './lookup.ts'

const returnFills = Type.Optional(field(
  Type.Boolean(),
  'Answer with the fills on arrival one by one (`matchResult.fills`), not only with their totals. Default: false, which is faster. It is '
    + 'no part of what an idempotencyKey stands for.',
))

export const OrderItem = record('OrderItem', 'One order to place. Unknown fields are ignored in JSON and refused over gRPC.', Type.Object({
  tradingPairId: fields.pairName,
  orderType: field(OrderType, 'LIMIT or MARKET.'),
  side: field(Side, 'BUY or SELL.'),
  quantity: fields.quantity,
  price: Type.Optional(
    field(Decimal, 'Quote per base, a positive multiple of tickSize. A LIMIT order needs it, a MARKET order must not have it.'),
  ),
  tradingMode: Type.Optional(field(TradingMode, 'MARGIN on a perpetual, which needs it; SPOT (default) on any other pair.')),
  slippageToleranceBps: Type.Optional(
    field(
      Type.Integer({ minimum: 0, maximum: 1000 }),
      'MARKET only: how far from the best price it may trade, in basis points (1/100 of a percent), 0 to 1000.',
    ),
  ),
  useMasterBalance: Type.Optional(
    field(Type.Boolean(), 'Spend and earn on the balance of the master account, inside its limits; only a sub-account can.'),
  ),
  expirationDate: Type.Optional(
    field(Type.String(), 'When a resting order expires, RFC 3339, in the future. Default: 90 days.', { format: 'date-time' }),
  ),
  timeInForce: Type.Optional(field(TimeInForce, 'GTC (default), IOC or FOK; LIMIT only.')),
  marginAccountId: Type.Optional(field(Type.String(), 'Margin orders: margin account it trades for; absent: the parent.')),
  riskBucketId: Type.Optional(field(
    Type.String(), 'Margin orders: risk bucket it trades in; absent: the one of the pair, or with CROSS of the margin account, that '
      + 'has the strategyKey. It is made when there is none.',
  )),
  riskBucketCollateral: Type.Optional(field(
    Decimal, 'Margin orders: least collateral that it brings into its risk bucket, in units of the quote token; only fills commit it. '
      + 'Absent: what it needs.',
  )),
  /** Deprecated: accepted and ignored, `side` is authoritative. */
  positionSide: Type.Optional(field(PositionSide, 'Accepted and ignored: side is authoritative.', { deprecated: true })),
  leverage: Type.Optional(field(
    Decimal, 'Margin orders: needed, at most 2 digits behind the point, from minLeverage of the perpetual to maxLeverage of the tier. '
      + 'Ignored with reduceOnly.',
  )),
  reduceOnly: Type.Optional(field(
    Type.Boolean(), 'Margin orders: only makes the position smaller, never larger or turned; it is cut to it, now and while it rests.',
  )),
  strategyKey: Type.Optional(field(
    Type.String(), 'Margin orders: name of your own for a risk bucket, 1 to 48 printable ASCII characters.',
    { minLength: 1, maxLength: 48 },
  )),
  marginMode: Type.Optional(field(MarginMode, 'Margin orders: ISOLATED (default) or CROSS.')),
  postOnly: Type.Optional(fields.postOnly),
  clientOrderId: Type.Optional(
    field(
      Type.String(), 'Name of your own, 1 to 40 printable ASCII characters; one resting order of yours may hold it.',
      { minLength: 1, maxLength: 40 },
    ),
  ),
  idempotencyKey: idempotencyKeyOfOrder,
  /** CANCEL_TAKER or CANCEL_BOTH; a string here, because batches have a code of their own for anything else. */
  selfTradePreventionMode: Type.Optional(
    field(
      Type.String(),
      'What happens when the order meets one of your own: CANCEL_TAKER (default) ends this one, CANCEL_BOTH both.',
      { enum: ['CANCEL_TAKER', 'CANCEL_BOTH'] },
    ),
  ),
  returnFills,
  trailingStop: Type.Optional(field(
    TrailingStopLeg, 'Margin orders that are not reduceOnly: trails the position that the order opens. It is made when the order was '
      + 'filled in full on arrival or what is left of it rests.',
  )),
  takeProfit: Type.Optional(field(
    TpSlLeg, 'Margin orders that are not reduceOnly: closes the position at a gain. It waits until the order fills; with stopLoss, one '
      + 'cancels the other.',
  )),
  stopLoss: Type.Optional(field(
    TpSlLeg, 'Margin orders that are not reduceOnly: closes the position at a loss. It waits until the order fills; with takeProfit, one '
      + 'cancels the other.',
  )),
}))
export type OrderItem = Static<typeof OrderItem>

export const ReplaceItem = record('ReplaceItem', 'What changes; a price that is left out stays as it was, and '
  + 'without quantity it is what is still open.', Type.Object({
  price: Type.Optional(field(Decimal, 'New limit price; absent: unchanged.')),
  quantity: Type.Optional(field(Decimal, 'Quantity of the successor, which starts unfilled; absent: what is still open of the original.')),
  useMasterBalance: Type.Optional(
    field(Type.Boolean(), 'Spend and earn on the balance of the master account, inside its limits; only a sub-account can.'),
  ),
  clientOrderId: Type.Optional(
    field(
      Type.String(), 'Name of your own, 1 to 40 printable ASCII characters; one resting order of yours may hold it.',
      { minLength: 1, maxLength: 40 },
    ),
  ),
  idempotencyKey: idempotencyKeyOfOrder,
  postOnly: Type.Optional(fields.postOnly),
  slippageToleranceBps: Type.Optional(
    field(
      Type.Integer({ minimum: 0, maximum: 1000 }),
      'MARKET only: how far from the best price it may trade, in basis points (1/100 of a percent), 0 to 1000.',
    ),
  ),
  selfTradePreventionMode: Type.Optional(
    field(
      Type.String(),
      'What happens when the order meets one of your own: CANCEL_TAKER (default) ends this one, CANCEL_BOTH both.',
      { enum: ['CANCEL_TAKER', 'CANCEL_BOTH'] },
    ),
  ),
  returnFills,
}))
export type ReplaceItem = Static<typeof ReplaceItem>

const CLIENT_ORDER_ID = new RegExp(`^[\\x20-\\x7e]{1,${CLIENT_ORDER_ID_BYTES}}$`)

/** Terms of nothing yet. */
export const noTerms = (): OrderTerms =>
  ({
    pair: 0, pairId: '', flags: 0, options: 0, price: 0, lots: 0, slippageBps: 0, expiresAt: 0, clientOrderId: '', key: '', targetSlot: 0,
    targetSequence: 0, named: null, margin: null, legs: null, returnFills: false,
  })

/** The terms of one order of `account` to place, or why it cannot be. */
export function placeTerms(gateway: Gateway, account: number, item: OrderItem): OrderTerms | Refused {
  const terms = simulatedTerms(gateway, item)
  if (terms instanceof Refused) return terms
  const pair = gateway.genesis.pairs[terms.pair]!
  if (pair.perp === null) return terms
  return takeMargin(gateway, account, item, pair, terms) ?? takeLegs(gateway, item, pair, terms) ?? terms
}

/** The terms of an order that is only reckoned with: what {@link placeTerms} takes, without margin. */
export function simulatedTerms(gateway: Gateway, item: OrderItem): OrderTerms | Refused {
  const pair = pairOf(gateway, item.tradingPairId)
  if (pair instanceof Refused) return pair
  const terms = noTerms()
  terms.pair = pair.index
  terms.pairId = pair.id
  if (item.side === 'SELL') terms.flags |= Flag.SELL
  return (
    checkTradingMode(pair, item) ??
    (item.orderType === 'MARKET' ? takeMarket(item, terms) : takeLimit(item, pair, terms)) ??
    takeQuantity(pair, item.quantity, terms) ??
    takeExpiration(item, gateway.time(), terms) ??
    takeCommon(item, terms) ??
    terms
  )
}

/** The terms of one replacement, apart from its target. `pair` is the one of the original, whose ticks and lots count. */
export function replaceTerms(item: ReplaceItem, pair: Pair): OrderTerms | Refused {
  const terms = noTerms()
  const refused = (item.price === undefined ? null : takePrice(pair, item.price, terms)) ??
    (item.quantity === undefined ? null : takeQuantity(pair, item.quantity, terms))
  return refused ?? takeChanges(item, terms)
}

/** The same of the order that rests under `clientOrderId` by then, whose pair is not known yet. */
export function namedReplacement(item: ReplaceItem, clientOrderId: string): OrderTerms | Refused {
  const terms = noTerms()
  const price = item.price === undefined ? null : decimalOf('price', item.price, 'INVALID_TICK')
  if (price instanceof Refused) return price
  const quantity = item.quantity === undefined ? null : decimalOf('quantity', item.quantity, 'INVALID_LOT')
  if (quantity instanceof Refused) return quantity
  terms.named = { clientOrderId, price, quantity }
  return takeChanges(item, terms)
}

/** A positive decimal as whole units at the least scale; or the refusal that names `field`. */
function decimalOf(field: string, text: string, code: 'INVALID_TICK' | 'INVALID_LOT'): DecimalUnits | Refused {
  if (!DECIMAL.test(text)) return refusedField(field, `${field} must be a decimal string`)
  const scale = scaleOf(text)
  const units = parsePositive(text, scale)
  return units > 0 ? { units, scale } : refusedField(field, `${field} must be positive and in range`, code)
}

/** What a replacement changes, price and quantity but for their numbers. */
function takeChanges(item: ReplaceItem, terms: OrderTerms): OrderTerms | Refused {
  if (item.price !== undefined) terms.options |= Option.NEW_PRICE
  if (item.quantity !== undefined) terms.options |= Option.NEW_LOTS
  if (item.slippageToleranceBps !== undefined) return refusedField('slippageToleranceBps', 'slippageToleranceBps is for MARKET orders only')
  if (item.postOnly !== undefined) terms.options |= Option.NEW_POST_ONLY
  if (item.postOnly === true) terms.flags |= Flag.POST_ONLY
  if (item.selfTradePreventionMode !== undefined) terms.options |= Option.NEW_STP
  if (item.useMasterBalance !== undefined) terms.options |= Option.NEW_FUNDING
  return takeCommon(item, terms) ?? terms
}

const NEVER_RESTS = 'never rests, so it carries no expirationDate'

function takeMarket(item: OrderItem, terms: OrderTerms): Refused | null {
  if (item.price !== undefined) return refusedField('price', 'A MARKET order must not carry a price')
  if (item.timeInForce !== undefined) return refusedField('timeInForce', 'A MARKET order must not carry timeInForce')
  if (item.postOnly === true) return refusedField('postOnly', 'A MARKET order cannot be post-only')
  if (item.expirationDate !== undefined) return refusedField('expirationDate', `A MARKET order ${NEVER_RESTS}`)
  terms.flags |= Flag.MARKET
  if (item.slippageToleranceBps !== undefined) {
    terms.flags |= Flag.SLIPPAGE
    terms.slippageBps = item.slippageToleranceBps
  }
  return null
}

function takeLimit(item: OrderItem, pair: Pair, terms: OrderTerms): Refused | null {
  if (item.slippageToleranceBps !== undefined) return refusedField('slippageToleranceBps', 'slippageToleranceBps is for MARKET orders only')
  if (item.price === undefined) return refusedField('price', 'A LIMIT order needs a price')
  if (item.timeInForce === 'IOC') terms.flags |= Flag.IOC
  else if (item.timeInForce === 'FOK') terms.flags |= Flag.FOK
  const rests = (terms.flags & (Flag.IOC | Flag.FOK)) === 0
  if (!rests && item.expirationDate !== undefined) return refusedField('expirationDate', `An ${item.timeInForce} order ${NEVER_RESTS}`)
  if (item.postOnly === true) {
    if (!rests) return refusedField('postOnly', 'Only a GTC order can be post-only')
    terms.flags |= Flag.POST_ONLY
  }
  return takePrice(pair, item.price, terms)
}

export function takePrice(pair: Pair, text: string, terms: OrderTerms): Refused | null {
  terms.price = ticksOf(pair, text)
  if (terms.price > 0) return null
  return DECIMAL.test(text)
    ? refusedField('price', `price must be a positive multiple of ${pair.tickSize} in range`, 'INVALID_TICK')
    : refusedField('price', 'price must be a decimal string')
}

export function takeQuantity(pair: Pair, text: string, terms: OrderTerms): Refused | null {
  terms.lots = lotsOf(pair, text)
  if (terms.lots > 0) return null
  return DECIMAL.test(text)
    ? refusedField('quantity', `quantity must be a positive multiple of ${pair.lotSize} in range`, 'INVALID_LOT')
    : refusedField('quantity', 'quantity must be a decimal string')
}

/** With an idempotency key the engine decides: a repeated key has its first answer even when the time it named is over. */
function takeExpiration(item: OrderItem, now: number, terms: OrderTerms): Refused | null {
  if (item.expirationDate === undefined) return null
  const at = parseDateTime(item.expirationDate)
  if (Number.isNaN(at)) return refusedField('expirationDate', 'expirationDate must be an RFC 3339 date-time')
  if (at <= now && item.idempotencyKey === undefined) {
    return refusedField('expirationDate', 'expirationDate is not in the future', 'INVALID_EXPIRATION')
  }
  terms.flags |= Flag.EXPIRES
  terms.expiresAt = at
  return null
}

/** What orders and replacements share. */
function takeCommon(item: OrderItem | ReplaceItem, terms: OrderTerms): Refused | null {
  const { clientOrderId, idempotencyKey, selfTradePreventionMode } = item
  if (item.useMasterBalance === true) terms.flags |= Flag.MASTER_FUNDED
  terms.returnFills = item.returnFills === true
  if (clientOrderId !== undefined) {
    if (!CLIENT_ORDER_ID.test(clientOrderId)) return refusedField(
      'clientOrderId', `clientOrderId must be 1 to ${CLIENT_ORDER_ID_BYTES} printable ASCII characters`,
    )
    terms.clientOrderId = clientOrderId
  }
  const key = keyOf(idempotencyKey)
  if (key instanceof Refused) return key
  terms.key = key
  if (selfTradePreventionMode === undefined) return null
  if (selfTradePreventionMode === 'CANCEL_BOTH') terms.flags |= Flag.CANCEL_BOTH
  else if (selfTradePreventionMode !== 'CANCEL_TAKER') {
    const message = 'selfTradePreventionMode must be CANCEL_TAKER or CANCEL_BOTH'
    return refusedField('selfTradePreventionMode', message, 'INVALID_SELF_TRADE_PREVENTION_MODE')
  }
  terms.flags |= Flag.STP_GIVEN
  return null
}

/** A single create or replace answers an unknown self-trade mode with a plain 400 (specification, Status mapping). */
export const plain = (refused: Refused): Refused =>
  refused.code === 'INVALID_SELF_TRADE_PREVENTION_MODE' ? new Refused('VALIDATION_ERROR', refused.message, refused.details) : refused
