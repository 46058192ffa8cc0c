/**
 * Fields that other threads read without asking whether a batch is being applied: those of sessions, and who an account is. Every access
 * of either side that may meet one of the other is an `Atomics` operation, and those have one order that all threads agree on, whatever
 * the processor; so a version word read before and after the fields proves them (view/consistent.ts says more).
 *
 * The writer's own reading needs none of this, and nothing here is on the path of an order.
 */
import type { F64Field, WordField } from '../layout/table.ts'
import { wordOf } from './rows.ts'
import type { State } from './state.ts'

const bits = new BigInt64Array(1)
const double = new Float64Array(bits.buffer)

export const loadWord = <F extends number>(state: State, row: number, field: WordField<F>): number =>
  Atomics.load(state.i32, wordOf(row, field))
export function storeWord<F extends number>(state: State, row: number, field: WordField<F>, value: number): void {
  Atomics.store(state.i32, wordOf(row, field), value)
}

/** Never torn. */
export function loadDouble(state: State, row: number, field: F64Field): number {
  bits[0] = Atomics.load(state.i64, wordOf(row, field) >>> 1)
  return double[0]!
}
export function storeDouble(state: State, row: number, field: F64Field, value: number): void {
  double[0] = value
  Atomics.store(state.i64, wordOf(row, field) >>> 1, bits[0]!)
}

/** The `words` words from `field` on, such as a key or an address. */
export function loadWords(state: State, row: number, field: number, words: number): Int32Array {
  return Int32Array.from({ length: words }, (_, word) => Atomics.load(state.i32, wordOf(row, field) + word))
}
/** Whether they are those at `source[at..]`. */
export function areWords(state: State, row: number, field: number, words: number, source: Int32Array, at: number): boolean {
  for (let word = 0; word < words; word++) if (Atomics.load(state.i32, wordOf(row, field) + word) !== source[at + word]) return false
  return true
}
export function storeWords(state: State, row: number, field: number, words: number, source: Int32Array, at: number): void {
  for (let word = 0; word < words; word++) Atomics.store(state.i32, wordOf(row, field) + word, source[at + word]!)
}
