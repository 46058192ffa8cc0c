/** Metrics of perpetuals: prices, funding, open interest, the insurance fund, liquidations, and where index prices come from. */
import { performance } from 'node:perf_hooks'
import type { Pair } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import { fundFigures, inLiquidation, perpFigures, type PerpFigures } from '../../core/view/perps.ts'
import type { FedPair } from './feed/feeder.ts'
import { counter, gauge, type Metric } from './metric_names.ts'

/** Prices in units of the quote asset, lots in units of the base asset, rates of 1. */
const OF_PAIR: readonly (readonly [Metric, (figures: PerpFigures, pair: Pair, now: number) => number])[] = [
  [gauge('exchange_perp_index_price', 'Index price of a perpetual; 0: there is none'), ({ index }, pair) => priced(pair, index)],
  [gauge('exchange_perp_mark_price', 'Mark price, at which margin is counted'), ({ mark }, pair) => priced(pair, mark)],
  [
    gauge('exchange_perp_index_age_seconds', 'Age of the index price; Infinity: there is none'),
    ({ index, indexAt }, _, now) => (index === 0 ? Infinity : Math.max(0, now - indexAt) / 1000),
  ],
  [gauge('exchange_perp_index_stale_seconds', 'Age from which on it is stale'), ({ staleMs }) => staleMs / 1000],
  [gauge('exchange_perp_mode', '0 normal, 1 reduce only, 2 settling, 3 settled'), ({ mode }) => mode],
  [gauge('exchange_perp_funding_rate', 'Funding rate that was paid last; positive: longs pay'), ({ lastRate }) => lastRate / 1e8],
  [gauge('exchange_perp_predicted_funding_rate', 'Rate of this interval, if it goes on'), ({ predictedRate }) => predictedRate / 1e8],
  [gauge('exchange_perp_open_interest', 'Size of all long positions'), ({ openLots }, pair) => sized(pair, openLots)],
  [gauge('exchange_perp_positions', 'Open positions'), ({ positions }) => positions],
  [
    gauge('exchange_perp_pending_marks', 'Marks that conditional orders still have to be held against, 64 at most'),
    ({ pendingMarks }) => pendingMarks,
  ],
]
const FUND = gauge('exchange_insurance_fund_equity', 'What the insurance fund is worth at the marks, units of the collateral asset')
const BAD_DEBT = gauge('exchange_bad_debt', 'Losses that nobody could bear, units of the collateral asset')
const LIQUIDATIONS = gauge('exchange_liquidating_buckets', 'Risk buckets in liquidation')
const MAKER = gauge('exchange_perp_index_maker', '1 of what makes the index price: OWN_BOOK, SOURCES, REFERENCE or OPERATOR')
const TAKEN = counter('exchange_index_prices_total', 'Index prices of the feeder that the engine took')
const REFUSED = counter('exchange_index_prices_refused_total', 'Index prices of the feeder that were not taken')
const BOUNDED = counter('exchange_index_prices_bounded_total', 'Prices of sources that the index follows in several steps')
const SOURCE_AGE = gauge('exchange_index_source_age_seconds', 'Time since a source gave a price; Infinity: it never did')
const SOURCE_PRICE_AGE =
  gauge('exchange_index_source_price_age_seconds', 'How old a source says that its price is; 0 of one without timePath')
const SOURCE_UNMOVED = gauge('exchange_index_source_unmoved_seconds', 'Time since the price of a source was another than before')
const SOURCE_FAILURES = counter('exchange_index_source_failures_total', 'Requests to a source without a price')

/** Names of all of them, whatever perpetuals there are. */
export const PERP_METRICS: readonly Metric[] = [
  ...OF_PAIR.map(([metric]) => metric), FUND, BAD_DEBT, LIQUIDATIONS, MAKER, TAKEN, REFUSED, BOUNDED, SOURCE_AGE, SOURCE_PRICE_AGE,
  SOURCE_UNMOVED, SOURCE_FAILURES,
]

const priced = ({ tickUnits, priceScale }: Pair, ticks: number): number => (ticks * tickUnits) / 10 ** priceScale
const sized = ({ lotUnits, lotScale }: Pair, lots: number): number => (lots * lotUnits) / 10 ** lotScale
const quoted = (text: string): string => text.replace(/["\\\n]/g, '_')

type Sample = (metric: Metric, value: number, labels?: string) => void

/** Samples of an exchange that has perpetuals; `now` Unix ms. */
export function samplePerps(sample: Sample, state: State, fed: readonly FedPair[], now: number): void {
  const { pairs, assets } = state.genesis
  const perpetuals = pairs.filter(({ perp }) => perp !== null)
  if (perpetuals.length === 0) return
  for (const pair of perpetuals) {
    const figures = perpFigures(state, pair.index)
    for (const [metric, value] of OF_PAIR) sample(metric, value(figures, pair, now), `pair="${quoted(pair.symbol)}"`)
  }
  const { equity, badDebt } = fundFigures(state)
  const unit = 10 ** assets[state.collateralAsset]!.scale
  sample(FUND, Number(equity) / unit)
  sample(BAD_DEBT, Number(badDebt) / unit)
  sample(LIQUIDATIONS, inLiquidation(state, 0).total)
  for (const { symbol, maker, taken, refused, bounded, polled } of fed) {
    const pair = `pair="${quoted(symbol)}"`
    sample(MAKER, 1, `${pair},maker="${maker}"`)
    sample(TAKEN, taken, pair)
    sample(REFUSED, refused, pair)
    sample(BOUNDED, bounded, pair)
    for (const { source, at, age, movedAt, price, failures } of polled) {
      const labels = `${pair},source="${source.name}"`
      const since = performance.now() - at
      sample(SOURCE_AGE, price === 0 ? Infinity : since / 1000, labels)
      sample(SOURCE_PRICE_AGE, source.timePath === null ? 0 : (since + age) / 1000, labels)
      sample(SOURCE_UNMOVED, (performance.now() - movedAt) / 1000, labels)
      sample(SOURCE_FAILURES, failures, labels)
    }
  }
}
