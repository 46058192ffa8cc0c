/** The unified structures of ccxt as its manual documents them: each field with what it may be. A field that is not known is there too. */

/** `?` behind a kind: or undefined. A list: one of these words, or undefined where it ends with null. */
type Kind = 'number' | 'number?' | 'string' | 'string?' | 'boolean' | 'boolean?' | 'any' | readonly (string | null)[] | Shape
export interface Shape {
  readonly [field: string]: Kind
}

const MOMENT = { timestamp: 'number?', datetime: 'string?' } as const
const RANGE = { min: 'number?', max: 'number?' } as const
const SIDE = ['buy', 'sell'] as const

export const MARKET: Shape = {
  id: 'string', symbol: 'string', base: 'string', quote: 'string', baseId: 'string', quoteId: 'string', active: 'boolean',
  type: ['spot', 'swap'], spot: 'boolean', margin: 'boolean', swap: 'boolean', future: 'boolean', option: 'boolean', contract: 'boolean',
  settle: 'string?', settleId: 'string?', contractSize: 'number?', linear: 'boolean?', inverse: 'boolean?', expiry: 'number?',
  expiryDatetime: 'string?', strike: 'number?', optionType: 'string?', taker: 'number', maker: 'number', percentage: 'boolean',
  tierBased: 'boolean',
  feeSide: ['get', 'give', 'base', 'quote', 'other'],
  precision: { amount: 'number', price: 'number', base: 'number', quote: 'number' },
  limits: { amount: RANGE, price: RANGE, cost: RANGE, leverage: RANGE }, created: 'number?', info: 'any',
}
export const TICKER: Shape = {
  symbol: 'string', ...MOMENT, high: 'number?', low: 'number?', bid: 'number?', bidVolume: 'number?', ask: 'number?', askVolume: 'number?',
  vwap: 'number?', open: 'number?', close: 'number?', last: 'number?', previousClose: 'number?', change: 'number?', percentage: 'number?',
  average: 'number?', baseVolume: 'number?', quoteVolume: 'number?', info: 'any',
}
export const BOOK: Shape = { symbol: 'string', bids: 'any', asks: 'any', ...MOMENT, nonce: 'number?' }
export const TRADE: Shape = {
  id: 'string', symbol: 'string', ...MOMENT, order: 'string?', type: 'string?', side: SIDE, takerOrMaker: ['taker', 'maker', null],
  price: 'number', amount: 'number', cost: 'number', fee: 'any', info: 'any',
}
export const ORDER: Shape = {
  id: 'string', clientOrderId: 'string?', ...MOMENT, lastTradeTimestamp: 'number?',
  status: ['open', 'closed', 'canceled', 'expired', 'rejected'],
  symbol: 'string', type: ['limit', 'market'], timeInForce: ['GTC', 'IOC', 'FOK', 'PO', null], side: SIDE,
  price: 'number?', average: 'number?', amount: 'number',
  filled: 'number', remaining: 'number', cost: 'number', trades: 'any', fee: 'any', reduceOnly: 'boolean?',
  postOnly: 'boolean?', stopPrice: 'number?', triggerPrice: 'number?', stopLossPrice: 'number?',
  takeProfitPrice: 'number?', info: 'any',
}
export const POSITION: Shape = {
  id: 'string', symbol: 'string', ...MOMENT, lastUpdateTimestamp: 'number?', isolated: 'boolean', hedged: 'boolean',
  side: ['long', 'short'], contracts: 'number', contractSize: 'number', entryPrice: 'number', markPrice: 'number',
  lastPrice: 'number?', notional: 'number',
  leverage: 'number', collateral: 'number?', initialMargin: 'number', initialMarginPercentage: 'number?', maintenanceMargin: 'number',
  maintenanceMarginPercentage: 'number?', unrealizedPnl: 'number', realizedPnl: 'number', percentage: 'number?',
  liquidationPrice: 'number?', marginMode: ['isolated', 'cross'], marginRatio: 'number?', stopLossPrice: 'number?',
  takeProfitPrice: 'number?', info: 'any',
}
export const TRANSACTION: Shape = {
  id: 'string', txid: 'string?', ...MOMENT, type: ['deposit', 'withdrawal'], address: 'string?', addressTo: 'string?',
  addressFrom: 'string?', tag: 'string?', tagTo: 'string?', tagFrom: 'string?', network: 'string?', currency: 'string', amount: 'number',
  status: ['pending', 'ok', 'failed', 'canceled'], updated: 'number?', internal: 'boolean', comment: 'string?', fee: 'any', info: 'any',
}
export const BALANCE: Shape = { free: 'number', used: 'number', total: 'number' }

/** What does not fit, by the path of the field; nothing when all does. */
export function misfits(value: unknown, shape: Shape, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${path}: ${String(value)} is no structure`]
  return Object.entries(shape).flatMap(([field, kind]) => {
    const at = `${path}${field}`
    if (!Object.hasOwn(value, field)) return [`${at} is missing`]
    const found = (value as Record<string, unknown>)[field]
    if (kind === 'any') return []
    if (typeof kind === 'string') {
      const right = typeof found === kind.replace('?', '') || (kind.endsWith('?') && found === undefined)
      return right && !Number.isNaN(found) ? [] : [`${at}: ${String(found)} is no ${kind}`]
    }
    if (!Array.isArray(kind)) return misfits(found, kind as Shape, `${at}.`)
    return kind.includes((found ?? null) as string) ? [] : [`${at}: ${String(found)} is none of ${kind.join(', ')}`]
  })
}
