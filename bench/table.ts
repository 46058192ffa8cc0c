/**
 * The table of figures in README.md. A row names a bench, a figure by its name in the results and the run it is from; what stands in
 * between is that figure and its verdict, and a test holds it to the line. `npm run bench -- table` fills the rows from the newest runs.
 *
 *   | `core` | `nsPerCommand` whatever explains it | 107 | <= 120: met | 2026-11-21T20:14:03.120Z |
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Result } from './result.ts'
import { held, shown } from './verdict.ts'

export interface Line extends Result {
  /** ISO time of the run. */
  readonly at: string
}

/** What a figure without any run says. */
export const UNMEASURED = 'not measured'

const ROW = /^\| `([\w-]+)` \| `([^`]+)`([^|]*)\| ([^|]*) \| ([^|]*) \| ([^|]*) \|$/

/** Lines of one bench, the oldest first. */
export type Lines = (bench: string) => readonly Line[]

export const readLines = (folder: string): Lines => (bench) => {
  const path = join(folder, `${bench}.ndjson`)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8').split('\n').filter((text) => text !== '').map((text) => JSON.parse(text) as Line)
}

/** The cells that belong to a run: figure, verdict, run. */
function cellsOf(line: Line, figure: string): string[] {
  const value = line.figures[figure]!
  const target = line.targets.find((each) => each.figure === figure)
  return [shown(value), target === undefined ? '' : held(value, target), line.at]
}

const has = (figure: string) => (line: Line): boolean => typeof line.figures[figure] === 'number'

/** The text with every row from the newest run that has its figure. */
export function fill(text: string, lines: Lines): string {
  return text.split('\n').map((row) => {
    const [, bench, figure, words] = ROW.exec(row) ?? []
    if (bench === undefined) return row
    const newest = lines(bench).findLast(has(figure!))
    const cells = newest === undefined ? [UNMEASURED, '', ''] : cellsOf(newest, figure!)
    return `| \`${bench}\` | \`${figure!}\`${words!}| ${cells.join(' | ')} |`
  }).join('\n')
}

/** What is wrong with the rows of this text, in words. */
export function problems(text: string, lines: Lines): string[] {
  return text.split('\n').filter((row) => row.startsWith('| `')).flatMap((row) => {
    const [, bench, figure, , measured, verdict, at] = ROW.exec(row) ?? []
    if (bench === undefined) return [`no row of figures: ${row}`]
    const bare = verdict === '' && at === ''
    if (measured === UNMEASURED) return bare ? [] : [`${bench}, ${figure}: ${UNMEASURED}, and yet a verdict or a run`]
    const line = lines(bench).find((each) => each.at === at && has(figure!)(each))
    if (line === undefined) return [`${bench}, ${figure}: results/${bench}.ndjson has no such figure of the run ${at}`]
    const cells = cellsOf(line, figure!)
    return cells.join() === [measured, verdict, at].join() ? [] : [`${bench}, ${figure}: the run says ${cells.join(' | ')}`]
  })
}
