/**
 * TWAP orders as rows (state/conditional_rows.ts): making and ending them, and when the sequencer looks at them. What they do is in
 * orders/twap.ts. They are named by the addresses of their rows, which are shared out among families (state/shares.ts).
 */
import { Flag } from '../layout/command.ts'
import { Reason, Status } from '../layout/event.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { TwapReason, TwapState } from '../layout/twap.ts'
import { emitTwap } from '../events/emit.ts'
import { endOrder } from '../book/end.ts'
import { payerFor } from '../ledger/holds.ts'
import { assetSpent } from '../ledger/spending.ts'
import { familyOf, freeConditional, takeAway } from '../margin/conditionals.ts'
import { R, touchAccount } from '../state/balances.ts'
import { BALANCE, SCALAR, TERMS } from '../state/columns.ts'
import { CONDITIONAL, TWAP, TWAP_WORDS, WAITING } from '../state/conditional_rows.ts'
import { noteTwap } from '../state/due.ts'
import { MARGIN_ACCOUNT, PERP_TERMS } from '../state/margin_rows.ts'
import {
  add, addScalar, balanceRow, clearWords, conditionalRow, get, getF64, getI64, marginAccountRow, now, orderRow, perpTermsRow, scalar,
  sequence, set, setF64, setScalar, termsRow, twapAt, twapRow, waitingRow,
} from '../state/rows.ts'
import { mayTake } from '../state/shares.ts'
import type { State } from '../state/state.ts'

/** Why `account` may not have a TWAP order more: number of a refusal; 0: it may. */
export function mayMakeTwap(state: State, account: number): number {
  const { twapOrders, twapOrdersPerAccount } = state.genesis.limits
  const fits = get(state, waitingRow(state, account), WAITING.TWAPS) < twapOrdersPerAccount &&
    mayTake(get(state, familyOf(state, account), WAITING.FAMILY_TWAPS), twapOrders, twapOrders - scalar(state, SCALAR.TWAPS_LIVE))
  return fits ? 0 : REFUSALS.TOO_MANY_TWAP_ORDERS.number
}

/** True when half of all places or more are taken. */
const areScarce = (state: State): boolean =>
  scalar(state, SCALAR.RULES) >= 5 && scalar(state, SCALAR.TWAPS_LIVE) >= state.genesis.limits.twapOrders >>> 1

/**
 * Why an account that holds nothing of what it will trade may not have a TWAP order more: number of a refusal; 0: it may. The second half
 * of all places is for accounts that could place the least order of the pair: who pays has its quantity or value in balances, locked or
 * not, and a margin account has collateral for its value at the most leverage. `margin`: row of it, -1: none; the same of spot pairs.
 */
export function twapFunding(state: State, account: number, pair: number, flags: number, margin: number): number {
  if (!areScarce(state)) return 0
  const terms = termsRow(state, pair)
  const worth = getF64(state, terms, TERMS.MIN_NOTIONAL)
  if ((flags & Flag.MARGIN) !== 0) {
    const least = Math.ceil((worth * 100) / get(state, perpTermsRow(state, pair), PERP_TERMS.MAX_LEVERAGE))
    const funded = margin >= 0 && getI64(state, margin, MARGIN_ACCOUNT.DEPOSITED) >= Math.max(1, least)
    return funded ? 0 : REFUSALS.INSUFFICIENT_MARGIN.number
  }
  const balance = balanceRow(state, payerFor(state, account, flags), assetSpent(state, pair, flags))
  const { registers } = state
  registers[R.AMOUNT] = getI64(state, balance, BALANCE.AVAILABLE) + getI64(state, balance, BALANCE.LOCKED)
  const sells = (flags & Flag.SELL) !== 0
  if (sells) registers[R.REQUIRED] = BigInt(get(state, terms, TERMS.MIN_LOTS)) * getI64(state, terms, TERMS.LOT_ATOMS)
  else registers[R.REQUIRED] = BigInt(Math.max(1, worth))
  return registers[R.AMOUNT]! >= registers[R.REQUIRED]! ? 0 : REFUSALS.INSUFFICIENT_BALANCE.number
}

/** A row for another one of `account`, PENDING, in its list; {@link mayMakeTwap} said that there may be one. */
export function makeTwap(state: State, account: number): number {
  const free = scalar(state, SCALAR.TWAPS_FREE)
  const number = free === 0 ? scalar(state, SCALAR.TWAPS_USED) : free - 1
  const row = twapRow(state, number)
  if (free === 0) addScalar(state, SCALAR.TWAPS_USED, 1)
  else setScalar(state, SCALAR.TWAPS_FREE, get(state, row, TWAP.NEXT))
  addScalar(state, SCALAR.TWAPS_LIVE, 1)
  clearWords(state, row, 0, TWAP_WORDS)
  set(state, row, TWAP.ACCOUNT, account)
  set(state, row, TWAP.STATE, TwapState.PENDING)
  setF64(state, row, TWAP.CREATED_SEQUENCE, sequence(state))
  setF64(state, row, TWAP.CREATED_AT, now(state))
  const waiting = waitingRow(state, account)
  const head = get(state, waiting, WAITING.FIRST_TWAP)
  set(state, row, TWAP.NEXT, head)
  if (head !== 0) set(state, twapRow(state, head - 1), TWAP.PREV, number + 1)
  set(state, waiting, WAITING.FIRST_TWAP, number + 1)
  add(state, waiting, WAITING.TWAPS, 1)
  add(state, familyOf(state, account), WAITING.FAMILY_TWAPS, 1)
  return row
}

/** Sets when the sequencer looks at it next, Unix ms; 0: never. */
export function lookAt(state: State, row: number, at: number): void {
  setF64(state, row, TWAP.NEXT_AT, at)
  noteTwap(state, twapAt(state, row))
}

/** TWAP of it as it stands. */
export function tellTwap(state: State, row: number, reason: number, childSlot: number, code: number): void {
  setF64(state, row, TWAP.UPDATED_AT, now(state))
  touchAccount(state, get(state, row, TWAP.ACCOUNT))
  emitTwap(state, row, reason, childSlot, code)
}

/** Of no command: whoever cancels a TWAP order is not answered for the slice that ends with it. */
const NOBODYS = -1

/** The slice that rests, if one does, is ended; what it filled is counted. */
export function endSlice(state: State, row: number, status: number, reason: number): void {
  const child = get(state, row, TWAP.CHILD)
  if (child !== 0) endOrder(state, orderRow(state, child - 1), status, reason, NOBODYS, false)
}

/** It ends in this state, which is told, and its row is free. Its slice at rest ends with it. */
export function endTwap(state: State, row: number, ended: number, reason: number, code: number): void {
  const isOver = ended === TwapState.EXPIRED || ended === TwapState.COMPLETED
  endSlice(state, row, isOver ? Status.EXPIRED : Status.CANCELLED, isOver ? Reason.EXPIRED : Reason.USER_CANCELLED)
  const start = get(state, row, TWAP.CONDITIONAL)
  if (start !== 0) {
    takeAway(state, conditionalRow(state, start - 1))
    freeConditional(state, conditionalRow(state, start - 1))
  }
  set(state, row, TWAP.STATE, ended)
  lookAt(state, row, 0)
  tellTwap(state, row, reason, -1, code)
  freeTwap(state, row)
}

function freeTwap(state: State, row: number): void {
  const account = get(state, row, TWAP.ACCOUNT)
  const counted = get(state, row, TWAP.COUNTED)
  if (counted !== 0) add(state, marginAccountRow(state, counted - 1), MARGIN_ACCOUNT.TWAPS, -1)
  const waiting = waitingRow(state, account)
  const [next, prev] = [get(state, row, TWAP.NEXT), get(state, row, TWAP.PREV)]
  if (prev === 0) set(state, waiting, WAITING.FIRST_TWAP, next)
  else set(state, twapRow(state, prev - 1), TWAP.NEXT, next)
  if (next !== 0) set(state, twapRow(state, next - 1), TWAP.PREV, prev)
  add(state, waiting, WAITING.TWAPS, -1)
  add(state, familyOf(state, account), WAITING.FAMILY_TWAPS, -1)
  clearWords(state, row, 0, TWAP_WORDS)
  set(state, row, TWAP.NEXT, scalar(state, SCALAR.TWAPS_FREE))
  setScalar(state, SCALAR.TWAPS_FREE, twapAt(state, row) + 1)
  addScalar(state, SCALAR.TWAPS_LIVE, -1)
}

/** The time is over in which the price was to come that the conditional order at `start` waits for: its TWAP order ends. */
export const endUnstarted = (state: State, start: number): void =>
  endTwap(state, twapRow(state, get(state, start, CONDITIONAL.OF)), TwapState.EXPIRED, TwapReason.CONDITION_EXPIRED, 0)

/**
 * Ends those that a session of `account` asked for, which is revoked. Walks those of the account. A session that only ends, by its time or
 * because its holder opened others beyond the limit, leaves them: its owner did not say that they shall stop, and signing in on one device
 * more must not stop them.
 */
export function endTwapsOf(state: State, account: number, session: number, generation: number): void {
  let next = get(state, waitingRow(state, account), WAITING.FIRST_TWAP)
  while (next !== 0) {
    const row = twapRow(state, next - 1)
    next = get(state, row, TWAP.NEXT)
    const isOf = get(state, row, TWAP.SESSION) === session && get(state, row, TWAP.GENERATION) === generation
    if (isOf) endTwap(state, row, TwapState.CANCELLED, TwapReason.SESSION_REVOKED, 0)
  }
}
