/**
 * Decimal strings to integers and back, digit by digit: no floating point, no rounding.
 *
 * Accepted text: `-?digits[.digits]`, at most 28 integer and 18 fraction digits (specification, Conventions). No exponent,
 * no sign `+`, no leading `.`, no white space. Output has no exponent and no trailing zeros.
 */
const MAX_INTEGER_DIGITS = 28
const MAX_FRACTION_DIGITS = 18

/**
 * `text` × 10^scale as a BigInt; `null` when the text is malformed or has non-zero digits beyond `scale`.
 * Example: `parseDecimal('1.25', 4)` is `12500n`; `parseDecimal('1.25', 1)` is `null`.
 */
export function parseDecimal(text: string, scale: number): bigint | null {
  const parts = split(text)
  if (parts === null) return null
  const kept = parts.fraction.slice(0, scale)
  if (/[1-9]/.test(parts.fraction.slice(scale))) return null
  const units = BigInt(parts.integer + kept.padEnd(scale, '0'))
  return parts.negative ? -units : units
}

/** As {@link parseDecimal} for a positive result that is a safe integer; otherwise -1. The path of order entry. */
export function parsePositive(text: string, scale: number): number {
  let value = 0
  let index = 0
  const end = text.length
  if (end === 0 || end > MAX_INTEGER_DIGITS + MAX_FRACTION_DIGITS + 1) return -1
  for (; index < end; index++) {
    const digit = text.charCodeAt(index) - 48
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  if (index === 0 || index > MAX_INTEGER_DIGITS) return -1
  let fraction = 0
  if (index < end) {
    if (text.charCodeAt(index) !== 46) return -1
    for (index++; index < end; index++, fraction++) {
      const digit = text.charCodeAt(index) - 48
      if (digit < 0 || digit > 9) return -1
      if (fraction < scale) value = value * 10 + digit
      else if (digit !== 0) return -1
    }
    if (fraction === 0 || fraction > MAX_FRACTION_DIGITS) return -1
  }
  for (let have = Math.min(fraction, scale); have < scale; have++) value *= 10
  return value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : -1
}

/** `units` × 10^-scale as text. */
export function formatDecimal(units: bigint | number, scale: number): string {
  const negative = units < 0
  const digits = (negative ? -units : units).toString().padStart(scale + 1, '0')
  const integer = digits.slice(0, digits.length - scale)
  let end = digits.length
  while (end > integer.length && digits.charCodeAt(end - 1) === 48) end--
  const text = end === integer.length ? integer : `${integer}.${digits.slice(integer.length, end)}`
  return negative ? `-${text}` : text
}

/** Digits after the point that `text` needs, without trailing zeros. */
export function scaleOf(text: string): number {
  const parts = split(text)
  if (parts === null) throw new Error(`not a decimal: ${text}`)
  return parts.fraction.replace(/0+$/, '').length
}

function split(text: string): { negative: boolean; integer: string; fraction: string } | null {
  if (text.length > MAX_INTEGER_DIGITS + MAX_FRACTION_DIGITS + 2) return null
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text)
  if (match === null) return null
  const fraction = match[3] ?? ''
  if (match[2]!.length > MAX_INTEGER_DIGITS || fraction.length > MAX_FRACTION_DIGITS) return null
  return { negative: match[1] === '-', integer: match[2]!, fraction }
}
