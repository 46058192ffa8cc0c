/** Parquet read by another implementation than the one that writes it: the Rust one of Apache Arrow, as WebAssembly. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { formatDecimal } from '../../core/lib/decimal.ts'
import type { Field } from '../../core/replay/kinds.ts'

interface ArrowField { readonly name: string; readonly type: { toString(): string; readonly scale?: number } }
interface ArrowVector { get(row: number): unknown }
interface ArrowTable {
  readonly numRows: number
  readonly schema: { readonly fields: readonly ArrowField[] }
  getChild(name: string): ArrowVector | null
}

// Its own types are of another version of Node's than ours, and would come in with it.
const require = createRequire(import.meta.url)
const { tableFromIPC } = require('apache-arrow') as { tableFromIPC(bytes: Uint8Array): ArrowTable }
const parquet = require('parquet-wasm') as {
  readParquet(bytes: Uint8Array): { intoIPCStream(): Uint8Array }
  readSchema(bytes: Uint8Array): { intoIPCStream(): Uint8Array }
  ParquetFile: { fromFile(file: Blob): Promise<{ metadata(): { numRowGroups(): number } }> }
}

export const arrowTable = (path: string): ArrowTable => tableFromIPC(parquet.readParquet(readFileSync(path)).intoIPCStream())

export async function rowGroups(path: string): Promise<number> {
  return (await parquet.ParquetFile.fromFile(new Blob([readFileSync(path)]))).metadata().numRowGroups()
}

/** Types as Arrow has them, by what a column is. */
export const ARROW_TYPES: Readonly<Record<Field['type'], string>> = {
  text: 'Utf8', integer: 'Int64', decimal: 'Decimal[38e+18]', time: 'Timestamp<MILLISECOND, UTC>', boolean: 'Bool',
}

/** Rows with times and decimals as the text that NDJSON has. Throws when a column is of another type than it should be. */
export async function readParquet(path: string, fields: readonly Field[]): Promise<Record<string, unknown>[]> {
  const table = arrowTable(path)
  const types = table.schema.fields.map(({ name, type }) => `${name} ${type.toString()}`)
  const expected = fields.map(({ name, type }) => `${name} ${ARROW_TYPES[type]}`)
  if (types.join() !== expected.join()) throw new Error(`${path} has the columns ${types.join()}`)
  const columns = fields.map(({ name }) => table.getChild(name)!)
  return Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(fields.map(({ name, type }, index) => [name, typed(type, columns[index]!.get(row))])))
}

function typed(type: Field['type'], value: unknown): unknown {
  if (value === null) return null
  if (type === 'integer') return Number(value)
  if (type === 'time') return new Date(Number(value)).toISOString()
  return type === 'decimal' ? formatDecimal(signed(value as Uint32Array), 18) : value
}

/** Two's complement of 128 bits, the lowest word first. */
function signed(words: Uint32Array): bigint {
  const bits = words.reduceRight((all, word) => (all << 32n) | BigInt(word), 0n)
  return BigInt.asIntN(128, bits)
}
