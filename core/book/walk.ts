/**
 * The fill path of an order that has not been placed: what it would fill and cost, without changing anything.
 *
 * Used where placement is all or nothing: FOK (is there enough?) and MARKET BUY (can the caller pay?). The walk visits orders,
 * not levels, and skips expired ones, so it meets exactly what match.ts will meet. It costs nothing whom it is done for, so it is bounded
 * by {@link PATH_MAX} orders; beyond them nothing is known (before the rules 1 it had no bound).
 */
import { Flag } from '../layout/command.ts'
import { NO_ASK, ORDER, SCALAR, TERMS } from '../state/columns.ts'
import { get, getI64, orderRow, scalar, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { R } from '../state/balances.ts'
import { isOwn, payerFor } from '../ledger/holds.ts'
import { bestOpposite, crosses, isExpired, PATH_MAX } from './match.ts'
import { headOf, tickAbove, tickBelow } from './levels.ts'

/** The path has more orders. Less than the complement of any row. */
export const PATH_TOO_LONG = -(2 ** 31)

/**
 * Walks the opposite side for `lots` up to `limit`. Returns the lots it could not fill; when an order of the same account or payer stands
 * in the path, the complement of its row, which is negative; or {@link PATH_TOO_LONG}. Register COST holds the value in quote atoms of
 * what it met before. It stops where that is more than register BUDGET.
 */
export function walk(state: State, pair: number, flags: number, limit: number, lots: number, account: number): number {
  const { registers } = state
  const sell = flags & Flag.SELL
  const terms = termsRow(state, pair)
  registers[R.COST] = 0n
  const payer = payerFor(state, account, flags)
  let looks = scalar(state, SCALAR.RULES) < 1 ? Infinity : PATH_MAX
  let tick = bestOpposite(state, pair, sell)
  while (lots > 0 && tick !== 0 && tick !== NO_ASK && crosses(sell, limit, tick)) {
    let row = headOf(state, pair, tick)
    for (;;) {
      if (looks-- <= 0) return PATH_TOO_LONG
      if (!isExpired(state, row)) {
        if (isOwn(state, row, account, payer)) return ~row
        const met = get(state, row, ORDER.REMAINING) < lots ? get(state, row, ORDER.REMAINING) : lots
        registers[R.COST] = registers[R.COST]! + BigInt(tick | 0) * BigInt(met | 0) * getI64(state, terms, TERMS.TICK_LOT_ATOMS)
        lots -= met
        if (registers[R.COST]! > registers[R.BUDGET]!) return lots
      }
      const next = get(state, row, ORDER.NEXT)
      if (next < 0 || lots === 0) break
      row = orderRow(state, next)
    }
    tick = sell ? tickBelow(state, pair, tick) : tickAbove(state, pair, tick)
  }
  return lots
}
