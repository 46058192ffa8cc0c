/** The one way a resting order leaves the book unfilled: cancel, replace, expiry and self-trade prevention all end here. */
import { Flag } from '../layout/command.ts'
import { CLOCK, ORDER, ORDER_WORDS, PAIR, PAIR_WORDS } from '../engine/columns.ts'
import { emitOrderEnded } from '../engine/emit.ts'
import type { State } from '../engine/state.ts'
import { removeFromLevel } from '../book/levels.ts'
import { balanceRow, R, touchAccount, unlock } from '../ledger/balances.ts'
import { delist, giveSlot } from './pool.ts'

/** Releases the hold of an order that is out of the book; the released atoms are in register RELEASE afterwards. */
export function release(state: State, slot: number): void {
  const { orders, ordersI64, registers } = state
  const row = slot * ORDER_WORDS
  const pair = orders[row + ORDER.PAIR]!
  const asset = (orders[row + ORDER.FLAGS]! & Flag.SELL) !== 0 ? state.pairBase[pair]! : state.pairQuote[pair]!
  registers[R.RELEASE] = ordersI64[(row + ORDER.HOLD) >>> 1]!
  ordersI64[(row + ORDER.HOLD) >>> 1] = 0n
  unlock(state, balanceRow(state, orders[row + ORDER.ACCOUNT]!, asset))
}

/** Marks the book of `pair` as changed, for readers. */
export function touchBook(state: State, pair: number): void {
  state.pairs[pair * PAIR_WORDS + PAIR.VERSION]!++
  state.pairsF64[(pair * PAIR_WORDS + PAIR.SEQUENCE) >>> 1] = state.clock[CLOCK.SEQUENCE]!
}

/**
 * Takes a resting order off the book, releases its hold, emits ORDER_ENDED and frees its slot. `counterparty`: the
 * order being placed by the current command caused it (self-trade prevention, replace). The row keeps its values until the slot is used again.
 */
export function endOrder(state: State, slot: number, status: number, reason: number, correlation: number, counterparty: boolean): void {
  const row = slot * ORDER_WORDS
  removeFromLevel(state, slot)
  delist(state, slot)
  release(state, slot)
  emitOrderEnded(state, slot, status, reason, correlation, counterparty)
  touchAccount(state, state.orders[row + ORDER.ACCOUNT]!)
  touchBook(state, state.orders[row + ORDER.PAIR]!)
  giveSlot(state, slot)
}
