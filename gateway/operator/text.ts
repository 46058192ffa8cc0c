/** What the operator's command line shows people: tables, amounts of bytes and time. Plain text without colours. */
import { rfc3339 } from '../operations/operation.ts'

export type Cell = string | number

/**
 * Columns as wide as their widest cell, two blanks between them; columns of numbers are set right, with commas between thousands.
 * Control characters are not printed: names come from a genesis file, and a terminal obeys them.
 */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const right = heads.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'))
  const lines = [heads, ...rows.map((row) => row.map(printable))]
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const pad = (cell: string, column: number): string => (right[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}

/** Lines `name  value`, values under each other. */
export function facts(rows: readonly (readonly [name: string, value: Cell])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`).join('\n')
}

/** A time, Unix ms, as the operator's port says it; `null` of 0: there is none. */
export const momentOf = (unixMs: number): string | null => (unixMs === 0 ? null : rfc3339(unixMs))

/** A cell as text that is safe on a terminal. */
export const printable = (cell: Cell): string =>
  typeof cell === 'number' ? count(cell) : cell.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?')

/** 1234567 as `1,234,567`; fractions as they are. */
export function count(value: number): string {
  const [whole, fraction] = String(value).split('.') as [string, string?]
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** 1536 as `1.5 KiB`. */
export function bytes(value: number): string {
  let unit = 0
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`
}

/** Whole seconds by their two largest units: 93784 as `1 d 2 h`. */
export function duration(seconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = Math.min(parts.findIndex(([value]) => value > 0) >>> 0, parts.length - 1)
  return parts.slice(first, first + 2).map(([value, unit]) => `${value} ${unit}`).join(' ')
}
