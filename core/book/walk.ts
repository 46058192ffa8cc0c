/**
 * The fill path of an order that has not been placed: what it would fill and cost, without changing anything.
 *
 * Used where placement is all or nothing: FOK (is there enough?) and MARKET BUY (can the caller pay?). The walk visits orders,
 * not levels, and skips expired ones, so it meets exactly what match.ts will meet. It costs nothing whom it is done for, so it is bounded
 * by {@link PATH_MAX} orders; beyond them nothing is known (before the rules 1 it had no bound).
 */
import { Flag } from '../layout/command.ts'
import { NO_ASK, ORDER, ORDER_WORDS, SCALAR, SCALARS_AT, TERMS, TERMS_WORDS } from '../state/columns.ts'
import type { State } from '../state/state.ts'
import { R } from '../state/balances.ts'
import { isOwn, payerFor } from '../ledger/spending.ts'
import { bestOpposite, crosses, isExpired } from './match.ts'
import { headOf, tickAbove, tickBelow } from './levels.ts'

/** Orders of a path that are looked at, at most: a quarter of a millisecond. */
export const PATH_MAX = 20_000
/** The path has more orders. Less than the complement of any row. */
export const PATH_TOO_LONG = -(2 ** 31)
const RULES = SCALARS_AT + SCALAR.RULES

/**
 * Walks the opposite side for `lots` up to `limit`. Returns the lots it could not fill; when an order of the same account or payer stands
 * in the path, the complement of its row, which is negative; or {@link PATH_TOO_LONG}. Register COST holds the value in quote atoms of what
 * it met before.
 */
export function walk(state: State, pair: number, flags: number, limit: number, lots: number, account: number): number {
  const { i32, i64 } = state
  const sell = flags & Flag.SELL
  const tickLotAtoms = (state.termsAt + pair * TERMS_WORDS + TERMS.TICK_LOT_ATOMS) >>> 1
  i64[R.COST] = 0n
  const payer = payerFor(state, account, flags)
  let looks = i32[RULES]! < 1 ? Infinity : PATH_MAX
  let tick = bestOpposite(state, pair, sell)
  while (lots > 0 && tick !== 0 && tick !== NO_ASK && crosses(sell, limit, tick)) {
    let row = headOf(state, pair, tick)
    for (;;) {
      if (looks-- <= 0) return PATH_TOO_LONG
      if (!isExpired(state, row)) {
        if (isOwn(state, row, account, payer)) return ~row
        const met = i32[row + ORDER.REMAINING]! < lots ? i32[row + ORDER.REMAINING]! : lots
        i64[R.COST] = i64[R.COST]! + BigInt(tick | 0) * BigInt(met | 0) * i64[tickLotAtoms]!
        lots -= met
      }
      const next = i32[row + ORDER.NEXT]!
      if (next < 0 || lots === 0) break
      row = state.ordersAt + next * ORDER_WORDS
    }
    tick = sell ? tickBelow(state, pair, tick) : tickAbove(state, pair, tick)
  }
  return lots
}
