/**
 * Promise: candles of every interval, rolling windows, days, highs and lows, totals and the screener's order are what a search through
 * all trades gives, at any moment, for any question, whenever the store was written and wherever it was stopped; and its rows depend on
 * the trades alone.
 *
 * One run again: SEED=7 npm test -- test/property/history_market.test.ts
 */
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { CLOCK } from '../../core/state/columns.ts'
import type { Answers } from '../../core/history/answer/answers.ts'
import { INTERVALS, type CandlesAsk, type HistoryCandle, type HistoryTrade, type Interval } from '../../core/history/answer/queries.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { ask, runHistory } from '../support/history.ts'
import { MarketStore } from '../support/market_store.ts'
import { candlesAsked, naiveCandles, naiveScreener, naiveStart, naiveStats } from '../support/naive_market.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const TRADES = 1_500
/** Rounds of questions while the trades are made, and questions of each kind in one. */
const ROUNDS = 12
const QUESTIONS = 24
const NAMES = Object.keys(INTERVALS) as Interval[]
t.setTimeout(300_000)
t.comment(`seed ${SEED}; again: SEED=${SEED} npm test -- test/property/history_market.test.ts`)

const pick = <T>(random: Prng, list: readonly T[]): T => list[random.below(list.length)]!

/** The next time: often the same, often just before, at or after a border of some interval, sometimes far away. */
function nextTime(random: Prng, time: number): number {
  const dice = random.below(100)
  if (dice < 30) return time
  if (dice < 55) return time + random.below(90_000)
  if (dice < 90) {
    const interval = pick(random, dice < 75 ? NAMES.slice(0, 5) : NAMES.slice(0, 7))
    const border = naiveStart(interval, time) + INTERVALS[interval]
    return Math.max(time, border + pick(random, [-1, 0, 0, 1]))
  }
  if (dice < 98) return time + random.below(5 * 3_600_000)
  if (dice < 99) return naiveStart('1w', time) + INTERVALS['1w'] + pick(random, [-1, 0, 1])
  return time + random.below(9 * 86_400_000)
}

/** Asks random questions and compares each answer; the first difference, and how much was told. */
class Asker {
  readonly #answers: Answers
  readonly #genesis: Genesis
  readonly #trades: readonly HistoryTrade[]
  readonly #random: Prng
  told = 0
  flat = 0

  constructor(answers: Answers, genesis: Genesis, trades: readonly HistoryTrade[], random: Prng) {
    this.#answers = answers
    this.#genesis = genesis
    this.#trades = trades
    this.#random = random
  }

  /** Near a trade, at a border, before or after everything. */
  #time(): number {
    const random = this.#random
    const time = this.#trades.length === 0 ? 0 : pick(random, this.#trades).time
    return pick(random, [time, time + 1, time - 1, naiveStart(pick(random, NAMES), time), time + 3_600_000, 0, time + 1e10])
  }

  #pair(): number {
    return this.#random.below(this.#genesis.pairs.length)
  }

  candles(): unknown {
    const random = this.#random
    const pair = this.#pair()
    const interval = pick(random, NAMES)
    const all = naiveCandles(this.#trades, { pair, interval })
    for (let number = 0; number < QUESTIONS / 8; number++) {
      const question: CandlesAsk = {
        pair, interval, limit: pick(random, [1, 2, 3, 100, 500]), ...(random.below(2) === 0 ? {} : { from: this.#time() }),
        ...(random.below(2) === 0 ? {} : { to: this.#time() }),
      }
      const [answer, wanted] = [ask(this.#answers, 'candles', question), candlesAsked(all, question)]
      this.told += answer.length
      this.flat += answer.filter(({ trades }: HistoryCandle) => trades === 0).length
      if (!isDeepStrictEqual(answer, wanted)) return { question, answer, wanted }
    }
    return null
  }

  market(): unknown {
    const question = { pair: this.#pair(), now: this.#moment() }
    const answer = ask(this.#answers, 'market', question)
    const wanted = naiveStats(this.#trades, question.pair, question.now)
    if (answer !== null) this.told++
    return isDeepStrictEqual(answer, wanted) ? null : { question, answer, wanted }
  }

  screener(): unknown {
    const { below } = this.#random
    const question = {
      now: this.#moment(), limit: 1 + below(4), skip: below(3),
      ...(below(4) > 0 ? {} : { marketType: pick(this.#random, ['SPOT', 'MARGIN']) }),
    }
    const answer = ask(this.#answers, 'screener', question)
    const wanted = naiveScreener(this.#trades, this.#genesis, question)
    return isDeepStrictEqual(answer, wanted) ? null : { question, answer, wanted }
  }

  /** Not long after the last trade, or even before it. */
  #moment(): number {
    const last = this.#trades.at(-1)?.time ?? 1e12
    return last + pick(this.#random, [-1e7, -1, 0, 1, 59_999, 60_000, 3_540_000, 3_600_000, 86_340_000, 86_400_000, 6e8, 7e8])
  }

  /** A round of questions of every kind. */
  round(t: Test, what: string): void {
    let different: unknown = null
    for (let number = 0; number < QUESTIONS && different === null; number++) {
      different = number % 8 === 0 ? this.candles() : (this.market() ?? this.screener())
    }
    t.equal(different, null, what)
  }
}

/** Random trades of two pairs of three, written and stopped at random. */
function makeMarket(seed: number, whole: boolean, visit: (store: MarketStore, made: number) => void = () => undefined): MarketStore {
  const random = createPrng(seed)
  const cuts = createPrng(seed + 1)
  const store = new MarketStore()
  let time = Date.UTC(2026, 1, 26, 23, 58, 30)
  for (let made = 0; made < TRADES; made++) {
    time = nextTime(random, time)
    store.trade(pick(random, [0, 0, 0, 2]), time, 1 + random.below(60_000), 1 + random.below(pick(random, [10, 1_000_000])))
    if (whole) continue
    if (cuts.below(40) === 0 || made % (TRADES / ROUNDS) === 0) store.flush()
    if (made % (TRADES / ROUNDS) === 0) visit(store, made)
    if (cuts.below(100) > 0) continue
    store.flush()
    store.restart()
  }
  store.flush()
  return store
}

t.test('trades at every border, written and stopped at random', async (t) => {
  let asker: Asker | null = null
  const pieces = makeMarket(SEED, false, (store, made) => {
    asker ??= new Asker(store.answers, store.genesis, store.trades, createPrng(SEED + 2))
    asker.round(t, `after ${made} trades`)
  })
  asker!.round(t, 'after all trades')
  t.ok(asker!.told > 500, `${asker!.told} candles and pairs were told of`)
  t.ok(asker!.flat > 100, `${asker!.flat} candles without a trade`)
  t.equal(naiveStats(pieces.trades, 1, 2e12), null, 'one pair never traded')
  const whole = makeMarket(SEED, true)
  const { rows, differences } = compareStores(pieces.database, whole.database)
  t.strictSame(differences, [], 'written at once, the store has the same rows')
  t.ok(rows['candle_page']! > 6, `${rows['candle_page']!} pages of candles`)
})

t.test('histories of a random exchange', async (t) => {
  let asker: Asker | null = null
  let looks = 0
  const run = runHistory('market', SEED, 8_000, ({ answers, genesis, plain }) => {
    asker ??= new Asker(answers, genesis, plain.trades, createPrng(SEED + 3))
    if (looks++ % 6 === 0) asker.round(t, `look ${looks}`)
  })
  t.ok(asker!.told > 200, `${asker!.told} candles and pairs were told of`)
  const now = run.state.clock[CLOCK.TIME]!
  const sums = run.genesis.pairs.map(({ index }) => ask(run.answers, 'market', { pair: index, now })?.trades ?? 0)
  t.equal(sums.reduce((sum, count) => sum + count, 0), run.plain.trades.length, 'every trade counts once')
})
