/**
 * Figures of positions and buckets: what they are worth and what they need, at the mark of now. Nothing is changed.
 *
 *   s lots, m mark in ticks, t quote atoms of a lot at one tick, c cost, F funding not settled yet (positions.ts)
 *   U = s × m × t - c                                            unrealised profit
 *   E = ALLOCATED + REALIZED + sum of (U + F)                    equity of a bucket
 *   REQ of a position with B lots of bids and S of asks at rest (reduce-only ones left out), worth b and a at their limits:
 *     long side     IM(max(0, s + B)) + max(0, b - B × m × t)    initial margin of what it may become, and what is lost at once
 *     short side    IM(max(0, S - s)) + max(0, S × m × t - a)
 *     REQ = the larger one, at the leverage of the row. Each side is at least |s| where the position stands, so REQ never is less than
 *     the initial margin of the position itself.
 *
 * **Widest products.** With M, the largest position at the highest price, below 2^60, admission lets orders of one side have 2 × M at
 * most, next to a position of M on the other side. So N and |U| are below M and REQ is below 3 × M, also together with what the position
 * lost. The sum of M over all perpetuals is below 2^61 (state/perp_terms.ts): SUM_NOTIONAL, SUM_MAINTENANCE, SUM_UNREALIZED and SUM_LOSS
 * without funding are below 2^61, SUM_INITIAL below 2^61 × 3. E is that and collateral, which is below 2^62 (MAX_ISSUED). Funding left to
 * pay is s × (CUMULATIVE - FUNDED_TO), split at 10^6, and bounded by money too: who owes more than the bucket has is liquidated, and one
 * gets what others pay. {@link fundingOf} holds it to 2^62.
 *
 * M holds whatever is filled first: position and resting orders of a side never come to more (orders/margin_admission.ts).
 */
import { broken } from '../lib/assert.ts'
import { R } from '../state/balances.ts'
import { PERP, POSITION, RISK_BUCKET } from '../state/margin_rows.ts'
import { get, getF64, getI64, load, perpRow, positionAt, positionRow } from '../state/rows.ts'
import type { State } from '../state/state.ts'
import { initialMargin, maintenanceMargin, notionalOf } from './tiers.ts'

const MILLION = 1_000_000n
/** Mark of a pair, ticks; 0: there was no price yet. */
export const markOf = (state: State, pair: number): number => get(state, perpRow(state, pair), PERP.MARK)

/** Funding left to pay never comes near it. */
const FUNDING_MOST = 4_611_686_018_427_387_904n

/** Register FUNDING = what the position gets (below 0: pays) when its funding is settled now. Scratch: M0, M1. */
export function fundingOf(state: State, row: number): void {
  const { registers } = state
  const perp = perpRow(state, get(state, row, POSITION.PAIR))
  const lots = get(state, row, POSITION.LOTS)
  registers[R.FUNDING] = 0n
  if (lots === 0) return
  registers[R.M0] = getI64(state, row, POSITION.FUNDED_TO) - getI64(state, perp, PERP.CUMULATIVE)
  if (registers[R.M0] === 0n) return
  registers[R.M1] = registers[R.M0]! / MILLION
  registers[R.FUNDING] = FUNDING_MOST / BigInt((lots < 0 ? -lots : lots) | 0)
  if (registers[R.M1]! >= registers[R.FUNDING]! || -registers[R.M1]! >= registers[R.FUNDING]!) tooMuchFunding(state, row)
  // Rounded down: the part below 10^6 may be negative, and division truncates.
  registers[R.M0] = (registers[R.M0]! % MILLION) * BigInt(lots | 0)
  if (registers[R.M0]! < 0n) registers[R.M0] = registers[R.M0]! - 999_999n
  registers[R.FUNDING] = registers[R.M1]! * BigInt(lots | 0) + registers[R.M0]! / MILLION
}

function tooMuchFunding(state: State, row: number): never {
  broken('I4', `position ${positionAt(state, row)} has more funding to settle than there is money`)
}

/** Registers NOTIONAL and UNREALIZED of the position at its mark. */
export function unrealizedOf(state: State, position: number): void {
  const { registers } = state
  const pair = get(state, position, POSITION.PAIR)
  const lots = get(state, position, POSITION.LOTS)
  notionalOf(state, pair, lots, markOf(state, pair))
  // Two stores: a choice between two BigInts would be allocated.
  if (lots < 0) registers[R.UNREALIZED] = 0n - registers[R.NOTIONAL]! - getI64(state, position, POSITION.COST)
  else registers[R.UNREALIZED] = registers[R.NOTIONAL]! - getI64(state, position, POSITION.COST)
}

/** Register INITIAL = REQ of the position with its resting orders, at its leverage. Scratch: NOTIONAL, M0, M1, M2. */
export function requirementOf(state: State, position: number): void {
  const { registers } = state
  const lots = get(state, position, POSITION.LOTS)
  const leverage = get(state, position, POSITION.LEVERAGE)
  const pair = get(state, position, POSITION.PAIR)
  const mark = markOf(state, pair)
  const bids = getF64(state, position, POSITION.BID_LOTS)
  const asks = getF64(state, position, POSITION.ASK_LOTS)
  // What bids lose at once when all of them fill, and what asks lose.
  notionalOf(state, pair, bids, mark)
  registers[R.M1] = getI64(state, position, POSITION.BID_VALUE) - registers[R.NOTIONAL]!
  if (registers[R.M1]! < 0n) registers[R.M1] = 0n
  notionalOf(state, pair, asks, mark)
  registers[R.M2] = registers[R.NOTIONAL]! - getI64(state, position, POSITION.ASK_VALUE)
  if (registers[R.M2]! < 0n) registers[R.M2] = 0n
  notionalOf(state, pair, lots + bids > 0 ? lots + bids : 0, mark)
  initialMargin(state, pair, leverage)
  registers[R.M1] = registers[R.M1]! + registers[R.INITIAL]!
  notionalOf(state, pair, asks - lots > 0 ? asks - lots : 0, mark)
  initialMargin(state, pair, leverage)
  registers[R.INITIAL] = registers[R.INITIAL]! + registers[R.M2]!
  if (registers[R.M1]! > registers[R.INITIAL]!) registers[R.INITIAL] = registers[R.M1]!
}

/**
 * Registers EQUITY, SUM_INITIAL (REQ), SUM_MAINTENANCE, SUM_UNREALIZED, SUM_NOTIONAL and SUM_LOSS (of positions whose U + F is below 0,
 * as an amount of 0 or more) of the bucket. Walks its positions, at most one a perpetual. Scratch: NOTIONAL, INITIAL, MAINTENANCE,
 * UNREALIZED, FUNDING, M0, M1, M2.
 */
export function bucketFigures(state: State, bucket: number): void {
  const { registers } = state
  load(state, bucket, RISK_BUCKET.ALLOCATED, R.EQUITY)
  load(state, bucket, RISK_BUCKET.REALIZED, R.M0)
  registers[R.EQUITY] = registers[R.EQUITY]! + registers[R.M0]!
  registers[R.SUM_INITIAL] = 0n
  registers[R.SUM_MAINTENANCE] = 0n
  registers[R.SUM_UNREALIZED] = 0n
  registers[R.SUM_NOTIONAL] = 0n
  registers[R.SUM_LOSS] = 0n
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    next = get(state, position, POSITION.NEXT)
    requirementOf(state, position)
    registers[R.SUM_INITIAL] = registers[R.SUM_INITIAL]! + registers[R.INITIAL]!
    if (get(state, position, POSITION.LOTS) !== 0) addPosition(state, position)
  }
}

function addPosition(state: State, position: number): void {
  const { registers } = state
  unrealizedOf(state, position)
  maintenanceMargin(state, get(state, position, POSITION.PAIR))
  registers[R.SUM_NOTIONAL] = registers[R.SUM_NOTIONAL]! + registers[R.NOTIONAL]!
  registers[R.SUM_MAINTENANCE] = registers[R.SUM_MAINTENANCE]! + registers[R.MAINTENANCE]!
  registers[R.SUM_UNREALIZED] = registers[R.SUM_UNREALIZED]! + registers[R.UNREALIZED]!
  fundingOf(state, position)
  registers[R.UNREALIZED] = registers[R.UNREALIZED]! + registers[R.FUNDING]!
  registers[R.EQUITY] = registers[R.EQUITY]! + registers[R.UNREALIZED]!
  if (registers[R.UNREALIZED]! < 0n) registers[R.SUM_LOSS] = registers[R.SUM_LOSS]! - registers[R.UNREALIZED]!
}

/** Registers EQUITY and SUM_MAINTENANCE of the bucket, as {@link bucketFigures}; the number of its positions that are open. */
export function bucketHealth(state: State, bucket: number): number {
  const { registers } = state
  load(state, bucket, RISK_BUCKET.ALLOCATED, R.EQUITY)
  load(state, bucket, RISK_BUCKET.REALIZED, R.M0)
  registers[R.EQUITY] = registers[R.EQUITY]! + registers[R.M0]!
  registers[R.SUM_MAINTENANCE] = 0n
  let open = 0
  let next = get(state, bucket, RISK_BUCKET.FIRST_POSITION)
  while (next !== 0) {
    const position = positionRow(state, next - 1)
    next = get(state, position, POSITION.NEXT)
    if (get(state, position, POSITION.LOTS) === 0) continue
    open++
    unrealizedOf(state, position)
    registers[R.EQUITY] = registers[R.EQUITY]! + registers[R.UNREALIZED]!
    fundingOf(state, position)
    registers[R.EQUITY] = registers[R.EQUITY]! + registers[R.FUNDING]!
    maintenanceMargin(state, get(state, position, POSITION.PAIR))
    registers[R.SUM_MAINTENANCE] = registers[R.SUM_MAINTENANCE]! + registers[R.MAINTENANCE]!
  }
  return open
}
