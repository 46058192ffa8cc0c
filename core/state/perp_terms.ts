/**
 * Terms of a perpetual, as the genesis says them: its ladder of risk tiers, funding and the bounds of its prices.
 *
 * **Ladder** (specification, Perpetual market config). A position of notional N = |lots| × mark is in the last tier whose lower bound is at
 * or below N, and needs N × ratio - deduction there. Deductions make the requirement continuous: at the bound of a tier both tiers ask for
 * the same. Ratios are ppm, and a bound is such that the deduction is a whole number of atoms, so that "the same" is exact.
 *
 * **Widest products.** Notional of one position, at the highest price: below 2^60 atoms ({@link NOTIONAL_MOST}). A ratio is at most
 * 10^6 ppm, and a notional is split at 10^6 before it is multiplied (margin/tiers.ts), so no product passes 2^61. Value of one lot at
 * the highest price: at most 2^36 atoms ({@link LOT_VALUE_MOST}), so that one interval at the highest rate (4 %) moves the cumulative
 * funding of a lot, in 10^-6 atoms, by less than 2^52, and a position may go 2,000 such intervals without being touched.
 * A cross bucket may have a position of each perpetual, so the largest positions of all of them together are below 2^61
 * ({@link NOTIONAL_SUM_MOST}, {@link sumFault}); that keeps its sums within 63 bits (margin/figures.ts, with the limit that it names).
 * Perpetuals, maxPositionSize and ticks are those of the genesis: no command changes them, so nothing else has to look at these bounds.
 */
import { parseDecimal } from '../lib/decimal.ts'
import type { PairTerms } from './pair_terms.ts'
import { TIERS_MAX } from './margin_rows.ts'

export const NOTIONAL_MOST = 2n ** 60n
/** Of the largest positions of all perpetuals together, at the highest price. */
export const NOTIONAL_SUM_MOST = 2n ** 61n
export const LOT_VALUE_MOST = 2n ** 36n
/** Highest rate of one funding interval, 10^-8. */
export const RATE_CAP_MOST = 4_000_000
export const LEVERAGE_MOST = 100_000
/** Of a genesis that says none, in the quote asset. */
const IMPACT_NOTIONAL = '5000'
const FUND_ALLOWANCE = '1000'
/** Of a genesis that says none: a quarter of the fund. */
const FUND_SHARE_BPS = '2500'
/** A fifth of the other side. */
const DELEVERAGE_HOLDER_BPS = '2000'

export interface RiskTier {
  /** Atoms. */
  lowerBound: bigint
  initialPpm: number
  maintenancePpm: number
  /** Hundredths. */
  maxLeverage: number
  /** The document said it. Absent only of a single tier that was given by its ratios. */
  leverageGiven: boolean
  /** Atoms. */
  initialDeduction: bigint
  maintenanceDeduction: bigint
}

export interface PerpTerms {
  tiers: RiskTier[]
  /** Hundredths. */
  minLeverage: number
  maxPositionLots: number
  /** Lots, 0: none. */
  openCapLots: number
  liquidationFeePpm: number
  fundingIntervalSeconds: number
  /** 10^-8. */
  rateCap: number
  markBandPpm: number
  indexBandPpm: number
  staleMs: number
  basisMs: number
  /** Ticks: where the embedded price begins. */
  reference: number
  /**
   * Atoms that each side of a book must bear to be heard: the perpetual's in mark and funding (margin/impact_price.ts), that of the spot
   * pair in the embedded price (gateway/operator/feed/embedded.ts).
   */
  impactAtoms: bigint
  /** What the insurance fund covers in a day: of the fund, ppm; for one owner, atoms (core/margin/fund_limits.ts). */
  fundSharePpm: number
  fundAllowance: number
  /** Who is deleveraged before the fund takes a position over (core/liquidation/first_asked.ts). */
  deleverageMinutes: number
  deleveragePpm: number
  /** In which a move beyond the least maintenance margin has to be confirmed (core/margin/index_jump.ts). */
  jumpWindowMs: number
}

/** What is wrong, in words that name the field. */
export class PerpFault extends Error {
  override name = 'PerpFault'
}

type Json = Record<string, unknown>

/** What the terms of the pair give. */
export type PerpPair = PairTerms & { tickLotAtoms: bigint; quoteScale: number; priceTicks: number }

function decimal(json: Json, key: string, scale: number, absent?: string): bigint {
  const value = json[key] ?? absent
  const units = typeof value === 'string' ? parseDecimal(value, scale) : null
  if (units === null || units < 0n) throw new PerpFault(`${key} must be a decimal of 0 or more with at most ${scale} digits`)
  return units
}

function whole(json: Json, key: string, low: number, high: number, absent?: number): number {
  const value = json[key] ?? absent
  if (typeof value !== 'number' || !Number.isInteger(value) || value < low || value > high) {
    throw new PerpFault(`${key} must be a whole number from ${low} to ${high}`)
  }
  return value
}

function check(good: boolean, what: string): void {
  if (!good) throw new PerpFault(what)
}

/** A size in lots. */
function lotsOf(json: Json, key: string, { lotScale, lotUnits }: PairTerms, absent?: string): number {
  const units = Number(decimal(json, key, lotScale, absent))
  check(units % lotUnits === 0, `${key} is no multiple of the lot`)
  return units / lotUnits
}

/** Reads and checks the `perp` of a pair. Throws {@link PerpFault}. */
export function perpOf(json: Json, pair: PerpPair): PerpTerms {
  const reference = decimal(json, 'referencePrice', pair.priceScale)
  check(reference % BigInt(pair.tickUnits) === 0n, 'referencePrice is no multiple of the tick')
  const terms: PerpTerms = {
    tiers: tiersOf(json, pair.quoteScale),
    minLeverage: Number(decimal(json, 'minLeverage', 2, '1')),
    maxPositionLots: lotsOf(json, 'maxPositionSize', pair),
    openCapLots: lotsOf(json, 'openInterestCap', pair, '0'),
    liquidationFeePpm: Number(decimal(json, 'liquidationFeeBps', 2)),
    fundingIntervalSeconds: whole(json, 'fundingIntervalSeconds', 60, 7 * 86_400),
    rateCap: Number(decimal(json, 'maxFundingRate', 8)),
    markBandPpm: Number(decimal(json, 'markBandBps', 2, '300')),
    indexBandPpm: Number(decimal(json, 'indexBandBps', 2, '1000')),
    staleMs: 1000 * whole(json, 'staleSeconds', 1, 3600, 30),
    basisMs: 1000 * whole(json, 'basisSeconds', 1, 3600, 150),
    reference: Number(reference / BigInt(pair.tickUnits)),
    impactAtoms: decimal(json, 'impactNotional', pair.quoteScale, IMPACT_NOTIONAL),
    fundSharePpm: Number(decimal(json, 'fundShareBps', 2, FUND_SHARE_BPS)),
    fundAllowance: Number(decimal(json, 'fundOwnerAllowance', pair.quoteScale, FUND_ALLOWANCE)),
    jumpWindowMs: 1000 * whole(json, 'jumpWindowSeconds', 0, 3600, 60),
    deleverageMinutes: whole(json, 'deleverageWindowMinutes', 0, 43_200, 1440),
    deleveragePpm: Number(decimal(json, 'deleverageHolderBps', 2, DELEVERAGE_HOLDER_BPS)),
  }
  checkTerms(terms, pair)
  return terms
}

function checkTerms(terms: PerpTerms, { tickLotAtoms, priceTicks }: PerpPair): void {
  const highest = BigInt(priceTicks) * tickLotAtoms
  check(highest <= LOT_VALUE_MOST, `one lot at the highest price is worth ${highest} atoms; at most ${LOT_VALUE_MOST}`)
  check(terms.maxPositionLots >= 1 && terms.maxPositionLots < 2 ** 31, 'maxPositionSize must be 1..2^31-1 lots')
  check(BigInt(terms.maxPositionLots) * highest < NOTIONAL_MOST, 'maxPositionSize at the highest price is beyond 2^60 atoms')
  check(terms.rateCap <= RATE_CAP_MOST, 'maxFundingRate is beyond 0.04')
  check(terms.reference >= 1 && terms.reference < priceTicks, 'referencePrice is beyond the highest price')
  check(terms.liquidationFeePpm <= 100_000, 'liquidationFeeBps is beyond 1000')
  check(terms.markBandPpm >= 1 && terms.markBandPpm <= 500_000, 'markBandBps must be above 0 and at most 5000')
  check(terms.indexBandPpm >= 1 && terms.indexBandPpm <= 1_000_000, 'indexBandBps must be above 0 and at most 10000')
  check(terms.fundSharePpm <= 1_000_000, 'fundShareBps is beyond 10000')
  check(terms.deleveragePpm <= 1_000_000, 'deleverageHolderBps is beyond 10000')
  check(Number.isSafeInteger(terms.fundAllowance), 'fundOwnerAllowance is beyond 2^53 atoms')
  check(terms.minLeverage >= 100 && terms.minLeverage <= terms.tiers[0]!.maxLeverage, 'minLeverage must be 1 to the most of tier 1')
}

/** What is wrong with all perpetuals together: '' when a bucket with the largest position of each has sums that fit. */
export function sumFault(perpetuals: readonly { perp: PerpTerms | null; tickLotAtoms: bigint }[], priceTicks: number): string {
  let sum = 0n
  for (const { perp, tickLotAtoms } of perpetuals) sum += BigInt(perp?.maxPositionLots ?? 0) * BigInt(priceTicks) * tickLotAtoms
  return sum < NOTIONAL_SUM_MOST ? ''
    : `the largest positions of all perpetuals are worth ${sum} atoms at the highest price, and must be below 2^61: ` +
      'lower their maxPositionSize, or limits.priceTicks'
}

const PPM = 1_000_000n

/** The ladder, ascending, with the deductions that make it continuous. */
function tiersOf(json: Json, quoteScale: number): RiskTier[] {
  const listed = json['riskTiers']
  check(Array.isArray(listed) && listed.length >= 1 && listed.length <= TIERS_MAX, `riskTiers must be a list of 1 to ${TIERS_MAX}`)
  const tiers: RiskTier[] = []
  for (const tier of listed as Json[]) tiers.push(tierOf(tier, tiers.at(-1), quoteScale))
  return tiers
}

function tierOf(json: Json, before: RiskTier | undefined, quoteScale: number): RiskTier {
  const lowerBound = decimal(json, 'lowerBoundNotional', quoteScale, before === undefined ? '0' : undefined)
  const maintenancePpm = Number(decimal(json, 'maintenanceMarginRatio', 6))
  const leverageGiven = json['maxLeverage'] !== undefined
  check(leverageGiven || json['initialMarginRatio'] !== undefined, 'a tier needs maxLeverage or initialMarginRatio')
  const leverage = leverageGiven ? Number(decimal(json, 'maxLeverage', 2)) : 0
  // A ratio that the leverage gives is rounded up: never less margin than the leverage says.
  const initialPpm = json['initialMarginRatio'] === undefined
    ? Math.ceil(100_000_000 / Math.max(1, leverage)) : Number(decimal(json, 'initialMarginRatio', 6))
  const maxLeverage = leverageGiven ? leverage : Math.floor(100_000_000 / Math.max(1, initialPpm))
  check(maxLeverage >= 100 && maxLeverage <= LEVERAGE_MOST, 'maxLeverage must be 1 to 1000')
  check(initialPpm <= 1_000_000 && maintenancePpm > 0 && maintenancePpm < initialPpm,
    'ratios must be 0 < maintenanceMarginRatio < initialMarginRatio <= 1')
  if (before === undefined) {
    check(lowerBound === 0n, 'the first tier must begin at 0')
    return { lowerBound, initialPpm, maintenancePpm, maxLeverage, leverageGiven, initialDeduction: 0n, maintenanceDeduction: 0n }
  }
  check(lowerBound > before.lowerBound && lowerBound < NOTIONAL_MOST, 'lowerBoundNotional must ascend, below 2^60 atoms')
  check(initialPpm > before.initialPpm && maintenancePpm > before.maintenancePpm && maxLeverage < before.maxLeverage,
    'each tier must ask for more than the one below')
  const deduction = (now: number, then: number, sum: bigint): bigint => {
    const step = lowerBound * BigInt(now - then)
    check(step % PPM === 0n, 'lowerBoundNotional × the step of a ratio must be a whole number of atoms: the ladder must be continuous')
    return sum + step / PPM
  }
  return {
    lowerBound, initialPpm, maintenancePpm, maxLeverage, leverageGiven,
    initialDeduction: deduction(initialPpm, before.initialPpm, before.initialDeduction),
    maintenanceDeduction: deduction(maintenancePpm, before.maintenancePpm, before.maintenanceDeduction),
  }
}
