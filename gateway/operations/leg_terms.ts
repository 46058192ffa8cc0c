/**
 * Legs: take-profit, stop-loss and trailing stop, with an order that opens a position or for one that is open. What a caller may ask for,
 * and its terms as numbers. (Specification, Trailing-stop leg; Positions, Attach rules.)
 *
 * Here is what a request can be told by itself, by the name of the field inside its leg. On which side of the price a trigger may be, and
 * what there is room for, the engine decides.
 */
import Type, { type Static } from 'typebox'
import { LegFlag, TRAIL_BPS_MAX, TRAIL_BPS_MIN } from '../../core/layout/conditional.ts'
import type { Pair } from '../../core/state/genesis.ts'
import type { LegsTerms, LegTerms, OrderTerms, TrailTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused, refusedField } from '../refused.ts'
import { lotsOf, ticksOf } from './amounts.ts'
import { parseDateTime } from './date_time.ts'
import { DECIMAL, Decimal, Timestamp } from './operation.ts'
import { OrderType, TimeInForce } from './order_words.ts'
import { field, record } from './schema.ts'

// What a leg needs is optional in these schemas and asked for below: the messages of gRPC had it so before legs were served.

const LegQuantity = field(
  Decimal, 'How much it closes at most, in units of the base token; a positive multiple of lotSize. Never more than the position has when '
    + 'it fires. Absent: all of it.',
)
const LegSlippage = field(
  Type.Integer({ minimum: 0, maximum: 1000 }),
  'MARKET only: how far from the best price it may trade, in basis points, 0 to 1000. Absent: 1,200.',
)
const LegExpiry = field(Timestamp, 'When it ends without having fired, RFC 3339, in the future. Absent: never.')

export const TrailingStopLeg = record(
  'TrailingStopLeg', 'A reduce-only market close whose trigger follows the best mark price since it was armed, and never goes back.',
  Type.Object({
    trailBps: Type.Optional(field(
      Type.Integer({ minimum: TRAIL_BPS_MIN, maximum: TRAIL_BPS_MAX }), 'How far behind the best mark price, in basis points, 10 to 2000.',
    )),
    activationPrice: Type.Optional(field(Decimal, 'Mark price that arms it; a multiple of tickSize. Absent: it is armed at once.')),
    quantity: Type.Optional(LegQuantity),
    closePosition: Type.Optional(field(Type.Boolean(), 'Close the whole position, as without quantity; excludes quantity.')),
    slippageToleranceBps: Type.Optional(LegSlippage),
    expiresAt: Type.Optional(LegExpiry),
  }),
  { required: ['trailBps'] },
)

export const TpSlLeg = record('TpSlLeg', 'A reduce-only close that is placed when the mark price reaches a trigger.', Type.Object({
  triggerPrice: Type.Optional(field(Decimal, 'Mark price that fires it; a multiple of tickSize.')),
  orderType: Type.Optional(field(OrderType, 'What is placed then: MARKET or LIMIT.')),
  limitPrice: Type.Optional(field(Decimal, 'Price of the LIMIT order, which needs it; a MARKET order must not have it.')),
  timeInForce: Type.Optional(field(TimeInForce, 'Of the LIMIT order: GTC (default), IOC or FOK.')),
  slippageToleranceBps: Type.Optional(LegSlippage),
  quantity: Type.Optional(LegQuantity),
  expiresAt: Type.Optional(LegExpiry),
}), { required: ['triggerPrice', 'orderType'] })

/** Fields of a request that may have legs. */
export interface LegItems {
  readonly takeProfit?: Static<typeof TpSlLeg>
  readonly stopLoss?: Static<typeof TpSlLeg>
  readonly trailingStop?: Static<typeof TrailingStopLeg>
}
export const LEG_NAMES = ['takeProfit', 'stopLoss', 'trailingStop'] as const

/** Takes the legs of an order of the perpetual `pair` into its terms, or says why it cannot have them. */
export function takeLegs(
  gateway: Gateway, item: LegItems & { readonly reduceOnly?: boolean; readonly idempotencyKey?: string }, pair: Pair, terms: OrderTerms,
): Refused | null {
  const first = LEG_NAMES.find((name) => item[name] !== undefined)
  if (first === undefined) return null
  if (item.reduceOnly === true) return refusedField(first, `${first} is for orders that may open a position; reduceOnly ones may not`)
  // A repeated key has its first answer, also when the time that it named is over.
  const legs = legsOf(gateway, item, pair, item.idempotencyKey === undefined ? gateway.time() : 0)
  if (legs instanceof Refused) return legs
  terms.legs = legs
  return null
}

/** What a leg of the request lacks, whatever the pair is; `null`: nothing. */
export function lackingOf({ takeProfit, stopLoss, trailingStop }: LegItems): Refused | null {
  for (const [name, leg] of [['takeProfit', takeProfit], ['stopLoss', stopLoss]] as const) {
    if (leg !== undefined && leg.triggerPrice === undefined) return required(`${name}.triggerPrice`)
    if (leg !== undefined && leg.orderType === undefined) return required(`${name}.orderType`)
  }
  return trailingStop !== undefined && trailingStop.trailBps === undefined ? required('trailingStop.trailBps') : null
}

/** The legs of a request as numbers; `now`: Unix ms that an expiry must be behind. */
export function legsOf(gateway: Gateway, item: LegItems, pair: Pair, now: number): LegsTerms | Refused {
  const lacking = lackingOf(item)
  if (lacking !== null) return lacking
  const takeProfit = item.takeProfit === undefined ? null : triggerOf(gateway, 'takeProfit', item.takeProfit, pair, now)
  if (takeProfit instanceof Refused) return takeProfit
  const stopLoss = item.stopLoss === undefined ? null : triggerOf(gateway, 'stopLoss', item.stopLoss, pair, now)
  if (stopLoss instanceof Refused) return stopLoss
  const trailingStop = item.trailingStop === undefined ? null : trailOf(gateway, item.trailingStop, pair, now)
  return trailingStop instanceof Refused ? trailingStop : { takeProfit, stopLoss, trailingStop }
}

function triggerOf(
  gateway: Gateway, name: 'takeProfit' | 'stopLoss', leg: Static<typeof TpSlLeg>, pair: Pair, now: number,
): LegTerms | Refused {
  const trigger = tickOf(gateway, `${name}.triggerPrice`, leg.triggerPrice!, pair)
  if (trigger instanceof Refused) return trigger
  const common = commonOf(name, leg, pair, now)
  if (common instanceof Refused) return common
  if (leg.orderType === 'MARKET') {
    if (leg.limitPrice !== undefined) return refusedField(`${name}.limitPrice`, 'A MARKET order must not carry a limitPrice')
    return leg.timeInForce === undefined ? { ...common, trigger, limit: 0 }
      : refusedField(`${name}.timeInForce`, 'A MARKET order must not carry timeInForce')
  }
  if (leg.slippageToleranceBps !== undefined) {
    return refusedField(`${name}.slippageToleranceBps`, 'slippageToleranceBps is for MARKET orders only')
  }
  if (leg.limitPrice === undefined) return refusedField(`${name}.limitPrice`, 'A LIMIT order needs a limitPrice')
  const limit = tickOf(gateway, `${name}.limitPrice`, leg.limitPrice, pair)
  if (limit instanceof Refused) return limit
  const time = leg.timeInForce === 'IOC' ? LegFlag.IOC : leg.timeInForce === 'FOK' ? LegFlag.FOK : 0
  return { ...common, flags: common.flags | LegFlag.LIMIT | time, trigger, limit }
}

function trailOf(gateway: Gateway, leg: Static<typeof TrailingStopLeg>, pair: Pair, now: number): TrailTerms | Refused {
  const { trailBps, activationPrice, quantity, closePosition } = leg
  if (closePosition === true && quantity !== undefined) {
    return refusedField('trailingStop.closePosition', 'closePosition and quantity exclude each other')
  }
  if (closePosition === false && quantity === undefined) {
    return refusedField('trailingStop.quantity', 'quantity is needed where closePosition is false')
  }
  const activation = activationPrice === undefined ? 0 : tickOf(gateway, 'trailingStop.activationPrice', activationPrice, pair)
  if (activation instanceof Refused) return activation
  const common = commonOf('trailingStop', leg, pair, now)
  return common instanceof Refused ? common : { ...common, bps: trailBps!, activation }
}

const required = (name: string): Refused => refusedField(name, `${name} is required`)

interface CommonLeg {
  readonly quantity?: string
  readonly slippageToleranceBps?: number
  readonly expiresAt?: string
}

function commonOf(
  name: string, { quantity, slippageToleranceBps, expiresAt }: CommonLeg, pair: Pair, now: number,
): Pick<LegTerms, 'flags' | 'lots' | 'slippageBps' | 'expiresAt'> | Refused {
  const lots = quantity === undefined ? 0 : lotsIn(`${name}.quantity`, quantity, pair)
  if (lots instanceof Refused) return lots
  const until = expiresAt === undefined ? 0 : parseDateTime(expiresAt)
  if (Number.isNaN(until)) return refusedField(`${name}.expiresAt`, 'expiresAt must be an RFC 3339 date-time')
  if (expiresAt !== undefined && until <= now) {
    return refusedField(`${name}.expiresAt`, 'expiresAt is not in the future', 'INVALID_EXPIRATION')
  }
  const slippage = slippageToleranceBps === undefined ? 0 : LegFlag.SLIPPAGE
  const expires = expiresAt === undefined ? 0 : LegFlag.EXPIRES
  return { flags: slippage | expires, lots, slippageBps: slippageToleranceBps ?? 0, expiresAt: until }
}

/** Whole ticks of the field `name`, 1 or more; or its refusal. */
export function tickOf({ genesis }: Gateway, name: string, text: string, pair: Pair): number | Refused {
  const ticks = ticksOf(pair, text)
  if (ticks > 0 && ticks < genesis.limits.priceTicks) return ticks
  return DECIMAL.test(text)
    ? refusedField(name, `${name} must be a positive multiple of ${pair.tickSize} in range`, 'INVALID_TICK')
    : refusedField(name, `${name} must be a decimal string`)
}

/** Whole lots of the field `name`, 1 or more; or its refusal. */
export function lotsIn(name: string, text: string, pair: Pair): number | Refused {
  const lots = lotsOf(pair, text)
  if (lots > 0) return lots
  return DECIMAL.test(text)
    ? refusedField(name, `${name} must be a positive multiple of ${pair.lotSize} in range`, 'INVALID_LOT')
    : refusedField(name, `${name} must be a decimal string`)
}
