/**
 * Market data: what candles and sums cost the history per trade, beside everything else it does with one, and how many questions one
 * reader answers. In one thread, without journal, messages or HTTP, on a store with a week behind it in which every pair trades about
 * once a minute.
 */
import { join } from 'node:path'
import { createAnswers, type Answers } from '../../core/history/answer/answers.ts'
import { createCandles, type CandlesModel } from '../../core/history/project/candles.ts'
import type { Queries, QueryName } from '../../core/history/answer/queries.ts'
import { openTables, type Tables } from '../../core/history/store/heads.ts'
import { openWriter, writePosition } from '../../core/history/store/store.ts'
import { createTrades, type TradesModel } from '../../core/history/project/trades.ts'
import { parseGenesis, type Genesis } from '../../core/state/genesis.ts'
import { EventType, FILL } from '../../core/layout/event.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Views } from '../../core/layout/table.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import { positionAt } from '../../test/support/history.ts'
import { genesisText, pairSpec } from '../../test/support/variants.ts'
import { amount, median, type Result } from '../result.ts'
import { ownDirectory, removeDirectory } from './own_exchange.ts'

const PAIRS = 50
const DAYS = amount(8, 1)
/** Trades of the whole store: every pair once a minute. */
const TRADES = PAIRS * DAYS * 1440
/** Trades of one transaction, about as many as the follower has when it is behind. */
const SLICE = 16_384
const ROUNDS = amount(3, 1)
const QUESTIONS = amount(200, 20)
const START = Date.UTC(2026, 0, 1)
const STEP_MS = (DAYS * 86_400_000) / TRADES

const { at: F } = FILL

function makeGenesis(): Genesis {
  const bases = Array.from({ length: PAIRS }, (_, index) => `A${index}`)
  return parseGenesis(genesisText({
    limits: {}, dailyLimit: 1, assets: [['USD', 6, '1'], ...bases.map((symbol): [string, number, string] => [symbol, 9, '1'])],
    pairs: bases.map((symbol) => pairSpec(`${symbol}/USD`)),
  }))
}

/** `count` FILL events from trade `first` on. */
function fill(events: Views, genesis: Genesis, random: Prng, first: number, count: number): void {
  const { i32, u32, f64, i64 } = events
  for (let number = 0; number < count; number++) {
    const base = number * RECORD_WORDS
    const pair = random.below(PAIRS)
    const [price, lots] = [20_000 + random.below(1000), 1 + random.below(5000)]
    u32[base + F.kind] = EventType.FILL
    i32[base + F.pair] = pair
    f64[(base + F.sequence) >>> 1] = first + number + 1
    f64[(base + F.time) >>> 1] = START + Math.floor((first + number) * STEP_MS)
    i32[base + F.price] = price
    i32[base + F.lots] = lots
    i64[(base + F.quote) >>> 1] = BigInt(price) * BigInt(lots) * genesis.pairs[pair]!.tickLotAtoms
  }
}

interface Store {
  readonly tables: Tables
  readonly candles: CandlesModel
  readonly trades: TradesModel
}

/** Projects trades `from`..`to`; nanoseconds that the candles took, those of their writing included. */
function project({ tables, candles, trades }: Store, genesis: Genesis, from: number, to: number): number {
  const { database } = tables
  const events = viewsOf(new ArrayBuffer(SLICE * RECORD_BYTES))
  const random = createPrng(1 + from)
  let spent = 0
  for (let first = from; first < to; first += SLICE) {
    const count = Math.min(SLICE, to - first)
    fill(events, genesis, random, first, count)
    database.exec('begin immediate')
    for (let record = 0; record < count; record++) trades.filled(events, record * RECORD_WORDS)
    const started = performance.now()
    for (let record = 0; record < count; record++) candles.filled(events, record * RECORD_WORDS)
    candles.flush()
    spent += performance.now() - started
    trades.flush()
    writePosition(database, positionAt(first + count, tables.flush()))
    database.exec('commit')
  }
  return spent * 1e6
}

/** Answers of one question per second; `before` each of them the store may change, which does not count. */
function rate<Name extends QueryName>(
  answers: Answers, name: Name, ask: Queries[Name]['ask'], before: () => void = () => undefined,
): number {
  let spent = 0
  for (let number = 0; number < QUESTIONS; number++) {
    before()
    const started = performance.now()
    answers.forget()
    const work = (answers[name] as (ask: unknown) => Generator<undefined, unknown>)(ask)
    while (work.next().done !== true);
    spent += performance.now() - started
  }
  return QUESTIONS / (spent / 1000)
}

function open(path: string, genesis: Genesis): Store {
  const tables = openTables(openWriter(path))
  return { tables, candles: createCandles(tables, genesis.pairs.length), trades: createTrades(tables) }
}

export async function run(): Promise<Result> {
  const directory = ownDirectory()
  try {
    const genesis = makeGenesis()
    const costs: number[] = []
    let store = open(join(directory, 'first.sqlite'), genesis)
    for (let round = 0; round < ROUNDS; round++) {
      store.tables.database.close()
      store = open(join(directory, `round${round}.sqlite`), genesis)
      costs.push(project(store, genesis, 0, TRADES) / TRADES)
    }
    const answers = createAnswers(store.tables.database, genesis)
    const now = START + DAYS * 86_400_000
    const screener = { limit: 20, skip: 0, now }
    let made = TRADES
    const trade = (): void => {
      project(store, genesis, made, made + 5 * PAIRS)
      made += 5 * PAIRS
    }
    const candles = (interval: '1m' | '30m' | '1d'): number => rate(answers, 'candles', { pair: 7, interval, limit: 500 })
    const figures = {
      'candles and sums, ns per trade (median)': median(costs),
      'screeners/s, nearly all pairs traded since the last': rate(answers, 'screener', screener, trade),
      'screeners/s, no trade since the last': rate(answers, 'screener', screener),
      'metadata/s': rate(answers, 'market', { pair: 7, now }),
      'answers/s of 500 candles of 1m': candles('1m'),
      'answers/s of all candles of 30m': candles('30m'),
      'answers/s of all candles of 1d': candles('1d'),
    }
    store.tables.database.close()
    return {
      name: 'stats: candles and screener in the history',
      settings: { pairs: PAIRS, days: DAYS, trades: TRADES, tradesPerTransaction: SLICE, rounds: ROUNDS, questions: QUESTIONS },
      figures,
      targets: [],
    }
  } finally {
    removeDirectory(directory)
  }
}
