/**
 * What must hold between the numbers of a trading pair and of an asset, whether the genesis lists them or the operator does later.
 *
 * Everything is whole: a lot is a whole number of base atoms, and tick × lot a whole number of quote atoms, so that no order and no fill
 * is ever rounded (only its fee is). The bounds keep every product of the engine within 63 bits. A fault is a number, the place
 * of its words in TERM_FAULTS.
 */
import { TERM_FAULTS, type TermFault } from '../layout/listing.ts'

export { TERM_FAULTS, type TermFault }

/** Largest value of one order or fill in quote atoms: value × fee rate must fit 63 bits. */
export const MAX_NOTIONAL = 4.5e14
/** Largest fee rate, maker or taker, in ppm of the notional. */
export const MAX_FEE_PPM = 20_000
/** No asset may be issued beyond this, in atoms: half of what 63 bits hold. */
export const MAX_ISSUED = 4_600_000_000_000_000_000n
/** Most digits after the point, of anything. */
export const SCALE_MAX = 18

export interface AssetTerms {
  decimals: number
  scale: number
  faucetAtoms: bigint
}

/** A pair in numbers. Assets are numbers too. */
export interface PairTerms {
  base: number
  quote: number
  /** Price × 10^priceScale = ticks × tickUnits. */
  priceScale: number
  tickUnits: number
  lotScale: number
  lotUnits: number
  minLots: number
  maxLots: number
  minNotionalAtoms: bigint
  makerPpm: number
  takerPpm: number
}

/** The most that any tier takes off. */
export interface MostDiscounts {
  makerPpm: number
  takerPpm: number
}

const fault = (words: (typeof TERM_FAULTS)[number]): TermFault => TERM_FAULTS.indexOf(words)

/** `units` × 10^-have in units of 10^-want; -1n when that is no whole number. */
function rescale(units: bigint, have: number, want: number): bigint {
  if (have <= want) return units * 10n ** BigInt(want - have)
  const divisor = 10n ** BigInt(have - want)
  return units % divisor === 0n ? units / divisor : -1n
}

/** Base atoms of one lot; -1n when a lot is no whole number of them. */
export const lotAtomsOf = ({ lotUnits, lotScale }: PairTerms, baseScale: number): bigint => rescale(BigInt(lotUnits), lotScale, baseScale)

/** Quote atoms of one lot at one tick; -1n when they are no whole number. */
export const tickLotAtomsOf = ({ tickUnits, priceScale, lotUnits, lotScale }: PairTerms, quoteScale: number): bigint =>
  rescale(BigInt(tickUnits) * BigInt(lotUnits), priceScale + lotScale, quoteScale)

const isScale = (value: number): boolean => value >= 0 && value <= SCALE_MAX
const INT_MAX = 2 ** 31 - 1

/** What is wrong with the numbers of a pair, whose assets have these scales; 0: nothing. */
export function pairFault(terms: PairTerms, baseScale: number, quoteScale: number): TermFault {
  const { base, quote, tickUnits, lotUnits, minLots, maxLots, minNotionalAtoms, makerPpm, takerPpm } = terms
  if (base === quote) return fault('base and quote are the same asset')
  if (tickUnits < 1 || lotUnits < 1 || !isScale(terms.priceScale) || !isScale(terms.lotScale)) {
    return fault('tickSize and lotSize must be positive')
  }
  const lotAtoms = lotAtomsOf(terms, baseScale)
  if (lotAtoms < 1n) return fault('a lot is no whole number of base atoms')
  if (minLots < 1 || maxLots > INT_MAX) return fault('order sizes must be 1..2^31-1 lots')
  if (minLots > maxLots) return fault('minOrderSize is above maxOrderSize')
  if (BigInt(maxLots) * lotAtoms > MAX_ISSUED) return fault('maxOrderSize is more than may be issued')
  const tickLotAtoms = tickLotAtomsOf(terms, quoteScale)
  if (tickLotAtoms < 0n) return fault('tick × lot is no whole number of quote atoms')
  if (tickLotAtoms < 1n || tickLotAtoms > BigInt(INT_MAX)) return fault('tick × lot must be 1..2^31-1 quote atoms')
  if (minNotionalAtoms < 0n) return fault('minNotional must not be negative')
  if (Math.abs(makerPpm) > MAX_FEE_PPM || Math.abs(takerPpm) > MAX_FEE_PPM) return fault('a fee is beyond 200 bps')
  if (takerPpm < 0) return fault('taker fee must not be negative')
  if (makerPpm + takerPpm < 0) return fault('the rebate exceeds the taker fee')
  return 0
}

/** Whatever the tiers of two traders: the taker never earns, and the maker's rebate never exceeds the taker's fee. 0: so it is. */
export function feeFault({ makerPpm, takerPpm }: PairTerms, most: MostDiscounts): TermFault {
  if (takerPpm < most.takerPpm) return fault('a taker discount exceeds the taker fee')
  const worst = makerPpm - most.makerPpm + takerPpm - most.takerPpm
  return worst < 0 ? fault('with all discounts the rebate exceeds the taker fee') : 0
}

/**
 * The same of orders that rest on the pair, whose maker rates stand: `leastMakerPpm` is the least that a pair had, before discounts, since
 * its book was empty last.
 */
export const restingFault = (takerPpm: number, leastMakerPpm: number, most: MostDiscounts): TermFault =>
  leastMakerPpm - most.makerPpm + takerPpm - most.takerPpm < 0 ? fault('the rebate of resting orders exceeds the taker fee') : 0

/** What is wrong with the numbers of an asset; 0: nothing. */
export function assetFault({ decimals, scale, faucetAtoms }: AssetTerms): TermFault {
  if (!isScale(decimals) || scale < 0 || scale > decimals) {
    return fault('decimals and scale must be 0..18, the scale no more than the decimals')
  }
  if (faucetAtoms < 0n || faucetAtoms > MAX_ISSUED) return fault('faucetAmount must not be negative, nor more than may be issued')
  return 0
}
