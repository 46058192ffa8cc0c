/** Parts of a million: shares and ratios as the engine has them, and as the decimals of requests and answers. */
import { formatDecimal, parseDecimal } from './decimal.ts'

/** All of it. */
export const WHOLE_PPM = 1_000_000
/** Digits behind the point that a part of a million has. */
export const PPM_DIGITS = 6

/** As a decimal of the whole: 25,000 is `0.025`. */
export const ppmText = (ppm: number): string => formatDecimal(ppm, PPM_DIGITS)

/** The share that `text` says, 0 to {@link WHOLE_PPM}; -1 when it is malformed, out of range or finer than that. */
export function shareOf(text: string): number {
  const ppm = parseDecimal(text, PPM_DIGITS)
  return ppm === null || ppm < 0n || ppm > BigInt(WHOLE_PPM) ? -1 : Number(ppm)
}
