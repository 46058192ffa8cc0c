/**
 * Rows as text. NDJSON: an object a line, without the columns that have no value. CSV as RFC 4180 quotes it, with names in the first line,
 * LF at the end of lines; no value is an empty field, the empty text "". Times are RFC 3339, decimals and ids text without quotes.
 */
import type { Field } from './kinds.ts'
import type { Cell } from './meanings.ts'
import { timeText } from './names.ts'
import type { Output } from './output.ts'

/** Takes the rows of one kind. */
export interface RowFile {
  row(cells: readonly Cell[]): void
  /** Values that it holds in memory. */
  readonly held: number
  /** Writes what it holds. */
  flush(): void
  close(): void
}

let lastTime = 0
let lastText = timeText(0)
/** Rows of one batch have one time. */
function timeOf(ms: number): string {
  if (ms !== lastTime) [lastTime, lastText] = [ms, timeText(ms)]
  return lastText
}

export function ndjsonFile(output: Output, fields: readonly Field[]): RowFile {
  const heads = fields.map(({ name }) => `${JSON.stringify(name)}:`)
  return {
    held: 0,
    row: (cells) => {
      let line = ''
      for (let index = 0; index < fields.length; index++) {
        const cell = cells[index]!
        if (cell === null) continue
        const value = fields[index]!.type === 'time' ? `"${timeOf(cell as number)}"` : JSON.stringify(cell)
        line += `${line === '' ? '{' : ','}${heads[index]!}${value}`
      }
      output.write(`${line}}\n`)
    },
    flush: () => undefined,
    close: () => output.close(),
  }
}

/** A field of RFC 4180. */
export function csvField(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

export function csvFile(output: Output, fields: readonly Field[]): RowFile {
  output.write(`${fields.map(({ name }) => csvField(name)).join(',')}\n`)
  return {
    held: 0,
    row: (cells) => {
      let line = ''
      for (let index = 0; index < fields.length; index++) {
        const cell = cells[index]!
        const isTime = fields[index]!.type === 'time' && cell !== null
        line += `${index === 0 ? '' : ','}${isTime ? timeOf(cell as number) : csvField(cell)}`
      }
      output.write(`${line}\n`)
    },
    flush: () => undefined,
    close: () => output.close(),
  }
}
