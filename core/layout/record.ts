/**
 * Fields of records by name: `write(outbox, at, FILL.at.price, price)`. A record is named by the number of its first word; its fields are
 * those of its table. The type of a field says which function reads and writes it.
 *
 * All are small enough to be inlined wherever they stand, and must be: a BigInt or a double that crosses a call is allocated. The mask
 * shows the compiler that a place cannot overflow.
 */
import { RECORD_WORDS, type F64Field, type I64Field, type Views, type WordField } from './table.ts'

const MASK = 0x7fffffff

type Words = Pick<Views, 'i32'>
type Doubles = Pick<Views, 'f64'>
type Atoms = Pick<Views, 'i64'>

/** The word as a signed integer. */
export const read = <F extends number>(record: Words, at: number, field: WordField<F>): number => record.i32[(at & MASK) + field]!
export const readF64 = (record: Doubles, at: number, field: F64Field): number => record.f64[((at & MASK) + field) >>> 1]!
export const readI64 = (record: Atoms, at: number, field: I64Field): bigint => record.i64[((at & MASK) + field) >>> 1]!

export function write<F extends number>(record: Words, at: number, field: WordField<F>, value: number): void {
  record.i32[(at & MASK) + field] = value
}
export function writeF64(record: Doubles, at: number, field: F64Field, value: number): void {
  record.f64[((at & MASK) + field) >>> 1] = value
}
export function writeI64(record: Atoms, at: number, field: I64Field, value: bigint): void {
  record.i64[((at & MASK) + field) >>> 1] = value
}
/** Zero from `field` on, to the end of the record; two words at a time: an event has up to 16 of them that are nothing. */
export function clearFrom(record: Words & Doubles, at: number, field: number): void {
  if ((field & 1) !== 0) record.i32[(at & MASK) + field] = 0
  for (let word = field + (field & 1); word < RECORD_WORDS; word += 2) record.f64[((at & MASK) + word) >>> 1] = 0
}
