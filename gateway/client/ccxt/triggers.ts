/**
 * Orders that wait for a price, as ccxt has them: `stopLoss` and `takeProfit` of an order that opens a position, and orders that close one
 * with `stopLossPrice`, `takeProfitPrice` or `trailingPercent`. The service keeps the latter with the position, so they are attached to the
 * open one of the symbol; `params.positionId` names one of several.
 *
 * `params.trigger` of fetchOpenOrders, fetchOrder and cancelOrder says that these are meant. Triggers are mark prices.
 */
import type { Input, Output } from '../index.ts'
import { InvalidOrder, NotSupported } from './errors.ts'
import { rowsOf } from './listing.ts'
import { PerpetualVerbs } from './perpetuals.ts'
import { conditionalOf, type Canceled, type UnifiedOrder } from './shapes.ts'

type Params = Readonly<Record<string, unknown>>
type Num = number | string
type Leg = NonNullable<Input<'CreateOrder'>['stopLoss']>
type Legs = Pick<Input<'AttachTpSl'>, 'takeProfit' | 'stopLoss' | 'trailingStop'>

/** A closing order as it was asked for. */
export interface Closing {
  readonly symbol: string
  readonly orderType: 'LIMIT' | 'MARKET'
  readonly side: 'BUY' | 'SELL'
  readonly amount: Num
  readonly price: Num | undefined
}

const TRIGGERS = ['stopLossPrice', 'takeProfitPrice', 'trailingPercent'] as const
const CLOSING_PARAMS: readonly string[] =
  [...TRIGGERS, 'trailingTriggerPrice', 'positionId', 'reduceOnly', 'timeInForce', 'slippageToleranceBps', 'expiresAt']
const LEG_PARAMS: readonly string[] = [
  'triggerPrice', 'type', 'orderType', 'price', 'limitPrice', 'amount', 'quantity', 'timeInForce', 'slippageToleranceBps', 'expiresAt',
]
const WAITING = ['PENDING', 'ARMED'] as const

/** An order with these `params` waits for a price. */
export const waitsForPrice = (params: Params): boolean => TRIGGERS.some((name) => params[name] !== undefined)

export abstract class TriggerVerbs extends PerpetualVerbs {
  /** `stopLoss` and `takeProfit` of an order, as ccxt has them or as the service has them. */
  protected legsIn(symbol: string, params: Params): Pick<Input<'CreateOrder'>, 'stopLoss' | 'takeProfit'> {
    const { stopLoss, takeProfit } = params
    return {
      ...(stopLoss === undefined ? {} : { stopLoss: this.#legOf(symbol, stopLoss as Params) }),
      ...(takeProfit === undefined ? {} : { takeProfit: this.#legOf(symbol, takeProfit as Params) }),
    }
  }

  /** Attaches a closing order to the open position of its symbol; it is in no pair. */
  protected async attach(asked: Closing, params: Params): Promise<UnifiedOrder> {
    refuseStrange('A closing order that waits', params, CLOSING_PARAMS)
    const { symbol, side } = asked
    const legs = this.#closingLegs(asked, params)
    const row = await this.one(symbol, params)
    if (row === undefined || (row.side === 'LONG') !== (side === 'SELL')) {
      throw new InvalidOrder(`${symbol} has no open position that a ${side.toLowerCase()} order closes`)
    }
    const answer = await this.client.AttachTpSl({ positionId: row.positionId, ...legs })
    const [conditionType, conditionalOrderId] = legs.stopLoss !== undefined ? ['STOP_LOSS' as const, answer.stopLossOrderId]
      : legs.takeProfit !== undefined ? ['TAKE_PROFIT' as const, answer.takeProfitOrderId]
      : ['TRAILING_STOP' as const, answer.trailingStopOrderId]
    return conditionalOf({
      orderType: 'MARKET', ...(legs.stopLoss ?? legs.takeProfit ?? legs.trailingStop), conditionType, side, state: 'ARMED',
      conditionalOrderId: conditionalOrderId!, symbol: this.market(symbol).info.symbol, createdAt: answer.engineTime,
      updatedAt: answer.engineTime,
    }, answer)
  }

  /** All that wait, or `limit` of them: from `since` on, or the newest; oldest first. */
  protected async openTriggers(filter: { tradingPairId?: string }, since?: number, limit = Infinity): Promise<UnifiedOrder[]> {
    const rows = await rowsOf({
      ask: async (page) => {
        const answer = await this.client.ListConditionalOrders({ ...page, ...filter, state: [...WAITING] })
        return { rows: answer.conditionalOrders, nextPageToken: answer.nextPageToken }
      },
      timeOf: ({ createdAt }) => createdAt,
    }, since, limit)
    return rows.map((row) => conditionalOf(row))
  }

  protected async trigger(conditionalOrderId: string): Promise<UnifiedOrder> {
    return conditionalOf(await this.client.GetConditionalOrder({ conditionalOrderId }))
  }

  protected async cancelTrigger(conditionalOrderId: string, symbol: string | undefined): Promise<Canceled> {
    const info: Output<'CancelConditionalOrder'> = await this.client.CancelConditionalOrder({ conditionalOrderId })
    return { id: conditionalOrderId, symbol, status: 'canceled', info }
  }

  #legOf(symbol: string, leg: Params): Leg {
    refuseStrange('A stop-loss or take-profit', leg, LEG_PARAMS)
    const { triggerPrice, quantity = leg['amount'], timeInForce, slippageToleranceBps, expiresAt } = leg
    const limitPrice = leg['limitPrice'] ?? leg['price']
    const orderType = String(leg['orderType'] ?? leg['type'] ?? (limitPrice === undefined ? 'MARKET' : 'LIMIT')).toUpperCase()
    return present({
      triggerPrice: this.#price(symbol, triggerPrice), orderType: orderType as 'MARKET', timeInForce, slippageToleranceBps, expiresAt,
      // In ccxt a market order may be given a price, which does not count.
      limitPrice: orderType === 'MARKET' ? undefined : this.#price(symbol, limitPrice),
      quantity: quantity === undefined ? undefined : this.amountToPrecision(symbol, quantity as Num),
    }) as Leg
  }

  #closingLegs({ symbol, orderType, amount, price }: Closing, params: Params): Legs {
    const named = TRIGGERS.filter((name) => params[name] !== undefined)
    if (named.length > 1) throw new InvalidOrder(`${named.join(' and ')} are of different orders`)
    const { reduceOnly = true, trailingPercent, trailingTriggerPrice, timeInForce, slippageToleranceBps, expiresAt } = params
    if (reduceOnly !== true) throw new InvalidOrder(`An order with ${named[0]} only reduces`)
    if (trailingPercent === undefined) {
      if (trailingTriggerPrice !== undefined) throw new InvalidOrder('trailingTriggerPrice is for orders with trailingPercent')
      const triggerPrice = params['stopLossPrice'] ?? params['takeProfitPrice']
      const leg = this.#legOf(symbol, { triggerPrice, orderType, price, amount, timeInForce, slippageToleranceBps, expiresAt })
      return named[0] === 'stopLossPrice' ? { stopLoss: leg } : { takeProfit: leg }
    }
    if (orderType !== 'MARKET' || timeInForce !== undefined) throw new InvalidOrder('A trailing stop closes at the market')
    return { trailingStop: present({
      trailBps: basisPoints(trailingPercent), activationPrice: this.#price(symbol, trailingTriggerPrice),
      quantity: this.amountToPrecision(symbol, amount), slippageToleranceBps, expiresAt,
    }) as NonNullable<Legs['trailingStop']> }
  }

  #price(symbol: string, price: unknown): string | undefined {
    return price === undefined ? undefined : this.priceToPrecision(symbol, price as Num)
  }
}

function refuseStrange(what: string, params: Params, known: readonly string[]): void {
  const strange = Object.keys(params).find((name) => params[name] !== undefined && !known.includes(name))
  if (strange !== undefined) throw new NotSupported(`${what} has no parameter ${strange}: nothing was sent`)
}

const present = (fields: Params): Params => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** A distance in percent as the service has it. */
function basisPoints(percent: unknown): number {
  const found = Number((Number(percent) * 100).toFixed(6))
  if (!Number.isInteger(found)) throw new InvalidOrder(`trailingPercent ${String(percent)} is no whole number of hundredths`)
  return found
}
