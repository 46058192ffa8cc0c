/** The one way a resting order leaves the book unfilled: cancel, replace, expiry and self-trade prevention all end here. */
import { Flag } from '../layout/command.ts'
import { ORDER } from '../state/columns.ts'
import { emitOrderEnded } from '../events/emit.ts'
import { get } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { removeFromLevel, touchBook } from './levels.ts'
import { touchAccount } from '../state/balances.ts'
import { releaseHold } from '../ledger/holds.ts'
import { endLegs } from '../margin/legs.ts'
import { releaseCollateral } from '../margin/order_collateral.ts'
import { delist, giveSlot } from './pool.ts'

/**
 * Releases the hold of an order that is out of the book to whoever pays for it and marks its account and book as changed, for readers.
 * The released atoms are in register RELEASE afterwards; of a margin order, those that went back to its margin account.
 */
export function release(state: State, row: number): void {
  if ((get(state, row, ORDER.FLAGS) & Flag.MARGIN) === 0) releaseHold(state, row)
  else releaseCollateral(state, row)
  touchAccount(state, get(state, row, ORDER.ACCOUNT))
  touchBook(state, get(state, row, ORDER.PAIR))
}

/** Takes a resting order off the book and releases its hold; register RELEASE says how much. Its row stays as it is otherwise. */
export function withdraw(state: State, row: number): void {
  if ((get(state, row, ORDER.FLAGS) & Flag.LEGS) !== 0) endLegs(state, row)
  removeFromLevel(state, row)
  delist(state, row)
  release(state, row)
}

/**
 * Ends a resting order: off the book, hold released, ORDER_ENDED, slot free. `counterparty`: the order being placed by the
 * current command caused it (self-trade prevention, replace). The row keeps its values until the slot is used again.
 */
export function endOrder(state: State, row: number, status: number, reason: number, correlation: number, counterparty: boolean): void {
  withdraw(state, row)
  emitOrderEnded(state, row, status, reason, correlation, counterparty)
  giveSlot(state, row)
}
