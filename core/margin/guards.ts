/**
 * Guards: the mark at which a bucket must be looked at, for each open position, so that a price touches only what it crosses.
 *
 * **What a guard is.** Slack of a bucket = equity - maintenance margin, at the marks of when it was armed. Each of its k open positions has
 * slack / k of it, rounded down. Its guard is the first tick at which its own loss, with the change of its maintenance margin, is more than
 * that: for a long at or below, for a short at or above. So while no guard is reached the bucket is healthy, and of an isolated bucket,
 * which has one position, the guard is exactly the first tick at which equity < maintenance margin.
 *
 * **Closed form.** N = |s| × m × t, notional of the position at mark m; f(N) = N - MM(N) of a long falls short below a value V, g(N) = N +
 * MM(N) of a short passes a value W. In a tier, MM(N) = ceil(N × p / 10^6) - d, and for whole numbers
 *
 *   N - MM(N) < V   <=>   N × (10^6 - p) < (V - d) × 10^6          largest such N:  ceil((V - d) × 10^6 / (10^6 - p)) - 1
 *   N + MM(N) > W   <=>   N × (10^6 + p) > (W + d) × 10^6          least such N:   floor((W + d) × 10^6 / (10^6 + p)) + 1
 *
 * Both functions rise with N and ladders are continuous, so the tier in which that N lies decides. V = N0 - MM(N0) - slack / k and
 * W = N0 + MM(N0) + slack / k with N0 at the mark of now.
 *
 * **Funding** moves equity without a price. A guard is kept as it was armed, and each perpetual has a drift: the most ticks by which
 * funding, since the guards were built, moved those of who paid. A key has the drift of when it was made, so one addition moves all:
 *
 *   longs    key = drift - guard, due when key <= drift of now - mark
 *   shorts   key = drift + guard, due when key <= drift of now + mark
 *
 * Who gets funding keeps his guard. So a guard may be reached early, never late; then the bucket is looked at, and armed again exactly.
 *
 * **When.** {@link armBucket} after every change of lots, collateral, realised profit or leverage tier of a bucket that is not about to
 * change again in the same command. Buckets that are in liquidation have no guards: their list names them.
 *
 * **Derived.** Guards only decide which buckets the sequencer looks at; what happens then is decided by the figures. They are in no
 * snapshot and no digest, and are built from the rows, O(open positions), by whoever needs them first after a load: that is a command on a
 * bucket, or the sequencer's first look ({@link rebuildGuards}).
 *
 * **Widest products.** V and W below 2^62; divided by 10^6 -+ p before they are multiplied by 10^6. A quotient beyond 2^40 means no price.
 */
import { R } from '../state/balances.ts'
import { SCALAR, TERMS } from '../state/columns.ts'
import {
  BucketState, GUARD, GUARD_DRIFT, GUARD_TAKEN, GUARD_WORDS, PERP, PERP_TERMS, POSITION, RISK_BUCKET, TIER,
} from '../state/margin_rows.ts'
import {
  add, bucketRow, get, getI64, guardDriftRow, guardRow, pairCount, perpRow, perpTermsRow, positionAt, positionRow, scalar, set, setI64,
  termsRow, tierRow, wordOfRegister,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { bucketHealth, markOf, unrealizedOf } from './figures.ts'
import { disarm, firstGuard, guardKey, setGuard, takeFromHeap } from './guard_heap.ts'
import { isFresh } from './mark_price.ts'
import { maintenanceMargin } from './tiers.ts'

export { disarm }

const MILLION = 1_000_000n
/** Notional that no position reaches. */
const NO_NOTIONAL = 2_305_843_009_213_693_952n
const QUOTIENT_MOST = 1_099_511_627_776n
/** No price has so many ticks. */
const TICKS_MOST = 2_147_483_647n
/** Drifts stay below it, so that keys are words. */
const DRIFT_MOST = 2 ** 29

const isBuilt = (state: State): boolean => get(state, guardDriftRow(state, 0), GUARD_DRIFT.BUILT) !== 0
const perpNumber = (state: State, pair: number): number => get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER)
const driftRow = (state: State, pair: number): number => guardDriftRow(state, perpNumber(state, pair))

/** Builds all guards from the rows. Nothing but derived columns changes. */
export function rebuildGuards(state: State): void {
  set(state, guardDriftRow(state, 0), GUARD_DRIFT.BUILT, 1)
  state.guards.fill(0)
  state.guardKeys.fill(0, 0, scalar(state, SCALAR.POSITIONS_USED) * GUARD_WORDS)
  for (let pair = 0; pair < pairCount(state); pair++) {
    if (perpNumber(state, pair) === 0) continue
    const row = driftRow(state, pair)
    set(state, row, GUARD_DRIFT.LONGS, 0)
    set(state, row, GUARD_DRIFT.SHORTS, 0)
    setI64(state, row, GUARD_DRIFT.SEEN, getI64(state, perpRow(state, pair), PERP.CUMULATIVE))
  }
  for (let bucket = 0; bucket < scalar(state, SCALAR.BUCKETS_USED); bucket++) {
    const row = bucketRow(state, bucket)
    if (get(state, row, RISK_BUCKET.STATE) === BucketState.ACTIVE) armBucket(state, row)
  }
}

/**
 * Counts the funding of `pair` since it was counted last. True when it became too large, so that guards must be built
 * anew. Scratch: M0, M1.
 */
function countDrift(state: State, pair: number): boolean {
  const { registers } = state
  const row = driftRow(state, pair)
  registers[R.M0] = getI64(state, perpRow(state, pair), PERP.CUMULATIVE) - getI64(state, row, GUARD_DRIFT.SEEN)
  if (registers[R.M0] === 0n) return false
  setI64(state, row, GUARD_DRIFT.SEEN, getI64(state, perpRow(state, pair), PERP.CUMULATIVE))
  const longs = registers[R.M0]! > 0n
  // Of a long a tick changes equity - MM by at least t × (1 - ratio of the last tier) a lot, of a short by at least t. Two atoms more and
  // two ticks are for roundings: of funding, of both margins, and of this division.
  const last = tierRow(state, pair, get(state, perpTermsRow(state, pair), PERP_TERMS.TIERS) - 1)
  const ppm = longs ? 1_000_000 - get(state, last, TIER.MAINTENANCE_PPM) : 1_000_000
  registers[R.M1] = getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS) * BigInt(ppm | 0)
  registers[R.M0] = (longs ? registers[R.M0]! : -registers[R.M0]!) + 2_000_000n
  registers[R.M0] = registers[R.M0]! / registers[R.M1]! + 2n
  if (registers[R.M0]! > 536_870_912n) registers[R.M0] = 536_870_912n
  const field = longs ? GUARD_DRIFT.LONGS : GUARD_DRIFT.SHORTS
  add(state, row, field, Number(registers[R.M0]!))
  return get(state, row, field) >= DRIFT_MOST
}

/** Register M2 = N at which the slack of a long is used up, the largest; below 0: at none. M3: V. */
function lowerNotional(state: State, pair: number): void {
  const { registers } = state
  registers[R.M5] = NO_NOTIONAL
  for (let place = get(state, perpTermsRow(state, pair), PERP_TERMS.TIERS) - 1; place >= 0; place--) {
    const tier = tierRow(state, pair, place)
    registers[R.M0] = registers[R.M3]! - getI64(state, tier, TIER.MAINTENANCE_DEDUCTION)
    registers[R.M1] = BigInt((1_000_000 - get(state, tier, TIER.MAINTENANCE_PPM)) | 0)
    registers[R.M2] = -1n
    if (registers[R.M0]! > 0n) {
      registers[R.M4] = registers[R.M0]! / registers[R.M1]!
      registers[R.M2] = (registers[R.M0]! % registers[R.M1]!) * MILLION + registers[R.M1]! - 1n
      registers[R.M2] = registers[R.M4]! * MILLION + registers[R.M2]! / registers[R.M1]! - 1n
      if (registers[R.M4]! >= QUOTIENT_MOST || registers[R.M2]! > registers[R.M5]!) registers[R.M2] = registers[R.M5]!
    }
    registers[R.M5] = getI64(state, tier, TIER.LOWER_BOUND)
    if (registers[R.M2]! >= registers[R.M5]!) return
    registers[R.M5] = registers[R.M5]! - 1n
  }
}

/** Register M2 = N at which the slack of a short is used up, the least. M3: W. */
function upperNotional(state: State, pair: number): void {
  const { registers } = state
  const tiers = get(state, perpTermsRow(state, pair), PERP_TERMS.TIERS)
  for (let place = 0; place < tiers; place++) {
    const tier = tierRow(state, pair, place)
    registers[R.M0] = registers[R.M3]! + getI64(state, tier, TIER.MAINTENANCE_DEDUCTION)
    registers[R.M1] = BigInt((1_000_000 + get(state, tier, TIER.MAINTENANCE_PPM)) | 0)
    registers[R.M2] = 0n
    if (registers[R.M0]! >= 0n) {
      registers[R.M2] = ((registers[R.M0]! % registers[R.M1]!) * MILLION) / registers[R.M1]! + 1n
      registers[R.M2] = (registers[R.M0]! / registers[R.M1]!) * MILLION + registers[R.M2]!
    }
    registers[R.M4] = getI64(state, tier, TIER.LOWER_BOUND)
    if (registers[R.M2]! < registers[R.M4]!) registers[R.M2] = registers[R.M4]!
    if (place + 1 === tiers) return
    if (registers[R.M2]! < getI64(state, tierRow(state, pair, place + 1), TIER.LOWER_BOUND)) return
  }
}

/**
 * The first tick at which the position at `row` has lost more than register SLACK, its maintenance margin counted, from the mark of now
 * on; 0: at none. Of a long the highest such tick, of a short the lowest. Scratch: NOTIONAL, UNREALIZED, MAINTENANCE, M0 to M5.
 */
export function guardTick(state: State, row: number): number {
  const { registers } = state
  const pair = get(state, row, POSITION.PAIR)
  const lots = get(state, row, POSITION.LOTS)
  unrealizedOf(state, row)
  maintenanceMargin(state, pair)
  const t = termsRow(state, pair)
  if (lots > 0) {
    registers[R.M3] = registers[R.NOTIONAL]! - registers[R.MAINTENANCE]! - registers[R.SLACK]!
    lowerNotional(state, pair)
    if (registers[R.M2]! < 0n) return 0
    registers[R.M1] = BigInt(lots | 0) * getI64(state, t, TERMS.TICK_LOT_ATOMS)
    registers[R.M2] = registers[R.M2]! / registers[R.M1]!
    return registers[R.M2]! < TICKS_MOST && wordOfRegister(state, R.M2) < state.priceTicks
      ? wordOfRegister(state, R.M2) : state.priceTicks - 1
  }
  registers[R.M3] = registers[R.NOTIONAL]! + registers[R.MAINTENANCE]! + registers[R.SLACK]!
  upperNotional(state, pair)
  registers[R.M1] = BigInt(-lots | 0) * getI64(state, t, TERMS.TICK_LOT_ATOMS)
  registers[R.M2] = (registers[R.M2]! + registers[R.M1]! - 1n) / registers[R.M1]!
  if (registers[R.M2]! >= TICKS_MOST || wordOfRegister(state, R.M2) >= state.priceTicks) return 0
  return registers[R.M2]! < 1n ? 1 : wordOfRegister(state, R.M2)
}

/** Gives the positions of a bucket their guards, or none when it is not active. Walks its positions, at most one a perpetual. */
export function armBucket(state: State, bucket: number): void {
  if (!isBuilt(state) || countDrifts(state, bucket)) return rebuildGuards(state)
  const { registers } = state
  const open = bucketHealth(state, bucket)
  const active = get(state, bucket, RISK_BUCKET.STATE) === BucketState.ACTIVE
  registers[R.SLACK] = registers[R.EQUITY]! - registers[R.SUM_MAINTENANCE]!
  // A slack that is used up is not shared: every guard is reached.
  if (open > 1 && registers[R.SLACK]! > 0n) registers[R.SLACK] = registers[R.SLACK]! / BigInt(open | 0)
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const row = positionRow(state, next - 1)
    next = get(state, row, POSITION.NEXT)
    if (active && get(state, row, POSITION.LOTS) !== 0) armPosition(state, row)
    else disarm(state, row)
  }
}

/** Counts the drifts of all pairs of the bucket. True when guards must be built anew, because one became too large. */
function countDrifts(state: State, bucket: number): boolean {
  let tooLarge = false
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const row = positionRow(state, next - 1)
    next = get(state, row, POSITION.NEXT)
    if (countDrift(state, get(state, row, POSITION.PAIR))) tooLarge = true
  }
  return tooLarge
}

function armPosition(state: State, row: number): void {
  const pair = get(state, row, POSITION.PAIR)
  const shorts = get(state, row, POSITION.LOTS) < 0
  const tick = markOf(state, pair) === 0 ? 0 : guardTick(state, row)
  const drift = driftRow(state, pair)
  if (tick === 0) disarm(state, row)
  else if (shorts) setGuard(state, row, true, get(state, drift, GUARD_DRIFT.SHORTS) + tick)
  else setGuard(state, row, false, get(state, drift, GUARD_DRIFT.LONGS) - tick)
}

/** Number of a position of `pair` whose guard is reached at the mark of now, or -1. A stale price reaches none. */
function reached(state: State, pair: number): number {
  if (perpNumber(state, pair) === 0 || !isFresh(state, pair)) return -1
  if (!isBuilt(state) || countDrift(state, pair)) rebuildGuards(state)
  const mark = markOf(state, pair)
  const drift = driftRow(state, pair)
  const long = firstGuard(state, pair, false)
  if (long >= 0 && guardKey(state, long) <= get(state, drift, GUARD_DRIFT.LONGS) - mark) return long
  const short = firstGuard(state, pair, true)
  return short >= 0 && guardKey(state, short) <= get(state, drift, GUARD_DRIFT.SHORTS) + mark ? short : -1
}

/** Number of a bucket that must be looked at because of the mark of `pair`, or -1: there is none, or the price is stale. O(1). */
export function nextGuard(state: State, pair: number): number {
  const position = reached(state, pair)
  return position < 0 ? -1 : get(state, positionRow(state, position), POSITION.BUCKET)
}

/**
 * As {@link nextGuard}, and the guard is gone: the next call names another one, O(log positions). Whoever takes a bucket must have it
 * looked at, which arms it again.
 */
export function takeGuard(state: State, pair: number): number {
  const position = reached(state, pair)
  if (position < 0) return -1
  const row = positionRow(state, position)
  takeFromHeap(state, row)
  return get(state, row, POSITION.BUCKET)
}

/**
 * The mark at which the bucket of the position is looked at next, ticks; 0: at none. For tests and tools: of an isolated bucket without
 * funding to settle it is its liquidation price.
 */
export function guardOf(state: State, row: number): number {
  const guard = guardRow(state, positionAt(state, row))
  const at = get(state, guard, GUARD.AT)
  if (at === 0 || at === GUARD_TAKEN) return 0
  const drift = driftRow(state, get(state, row, POSITION.PAIR))
  const key = get(state, guard, GUARD.KEY)
  return at > 0 ? get(state, drift, GUARD_DRIFT.LONGS) - key : key - get(state, drift, GUARD_DRIFT.SHORTS)
}
