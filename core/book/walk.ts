/**
 * The fill path of an order that has not been placed: what it would fill and cost, without changing anything.
 *
 * Used where placement is all or nothing: FOK (is there enough?) and MARKET BUY (can the caller pay?). The walk visits orders,
 * not levels, and skips expired ones, so it meets exactly what match.ts will meet.
 */
import { Flag } from '../layout/command.ts'
import { NO_ASK, ORDER, ORDER_WORDS, TERMS, TERMS_WORDS } from '../engine/columns.ts'
import type { State } from '../engine/state.ts'
import { R } from '../ledger/balances.ts'
import { isOwn, payerFor } from '../ledger/spending.ts'
import { bestOpposite, crosses, isExpired } from './match.ts'
import { headOf, tickAbove, tickBelow } from './levels.ts'

/**
 * Walks the opposite side for `lots` up to `limit`. Returns the lots it could not fill; when an order of the same account or payer stands
 * in the path, the complement of its row, which is negative. Register COST holds the value in quote atoms of what it met before.
 */
export function walk(state: State, pair: number, flags: number, limit: number, lots: number, account: number): number {
  const { i32, i64 } = state
  const sell = flags & Flag.SELL
  const tickLotAtoms = (state.termsAt + pair * TERMS_WORDS + TERMS.TICK_LOT_ATOMS) >>> 1
  i64[R.COST] = 0n
  const payer = payerFor(state, account, flags)
  let tick = bestOpposite(state, pair, sell)
  while (lots > 0 && tick !== 0 && tick !== NO_ASK && crosses(sell, limit, tick)) {
    let row = headOf(state, pair, tick)
    for (;;) {
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
