/** What a bench gives back: figures with their settings, and the lines they are held against. */
export interface Target {
  readonly figure: string
  readonly atLeast?: number
  readonly atMost?: number
  readonly unit: string
}

export interface Result {
  readonly name: string
  readonly settings: Record<string, string | number>
  readonly figures: Record<string, number>
  readonly targets: readonly Target[]
}

/** Median of some measurements. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Value at quantile `q` (0..1) of sorted values. */
export const quantile = (sorted: Float64Array, q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!

/** `--quick`: does the bench run at all? Its figures are none, and no line is kept. */
export const QUICK = process.argv.includes('--quick')

/** How much of something is measured: so much, or `brief` with --quick. */
export const amount = (full: number, brief: number): number => (QUICK ? brief : full)
