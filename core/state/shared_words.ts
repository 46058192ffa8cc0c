/**
 * Fields that other threads read without asking whether a batch is being applied: those of sessions, and who an account is. Every access
 * of either side that may meet one of the other is an `Atomics` operation, and those have one order that all threads agree on, whatever
 * the processor; so a version word read before and after the fields proves them (view/consistent.ts says more).
 *
 * The writer's own reading needs none of this, and nothing here is on the path of an order.
 */
const bits = new BigInt64Array(1)
const double = new Float64Array(bits.buffer)

/** Writes the double at 64-bit word `at`. */
export function storeDouble(words: BigInt64Array, at: number, value: number): void {
  double[0] = value
  Atomics.store(words, at, bits[0]!)
}

/** Reads the double at 64-bit word `at`, never torn. */
export function loadDouble(words: BigInt64Array, at: number): number {
  bits[0] = Atomics.load(words, at)
  return double[0]!
}
