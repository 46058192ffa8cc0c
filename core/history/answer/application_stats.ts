/**
 * What the accounts of an application traded from a time on: the difference of two sums that stand beside its trades, found by binary
 * search, so that the answer is exact for every `since` and costs the same for all of them. Only the accounts are counted one by one.
 */
import type { Genesis } from '../../state/genesis.ts'
import { wideAt } from '../project/accounts.ts'
import { APPLICATION_FEES, APPLICATION_TRADE, APPLICATION_USER } from '../store/layout.ts'
import { createPageReader, type CheckedStore, type PageReader } from '../store/page_reader.ts'
import type { ApplicationStats } from './queries.ts'

const { at: T } = APPLICATION_TRADE
const { at: U } = APPLICATION_USER
const { at: C } = APPLICATION_FEES
/** Pages of accounts counted before others get a turn: 248 accounts each. */
const SLICE = 128

/** Gives the answer for (application, since in Unix ms; only trades at or after it count). */
export type ApplicationStatsReader = (application: number, since: number) => Generator<undefined, ApplicationStats>

export interface ApplicationStatistics {
  readonly stats: ApplicationStatsReader
  readonly readers: readonly PageReader[]
}

export function createApplicationStats(genesis: Genesis, store: CheckedStore): ApplicationStatistics {
  const reader = createPageReader(store, 'application_trade_page')
  const fees = createPageReader(store, 'application_fee_page')
  const users = createPageReader(store, 'application_user_page')
  const asset = genesis.feeTiers.asset
  /** Sums of the first `count` trades of an application. */
  const sumsOf = (application: number, count: number): [volume: bigint, makerFee: bigint, takerFee: bigint] => {
    if (count === 0) return [0n, 0n, 0n]
    const at = reader.locate(application, count - 1)
    const sum = (word: number): bigint => wideAt(reader.views.i64, (at + word) >>> 1)
    return [sum(T.volume), sum(T.makerFee), sum(T.takerFee)]
  }
  /** What was charged in the first `count` fills of an application. */
  const chargedIn = (application: number, count: number): bigint =>
    (count === 0 ? 0n : wideAt(fees.views.i64, (fees.locate(application, count - 1) + C.charged) >>> 1))
  const usersOf = function* (application: number, since: number): Generator<undefined, { all: number; active: number }> {
    const found = { all: 0, active: 0 }
    const { i32, f64 } = users.views
    let pause = users.loads + SLICE
    for (let number = users.count(application) - 1; number >= 0; number--) {
      const at = users.locate(application, number)
      if (i32[at + U.account]! < 0) continue
      found.all++
      if (f64[(at + U.tradedAt) >>> 1]! >= Math.max(since, 1)) found.active++
      if (users.loads < pause) continue
      yield
      pause = users.loads + SLICE
    }
    return found
  }
  const stats: ApplicationStatsReader = function* (application, since) {
    // The trades and their sums are of one moment; accounts are counted after it, a slice at a time.
    const end = reader.count(application)
    const begin = reader.search(application, end, (at) => reader.views.f64[(at + T.time) >>> 1]! < since)
    const then = sumsOf(application, begin)
    const now = sumsOf(application, end)
    const [volume, makerFee, takerFee] = [now[0] - then[0], now[1] - then[1], now[2] - then[2]]
    const charged = fees.count(application)
    const before = fees.search(application, charged, (at) => fees.views.f64[(at + C.time) >>> 1]! < since)
    const applicationFee = chargedIn(application, charged) - chargedIn(application, before)
    const { all, active } = yield* usersOf(application, since)
    return { asset, volume, makerFee, takerFee, applicationFee, totalUsers: all, activeUsers: active, totalTrades: end - begin }
  }
  return { stats, readers: [reader, fees, users] }
}
