/**
 * Promise: each premium sample is paid for its minute, a 480th of what eight hours of it cost, within the cap of the interval; a minute
 * without a sample pays nothing, nor does an interval at whose end the index is stale. By numbers worked out by hand: one lot is worth
 * 100,000 atoms at 10,000 ticks.
 */
import t from 'tap'
import { CommandType, PairStatus } from '../../core/layout/command.ts'
import { PerpSetting } from '../../core/layout/margin.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { rateSoFar } from '../../core/margin/funding_rate.ts'
import { PERP, PERP_TERMS } from '../../core/state/margin_rows.ts'
import { perpRow, perpTermsRow, set, setI64 } from '../../core/state/rows.ts'
import { readPredictedRate } from '../../core/view/margin.ts'
import { HOUR_0, PERP_PAIR, PerpStage } from '../support/perp_stage.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** FUNDING_STEP at a time after the first hour, when there is a price as fresh as can be; its events. */
function stepAt(stage: PerpStage, after: number, index = 10_000): Decoded[] {
  stage.time = HOUR_0 + after
  if (index > 0) stage.price(index)
  return stage.events(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
}

/** A book so many ticks beyond 10,000: its bids above, or its asks below. */
const premiumOf = (stage: PerpStage, ticks: number): void =>
  ticks < 0 ? stage.book(10_000 + ticks - 2, 10_000 + ticks) : stage.book(10_000 + ticks, 10_000 + ticks + 2)

/** A stage with samples of these premiums, in ticks beyond 10,000, one each minute from the first on. */
function sampled(premiums: readonly number[], perp: ConstructorParameters<typeof PerpStage>[0] = {}): PerpStage {
  const stage = new PerpStage({ staleSeconds: 3600, ...perp })
  stage.price(10_000)
  // So that the value of a lot is 100,000 atoms, whatever the basis learns meanwhile.
  const forced = { setting: PerpSetting.FORCED_MARK, value: 10_000, number: HOUR_0 + 10 * HOUR }
  stage.send(CommandType.SET_PERP, { pair: PERP_PAIR, ...forced })
  premiums.forEach((ticks, minute) => {
    premiumOf(stage, ticks)
    stepAt(stage, (minute + 1) * MINUTE)
  })
  return stage
}
const rateOf = (events: Decoded[]): unknown => events.find(({ event }) => event === 'FUNDING_RATE')?.['rate']

t.test('a premium of 10 ticks, 0.1 %, for an hour: an eighth of it', async (t) => {
  const stage = sampled(Array.from({ length: 59 }, () => 10))
  t.equal(stage.get(PERP.SAMPLES), 59)
  t.equal(stage.atoms(PERP.PREMIUM_SUM), 5_900_000n)
  t.match(stepAt(stage, HOUR), [
    {
      event: 'FUNDING_RATE', pair: PERP_PAIR, rate: 12_500, samples: 60, index: 10_000, mark: 10_000, cumulative: 12_500_000n,
      time: HOUR_0 + HOUR,
    },
    { event: 'MARK', lastRate: 12_500, predictedRate: 0, nextFundingAt: HOUR_0 + 2 * HOUR },
    { event: 'RESULT of FUNDING_STEP', code: 0 },
  ], '12.5 atoms of a lot')
  t.equal(stage.get(PERP.SAMPLES), 0)
  t.equal(stage.atoms(PERP.PREMIUM_SUM), 0n)
})

t.test('the prediction goes with the samples', async (t) => {
  const stage = sampled([10])
  const predicted = (): number | null => readPredictedRate(stage.state, new Int32Array(16), PERP_PAIR)
  t.equal(predicted(), 12_500)
  t.match(stepAt(stage, 2 * MINUTE), [{ event: 'MARK', predictedRate: 12_500 }, {}])
  premiumOf(stage, -30)
  t.match(stepAt(stage, 3 * MINUTE), [{ event: 'MARK', predictedRate: -4_166 }, {}], '(10 + 10 - 30) / 3, an eighth, cut towards 0')
  t.equal(predicted(), -4_166, 'what anybody may read')
})

t.test('shorts pay for a discount, and the cumulative funding goes down', async (t) => {
  const stage = sampled([-20, -20])
  t.equal(rateOf(stepAt(stage, HOUR)), -1250, 'three minutes of 20 ticks: 600,000 / 480')
  t.equal(stage.atoms(PERP.CUMULATIVE), -1_250_000n)
  for (let minute = 1; minute < 60; minute++) stepAt(stage, HOUR + minute * MINUTE)
  t.equal(rateOf(stepAt(stage, 2 * HOUR)), -25_000, 'an hour of it')
  t.equal(stage.atoms(PERP.CUMULATIVE), -26_250_000n)
})

t.test('one sample is paid for one minute: after a listing, an outage, or a stale index', async (t) => {
  for (const [what, samples, ticks, rate] of [
    ['a book at the edge of its band, in the last minute', 1, 5000, 6_250],
    ['one sample of 0.1 %', 1, 10, 208], ['and below the index', 1, -10, -208],
    ['half of an hour', 30, 10, 6_250],
  ] as const) {
    const late = new PerpStage({ staleSeconds: 3600, maxFundingRate: '0.04' })
    late.price(10_000)
    late.send(CommandType.SET_PERP, { pair: PERP_PAIR, setting: PerpSetting.FORCED_MARK, value: 10_000, number: HOUR_0 + 10 * HOUR })
    // Nobody is there before.
    late.time = HOUR_0 + HOUR - samples * MINUTE
    late.send(CommandType.SET_PAIR_STATUS, { pair: PERP_PAIR, status: PairStatus.HALTED })
    late.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
    late.send(CommandType.SET_PAIR_STATUS, { pair: PERP_PAIR, status: PairStatus.ACTIVE })
    premiumOf(late, ticks)
    for (let minute = samples - 1; minute > 0; minute--) stepAt(late, HOUR - minute * MINUTE)
    t.match(stepAt(late, HOUR), [{ event: 'FUNDING_RATE', rate, samples }, {}, {}], what)
    t.equal(late.atoms(PERP.CUMULATIVE), BigInt(rate) * 1000n, 'of 100,000 atoms, in 10^-6 atoms')
  }
})

t.test('the clamp: premiums within the band of the mark, rates within the cap', async (t) => {
  const hour = (ticks: number): number[] => Array.from({ length: 59 }, () => ticks)
  const banded = sampled(hour(5000), { maxFundingRate: '0.04' })
  t.equal(banded.atoms(PERP.PREMIUM_SUM), 59n * 3_000_000n, '3 %')
  t.equal(rateOf(stepAt(banded, HOUR)), 375_000)
  for (const [ticks, rate] of [[10, 12_500], [-10, -12_500], [9, 11_250]] as const) {
    t.equal(rateOf(stepAt(sampled(hour(ticks), { maxFundingRate: '0.000125' }), HOUR)), rate, `${ticks} ticks`)
  }
  for (const [ticks, rate] of [[11, 12_500], [-11, -12_500], [300, 12_500]] as const) {
    t.equal(rateOf(stepAt(sampled(hour(ticks), { maxFundingRate: '0.000125' }), HOUR)), rate, `${ticks} ticks, beyond the cap`)
  }
})

t.test('a book that is thin or lacks a side has a premium of 0, as a wide one', async (t) => {
  // 5,000 USD are 49,955 lots at 10,009 ticks: 0.001 × 100.09 each.
  const table: [what: string, bid: number, ask: number, lots: number, sum: bigint][] = [
    ['deep enough', 10_009, 10_012, 49_956, 90_000n], ['a lot less than that', 10_009, 10_012, 49_955, 0n],
    ['no ask', 10_009, 0, 1e6, 0n], ['no bid', 0, 9990, 1e6, 0n], ['wide', 9900, 10_200, 1e6, 0n], ['below', 9980, 9990, 1e6, -100_000n],
  ]
  for (const [what, bid, ask, lots, sum] of table) {
    const stage = new PerpStage({ staleSeconds: 3600 })
    stage.basis(40)
    stage.book(bid, ask, lots)
    stage.price(10_000)
    stage.time = HOUR_0 + MINUTE
    stage.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
    t.equal(stage.atoms(PERP.PREMIUM_SUM), sum, what)
    t.equal(stage.get(PERP.SAMPLES), 1, what)
  }
})

t.test('before the rules 5 the mark was sampled without a book', async (t) => {
  const stage = new PerpStage({ staleSeconds: 3600 }, {}, 4)
  stage.basis(40)
  stage.book(0, 10_041)
  stage.price(10_000)
  t.equal(stage.mark, 10_040)
  stage.time = HOUR_0 + MINUTE
  stage.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
  t.equal(stage.atoms(PERP.PREMIUM_SUM), 400_000n)
})

t.test('a sample that is no whole number is cut towards 0', async (t) => {
  const stage = new PerpStage({ staleSeconds: 3600, markBandBps: '5000' })
  stage.price(9)
  for (const [bid, ask, sum] of [[10, 11, 11_111_111n], [7, 8, 0n]] as const) {
    stage.book(bid, ask)
    stage.time += MINUTE
    stage.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
    t.equal(stage.atoms(PERP.PREMIUM_SUM), sum, 'a ninth, 10^8 / 9, up and down')
  }
})

t.test('no samples, or a stale index: the rate is 0, and the next interval begins', async (t) => {
  const empty = new PerpStage({ staleSeconds: 3600, fundingIntervalSeconds: 60 })
  empty.price(10_000)
  premiumOf(empty, 10)
  t.equal(rateOf(stepAt(empty, MINUTE)), Math.trunc(100_000 / 480), 'a minute has the sample of its end')
  const stale = sampled([10, 10], { staleSeconds: 60 })
  t.match(stepAt(stale, HOUR, 0), [{ event: 'FUNDING_RATE', rate: 0, samples: 2, cumulative: 0n }, { event: 'MARK' }, {}])
  t.equal(stale.get(PERP.SAMPLES), 0, 'what was sampled is paid to nobody')
  t.equal(stale.moment(PERP.NEXT_FUNDING_AT), HOUR_0 + 2 * HOUR)
  t.match(stepAt(stale, HOUR + MINUTE, 0), [{ event: 'MARK', predictedRate: 0 }, {}])
  t.equal(stale.get(PERP.SAMPLES), 0, 'nothing is sampled while the index is stale')
})

t.test('the boundary: never early, once, and intervals that nobody was there for are not made up for', async (t) => {
  const stage = sampled([10])
  const refused = REFUSALS.NOT_FOUND.number
  t.match(stepAt(stage, 2 * MINUTE - 1).at(-1), { code: refused }, 'no minute is over')
  t.match(stepAt(stage, 2 * MINUTE).at(-1), { code: 0 })
  t.match(stepAt(stage, 2 * MINUTE).at(-1), { code: refused }, 'once')
  t.equal(rateOf(stepAt(stage, HOUR - 1)), undefined, 'a millisecond before the hour')
  t.equal(rateOf(stepAt(stage, 5 * HOUR + MINUTE)), 833, 'three samples of the first hour, one of now: 400,000 / 480')
  t.equal(stage.moment(PERP.NEXT_FUNDING_AT), HOUR_0 + 6 * HOUR)
  t.equal(stage.moment(PERP.NEXT_SAMPLE_AT), HOUR_0 + 5 * HOUR + 2 * MINUTE)
  t.equal(stage.atoms(PERP.CUMULATIVE), 833_000n)
})

t.test('who and what is refused', async (t) => {
  const stage = sampled([])
  stage.time += MINUTE
  t.match(stage.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR }, 1), { code: REFUSALS.OPERATOR_ONLY.number })
  for (const pair of [0, -1, 5]) t.match(stage.send(CommandType.FUNDING_STEP, { pair }), { code: REFUSALS.NOT_FOUND.number })
  t.match(new PerpStage().send(CommandType.FUNDING_STEP, { pair: PERP_PAIR }), { code: REFUSALS.NOT_FOUND.number }, 'it has no price')
})

t.test('the widest product: the dearest lot at the highest rate', async (t) => {
  // 2^20 atoms a tick and lot, so 2^36 at the highest price: the bound of the genesis, as 4 % in an interval is that of the rate.
  const widest = {
    staleSeconds: 3600, maxFundingRate: '0.04', markBandBps: '5000', fundingIntervalSeconds: 28_800, referencePrice: '104.8576',
  }
  const stage = new PerpStage(widest, { tickSize: '1.048576', lotSize: '1', minOrderSize: '1' })
  stage.basis(20_000)
  stage.book(60_000, 60_002)
  stage.price(40_000)
  t.equal(stage.mark, 60_000, 'the band ends at half more')
  for (let minute = 1; minute < 480; minute++) {
    stage.time = HOUR_0 + minute * MINUTE
    stage.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
    if (minute === 1) t.equal(stage.atoms(PERP.PREMIUM_SUM), 50_000_000n)
  }
  stage.time = HOUR_0 + 8 * HOUR
  stage.price(40_000)
  // The basis went to its bound meanwhile.
  const forced = { setting: PerpSetting.FORCED_MARK, value: 60_000, number: HOUR_0 + 10 * HOUR }
  stage.send(CommandType.SET_PERP, { pair: PERP_PAIR, ...forced })
  stage.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
  t.equal(stage.get(PERP.LAST_RATE), 4_000_000)
  t.equal(stage.atoms(PERP.CUMULATIVE), 60_000n * 2n ** 20n * 40_000n)
})

t.test('the widest sum: a week of samples at the widest band, exact to the last minute', async (t) => {
  const WEEK = 168 * HOUR
  // Weeks since 1970 begin on Thursdays.
  const begin = HOUR_0 - (HOUR_0 % WEEK)
  const stage = new PerpStage({ staleSeconds: 3600, maxFundingRate: '0.04', markBandBps: '5000', fundingIntervalSeconds: 604_800 })
  stage.time = begin + WEEK
  stage.price(40_000)
  stage.book(60_000, 60_000)
  const rates = (sum: bigint, samples: number): number => {
    setI64(stage.state, perpRow(stage.state, PERP_PAIR), PERP.PREMIUM_SUM, sum)
    set(stage.state, perpRow(stage.state, PERP_PAIR), PERP.SAMPLES, samples)
    return rateSoFar(stage.state, PERP_PAIR)
  }
  for (const samples of [1, 2, 7, 4_999, 10_079]) {
    stage.time = begin + WEEK + samples * MINUTE
    stage.price(40_000)
    stage.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
    // Beyond the cap whatever the sum is; so the cap is taken away to see the quotient.
    set(stage.state, perpTermsRow(stage.state, PERP_PAIR), PERP_TERMS.RATE_CAP, 2 ** 31 - 1)
    const sum = BigInt(samples) * 50_000_000n - 1n
    t.equal(rates(sum, samples), Number((sum * 10_080n) / BigInt(samples * 480)), `${samples} samples`)
  }
  set(stage.state, perpTermsRow(stage.state, PERP_PAIR), PERP_TERMS.RATE_CAP, 4_000_000)
  stage.time = begin + 2 * WEEK
  stage.price(40_000)
  t.match(stage.events(CommandType.FUNDING_STEP, { pair: PERP_PAIR }), [{ samples: 10_080, rate: 4_000_000 }, {}, {}])
})
