/**
 * The fill path of an order that has not been placed: what it would fill and cost, without changing anything.
 *
 * Used where placement is all or nothing: FOK (is there enough?) and MARKET BUY (can the caller pay?). The walk visits orders,
 * not levels, and skips expired ones, so it meets exactly what match.ts will meet.
 */
import { Flag } from '../layout/command.ts'
import { LEVEL, LEVEL_WORDS, NO_ASK, ORDER, ORDER_WORDS } from '../engine/columns.ts'
import type { State } from '../engine/state.ts'
import { R } from '../ledger/balances.ts'
import { bestOpposite, crosses, isExpired } from './match.ts'
import { levelOf, tickAbove, tickBelow } from './levels.ts'

/** Outcome of a walk: lots left when it ended, or OWN_ORDER when an order of the same account stands in the path. */
export const OWN_ORDER = -1

/**
 * Walks the opposite side for `lots` up to `limit`. Returns the lots it could not fill, or OWN_ORDER. Register COST holds
 * the value in quote atoms of what it met before.
 */
export function walk(state: State, pair: number, flags: number, limit: number, lots: number, account: number): number {
  const { orders, levels, registers } = state
  const sell = flags & Flag.SELL
  registers[R.COST] = 0n
  let tick = bestOpposite(state, pair, sell)
  while (lots > 0 && tick !== 0 && tick !== NO_ASK && crosses(sell, limit, tick)) {
    let slot = levels[levelOf(state, pair, tick) * LEVEL_WORDS + LEVEL.HEAD]!
    while (slot >= 0 && lots > 0) {
      const row = slot * ORDER_WORDS
      if (!isExpired(state, slot)) {
        if (orders[row + ORDER.ACCOUNT] === account) return OWN_ORDER
        const met = orders[row + ORDER.REMAINING]! < lots ? orders[row + ORDER.REMAINING]! : lots
        registers[R.COST] = registers[R.COST]! + BigInt(tick | 0) * BigInt(met | 0) * state.tickLotAtoms[pair]!
        lots -= met
      }
      slot = orders[row + ORDER.NEXT]!
    }
    tick = sell ? tickBelow(state, pair, tick) : tickAbove(state, pair, tick)
  }
  return lots
}
