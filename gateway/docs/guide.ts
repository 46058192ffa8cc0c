/** The guide with its programs, its section on streams and its tables in their places. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorTable } from './rest/errors.ts'
import { STREAM_TABLES } from './streams/texts.ts'

const folder = join(import.meta.dirname, 'guide')
const TABLES: Readonly<Record<string, () => string>> = { errors: errorTable, ...STREAM_TABLES, 'fast-path': fastPathTable }

/** What each way of sending orders was measured at; `npm run bench -- table` writes the file. */
function fastPathTable(): string {
  const rows = JSON.parse(readFileSync(join(folder, 'fast_path.json'), 'utf8')) as Readonly<Record<string, string>>[]
  return [
    '| Way | Orders a second | At half that rate: p50, ms | p99, ms |', '|---|---|---|---|',
    ...rows.map(({ way, orders, p50, p99 }) => `| ${way} | ${orders} | ${p50} | ${p99} |`),
  ].join('\n')
}

/** A text of the guide's folder. `{{name}}` in it is a table, or another file of the folder. */
export function guideText(file: string): string {
  const text = readFileSync(join(folder, file), 'utf8').trimEnd()
  return file.endsWith('.md') ? text.replaceAll(/\{\{([\w.-]+)\}\}/g, (_, name: string) => TABLES[name]?.() ?? guideText(name)) : text
}
