/** Going down the records of an owner, newest first, from where a question lets it begin. */
import type { PageReader } from '../store/page_reader.ts'
import type { Position } from './queries.ts'
import type { Trail } from './walk.ts'

/** Numbers of the newest record and of the first after it that a walk needs: `from`..`to` in ms and a cursor narrow it. */
export interface Bounds {
  readonly from: number
  readonly to: number
  readonly after: Position | null
}
/** Counting needs every row, so only a walk without it may begin at its cursor. */
export const boundsOf = (ask: { from?: number; to?: number; after: Position | null; countMost: number }): Bounds => ({
  from: ask.from ?? 0, to: ask.to ?? Infinity, after: ask.countMost > 0 ? null : ask.after,
})

/** Records of `owner` to walk: those up to the bounds, given the words of sequence and time. */
export function start(reader: PageReader, owner: number, { to, after }: Bounds, sequence: number, time: number): number {
  const { f64 } = reader.views
  let count = reader.count(owner)
  if (to !== Infinity) count = reader.search(owner, count, (at) => f64[(at + time) >>> 1]! <= to)
  if (after !== null) count = reader.search(owner, count, (at) => f64[(at + sequence) >>> 1]! <= after.sequence)
  return count
}

/** Goes down from record `count` of `owner`. */
export function descend(reader: PageReader, owner: number, count: number): Pick<Trail<never>, 'next'> {
  let number = count
  return { next: () => (number > 0 ? reader.locate(owner, --number) : -1) }
}

/** The same where every record is a row that passes, from the first whose time is at least `from`. */
export function descendThrough(
  reader: PageReader, owner: number, count: number, from: number, time: number,
): Required<Pick<Trail<never>, 'next' | 'count' | 'drop'>> {
  const { f64 } = reader.views
  const first = from === 0 ? 0 : reader.search(owner, count, (at) => f64[(at + time) >>> 1]! < from)
  let number = count
  return {
    next: () => (number > first ? reader.locate(owner, --number) : -1),
    count: () => number - first,
    drop: (rows) => {
      number = Math.max(first, number - rows)
      return rows
    },
  }
}
