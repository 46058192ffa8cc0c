/**
 * Why the engine refused, in words that say what to do: what was asked for and what there was, in which asset; the
 * limit that was passed; the field to change. The numbers are those the engine compared (SHORT_REFUSAL of
 * core/layout/answers.ts), or terms of the pair. A grant of a delegated agent is read when the answer is written.
 *
 * `details` has the same for programs: `required`, `available` and `asset`; `limit`, `minimum` or `maximum`; `field`.
 */
import { SHORT_REFUSAL } from '../../core/layout/answers.ts'
import { AGENT_OPEN_ORDERS_MAX, Flag } from '../../core/layout/command.ts'
import type { RefusalCode } from '../../core/layout/refusals.ts'
import type { Views } from '../../core/layout/table.ts'
import { formatDecimal } from '../../core/lib/decimal.ts'
import { AGENT, SCALAR } from '../../core/state/columns.ts'
import { MAX_NOTIONAL, type Asset, type Pair } from '../../core/state/genesis.ts'
import { PATH_MAX } from '../../core/view/fill_path.ts'
import { readPerp } from '../../core/view/margin.ts'
import { agentRow, get, getI64 } from '../../core/view/rows.ts'
import { vaultTotals } from '../../core/view/vault.ts'
import type { DecimalUnits, LegsTerms, OrderTerms } from '../bridge/terms.ts'
import type { Gateway } from '../context.ts'
import { Refused, type Details } from '../refused.ts'
import { amountText, priceText, quantityText } from './amounts.ts'
import { engineRefusal, type Call } from './operation.ts'

const at = SHORT_REFUSAL.at

/** The field of an order that a refusal is about, where there is one. */
const FIELDS: Partial<Readonly<Record<RefusalCode, string>>> = {
  INVALID_TICK: 'price', INVALID_LOT: 'quantity', BELOW_MIN_ORDER_SIZE: 'quantity', ABOVE_MAX_ORDER_SIZE: 'quantity',
  BELOW_MIN_NOTIONAL: 'quantity', INVALID_EXPIRATION: 'expirationDate', PAIR_NOT_ACTIVE: 'tradingPairId',
  CLIENT_ORDER_ID_CONFLICT: 'clientOrderId', IDEMPOTENCY_KEY_CONFLICT: 'idempotencyKey', POST_ONLY_WOULD_CROSS: 'postOnly',
  SELF_TRADE_NOT_ALLOWED: 'selfTradePreventionMode', NOT_SUB_ACCOUNT: 'useMasterBalance',
  LEVERAGE_TOO_HIGH: 'leverage', LEVERAGE_TOO_LOW: 'leverage', REDUCE_ONLY_REJECTED: 'reduceOnly', TOO_MANY_REDUCE_ONLY: 'reduceOnly',
  POSITION_LIMIT_EXCEEDED: 'quantity', OPEN_INTEREST_LIMIT: 'quantity', PRICE_STALE: 'tradingPairId', PAIR_REDUCE_ONLY: 'tradingPairId',
  WRONG_PERP_MODE: 'tradingPairId', WRONG_TRADING_MODE: 'tradingMode', MASTER_BALANCE_NOT_ALLOWED: 'useMasterBalance',
  RISK_BUCKET_MISMATCH: 'riskBucketId', RISK_BUCKET_IN_LIQUIDATION: 'riskBucketId', STRATEGY_KEY_UNKNOWN: 'strategyKey',
}

/** The refusal of an order of these terms, in the RESULT at word `base`. */
export function orderRefusal(gateway: Gateway, call: Call<never>, records: Views, base: number, terms: OrderTerms): Refused {
  const refused = engineRefusal(records, base)
  const limit = (terms.flags & Flag.MARKET) !== 0 ? 0 : terms.price
  const field = refused.code === 'NOT_FOUND' ? namedBy(terms)
    : legField(gateway, refused.code, terms.legs, terms.pair, (terms.flags & Flag.SELL) === 0, limit) ?? FIELDS[refused.code]
  const more = explain(gateway, call, records, base, terms, refused)
  if (more === null) return field === undefined ? refused : new Refused(refused.code, refused.message, { field })
  const [words, details] = more
  return new Refused(
    refused.code, `${refused.message}: ${words}`, { ...refused.details, ...(field === undefined ? {} : { field }), ...details },
  )
}

/**
 * The field of legs that a refusal is about, where there is one. They close a position of `pair` that is long or short, and were held
 * against `limit`, 0: the mark, which may have moved on since.
 */
export function legField(
  { state }: Gateway, code: RefusalCode, legs: LegsTerms | null, pair: number, long: boolean, limit: number,
): string | undefined {
  if (legs === null) return undefined
  if (code === 'TRAILING_STOP_EXISTS') return 'trailingStop'
  if (code !== 'INVALID_TRIGGER_PRICE') return undefined
  const { takeProfit, stopLoss } = legs
  if (takeProfit === null || stopLoss === null) return takeProfit === null ? 'stopLoss.triggerPrice' : 'takeProfit.triggerPrice'
  const price = limit === 0 ? readPerp(state, pair).mark : limit
  const ahead = long ? takeProfit.trigger > price : takeProfit.trigger < price
  return ahead ? 'stopLoss.triggerPrice' : 'takeProfit.triggerPrice'
}

/** What an order of a perpetual named that was not there. */
const namedBy = ({ margin }: OrderTerms): string | undefined =>
  margin === null ? undefined : margin.bucket !== 0 ? 'riskBucketId' : 'marginAccountId'

type Told = readonly [words: string, details: Details]

/** What `refused` says beside its code; `null`: nothing more. */
function explain(
  gateway: Gateway, call: Call<never>, records: Views, base: number, terms: OrderTerms, { code, details }: Refused,
): Told | null {
  const { genesis, state } = gateway
  // Before the rules 4 a refusal says its code only.
  if (state.scalars[SCALAR.RULES]! < 4) return null
  const pair = genesis.pairs[records.i32[base + at.pair]!]!
  switch (code) {
    case 'INSUFFICIENT_BALANCE':
    case 'SUB_ACCOUNT_LIMIT_EXCEEDED':
      return shortfall(gateway, records, base, (terms.flags & Flag.MARKET) !== 0 && (terms.flags & Flag.SELL) === 0)
    case 'INSUFFICIENT_MARGIN':
      return marginShortfall(gateway, records, base, 'required')
    case 'INSUFFICIENT_COLLATERAL':
      return marginShortfall(gateway, records, base, 'requested')
    case 'TOO_MANY_OPEN_ORDERS':
      return openOrders(records, base)
    case 'INVALID_TICK': {
      const maximum = priceText(pair, genesis.limits.priceTicks - 1)
      return [`a multiple of ${pair.tickSize}, at most ${maximum}`, { maximum }]
    }
    case 'INVALID_LOT':
      return [`a multiple of ${pair.lotSize}`, {}]
    case 'BELOW_MIN_ORDER_SIZE':
      return bounded('minimum', quantityText(pair, pair.minLots), genesis.assets[pair.base]!)
    case 'ABOVE_MAX_ORDER_SIZE':
      return tooLarge(pair, genesis.assets, terms)
    case 'BELOW_MIN_NOTIONAL': {
      const quote = genesis.assets[pair.quote]!
      return bounded('minimum', amountText(quote, BigInt(pair.minNotionalAtoms)), quote)
    }
    case 'AGENT_NOT_ALLOWED':
      return grantOf(gateway, call.agent, String(details?.['grant'] ?? ''), genesis.assets[pair.quote]!)
    default:
      return null
  }
}

const bounded = (bound: 'minimum' | 'maximum', amount: string, { symbol }: Asset): Told =>
  [`the ${bound} is ${amount} ${symbol}`, { [bound]: amount, asset: symbol }]

/** `atLeast`: nobody looked how much more the order would cost. */
function shortfall({ genesis }: Gateway, { i32, i64 }: Views, base: number, atLeast: boolean): Told | null {
  const atoms = i64[(base + at.required) >>> 1]!
  if (atoms === 0n) return null
  const asset = genesis.assets[i32[base + at.asset]!]!
  const required = amountText(asset, atoms)
  const words = `${atLeast ? 'at least ' : ''}${required} ${asset.symbol} required`
  const left = i64[(base + at.available) >>> 1]!
  if (left < 0n) return [words, { required, asset: asset.symbol }]
  const available = amountText(asset, left)
  return [`${words}, ${available} ${asset.symbol} available`, { required, available, asset: asset.symbol }]
}

function openOrders({ i32 }: Views, base: number): Told {
  const limit = i32[base + at.limit]!
  const whose = i32[base + at.ofFamily] === 0 ? 'an account may have' : 'the account and its sub-accounts may now have'
  return [`${whose} ${limit} at rest`, { limit }]
}

/** By quantity, by value, or because too many orders would have been met. */
function tooLarge(pair: Pair, assets: readonly Asset[], { flags, lots, named }: OrderTerms): Told {
  const above = lots > pair.maxLots || isAbove(pair, named?.quantity ?? null)
  if (above) return bounded('maximum', quantityText(pair, pair.maxLots), assets[pair.base]!)
  const quote = assets[pair.quote]!
  const maximum = amountText(quote, BigInt(MAX_NOTIONAL))
  const walked = (flags & Flag.FOK) !== 0 || ((flags & Flag.MARKET) !== 0 && (flags & Flag.SELL) === 0)
  const path = walked ? `, and it may meet ${PATH_MAX} orders` : ''
  return [`the most that one may be worth is ${maximum} ${quote.symbol}${path}`, { maximum, asset: quote.symbol }]
}

/** Whether a quantity that was given as a decimal is more than the pair takes. */
const isAbove = (pair: Pair, quantity: DecimalUnits | null): boolean => quantity !== null &&
  BigInt(quantity.units) * 10n ** BigInt(pair.lotScale) > BigInt(pair.maxLots) * BigInt(pair.lotUnits) * 10n ** BigInt(quantity.scale)

/** Digits of a grant's notional. */
const NOTIONAL_SCALE = 9

/** The bound of an agent that the order passed. */
function grantOf({ state }: Gateway, agent: number, grant: string, quote: Asset): Told | null {
  if (agent < 0) return null
  const row = agentRow(state, agent)
  if (grant === 'NOTIONAL') {
    const limit = formatDecimal(getI64(state, row, AGENT.MAX_NOTIONAL), NOTIONAL_SCALE)
    return [`${limit} ${quote.symbol}`, { limit, asset: quote.symbol }]
  }
  if (grant !== 'OPEN_ORDERS') return null
  const most = get(state, row, AGENT.MAX_OPEN_ORDERS)
  const limit = most === 0 ? AGENT_OPEN_ORDERS_MAX : most
  return [String(limit), { limit }]
}

/** The refusal of a transfer, in the RESULT at word `base`. */
export function transferRefusal(gateway: Gateway, records: Views, base: number): Refused {
  const refused = engineRefusal(records, base)
  const told = refused.code === 'INSUFFICIENT_BALANCE' ? shortfall(gateway, records, base, false) : null
  return told === null ? refused : new Refused(refused.code, `${refused.message}: ${told[0]}`, { field: 'amount', ...told[1] })
}

/**
 * `required=..., available=...` of a margin shortfall, as the specification words it (Errors, rule 1): more than there is in the bucket and
 * free in its margin account. `null`: the numbers are not told.
 */
export function marginShortfall({ genesis }: Gateway, { i32, i64 }: Views, base: number, first: 'required' | 'requested'): Told | null {
  const atoms = i64[(base + at.required) >>> 1]!
  if (atoms === 0n) return null
  const asset = genesis.assets[i32[base + at.asset]!]!
  const required = amountText(asset, atoms)
  const available = amountText(asset, i64[(base + at.available) >>> 1]!)
  return [`${first}=${required}, available=${available}`, { [first]: required, available, asset: asset.symbol }]
}

/** The refusal of a move of collateral, in the RESULT at word `base`. */
export function collateralRefusal(gateway: Gateway, records: Views, base: number): Refused {
  const { code, message, details } = engineRefusal(records, base)
  const told = code === 'INSUFFICIENT_COLLATERAL' ? marginShortfall(gateway, records, base, 'requested')
    : code === 'INSUFFICIENT_BALANCE' ? shortfall(gateway, records, base, false) : null
  if (told !== null) return new Refused(code, `${message}: ${told[0]}`, { field: 'amount', ...told[1] })
  return new Refused(code, message, details)
}

/** The refusal of a withdrawal of this asset, in the RESULT at word `base`. */
export function withdrawalRefusal(gateway: Gateway, records: Views, base: number, index: number): Refused {
  const refused = transferRefusal(gateway, records, base)
  const { code, message } = refused
  const asset = gateway.genesis.assets[index]!
  if (code === 'WITHDRAWAL_TOO_SMALL') {
    const [words, details] = bounded('minimum', amountText(asset, vaultTotals(gateway.state, index).minimum), asset)
    return new Refused(code, `${message}: ${words}`, { field: 'amount', ...details })
  }
  return code === 'WITHDRAWAL_LIMIT' ? new Refused(code, message, { field: 'amount', asset: asset.symbol }) : refused
}

/** A reader of refusals in which `code` names the limit of so many. */
export const limitedTo = (code: RefusalCode, limit: number) => (records: Views, base: number): Refused => {
  const refused = engineRefusal(records, base)
  return refused.code === code ? new Refused(code, `${refused.message}: the limit is ${limit}`, { limit }) : refused
}
