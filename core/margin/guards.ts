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
 * funding, since it is counted, moved those of who paid. A key has the drift of when it was made, so one addition moves all:
 *
 *   longs    key = drift - guard, due when key <= drift of now - mark
 *   shorts   key = drift + guard, due when key <= drift of now + mark
 *
 * Who gets funding keeps his guard. Whose bucket fails at no price has a guard next to the grid, where no mark is: funding may bring it
 * into the grid. So a guard may be reached early, never late; then the bucket is looked at, and armed again exactly.
 * A drift never has to be taken back: it grows by 2^30 at most with a rate, because that reaches every guard, and keys are whole numbers
 * below 2^53, so eight million rates of that size go into it.
 *
 * **When.** {@link armBucket} after every change of lots, collateral, realised profit or leverage tier of a bucket that is not about to
 * change again in the same command. Buckets that are in liquidation have no guards: their list names them.
 *
 * **Derived.** Guards only decide which buckets the sequencer looks at; what happens then is decided by the figures. They are in no
 * snapshot and no digest. After a load they are built from the rows, in parts: {@link ALONG_MAX} buckets with each bucket that is armed
 * meanwhile, and as many as the sequencer has time for with each of its turns ({@link buildGuards}). No command walks all of them. A bucket
 * is named by its guards from when it was armed; one that failed while nobody ran is found when the walk comes to it, and the walk is over
 * after as many turns as there are rows by what one turn looks at.
 *
 * **Widest products.** V and W below 2^62; divided by 10^6 -+ p before they are multiplied by 10^6. A quotient beyond 2^40 means no price.
 */
import { R } from '../state/balances.ts'
import { SCALAR, TERMS } from '../state/columns.ts'
import {
  BucketState, GUARD, GUARD_DRIFT, GUARD_TAKEN, GuardPhase, PERP, PERP_TERMS, POSITION, RISK_BUCKET, TIER,
} from '../state/margin_rows.ts'
import {
  addF64, bucketRow, get, getF64, getI64, guardDriftRow, guardRow, pairCount, perpRow, perpTermsRow, positionAt, positionRow,
  scalar, set, setI64, termsRow, tierRow, wordOfRegister,
} from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { bucketHealth, markOf, unrealizedOf } from './figures.ts'
import { disarm, driftRow, firstGuard, guardKey, perpNumber, setGuard, takeFromHeap } from './guard_heap.ts'
import { isFresh } from './mark_price.ts'
import { maintenanceMargin } from './tiers.ts'

export { disarm }

const MILLION = 1_000_000n
/** Notional that no position reaches. */
const NO_NOTIONAL = 2_305_843_009_213_693_952n
const QUOTIENT_MOST = 1_099_511_627_776n
/** No price has so many ticks. */
const TICKS_MOST = 2_147_483_647n
/** A drift of so many ticks reaches every guard. */
const DRIFT_MOST = 1_073_741_824n
/** Buckets that are armed along with another one while guards are being built. */
export const ALONG_MAX = 4

const phaseOf = (state: State): number => get(state, guardDriftRow(state, 0), GUARD_DRIFT.PHASE)

/**
 * Arms buckets that were not armed since the columns were loaded, from where the last call stopped, and looks at `most` rows of buckets
 * and positions on the way: at one bucket more at most. True: all guards are there. Nothing but derived columns changes.
 */
export function buildGuards(state: State, most: number): boolean {
  const building = guardDriftRow(state, 0)
  if (phaseOf(state) === GuardPhase.NONE) beginBuilding(state)
  if (phaseOf(state) === GuardPhase.BUILT) return true
  const used = scalar(state, SCALAR.BUCKETS_USED)
  let bucket = get(state, building, GUARD_DRIFT.CURSOR)
  for (let looks = 0; bucket < used && looks < most; bucket++) {
    const row = bucketRow(state, bucket)
    looks += 1 + get(state, row, RISK_BUCKET.POSITIONS)
    if (get(state, row, RISK_BUCKET.STATE) === BucketState.ACTIVE) arm(state, row)
  }
  set(state, building, GUARD_DRIFT.CURSOR, bucket)
  if (bucket < used) return false
  set(state, building, GUARD_DRIFT.PHASE, GuardPhase.BUILT)
  return true
}

/** All columns of guards are zero: the heaps are empty, and the drift begins now. */
function beginBuilding(state: State): void {
  set(state, guardDriftRow(state, 0), GUARD_DRIFT.PHASE, GuardPhase.BUILDING)
  for (let pair = 0; pair < pairCount(state); pair++) {
    if (perpNumber(state, pair) === 0) continue
    setI64(state, driftRow(state, pair), GUARD_DRIFT.SEEN, getI64(state, perpRow(state, pair), PERP.CUMULATIVE))
  }
}

/** Counts the funding of `pair` since it was counted last. Scratch: M0, M1. */
function countDrift(state: State, pair: number): void {
  const { registers } = state
  const row = driftRow(state, pair)
  registers[R.M0] = getI64(state, perpRow(state, pair), PERP.CUMULATIVE) - getI64(state, row, GUARD_DRIFT.SEEN)
  if (registers[R.M0] === 0n) return
  setI64(state, row, GUARD_DRIFT.SEEN, getI64(state, perpRow(state, pair), PERP.CUMULATIVE))
  const longs = registers[R.M0]! > 0n
  // Of a long a tick changes equity - MM by at least t × (1 - ratio of the last tier) a lot, of a short by at least t. Two atoms more and
  // two ticks are for roundings: of funding, of both margins, and of this division.
  const last = tierRow(state, pair, get(state, perpTermsRow(state, pair), PERP_TERMS.TIERS) - 1)
  const ppm = longs ? 1_000_000 - get(state, last, TIER.MAINTENANCE_PPM) : 1_000_000
  registers[R.M1] = getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS) * BigInt(ppm | 0)
  registers[R.M0] = (longs ? registers[R.M0]! : -registers[R.M0]!) + 2_000_000n
  registers[R.M0] = registers[R.M0]! / registers[R.M1]! + 2n
  if (registers[R.M0]! > DRIFT_MOST) registers[R.M0] = DRIFT_MOST
  addF64(state, row, longs ? GUARD_DRIFT.LONGS : GUARD_DRIFT.SHORTS, Number(registers[R.M0]!))
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
 * on. Of a long the highest such tick, of a short the lowest; at none: what is next to the grid, 0 or `priceTicks`. Scratch: NOTIONAL,
 * UNREALIZED, MAINTENANCE, M0 to M5.
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
  if (registers[R.M2]! >= TICKS_MOST || wordOfRegister(state, R.M2) >= state.priceTicks) return state.priceTicks
  return registers[R.M2]! < 1n ? 1 : wordOfRegister(state, R.M2)
}

/** Gives the positions of a bucket their guards, or none when it is not active. Walks its positions, at most one a perpetual. */
export function armBucket(state: State, bucket: number): void {
  if (phaseOf(state) !== GuardPhase.BUILT) buildAlong(state)
  arm(state, bucket)
}

/** Goes on with the building by a few buckets. */
function buildAlong(state: State): void {
  for (let along = 0; along < ALONG_MAX && !buildGuards(state, 1); along++);
}

function arm(state: State, bucket: number): void {
  countDrifts(state, bucket)
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

/** Counts the drifts of all pairs of the bucket. */
function countDrifts(state: State, bucket: number): void {
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const row = positionRow(state, next - 1)
    next = get(state, row, POSITION.NEXT)
    countDrift(state, get(state, row, POSITION.PAIR))
  }
}

function armPosition(state: State, row: number): void {
  if (markOf(state, get(state, row, POSITION.PAIR)) === 0) disarm(state, row)
  else setGuard(state, row, get(state, row, POSITION.LOTS) < 0, guardTick(state, row))
}

/** Number of a position of `pair` whose guard is reached at the mark of now, or -1. A stale price reaches none. */
function reached(state: State, pair: number): number {
  if (phaseOf(state) === GuardPhase.NONE || perpNumber(state, pair) === 0 || !isFresh(state, pair)) return -1
  countDrift(state, pair)
  const mark = markOf(state, pair)
  const drift = driftRow(state, pair)
  const long = firstGuard(state, pair, false)
  if (long >= 0 && guardKey(state, long) <= getF64(state, drift, GUARD_DRIFT.LONGS) - mark) return long
  const short = firstGuard(state, pair, true)
  return short >= 0 && guardKey(state, short) <= getF64(state, drift, GUARD_DRIFT.SHORTS) + mark ? short : -1
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
  const key = getF64(state, guard, GUARD.KEY)
  const tick = at > 0 ? getF64(state, drift, GUARD_DRIFT.LONGS) - key : key - getF64(state, drift, GUARD_DRIFT.SHORTS)
  return tick < state.priceTicks ? tick : 0
}
