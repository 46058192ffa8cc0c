/**
 * What an order must satisfy before it is accepted, checked at sequence time. The gateway checked most of it before, to refuse
 * early; only this decides. Codes are numbers of the refusal register, 0 is none.
 */
import { Flag } from '../layout/command.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, BALANCE, BALANCE_WORDS, NO_ASK, PAIR, PAIR_WORDS, SCALAR, SCALARS_AT, TERMS, TERMS_WORDS,
} from '../state/columns.ts'
import { MAX_NOTIONAL } from '../state/genesis.ts'
import { REFUSALS } from '../layout/refusals.ts'
import * as shares from '../state/shares.ts'
import type { State } from '../state/state.ts'
import { R } from '../state/balances.ts'
import * as fees from '../ledger/fees.ts'
import * as spending from '../ledger/spending.ts'
import * as matching from '../book/match.ts'
import { PATH_TOO_LONG, walk } from '../book/walk.ts'

/** The mandatory protective band of MARKET orders, bps of the touch (specification, Limits). */
export const PROTECTIVE_BAND_BPS = 1000

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const { SELL, MARKET, IOC, FOK, POST_ONLY, MASTER_FUNDED } = Flag
const { TICK_LOT_ATOMS, LOT_ATOMS, TICK_LOT_ATOMS_F64, MIN_NOTIONAL, BASE, QUOTE, MAKER_PPM, TAKER_PPM, MIN_LOTS, MAX_LOTS } = TERMS
const { BEST_BID, BEST_ASK } = PAIR
const { OPEN_ORDERS, MAKER_DISCOUNT, TAKER_DISCOUNT, FAMILY, FAMILY_ORDERS } = ACCOUNT
const { AVAILABLE } = BALANCE
const { REQUIRED, COST, AMOUNT, RELEASE } = R
const [ACCOUNT_ROW, BALANCE_ROW, PAIR_ROW, TERMS_ROW] = [ACCOUNT_WORDS, BALANCE_WORDS, PAIR_WORDS, TERMS_WORDS]
const ORDERS_LIVE = SCALARS_AT + SCALAR.ORDERS_LIVE
const RULES = SCALARS_AT + SCALAR.RULES
const NONE_ASK = NO_ASK
const HIGHEST_VALUE = MAX_NOTIONAL
const OVERLOADED = REFUSALS.OVERLOADED.number
const TOO_MANY_OPEN_ORDERS = REFUSALS.TOO_MANY_OPEN_ORDERS.number
const INVALID_TICK = REFUSALS.INVALID_TICK.number
const BELOW_MIN_ORDER_SIZE = REFUSALS.BELOW_MIN_ORDER_SIZE.number
const ABOVE_MAX_ORDER_SIZE = REFUSALS.ABOVE_MAX_ORDER_SIZE.number
const BELOW_MIN_NOTIONAL = REFUSALS.BELOW_MIN_NOTIONAL.number
const POST_ONLY_WOULD_CROSS = REFUSALS.POST_ONLY_WOULD_CROSS.number
const INSUFFICIENT_BALANCE = REFUSALS.INSUFFICIENT_BALANCE.number
const NOT_SUB_ACCOUNT = REFUSALS.NOT_SUB_ACCOUNT.number
const SUB_ACCOUNT_LIMIT_EXCEEDED = REFUSALS.SUB_ACCOUNT_LIMIT_EXCEEDED.number
const { requiredForCost } = fees
const { shareOf } = shares
const { maySpend, payerFor } = spending
const { bestOpposite, crosses } = matching

/** The worst tick a MARKET order may trade at: the touch moved by its tolerance, at most the protective band. 0: no book. */
export function marketLimit(state: State, pair: number, flags: number, slippageBps: number): number {
  const best = bestOpposite(state, pair, flags & Flag.SELL)
  const bps = (flags & Flag.SLIPPAGE) !== 0 && slippageBps < PROTECTIVE_BAND_BPS ? slippageBps : PROTECTIVE_BAND_BPS
  if ((flags & Flag.SELL) !== 0) return best === 0 ? 0 : lowestSale(best, bps)
  return best === NO_ASK ? 0 : highestPurchase(state, best, bps)
}

const lowestSale = (best: number, bps: number): number => Math.max(1, Math.ceil((best * (10_000 - bps)) / 10_000))
const highestPurchase = (state: State, best: number, bps: number): number =>
  Math.min(state.priceTicks - 1, Math.floor((best * (10_000 + bps)) / 10_000))

/** The worst tick a MARKET order without a tolerance may trade at when the touch is `best`; for readers. */
export const protectiveLimit = (state: State, best: number, sell: boolean): number =>
  sell ? lowestSale(best, PROTECTIVE_BAND_BPS) : highestPurchase(state, best, PROTECTIVE_BAND_BPS)

/**
 * Terms of the order itself: tick, size, value. `limit` is the price of a LIMIT
 * order or the band of a MARKET order.
 */
export function checkTerms(state: State, pair: number, flags: number, limit: number, lots: number): number {
  pair |= 0
  const { i32, f64 } = state
  const terms = (state.termsAt + pair * TERMS_ROW) & ADDRESS
  const sell = flags & SELL
  const market = (flags & MARKET) !== 0
  if (!market && (limit < 1 || limit >= state.priceTicks)) return INVALID_TICK
  if (lots < i32[terms + MIN_LOTS]!) return BELOW_MIN_ORDER_SIZE
  if (lots > i32[terms + MAX_LOTS]!) return ABOVE_MAX_ORDER_SIZE
  const best = i32[(state.pairsAt + pair * PAIR_ROW + (sell === 0 ? BEST_ASK : BEST_BID)) & ADDRESS]!
  const touch = best === NONE_ASK ? 0 : best
  const price = market ? touch : limit
  const perTick = lots * f64[(terms + TICK_LOT_ATOMS_F64) >>> 1]!
  if (price > 0 && price * perTick < f64[(terms + MIN_NOTIONAL) >>> 1]!) return BELOW_MIN_NOTIONAL
  const highest = sell !== 0 && touch > limit ? touch : limit
  return highest * perTick > HIGHEST_VALUE ? ABOVE_MAX_ORDER_SIZE : 0
}

/**
 * Room for one more order: of an account, of its family (state/shares.ts) and of the pool. The last row is for orders that do not rest,
 * so that a full pool refuses no others.
 */
export function checkRoom(state: State, account: number, flags: number): number {
  const { i32 } = state
  const free = state.maxOrders - i32[ORDERS_LIVE]!
  if (free <= 0) return OVERLOADED
  if ((flags & (MARKET | IOC | FOK)) !== 0) return 0
  const row = (state.accountsAt + account * ACCOUNT_ROW) & ADDRESS
  if (i32[row + OPEN_ORDERS]! >= state.maxOpenOrders) return TOO_MANY_OPEN_ORDERS
  if (i32[RULES]! < 1) return 0
  if (free === 1) return OVERLOADED
  const held = i32[(state.accountsAt + i32[row + FAMILY]! * ACCOUNT_ROW + FAMILY_ORDERS) & ADDRESS]!
  return held < shareOf(state.maxOrders, free - 1) ? 0 : TOO_MANY_OPEN_ORDERS
}

/**
 * Funds: a SELL needs its base; a MARKET BUY the exact cost of its fill path; a LIMIT BUY its value at the limit with the fee,
 * at the taker rate when it crosses; rates are those of the account's tier. A master-funded order needs a spend limit that has room
 * for it and the funds of its master; the limit first, so that a sub-account learns nothing else of them. Register RELEASE is what a
 * replaced order gives back first, to the same payer.
 */
export function checkFunds(state: State, account: number, pair: number, flags: number, limit: number, lots: number): number {
  account |= 0
  pair |= 0
  const { i32, i64 } = state
  const funded = (flags & MASTER_FUNDED) !== 0
  const payer = funded ? payerFor(state, account, flags) : account
  if (payer < 0) return NOT_SUB_ACCOUNT
  const terms = (state.termsAt + pair * TERMS_ROW) & ADDRESS
  const owner = (state.accountsAt + account * ACCOUNT_ROW) & ADDRESS
  let asset = i32[terms + QUOTE]!
  if ((flags & SELL) !== 0) {
    asset = i32[terms + BASE]!
    i64[REQUIRED] = BigInt(lots | 0) * i64[(terms + LOT_ATOMS) >>> 1]!
  } else if ((flags & MARKET) !== 0) {
    if (walk(state, pair, flags, limit, lots, account) === PATH_TOO_LONG) return ABOVE_MAX_ORDER_SIZE
    requiredForCost(state, i32[terms + TAKER_PPM]! - i32[owner + TAKER_DISCOUNT]!)
  } else {
    i64[COST] = BigInt(limit | 0) * BigInt(lots | 0) * i64[(terms + TICK_LOT_ATOMS) >>> 1]!
    const resting = i32[terms + MAKER_PPM]! - i32[owner + MAKER_DISCOUNT]!
    const maker = resting > 0 ? resting : 0
    const taker = i32[terms + TAKER_PPM]! - i32[owner + TAKER_DISCOUNT]!
    const takes = i32[(state.pairsAt + pair * PAIR_ROW + BEST_ASK) & ADDRESS]! <= limit && taker > maker
    requiredForCost(state, takes ? taker : maker)
  }
  if (funded && !maySpend(state, account, asset)) return SUB_ACCOUNT_LIMIT_EXCEEDED
  const row = (state.balancesAt + Math.imul(payer, state.balanceStride) + asset * BALANCE_ROW + AVAILABLE) & ADDRESS
  i64[AMOUNT] = i64[row]! + i64[RELEASE]!
  return i64[AMOUNT]! < i64[REQUIRED]! ? INSUFFICIENT_BALANCE : 0
}

/** Post-only never takes: refused when it would cross. */
export function checkPostOnly(state: State, pair: number, flags: number, limit: number): number {
  if ((flags & POST_ONLY) === 0) return 0
  const sell = flags & SELL
  return crosses(sell, limit, bestOpposite(state, pair, sell)) ? POST_ONLY_WOULD_CROSS : 0
}

/**
 * FOK: 0 lots left means it will fill; lots left, or the complement of an own order's row: it ends unfilled (specification, Errors);
 * PATH_TOO_LONG: it is refused.
 */
export function fillOrKill(state: State, pair: number, flags: number, limit: number, lots: number, account: number): number {
  return (flags & FOK) === 0 ? 0 : walk(state, pair, flags, limit, lots, account)
}
