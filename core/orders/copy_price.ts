/**
 * Prices of copies. No copy trades far from the mark, and none that opens far from the leader's fill: so a leader cannot send followers to
 * quotes of an account of its own.
 *
 *   opening   BUY at min(fill, mark) × (1 + band) at most    SELL at max(fill, mark) × (1 - band) at least
 *   closing   BUY at mark × (1 + width) at most              SELL at mark × (1 - width) at least
 *
 * - `band` is copyBandBps of the genesis, `fill` the last fill of the leader on the perpetual. The band of every MARKET order holds too.
 * - `width` is the band for the first {@link PAUSE_ROUNDS} attempts that close nothing, then twice the band, then four times and at last
 *   eight times, and no more: an exit becomes possible in a thin market, and is never sold for any price. The owner may close with an
 *   order of its own at once.
 * - A stale mark keeps its last value.
 *
 * Limits are in ticks, 0: there is none. Products: a tick below 2^30 × 20,000, exact in doubles.
 */
import { crosses, bestOpposite } from '../book/match.ts'
import { markOf } from '../margin/figures.ts'
import { PAUSE_ROUNDS, PAUSES_MS } from '../programs/copy_closing.ts'
import { NO_ASK, SCALAR, TERMS } from '../state/columns.ts'
import { LEAD } from '../state/copy_rows.ts'
import { get, getI64, scalar, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

const WHOLE_BPS = 10_000
/** Hundredths of a basis point, of the whole. */
const WHOLE = 1_000_000n
const MOST_SLIPPAGE = 2n ** 31n - 1n

/** True when copies have limits, and wait for a price. */
export const isPriced = (state: State): boolean => scalar(state, SCALAR.RULES) >= 5

/** The worst tick at which a copy of the lead may open. */
export function openingLimit(state: State, lead: number, pair: number, sell: number): number {
  if (!isPriced(state)) return 0
  const [fill, mark] = [get(state, lead, LEAD.PRICE), markOf(state, pair)]
  const stricter = sell === 0 ? Math.min(fill, mark) : Math.max(fill, mark)
  return limitAt(state, fill === 0 ? mark : mark === 0 ? fill : stricter, sell, state.genesis.limits.copyBandBps)
}

/** The worst tick at which a copy may close, after `rounds` that closed nothing. */
export function closingLimit(state: State, pair: number, sell: number, rounds: number): number {
  if (!isPriced(state)) return 0
  const doublings = Math.min(PAUSES_MS.length - 1, Math.floor(rounds / PAUSE_ROUNDS))
  return limitAt(state, markOf(state, pair), sell, state.genesis.limits.copyBandBps << doublings)
}

function limitAt(state: State, price: number, sell: number, bps: number): number {
  if (price === 0) return 0
  if (sell !== 0) return Math.max(1, Math.ceil((price * (WHOLE_BPS - bps)) / WHOLE_BPS))
  return Math.min(state.priceTicks - 1, Math.floor((price * (WHOLE_BPS + bps)) / WHOLE_BPS))
}

/** True when the book has a price for an order that opens within `limit`. */
export const mayTrade = (state: State, pair: number, sell: number, limit: number): boolean =>
  limit === 0 || crosses(sell, limit, bestOpposite(state, pair, sell))

/** True when the book has a price, and it is beyond `limit`. */
export function isBeyond(state: State, pair: number, sell: number, limit: number): boolean {
  const best = bestOpposite(state, pair, sell)
  return best !== 0 && best !== NO_ASK && limit !== 0 && !crosses(sell, limit, best)
}

/** What `lots` for `quote` atoms cost more than at `price` ticks, atoms; negative: less. */
export function slippageCost(state: State, pair: number, sell: boolean, lots: number, quote: bigint, price: number): bigint {
  const fair = BigInt(price) * BigInt(lots) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
  return sell ? fair - quote : quote - fair
}

/** That of the value at `price`, hundredths of a basis point, truncated. */
export function slippageOf(state: State, pair: number, lots: number, cost: bigint, price: number): number {
  const share = (cost * WHOLE) / (BigInt(price) * BigInt(lots) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS))
  return Number(share > MOST_SLIPPAGE ? MOST_SLIPPAGE : share)
}
