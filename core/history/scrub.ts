/**
 * The scrub: reads the whole store back, page by page, a slice at a time and for ever, each checked as a reader would (checks.ts). So
 * damage of what nobody asks for is found too, that of SQLite's own pages as well: what its tree does not lead to any more is missing.
 *
 * Every slice is a transaction of its own, from the position row on, with nothing kept from the one before: a pass goes on where it was,
 * whatever was written meanwhile.
 */
import type { Genesis } from '../state/genesis.ts'
import { hourWords } from './project/accounts.ts'
import { PAGE_TABLES, pageId, recordsPerPage, TABLE_NAMES } from './store/layout.ts'
import { CheckedStore } from './store/page_reader.ts'
import { openReader } from './store/store.ts'

/** KiB of the file that the scrub keeps in memory: it is to see the file. */
const CACHE_KIB = 256
/** Looks at owners for each page of a slice. */
const LOOKS = 16

export interface Scrub {
  /** Whole passes so far, and pages read in the one that is under way. */
  readonly passes: number
  readonly pages: number
  /** Reads up to `pages` more pages; throws when one is not what was written. */
  step(pages: number): void
  close(): void
}

/** Of the store at `path`. */
export function createScrub(path: string, genesis: Genesis): Scrub {
  const database = openReader(path)
  database.pragma(`cache_size = -${CACHE_KIB}`)
  const store = new CheckedStore(database)
  const perPage = TABLE_NAMES.map((name) => recordsPerPage(name === 'account_hour_page' ? hourWords(genesis) : PAGE_TABLES[name]))
  const begin = database.prepare('begin')
  const commit = database.prepare('commit')
  let passes = 0
  let pages = 0
  let table = 0
  let owner = 0
  let page = 0

  /** Reads the page it stands at, or goes on to the next owner or table; true when it read one. */
  const one = (): boolean => {
    if (table === TABLE_NAMES.length) {
      passes++
      table = owner = page = pages = 0
    } else if (owner >= store.owners(table)) {
      table++
      owner = page = 0
    } else {
      const head = store.head(table, owner)
      if (page < Math.ceil(head.count / perPage[table]!)) {
        store.load(table, pageId(owner, page), store.sumOf(table, owner, page, head, perPage[table]!))
        page++
        pages++
        return true
      }
      owner++
      page = 0
    }
    return false
  }
  return {
    get passes() {
      return passes
    },
    get pages() {
      return pages
    },
    step: (most) => {
      begin.run()
      try {
        store.forgetAll()
        // Owners without anything cost a look each; a slice is bounded all the same.
        for (let read = 0, looks = 0; read < most && looks < LOOKS * most; looks++) if (one()) read++
      } finally {
        if (database.inTransaction) commit.run()
      }
    },
    close: () => void database.close(),
  }
}
