/** A strict reader of CSV as RFC 4180 has it, with LF or CRLF at the end of lines: what it does not allow is thrown. */
import type { Field } from '../../core/replay/kinds.ts'

/** Fields of every line; `null`: empty without quotes. */
export function csvLines(text: string): (string | null)[][] {
  const lines: (string | null)[][] = []
  let line: (string | null)[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n)/y
  while (field.lastIndex < text.length) {
    const at = field.lastIndex
    const match = field.exec(text)
    if (match === null) throw new Error(`no CSV at ${at}: ${JSON.stringify(text.slice(at, at + 40))}`)
    line.push(match[1] !== undefined ? match[1].replaceAll('""', '"') : match[2] === '' ? null : match[2]!)
    if (match[3] === ',') continue
    lines.push(line)
    line = []
  }
  return lines
}

/** Rows by the names of the first line, typed as `fields` say: times and decimals stay text. */
export function parseCsv(text: string, fields: readonly Field[]): Record<string, unknown>[] {
  const [head, ...rows] = csvLines(text)
  if (head!.join() !== fields.map(({ name }) => name).join()) throw new Error(`other columns: ${head!.join()}`)
  return rows.map((row) => {
    if (row.length !== fields.length) throw new Error(`${row.length} fields in a line of ${fields.length}`)
    return Object.fromEntries(fields.map(({ name, type }, index) => [name, typed(type, row[index]!)]))
  })
}

function typed(type: Field['type'], value: string | null): unknown {
  if (value === null) return null
  if (type === 'integer') return Number(value)
  return type === 'boolean' ? value === 'true' : value
}
