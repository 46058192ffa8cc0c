/**
 * `whole × part / total` of whole numbers, cut towards 0, exactly. The product may be far beyond 2^53: it is never formed.
 *
 * Bounds: |whole| < 2^53, 0 <= part, 1 <= total, part × total < 2^53, and the answer below 2^53.
 */
export function proportion(whole: number, part: number, total: number): number {
  const rest = whole % total
  const product = rest * part
  return ((whole - rest) / total) * part + (product - (product % total)) / total
}
