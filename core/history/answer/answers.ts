/**
 * The answers to the questions of queries.ts, from the pages of the store. Each is a generator that yields between slices of its work; the
 * store may move on meanwhile, but records never move, so a walk from the newest to the oldest stays whole.
 */
import type { Genesis } from '../../state/genesis.ts'
import { createApplicationStats } from './application_stats.ts'
import { listCandles } from './candle_answers.ts'
import { createCopyReader } from './copy_answers.ts'
import { createMarginReader } from './margin_answers.ts'
import { createMarginValueReader } from './margin_value.ts'
import { createMarketReader } from './market_answers.ts'
import { applicationMovementTrail, movementTrail, type MovementParts } from './movement_answers.ts'
import { applicationOrderTrail, findOrder, orderTrail } from './order_answers.ts'
import { CheckedStore, createPageReader } from '../store/page_reader.ts'
import { createHourReader } from './hour_reader.ts'
import { createPortfolioReader } from './portfolio_reader.ts'
import type { Queries, QueryName } from './queries.ts'
import type { HistoryDatabase } from '../store/store.ts'
import { createRewardReader } from './reward_answers.ts'
import { createSettlementReader, type Outside } from './settlement_answers.ts'
import { createTradeReader } from './trade_answers.ts'
import { createVaultReader } from './vault_answers.ts'
import { createWaitingReader } from './waiting_answers.ts'
import { walk } from './walk.ts'

/** Of a store that is all there is: trades and balances cannot be proved. */
const NOTHING: Outside = {
  names: {
    pairId: () => {
      throw new Error('nobody says what pairs are called')
    },
    createdSequenceOf: () => {
      throw new Error('nobody says what users are called')
    },
  },
  balances: () => null,
}

type Work<Name extends QueryName> = Generator<undefined, Queries[Name]['answer']>
export type Answers = { [Name in QueryName]: (ask: Queries[Name]['ask']) => Work<Name> } & {
  /** The store may have changed. */
  forget(): void
  /** What the store has reached. Throws when its position is not what was written. */
  readonly sequence: number
  /** When its newest command was, Unix ms. */
  readonly time: number
}

/** `outside`: what proofs need besides. */
export function createAnswers(database: HistoryDatabase, genesis: Genesis, outside: Outside = NOTHING): Answers {
  const store = new CheckedStore(database)
  const orders = createPageReader(store, 'order_page')
  const postings = createPageReader(store, 'posting_page')
  const trades = Array.from({ length: genesis.limits.pairs }, () => createPageReader(store, 'trade_page'))
  const orderReferences = createPageReader(store, 'order_reference_page')
  const postingReferences = createPageReader(store, 'posting_reference_page')
  const applications = createApplicationStats(genesis, store)
  const candles = createPageReader(store, 'candle_page')
  const hours = createHourReader(store, genesis)
  const prices = createPageReader(store, 'price_hour_page')
  const marks = createPageReader(store, 'mark_page')
  const marginValues = createMarginValueReader(store, genesis, marks)
  const portfolio = createPortfolioReader(hours, prices, marginValues, genesis)
  const market = createMarketReader(genesis, candles, trades, marks)
  const isPerp = (pair: number): boolean => genesis.pairs[pair]!.perp !== null
  const margin = createMarginReader(store, isPerp)
  const settlements = createSettlementReader(store, genesis, trades, outside)
  const vault = createVaultReader(store)
  const movements: MovementParts = { postings, genesis, vault }
  const waiting = createWaitingReader(store, orders, margin, settlements.outcomeOf)
  const rewards = createRewardReader(store)
  const copies = createCopyReader(store, marginValues, () => store.position.time_ms)
  const readers = [
    orders, postings, orderReferences, postingReferences, candles, hours, prices, ...trades, marks, marginValues,
    ...applications.readers, ...margin.readers, ...waiting.readers, ...rewards.readers, ...copies.readers,
    ...settlements.readers, ...vault.readers,
  ]
  return {
    *order(ask) {
      return findOrder(orders, waiting.links, ask.account, ask.sequence)
    },
    orders: (ask) => walk(orderTrail(orders, waiting.links, isPerp, ask), ask),
    ...createTradeReader(trades, postings, orders, settlements),
    movements: (ask) => walk(movementTrail(movements, ask), ask),
    portfolio: (ask) => portfolio(ask.account, ask.period, ask.now),
    applicationOrders: (ask) => walk(applicationOrderTrail(orderReferences, orders, waiting.links, ask), ask),
    applicationMovements: (ask) => walk(applicationMovementTrail(postingReferences, movements, ask), ask),
    *applicationStats(ask) {
      return yield* applications.stats(ask.application, ask.since)
    },
    screener: (ask) => market.screener(ask),
    *market(ask) {
      return market.statsOf(ask.pair, ask.now)
    },
    markets: (ask) => market.statsOfEach(ask.pairs, ask.now),
    candles: (ask) => listCandles(candles, ask),
    ...margin.answers,
    ...waiting.answers,
    ...rewards.answers,
    ...copies.answers,
    ...vault.answers,
    ...settlements.answers,
    forget: () => {
      store.forget()
      settlements.forget()
      for (const reader of readers) reader.forget()
    },
    get sequence() {
      return store.position.sequence
    },
    get time() {
      return store.position.time_ms
    },
  }
}
