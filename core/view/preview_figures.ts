/**
 * What a risk bucket would be after an order that was previewed (orders/preview.ts): the order is played on a copy of the bucket, in BigInt
 * and by the rules of core/margin (fills.ts, positions.ts, order_collateral.ts). test/property/preview_equals_placing.test.ts places
 * what was previewed and holds both equal.
 *
 * A fill that closes turns cost into realised profit; equity, requirements and prices only know their difference, so here the cost alone
 * changes.
 */
import { Flag } from '../layout/flags.ts'
import {
  bucketFigures, fundingOf, liquidationPrice, positionFigures, type Backed, type BucketFigures, type Exposed, type LadderOf,
} from './margin_figures.ts'

const PPM = 1_000_000n

/** A position of the bucket as it stands. */
export type PreviewedPosition = Exposed & {
  /** Lots of its resting reduce-only orders. */
  readonly reduceLots: number
}

/** What the matcher said, decoded; amounts are atoms. */
export interface Previewed {
  /** Number of a refusal; 0: accepted. */
  readonly code: number
  readonly lots: number
  /** Ticks; 0: the other side is empty. */
  readonly touch: number
  readonly filled: number
  readonly trades: number
  readonly best: number
  readonly worst: number
  readonly meetsOwn: boolean
  readonly tooLong: boolean
  /** Its bucket would not bear the next fill, so what is left of it is cancelled. */
  readonly unborne: boolean
  /** Ticks × lots of what it would fill. */
  readonly tickLots: bigint
  readonly brought: bigint
  /** Of that, what no fill would commit. */
  readonly uncommitted: bigint
  readonly required: bigint
  readonly available: bigint
  /** Row and sequence of the bucket; row -1: the order would make it. */
  readonly bucket: { readonly row: number; readonly sequence: number; readonly strategyKey: string; readonly scope: readonly number[] }
  /** The same of its margin account; -1: the parent, which was not used yet. `parent`: it is one. */
  readonly margin: { readonly row: number; readonly sequence: number; readonly parent: boolean }
  readonly allocated: bigint
  readonly pending: bigint
  readonly realized: bigint
  /** Of the pair. */
  readonly mark: number
  readonly cumulative: bigint
  readonly positions: readonly PreviewedPosition[]
}

/** The order that was previewed. */
export interface PreviewedOrder {
  readonly pair: number
  readonly flags: number
  /** Ticks; of a LIMIT order. */
  readonly price: number
  /** Hundredths; 0: reduce-only. */
  readonly leverage: number
  /** Own rates. */
  readonly makerPpm: number
  readonly takerPpm: number
  /** What the application adds, ppm. */
  readonly adds: { readonly maker: number; readonly taker: number }
}

export interface PreviewFigures extends BucketFigures {
  /** Signed: below 0 it is a rebate. */
  readonly fee: bigint
  /** Lots that would rest. */
  readonly resting: number
  /** Ticks; `null`: there is none. */
  readonly liquidation: number | null
  /** Pairs of its open positions, the previewed one included. */
  readonly pairs: readonly number[]
}

/** Fee of fills whose sum of value × rate is `numerator`: rounded up, a rebate toward zero (ledger/fees.ts). */
const feeOf = (numerator: bigint): bigint => (numerator > 0n ? numerator + PPM - 1n : numerator) / PPM

const NEVER_RESTS = Flag.MARKET | Flag.IOC | Flag.FOK

/** Lots that would rest behind what was filled. A reduce-only order has what the position and its other such orders leave. */
export function restingLots(said: Previewed, flags: number, position: PreviewedPosition): number {
  if ((flags & NEVER_RESTS) !== 0 || said.meetsOwn || said.tooLong || said.unborne) return 0
  const left = said.lots - said.filled
  // Of a refused order the fee alone is told, as if it were taken.
  if ((flags & Flag.REDUCE_ONLY) === 0 || said.code !== 0) return left
  return Math.max(0, Math.min(left, Math.abs(position.lots) - said.filled - position.reduceLots))
}

/** The position that the order is for: of a bucket without one, nothing yet. */
export const positionFor = (said: Previewed, pair: number): PreviewedPosition =>
  said.positions.find((position) => position.pair === pair) ?? {
    pair, lots: 0, leverage: 0, cost: 0n, bidLots: 0, askLots: 0, bidValue: 0n, askValue: 0n, mark: said.mark,
    cumulative: said.cumulative, fundedTo: said.cumulative, reduceLots: 0,
  }

/** What the bucket of a previewed order would be once it has been placed. */
export function afterOrder(ladderOf: LadderOf, priceTicks: number, said: Previewed, order: PreviewedOrder): PreviewFigures {
  const { tickLotAtoms } = ladderOf(order.pair)
  const before = positionFor(said, order.pair)
  const sell = (order.flags & Flag.SELL) !== 0
  const resting = restingLots(said, order.flags, before)
  const taken = said.tickLots * tickLotAtoms
  const restingValue = BigInt(order.price) * BigInt(resting) * tickLotAtoms
  const counts = (order.flags & Flag.REDUCE_ONLY) === 0 ? resting : 0
  const countedValue = counts === 0 ? 0n : restingValue
  const position: Exposed = {
    ...before,
    lots: before.lots + (sell ? -said.filled : said.filled),
    cost: before.cost + (sell ? -taken : taken),
    leverage: order.leverage === 0 ? before.leverage : order.leverage,
    bidLots: before.bidLots + (sell ? 0 : counts), bidValue: before.bidValue + (sell ? 0n : countedValue),
    askLots: before.askLots + (sell ? counts : 0), askValue: before.askValue + (sell ? countedValue : 0n),
  }
  const funding = fundingOf(before)
  const added = (value: bigint, resting: bigint): bigint => (value * BigInt(order.adds.taker) + resting * BigInt(order.adds.maker)) / PPM
  const charged = feeOf(taken * BigInt(order.takerPpm)) + added(taken, 0n)
  const others = said.positions.filter(({ pair }) => pair !== order.pair)
  const bucket: Backed = {
    allocated: said.allocated + said.brought - said.uncommitted, pending: said.pending + said.uncommitted,
    realized: said.realized - charged + funding, positions: [...others, { ...position, fundedTo: position.cumulative }],
  }
  const paid = said.filled > 0 ? covered(ladderOf, bucket) : bucket
  const kept = resting > 0 ? paid : ended(ladderOf, paid, said.uncommitted)
  const after = kept.positions.at(-1)!
  return {
    ...bucketFigures(ladderOf, kept),
    fee: feeOf(taken * BigInt(order.takerPpm) + restingValue * BigInt(order.makerPpm)) + added(taken, restingValue),
    resting,
    liquidation: liquidationPrice(ladderOf, kept, after, priceTicks),
    pairs: [...others.filter(({ lots }) => lots !== 0).map(({ pair }) => pair), order.pair],
  }
}

/** The bucket with what its positions are short of their initial margin committed from what is pending. */
function covered(ladderOf: LadderOf, bucket: Backed): Backed {
  const initial = bucket.positions.reduce((sum, position) => sum + positionFigures(ladderOf(position.pair), position).initial, 0n)
  const short = initial - bucketFigures(ladderOf, bucket).equity
  const moved = short < 0n ? 0n : short > bucket.pending ? bucket.pending : short
  return { ...bucket, allocated: bucket.allocated + moved, pending: bucket.pending - moved }
}

/**
 * The bucket once the order has ended: what it has not committed and its fills did not need goes back, but for what other resting orders
 * count on.
 */
function ended(ladderOf: LadderOf, bucket: Backed, uncommitted: bigint): Backed {
  const left = uncommitted < bucket.pending ? uncommitted : bucket.pending
  if (!bucket.positions.some(({ bidLots, askLots }) => bidLots + askLots > 0)) return { ...bucket, pending: bucket.pending - left }
  const { there } = bucketFigures(ladderOf, bucket)
  return { ...bucket, pending: bucket.pending - (there < 0n ? 0n : there > left ? left : there) }
}
