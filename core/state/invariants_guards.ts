/** Invariant G: guards of positions, as margin/guards.ts says; part of invariants_margin.ts. */
import { broken } from '../lib/assert.ts'
import { SCALAR, TERMS } from './columns.ts'
import {
  BucketState, GUARD, GUARD_DRIFT, GUARD_TAKEN, GuardPhase, MarginMode, PERP, PERP_TERMS, POSITION, RISK_BUCKET,
} from './margin_rows.ts'
import {
  bucketAt, get, getF64, getI64, guardDriftRow, guardRow, pairCount, perpRow, perpTermsRow, positionAt, positionRow, scalar, termsRow,
} from './rows.ts'
import type { State } from './state.ts'

const MILLION = 1_000_000n

export function checkGuards(state: State, buckets: readonly number[], positionsOf: (bucket: number) => number[]): void {
  const phase = get(state, guardDriftRow(state, 0), GUARD_DRIFT.PHASE)
  if (phase === GuardPhase.NONE) return
  checkHeaps(state)
  if (phase !== GuardPhase.BUILT) return
  for (const bucket of buckets) {
    const open = positionsOf(bucket).filter((row) => get(state, row, POSITION.LOTS) !== 0)
    if (get(state, bucket, RISK_BUCKET.STATE) !== BucketState.ACTIVE) {
      if (open.some((row) => placeOf(state, row) !== 0)) broken('G', `bucket ${bucketAt(state, bucket)} has guards and is not active`)
      continue
    }
    // The list of liquidations looks at it by itself.
    if (isListed(state, bucket)) continue
    const counted = open.every((row) => isCounted(state, get(state, row, POSITION.PAIR)))
    if (open.length > 0 && counted) checkSafe(state, bucket, open)
  }
}

const isListed = (state: State, bucket: number): boolean =>
  get(state, bucket, RISK_BUCKET.LIQUIDATED_PREV) !== 0 || scalar(state, SCALAR.LIQUIDATIONS_OLDEST) === bucketAt(state, bucket) + 1

const placeOf = (state: State, row: number): number => get(state, guardRow(state, positionAt(state, row)), GUARD.AT)
const driftOf = (state: State, pair: number): number =>
  guardDriftRow(state, get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER))

/** All funding so far is in the drift. */
const isCounted = (state: State, pair: number): boolean =>
  getI64(state, driftOf(state, pair), GUARD_DRIFT.SEEN) === getI64(state, perpRow(state, pair), PERP.CUMULATIVE)

/** Heaps by key, each of open positions of the side and pair, which know their places. */
function checkHeaps(state: State): void {
  const size = state.genesis.limits.positions + 1
  for (let pair = 0; pair < pairCount(state); pair++) {
    const number = get(state, perpTermsRow(state, pair), PERP_TERMS.NUMBER)
    for (let side = 0; number !== 0 && side < 2; side++) {
      const heap = ((number - 1) * 2 + side) * size
      for (let at = 1; at <= state.guards[heap]!; at++) {
        const position = state.guards[heap + at]!
        const row = positionRow(state, position)
        const lots = get(state, row, POSITION.LOTS)
        const named = `guard ${at} on side ${side} of pair ${pair}`
        const isOf = get(state, row, POSITION.PAIR) === pair && lots !== 0 && (lots < 0) === (side === 1)
        if (!isOf) broken('G', `${named} is of no such position`)
        if (placeOf(state, row) !== (side === 1 ? -at : at)) broken('G', `${named} does not know its place`)
        const parent = state.guards[heap + (at >> 1)]!
        if (at > 1 && keyOf(state, parent) > keyOf(state, position)) broken('G', `${named} stands behind a later one`)
      }
    }
  }
}

const keyOf = (state: State, position: number): number => getF64(state, guardRow(state, position), GUARD.KEY)

/** The tick at which the position is looked at, as far as its guard says; 0: at none. */
function guardOf(state: State, row: number): number {
  const drift = driftOf(state, get(state, row, POSITION.PAIR))
  const at = placeOf(state, row)
  const key = keyOf(state, positionAt(state, row))
  return at === 0 ? 0 : at > 0 ? getF64(state, drift, GUARD_DRIFT.LONGS) - key : key - getF64(state, drift, GUARD_DRIFT.SHORTS)
}

/** A bucket that fails has a guard that is reached. One with a single position does not fail one tick before its guard either. */
function checkSafe(state: State, bucket: number, open: readonly number[]): void {
  if (open.some((row) => placeOf(state, row) === GUARD_TAKEN)) return
  const markOf = (row: number): number => get(state, perpRow(state, get(state, row, POSITION.PAIR)), PERP.MARK)
  const reached = open.some((row) => {
    const guard = guardOf(state, row)
    return guard !== 0 && (get(state, row, POSITION.LOTS) > 0 ? markOf(row) <= guard : markOf(row) >= guard)
  })
  const slack = slackOf(state, bucket, open, markOf)
  if (slack < 0n && !reached) broken('G', `bucket ${bucketAt(state, bucket)} lacks ${-slack} and no guard is reached`)
  const [row] = open
  if (open.length > 1 || get(state, bucket, RISK_BUCKET.MODE) !== MarginMode.ISOLATED) return
  const [guard, last] = [guardOf(state, row!), state.priceTicks - 1]
  const before = get(state, row!, POSITION.LOTS) > 0 ? guard + 1 : guard === 0 ? last : guard - 1
  if (before < 1 || before > last) return
  const lacks = -slackOf(state, bucket, open, () => before)
  if (lacks > 0n) broken('G', `bucket ${bucketAt(state, bucket)} lacks ${lacks} at ${before}, its guard is ${guard}`)
}

/** Equity less maintenance margin at these marks. */
function slackOf(state: State, bucket: number, open: readonly number[], markOf: (row: number) => number): bigint {
  let slack = getI64(state, bucket, RISK_BUCKET.ALLOCATED) + getI64(state, bucket, RISK_BUCKET.REALIZED)
  for (const row of open) {
    const [pair, lots] = [get(state, row, POSITION.PAIR), BigInt(get(state, row, POSITION.LOTS))]
    const value = lots * BigInt(markOf(row)) * getI64(state, termsRow(state, pair), TERMS.TICK_LOT_ATOMS)
    const notional = value < 0n ? -value : value
    const tier = state.genesis.pairs[pair]!.perp!.tiers.findLast(({ lowerBound }) => lowerBound <= notional)!
    const owed = -lots * BigInt.asIntN(64, getI64(state, perpRow(state, pair), PERP.CUMULATIVE) - getI64(state, row, POSITION.FUNDED_TO))
    const funding = (owed - (((owed % MILLION) + MILLION) % MILLION)) / MILLION
    const maintenance = (notional * BigInt(tier.maintenancePpm) + MILLION - 1n) / MILLION - tier.maintenanceDeduction
    slack += value - getI64(state, row, POSITION.COST) + funding - maintenance
  }
  return slack
}
