/**
 * What an order must satisfy before it is accepted, checked at sequence time. The gateway checked most of it before, to refuse
 * early; only this decides. Codes are numbers of the refusal register, 0 is none.
 */
import { Flag, Origin, originOf } from '../layout/command.ts'
import { payerFor } from '../ledger/holds.ts'
import { ACCOUNT, BALANCE, NO_ASK, PAIR, SCALAR, TERMS } from '../state/columns.ts'
import { MAX_NOTIONAL } from '../state/genesis.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { shareOf } from '../state/shares.ts'
import { accountRow, balanceRow, get, getF64, getI64, noted, pairRow, scalar, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { N, R } from '../state/balances.ts'
import { addOnOf, largestAddOn, requireAddOn } from '../ledger/add_ons.ts'
import { requiredForCost } from '../ledger/fees.ts'
import { maySpend, roomToSpend } from '../ledger/spending.ts'
import { isTakerCertain } from '../margin/fills.ts'
import { bestOpposite, crosses } from '../book/match.ts'
import { walkPerp } from '../book/perp_walk.ts'
import { PATH_TOO_LONG, walk } from '../book/walk.ts'

/** The mandatory protective band of MARKET orders, bps of the touch (specification, Limits). */
export const PROTECTIVE_BAND_BPS = 1000
/** The same of what a take-profit, stop-loss or trailing stop enters. */
export const TRIGGERED_BAND_BPS = 1200

/** Orders that never rest. */
const RESTS_NOT = Flag.MARKET | Flag.IOC | Flag.FOK

/** For register BUDGET: any cost. */
const NO_BUDGET = 2n ** 63n - 1n

/** The worst tick a MARKET order may trade at: the touch moved by its tolerance, at most the protective band. 0: no book. */
export function marketLimit(state: State, pair: number, flags: number, slippageBps: number): number {
  const best = bestOpposite(state, pair, flags & Flag.SELL)
  const origin = originOf(flags)
  const triggered = (flags & Flag.CLOSE) !== 0 && (origin === Origin.TRIGGER || origin === Origin.COPY)
  const band = triggered ? TRIGGERED_BAND_BPS : PROTECTIVE_BAND_BPS
  const bps = (flags & Flag.SLIPPAGE) !== 0 && slippageBps < band ? slippageBps : band
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
 * Terms of the order itself: tick, size, value. `limit` is the price of a LIMIT order or the band of a MARKET order. Register RELEASE is
 * what a replaced order gives back to the same payer. Since the rules 5 an order that reduces is cut to what one order may have
 * (margin_admission.ts), and a spot SELL of everything may be as small as it is.
 */
export function checkTerms(state: State, account: number, pair: number, flags: number, limit: number, lots: number): number {
  pair |= 0
  const terms = termsRow(state, pair)
  const sell = flags & Flag.SELL
  const market = (flags & Flag.MARKET) !== 0
  if (!market && (limit < 1 || limit >= state.priceTicks)) return REFUSALS.INVALID_TICK.number
  // What is left of a position may be less than an order must be.
  const reduces = (flags & Flag.REDUCE_ONLY) !== 0
  const small = lots < (reduces ? 1 : get(state, terms, TERMS.MIN_LOTS))
  if (small && !sellsAll(state, account, pair, flags, lots)) return REFUSALS.BELOW_MIN_ORDER_SIZE.number
  const isCut = reduces && scalar(state, SCALAR.RULES) >= 5
  if (!isCut && lots > get(state, terms, TERMS.MAX_LOTS)) return REFUSALS.ABOVE_MAX_ORDER_SIZE.number
  const best = get(state, pairRow(state, pair), sell === 0 ? PAIR.BEST_ASK : PAIR.BEST_BID)
  const touch = best === NO_ASK ? 0 : best
  const price = market ? touch : limit
  const perTick = lots * getF64(state, terms, TERMS.TICK_LOT_ATOMS_F64)
  const cheap = price > 0 && !reduces && price * perTick < getF64(state, terms, TERMS.MIN_NOTIONAL)
  if (cheap && !sellsAll(state, account, pair, flags, lots)) return REFUSALS.BELOW_MIN_NOTIONAL.number
  const highest = sell !== 0 && touch > limit ? touch : limit
  return !isCut && highest * perTick > MAX_NOTIONAL ? REFUSALS.ABOVE_MAX_ORDER_SIZE.number : 0
}

/**
 * True when a spot SELL offers all that its payer has available, so that what is left of a balance can be sold. What may rest needs a payer
 * with nothing else of the base locked: so one balance has at most one such order in a book.
 */
function sellsAll(state: State, account: number, pair: number, flags: number, lots: number): boolean {
  const spot = (flags & (Flag.SELL | Flag.MARGIN)) === Flag.SELL
  if (!spot || lots < 1 || scalar(state, SCALAR.RULES) < 5) return false
  const payer = payerFor(state, account, flags)
  if (payer < 0) return false
  const { registers } = state
  const terms = termsRow(state, pair)
  const balance = balanceRow(state, payer, get(state, terms, TERMS.BASE))
  registers[R.REQUIRED] = BigInt(lots | 0) * getI64(state, terms, TERMS.LOT_ATOMS)
  registers[R.AMOUNT] = getI64(state, balance, BALANCE.AVAILABLE) + registers[R.RELEASE]! - registers[R.REQUIRED]!
  if (registers[R.AMOUNT]! < 0n || registers[R.AMOUNT]! >= getI64(state, terms, TERMS.LOT_ATOMS)) return false
  return (flags & RESTS_NOT) !== 0 || getI64(state, balance, BALANCE.LOCKED) === registers[R.RELEASE]!
}

/**
 * Room for one more order: of an account, of its family (state/shares.ts) and of the pool. The last row is for orders that do not rest,
 * so that a full pool refuses no others.
 */
export function checkRoom(state: State, account: number, flags: number): number {
  const free = state.maxOrders - scalar(state, SCALAR.ORDERS_LIVE)
  if (free <= 0) return REFUSALS.OVERLOADED.number
  if ((flags & RESTS_NOT) !== 0) return 0
  const row = accountRow(state, account)
  if (get(state, row, ACCOUNT.OPEN_ORDERS) >= state.maxOpenOrders) return REFUSALS.TOO_MANY_OPEN_ORDERS.number
  if (scalar(state, SCALAR.RULES) < 1) return 0
  if (free === 1) return REFUSALS.OVERLOADED.number
  const held = get(state, accountRow(state, get(state, row, ACCOUNT.FAMILY)), ACCOUNT.FAMILY_ORDERS)
  return held < shareOf(state.maxOrders, free - 1) ? 0 : REFUSALS.TOO_MANY_OPEN_ORDERS.number
}

/**
 * Funds: a SELL needs its base; a MARKET BUY the exact cost of its fill path, which is walked no further than they go; a LIMIT BUY its
 * value at the limit with the fee, at the taker rate when it crosses; rates are those of the account's tier, and what its
 * application adds. A master-funded order needs a spend limit that has room for it and the funds of its master; the
 * limit first, so that a sub-account learns nothing else of them.
 * Register RELEASE is what a replaced order gives back first, to the same payer.
 */
export function checkFunds(state: State, account: number, pair: number, flags: number, limit: number, lots: number): number {
  const { registers } = state
  const funded = (flags & Flag.MASTER_FUNDED) !== 0
  const payer = payerFor(state, account, flags)
  if (payer < 0) return REFUSALS.NOT_SUB_ACCOUNT.number
  const terms = termsRow(state, pair)
  const owner = accountRow(state, account)
  let asset = get(state, terms, TERMS.QUOTE)
  if ((flags & Flag.SELL) !== 0) {
    asset = get(state, terms, TERMS.BASE)
    registers[R.REQUIRED] = BigInt(lots | 0) * getI64(state, terms, TERMS.LOT_ATOMS)
  } else if ((flags & Flag.MARKET) !== 0) {
    setBudget(state, account, payer, asset, funded)
    if (walk(state, pair, flags, limit, lots, account) === PATH_TOO_LONG) return REFUSALS.ABOVE_MAX_ORDER_SIZE.number
    requiredForCost(state, get(state, terms, TERMS.TAKER_PPM) - get(state, owner, ACCOUNT.TAKER_DISCOUNT))
    requireAddOn(state, addOnOf(state, account, flags, false))
  } else {
    registers[R.COST] = BigInt(limit | 0) * BigInt(lots | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
    const resting = get(state, terms, TERMS.MAKER_PPM) - get(state, owner, ACCOUNT.MAKER_DISCOUNT)
    const maker = resting > 0 ? resting : 0
    const taker = get(state, terms, TERMS.TAKER_PPM) - get(state, owner, ACCOUNT.TAKER_DISCOUNT)
    const meets = get(state, pairRow(state, pair), PAIR.BEST_ASK) <= limit
    requiredForCost(state, meets && taker > maker ? taker : maker)
    requireAddOn(state, largestAddOn(state, account, flags, meets))
  }
  if (funded && !maySpend(state, account, asset)) return REFUSALS.SUB_ACCOUNT_LIMIT_EXCEEDED.number
  registers[R.AMOUNT] = getI64(state, balanceRow(state, payer, asset), BALANCE.AVAILABLE) + registers[R.RELEASE]!
  return registers[R.AMOUNT]! < registers[R.REQUIRED]! ? REFUSALS.INSUFFICIENT_BALANCE.number : 0
}

/**
 * Register BUDGET: what a MARKET BUY may cost before it is known that it will be refused, the fee aside: what its payer has, or what the
 * spend limit leaves when a master pays, so that a sub-account is told of its limit first. Before the rules 2 there is none.
 */
function setBudget(state: State, account: number, payer: number, asset: number, funded: boolean): void {
  const { registers } = state
  registers[R.BUDGET] = NO_BUDGET
  if (scalar(state, SCALAR.RULES) < 2) return
  if (funded) roomToSpend(state, account, asset)
  else registers[R.BUDGET] = getI64(state, balanceRow(state, payer, asset), BALANCE.AVAILABLE) + registers[R.RELEASE]!
}

/** Post-only never takes: refused when it would cross. */
export function checkPostOnly(state: State, pair: number, flags: number, limit: number): number {
  if ((flags & Flag.POST_ONLY) === 0) return 0
  const sell = flags & Flag.SELL
  return crosses(sell, limit, bestOpposite(state, pair, sell)) ? REFUSALS.POST_ONLY_WOULD_CROSS.number : 0
}

/**
 * FOK: 0 lots left means it will fill; lots left, or the complement of an own order's row: it ends unfilled (specification, Errors);
 * PATH_TOO_LONG: it is refused.
 */
export function fillOrKill(state: State, pair: number, flags: number, limit: number, lots: number, account: number): number {
  if ((flags & Flag.FOK) === 0) return 0
  if ((flags & Flag.MARGIN) !== 0) return fillOrKillMargin(state, pair, flags, limit, lots, account)
  state.registers[R.BUDGET] = NO_BUDGET
  return walk(state, pair, flags, limit, lots, account)
}

/** The same of an order of a perpetual whose place was found (margin_admission.ts): filled whole for certain, makers and taker. */
function fillOrKillMargin(state: State, pair: number, flags: number, limit: number, lots: number, account: number): number {
  const left = walkPerp(state, pair, flags, limit, lots, account)
  if (left !== 0) return left
  const ppm = get(state, termsRow(state, pair), TERMS.TAKER_PPM) - get(state, accountRow(state, account), ACCOUNT.TAKER_DISCOUNT)
  const adds = addOnOf(state, account, flags, false)
  return isTakerCertain(state, pair, flags, noted(state, N.BUCKET), noted(state, N.POSITION), lots, ppm, adds) ? 0 : lots
}
