/**
 * Matching: an incoming order against the opposite side, best price first, oldest first at a price.
 *
 * Fills trade at the resting order's price. A resting order whose expiration has passed is ended, never filled. Meeting an order
 * of the same owner, or one that the same account pays for, is self-trade prevention: CANCEL_TAKER stops here, CANCEL_BOTH also ends
 * the resting order.
 * Complexity: O(fills + levels crossed); nothing is allocated. Orders are named by the address of their row.
 */
import { Flag, ORDER_COMMAND } from '../layout/command.ts'
import { Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { ADDRESS_BITS, CLOCK, CLOCK_AT, LEVEL, LEVEL_WORDS, NO_ASK, ORDER, PAIR, PAIR_WORDS, TERMS_WORDS } from '../state/columns.ts'
import { emitFill, emitSelfTrade } from '../events/emit.ts'
import type { State } from '../state/state.ts'
import { settle } from '../ledger/settle.ts'
import { payerOf } from '../ledger/spending.ts'
import { endOrder } from './end.ts'
import { delist, giveSlot } from './pool.ts'
import { headOf, removeFromLevel } from './levels.ts'

const TIME = CLOCK_AT + CLOCK.TIME
const FILLS = CLOCK_AT + CLOCK.FILLS

/** Highest price a BUY may meet or lowest a SELL may: 0 / NO_ASK mean the other side is empty. */
export function bestOpposite(state: State, pair: number, sell: number): number {
  pair |= 0
  return state.i32[(state.pairsAt + pair * PAIR_WORDS + (sell === 0 ? PAIR.BEST_ASK : PAIR.BEST_BID)) & ADDRESS_BITS]!
}

/** True when an order of this side and limit meets the opposite best price. */
export const crosses = (sell: number, limit: number, best: number): boolean =>
  sell === 0 ? best !== NO_ASK && best <= limit : best !== 0 && best >= limit

/** True when a resting order's time is over, whether the caller named it or the default lifetime gave it. */
export function isExpired(state: State, row: number): boolean {
  return state.f64[(row + ORDER.EXPIRES_AT) >>> 1]! <= state.f64[TIME]!
}

/** Ends expired orders at the touch of the opposite side, so that the touch is one that can trade. */
export function clearExpiredTouch(state: State, pair: number, sell: number): void {
  pair |= 0
  const { i32, f64 } = state
  const touch = (state.pairsAt + pair * PAIR_WORDS + (sell === 0 ? PAIR.BEST_ASK : PAIR.BEST_BID)) & ADDRESS_BITS
  for (;;) {
    const best = i32[touch]!
    if (best === 0 || best === NO_ASK) return
    const head = headOf(state, pair, best)
    if (f64[(head + ORDER.EXPIRES_AT) >>> 1]! > f64[TIME]!) return
    endOrder(state, head, Status.EXPIRED, Reason.EXPIRED, 0, false)
  }
}

/** True when two orders must not trade with each other: they have one owner, or one account pays for both. */
function isSameParty(state: State, taker: number, maker: number): boolean {
  taker &= ADDRESS_BITS
  maker &= ADDRESS_BITS
  const { i32 } = state
  if (i32[maker + ORDER.ACCOUNT] === i32[taker + ORDER.ACCOUNT]) return true
  if (((i32[maker + ORDER.FLAGS]! | i32[taker + ORDER.FLAGS]!) & Flag.MASTER_FUNDED) === 0) return false
  return payerOf(state, maker) === payerOf(state, taker)
}

/**
 * Matches the order at row `taker` up to `limit` ticks. Returns the reason its remainder must be cancelled for, or Reason.NONE.
 * The row says what was filled.
 */
export function match(state: State, taker: number, limit: number, command: Views, base: number): number {
  limit |= 0
  taker &= ADDRESS_BITS
  const { i32 } = state
  const pair = i32[taker + ORDER.PAIR]!
  const sell = i32[taker + ORDER.FLAGS]! & Flag.SELL
  const touch = (state.pairsAt + pair * PAIR_WORDS + (sell === 0 ? PAIR.BEST_ASK : PAIR.BEST_BID)) & ADDRESS_BITS
  while (i32[taker + ORDER.REMAINING]! > 0) {
    const best = i32[touch]!
    if (sell === 0 ? best > limit || best === NO_ASK : best < limit || best === 0) return Reason.NONE
    const maker = headOf(state, pair, best)
    if (isExpired(state, maker)) {
      endOrder(state, maker, Status.EXPIRED, Reason.EXPIRED, 0, false)
    } else if (isSameParty(state, taker, maker)) {
      if ((i32[taker + ORDER.FLAGS]! & Flag.CANCEL_BOTH) !== 0) {
        endOrder(state, maker, Status.CANCELLED, Reason.SELF_TRADE_PREVENTION, command.u32[base + ORDER_COMMAND.at.correlation]!, true)
      } else if ((command.i32[base + ORDER_COMMAND.at.flags]! & Flag.TELL_SELF_TRADE) !== 0) emitSelfTrade(state, maker)
      return Reason.SELF_TRADE_PREVENTION
    } else {
      fill(state, taker, maker, pair, sell, best)
    }
  }
  return Reason.NONE
}

/** One fill between `taker` and `maker` at `price`. */
function fill(state: State, taker: number, maker: number, pair: number, sell: number, price: number): void {
  pair |= 0
  taker &= ADDRESS_BITS
  maker &= ADDRESS_BITS
  price |= 0
  const { i32, f64 } = state
  const open = i32[maker + ORDER.REMAINING]!
  const want = i32[taker + ORDER.REMAINING]!
  const lots = want < open ? want : open
  settle(state, taker, maker, (state.termsAt + pair * TERMS_WORDS) & ADDRESS_BITS, sell, price, lots)
  i32[taker + ORDER.REMAINING] = want - lots
  const trades = i32[taker + ORDER.TRADES]!
  if (trades === 0) i32[taker + ORDER.BEST_PRICE] = price
  i32[taker + ORDER.WORST_PRICE] = price
  i32[taker + ORDER.TRADES] = trades + 1
  f64[(maker + ORDER.UPDATED_AT) >>> 1] = f64[TIME]!
  f64[FILLS] = f64[FILLS]! + 1
  i32[(state.pairsAt + pair * PAIR_WORDS + PAIR.LAST_PRICE) & ADDRESS_BITS] = price
  if (lots === open) {
    removeFromLevel(state, maker)
    i32[maker + ORDER.REMAINING] = 0
    delist(state, maker)
    emitFill(state, maker, taker, price, lots)
    giveSlot(state, maker)
  } else {
    i32[maker + ORDER.REMAINING] = open - lots
    const level = (state.levelsAt + i32[maker + ORDER.LEVEL]! * LEVEL_WORDS + LEVEL.LOTS) >>> 1
    f64[level] = f64[level]! - lots
    emitFill(state, maker, taker, price, lots)
  }
}
