/**
 * What the accounts of an application traded from a time on: the difference of two sums that stand beside its trades, found by binary
 * search, so that the answer is exact for every `since` and costs the same for all of them. Only the accounts are counted one by one.
 */
import type { Genesis } from '../engine/genesis.ts'
import { wideAt } from './accounts.ts'
import { APPLICATION_TRADE, pageId } from './layout.ts'
import type { PageReader } from './page_reader.ts'
import type { ApplicationStats } from './queries.ts'
import type { HistoryDatabase } from './store.ts'

const { at: T } = APPLICATION_TRADE
/** Accounts counted before others get a turn. */
const SLICE = 50_000
/** Rows of accounts are below this. */
const ACCOUNTS = 2 ** 24

/** Gives the answer for (application, since in Unix ms; only trades at or after it count). */
export type ApplicationStatsReader = (application: number, since: number) => Generator<undefined, ApplicationStats>

interface Users {
  /** `null` without accounts. */
  last: number | null
  all: number
  active: number
}

export function createApplicationStats(database: HistoryDatabase, genesis: Genesis, reader: PageReader): ApplicationStatsReader {
  const asset = genesis.feeTiers.asset
  const slice = database.prepare<{ since: number; from: number; to: number; slice: number }, Users>(
    'select max(id) as last, count(*) as "all", count(*) filter (where traded_ms >= max(@since, 1)) as active' +
      ' from (select id, traded_ms from application_user where id >= @from and id < @to order by id limit @slice)',
  )
  /** Sums of the first `count` trades of an application. */
  const sumsOf = (application: number, count: number): [volume: bigint, makerFee: bigint, takerFee: bigint] => {
    if (count === 0) return [0n, 0n, 0n]
    const at = reader.locate(application, count - 1)
    const sum = (word: number): bigint => wideAt(reader.views.i64, (at + word) >>> 1)
    return [sum(T.volume), sum(T.makerFee), sum(T.takerFee)]
  }
  const usersOf = function* (application: number, since: number): Generator<undefined, { all: number; active: number }> {
    const users = { all: 0, active: 0 }
    const to = pageId(application, ACCOUNTS)
    for (let from = pageId(application, 0); ; ) {
      const { last, all, active } = slice.get({ since, from, to, slice: SLICE })!
      users.all += all
      users.active += active
      if (last === null || all < SLICE) return users
      from = last + 1
      yield
    }
  }
  return function* stats(application, since) {
    // The trades and their sums are of one moment; accounts are counted after it, a slice at a time.
    const end = reader.count(application)
    const begin = reader.search(application, end, (at) => reader.views.f64[(at + T.time) >>> 1]! < since)
    const then = sumsOf(application, begin)
    const now = sumsOf(application, end)
    const [volume, makerFee, takerFee] = [now[0] - then[0], now[1] - then[1], now[2] - then[2]]
    const { all, active } = yield* usersOf(application, since)
    return { asset, volume, makerFee, takerFee, totalUsers: all, activeUsers: active, totalTrades: end - begin }
  }
}
