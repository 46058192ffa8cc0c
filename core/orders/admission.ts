/**
 * What an order must satisfy before it is accepted, checked at sequence time. The gateway checked most of it before, to refuse
 * early; only this decides. Codes are numbers of the refusal register, 0 is none.
 */
import { Flag } from '../layout/command.ts'
import { ACCOUNT, ACCOUNT_WORDS, BALANCE, NO_ASK, PAIR, PAIR_WORDS, SCALAR } from '../engine/columns.ts'
import { MAX_NOTIONAL } from '../engine/genesis.ts'
import { REFUSALS } from '../engine/refusals.ts'
import type { State } from '../engine/state.ts'
import { balanceRow, R } from '../ledger/balances.ts'
import { requiredForCost } from '../ledger/fees.ts'
import { bestOpposite, crosses } from '../book/match.ts'
import { OWN_ORDER, walk } from '../book/walk.ts'

/** The mandatory protective band of MARKET orders, bps of the touch (specification, Limits). */
export const PROTECTIVE_BAND_BPS = 1000

/** The worst tick a MARKET order may trade at: the touch moved by its tolerance, at most the protective band. 0: no book. */
export function marketLimit(state: State, pair: number, flags: number, slippageBps: number): number {
  const best = bestOpposite(state, pair, flags & Flag.SELL)
  const bps = (flags & Flag.SLIPPAGE) !== 0 && slippageBps < PROTECTIVE_BAND_BPS ? slippageBps : PROTECTIVE_BAND_BPS
  if ((flags & Flag.SELL) !== 0) return best === 0 ? 0 : Math.max(1, Math.ceil((best * (10_000 - bps)) / 10_000))
  if (best === NO_ASK) return 0
  return Math.min(state.genesis.limits.priceTicks - 1, Math.floor((best * (10_000 + bps)) / 10_000))
}

/** Terms of the order itself: tick, size, value. `limit` is the price of a LIMIT order or the band of a MARKET order. */
export function checkTerms(state: State, pair: number, flags: number, limit: number, lots: number): number {
  const market = (flags & Flag.MARKET) !== 0
  if (!market && (limit < 1 || limit >= state.genesis.limits.priceTicks)) return REFUSALS.INVALID_TICK.number
  if (lots < state.minLots[pair]!) return REFUSALS.BELOW_MIN_ORDER_SIZE.number
  if (lots > state.maxLots[pair]!) return REFUSALS.ABOVE_MAX_ORDER_SIZE.number
  const best = bestOpposite(state, pair, flags & Flag.SELL)
  const touch = best === NO_ASK ? 0 : best
  const price = market ? touch : limit
  if (price > 0 && price * lots * state.tickLotAtomsF64[pair]! < state.minNotional[pair]!) return REFUSALS.BELOW_MIN_NOTIONAL.number
  const highest = (flags & Flag.SELL) !== 0 && touch > limit ? touch : limit
  if (highest * lots * state.tickLotAtomsF64[pair]! > MAX_NOTIONAL) return REFUSALS.ABOVE_MAX_ORDER_SIZE.number
  return 0
}

/** Room for one more order, of an account and of the pool. */
export function checkRoom(state: State, account: number, flags: number): number {
  if (state.scalars[SCALAR.ORDERS_LIVE]! >= state.genesis.limits.orders) return REFUSALS.OVERLOADED.number
  if ((flags & (Flag.MARKET | Flag.IOC | Flag.FOK)) !== 0) return 0
  const open = state.accounts[account * ACCOUNT_WORDS + ACCOUNT.OPEN_ORDERS]!
  return open >= state.genesis.limits.openOrdersPerAccount ? REFUSALS.TOO_MANY_OPEN_ORDERS.number : 0
}

/**
 * Funds: a SELL needs its base; a MARKET BUY the exact cost of its fill path; a LIMIT BUY its value at the limit with the fee,
 * at the taker rate when it crosses. Register RELEASE is what a replaced order gives back first.
 */
export function checkFunds(state: State, account: number, pair: number, flags: number, limit: number, lots: number): number {
  const { registers, balances } = state
  let asset = state.pairQuote[pair]!
  if ((flags & Flag.SELL) !== 0) {
    asset = state.pairBase[pair]!
    registers[R.REQUIRED] = BigInt(lots | 0) * state.lotAtoms[pair]!
  } else if ((flags & Flag.MARKET) !== 0) {
    walk(state, pair, flags, limit, lots, account)
    requiredForCost(state, state.takerPpm[pair]!)
  } else {
    registers[R.COST] = BigInt(limit | 0) * BigInt(lots | 0) * state.tickLotAtoms[pair]!
    const maker = state.makerPpm[pair]! > 0 ? state.makerPpm[pair]! : 0
    const takes = crosses(0, limit, state.pairs[pair * PAIR_WORDS + PAIR.BEST_ASK]!) && state.takerPpm[pair]! > maker
    requiredForCost(state, takes ? state.takerPpm[pair]! : maker)
  }
  const row = balanceRow(state, account, asset) + BALANCE.AVAILABLE
  registers[R.AMOUNT] = balances[row]! + registers[R.RELEASE]!
  return registers[R.AMOUNT]! < registers[R.REQUIRED]! ? REFUSALS.INSUFFICIENT_BALANCE.number : 0
}

/** Post-only never takes: refused when it would cross. */
export function checkPostOnly(state: State, pair: number, flags: number, limit: number): number {
  if ((flags & Flag.POST_ONLY) === 0) return 0
  const sell = flags & Flag.SELL
  return crosses(sell, limit, bestOpposite(state, pair, sell)) ? REFUSALS.POST_ONLY_WOULD_CROSS.number : 0
}

/** FOK: 0 lots left means it will fill; OWN_ORDER or lots left decide how it ends without filling (specification, Errors). */
export function fillOrKill(state: State, pair: number, flags: number, limit: number, lots: number, account: number): number {
  return (flags & Flag.FOK) === 0 ? 0 : walk(state, pair, flags, limit, lots, account)
}

export { OWN_ORDER }
