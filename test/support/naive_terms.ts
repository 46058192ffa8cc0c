/**
 * Orders, the path an incoming one would take, and everything that may refuse it, in the naive exchange. Changes nothing; what
 * changes something is in naive_orders.ts. See naive.ts.
 */
import { Flag, Origin, originOf } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { CODE, type NaiveExchange } from './naive.ts'
import type { Agent } from './naive_agents.ts'
import type { OrderMargin } from './naive_margin.ts'
import { legsOf } from './naive_conditional.ts'
import { addedInTheEnd, addedNow, addOnFlag, addsTo, type AddOn } from './naive_builder.ts'
import type { Twap } from './naive_twap.ts'
import { boundLeft, familyOf, fundingRefusal, isOwn, mayBind, payerOf, share } from './naive_families.ts'

/** Largest value of one order, quote atoms. */
const MOST_VALUE = 450_000_000_000_000n
const PROTECTIVE_BAND_BPS = 1000n
/** Of what closes a position because a price was reached. */
const TRIGGERED_BAND_BPS = 1200n
/** Flags that only orders of perpetuals have. */
export const MARGIN_FLAGS = Flag.MARGIN | Flag.REDUCE_ONLY | Flag.CROSS | Flag.CLOSE

export interface Order {
  sequence: number
  slot: number
  account: number
  pair: number
  sell: boolean
  /** Flag bits that stay with the order; neither RESTING nor the length of the label. */
  flags: number
  label: string
  labelLength: number
  price: number
  lots: number
  remaining: number
  filledQuote: bigint
  /** Sum of quote atoms × ppm over its fills. */
  feeSum: bigint
  fee: bigint
  makerPpm: number
  createdAt: number
  expiresAt: number
  trades: number
  bestPrice: number
  worstPrice: number
  /** Its place in time priority; 0: it does not rest. */
  place: number
  /** The delegated agent that placed it. */
  agent: Agent | null
  /** Of an order of a perpetual: where it stands and what it brought (naive_margin.ts). */
  margin: OrderMargin | null
  /** The TWAP order that it is a slice of. */
  parent: Twap | null
  addOn: AddOn | null
}

export type Ex = NaiveExchange
export const has = (flags: number, flag: number): boolean => (flags & flag) !== 0

/** Rates in ppm that an account's orders on a pair get now: those of the pair less the discounts of its tier. */
export function ratesOf(ex: Ex, account: number, pair: number): { maker: number; taker: number } {
  const { makerPpm, takerPpm } = ex.genesis.pairs[pair]!
  const { makerDiscountPpm, takerDiscountPpm } = ex.genesis.feeTiers.tiers[ex.accounts[account]!.tier]!
  return { maker: makerPpm - makerDiscountPpm, taker: takerPpm - takerDiscountPpm }
}

export const valueOf = (ex: Ex, pair: number, price: number, lots: number): bigint =>
  BigInt(price) * BigInt(lots) * ex.genesis.pairs[pair]!.tickLotAtoms

/** The flags of an order as records have them. */
export const wordOf = (ex: Ex, order: Order): number =>
  (order.flags | (order.place > 0 ? Flag.RESTING : 0) | (order.agent !== null ? Flag.BY_AGENT : 0) |
    (legsOf(ex, order).length > 0 ? Flag.LEGS : 0) | addOnFlag(order) | (order.labelLength << 24)) >>> 0

/** What a resting order locks: its base, or its value and the fee that may still come; of a margin order what is left of its collateral. */
export function holdOf(ex: Ex, order: Order): bigint {
  if (order.margin !== null) return order.margin.hold
  if (order.sell) return BigInt(order.remaining) * ex.genesis.pairs[order.pair]!.lotAtoms
  const value = valueOf(ex, order.pair, order.price, order.remaining)
  const added = addedInTheEnd(order, value)
  if (order.makerPpm <= 0) return value + added
  const feeInTheEnd = (order.feeSum + value * BigInt(order.makerPpm) + 999_999n) / 1_000_000n
  return value + feeInTheEnd - order.fee + added
}

export const isOver = (ex: Ex, order: Order): boolean => order.expiresAt <= ex.now

/** The other side of an incoming order, in the order it would be met, as far as `limit` reaches. */
export function path(ex: Ex, pair: number, sell: boolean, limit: number): Order[] {
  const reached = ex.books[pair]!.filter((o) => o.sell !== sell && (sell ? o.price >= limit : o.price <= limit))
  return reached.sort((a, b) => (sell ? b.price - a.price : a.price - b.price) || ex.rules.earlier(a, b))
}

/** Everything on the other side, best first. */
export const otherSide = (ex: Ex, pair: number, sell: boolean): Order[] => path(ex, pair, sell, sell ? 0 : Infinity)

export interface Terms {
  account: number
  pair: number
  flags: number
  /** Price of a LIMIT order, band of a MARKET order. */
  limit: number
  lots: number
  label: string
  labelLength: number
  /** What a replaced order gives back, and that order. */
  released: bigint
  original: Order | null
}

/** The worst price a MARKET order trades at; 0 without a book. */
export function bandOf(ex: Ex, pair: number, flags: number, slippageBps: number): number {
  const touch = otherSide(ex, pair, has(flags, Flag.SELL))[0]
  if (touch === undefined) return 0
  const closes = has(flags, Flag.CLOSE) && [Origin.TRIGGER, Origin.COPY].some((each) => each === originOf(flags))
  const band = closes ? TRIGGERED_BAND_BPS : PROTECTIVE_BAND_BPS
  const asked = has(flags, Flag.SLIPPAGE) ? BigInt(slippageBps) : band
  const bps = asked < band ? asked : band
  if (has(flags, Flag.SELL)) {
    const lowest = (BigInt(touch.price) * (10_000n - bps) + 9_999n) / 10_000n
    return lowest < 1n ? 1 : Number(lowest)
  }
  return Math.min(ex.genesis.limits.priceTicks - 1, Number((BigInt(touch.price) * (10_000n + bps)) / 10_000n))
}

/** The most lots that one order may have that sells or buys at this limit. */
export function mostLots(ex: Ex, pair: number, sells: boolean, limit: number): number {
  const best = otherSide(ex, pair, sells)[0]?.price ?? 0
  const highest = sells && best > limit ? best : limit
  const { maxLots, tickLotAtoms } = ex.genesis.pairs[pair]!
  if (highest === 0) return maxLots
  return Math.min(maxLots, Number(MOST_VALUE / (BigInt(highest) * tickLotAtoms)))
}

export function termsRefusal(ex: Ex, terms: Terms): number {
  const { pair, flags, limit, lots } = terms
  const rules = ex.genesis.pairs[pair]!
  const market = has(flags, Flag.MARKET)
  if (!market && (limit < 1 || limit >= ex.genesis.limits.priceTicks)) return CODE.INVALID_TICK
  const reduces = has(flags, Flag.REDUCE_ONLY)
  const all = sellsAll(ex, terms)
  const cut = reduces && ex.inForce >= 5
  if (lots < (reduces || all ? 1 : rules.minLots)) return CODE.BELOW_MIN_ORDER_SIZE
  if (!cut && lots > rules.maxLots) return CODE.ABOVE_MAX_ORDER_SIZE
  const touch = otherSide(ex, pair, has(flags, Flag.SELL))[0]?.price ?? 0
  const price = market ? touch : limit
  if (price > 0 && !reduces && !all && valueOf(ex, pair, price, lots) < rules.minNotionalAtoms) return CODE.BELOW_MIN_NOTIONAL
  const dearest = has(flags, Flag.SELL) ? Math.max(touch, limit) : limit
  return !cut && valueOf(ex, pair, dearest, lots) > MOST_VALUE ? CODE.ABOVE_MAX_ORDER_SIZE : 0
}

/** Since the rules 5: a spot SELL of every lot that is available; of one that may rest nothing else of the base may be locked. */
function sellsAll(ex: Ex, { account, pair, flags, lots, released }: Terms): boolean {
  if (ex.inForce < 5 || !has(flags, Flag.SELL) || has(flags, Flag.MARGIN)) return false
  const payer = payerOf(ex, account, flags)
  if (payer < 0) return false
  const { base, lotAtoms } = ex.genesis.pairs[pair]!
  const all = (ex.available(payer, base) + released) / lotAtoms
  const rests = ![Flag.MARKET, Flag.IOC, Flag.FOK].some((flag) => has(flags, flag))
  return BigInt(lots) === all && !(rests && ex.locked(payer, base) > released)
}

/** What an order may cost at most, in the asset it pays with; a MARKET BUY no further than where it costs more than `budget`. */
function mayCost(ex: Ex, terms: Terms, budget = -1n): bigint {
  const { pair, flags, limit, lots } = terms
  const rules = ex.genesis.pairs[pair]!
  if (has(flags, Flag.SELL)) return BigInt(lots) * rules.lotAtoms
  const rates = ratesOf(ex, terms.account, pair)
  const withFee = (value: bigint, ppm: number): bigint => value + (value * BigInt(ppm) + 999_999n) / 1_000_000n
  const adds = addedNow(ex, terms.account, flags)
  if (has(flags, Flag.MARKET)) {
    const { value } = simulate(ex, terms, budget)
    return withFee(value, rates.taker) + addsTo(value, adds.taker)
  }
  const whileResting = Math.max(0, rates.maker)
  const crossing = path(ex, pair, false, limit).length > 0
  const value = valueOf(ex, pair, limit, lots)
  const fees = withFee(value, crossing ? Math.max(rates.taker, whileResting) : whileResting)
  return fees + addsTo(value, crossing ? Math.max(adds.taker, adds.maker) : adds.maker)
}

/** Orders of a path that are looked at, since the rules 1, and traded with, since the rules 2. */
export const PATH_MOST = 20_000

/**
 * Walks the path without trading. `own`: the order of the same account or payer that was met before the quantity was reached. `tooLong`:
 * nobody looked further. `budget`: the value beyond which nobody looks; -1: none.
 */
export function simulate(ex: Ex, terms: Terms, budget = -1n): { left: number; value: bigint; own: Order | null; tooLong: boolean } {
  let left = terms.lots
  let value = 0n
  let looked = 0
  for (const maker of path(ex, terms.pair, has(terms.flags, Flag.SELL), terms.limit)) {
    if (left === 0) break
    if (ex.inForce >= 1 && looked++ === PATH_MOST) return { left, value, own: null, tooLong: true }
    if (isOver(ex, maker)) continue
    if (isOwn(ex, terms.account, terms.flags, maker)) return { left, value, own: maker, tooLong: false }
    const lots = Math.min(left, maker.remaining)
    value += valueOf(ex, terms.pair, maker.price, lots)
    left -= lots
    if (budget >= 0n && value > budget) break
  }
  return { left, value, own: null, tooLong: false }
}

/** Client order id, post-only and funds of a spot order: what create and replace check alike, after the terms. */
export function claimRefusal(ex: Ex, terms: Terms): number {
  const { account, pair, flags, limit } = terms
  const holder = ex.openOrders(account).find((o) => o.labelLength === terms.labelLength && o.label === terms.label)
  if (terms.labelLength > 0 && holder !== undefined && holder !== terms.original) return CODE.CLIENT_ORDER_ID_CONFLICT
  const sell = has(flags, Flag.SELL)
  if (has(flags, Flag.POST_ONLY) && path(ex, pair, sell, limit).length > 0) return CODE.POST_ONLY_WOULD_CROSS
  if (has(flags, Flag.MARGIN)) return 0
  const asset = ex.genesis.pairs[pair]![sell ? 'base' : 'quote']
  const payer = payerOf(ex, account, flags)
  if (payer < 0) return CODE.NOT_SUB_ACCOUNT
  const funded = has(flags, Flag.MASTER_FUNDED)
  if (has(flags, Flag.MARKET) && !sell) {
    const { tooLong, value } = simulate(ex, terms)
    if (tooLong && ex.inForce >= 2 && !funded && ex.available(payer, asset) < value) return CODE.INSUFFICIENT_BALANCE
    if (tooLong && ex.inForce >= 2 && funded && fundingRefusal(ex, account, asset, value, 0n) !== 0) return CODE.SUB_ACCOUNT_LIMIT_EXCEEDED
    if (tooLong) return CODE.ABOVE_MAX_ORDER_SIZE
  }
  const need = mayCost(ex, terms)
  const limited = funded ? fundingRefusal(ex, account, asset, need, terms.released) : 0
  return limited || (ex.available(payer, asset) + terms.released < need ? CODE.INSUFFICIENT_BALANCE : 0)
}

/** What a refusal of an order says of the pair, since the rules 4. */
export const tellPair = (ex: Ex, pair: number): Decoded => (ex.inForce < 4 ? {} : { pair })

/** What a refusal of these terms says, since the rules 4: what was asked for and what there was. */
export function tellShort(ex: Ex, terms: Terms, code: number): Decoded {
  const { account, pair, flags, released } = terms
  const told = tellPair(ex, pair)
  if (ex.inForce < 4) return told
  if (code === CODE.TOO_MANY_OPEN_ORDERS) return { ...told, ...tellRoom(ex, account) }
  if (code !== CODE.INSUFFICIENT_BALANCE && code !== CODE.SUB_ACCOUNT_LIMIT_EXCEEDED) return told
  const asset = ex.genesis.pairs[pair]![has(flags, Flag.SELL) ? 'base' : 'quote']
  const funded = has(flags, Flag.MASTER_FUNDED)
  const funds = ex.available(payerOf(ex, account, flags), asset) + released
  const hold = mayCost(ex, terms, funded ? boundLeft(ex, account, asset) : funds)
  const left = code === CODE.INSUFFICIENT_BALANCE ? (funded ? -1n : funds) : mayBind(ex, account, asset, released)
  return { ...told, detail2: asset, hold, filledQuote: left }
}

function tellRoom(ex: Ex, account: number): Decoded {
  const { orders: most, openOrdersPerAccount } = ex.genesis.limits
  if (ex.openOrders(account).length >= openOrdersPerAccount) return { lots: openOrdersPerAccount }
  return { lots: share(most, most - ex.books.flat().length - 1), trades: 1 }
}

/** Positions are closed during maintenance too. */
export function openRefusal(ex: Ex, pair: number, flags = 0): number {
  if (ex.maintenance && !has(flags, Flag.CLOSE)) return CODE.OPERATIONS_BLOCKED
  return ex.statuses[pair] === 'ACTIVE' ? 0 : CODE.PAIR_NOT_ACTIVE
}

export function roomRefusal(ex: Ex, account: number, flags: number): number {
  const { orders: most, openOrdersPerAccount } = ex.genesis.limits
  const free = most - ex.books.flat().length
  if (free === 0) return CODE.OVERLOADED
  if (has(flags, Flag.MARKET | Flag.IOC | Flag.FOK)) return 0
  if (ex.openOrders(account).length >= openOrdersPerAccount) return CODE.TOO_MANY_OPEN_ORDERS
  if (ex.inForce === 0) return 0
  // The last row is for orders that do not rest.
  if (free === 1) return CODE.OVERLOADED
  const held = ex.books.flat().filter((order) => familyOf(ex, order.account) === familyOf(ex, account)).length
  return held < share(most, free - 1) ? 0 : CODE.TOO_MANY_OPEN_ORDERS
}
