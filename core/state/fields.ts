/** Fields of eight bytes in the rows of columns (columns.ts): the type keeps them apart from those of one word (layout/table.ts). */
import type { F64Field, I64Field } from '../layout/table.ts'

export const f64 = (word: number): F64Field => word as F64Field
export const i64 = (word: number): I64Field => word as I64Field
