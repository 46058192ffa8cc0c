/**
 * Figures of margin trading for readers, in BigInt and without bounds: what core/margin computes in registers, written down as the formulas
 * say (specification, Perpetual market config; core/margin/README.md). test/property/margin_figures.test.ts holds both equal.
 *
 * All amounts are atoms of the collateral asset, prices ticks, leverage hundredths. Notional N = |lots| × mark × tickLotAtoms.
 * Requirements are rounded up, funding that was not settled down. Of a bucket:
 *
 *   equity       ALLOCATED + REALIZED + sum(unrealised + funding not settled)
 *   requirement  sum over its positions, those that only have orders included, of the side that needs more: initial margin of the exposure
 *                that its orders would lead to, and what they would lose at once against the mark
 *   there        equity + PENDING - requirement: what there is for more orders
 */
import { PerpMode } from '../layout/margin.ts'
import type { RiskTier } from '../state/perp_terms.ts'
import type { BucketView, MarginAccountView, PositionView } from './margin.ts'

const PPM = 1_000_000n
const HUNDRED = 100n
/** 10^-6 atoms of cumulative funding. */
const FUNDING_UNIT = 1_000_000n

/** What figures need of a perpetual. */
export interface Ladder {
  readonly tiers: readonly RiskTier[]
  /** Quote atoms of a lot at one tick. */
  readonly tickLotAtoms: bigint
}
export type LadderOf = (pair: number) => Ladder

/** What figures need of a position; of PositionView. */
export type Exposed = Pick<
  PositionView,
  'pair' | 'lots' | 'leverage' | 'cost' | 'bidLots' | 'askLots' | 'bidValue' | 'askValue' | 'mark' | 'cumulative' | 'fundedTo'
>
/** What figures need of a bucket. */
export type Backed = Pick<BucketView, 'allocated' | 'pending' | 'realized'> & { readonly positions: readonly Exposed[] }

const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
const floorDiv = (a: bigint, b: bigint): bigint => (a < 0n ? -ceilDiv(-a, b) : a / b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)

export const notionalOf = ({ tickLotAtoms }: Ladder, lots: number, mark: number): bigint =>
  BigInt(Math.abs(lots)) * BigInt(mark) * tickLotAtoms

/** Place in the ladder, from 0: the last tier whose lower bound is at or below the notional. */
export function tierOf({ tiers }: Ladder, notional: bigint): number {
  let tier = 0
  while (tier + 1 < tiers.length && tiers[tier + 1]!.lowerBound <= notional) tier++
  return tier
}

/** Least initial margin of a notional, whatever the leverage. */
export function initialFloor(ladder: Ladder, notional: bigint): bigint {
  const { initialPpm, initialDeduction } = ladder.tiers[tierOf(ladder, notional)]!
  return ceilDiv(notional * BigInt(initialPpm), PPM) - initialDeduction
}

export function maintenanceOf(ladder: Ladder, notional: bigint): bigint {
  const { maintenancePpm, maintenanceDeduction } = ladder.tiers[tierOf(ladder, notional)]!
  return ceilDiv(notional * BigInt(maintenancePpm), PPM) - maintenanceDeduction
}

/** `leverage` 0: none was chosen, as of reduce-only orders; only the floor counts. */
export const initialOf = (ladder: Ladder, notional: bigint, leverage: number): bigint =>
  leverage === 0 ? initialFloor(ladder, notional)
    : most(initialFloor(ladder, notional), ceilDiv(notional * HUNDRED, BigInt(leverage)))

export const unrealizedOf = ({ tickLotAtoms }: Ladder, { lots, cost }: Exposed, mark: number): bigint =>
  BigInt(lots) * BigInt(mark) * tickLotAtoms - cost

/** Funding that the position would get if it were settled now; below 0: it would pay. */
export const fundingOf = ({ lots, cumulative, fundedTo }: Exposed): bigint =>
  floorDiv(-BigInt(lots) * BigInt.asIntN(64, cumulative - fundedTo), FUNDING_UNIT)

/** Initial margin of what the position and its resting orders may become, and what these would lose at once, by the worse side. */
export function requirementOf(ladder: Ladder, position: Exposed, mark: number): bigint {
  const { lots, leverage, bidLots, askLots, bidValue, askValue } = position
  const side = (exposure: number, loss: bigint): bigint =>
    initialOf(ladder, notionalOf(ladder, Math.max(0, exposure), mark), leverage) + most(0n, loss)
  const valueOf = (resting: number): bigint => notionalOf(ladder, resting, mark)
  return most(side(lots + bidLots, bidValue - valueOf(bidLots)), side(askLots - lots, valueOf(askLots) - askValue))
}

export interface PositionFigures {
  readonly notional: bigint
  /** From 1. */
  readonly tierLevel: number
  readonly unrealized: bigint
  readonly funding: bigint
  /** Of the open lots at the chosen leverage; orders are not in it. */
  readonly initial: bigint
  readonly maintenance: bigint
}

export function positionFigures(ladder: Ladder, position: Exposed): PositionFigures {
  const notional = notionalOf(ladder, position.lots, position.mark)
  return {
    notional, tierLevel: tierOf(ladder, notional) + 1, unrealized: unrealizedOf(ladder, position, position.mark),
    funding: fundingOf(position), initial: initialOf(ladder, notional, position.leverage), maintenance: maintenanceOf(ladder, notional),
  }
}

export interface BucketFigures {
  readonly equity: bigint
  readonly requirement: bigint
  readonly maintenance: bigint
  readonly notional: bigint
  readonly unrealized: bigint
  readonly funding: bigint
  /** Sum over its positions of what each lost and did not realise yet, 0 or more. */
  readonly loss: bigint
  readonly there: bigint
}

export function bucketFigures(ladderOf: LadderOf, { allocated, pending, realized, positions }: Backed): BucketFigures {
  let [requirement, maintenance, notional, unrealized, funding, loss] = [0n, 0n, 0n, 0n, 0n, 0n]
  for (const position of positions) {
    const ladder = ladderOf(position.pair)
    const figures = positionFigures(ladder, position)
    requirement += requirementOf(ladder, position, position.mark)
    maintenance += figures.maintenance
    notional += figures.notional
    unrealized += figures.unrealized
    funding += figures.funding
    loss += most(0n, -(figures.unrealized + figures.funding))
  }
  const equity = allocated + realized + unrealized + funding
  return { equity, requirement, maintenance, notional, unrealized, funding, loss, there: equity + pending - requirement }
}

/** Collateral of a margin account that no bucket has. */
export const freeOf = ({ deposited, earmarked }: Pick<MarginAccountView, 'deposited' | 'earmarked'>): bigint => deposited - earmarked

/**
 * Largest amount that FROM_BUCKET takes (programs/collateral.ts): all that is allocated of a flat bucket that can settle its loss,
 * otherwise what neither losses, realised or not, nor requirements need. Gains never count.
 */
export function withdrawableOf(
  bucket: Backed & Pick<BucketView, 'orders'>, { requirement, loss }: Pick<BucketFigures, 'requirement' | 'loss'>,
): bigint {
  const { allocated, realized, pending, positions, orders } = bucket
  if (positions.length === 0 && orders === 0 && allocated + realized >= 0n) return allocated
  return most(0n, allocated - most(0n, -realized) - loss - most(0n, requirement - pending))
}

/**
 * Whether a position or order of the bucket is of a pair whose price is stale at `now`, Unix ms (margin/mark_price.ts): then nothing is
 * taken out of it. `staleMs`: age at which the index price of a pair is.
 */
export const hasStalePrice = (
  positions: readonly Pick<PositionView, 'pair' | 'mode' | 'indexAt'>[], staleMs: (pair: number) => number, now: number,
): boolean => positions.some(({ pair, mode, indexAt }) =>
  mode < PerpMode.SETTLING && (indexAt === 0 || now - indexAt > staleMs(pair)))

/** What `bucket` has more than it must, with `position` at `mark` and the others where they are. */
function surplus(ladderOf: LadderOf, bucket: Backed, position: Exposed, mark: number, required: boolean): bigint {
  let sum = bucket.allocated + bucket.realized
  for (const each of bucket.positions) {
    const ladder = ladderOf(each.pair)
    const at = each === position ? mark : each.mark
    sum += unrealizedOf(ladder, each, at) + fundingOf(each)
    if (required) sum -= maintenanceOf(ladder, notionalOf(ladder, each.lots, at))
  }
  return sum
}

/**
 * The mark nearest to now at which `holds` is no longer true, for prices that move against the position; `null`: there is none between 1
 * and `priceTicks` - 1. What `holds` says changes once at most, because a requirement grows by less than the notional it is of.
 */
function firstFailing(lots: number, priceTicks: number, holds: (mark: number) => boolean): number | null {
  const long = lots > 0
  // The end where it is worst for the position, and the one where it is best.
  const [worst, best] = long ? [1, priceTicks - 1] : [priceTicks - 1, 1]
  if (holds(worst)) return null
  if (!holds(best)) return best
  let [fails, good] = [worst, best]
  while (Math.abs(good - fails) > 1) {
    const middle = Math.floor((good + fails) / 2)
    if (holds(middle)) good = middle
    else fails = middle
  }
  return fails
}

/**
 * The first mark at which the bucket's equity is below its maintenance margin when only this position's mark moves; `null`: there is none.
 * Of an isolated bucket it is where liquidation begins, of a cross one only while the other marks stay.
 */
export const liquidationPrice = (ladderOf: LadderOf, bucket: Backed, position: Exposed, priceTicks: number): number | null =>
  position.lots === 0 ? null
    : firstFailing(position.lots, priceTicks, (mark) => surplus(ladderOf, bucket, position, mark, true) >= 0n)

/** The last mark at which the bucket's equity is 0 or more; `null`: it stays so, or is below at every mark. */
export function bankruptcyPrice(ladderOf: LadderOf, bucket: Backed, position: Exposed, priceTicks: number): number | null {
  if (position.lots === 0) return null
  const fails = firstFailing(position.lots, priceTicks, (mark) => surplus(ladderOf, bucket, position, mark, false) >= 0n)
  const last = fails === null ? null : fails + Math.sign(position.lots)
  return last === null || last < 1 || last >= priceTicks ? null : last
}

/** Whether the bucket's equity covers its maintenance margin by a quarter more; below that it is called for margin. */
export const isCalled = ({ equity, maintenance }: Pick<BucketFigures, 'equity' | 'maintenance'>): boolean =>
  4n * equity < 5n * maintenance
