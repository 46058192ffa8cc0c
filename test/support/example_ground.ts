/**
 * Where worked examples are played: an exchange with pairs of its own for each of them, and how records on the wire are
 * written in an example. Values that must agree with each other are compared here, and what does not is said beside.
 */
import { RULES } from '../../core/state/rules.ts'
import type { Json } from './transports.ts'
import { exact, markets, type Example } from './worked_examples.ts'

/** Pairs of one example: ids, and the symbol of the first. */
export interface Ground {
  readonly pairId: string
  readonly symbol: string
  readonly otherId: string | undefined
}

const DAY = 86_400_000
const LIMITS = {
  orders: 16_384, accounts: 1024, sessions: 2048, receipts: 4096, openOrdersPerAccount: 1000, priceTicks: 1_048_576,
  sessionLifetimeMs: DAY, receiptLifetimeMs: DAY, orderLifetimeMs: 90 * DAY,
}
const uuid = (kind: number, index: number): string => `${kind}0000000-0000-4000-8000-${String(index).padStart(12, '0')}`

export const assetId = (symbol: string): string => uuid(1, markets.assets.findIndex((asset) => asset.symbol === symbol))

/** The genesis of an exchange for these examples, and the ground of each. */
export function groundsOf(examples: readonly Example[]): { genesis: string; grounds: Ground[] } {
  const pairs: Json[] = []
  const addPair = (market: string): Json => {
    const pair = { id: uuid(2, pairs.length), symbol: `B${pairs.length}/USD`, base: 'BTC', marketType: 'SPOT' }
    pairs.push({ ...pair, ...markets.markets[market]! })
    return pair
  }
  const grounds = examples.map(({ market, other }): Ground => {
    const { id, symbol } = addPair(market)
    return { pairId: id, symbol, otherId: other === undefined ? undefined : addPair(other)['id'] }
  })
  const assets = markets.assets.map((asset, index) =>
    ({ ...asset, id: uuid(1, index), token: `0x${String(index + 1).padStart(40, '0')}`, iconUrl: null }))
  const tiers = markets.tiers.map((tier, index) => ({ minVolume: String(index * 1_000_000), ...tier }))
  const genesis = {
    name: 'worked examples', chainId: 1328, rules: RULES, limits: LIMITS, faucet: { dailyLimit: 5 }, assets, pairs,
    feeTiers: { asset: 'USD', tiers }, applications: [{ id: uuid(3, 0), name: 'one', clientId: 'one' }],
  }
  return { genesis: JSON.stringify(genesis), grounds }
}

/** Without what is null: to a reader null and absent are the same. */
export function present(value: Json): Json {
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined)
  return Object.fromEntries(entries.map(([key, each]) =>
    [key, typeof each === 'object' && !Array.isArray(each) ? present(each) : each]))
}

export function without(value: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}

/** How many fills an answer lists at most. */
const LISTED = 20
/** What a match result says besides the specification, and examples do not: totals and fills, which must agree with the rest of it. */
const BESIDES = ['totalFilledQuote', 'totalFee', 'fills']

/** The match result as an example has it; what disagrees in the rest is said beside. */
export function resultOf(told: Json): Json {
  const result = present(told)
  const { tradesCount, totalFilled, totalFilledQuote, totalFee, fills = [] } = result
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, each) => all + each, 0n)
  const faults: string[] = []
  if (fills.length !== Math.min(tradesCount, LISTED)) faults.push(`${fills.length} fills`)
  if (tradesCount === 0 && BESIDES.some((field) => field in result)) faults.push('totals without fills')
  if (tradesCount > 0 && tradesCount <= LISTED) {
    const all = fills as { price: string; quantity: string; fee: string }[]
    if (sum(all.map(({ quantity }) => exact(quantity))) !== exact(totalFilled)) faults.push('quantities that do not add up')
    const quotes = sum(all.map(({ price, quantity }) => exact(price) * exact(quantity)))
    if (quotes !== exact(totalFilledQuote) * 10n ** 18n) faults.push(`in all ${totalFilledQuote}`)
    if (sum(all.map(({ fee }) => exact(fee))) !== exact(totalFee)) faults.push(`fees of ${totalFee}`)
  }
  return { ...without(result, BESIDES), ...(faults.length === 0 ? {} : { faults }) }
}

export const totalsOf = ({ totalRequested, totalSucceeded, totalFailed }: Json): number[] =>
  [totalRequested, totalSucceeded, totalFailed]

const level = ({ price, quantity, orderCount }: Json): unknown[] => [price, quantity, orderCount]
export const levelsOf = ({ bids, asks }: Json): Json => ({ bids: bids.map(level), asks: asks.map(level) })

const UNEXPECTED = 'nobody expected'

/** Status and code of a refusal, and of the rest what the example says; less what it leaves open. */
export function refusalOf({ refused: expected, open = [] }: Json, http: number, json: Json): Json {
  const { statusCode, code, error, details, message } = json
  const refused: Json = { http: statusCode === http ? http : `${http}, and ${statusCode} in the envelope`, code }
  if (expected === undefined) return { refused: { ...refused, message: `${UNEXPECTED}: ${message}` } }
  if ('error' in expected) refused['error'] = error
  if ('field' in expected) refused['field'] = details?.field
  if ('begins' in expected) refused['begins'] = message.slice(0, expected.begins.length)
  return { refused: without(refused, open) }
}

/** Available and locked; their sum, raw values and decimals must be the ones told. */
export function balanceOf(row: Json): string[] {
  const { symbol, decimals, availableBalance, lockedBalance, totalBalance, availableBalanceRaw, lockedBalanceRaw } = row
  const raw = (value: string): string => String(exact(value) / 10n ** BigInt(18 - decimals))
  const faults: string[] = []
  if (exact(availableBalance) + exact(lockedBalance) !== exact(totalBalance)) faults.push(`in all ${totalBalance}`)
  if (raw(availableBalance) !== availableBalanceRaw) faults.push(`raw available ${availableBalanceRaw}`)
  if (raw(lockedBalance) !== lockedBalanceRaw) faults.push(`raw locked ${lockedBalanceRaw}`)
  const asset = markets.assets.find((each) => each.symbol === symbol)
  if (asset?.decimals !== decimals) faults.push(`decimals ${decimals}`)
  return [availableBalance, lockedBalance, ...faults]
}

export function tradeText(trade: Json): string {
  const { role, side, quantity, price, quoteQuantity, fee, feeToken, feeRaw, makerSide } = trade
  const text = `${role} ${side} ${quantity} at ${price} = ${quoteQuantity}, fee ${fee} ${feeToken}, raw ${feeRaw}`
  return (role === 'maker') === (side === makerSide) ? text : `${text}, but the maker's side is ${makerSide}`
}

const ALWAYS = ['status', 'filledQuantity', 'remainingQuantity', 'fee', 'averageFillPrice', 'terminalReason']

/** Of an order what every example says, and what this one says besides. */
export function orderText(json: Json, expected: Json): Json {
  const order = Object.entries(present(json['order'] ?? json))
  return Object.fromEntries(order.filter(([field]) => ALWAYS.includes(field) || field in expected))
}
