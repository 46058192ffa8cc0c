/**
 * The stored bytes of a state, column by column: what snapshots write and digests cover. Derived columns and rows that were never
 * used are left out, so the digest does not depend on capacities that were not reached.
 */
import { columnsOf, LIMIT, type Column } from './columns.ts'
import { raisedLimits, storedColumns, type StoredColumn } from './growth.ts'
import { columnBytes, columnOf } from './memory.ts'
import { rebuildDerived } from './rebuild.ts'
import { enlarge, type State } from './state.ts'

export { storedColumns, type StoredColumn }

/** Feeds name, length and bytes of every stored column to `update`. The caller brings the hash function. */
export function digestState(state: State, update: (bytes: Uint8Array) => void): void {
  const text = (value: string): Uint8Array => Uint8Array.from(value, (character) => character.charCodeAt(0))
  for (const { name, bytes } of storedColumns(state)) {
    update(text(`${name}:${bytes.length};`))
    update(bytes)
  }
}

/**
 * Puts stored columns into an empty state and rebuilds what is derived. Throws when a column is unknown or too long. Column `limits` comes
 * before those that it makes longer.
 */
export function loadColumns(state: State, columns: Iterable<StoredColumn>): void {
  const tableOf = (): Map<string, Column> => new Map(columnsOf(state.genesis).map((column) => [column.name as string, column]))
  let table = tableOf()
  for (const { name, bytes } of columns) {
    const column = table.get(name)
    if (column === undefined || column.derived || bytes.length > columnBytes(column)) throw new Error(`column ${name} does not fit`)
    columnOf(state.genesis, state.buffers, column.name).set(bytes)
    if (name !== 'limits') continue
    enlargeEmpty(state)
    table = tableOf()
  }
  rebuildDerived(state)
}

/** The limits that were loaded are in force; of what is there so far, only what a state begins with and its scalars are kept. */
function enlargeEmpty(state: State): void {
  const raised = raisedLimits(state.limits, LIMIT.IN_FORCE)
  if (Object.keys(raised).length === 0) return
  const { registers, scalars, clock, limits } = state
  enlarge(state, raised)
  state.registers.set(registers)
  state.scalars.set(scalars)
  state.clock.set(clock)
  state.limits.set(limits)
}
