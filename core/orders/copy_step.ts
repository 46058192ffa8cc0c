/**
 * COPY_STEP: the sequencer's command for what leaders did and is not mirrored yet (margin/leads.ts), or for what is to be closed
 * (copy_close.ts). One order is entered with each command, so that each has a sequence of its own; up to {@link LOOKS_MAX} follows that
 * need none are passed by. Then other leads have their turns. So a leader with 10,000 followers stalls nobody.
 *
 * - **Net.** A follow goes at once from the leader's lots that it saw last to those of now (copy_target.ts), whatever there was between.
 * - **The order** is one of the follower's account, of origin COPY: MARKET, within the limits of copy_price.ts and the band of every MARKET
 *   order, in the margin account of the follow, in its own bucket. Its leverage is the leader's, at most what the follow says. What closes
 *   is Flag.CLOSE, within the band of triggers, and is taken in maintenance too; to the other side it goes with two orders.
 * - **What is not taken.** Openings that are refused are left out: SKIPPED says why, and the row keeps it. Those for which the book has too
 *   little wait first (copy_open.ts); before the rules 5 they are left out too. What is less than an order may be is carried to the next
 *   one. What could not be closed is tried again after a pause (copy_close.ts).
 *   CLOSE_ONLY opens nothing, and nobody does while copy trading is off.
 */
import { Flag } from '../layout/command.ts'
import { COPY_STEP_COMMAND, CopyWork, FollowReason, FollowState } from '../layout/copying.ts'
import { read } from '../layout/record.ts'
import { REFUSALS } from '../layout/refusals.ts'
import type { Views } from '../layout/table.ts'
import { emitResult } from '../events/emit.ts'
import { accountEquity } from '../margin/account_equity.ts'
import { cursorOf, endLead, firstLead, goOnBehind, leaderOf, letOthers } from '../margin/leads.ts'
import { findPosition } from '../margin/positions.ts'
import { firstClosing, tryLater, waitToOpen } from '../programs/copy_closing.ts'
import { isCopyingOff } from '../programs/copy_program.ts'
import { pairOfFollow } from '../programs/follow_rows.ts'
import { laneRefusal } from '../programs/policy.ts'
import { R } from '../state/balances.ts'
import { FOLLOW, FOLLOW_PAIR, LEAD, LEADER } from '../state/copy_rows.ts'
import { POSITION } from '../state/margin_rows.ts'
import { followAt, get, getF64, getI64, now, set, setF64, setI64 } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { closeStep } from './copy_close.ts'
import { leaveReduced, mayOpen, openCopy, Opening } from './copy_open.ts'
import { bucketOfFollow, enterCopy, Entered, heldOf, skip, writeClose } from './copy_orders.ts'
import { closingLimit, isBeyond, isPriced } from './copy_price.ts'
import { LOT, shareOf, targetOf, type Terms } from './copy_target.ts'

/** Follows that one command passes by, at most. */
export const LOOKS_MAX = 32

/** NOT_FOUND: there is nothing to do. */
export function copyStep(state: State, command: Views, base: number): void {
  const stops = read(command, base, COPY_STEP_COMMAND.at.work) === CopyWork.STOPS
  let code = laneRefusal(command, base)
  const row = code !== 0 ? -1 : stops ? firstClosing(state, now(state)) : firstLead(state)
  if (code === 0 && row < 0) code = REFUSALS.NOT_FOUND.number
  if (code === 0 && stops) closeStep(state, row)
  else if (code === 0) mirrorStep(state, row)
  emitResult(state, command, base, code, -1, 0, 0)
}

/** What becomes of a walk behind a follow. */
const Outcome = {
  /** It needs nothing. */
  PASSED: 0,
  /** An order was entered, or refused. */
  ORDERED: 1,
  /** And there is more for it. */
  STAYS: 2,
} as const
type Outcome = (typeof Outcome)[keyof typeof Outcome]

function mirrorStep(state: State, lead: number): void {
  if (get(state, lead, LEAD.CURSOR) === 0) beginWalk(state, lead)
  for (let looks = 0; looks < LOOKS_MAX && get(state, lead, LEAD.WAITS) !== 0; looks++) {
    // The walk was over, and there was a fill meanwhile: the next one is another command's.
    if (get(state, lead, LEAD.CURSOR) === 0) break
    const follow = cursorOf(state, lead)
    const outcome = mirror(state, lead, follow)
    if (outcome !== Outcome.STAYS) goOnBehind(state, lead, follow)
    if (outcome !== Outcome.PASSED) break
  }
  if (get(state, lead, LEAD.WAITS) !== 0) letOthers(state, lead)
}

/** It begins with the oldest follow; what is opened is of the leader's equity of now. */
function beginWalk(state: State, lead: number): void {
  const oldest = cursorOf(state, lead)
  if (oldest < 0) return endLead(state, lead)
  accountEquity(state, get(state, leaderOf(state, lead), LEADER.ACCOUNT))
  setI64(state, lead, LEAD.EQUITY, state.registers[R.AMOUNT]!)
  set(state, lead, LEAD.CURSOR, followAt(state, oldest) + 1)
}

/** Enters the order that the follow at `row` needs, if it needs one. */
function mirror(state: State, lead: number, row: number): Outcome {
  const pair = get(state, lead, LEAD.PAIR)
  const seen = pairOfFollow(state, row, pair)
  const lots = getF64(state, lead, LEAD.LOTS)
  const bucket = bucketOfFollow(state, row, pair)
  const position = findPosition(state, bucket, pair)
  const held = position < 0 ? 0 : get(state, position, POSITION.LOTS)
  const before = BigInt(held) * LOT
  const standing = get(state, row, FOLLOW.STATE)
  const isOff = isCopyingOff(state)
  const since = getF64(state, seen, FOLLOW_PAIR.SEEN)
  if (getF64(state, row, FOLLOW.OPEN_UNTIL) !== 0 && reduces(since, lots)) leaveReduced(state, lead, row)
  const target = targetOf(
    shareOf(held, getI64(state, seen, FOLLOW_PAIR.RESIDUAL), since), since, lots, termsOf(state, lead, row, standing, isOff),
  )
  setF64(state, seen, FOLLOW_PAIR.SEEN, target.seen)
  setI64(state, seen, FOLLOW_PAIR.RESIDUAL, target.share - before)
  const change = Number(target.share / LOT) - held
  const closes = held !== 0 && change !== 0 && (change > 0) !== (held > 0)
  const more = target.seen !== lots
  if (target.left !== 0) skip(state, row, pair, target.left)
  if (!closes && (standing !== FollowState.ACTIVE || isOff || !mayOpen(state, pair, change))) {
    // What is left is looked at again at once: nothing of it was an order.
    return more ? mirror(state, lead, row) : Outcome.PASSED
  }
  if (!closes) return opened(state, row, openCopy(state, lead, row, change, target.share))
  const size = Math.min(Math.abs(change), Math.abs(held))
  const full = closeCopy(state, lead, row, position, size)
  if (!full) tryLater(state, row)
  // What was not closed stays to be closed.
  setI64(state, seen, FOLLOW_PAIR.RESIDUAL, target.share - BigInt(heldOf(state, row, pair)) * LOT)
  return more || (full && Math.abs(held - heldOf(state, row, pair)) < Math.abs(change)) ? Outcome.STAYS : Outcome.ORDERED
}

/** What of its leader counts for the follow at `row`, whose FollowState is `standing`. */
function termsOf(state: State, lead: number, row: number, standing: number, isOff: boolean): Terms {
  const { leaderLeast, copyRatio } = state.genesis.limits
  const scale = state.genesis.assets[state.collateralAsset]!.scale
  const priced = isPriced(state)
  return {
    state: standing, isOff, allocation: getI64(state, row, FOLLOW.ALLOCATION), equity: getI64(state, lead, LEAD.EQUITY),
    least: priced ? BigInt(leaderLeast) * 10n ** BigInt(scale) : 1n, ratio: priced ? BigInt(copyRatio) : 0n,
  }
}

/** True when a leader who had `before` lots and has `lots` closed some of them. */
const reduces = (before: number, lots: number): boolean =>
  Math.abs(lots) < Math.abs(before) || (before !== 0 && (lots > 0) !== (before > 0))

function opened(state: State, row: number, opening: Opening): Outcome {
  if (opening === Opening.WAITS || opening === Opening.PARTLY) waitToOpen(state, row)
  if (opening === Opening.WAITS) return Outcome.PASSED
  return opening === Opening.MORE ? Outcome.STAYS : Outcome.ORDERED
}

/** Enters an order that closes `lots` of the position at most. True: it was filled. */
function closeCopy(state: State, lead: number, row: number, position: number, lots: number): boolean {
  const pair = get(state, lead, LEAD.PAIR)
  const sell = get(state, position, POSITION.LOTS) > 0 ? Flag.SELL : 0
  const limit = closingLimit(state, pair, sell, 0)
  if (isBeyond(state, pair, sell, limit)) {
    skip(state, row, pair, REFUSALS.COPY_PRICE.number)
    return false
  }
  const cut = writeClose(state, position, sell, lots, limit)
  return enterCopy(state, row, pair, cut, FollowReason.COPIED, get(state, lead, LEAD.PRICE)) === Entered.FILLED
}
