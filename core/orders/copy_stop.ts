/**
 * Stops of follows, step by step: one order that closes a position, or part of it, with each COPY_STEP, and at the end the collateral goes
 * back to the parent and the follow is over.
 *
 * A position that cannot be closed now, because its pair takes no orders or the book has too little within the band of triggers, is passed
 * by; when all others are closed the follow is looked at again in {@link AGAIN_MS}. A bucket in liquidation or in bad debt is left to
 * its liquidation first. Maintenance stops nothing.
 */
import { Flag } from '../layout/command.ts'
import { FollowReason } from '../layout/copying.ts'
import { numberOf } from '../margin/leads.ts'
import { endFollow, lookFirst, lookLater, takeStop } from '../programs/follow_rows.ts'
import { closeRefusal, closeSub } from '../programs/margin_accounts.ts'
import { FOLLOW } from '../state/copy_rows.ts'
import { MARGIN_ACCOUNT, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { bucketRow, get, marginAccountRow, positionRow, set } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { enterCopy, writeClose } from './copy_orders.ts'

/** ms until a stop that could not close everything tries again. */
export const AGAIN_MS = 5_000

/** The next step of the stop of the follow at `row`, whose time has come. */
export function stopStep(state: State, row: number): void {
  takeStop(state, row)
  const margin = marginAccountRow(state, get(state, row, FOLLOW.MARGIN_ACCOUNT))
  const position = nextPosition(state, row, margin)
  if (position >= 0) return close(state, row, position)
  set(state, row, FOLLOW.TRIED, 0)
  if (closeRefusal(state, margin) !== 0) return lookLater(state, row, AGAIN_MS)
  closeSub(state, get(state, row, FOLLOW.ACCOUNT), margin)
  endFollow(state, row)
}

/** The open position of the lowest perpetual behind the one that was tried last; -1: there is none. Walks those of the margin account. */
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
      best = position
      lowest = number
    }
  }
  return best
}

function close(state: State, row: number, position: number): void {
  const pair = get(state, position, POSITION.PAIR)
  const held = get(state, position, POSITION.LOTS)
  const lots = writeClose(state, position, held > 0 ? Flag.SELL : 0, Math.abs(held))
  // What is not closed now is passed by in this round.
  if (!enterCopy(state, row, pair, lots, FollowReason.CLOSED)) set(state, row, FOLLOW.TRIED, numberOf(state, pair))
  lookFirst(state, row)
}
