/**
 * `params` of the verbs that place orders. The service ignores fields that it does not know, and ccxt has many for
 * orders that wait for a price: an order with `triggerPrice` would be done at once, without it. So what is no field of
 * the operation is refused here. What ccxt has for orders that wait and the service too is in triggers.ts.
 */
import type { Input } from '../index.ts'
import { NotSupported } from './errors.ts'

type Placing = 'CreateOrder' | 'ReplaceOrder'
/** The compiler says when one is missing, or is none. */
type Fields<N extends Placing> = { readonly [Field in keyof Required<Input<N>>]: true }

const REPLACE: Fields<'ReplaceOrder'> = {
  orderId: true, price: true, quantity: true, useMasterBalance: true, clientOrderId: true, idempotencyKey: true,
  postOnly: true, slippageToleranceBps: true, selfTradePreventionMode: true, returnFills: true,
}
const CREATE: Fields<'CreateOrder'> = {
  tradingPairId: true, orderType: true, side: true, price: true, quantity: true, tradingMode: true,
  useMasterBalance: true, expirationDate: true, timeInForce: true, postOnly: true, clientOrderId: true,
  idempotencyKey: true, slippageToleranceBps: true, selfTradePreventionMode: true, marginAccountId: true,
  riskBucketId: true, riskBucketCollateral: true, positionSide: true, leverage: true, reduceOnly: true,
  strategyKey: true, marginMode: true, returnFills: true, trailingStop: true, takeProfit: true, stopLoss: true,
}
const KNOWN: Readonly<Record<Placing, object>> = { CreateOrder: CREATE, ReplaceOrder: REPLACE }

/** Throws NotSupported for a parameter with a value that the operation has no field for. */
export function checkParams(operation: Placing, params: Readonly<Record<string, unknown>>): void {
  const isStrange = (name: string): boolean => params[name] !== undefined && !Object.hasOwn(KNOWN[operation], name)
  const strange = Object.keys(params).find(isStrange)
  if (strange === undefined) return
  const words = `${operation} has no parameter ${strange}, and an order without it is another order`
  throw new NotSupported(`${words}: nothing was sent`)
}

/** As the service has them: ccxt has leverage as a number and margin modes in lower case. */
export function marginOf({ leverage, marginMode }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return {
    ...(leverage === undefined ? {} : { leverage: String(leverage) }),
    ...(marginMode === undefined ? {} : { marginMode: String(marginMode).toUpperCase() }),
  }
}
