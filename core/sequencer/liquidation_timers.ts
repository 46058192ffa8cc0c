/**
 * Liquidation as commands of the sequencer itself (timers.ts): LIQUIDATION_STEP of buckets that must be looked at, SETTLEMENT_STEP of
 * perpetuals that settle. {@link STEPS_MAX} commands in one turn at most, so however many buckets fail in one moment everybody else's
 * commands go along; what is left has its part of the next turn, at once.
 *
 * **Work.** All steps of liquidation of one turn meet and end {@link LOOKS_OF_TURN} resting orders together, some 0.5 ms:
 * each command says what its part of them is, and goes on in the next turn where that is not enough. A step that goes beyond its part does
 * so by the reduce-only orders of two positions and by one counterparty with his.
 *
 *   guards   half of them at most: buckets whose guard the mark has reached (margin/guards.ts), one of each perpetual in turn
 *   list     buckets in liquidation (margin/liquidation_list.ts), from where the last turn stopped, so that all have their turn. Those that
 *            wait for a price or a pair are passed by, {@link LOOKS_MAX} looked at in one turn; of bad debts one, when the fund can pay
 *   fund     its bucket once a second, when the book can take something of it (liquidation/unwind.ts)
 *
 * A command that was applied makes its reason go away or changes what it found (liquidation/liquidate.ts, "It ends"), so none is written
 * for ever. Guards that are not built yet after a start are built here, {@link ARMED_MAX} rows with each turn. What is
 * remembered here only says where to go on; a start without it begins with the first.
 */
import { CommandType, kindOf } from '../layout/command.ts'
import { LIQUIDATION_STEP_COMMAND, SETTLEMENT_STEP_COMMAND } from '../layout/margin.ts'
import { write } from '../layout/record.ts'
import { encode, RECORD_WORDS, type Views } from '../layout/table.ts'
import { canBePaid } from '../liquidation/deficit.ts'
import { goesOn, isFrozen } from '../liquidation/frozen.ts'
import { isSettling } from '../liquidation/settle_pair.ts'
import { canUnwind } from '../liquidation/unwind.ts'
import { fundBucket } from '../margin/fund.ts'
import { buildGuards, takeGuard } from '../margin/guards.ts'
import { isListed, nextListed } from '../margin/liquidation_list.ts'
import { SCALAR, TERMS } from '../state/columns.ts'
import { BucketState, RISK_BUCKET } from '../state/margin_rows.ts'
import { bucketAt, bucketRow, get, getF64, pairCount, scalar, termsRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'

/** Commands of liquidation in one turn, at most. More would end a storm sooner, and everybody else's orders would wait for them. */
export const STEPS_MAX = 16
/** Resting orders that the steps of liquidation of one turn meet or end, at most. */
export const LOOKS_OF_TURN = 1024
/** Perpetuals that go on with their settlement in one turn, at most. */
export const SETTLEMENTS_MAX = 4
/** Rows of buckets and positions whose guards are built in one turn, at most: they take some 2 ms. */
export const ARMED_MAX = 2048
/** Buckets of the list that are looked at in one turn, at most. */
export const LOOKS_MAX = 256
/** The fund closes positions no more often than this, ms. */
export const UNWIND_MS = 1000

export interface LiquidationTimers {
  /** Bucket of the list that was looked at last, row + 1; 0: none. */
  last: number
  /** When the fund was looked at last, Unix ms. */
  unwoundAt: number
  /** The pair that is asked first whether it settles. */
  settles: number
  /** The pair whose guards are asked first. */
  guards: number
  /** Guards are not built yet. */
  building: boolean
}

export const createLiquidationTimers = (): LiquidationTimers => ({ last: 0, unwoundAt: 0, settles: 0, guards: 0, building: false })

/** Writes commands for what is due at `now` into `batch`, from slot `used` up to slot `end`; returns the slots then used. */
export function writeLiquidations(
  timers: LiquidationTimers, state: State, now: number, batch: Views, used: number, end: number,
): number {
  if (state.genesis.limits.perps === 0) return used
  end = Math.min(end, used + STEPS_MAX)
  timers.building = !buildGuards(state, ARMED_MAX)
  used = writeSettlements(timers, state, batch, used, end)
  const first = used
  used = writeGuards(timers, state, batch, used, used + Math.ceil((end - used) / 2))
  used = writeListed(timers, state, batch, used, end)
  used = writeUnwinding(timers, state, now, batch, used, end)
  shareLooks(batch, first, used)
  return used
}

function writeUnwinding(timers: LiquidationTimers, state: State, now: number, batch: Views, used: number, end: number): number {
  const fund = now - timers.unwoundAt >= UNWIND_MS ? fundBucket(state) : -1
  if (fund < 0 || used >= end || get(state, fund, RISK_BUCKET.STATE) !== BucketState.ACTIVE || !canUnwind(state, fund)) return used
  timers.unwoundAt = now
  return writeStep(state, batch, used, fund)
}

/** Gives each step in the slots from `first` to `used` its part of the work of the turn. */
function shareLooks(batch: Views, first: number, used: number): void {
  for (let slot = first; slot < used; slot++) {
    write(batch, slot * RECORD_WORDS, LIQUIDATION_STEP_COMMAND.at.looks, Math.floor(LOOKS_OF_TURN / (used - first)))
  }
}

function writeStep(state: State, batch: Views, slot: number, bucket: number): number {
  encode(LIQUIDATION_STEP_COMMAND, batch, slot * RECORD_WORDS, {
    kind: kindOf(CommandType.LIQUIDATION_STEP, 1, 0), session: -1, bucket: bucketAt(state, bucket),
    createdSequence: getF64(state, bucket, RISK_BUCKET.CREATED_SEQUENCE),
  })
  return slot + 1
}

const isPerp = (state: State, pair: number): boolean => get(state, termsRow(state, pair), TERMS.PERP) !== 0

/** From the pair on that was not asked in the last turn, so that all have their turn. */
function writeSettlements(timers: LiquidationTimers, state: State, batch: Views, used: number, end: number): number {
  end = Math.min(end, used + SETTLEMENTS_MAX)
  const pairs = pairCount(state)
  for (let looks = 0; looks < pairs && used < end; looks++) {
    const pair = timers.settles % pairs
    timers.settles = pair + 1
    if (!isPerp(state, pair) || !isSettling(state, pair)) continue
    encode(SETTLEMENT_STEP_COMMAND, batch, used++ * RECORD_WORDS, { kind: kindOf(CommandType.SETTLEMENT_STEP, 1, 0), session: -1, pair })
  }
  return used
}

/** From the pair on that was not asked in the last turn: one of each pair, until all pairs in a row have none. */
function writeGuards(timers: LiquidationTimers, state: State, batch: Views, used: number, end: number): number {
  const pairs = pairCount(state)
  for (let without = 0; without < pairs && used < end; without++) {
    const pair = timers.guards % pairs
    timers.guards = pair + 1
    const bucket = isPerp(state, pair) ? takeGuard(state, pair) : -1
    if (bucket < 0) continue
    used = writeStep(state, batch, used, bucketRow(state, bucket))
    without = -1
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
    if (owes ? !pays || !canBePaid(state, bucket) : isFrozen(state, bucket) && !goesOn(state, bucket)) continue
    if (owes) pays = false
    used = writeStep(state, batch, used, bucket)
  }
  return used
}
