/**
 * Matching: an incoming order against the opposite side, best price first, oldest first at a price.
 *
 * Fills trade at the resting order's price. A resting order whose expiration has passed is ended, never filled. Meeting an order
 * of the same owner is self-trade prevention: CANCEL_TAKER stops here, CANCEL_BOTH also ends the resting order.
 * Complexity: O(fills + levels crossed); nothing is allocated.
 */
import { Flag, ORDER_COMMAND } from '../layout/command.ts'
import { Reason, Status } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import { CLOCK, DETAIL, DETAIL_WORDS, LEVEL, LEVEL_WORDS, NO_ASK, ORDER, ORDER_WORDS, PAIR, PAIR_WORDS } from '../engine/columns.ts'
import { emitFill } from '../engine/emit.ts'
import type { State } from '../engine/state.ts'
import { R } from '../ledger/balances.ts'
import { chargeFill } from '../ledger/fees.ts'
import { settleBuy, settleSell } from '../ledger/settle.ts'
import { endOrder } from '../orders/end.ts'
import { delist, giveSlot } from '../orders/pool.ts'
import { levelOf, removeFromLevel } from './levels.ts'

/** Highest price a BUY may meet or lowest a SELL may: 0 / NO_ASK mean the other side is empty. */
export function bestOpposite(state: State, pair: number, sell: number): number {
  return state.pairs[pair * PAIR_WORDS + (sell ? PAIR.BEST_BID : PAIR.BEST_ASK)]!
}

/** True when an order of this side and limit meets the opposite best price. */
export const crosses = (sell: number, limit: number, best: number): boolean => (sell ? best !== 0 && best >= limit : best !== NO_ASK && best <= limit)

/** True when a resting order's time is over, whether the caller named it or the default lifetime gave it. */
export const isExpired = (state: State, slot: number): boolean =>
  state.detailsF64[(slot * DETAIL_WORDS + DETAIL.EXPIRES_AT) >>> 1]! <= state.clock[CLOCK.TIME]!

/** Ends expired orders at the touch of the opposite side, so that the touch is one that can trade. */
export function clearExpiredTouch(state: State, pair: number, sell: number): void {
  for (;;) {
    const best = bestOpposite(state, pair, sell)
    if (best === 0 || best === NO_ASK) return
    const head = state.levels[levelOf(state, pair, best) * LEVEL_WORDS + LEVEL.HEAD]!
    if (!isExpired(state, head)) return
    endOrder(state, head, Status.EXPIRED, Reason.EXPIRED, 0, false)
  }
}

/**
 * Matches the order in `taker` up to `limit` ticks. Returns the reason its remainder must be cancelled for, or Reason.NONE.
 * The row's REMAINING and its details say what was filled.
 */
export function match(state: State, taker: number, limit: number, command: Views, base: number): number {
  const { orders, levels } = state
  const row = taker * ORDER_WORDS
  const pair = orders[row + ORDER.PAIR]!
  const sell = orders[row + ORDER.FLAGS]! & Flag.SELL
  while (orders[row + ORDER.REMAINING]! > 0) {
    const best = bestOpposite(state, pair, sell)
    if (!crosses(sell, limit, best)) return Reason.NONE
    const maker = levels[levelOf(state, pair, best) * LEVEL_WORDS + LEVEL.HEAD]!
    if (isExpired(state, maker)) {
      endOrder(state, maker, Status.EXPIRED, Reason.EXPIRED, 0, false)
    } else if (orders[maker * ORDER_WORDS + ORDER.ACCOUNT] === orders[row + ORDER.ACCOUNT]) {
      if ((orders[row + ORDER.FLAGS]! & Flag.CANCEL_BOTH) !== 0) {
        endOrder(state, maker, Status.CANCELLED, Reason.SELF_TRADE_PREVENTION, command.u32[base + ORDER_COMMAND.at.correlation]!, true)
      }
      return Reason.SELF_TRADE_PREVENTION
    } else {
      fill(state, taker, maker, pair, sell, best)
    }
  }
  return Reason.NONE
}

/** One fill between `taker` and `maker` at `price`. */
function fill(state: State, taker: number, maker: number, pair: number, sell: number, price: number): void {
  const { orders, details, detailsF64, levelsF64, registers, clock } = state
  const takerRow = taker * ORDER_WORDS
  const makerRow = maker * ORDER_WORDS
  const open = orders[makerRow + ORDER.REMAINING]!
  const want = orders[takerRow + ORDER.REMAINING]!
  const lots = want < open ? want : open
  registers[R.QUOTE] = BigInt(price | 0) * BigInt(lots | 0) * state.tickLotAtoms[pair]!
  registers[R.BASE] = BigInt(lots | 0) * state.lotAtoms[pair]!
  chargeFill(state, taker, state.takerPpm[pair]!, R.TAKER_FEE)
  chargeFill(state, maker, orders[makerRow + ORDER.MAKER_PPM]!, R.MAKER_FEE)
  if (sell) settleSell(state, orders[takerRow + ORDER.ACCOUNT]!, orders[makerRow + ORDER.ACCOUNT]!, maker, state.pairBase[pair]!, state.pairQuote[pair]!)
  else settleBuy(state, orders[takerRow + ORDER.ACCOUNT]!, orders[makerRow + ORDER.ACCOUNT]!, maker, state.pairBase[pair]!, state.pairQuote[pair]!)
  orders[takerRow + ORDER.REMAINING] = want - lots
  const takerDetail = taker * DETAIL_WORDS
  if (details[takerDetail + DETAIL.TRADES]!++ === 0) details[takerDetail + DETAIL.BEST_PRICE] = price
  details[takerDetail + DETAIL.WORST_PRICE] = price
  detailsF64[(maker * DETAIL_WORDS + DETAIL.UPDATED_AT) >>> 1] = clock[CLOCK.TIME]!
  clock[CLOCK.FILLS]!++
  state.pairs[pair * PAIR_WORDS + PAIR.LAST_PRICE] = price
  if (lots === open) {
    removeFromLevel(state, maker)
    orders[makerRow + ORDER.REMAINING] = 0
    delist(state, maker)
    emitFill(state, maker, taker, price, lots)
    giveSlot(state, maker)
  } else {
    orders[makerRow + ORDER.REMAINING] = open - lots
    const level = orders[makerRow + ORDER.LEVEL]! * LEVEL_WORDS
    levelsF64[(level + LEVEL.LOTS) >>> 1] = levelsF64[(level + LEVEL.LOTS) >>> 1]! - lots
    emitFill(state, maker, taker, price, lots)
  }
}
