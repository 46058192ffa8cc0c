/** The one memory that all columns lie in (columns.ts): where each starts and ends. */
import { ALIGNMENT, columnsOf, LEAD, type Column, type ColumnName, type Sized } from './columns.ts'

const BYTES = { i32: 4, f64: 8, i64: 8 } as const
/** Bytes of the rows of a column. */
export const columnBytes = (column: Column): number => Math.ceil((column.rows * column.stride * BYTES[column.type]) / 8) * 8

/** Where every column starts in the memory, in bytes. */
export interface Addresses {
  readonly at: Readonly<Record<ColumnName, number>>
  readonly bytes: number
}

/** The engine's addresses have 31 bits, of words. */
export const MOST_BYTES = 2 ** 33

export function addressesOf(genesis: Sized): Addresses {
  const at = {} as Record<ColumnName, number>
  let next = LEAD
  for (const column of columnsOf(genesis)) {
    at[column.name] = next
    next += Math.ceil(columnBytes(column) / ALIGNMENT) * ALIGNMENT
  }
  if (next >= MOST_BYTES) throw new Error(`the limits of the genesis need ${next} bytes of memory; the engine has 8 GiB`)
  return { at, bytes: next }
}

/** What threads share: the memory of all columns. The operating system commits it as rows are used. */
export interface Buffers {
  readonly memory: SharedArrayBuffer
}

/** Allocates the memory of a genesis. It is committed by the operating system as rows are used. */
export function allocateBuffers(genesis: Sized): Buffers {
  return { memory: new SharedArrayBuffer(addressesOf(genesis).bytes) }
}

/** The bytes of all rows of a column. */
export function columnOf(genesis: Sized, buffers: Buffers, name: ColumnName): Uint8Array {
  const column = columnsOf(genesis).find((each) => each.name === name)
  if (column === undefined) throw new Error(`no column ${name}`)
  return new Uint8Array(buffers.memory, addressesOf(genesis).at[name], columnBytes(column))
}
