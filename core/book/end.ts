/** The one way a resting order leaves the book unfilled: cancel, replace, expiry and self-trade prevention all end here. */
import { Flag } from '../layout/command.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, BALANCE, BALANCE_WORDS, CLOCK, CLOCK_AT, ORDER, PAIR, PAIR_WORDS, TERMS, TERMS_WORDS,
} from '../state/columns.ts'
import { emitOrderEnded } from '../events/emit.ts'
import type { State } from '../state/state.ts'
import { removeFromLevel } from './levels.ts'
import { R } from '../state/balances.ts'
import { countRelease, payerOf } from '../ledger/spending.ts'
import { delist, giveSlot } from './pool.ts'

const SEQUENCE = CLOCK_AT + CLOCK.SEQUENCE

/**
 * Releases the hold of an order that is out of the book to whoever pays for it and marks its account and book as changed, for readers.
 * The released atoms are in register RELEASE afterwards.
 */
export function release(state: State, row: number): void {
  row &= ADDRESS_BITS
  const { i32, i64, f64 } = state
  const account = i32[row + ORDER.ACCOUNT]!
  const pair = i32[row + ORDER.PAIR]!
  const terms = (state.termsAt + pair * TERMS_WORDS) & ADDRESS_BITS
  const asset = i32[terms + ((i32[row + ORDER.FLAGS]! & Flag.SELL) !== 0 ? TERMS.BASE : TERMS.QUOTE)]!
  const funded = (i32[row + ORDER.FLAGS]! & Flag.MASTER_FUNDED) !== 0
  const payer = funded ? payerOf(state, row) : account
  const balance = (state.balancesAt + Math.imul(payer, state.balanceStride) + asset * BALANCE_WORDS) & ADDRESS_BITS
  i64[R.RELEASE] = i64[(row + ORDER.HOLD) >>> 1]!
  i64[(row + ORDER.HOLD) >>> 1] = 0n
  i64[balance + BALANCE.AVAILABLE] = i64[balance + BALANCE.AVAILABLE]! + i64[R.RELEASE]!
  i64[balance + BALANCE.LOCKED] = i64[balance + BALANCE.LOCKED]! - i64[R.RELEASE]!
  i64[balance + BALANCE.VERSION] = i64[balance + BALANCE.VERSION]! + 1n
  if (funded) countRelease(state, row)
  i32[(state.accountsAt + account * ACCOUNT_WORDS + ACCOUNT.VERSION) & ADDRESS_BITS]!++
  const book = (state.pairsAt + pair * PAIR_WORDS) & ADDRESS_BITS
  i32[book + PAIR.VERSION]!++
  f64[(book + PAIR.SEQUENCE) >>> 1] = f64[SEQUENCE]!
}

/** Takes a resting order off the book and releases its hold; register RELEASE says how much. Its row stays as it is otherwise. */
export function withdraw(state: State, row: number): void {
  row &= ADDRESS_BITS
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
