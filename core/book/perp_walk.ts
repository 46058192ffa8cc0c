/**
 * The fill path of an order of a perpetual that has not been placed; what walk.ts is for spot orders.
 *
 * What a maker does when its turn comes may depend on what was filled before: its bucket may not bear the fill, or its position may have
 * shrunk, and a reduce-only order with it. So the walk tells makers that are certain to be filled (margin/fills.ts) from others:
 *
 *   FOK      only lots that are certain count. It is filled whole for certain, or it ends unfilled, also where it might have been filled.
 *   MARKET   when all makers of the path are certain, its value is exact. Otherwise it goes on until enough lots are certain, and every lot
 *            that may be filled counts at the worst price on the way: never less than what it will cost.
 *
 * Nearly all makers are certain, since orders are admitted with more margin than this asks for. It looks at {@link PERP_PATH_MAX} orders.
 * Reduce-only orders that may end with a fill count as met, as they do when it is matched: a FOK order must not end before its path does.
 */
import { Flag } from '../layout/command.ts'
import { NO_ASK, ORDER, TERMS } from '../state/columns.ts'
import { get, getI64, note, orderRow, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { N, R } from '../state/balances.ts'
import { isCertain } from '../margin/fills.ts'
import { positionOf } from '../margin/order_lists.ts'
import { POSITION } from '../state/margin_rows.ts'
import { bestOpposite, crosses, isExpired, PERP_PATH_MAX } from './match.ts'
import { headOf, tickAbove, tickBelow } from './levels.ts'
import { PATH_TOO_LONG } from './walk.ts'

/**
 * Walks the opposite side for `lots` up to `limit`. Returns the lots that are not certain to be filled; when an order of the same account
 * stands in the path, the complement of its row; or PATH_TOO_LONG. Note FILLABLE is how many may be filled, register COST their value
 * in quote atoms.
 */
export function walkPerp(state: State, pair: number, flags: number, limit: number, lots: number, account: number): number {
  const { registers } = state
  const sell = flags & Flag.SELL
  const best = bestOpposite(state, pair, sell)
  registers[R.COST] = 0n
  const terms = termsRow(state, pair)
  let looks = PERP_PATH_MAX
  let tick = best
  let left = lots
  let unsure = 0
  let worst = 0
  let own = 0
  while (left > 0 && own === 0 && tick !== 0 && tick !== NO_ASK && crosses(sell, limit, tick)) {
    let row = headOf(state, pair, tick)
    for (;;) {
      if (looks-- <= 0) return PATH_TOO_LONG
      if ((flags & Flag.FOK) !== 0) {
        const position = positionOf(state, row)
        // What may end with the fill counts as met.
        looks -= get(state, position, POSITION.CONDITIONALS)
        if ((get(state, row, ORDER.FLAGS) & Flag.REDUCE_ONLY) === 0) looks -= get(state, position, POSITION.REDUCE_ORDERS)
      }
      if (!isExpired(state, row)) {
        if (get(state, row, ORDER.ACCOUNT) === account) {
          own = ~row
          break
        }
        const open = get(state, row, ORDER.REMAINING)
        const met = open < left ? open : left
        worst = tick
        if (isCertain(state, row, best, limit, lots)) {
          registers[R.COST] = registers[R.COST]! + BigInt(tick | 0) * BigInt(met | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
          left -= met
        } else unsure += open
      }
      const next = get(state, row, ORDER.NEXT)
      if (next < 0 || left === 0) break
      row = orderRow(state, next)
    }
    tick = sell ? tickBelow(state, pair, tick) : tickAbove(state, pair, tick)
  }
  const fillable = lots - left + unsure < lots ? lots - left + unsure : lots
  note(state, N.FILLABLE, fillable)
  if (unsure > 0) registers[R.COST] = BigInt(worst | 0) * BigInt(fillable | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
  return own !== 0 ? own : left
}
