/**
 * Read model of what an application's accounts trade: sums after each of their trades, and when each account traded last.
 *
 * A trade counts once for each application that took part in it. Values are those of the moment of the trade, in the reference asset,
 * rounded toward zero as everywhere (portfolio.ts).
 */
import { FILL } from '../layout/event.ts'
import type { Views } from '../layout/table.ts'
import type { Genesis } from '../engine/genesis.ts'
import { addWide } from './accounts.ts'
import type { Identities } from './identities.ts'
import { APPLICATION_TRADE, PAGE_TABLES, pageId } from './layout.ts'
import { createPages } from './pages.ts'
import type { PortfolioModel } from './portfolio.ts'
import type { HistoryDatabase } from './store.ts'

const { at: F } = FILL
const { at: T } = APPLICATION_TRADE
/** Pages in memory: only the last of each application is ever changed. */
const PAGES = 1024
const WORDS = PAGE_TABLES.application_trade_page

export interface ApplicationTradesModel {
  /** A new account. */
  joined(account: number): void
  /** FILL, after the price of its pair was told to the portfolio. */
  filled(events: Views, base: number): void
  flush(): void
}

export function createApplicationTrades(
  database: HistoryDatabase, genesis: Genesis, identities: Identities, portfolio: PortfolioModel,
): ApplicationTradesModel {
  const pages = createPages(database, 'application_trade_page', PAGES)
  const write = database.prepare<[number, number]>('insert or replace into application_user values (?, ?)')
  /** By account: when it traded last, Unix ms, 0 for never, where that is not written yet. */
  const users = new Map<number, number>()
  /** Sums of the application before the record to be written. */
  const sums = new Int32Array(WORDS)

  /** A record of `application` for the FILL at `base` with the sums before it; its address in 64-bit words. */
  const append = (application: number, events: Views, base: number): number => {
    const { i32, f64 } = pages.views
    const count = pages.count(application)
    sums.fill(0)
    if (count > 0) {
      const last = pages.locate(application, count - 1)
      for (let word = 0; word < WORDS; word++) sums[word] = i32[last + word]!
    }
    const at = pages.append(application)
    for (let word = 0; word < WORDS; word++) i32[at + word] = sums[word]!
    f64[(at + T.time) >>> 1] = events.f64[(base + F.time) >>> 1]!
    f64[(at + T.sequence) >>> 1] = events.f64[(base + F.sequence) >>> 1]!
    return at
  }
  return {
    joined: (account) => {
      users.set(account, 0)
    },
    filled: (events, base) => {
      const { i32, i64 } = events
      const [taker, maker] = [i32[base + F.takerAccount]!, i32[base + F.makerAccount]!]
      const { quote } = genesis.pairs[i32[base + F.pair]!]!
      const takes = identities.applicationOf(taker)
      const makes = identities.applicationOf(maker)
      const valueOf = (word: number): bigint => portfolio.valueOf(quote, i64[(base + word) >>> 1]!)
      const taken = append(takes, events, base)
      addWide(pages.views.i64, (taken + T.volume) >>> 1, valueOf(F.quote))
      addWide(pages.views.i64, (taken + T.takerFee) >>> 1, valueOf(F.takerFee))
      const made = makes === takes ? taken : append(makes, events, base)
      addWide(pages.views.i64, (made + T.makerFee) >>> 1, valueOf(F.makerFee))
      const time = events.f64[(base + F.time) >>> 1]!
      users.set(taker, time)
      users.set(maker, time)
    },
    flush: () => {
      pages.flush()
      const rows = [...users].map(([account, time]) => [pageId(identities.applicationOf(account), account), time] as const)
      for (const [id, time] of rows.sort(([a], [b]) => a - b)) write.run(id, time)
      users.clear()
    },
  }
}
