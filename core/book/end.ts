/** The one way a resting order leaves the book unfilled: cancel, replace, expiry and self-trade prevention all end here. */
import { Flag } from '../layout/command.ts'
import {
  ACCOUNT, ACCOUNT_WORDS, ADDRESS_BITS, BALANCE, BALANCE_WORDS, CLOCK, CLOCK_AT, ORDER, PAIR, PAIR_WORDS, TERMS, TERMS_WORDS,
} from '../state/columns.ts'
import * as emit from '../events/emit.ts'
import type { State } from '../state/state.ts'
import * as levels from './levels.ts'
import { R } from '../state/balances.ts'
import * as spending from '../ledger/spending.ts'
import * as pool from './pool.ts'

// Local constants: the compiler folds them; an imported binding is read each time.
const ADDRESS = ADDRESS_BITS
const { ACCOUNT: OWNER, PAIR: OF_PAIR, FLAGS, HOLD } = ORDER
const { AVAILABLE, LOCKED, VERSION } = BALANCE
const { VERSION: PAIR_VERSION, SEQUENCE: PAIR_SEQUENCE } = PAIR
const ACCOUNT_VERSION = ACCOUNT.VERSION
const { BASE, QUOTE } = TERMS
const { RELEASE } = R
const { SELL, MASTER_FUNDED } = Flag
const [ACCOUNT_ROW, BALANCE_ROW, PAIR_ROW, TERMS_ROW] = [ACCOUNT_WORDS, BALANCE_WORDS, PAIR_WORDS, TERMS_WORDS]
const SEQUENCE = CLOCK_AT + CLOCK.SEQUENCE
const { emitOrderEnded } = emit
const { removeFromLevel } = levels
const { delist, giveSlot } = pool
const { countRelease, payerOf } = spending
const releaseHold = release
const takeOff = withdraw

/**
 * Releases the hold of an order that is out of the book to whoever pays for it and marks its account and book as changed, for readers.
 * The released atoms are in register RELEASE afterwards.
 */
export function release(state: State, row: number): void {
  row &= ADDRESS
  const { i32, i64, f64 } = state
  const account = i32[row + OWNER]!
  const pair = i32[row + OF_PAIR]!
  const terms = (state.termsAt + pair * TERMS_ROW) & ADDRESS
  const asset = i32[terms + ((i32[row + FLAGS]! & SELL) !== 0 ? BASE : QUOTE)]!
  const funded = (i32[row + FLAGS]! & MASTER_FUNDED) !== 0
  const payer = funded ? payerOf(state, row) : account
  const balance = (state.balancesAt + Math.imul(payer, state.balanceStride) + asset * BALANCE_ROW) & ADDRESS
  i64[RELEASE] = i64[(row + HOLD) >>> 1]!
  i64[(row + HOLD) >>> 1] = 0n
  i64[balance + AVAILABLE] = i64[balance + AVAILABLE]! + i64[RELEASE]!
  i64[balance + LOCKED] = i64[balance + LOCKED]! - i64[RELEASE]!
  i64[balance + VERSION] = i64[balance + VERSION]! + 1n
  if (funded) countRelease(state, row)
  i32[(state.accountsAt + account * ACCOUNT_ROW + ACCOUNT_VERSION) & ADDRESS]!++
  const book = (state.pairsAt + pair * PAIR_ROW) & ADDRESS
  i32[book + PAIR_VERSION]!++
  f64[(book + PAIR_SEQUENCE) >>> 1] = f64[SEQUENCE]!
}

/** Takes a resting order off the book and releases its hold; register RELEASE says how much. Its row stays as it is otherwise. */
export function withdraw(state: State, row: number): void {
  row &= ADDRESS
  removeFromLevel(state, row)
  delist(state, row)
  releaseHold(state, row)
}

/**
 * Ends a resting order: off the book, hold released, ORDER_ENDED, slot free. `counterparty`: the order being placed by the
 * current command caused it (self-trade prevention, replace). The row keeps its values until the slot is used again.
 */
export function endOrder(state: State, row: number, status: number, reason: number, correlation: number, counterparty: boolean): void {
  takeOff(state, row)
  emitOrderEnded(state, row, status, reason, correlation, counterparty)
  giveSlot(state, row)
}
