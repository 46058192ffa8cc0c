/** What every program of Ringbook says of itself when it is asked, and where it finds an exchange's data when it is not told. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

/** Where `npm start` keeps its data. */
export const DEFAULT_DATA_DIR = join(ROOT, 'data', 'var')
/** Names the data directory for all programs; `--data-dir` wins. */
const DATA_DIR_VARIABLE = 'RINGBOOK_DATA_DIR'

/** The version of the program, of package.json. */
export const versionOf = (): string => (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version

/** Prints the version when nothing else is asked for; true: it did. */
export function saidVersion(argv: readonly string[] = process.argv.slice(2)): boolean {
  if (argv.length !== 1 || argv[0] !== '--version') return false
  process.stdout.write(`ringbook ${versionOf()}\n`)
  return true
}

/** The data directory that `given`, the environment or else {@link DEFAULT_DATA_DIR} says. */
export const dataDirOf = (given: string | undefined): string => given ?? process.env[DATA_DIR_VARIABLE] ?? DEFAULT_DATA_DIR
