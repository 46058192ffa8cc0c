/** The guide with its programs, its section on streams and its tables in their places. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorTable } from './rest/errors.ts'
import { STREAM_TABLES } from './streams/texts.ts'

const folder = join(import.meta.dirname, 'guide')
const TABLES: Readonly<Record<string, () => string>> = { errors: errorTable, ...STREAM_TABLES }

/** A text of the guide's folder. `{{name}}` in it is a table, or another file of the folder. */
export function guideText(file: string): string {
  const text = readFileSync(join(folder, file), 'utf8').trimEnd()
  return file.endsWith('.md') ? text.replaceAll(/\{\{([\w.-]+)\}\}/g, (_, name: string) => TABLES[name]?.() ?? guideText(name)) : text
}
