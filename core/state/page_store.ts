/** Where full pages of receipts are kept that the memory of the columns has no room for (receipt_pages.ts). */
import { RECEIPT_PAGE_WORDS } from './receipt_room.ts'

export interface PageStore {
  /** Keeps the page whose first word is `words[at]`. */
  write(page: number, words: Int32Array, at: number): void
  /** Puts a page that was written to `words[at..]`; something else when it cannot be read, which its seal tells. */
  read(page: number, words: Int32Array, at: number): void
  /** Pages before this one are not asked for any more. */
  drop(before: number): void
  /** Called some times a second by the process that writes: pages that could not be kept yet, except in its memory. */
  retry(): number
}

/** Keeps nothing: of threads that only look. */
export const NO_STORE: PageStore = { write: () => undefined, read: () => undefined, drop: () => undefined, retry: () => 0 }

/** Keeps pages in memory but for those that `older` has already, and reads these from there. */
export function memoryPages(older: PageStore = NO_STORE): PageStore {
  const pages = new Map<number, Int32Array>()
  // No page is all zero, which this is when `older` has nothing.
  const there = new Int32Array(RECEIPT_PAGE_WORDS)
  let first = 0
  return {
    write: (page, words, at) => {
      older.read(page, there, 0)
      if (there.every((word, i) => word === words[at + i])) pages.delete(page)
      else pages.set(page, words.slice(at, at + RECEIPT_PAGE_WORDS))
    },
    read: (page, words, at) => {
      const kept = pages.get(page)
      if (kept === undefined) older.read(page, words, at)
      else words.set(kept, at)
    },
    drop: (before) => {
      for (; first < before; first++) pages.delete(first)
    },
    retry: () => 0,
  }
}
