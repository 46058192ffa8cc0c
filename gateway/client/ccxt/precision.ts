/** Amounts and prices as decimal text in whole steps, worked out in integers: floats in, nothing of their rounding out. */
import { InvalidOrder } from './errors.ts'

interface Decimal {
  readonly digits: bigint
  /** Digits behind the point. */
  readonly scale: number
}

/** A number as its shortest decimal text means it, or decimal text. Throws InvalidOrder for anything else. */
function decimalOf(value: number | string): Decimal {
  const match = /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d{1,3}))?$/i.exec(String(value).trim())
  if (match === null || (match[2] === '' && match[3] === '')) throw new InvalidOrder(`not a decimal: ${value}`)
  const [, sign, whole, part, exponent = '0'] = match as unknown as [string, string, string, string, string?]
  const scale = part.length - Number(exponent)
  const digits = BigInt(`${sign}${whole}${part}`)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** The step of amounts with so many digits behind the point, as decimal text. */
export const stepOf = (digits: number): string => textOf(1n, digits)

/** `value` in whole steps of `step`, cut or rounded half up, as decimal text without idle zeros. */
export function inSteps(value: number | string, step: string, rounding: 'cut' | 'round'): string {
  const wanted = decimalOf(value)
  const unit = decimalOf(step)
  const scale = Math.max(wanted.scale, unit.scale)
  const at = ({ digits, scale: own }: Decimal): bigint => digits * 10n ** BigInt(scale - own)
  const size = at(unit)
  const half = rounding === 'round' ? size / 2n : 0n
  return textOf(((at(wanted) + half) / size) * size, scale)
}

function textOf(digits: bigint, scale: number): string {
  const sign = digits < 0n ? '-' : ''
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  const part = text.slice(text.length - scale).replace(/0+$/, '')
  const whole = text.slice(0, text.length - scale)
  return sign + (scale === 0 || part === '' ? (scale === 0 ? text : whole) : `${whole}.${part}`)
}
