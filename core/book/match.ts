/**
 * Matching: an incoming order against the opposite side, best price first, oldest first at a price.
 *
 * Fills trade at the resting order's price. A resting order whose expiration has passed is ended, never filled. Meeting an order
 * of the same owner, or one that the same account pays for, is self-trade prevention: CANCEL_TAKER stops here, CANCEL_BOTH also ends
 * the resting order. On a perpetual both buckets must bear a fill (margin/fills.ts): a resting order whose bucket does not is ended, and
 * matching goes on; it stops when the taker's does not.
 * Complexity: O(fills + levels crossed); nothing is allocated. Orders are named by the address of their row.
 */
import { Flag, Option, ORDER_COMMAND } from '../layout/command.ts'
import { Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { ACCOUNT, LEVEL, NO_ASK, ORDER, PAIR, SCALAR, TERMS } from '../state/columns.ts'
import { emitFill, emitSelfTrade } from '../events/emit.ts'
import {
  accountRow, addF64, countFills, get, getF64, levelRow, note, noted, now, pairRow, scalar, set, setF64, termsRow,
} from '../state/rows.ts'
import { N } from '../state/balances.ts'
import type { State } from '../state/state.ts'
import { isShared, shareFill } from '../ledger/fill_shares.ts'
import { settle } from '../ledger/settle.ts'
import { payerOf } from '../ledger/holds.ts'
import { bearsFill, settleFill } from '../margin/fills.ts'
import { armBucket } from '../margin/guards.ts'
import { coverPositions } from '../margin/order_collateral.ts'
import { countOrder, positionOf } from '../margin/order_lists.ts'
import { bucketOf, giveUpPosition } from '../margin/positions.ts'
import { endOrder } from './end.ts'
import { endLegs } from '../margin/legs.ts'
import { delist, giveSlot } from './pool.ts'
import { headOf, removeFromLevel } from './levels.ts'
import { fitReduceOnly } from './reduce_only.ts'

/** Highest price a BUY may meet or lowest a SELL may: 0 / NO_ASK mean the other side is empty. */
export function bestOpposite(state: State, pair: number, sell: number): number {
  return get(state, pairRow(state, pair), sell === 0 ? PAIR.BEST_ASK : PAIR.BEST_BID)
}

/** True when an order of this side and limit meets the opposite best price. */
export const crosses = (sell: number, limit: number, best: number): boolean =>
  sell === 0 ? best !== NO_ASK && best <= limit : best !== 0 && best >= limit

/** True when a resting order's time is over, whether the caller named it or the default lifetime gave it. */
export function isExpired(state: State, row: number): boolean {
  return getF64(state, row, ORDER.EXPIRES_AT) <= now(state)
}

/** Resting orders that one order meets, at most: a quarter of a millisecond to look at, some ten to trade with or to end. */
export const PATH_MAX = 20_000
/**
 * The same on a perpetual, where each of them changes two positions and is looked at as a whole bucket is: some 10 ms too. Reduce-only
 * and conditional orders that end because a fill closed their position count as met. A step of liquidation may meet as many as it says
 * (note LOOKS).
 */
export const PERP_PATH_MAX = 4000
/** Expired orders at the touch that one command ends, at most. */
export const CLEARED_MAX = 1000

/**
 * Ends expired orders at the touch of the opposite side, so that what an order of this side with this limit meets first can trade. False:
 * {@link CLEARED_MAX} ended, and the next one is expired too; nobody may trade there before it is gone.
 *
 * Before the rules 2 it ended all there were, also where the order meets none.
 */
export function clearExpiredTouch(state: State, pair: number, sell: number, limit: number): boolean {
  const bounded = scalar(state, SCALAR.RULES) >= 2
  for (let cleared = 0; ; cleared++) {
    const best = bestOpposite(state, pair, sell)
    if (best === 0 || best === NO_ASK) return true
    if (bounded && !crosses(sell, limit, best)) return true
    const head = headOf(state, pair, best)
    if (!isExpired(state, head)) return true
    if (bounded && cleared === CLEARED_MAX) return false
    endOrder(state, head, Status.EXPIRED, Reason.EXPIRED, 0, false)
  }
}

/** True when two orders must not trade with each other: they have one owner, or one account pays for both. */
function isSameParty(state: State, taker: number, maker: number): boolean {
  if (get(state, maker, ORDER.ACCOUNT) === get(state, taker, ORDER.ACCOUNT)) return true
  if (((get(state, maker, ORDER.FLAGS) | get(state, taker, ORDER.FLAGS)) & Flag.MASTER_FUNDED) === 0) return false
  return payerOf(state, maker) === payerOf(state, taker)
}

/**
 * Matches the order at row `taker` up to `limit` ticks. Returns the reason its remainder must be cancelled for, or Reason.NONE.
 * The row says what was filled. It meets {@link PATH_MAX} orders at most, as if the book ended there (before the rules 2: all there are).
 */
export function match(state: State, taker: number, limit: number, command: Views, base: number): number {
  limit |= 0
  const pair = get(state, taker, ORDER.PAIR)
  const sell = get(state, taker, ORDER.FLAGS) & Flag.SELL
  const perp = get(state, termsRow(state, pair), TERMS.PERP)
  const limited = perp !== 0 && noted(state, N.STEPS) !== 0
  let left = scalar(state, SCALAR.RULES) < 2 ? state.maxOrders : PATH_MAX
  if (perp !== 0) left = limited ? noted(state, N.LOOKS) : PERP_PATH_MAX
  while (get(state, taker, ORDER.REMAINING) > 0) {
    const best = bestOpposite(state, pair, sell)
    if (sell === 0 ? best > limit || best === NO_ASK : best < limit || best === 0) return Reason.NONE
    if (left-- <= 0) return Reason.INSUFFICIENT_DEPTH
    if (limited) note(state, N.LOOKS, left)
    const maker = headOf(state, pair, best)
    if (isExpired(state, maker)) {
      endOrder(state, maker, Status.EXPIRED, Reason.EXPIRED, 0, false)
    } else if (isSameParty(state, taker, maker)) {
      if ((get(state, taker, ORDER.FLAGS) & Flag.CANCEL_BOTH) !== 0) {
        endOrder(state, maker, Status.CANCELLED, Reason.SELF_TRADE_PREVENTION, command.u32[base + ORDER_COMMAND.at.correlation]!, true)
      } else if ((command.i32[base + ORDER_COMMAND.at.options]! & Option.TELL_SELF_TRADE) !== 0) emitSelfTrade(state, maker)
      return Reason.SELF_TRADE_PREVENTION
    } else if (perp === 0) fill(state, taker, maker, pair, sell, best)
    else {
      if (!takerBears(state, taker, maker, pair, best)) return Reason.INSUFFICIENT_MARGIN
      if (makerBears(state, taker, maker, best)) {
        left -= fill(state, taker, maker, pair, sell, best)
        if (limited) note(state, N.LOOKS, left)
      } else endOrder(state, maker, Status.CANCELLED, Reason.INSUFFICIENT_MARGIN, 0, true)
    }
  }
  return Reason.NONE
}

/** Lots of the fill that comes next. */
function nextLots(state: State, taker: number, maker: number): number {
  const open = get(state, maker, ORDER.REMAINING)
  const want = get(state, taker, ORDER.REMAINING)
  return want < open ? want : open
}

/** True when the bucket of an order of a perpetual bears the fill that comes next: the taker's, the maker's. */
function takerBears(state: State, taker: number, maker: number, pair: number, price: number): boolean {
  const discount = get(state, accountRow(state, get(state, taker, ORDER.ACCOUNT)), ACCOUNT.TAKER_DISCOUNT)
  return bearsFill(state, taker, price, nextLots(state, taker, maker), get(state, termsRow(state, pair), TERMS.TAKER_PPM) - discount)
}
const makerBears = (state: State, taker: number, maker: number, price: number): boolean =>
  bearsFill(state, maker, price, nextLots(state, taker, maker), get(state, maker, ORDER.MAKER_PPM))

/** One fill between `taker` and `maker` at `price`; how many reduce-only orders of the maker and conditional orders ended with it. */
function fill(state: State, taker: number, maker: number, pair: number, sell: number, price: number): number {
  const open = get(state, maker, ORDER.REMAINING)
  const want = get(state, taker, ORDER.REMAINING)
  const lots = want < open ? want : open
  const terms = termsRow(state, pair)
  const perp = get(state, terms, TERMS.PERP)
  const position = perp === 0 ? 0 : positionOf(state, maker)
  if (perp === 0) settle(state, taker, maker, terms, sell, price, lots)
  else {
    note(state, N.ENDED, 0)
    settleFill(state, taker, maker, terms, sell, price, lots)
  }
  set(state, taker, ORDER.REMAINING, want - lots)
  const trades = get(state, taker, ORDER.TRADES)
  if (trades === 0) set(state, taker, ORDER.BEST_PRICE, price)
  set(state, taker, ORDER.WORST_PRICE, price)
  set(state, taker, ORDER.TRADES, trades + 1)
  setF64(state, maker, ORDER.UPDATED_AT, now(state))
  countFills(state)
  set(state, pairRow(state, pair), PAIR.LAST_PRICE, price)
  if (lots === open) {
    if ((get(state, maker, ORDER.FLAGS) & Flag.LEGS) !== 0) endLegs(state, maker)
    removeFromLevel(state, maker)
    set(state, maker, ORDER.REMAINING, 0)
    delist(state, maker)
    tellFill(state, maker, taker, price, lots)
    giveSlot(state, maker)
  } else {
    set(state, maker, ORDER.REMAINING, open - lots)
    addF64(state, levelRow(state, get(state, maker, ORDER.LEVEL)), LEVEL.LOTS, -lots)
    tellFill(state, maker, taker, price, lots)
  }
  return perp === 0 ? 0 : endFill(state, taker, position, lots === open)
}

/** FILL, and what others than the house get of it. */
function tellFill(state: State, maker: number, taker: number, price: number, lots: number): void {
  emitFill(state, maker, taker, price, lots)
  if (isShared(state, taker, maker)) shareFill(state, taker, maker)
}

/**
 * What a fill of a perpetual leads to: reduce-only orders of both positions fit again, and the maker's bucket is guarded. How many of the
 * maker ended; those of the taker are not counted, for they end once in a command.
 */
function endFill(state: State, taker: number, position: number, filled: boolean): number {
  const bucket = bucketOf(state, position)
  const ended = fitReduceOnly(state, position)
  if (filled) countOrder(state, position, -1)
  giveUpPosition(state, position)
  coverPositions(state, bucket)
  armBucket(state, bucket)
  fitReduceOnly(state, positionOf(state, taker))
  return ended + noted(state, N.ENDED)
}
