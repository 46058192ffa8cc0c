/**
 * Walking a listing from its newest row to its oldest: filters, page and cursor mode, counting, in slices, so that a long walk lets
 * others pass.
 */
import type { Listing, Position, Walk } from './queries.ts'

/** Records of one kind, oldest first, of which a walk takes those from `start` (exclusive) down. */
export interface Trail<Row> {
  /** Moves to the next older record; its address, or -1 at the end. */
  next(): number
  /** The record is too old, and so is every other: the walk ends. */
  isOver(at: number): boolean
  /** Which rows of the record pass the filters: bit n is row n. Rows of higher numbers are newer. */
  rows(at: number): number
  position(at: number, row: number): Position
  build(at: number, row: number): Row
  /** What it has cost so far, in pages. */
  loads(): number
  /** Rows from here to the end, where that is known without walking them, because every row passes. */
  count?(): number
  /** Moves past this many such rows at once, or past all but a few of them; how many. */
  drop?(rows: number): number
}

/** Pages read before others get a turn. */
export const SLICE = 32
/** Most rows of one record. */
const ROWS = 3

const isOlder = (one: Position, other: Position): boolean =>
  one.sequence < other.sequence || (one.sequence === other.sequence && one.index < other.index)

/** Walks `trail`; yields when others should have a turn. */
export function* walk<Row>(trail: Trail<Row>, { limit, skip, after, countMost }: Walk): Generator<undefined, Listing<Row>> {
  const listing: Listing<Row> = { rows: [], total: 0, more: false }
  const known = after === null && trail.count !== undefined
  if (known) listing.total = Math.min(countMost, trail.count!())
  let skipped = 0
  if (known && trail.drop !== undefined) skipped = trail.drop(skip)
  let pause = trail.loads() + SLICE
  for (let at = trail.next(); at >= 0 && !trail.isOver(at); at = trail.next()) {
    const passing = trail.rows(at)
    for (let row = ROWS - 1; row >= 0; row--) {
      if ((passing & (1 << row)) === 0) continue
      if (!known && listing.total < countMost) listing.total++
      if (after !== null && !isOlder(trail.position(at, row), after)) continue
      if (skipped < skip) skipped++
      else if (listing.rows.length < limit) listing.rows.push(trail.build(at, row))
      else listing.more = true
    }
    if (listing.more && (known || listing.total >= countMost)) break
    if (trail.loads() < pause) continue
    yield
    pause = trail.loads() + SLICE
  }
  return listing
}
