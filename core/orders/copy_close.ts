/**
 * What of follows is to be closed, step by step: everything of one that is being stopped, and of a live one what its leader closed and
 * could not be closed in the copy then. One order with each COPY_STEP; at the end of a stop the collateral goes back to the parent and the
 * follow is over.
 *
 * A position that cannot be closed now, because its pair takes no orders or the book has too little within its limits (copy_price.ts, and
 * the band of triggers), is passed by, which is told (SKIPPED); when all others are closed the follow waits and is looked at again
 * (programs/copy_closing.ts). A bucket in liquidation or in bad debt is left to its liquidation first. Maintenance and the switch of copy
 * trading stop nothing. Lots of a live follow that wait to be opened are looked at behind what is to be closed (copy_open.ts).
 */
import { Flag } from '../layout/command.ts'
import { FollowReason, FollowState } from '../layout/copying.ts'
import { REFUSALS } from '../layout/refusals.ts'
import { markOf } from '../margin/figures.ts'
import { leadOf, numberOf } from '../margin/leads.ts'
import { leaveClosing, lookFirst, lookLater, lookSoon } from '../programs/copy_closing.ts'
import { endFollow, followedBy, pairOfFollow } from '../programs/follow_rows.ts'
import { closeRefusal, closeSub } from '../programs/margin_accounts.ts'
import { FOLLOW, FOLLOW_PAIR, LEAD } from '../state/copy_rows.ts'
import { MARGIN_ACCOUNT, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { bucketRow, get, getF64, getI64, marginAccountRow, positionRow, set, setI64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { openStep } from './copy_open.ts'
import { enterCopy, Entered, heldOf, skip, writeClose } from './copy_orders.ts'
import { closingLimit, isBeyond } from './copy_price.ts'
import { LOT, shareOf } from './copy_target.ts'

/** The next step of the follow at `row`, whose time has come. */
export function closeStep(state: State, row: number): void {
  leaveClosing(state, row)
  const margin = marginAccountRow(state, get(state, row, FOLLOW.MARGIN_ACCOUNT))
  const position = nextPosition(state, row, margin)
  if (position >= 0) return close(state, row, position)
  const stops = get(state, row, FOLLOW.STATE) === FollowState.STOPPING
  if (!stops && getF64(state, row, FOLLOW.OPEN_UNTIL) !== 0 && openStep(state, row)) return lookFirst(state, row)
  const failed = get(state, row, FOLLOW.TRIED) !== 0
  set(state, row, FOLLOW.TRIED, 0)
  if (stops) endStop(state, row, margin, failed)
  else if (getF64(state, row, FOLLOW.OPEN_UNTIL) !== 0) lookSoon(state, row)
  else if (failed) lookLater(state, row)
}

/** There is nothing left that could be closed now: it is over, or waits. */
function endStop(state: State, row: number, margin: number, failed: boolean): void {
  const code = closeRefusal(state, margin)
  if (code === 0) {
    closeSub(state, get(state, row, FOLLOW.ACCOUNT), margin)
    return endFollow(state, row)
  }
  // What could not be closed has told why.
  if (!failed) skip(state, row, -1, code)
  lookLater(state, row)
}

/** The position with something to close of the lowest perpetual behind the one that was tried last; -1: there is none. Walks them all. */
function nextPosition(state: State, row: number, margin: number): number {
  const tried = get(state, row, FOLLOW.TRIED)
  let [best, lowest] = [-1, Infinity]
  for (let next = get(state, margin, MARGIN_ACCOUNT.FIRST_BUCKET); next !== 0;) {
    const bucket = bucketRow(state, next - 1)
    next = get(state, bucket, RISK_BUCKET.NEXT)
    for (let link = get(state, bucket, RISK_BUCKET.FIRST_POSITION); link !== 0;) {
      const position = positionRow(state, link - 1)
      link = get(state, position, POSITION.NEXT)
      const number = numberOf(state, get(state, position, POSITION.PAIR))
      if (get(state, position, POSITION.LOTS) === 0 || number <= tried || number >= lowest) continue
      if (toClose(state, row, position) === 0) continue
      best = position
      lowest = number
    }
  }
  return best
}

/** Lots that are to be closed of an open position: all of a stop; of a live follow what it has more than its share. */
function toClose(state: State, row: number, position: number): number {
  const held = get(state, position, POSITION.LOTS)
  if (get(state, row, FOLLOW.STATE) === FollowState.STOPPING) return Math.abs(held)
  const rest = Number(leftOf(state, row, get(state, position, POSITION.PAIR), held) / LOT)
  if (rest === 0 || (rest > 0) !== (held > 0)) return Math.abs(held)
  return Math.max(0, Math.abs(held) - Math.abs(rest))
}

/** The share of a follow that holds `held` lots, millionths. */
function leftOf(state: State, row: number, pair: number, held: number): bigint {
  const seen = pairOfFollow(state, row, pair)
  return shareOf(held, getI64(state, seen, FOLLOW_PAIR.RESIDUAL), getF64(state, seen, FOLLOW_PAIR.SEEN))
}

function close(state: State, row: number, position: number): void {
  const pair = get(state, position, POSITION.PAIR)
  const held = get(state, position, POSITION.LOTS)
  const stops = get(state, row, FOLLOW.STATE) === FollowState.STOPPING
  const share = leftOf(state, row, pair, held)
  const sell = held > 0 ? Flag.SELL : 0
  const limit = closingLimit(state, pair, sell, get(state, row, FOLLOW.ROUNDS))
  if (isBeyond(state, pair, sell, limit)) {
    skip(state, row, pair, REFUSALS.COPY_PRICE.number)
    set(state, row, FOLLOW.TRIED, numberOf(state, pair))
    return lookFirst(state, row)
  }
  const lots = writeClose(state, position, sell, toClose(state, row, position), limit)
  const reference = stops ? markOf(state, pair) : get(state, leadOf(state, followedBy(state, row), numberOf(state, pair)), LEAD.PRICE)
  const full = enterCopy(state, row, pair, lots, stops ? FollowReason.CLOSED : FollowReason.COPIED, reference) === Entered.FILLED
  const left = heldOf(state, row, pair)
  if (!stops) setI64(state, pairOfFollow(state, row, pair), FOLLOW_PAIR.RESIDUAL, share - BigInt(left) * LOT)
  if (left !== held) set(state, row, FOLLOW.ROUNDS, 0)
  // What is not closed now is passed by in this round.
  if (!full) set(state, row, FOLLOW.TRIED, numberOf(state, pair))
  lookFirst(state, row)
}
