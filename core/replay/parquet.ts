/**
 * Rows as Parquet, in row groups of at most {@link GROUP_ROWS}, so that no more than one group of a kind is in memory.
 *
 *   text, ids   STRING
 *   integer     INT64
 *   decimal     DECIMAL(38, 18): every price and amount there can be, exactly
 *   time        TIMESTAMP(MILLIS), UTC
 *   boolean     BOOLEAN
 *
 * A file is at most {@link FILE_GROUPS} groups: what the footer says of each of them is in memory until the file is whole. The next file
 * of the same kind is NAME.2.parquet, and so on.
 */
import { zstdCompressSync } from 'node:zlib'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Field } from './kinds.ts'
import type { Cell, CellType } from './meanings.ts'
import type { Output } from './output.ts'
import type { RowFile } from './text_files.ts'

export const GROUP_ROWS = 16_384
export const FILE_GROUPS = 512

/** Digits of every decimal: 64 bits of units of 10^-0 to 10^-18. */
const PRECISION = 38
const SCALE = 18
const DECIMAL_BYTES = 16

type Writing = ConstructorParameters<typeof ParquetWriter>[0]
type Element = Writing['schema'][number]

const ELEMENTS: Readonly<Record<CellType, Omit<Element, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  integer: { type: 'INT64' },
  // The library turns what it knows to be DECIMAL into bytes itself, at 3 us a value: here it is told so in the footer only.
  decimal: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: DECIMAL_BYTES },
  time: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' }, converted_type: 'TIMESTAMP_MILLIS' },
  boolean: { type: 'BOOLEAN' },
}
const DECIMAL: Partial<Element> = {
  converted_type: 'DECIMAL', precision: PRECISION, scale: SCALE, logical_type: { type: 'DECIMAL', precision: PRECISION, scale: SCALE },
}

function schemaOf(fields: readonly Field[], isFooter: boolean): Element[] {
  const elements = fields.map(({ name, type }): Element => ({
    name, repetition_type: 'OPTIONAL', ...ELEMENTS[type], ...(isFooter && type === 'decimal' ? DECIMAL : {}),
  }))
  return [{ name: 'root', num_children: fields.length }, ...elements]
}

const ZEROS = '0'.repeat(SCALE)

/** Units of 10^-18 of a decimal with at most 18 digits behind the point. */
export function unitsOf(text: string): bigint {
  const point = text.indexOf('.')
  if (point < 0) return BigInt(text + ZEROS)
  const fraction = text.slice(point + 1)
  return BigInt(text.slice(0, point) + fraction + ZEROS.slice(fraction.length))
}

/** Two's complement of units of 10^-18, most significant byte first. */
function decimalBytes(cells: readonly Cell[]): (Uint8Array | null)[] {
  const room = new ArrayBuffer(cells.length * DECIMAL_BYTES)
  const view = new DataView(room)
  return cells.map((cell, index) => {
    if (cell === null) return null
    const units = unitsOf(cell as string)
    view.setBigInt64(index * DECIMAL_BYTES, units >> 64n)
    view.setBigUint64(index * DECIMAL_BYTES + 8, BigInt.asUintN(64, units))
    return new Uint8Array(room, index * DECIMAL_BYTES, DECIMAL_BYTES)
  })
}

function valuesOf(type: CellType, cells: readonly Cell[]): unknown[] {
  if (type === 'decimal') return decimalBytes(cells)
  if (type === 'integer' || type === 'time') return cells.map((cell) => (cell === null ? null : BigInt(cell as number)))
  return cells as unknown[]
}

/** What the library writes into: a row group at most. */
class GroupWriter extends ByteWriter {
  readonly #output: Output

  constructor(output: Output) {
    super(1 << 20)
    this.#output = output
  }

  /** The library calls it after each group. */
  flush(): void {
    this.#output.bytes(new Uint8Array(this.buffer, 0, this.index))
    this.index = 0
  }

  override finish(): void {
    // Whole, and nothing of it was flushed: a file without groups.
    if (this.index === this.offset) nameEmptyList(new Uint8Array(this.buffer, 0, this.index))
    this.flush()
    this.#output.close()
  }
}

/** Field 4 of the footer, an empty list of no type, and the header of field 6: of structs it must be, says every strict reader. */
const UNTYPED = Buffer.from([0x19, 0x00, 0x28])
const STRUCT = 0x0c

/** The library cannot tell what an empty list would be of, here that of row groups, the last list of the footer. */
function nameEmptyList(file: Uint8Array): void {
  const at = Buffer.from(file.buffer, file.byteOffset, file.length).lastIndexOf(UNTYPED)
  if (at >= 0) file[at + 1] = STRUCT
}

export interface ParquetLimits {
  readonly groupRows: number
  readonly fileGroups: number
}

/** `open` opens the file of this number, 1 and up. */
export function parquetFile(
  open: (number: number) => Output, fields: readonly Field[],
  limits: ParquetLimits = { groupRows: GROUP_ROWS, fileGroups: FILE_GROUPS },
): RowFile {
  let columns: Cell[][] = fields.map(() => [])
  let rows = 0
  let groups = 0
  let files = 0
  const begin = (): ParquetWriter => {
    groups = 0
    const compressors: Writing['compressors'] = { ZSTD: (bytes) => zstdCompressSync(bytes) }
    const writer = new GroupWriter(open(++files))
    return new ParquetWriter({ writer, schema: schemaOf(fields, false), codec: 'ZSTD', compressors, createdBy: 'ringbook replay export' })
  }
  const finish = (): void => {
    file.schema = schemaOf(fields, true)
    void file.finish()
  }
  let file = begin()
  const flush = (): void => {
    if (rows === 0) return
    if (groups === limits.fileGroups) {
      finish()
      file = begin()
    }
    const data = fields.map(({ name, type }, index) => ({
      // Ranges of sequences and times let readers pass groups over. Decimals as bytes compare otherwise, and those of ids say little.
      name, data: valuesOf(type, columns[index]!) as Cell[], statistics: type === 'integer' || type === 'time',
    }))
    void file.write({ columnData: data, rowGroupSize: rows })
    columns = fields.map(() => [])
    rows = 0
    groups++
  }
  return {
    get held() {
      return rows * fields.length
    },
    row: (cells) => {
      for (let index = 0; index < columns.length; index++) columns[index]!.push(cells[index]!)
      if (++rows === limits.groupRows) flush()
    },
    flush,
    close: () => {
      flush()
      finish()
    },
  }
}
