/**
 * What the insurance fund covers, in the naive exchange: since the rules 5 no more of a market and for an owner on one day than the terms
 * say. What was covered is kept day by day and never forgotten.
 */
import { exact, notionalOf, perpOf, roundedDown, type Bucket } from './naive_margin.ts'
import { familyOf } from './naive_families.ts'
import { coverOf } from './naive_margin_prices.ts'
import type { Ex } from './naive_terms.ts'

const DAY = 86_400_000

const today = (ex: Ex): number => Math.floor(ex.now / DAY)
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const ownerOf = (ex: Ex, bucket: Bucket): string => `${familyOf(ex, bucket.margin.account)} ${today(ex)}`

/** What is left of the market's share of the fund today; null: it has no bound of its own. */
function marketLeft(ex: Ex, fund: Bucket, pair: number): bigint | null {
  const { share } = coverOf(ex, pair)
  if (share === 1e6) return null
  const most = fund.allocated < 0n ? 0n : roundedDown(exact(fund.allocated).times(share).div(1e6))
  return BigInt(most.toString()) - (perpOf(ex, pair).covered.get(today(ex)) ?? 0n)
}

/** The most that the fund may pay now for the owner of the bucket on `pair`. */
function left(ex: Ex, fund: Bucket, bucket: Bucket, pair: number): bigint {
  const owner = BigInt(coverOf(ex, pair).allowance) - (ex.margins.covered.get(ownerOf(ex, bucket)) ?? 0n)
  const market = marketLeft(ex, fund, pair)
  const most = market === null ? owner : least(market, owner)
  return most > 0n ? most : 0n
}

function count(ex: Ex, bucket: Bucket, pair: number, atoms: bigint): void {
  const { covered } = perpOf(ex, pair)
  covered.set(today(ex), (covered.get(today(ex)) ?? 0n) + atoms)
  const owner = ownerOf(ex, bucket)
  ex.margins.covered.set(owner, (ex.margins.covered.get(owner) ?? 0n) + atoms)
}

/** Whether the fund may take `lots` of a bucket, which gains it so many atoms, and has `after` then. If it does, `taken` counts it. */
export function mayTake(
  ex: Ex, fund: Bucket, bucket: Bucket, { pair, lots, after, gain }: { pair: number; lots: number; after: number; gain: bigint },
): boolean {
  if (ex.inForce < 5) return true
  const market = marketLeft(ex, fund, pair)
  if (gain < 0n && -gain > left(ex, fund, bucket, pair)) return false
  return market === null || Math.abs(after) <= Math.abs(after - lots) || BigInt(notionalOf(ex, pair, after).toString()) <= market
}

export function taken(ex: Ex, bucket: Bucket, pair: number, gain: bigint): void {
  if (ex.inForce >= 5 && gain < 0n) count(ex, bucket, pair, -gain)
}

/** Of a bucket without positions: its own pair, or the first perpetual. */
const marketOf = (ex: Ex, { cross, pair }: Bucket): number => (cross ? ex.margins.perps.findIndex((perp) => perp !== null) : pair)

/** So many atoms of what the fund can pay for the bucket it may pay. */
export const mayPay = (ex: Ex, fund: Bucket, bucket: Bucket, atoms: bigint): bigint =>
  ex.inForce < 5 ? atoms : least(atoms, left(ex, fund, bucket, marketOf(ex, bucket)))

export function paid(ex: Ex, bucket: Bucket, atoms: bigint): void {
  if (ex.inForce >= 5) count(ex, bucket, marketOf(ex, bucket), atoms)
}
