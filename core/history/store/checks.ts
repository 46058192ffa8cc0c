/**
 * How every page of the history is known to be what was written last at its place.
 *
 * A checksum inside a page finds a flipped bit, but not a page that was lost, moved, or is an older one of the same place. So the checksum
 * of a page stands outside it: pages of records have theirs in pages of checksums, {@link FAN_OUT} each, those have theirs in further
 * ones, up to a single page per owner, whose checksum is the owner's root. Roots and numbers of records of all owners of a table are
 * records of head_page, which has pages of checksums too, and its roots are part of the position row, which has its own checksum.
 *
 *   position row -> head_page -> owner's page of checksums -> ... -> page of records
 *
 * So whoever begins at the position row, inside one transaction, reads what that position's writer wrote, or finds out. How many records
 * there are is in the heads, never in what pages happen to be there. An owner with one page needs no page of checksums.
 *
 * Pages of checksums are rows of the same table, with ids behind the owner's pages of records: one lookup, one neighbourhood in the tree.
 */
import { crc32 } from 'node:zlib'
import { OWNER_PAGES, PAGE_WORDS, TABLE_NAMES, storedBytes, type PageTableName } from './layout.ts'

/** Checksums in a page. */
export const FAN_OUT = PAGE_WORDS
/** First page number of each level; level 0 are the records. Room for 2^28 pages of records, 8 billion of the largest. */
const LEVELS = [0, 2 ** 28, 2 ** 28 + 2 ** 20, 2 ** 28 + 2 ** 20 + 2 ** 12] as const
export const LEVEL_COUNT = LEVELS.length

/** The store is not what was written: it can only be made anew. */
export class HistoryDamaged extends Error {
  override name = 'HistoryDamaged'
}

/** Row id of page `page` of a level of `owner`. */
export const levelId = (owner: number, level: number, page: number): number => owner * OWNER_PAGES + LEVELS[level]! + page
export const ownerOf = (id: number): number => Math.floor(id / OWNER_PAGES)
export function levelOf(id: number): number {
  const page = id % OWNER_PAGES
  let level = 0
  while (level + 1 < LEVEL_COUNT && page >= LEVELS[level + 1]!) level++
  return level
}
/** Number of a page within its level. */
export const pageOf = (id: number, level: number): number => (id % OWNER_PAGES) - LEVELS[level]!

/** Levels of checksums above `pages` pages of records. */
export function heightOf(pages: number): number {
  let height = 0
  for (let left = pages; left > 1; left = Math.ceil(left / FAN_OUT)) height++
  return height
}
/** Pages of a level, where `pages` are those of records. */
export function levelPages(pages: number, level: number): number {
  let left = pages
  for (let above = 0; above < level; above++) left = Math.ceil(left / FAN_OUT)
  return left
}

/** Bytes that a page of checksums with `used` of them takes in the file. */
export const checkBytes = (used: number): number => (used <= 64 ? 64 : used <= 256 ? 256 : storedBytes(used))

/** The same bytes in another table are another page. */
const SEEDS = TABLE_NAMES.map((name) => crc32(name))
/** Checksum of a page as it is stored when it is not packed (packing.ts), and so of what the page says, however it is stored. */
export const checksumOf = (table: number, bytes: Uint8Array): number => crc32(bytes, SEEDS[table])

export const tableNumber = (table: PageTableName): number => TABLE_NAMES.indexOf(table)

/** Says which page, for people. */
export function describePage(table: number, id: number): string {
  const level = levelOf(id)
  const what = level === 0 ? 'page' : `page of checksums of level ${level}, number`
  return `${TABLE_NAMES[table]}, owner ${ownerOf(id)}, ${what} ${pageOf(id, level)}`
}
