/**
 * The portfolio of an account, from its hours and the prices of the hours: a curve of at most {@link POINTS} points at full hours and
 * one now, and what was traded, paid and earned since the full hour with which the period begins.
 */
import type { Genesis } from '../../state/genesis.ts'
import { HOLDING, HOUR_MS, holdingAt, TALLY, wideAt } from '../project/accounts.ts'
import { PRICE_HOUR } from '../store/layout.ts'
import type { PageReader } from '../store/page_reader.ts'
import { pricingPairs, valueAt } from '../project/portfolio.ts'
import type { HourReader } from './hour_reader.ts'
import type { MarginValueReader } from './margin_value.ts'
import type { Period, Portfolio } from './queries.ts'

const { at: PRICE } = PRICE_HOUR
/** Points of a curve at full hours, but for the last. */
const POINTS = 120
/** Hours of a period. */
const HOURS: Record<Exclude<Period, 'all'>, number> = { '24h': 24, '7d': 168, '30d': 720 }
/** Points made before others get a turn. */
const SLICE = 16

export type PortfolioReader = (account: number, period: Period, now: number) => Generator<undefined, Portfolio>

/** `prices`: price_hour_page. */
export function createPortfolioReader(hours: HourReader, prices: PageReader, margin: MarginValueReader, genesis: Genesis): PortfolioReader {
  const reference = genesis.feeTiers.asset
  /** What perpetuals are paid in; -1: there are none. */
  const collateral = genesis.pairs.find(({ perp }) => perp !== null)?.quote ?? -1
  /** Last price of a pair before `hour`, ticks; 0: it had none. */
  const priceOf = (pair: number, hour: number): number => {
    const { f64, i32 } = prices.views
    const number = prices.search(pair, prices.count(pair), (at) => f64[(at + PRICE.hour) >>> 1]! < hour) - 1
    return number < 0 ? 0 : i32[prices.locate(pair, number) + PRICE.ticks]!
  }

  /** Value of an account in the reference asset at the beginning of `hour`. */
  const equityOf = (state: BigInt64Array, account: number, hour: number): bigint | null => {
    const pricing = pricingPairs(genesis)
    const onMargin = collateral < 0 ? 0n : margin.before(account, hour)
    let equity: bigint | null = onMargin === null ? null : 0n
    for (const { index } of genesis.assets) {
      const at = holdingAt(0, index)
      const total = state[at + HOLDING.AVAILABLE]! + state[at + HOLDING.LOCKED]! + (index === collateral ? (onMargin ?? 0n) : 0n)
      if (total === 0n || equity === null) continue
      const pair = pricing[index]!
      const ticks = index === reference || pair < 0 ? 0 : priceOf(pair, hour)
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
      // On the hour itself its point is the one of now.
      const state = hour * HOUR_MS === now ? null : hours.before(account, hour)
      if (state !== null) points.push({ time: hour * HOUR_MS, equity: equityOf(state, account, hour) })
      if (points.length % SLICE === SLICE - 1) yield
    }
    const state = hours.before(account, end + 1)
    points.push({ time: now, equity: state === null ? 0n : equityOf(state, account, end + 1) })
    const then = period === 'all' ? null : hours.before(account, end - HOURS[period])
    const tally = (at: BigInt64Array | null, word: number): bigint => (at === null ? 0n : wideAt(at, word))
    const since = (word: number): bigint => tally(state, word) - tally(then, word)
    return { asset: reference, points, realizedPnl: since(TALLY.REALIZED), volume: since(TALLY.VOLUME), fees: since(TALLY.FEES) }
  }
}
