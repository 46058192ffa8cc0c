/**
 * Copies that open, and those that wait for a price (copy_price.ts).
 *
 * Lots for which the book has no price, or not enough of it, stay in RESIDUAL of their perpetual, and the follow stands in the queue of
 * the shortest pause (programs/copy_closing.ts). They are tried with each look at the follow, and with each walk of its leader. All lots
 * that a follow has waiting end together, OPEN_WAIT_MS after the first of them began to wait: they are left out, and SKIPPED says
 * COPY_PRICE. Those of a perpetual end at once when its leader reduces; all do when the follow is no longer ACTIVE, or copy trading is off.
 */
import { Flag } from '../layout/command.ts'
import { FollowReason, FollowState } from '../layout/copying.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { bestOpposite } from '../book/match.ts'
import { leadOf, numberOf, perpsOf } from '../margin/leads.ts'
import { isCopyingOff } from '../programs/copy_program.ts'
import { followedBy, pairOfFollow } from '../programs/follow_rows.ts'
import { NO_ASK, TERMS } from '../state/columns.ts'
import { FOLLOW, FOLLOW_PAIR, LEAD } from '../state/copy_rows.ts'
import { get, getF64, getI64, now, set, setF64, setI64, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { enterCopy, Entered, heldOf, skip, writeOpening } from './copy_orders.ts'
import { isPriced, mayTrade, openingLimit } from './copy_price.ts'
import { LOT, shareOf } from './copy_target.ts'

/** What became of lots that a copy was to open. */
export const Opening = {
  /** No order: there is no price for them. */
  WAITS: 0,
  /** An order was entered and its rest waits. */
  PARTLY: 1,
  /** An order was entered, or refused; none of them wait. */
  DONE: 2,
  /** An order was filled and has the most lots of one order: there are more. */
  MORE: 3,
} as const
export type Opening = (typeof Opening)[keyof typeof Opening]

/** True when `change` lots, signed, are as many as an order has at least, and worth as much at the touch. */
export function mayOpen(state: State, pair: number, change: number): boolean {
  const terms = termsRow(state, pair)
  const lots = Math.abs(change)
  if (lots === 0 || lots < get(state, terms, TERMS.MIN_LOTS)) return false
  const best = bestOpposite(state, pair, change < 0 ? Flag.SELL : 0)
  const price = best === NO_ASK ? 0 : best
  return price === 0 || price * lots * getF64(state, terms, TERMS.TICK_LOT_ATOMS_F64) >= getF64(state, terms, TERMS.MIN_NOTIONAL)
}

/** Enters an order that opens `change` lots, signed, of the follow at `row`, whose copy should have `share` millionths. */
export function openCopy(state: State, lead: number, row: number, change: number, share: bigint): Opening {
  const pair = get(state, lead, LEAD.PAIR)
  const sell = change < 0 ? Flag.SELL : 0
  const limit = openingLimit(state, lead, pair, sell)
  if (!mayTrade(state, pair, sell, limit)) return Opening.WAITS
  const seen = pairOfFollow(state, row, pair)
  const aim = heldOf(state, row, pair) + change
  const cut = writeOpening(state, lead, row, sell, Math.abs(change), limit)
  const entered = enterCopy(state, row, pair, cut, FollowReason.COPIED, get(state, lead, LEAD.PRICE))
  const waits = entered === Entered.PARTLY && isPriced(state)
  // What is not opened and does not wait is left out, but for the part of a lot.
  const left = entered === Entered.FILLED || waits ? heldOf(state, row, pair) : aim
  setI64(state, seen, FOLLOW_PAIR.RESIDUAL, share - BigInt(left) * LOT)
  if (waits) return Opening.PARTLY
  return entered === Entered.FILLED && cut < Math.abs(change) ? Opening.MORE : Opening.DONE
}

/** Looks at the lots of the follow that wait. True: an order was entered, or lots are left out, and the follow is looked at again. */
export function openStep(state: State, row: number): boolean {
  const leader = followedBy(state, row)
  const ended = whyOver(state, row)
  let number = nextWaiting(state, row, leader, get(state, row, FOLLOW.OPEN_TRIED))
  for (; number !== 0; number = nextWaiting(state, row, leader, number)) {
    const lead = leadOf(state, leader, number)
    const pair = get(state, lead, LEAD.PAIR)
    const lots = waitingLots(state, row, lead, number)
    const seen = pairOfFollow(state, row, pair)
    set(state, row, FOLLOW.OPEN_TRIED, number)
    if (ended !== 0) {
      leaveOut(state, row, pair, lots, ended)
      return true
    }
    // What its leader has done since is mirrored by the walk that is due, and these with it.
    if (getF64(state, lead, LEAD.LOTS) !== getF64(state, seen, FOLLOW_PAIR.SEEN)) continue
    if (openCopy(state, lead, row, lots, shareAt(state, row, pair)) !== Opening.WAITS) return true
  }
  set(state, row, FOLLOW.OPEN_TRIED, 0)
  if (nextWaiting(state, row, leader, 0) === 0) setF64(state, row, FOLLOW.OPEN_UNTIL, 0)
  return false
}

/** The leader of the lead reduces: lots that wait for it are left out. */
export function leaveReduced(state: State, lead: number, row: number): void {
  const pair = get(state, lead, LEAD.PAIR)
  const lots = waitingLots(state, row, lead, numberOf(state, pair))
  if (lots !== 0) leaveOut(state, row, pair, lots, REFUSALS.COPY_PRICE.number)
}

/** Number of the refusal for which nothing of the follow waits any longer; 0: it waits. */
function whyOver(state: State, row: number): number {
  if (isCopyingOff(state)) return REFUSALS.COPY_TRADING_OFF.number
  const over = get(state, row, FOLLOW.STATE) !== FollowState.ACTIVE || now(state) >= getF64(state, row, FOLLOW.OPEN_UNTIL)
  return over ? REFUSALS.COPY_PRICE.number : 0
}

function leaveOut(state: State, row: number, pair: number, lots: number, code: number): void {
  const left = BigInt(heldOf(state, row, pair) + lots) * LOT
  setI64(state, pairOfFollow(state, row, pair), FOLLOW_PAIR.RESIDUAL, shareAt(state, row, pair) - left)
  skip(state, row, pair, code)
}

/** The share of the follow, millionths. */
function shareAt(state: State, row: number, pair: number): bigint {
  const seen = pairOfFollow(state, row, pair)
  return shareOf(heldOf(state, row, pair), getI64(state, seen, FOLLOW_PAIR.RESIDUAL), getF64(state, seen, FOLLOW_PAIR.SEEN))
}

/** Number of the next perpetual behind `behind` of which lots of the follow wait; 0: none. Walks perpetuals. */
function nextWaiting(state: State, row: number, leader: number, behind: number): number {
  const perps = perpsOf(state)
  for (let number = behind + 1; number <= perps; number++) {
    if (waitingLots(state, row, leadOf(state, leader, number), number) !== 0) return number
  }
  return 0
}

/** Lots of the follow, signed, that wait to be opened on the perpetual of this number. */
function waitingLots(state: State, row: number, lead: number, number: number): number {
  const pair = get(state, lead, LEAD.PAIR)
  if (numberOf(state, pair) !== number) return 0
  const residual = getI64(state, pairOfFollow(state, row, pair), FOLLOW_PAIR.RESIDUAL)
  if (residual < LOT && residual > -LOT) return 0
  const held = heldOf(state, row, pair)
  const lots = Number(shareAt(state, row, pair) / LOT) - held
  const closes = held !== 0 && (lots > 0) !== (held > 0)
  return closes || !mayOpen(state, pair, lots) ? 0 : lots
}
