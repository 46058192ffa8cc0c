/**
 * The portfolio of an account, from its hours and the prices of the hours: a curve of at most {@link POINTS} points at full hours and
 * one now, and what was traded, paid and earned since the full hour with which the period begins.
 */
import type { Genesis } from '../engine/genesis.ts'
import { HOLDING, HOUR_MS, holdingAt, stateWords, TALLY, wideAt } from './accounts.ts'
import { OWNER_PAGES, pageId } from './layout.ts'
import { pricingPairs, valueAt } from './portfolio.ts'
import type { Period, Portfolio } from './queries.ts'
import type { HistoryDatabase } from './store.ts'

/** Points of a curve at full hours, but for the last. */
const POINTS = 120
/** Hours of a period. */
const HOURS: Record<Exclude<Period, 'all'>, number> = { '24h': 24, '7d': 168, '30d': 720 }
/** Points made before others get a turn. */
const SLICE = 16

/** Rows of an account by the hour. */
export interface HourReader {
  /** The newest row of `account` before `hour`, which holds its state then; `null`: it did not exist. */
  before(account: number, hour: number): BigInt64Array | null
  /** Hour of the first row. */
  first(account: number): number | null
}

export function createHourReader(database: HistoryDatabase, assets: number): HourReader {
  const last = database
    .prepare<[number, number], Buffer>('select state from account_hour where id >= ? and id < ? order by id desc limit 1')
    .pluck()
  const first = database
    .prepare<[number, number], number>('select id from account_hour where id >= ? and id < ? order by id limit 1')
    .pluck()
  return {
    before: (account, hour) => {
      const row = last.get(pageId(account, 0), pageId(account, hour))
      if (row === undefined) return null
      const state = new BigInt64Array(stateWords(assets))
      new Uint8Array(state.buffer).set(row)
      return state
    },
    first: (account) => {
      const id = first.get(pageId(account, 0), pageId(account + 1, 0))
      return id === undefined ? null : id % OWNER_PAGES
    },
  }
}

export type PortfolioReader = (account: number, period: Period, now: number) => Generator<undefined, Portfolio>

export function createPortfolioReader(database: HistoryDatabase, genesis: Genesis): PortfolioReader {
  const hours = createHourReader(database, genesis.assets.length)
  const pricing = pricingPairs(genesis)
  const reference = genesis.feeTiers.asset
  const price = database
    .prepare<[number, number], number>('select ticks from price_hour where id >= ? and id < ? order by id desc limit 1')
    .pluck()

  /** Value of an account in the reference asset at the beginning of `hour`. */
  const equityOf = (state: BigInt64Array, hour: number): bigint | null => {
    let equity: bigint | null = 0n
    for (const { index } of genesis.assets) {
      const at = holdingAt(0, index)
      const total = state[at + HOLDING.AVAILABLE]! + state[at + HOLDING.LOCKED]!
      if (total === 0n || equity === null) continue
      const pair = pricing[index]!
      const ticks = index === reference || pair < 0 ? 0 : (price.get(pageId(pair, 0), pageId(pair, hour)) ?? 0)
      if (index === reference) equity += total
      else equity = ticks === 0 ? null : equity + valueAt(genesis, pair, ticks, total)
    }
    return equity
  }

  return function* portfolio(account, period, now) {
    const end = Math.floor(now / HOUR_MS)
    const first = hours.first(account)
    const begin = Math.max(period === 'all' ? 0 : end - HOURS[period], first ?? end)
    const step = Math.max(1, Math.ceil((end - begin) / POINTS))
    const points: Portfolio['points'] = []
    for (let hour = end - Math.floor((end - begin) / step) * step; hour <= end; hour += step) {
      const state = hours.before(account, hour)
      if (state !== null) points.push({ time: hour * HOUR_MS, equity: equityOf(state, hour) })
      if (points.length % SLICE === SLICE - 1) yield
    }
    const state = hours.before(account, end + 1)
    points.push({ time: now, equity: state === null ? 0n : equityOf(state, end + 1) })
    const then = period === 'all' ? null : hours.before(account, end - HOURS[period])
    const tally = (at: BigInt64Array | null, word: number): bigint => (at === null ? 0n : wideAt(at, word))
    const since = (word: number): bigint => tally(state, word) - tally(then, word)
    return { asset: reference, points, realizedPnl: since(TALLY.REALIZED), volume: since(TALLY.VOLUME), fees: since(TALLY.FEES) }
  }
}
