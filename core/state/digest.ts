/**
 * The stored bytes of a state, column by column: what snapshots write and digests cover. Derived columns and rows that were never
 * used are left out, so the digest does not depend on capacities that were not reached.
 */
import { columnsOf, type Column } from './columns.ts'
import { columnBytes, columnOf } from './memory.ts'
import { rebuildDerived } from './rebuild.ts'
import type { State } from './state.ts'

export interface StoredColumn {
  readonly name: string
  /** The used rows, a view on the live column. */
  readonly bytes: Uint8Array
}

const usedBytes = (state: State, column: Column): number =>
  column.used < 0 ? columnBytes(column) : (columnBytes(column) / column.rows) * state.scalars[column.used]!

/** The stored columns in their fixed order. Valid while nothing is applied. */
export function storedColumns(state: State): StoredColumn[] {
  return columnsOf(state.genesis)
    .filter((column) => !column.derived)
    .map((column) => {
      const bytes = columnOf(state.genesis, state.buffers, column.name)
      return { name: column.name, bytes: bytes.subarray(0, usedBytes(state, column)) }
    })
}

/** Feeds name, length and bytes of every stored column to `update`. The caller brings the hash function. */
export function digestState(state: State, update: (bytes: Uint8Array) => void): void {
  const text = (value: string): Uint8Array => Uint8Array.from(value, (character) => character.charCodeAt(0))
  for (const { name, bytes } of storedColumns(state)) {
    update(text(`${name}:${bytes.length};`))
    update(bytes)
  }
}

/** Puts stored columns into an empty state and rebuilds what is derived. Throws when a column is unknown or too long. */
export function loadColumns(state: State, columns: Iterable<StoredColumn>): void {
  const table = new Map(columnsOf(state.genesis).map((column) => [column.name as string, column]))
  for (const { name, bytes } of columns) {
    const column = table.get(name)
    if (column === undefined || column.derived || bytes.length > columnBytes(column)) throw new Error(`column ${name} does not fit`)
    columnOf(state.genesis, state.buffers, column.name).set(bytes)
  }
  rebuildDerived(state)
}
