/**
 * Read model of what an application's accounts trade: sums after each of their trades, of what it charged them, and when each traded last.
 *
 * A trade counts once for each application that took part in it. Values are those of the moment of the trade, in the reference asset,
 * rounded toward zero as everywhere (portfolio.ts).
 */
import { APPLICATION_FEE, FILL } from '../../layout/event.ts'
import type { Views } from '../../layout/table.ts'
import type { Genesis } from '../../state/genesis.ts'
import { addWide } from './accounts.ts'
import type { Tables } from '../store/heads.ts'
import type { Identities } from './identities.ts'
import { APPLICATION_FEES, APPLICATION_TRADE, APPLICATION_USER, PAGE_TABLES } from '../store/layout.ts'
import type { PortfolioModel } from './portfolio.ts'

const { at: F } = FILL
const { at: T } = APPLICATION_TRADE
const { at: U } = APPLICATION_USER
const { at: E } = APPLICATION_FEE
const { at: C } = APPLICATION_FEES
/** Pages in memory: only the last of each application is ever changed. */
const PAGES = 1024
const WORDS = PAGE_TABLES.application_trade_page

export interface ApplicationTradesModel {
  /** A new account. */
  joined(account: number): void
  /** FILL, after the price of its pair was told to the portfolio. */
  filled(events: Views, base: number): void
  /** APPLICATION_FEE. */
  charged(events: Views, base: number): void
  flush(): void
}

export function createApplicationTrades(
  tables: Tables, genesis: Genesis, identities: Identities, portfolio: PortfolioModel,
): ApplicationTradesModel {
  const pages = tables.pages('application_trade_page', PAGES)
  const fees = tables.pages('application_fee_page', PAGES)
  const users = createUsers(tables, identities)
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
    joined: (account) => users.touch(account, 0),
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
      users.touch(taker, time)
      users.touch(maker, time)
    },
    charged: ({ i32, f64, i64 }, base) => {
      const application = identities.applicationOf(i32[base + E.account]!)
      const count = fees.count(application)
      const last = count === 0 ? -1 : fees.locate(application, count - 1)
      const { views } = fees
      const [low, high] = last < 0 ? [0n, 0n] : [views.i64[(last + C.charged) >>> 1]!, views.i64[(last + C.chargedHigh) >>> 1]!]
      const at = fees.append(application)
      views.f64[(at + C.time) >>> 1] = f64[(base + E.time) >>> 1]!
      views.f64[(at + C.sequence) >>> 1] = f64[(base + E.sequence) >>> 1]!
      views.i64[(at + C.charged) >>> 1] = low
      views.i64[(at + C.chargedHigh) >>> 1] = high
      addWide(views.i64, (at + C.charged) >>> 1, portfolio.valueOf(i32[base + E.asset]!, i64[(base + E.amount) >>> 1]!))
    },
    flush: () => {
      pages.flush()
      fees.flush()
      users.flush()
    },
  }
}

/** The accounts of the applications, and when each traded last. */
function createUsers(tables: Tables, identities: Identities): { touch(account: number, time: number): void; flush(): void } {
  const pages = tables.pages('application_user_page', PAGES)
  const { i32, f64 } = pages.views
  /** By account: its application and the number of its record there. */
  const places = new Map<number, { application: number; number: number }>()
  /** By account, in the order they came: its application and when it traded last, Unix ms, 0 for never, where that is not written yet. */
  const waiting = new Map<number, { application: number; time: number }>()
  for (let application = 0; application < tables.owners('application_user_page'); application++) {
    for (let number = 0; number < pages.count(application); number++) {
      const account = i32[pages.locate(application, number) + U.account]!
      if (account >= 0) places.set(account, { application, number })
    }
  }
  const placeOf = (account: number, application: number): number => {
    const place = places.get(account)
    if (place?.application === application) return pages.change(application, place.number)
    if (place !== undefined) i32[pages.change(place.application, place.number) + U.account] = -1
    places.set(account, { application, number: pages.count(application) })
    const at = pages.append(application)
    i32[at + U.account] = account
    return at
  }
  const write = (): void => {
    for (const [account, { application, time }] of waiting) f64[(placeOf(account, application) + U.tradedAt) >>> 1] = time
    waiting.clear()
  }
  return {
    touch: (account, time) => {
      const application = identities.applicationOf(account)
      // The row of a blank account went to a wallet of another application: the first one was a user there.
      if ((waiting.get(account)?.application ?? application) !== application) write()
      waiting.set(account, { application, time })
    },
    flush: () => {
      write()
      pages.flush()
    },
  }
}
