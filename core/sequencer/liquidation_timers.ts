/**
 * Liquidation as commands of the sequencer itself (timers.ts): LIQUIDATION_STEP of buckets that must be looked at, SETTLEMENT_STEP of
 * perpetuals that settle. {@link STEPS_MAX} commands in one turn at most, so however many buckets fail in one moment everybody else's
 * commands go along; what is left has its part of the next turn, at once.
 *
 *   guards   half of them at most: buckets whose guard the mark has reached (margin/guards.ts), one of each perpetual in turn
 *   list     buckets in liquidation (margin/liquidation_list.ts), from where the last turn stopped, so that all have their turn. Those that
 *            wait for a price or a pair are passed by, {@link LOOKS_MAX} looked at in one turn; of bad debts one, when the fund can pay
 *   fund     its bucket once a second, when the book can take something of it (liquidation/unwind.ts)
 *
 * A command that was applied makes its reason go away or changes what it found (liquidation/liquidate.ts, "It ends"), so none is written
 * for ever. What is remembered here only says where to go on; a start without it begins with the first.
 */
import { CommandType, kindOf } from '../layout/command.ts'
import { LIQUIDATION_STEP_COMMAND, SETTLEMENT_STEP_COMMAND } from '../layout/margin.ts'
import { encode, RECORD_WORDS, type Views } from '../layout/table.ts'
import { canBePaid } from '../liquidation/deficit.ts'
import { isFrozen } from '../liquidation/frozen.ts'
import { isSettling } from '../liquidation/settle_pair.ts'
import { canUnwind } from '../liquidation/unwind.ts'
import { fundBucket } from '../margin/fund.ts'
import { takeGuard } from '../margin/guards.ts'
import { isListed, nextListed } from '../margin/liquidation_list.ts'
import { SCALAR, TERMS } from '../state/columns.ts'
import { BucketState, RISK_BUCKET } from '../state/margin_rows.ts'
import { bucketAt, bucketRow, get, getF64, pairCount, scalar, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Commands of liquidation in one turn, at most. */
export const STEPS_MAX = 64
/** Buckets of the list that are looked at in one turn, at most. */
export const LOOKS_MAX = 256
/** The fund closes positions no more often than this, ms. */
export const UNWIND_MS = 1000

export interface LiquidationTimers {
  /** Bucket of the list that was looked at last, row + 1; 0: none. */
  last: number
  /** When the fund was looked at last, Unix ms. */
  unwoundAt: number
}

/** Writes commands for what is due at `now` into `batch`, from slot `used` up to slot `end`; returns the slots then used. */
export function writeLiquidations(
  timers: LiquidationTimers, state: State, now: number, batch: Views, used: number, end: number,
): number {
  if (state.genesis.limits.perps === 0) return used
  end = Math.min(end, used + STEPS_MAX)
  used = writeSettlements(state, batch, used, end)
  used = writeGuards(state, batch, used, used + Math.ceil((end - used) / 2))
  used = writeListed(timers, state, batch, used, end)
  const fund = now - timers.unwoundAt >= UNWIND_MS ? fundBucket(state) : -1
  if (fund < 0 || used >= end || get(state, fund, RISK_BUCKET.STATE) !== BucketState.ACTIVE || !canUnwind(state, fund)) return used
  timers.unwoundAt = now
  return writeStep(state, batch, used, fund)
}

function writeStep(state: State, batch: Views, slot: number, bucket: number): number {
  encode(LIQUIDATION_STEP_COMMAND, batch, slot * RECORD_WORDS, {
    kind: kindOf(CommandType.LIQUIDATION_STEP, 1, 0), session: -1, bucket: bucketAt(state, bucket),
    createdSequence: getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE),
  })
  return slot + 1
}

const isPerp = (state: State, pair: number): boolean => get(state, termsRow(state, pair), TERMS.PERP) !== 0

function writeSettlements(state: State, batch: Views, used: number, end: number): number {
  for (let pair = 0; pair < pairCount(state) && used < end; pair++) {
    if (!isPerp(state, pair) || !isSettling(state, pair)) continue
    encode(SETTLEMENT_STEP_COMMAND, batch, used++ * RECORD_WORDS, { kind: kindOf(CommandType.SETTLEMENT_STEP, 1, 0), session: -1, pair })
  }
  return used
}

function writeGuards(state: State, batch: Views, used: number, end: number): number {
  for (let found = true; found && used < end;) {
    found = false
    for (let pair = 0; pair < pairCount(state) && used < end; pair++) {
      const bucket = isPerp(state, pair) ? takeGuard(state, pair) : -1
      if (bucket < 0) continue
      used = writeStep(state, batch, used, bucketRow(state, bucket))
      found = true
    }
  }
  return used
}

function writeListed(timers: LiquidationTimers, state: State, batch: Views, used: number, end: number): number {
  const last = timers.last === 0 ? -1 : bucketRow(state, timers.last - 1)
  let bucket = last < 0 || !isListed(state, last) ? -1 : last
  let looks = Math.min(LOOKS_MAX, scalar(state, SCALAR.LIQUIDATIONS))
  let pays = true
  for (; looks > 0 && used < end; looks--) {
    bucket = nextListed(state, bucket)
    if (bucket < 0) bucket = nextListed(state, bucket)
    timers.last = bucketAt(state, bucket) + 1
    const owes = get(state, bucket, RISK_BUCKET.STATE) === BucketState.BAD_DEBT
    if (owes ? !pays || !canBePaid(state, bucket) : isFrozen(state, bucket)) continue
    if (owes) pays = false
    used = writeStep(state, batch, used, bucket)
  }
  return used
}
