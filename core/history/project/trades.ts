/** Read model of trades: the FILL events as they are, by pair. */
import { FILL } from '../../layout/event.ts'
import { RECORD_WORDS, type Views } from '../../layout/table.ts'
import type { Tables } from '../store/heads.ts'

/** Pages in memory: only the last of each pair is ever changed. */
const PAGES = 1024

export interface TradesModel {
  filled(events: Views, base: number): void
  flush(): void
}

export function createTrades(tables: Tables): TradesModel {
  const pages = tables.pages('trade_page', PAGES)
  const { i32 } = pages.views
  return {
    filled: (events, base) => {
      const at = pages.append(events.i32[base + FILL.at.pair]!)
      for (let word = 0; word < RECORD_WORDS; word++) i32[at + word] = events.i32[base + word]!
    },
    flush: () => pages.flush(),
  }
}
