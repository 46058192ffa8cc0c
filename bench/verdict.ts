/** How a figure is written, and what is said of it beside its line. */
import type { Target } from './result.ts'

/** A tolerance for machines and minutes: a figure this near its line, on either side of it, is at the line. */
const NEAR = 0.05

export const shown = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(3)).toString()

/** `met` and `missed` are said of figures further from the line than 5 % of it. A line of 0 is met or missed. */
export function verdict(value: number, { atLeast, atMost }: Target): 'met' | 'at the line' | 'missed' {
  const line = atLeast ?? atMost!
  const over = atLeast !== undefined ? value - line : line - value
  if (Math.abs(over) < Math.abs(line) * NEAR) return 'at the line'
  return over >= 0 ? 'met' : 'missed'
}

/** The line and the verdict. */
export function held(value: number, target: Target): string {
  const { atLeast, atMost } = target
  return `${atLeast !== undefined ? '>=' : '<='} ${(atLeast ?? atMost!).toLocaleString('en')}: ${verdict(value, target)}`
}
