/**
 * Between decimal text and the engine's integers: ticks, lots and atoms. Exact in both directions; nothing here is floating point
 * except lot sums of book levels, which are whole numbers below 2^53.
 */
import Type from 'typebox'
import { MAX_ISSUED, type Asset, type Pair } from '../../core/state/genesis.ts'
import { DECIMAL } from './operation.ts'
import { formatDecimal, parseDecimal, parsePositive } from '../../core/lib/decimal.ts'
import { describeForm } from './schema_errors.ts'
import { refusedField, type Refused } from '../refused.ts'

const INT32_MAX = 0x7fffffff

/** Text as a whole number of `unit` × 10^-scale, 1..2^31-1; -1 when it is malformed, no multiple or out of range. */
function wholeUnits(text: string, scale: number, unit: number): number {
  const value = parsePositive(text, scale)
  if (value < 0 || value % unit !== 0) return -1
  const units = value / unit
  return units <= INT32_MAX ? units : -1
}

export const ticksOf = (pair: Pair, text: string): number => wholeUnits(text, pair.priceScale, pair.tickUnits)
export const lotsOf = (pair: Pair, text: string): number => wholeUnits(text, pair.lotScale, pair.lotUnits)

/** An amount in a request, whose digits beyond the point are bounded by what it is an amount of. */
export const Amount = Type.String({ pattern: DECIMAL.source })
describeForm(DECIMAL, 'a decimal string, such as 12.5: at most 28 digits before the point and 18 behind it')

/** Atoms of an {@link Amount}, at least `least` and at most what may be issued of an asset; or the refusal that names `field`. */
export function atomsOf(asset: Asset, field: string, text: string, least: bigint): bigint | Refused {
  const atoms = parseDecimal(text, asset.scale)
  if (atoms === null) {
    const most = `at most ${asset.scale} digits behind the point`
    return refusedField(field, `${field} must have ${most}, as amounts of ${asset.symbol} do`)
  }
  if (text.startsWith('-') || atoms < least) return refusedField(field, `${field} must ${least === 0n ? 'not be negative' : 'be positive'}`)
  return atoms <= MAX_ISSUED ? atoms : refusedField(field, `${field} is out of range`)
}

/** `count` × `unit` × 10^-scale as text. A product that rounds to at most 2^53 - 1 is exact as a number, and a number is cheaper. */
function unitsText(count: number, unit: number, scale: number): string {
  const units = count * unit
  return formatDecimal(units <= Number.MAX_SAFE_INTEGER ? units : BigInt(count) * BigInt(unit), scale)
}

export const priceText = (pair: Pair, ticks: number): string => unitsText(ticks, pair.tickUnits, pair.priceScale)
export const quantityText = (pair: Pair, lots: number): string => unitsText(lots, pair.lotUnits, pair.lotScale)
/** Lots of many trades. */
export const volumeText = (pair: Pair, lots: bigint): string => formatDecimal(lots * BigInt(pair.lotUnits), pair.lotScale)
export const amountText = (asset: Asset, atoms: bigint): string => formatDecimal(atoms, asset.scale)
/** Smallest units of the token. */
export const rawText = (asset: Asset, atoms: bigint): string => (atoms * 10n ** BigInt(asset.decimals - asset.scale)).toString()

/** Digits an average price has beyond those of the tick. */
const AVERAGE_DIGITS = 8

/** `quoteAtoms` for `lots` as a price, rounded half up to 8 digits beyond the tick's. */
export function averagePriceText(pair: Pair, quoteAtoms: bigint, lots: number): string {
  // Atoms of one lot at one tick are known, so the average in ticks is quoteAtoms / (lots × tickLotAtoms).
  const divisor = BigInt(lots) * pair.tickLotAtoms
  const scaled = quoteAtoms * BigInt(pair.tickUnits) * 10n ** BigInt(AVERAGE_DIGITS)
  return formatDecimal((2n * scaled + divisor) / (2n * divisor), pair.priceScale + AVERAGE_DIGITS)
}

/** How far the average is from `best` ticks, in whole bps, rounded half up. */
export function slippageBps(pair: Pair, quoteAtoms: bigint, lots: number, best: number): number {
  const ideal = BigInt(best) * BigInt(lots) * pair.tickLotAtoms
  const off = quoteAtoms > ideal ? quoteAtoms - ideal : ideal - quoteAtoms
  return Number((2n * off * 10_000n + ideal) / (2n * ideal))
}

/** Digits of a change in percent. */
const PERCENT_DIGITS = 4

/** How far `now` is from `before`, both in ticks, in percent, rounded half away from zero to 4 digits; negative when it fell. */
export function changePercent(before: number, now: number): string {
  const scaled = 2n * BigInt(Math.abs(now - before)) * 100n * 10n ** BigInt(PERCENT_DIGITS)
  const change = (scaled + BigInt(before)) / (2n * BigInt(before))
  return formatDecimal(now < before ? -change : change, PERCENT_DIGITS)
}
