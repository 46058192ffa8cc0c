/**
 * What every frame of an order must keep to (specification, Events, rule 1): what it says of a trade, that quantities and fees go on from
 * the frame before, which status, reason and names belong to which event.
 */
import { parseDecimal } from '../../core/lib/decimal.ts'
import type { Frame } from './sockets.ts'

/** What the frames so far said of an order. */
export interface KnownOrder {
  readonly filledQuantity: string
  /** Of all its trades. */
  readonly fee: string
}

const TRADES = ['OrderMatched', 'OrderPartiallyFilled', 'OrderFilled']
const OF_TRADES = ['tradeId', 'lastFillQuantity', 'lastFillPrice', 'role']
/** Status of an order when this is told of it. */
const STATUS: Readonly<Record<string, string>> = {
  OrderSubmitted: 'SUBMITTED', OrderMatched: 'PARTIALLY_FILLED', OrderPartiallyFilled: 'PARTIALLY_FILLED', OrderFilled: 'FILLED',
  OrderCancelled: 'CANCELLED', OrderExpired: 'EXPIRED', OrderReplaced: 'CANCELLED',
}
const CANCELLED_FOR = [
  'SELF_TRADE_PREVENTION', 'USER_CANCELLED', 'SLIPPAGE_LIMIT', 'INSUFFICIENT_DEPTH', 'IOC_REMAINDER', 'DELEGATION_REVOKED',
]

/** A decimal exactly, whatever its digits. */
export const exact = (text: string): bigint => parseDecimal(text, 18)!

/** Throws when this frame of an order cannot follow what is `known` of it. */
export function checkOrderUpdate(data: Frame, known: KnownOrder | undefined): void {
  const wrong = problemsOf(data, known)
  if (wrong.length > 0) throw new Error(`${wrong.join('; ')}: ${JSON.stringify(data)}`)
}

function problemsOf(data: Frame, known: KnownOrder | undefined): string[] {
  const name = data['eventType'] as string
  const wrong: string[] = []
  const holds = (what: string, condition: boolean): void => void (condition || wrong.push(what))
  const [filled, remaining] = [exact(data['filledQuantity']), exact(data['remainingQuantity'])]
  const before = name === 'OrderSubmitted' ? { filledQuantity: '0', fee: '0' } : known
  if (before === undefined) return [`${name} of an order nobody knows`]
  holds('an order was submitted twice', name !== 'OrderSubmitted' || known === undefined)
  holds('a status of another event', data['status'] === STATUS[name])
  holds('filled and remaining are not the quantity', filled + remaining === exact(data['quantity']))
  holds('filled to the end, or not', (name === 'OrderFilled') === (remaining === 0n))
  holds('fees do not add up', exact(data['totalFee']) === exact(before.fee) + exact(data['fee']))
  const isRaw = /^-?\d+$/.test(data['feeRaw']) && Math.sign(Number(data['feeRaw'])) === Math.sign(Number(data['fee']))
  holds('raw and decimal fee differ', isRaw)
  holds('postOnly is only ever true', !('postOnly' in data) || data['postOnly'] === true)
  const isTrade = TRADES.includes(name)
  const last = isTrade ? exact(data['lastFillQuantity']) : 0n
  holds('the quantity does not go on', filled === exact(before.filledQuantity) + last)
  if (isTrade) wrong.push(...problemsOfTrade(data))
  else holds('a trade where none is', OF_TRADES.every((field) => !(field in data)) && data['fee'] === '0')
  const { terminalReason } = data
  if (name === 'OrderCancelled') holds('no reason to be cancelled', CANCELLED_FOR.includes(terminalReason))
  else holds('a reason of another event', terminalReason === { OrderExpired: 'EXPIRED', OrderReplaced: 'REPLACED' }[name])
  holds('a successor or none', ('replacedByOrderId' in data) === (name === 'OrderReplaced'))
  holds('the other order of a prevented self-trade', ('stpCounterpartyOrderId' in data) === (terminalReason === 'SELF_TRADE_PREVENTION'))
  return wrong
}

function problemsOfTrade({ role, side, price, lastFillPrice, lastFillQuantity, postOnly, tradeId }: Frame): string[] {
  const better = side === 'BUY' ? 1 : -1
  const off = price === undefined ? 0 : better * (Number(lastFillPrice) - Number(price))
  const good = typeof tradeId === 'string' && Number(lastFillQuantity) > 0 && (role === 'maker' ? off === 0 : role === 'taker' && off <= 0)
  return good && !(postOnly === true && role !== 'maker') ? [] : ['a trade on terms the order does not have']
}
